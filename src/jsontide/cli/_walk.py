"""A value in, everything inside of it out, without recursion: documents may be deeper than Python's stack."""

from collections.abc import Iterable, Iterator

from jsontide import JsonValue
from jsontide._path import Path, Segment


def walk(path: Path, value: JsonValue) -> Iterator[tuple[Path, JsonValue]]:
    """Yield a value that stands at a path, and all values inside, each with its path, from the outside in."""
    todo: list[Iterator[tuple[Path, JsonValue]]] = [iter([(path, value)])]
    while todo:
        entry = next(todo[-1], None)
        if entry is None:
            todo.pop()
            continue
        yield entry
        where, inner = entry
        if isinstance(inner, dict):
            todo.append(_entries(where, inner.items()))
        elif isinstance(inner, list):
            todo.append(_entries(where, enumerate(inner)))


def _entries(path: Path, entries: Iterable[tuple[Segment, JsonValue]]) -> Iterator[tuple[Path, JsonValue]]:
    return (((*path, segment), inner) for segment, inner in entries)


def find(value: JsonValue, path: Path) -> JsonValue:
    """Return the value at a path, which must be there."""
    for segment in path:
        value = value[segment]  # type: ignore[index]
    return value
