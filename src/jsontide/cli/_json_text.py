"""A value in, indented JSON out, without recursion: documents may be deeper than Python's stack."""

from collections.abc import Iterator

from jsontide import JsonValue
from jsontide.deltas import write_json

_STEP = "  "
_DEEPEST = 200  # levels that are indented: otherwise a deep document would be spaces for the most part


def write_pretty(value: JsonValue) -> str:
    """Return a value as `json.dumps` does with `indent=2`, whatever its numbers and depth."""
    return "".join(_pieces(value))


def _pieces(value: JsonValue) -> Iterator[str]:
    todo: list[Iterator[tuple[str, JsonValue]]] = []
    closers: list[str] = []
    yield from _open(value, todo, closers)
    is_first = True
    while todo:
        entry = next(todo[-1], None)
        if entry is None:
            todo.pop()
            yield f"{_break(len(todo))}{closers.pop()}"
            is_first = False
            continue
        label, inner = entry
        yield f"{'' if is_first else ','}{_break(len(todo))}{label}"
        depth = len(todo)
        yield from _open(inner, todo, closers)
        is_first = len(todo) > depth


def _break(depth: int) -> str:
    return "\n" + _STEP * min(depth, _DEEPEST)


def _open(value: JsonValue, todo: list[Iterator[tuple[str, JsonValue]]], closers: list[str]) -> Iterator[str]:
    """Yield a value that has nothing inside, or the opening bracket of one that has, and note what is to be done."""
    if isinstance(value, dict) and value:
        todo.append((f"{write_json(key)}: ", inner) for key, inner in value.items())
        closers.append("}")
        yield "{"
    elif isinstance(value, list) and value:
        todo.append(("", inner) for inner in value)
        closers.append("]")
        yield "["
    else:
        yield write_json(value)
