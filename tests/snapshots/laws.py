"""Law 6 as an oracle: what the text of a chunker must be after every snapshot, and at the end.

In: a text and the snapshot that was taken in last. Out: whether the text is a prefix of valid JSON, shows nothing that
the snapshot does not hold, writes no key twice; and at the end, whether it is the snapshot and no character more.
Rule: texts are read by `json.loads` and by the models of `tests.oracles`; from `jsontide` comes `MISSING` alone.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, Protocol

from jsontide import MISSING
from tests.oracles import Path, Shown, fault, lexemes, no_constant, shown
from tests.snapshots.forms import Fed, Mark
from tests.snapshots.histories import Number, Tree

LONE = re.compile("[\ud800-\udfff]")
HALVES = re.compile(r"[\ud800-\udbff]+\Z")  # `$` would also match before a newline


Options = dict[str, Any]


def any_options(random: Random) -> Options:
    return {
        "numbers": random.choice(("whole", "grow")),
        "empty": random.choice(("early", "late")),
        "nulls": random.choice(("early", "late")),
        "key_order": random.choice(("any", "kept")),
        "max_wait": random.choice((None, None, 1, 2)),
    }


class Chunker(Protocol):
    """What the law speaks of; `JsonStreamChunker` is one."""

    def process(self, text: Any, /) -> str: ...
    def process_value(self, value: Any, /) -> str: ...
    def flush(self) -> str: ...


def feed(chunker: Chunker, fed: Fed) -> str:
    return chunker.process(fed.item) if fed.is_text else chunker.process_value(fed.item)


def compact(tree: Tree, *, ensure_ascii: bool = False) -> str:
    """The text of a tree without white space; lone surrogates have no UTF-8 and are escaped."""

    def string(text: str) -> str:
        return LONE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", json.dumps(text, ensure_ascii=ensure_ascii))

    result: list[str] = []
    todo: list[Any] = [tree]
    while todo:
        item = todo.pop()
        match item:
            case Mark():
                result.append(item)
            case str():
                result.append(string(item))
            case Number():
                result.append(item.lexeme)
            case dict() | list():
                is_object = isinstance(item, dict)
                pairs = list(item.items()) if isinstance(item, dict) else [("", child) for child in item]
                todo.append(Mark("}" if is_object else "]"))
                for at, (key, child) in reversed(list(enumerate(pairs))):
                    todo += [child, Mark("," * bool(at) + (f"{string(key)}:" if is_object else ""))]
                todo.append(Mark("{" if is_object else "["))
            case _:
                result.append(json.dumps(item))
    return "".join(result)


def once(pairs: list[tuple[str, Tree]]) -> Tree:
    """An object in which no key is written twice."""
    assert len(dict(pairs)) == len(pairs), f"a key is written twice: {[key for key, _ in pairs]}"
    return dict(pairs)


def last_wins(pairs: list[tuple[str, Tree]]) -> Tree:
    """An object as every parser reads it, its members in the order in which they were last written."""
    result: dict[str, Tree] = {}
    for key, child in pairs:
        result.pop(key, None)
        result[key] = child
    return result


Hook = Callable[[list[tuple[str, Tree]]], Tree]


def read(text: str, hook: Hook = once) -> Tree:
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=no_constant, object_pairs_hook=hook)


def seen(text: str) -> Shown:
    """What a text shows; a number at its end counts, for a chunker must write numbers whole."""
    view = shown(text)
    return shown(text + " ") if view.hidden else view


def part_seen(text: str, hook: Hook = once) -> Tree:
    """The partial value that a text shows; it must show one."""
    return read(seen(text).text, hook)


def shows_only(text: str, tree: Tree, hook: Hook = once, *, has_shrunk: bool = False) -> bool:
    """Sound: what is closed in the text is as the snapshot has it, what is open begins it and has no half character.

    With `has_shrunk`, a half that was known to stay one, because another followed, may have become the last.
    """
    view = seen(text)
    if not view.text:
        return True
    part = read(view.text, hook)
    for _ in range(len(view.closers) + view.open_string):
        if type(part) is not type(tree):
            return False
        if isinstance(part, str):
            return (tree if has_shrunk else complete(tree)).startswith(json.loads(last_lexeme(text) + '"'))
        if not part:
            return True
        *closed, last = part if isinstance(part, dict) else range(len(part))
        there = set(tree) if isinstance(tree, dict) else set(range(len(tree)))
        if not {*closed, last} <= there or any(part[key] != tree[key] for key in closed):
            return False
        part, tree = part[last], tree[last]
    return bool(part == tree)


def complete(string: str) -> str:
    """A string without half a character at its end."""
    return string[:-1] if "\ud800" <= string[-1:] <= "\udbff" else string


def last_lexeme(text: str) -> str:
    return list(lexemes(text))[-1][0]


def check(text: str, tree: Tree, hook: Hook = once, *, has_shrunk: bool = False) -> None:
    """What must hold after every call."""
    assert fault(text) is None, f"not a prefix of valid JSON: {text!r}"
    assert not LONE.search(text), f"a raw surrogate: {text!r}"
    assert shows_only(text, tree, hook, has_shrunk=has_shrunk), f"{text!r} shows more than {compact(tree)}"


def check_end(text: str, tree: Tree, *, ensure_ascii: bool = False) -> None:
    """What must hold after the end."""
    assert read(text) == tree, f"{text!r} is not {compact(tree)}"
    assert len(text) == len(compact(tree, ensure_ascii=ensure_ascii)), f"wasteful: {text!r} for {compact(tree)}"


def check_law(chunker: Chunker, history: Sequence[Fed], *, ensure_ascii: bool = False) -> list[str]:
    """Feed a lawful history and check all four parts of the law after every call. Out: the chunks."""
    chunks: list[str] = []
    try:
        for fed in history:
            chunks.append(feed(chunker, fed))
            check("".join(chunks), fed.tree)
        chunks.append(chunker.flush())
        check_end("".join(chunks), history[-1].tree, ensure_ascii=ensure_ascii)
    except Exception as error:
        error.add_note(describe(history, chunks))
        raise
    return chunks


def describe(history: Iterable[Fed], chunks: Iterable[str]) -> str:
    """A history and what became of it, to be read by people."""
    return "\n".join(["the snapshots:", *(repr(fed.item) for fed in history), "the chunks:", *map(repr, chunks)])


def open_object_can_carry(text: str, tree: Tree) -> bool:
    """Whether a repair is possible: the outermost open object can be made equal by writing members again.

    It cannot take back a member, and what stands before it in open arrays is as it is.
    """
    view = seen(text)
    part: Tree = read(view.text, last_wins) if view.text else None
    for _ in view.closers:
        if type(part) is not type(tree):
            return False
        if isinstance(part, dict):
            return set(part) <= set(tree)
        *closed, last = part or [None]
        if len(part) > len(tree) or closed != tree[: len(closed)]:
            return False
        part, tree = last, tree[len(closed)] if part else None
    return False


# What is still missing.


def check_shown_whole(text: str, tree: Tree, history: list[Fed]) -> None:
    """All that the snapshot holds, but for half a character at the end of the open string."""
    assert shows_only(text, tree), describe(history, [text])
    shown = part_seen(text)
    assert shown == tree or without_half(tree, shown) == shown, describe(history, [text])


def without_half(tree: Tree, shown: Tree) -> Tree:
    """The tree without the half characters that `shown` lacks."""
    if isinstance(tree, dict) and isinstance(shown, dict) and set(tree) == set(shown):
        return {key: without_half(tree[key], shown[key]) for key in tree}
    if isinstance(tree, list) and isinstance(shown, list) and len(tree) == len(shown):
        return [without_half(*pair) for pair in zip(tree, shown, strict=True)]
    return shown if isinstance(tree, str) and HALVES.sub("", tree) == shown else tree


def leaves(tree: Tree) -> dict[Path, Tree]:
    """All that a reader could see of a tree: numbers, words, and strings that are not empty; no halves at their end."""
    result: dict[Path, Tree] = {}
    todo: list[tuple[Path, Tree]] = [((), tree)]
    while todo:
        path, item = todo.pop()
        if isinstance(item, dict | list):
            pairs = item.items() if isinstance(item, dict) else enumerate(item)
            todo += [((*path, key), child) for key, child in pairs]
        else:
            shown = HALVES.sub("", item) if isinstance(item, str) else item
            result.update({path: shown} if shown != "" else {})
    return result


def missing_leaves(text: str, tree: Tree) -> dict[Path, Tree]:
    """The leaves of a tree that a text does not show yet."""
    shown = leaves(part_seen(text)) if seen(text).text else {}

    def is_shown(path: Path, leaf: Tree) -> bool:
        there = shown.get(path, MISSING)
        return bool(there == leaf or (isinstance(leaf, str) and isinstance(there, str) and there.startswith(leaf)))

    return {path: leaf for path, leaf in leaves(tree).items() if not is_shown(path, leaf)}
