"""A growing value in, the last rows of it out, pretty-printed, with what is new highlighted.

Rule: the walk goes backwards and stops when the screen is full, so the cost depends on the screen, not on the document.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from jsontide import JsonValue
from jsontide.cli._escape import quote_safely
from jsontide.cli._fresh import NOTHING_NEW, Fresh
from jsontide.deltas import write_json
from jsontide.tree import Path

CURSOR = ("▌", "bold yellow")
FRESH = "bold yellow"
_STEP = 2
_KEY = "cyan"
_STRING = "green"
_SCALAR = "magenta"
_PUNCTUATION = "dim"
_OPEN = "bold yellow"


@dataclass(frozen=True, slots=True)
class _Line:
    depth: int
    text: Text


@dataclass(frozen=True, slots=True)
class _Entry:
    """A value still to be printed; `growing` is the rest of the path to the growing end."""

    depth: int
    label: Text
    value: JsonValue
    comma: str
    growing: Path | None
    fresh: Fresh


class Room(NamedTuple):
    """How many columns and rows there are to draw in."""

    width: int
    height: int


def print_end(
    console: Console, value: JsonValue, growing: Path | None, room: Room, fresh: Fresh = NOTHING_NEW
) -> list[Text]:
    """Return the last rows of a value with its growing end marked; dots on top stand for the rest."""
    root = _Entry(0, Text(), value, "", growing, fresh)
    height = room.height
    rows = list(islice(_rows_from_end(console, root, room), height + 1))
    if len(rows) > height:
        rows[height - 1 :] = [Text("⋮", _PUNCTUATION)]
    return rows[::-1]


def _rows_from_end(console: Console, root: _Entry, room: Room) -> Iterator[Text]:
    for line in _lines_from_end(root, room.width * room.height):
        # However deep the document, half of the width is left for its text.
        indent = min(line.depth * _STEP, room.width // 2)
        rows = line.text.wrap(console, room.width - indent - _STEP, overflow="fold")
        for number in range(len(rows) - 1, -1, -1):
            rows[number].pad_left(indent + (_STEP if number else 0))
            yield rows[number]


def _lines_from_end(root: _Entry, room: int) -> Iterator[_Line]:
    """Yield lines, the last one first, without recursion: documents may be deeper than Python's stack."""
    todo = [_expand(root, room)]
    while todo:
        entry = next(todo[-1], None)
        if entry is None:
            todo.pop()
        elif isinstance(entry, _Line):
            yield entry
        else:
            todo.append(_expand(entry, room))


def _expand(item: _Entry, room: int) -> Iterator[_Line | _Entry]:
    """Yield one level of a value, the last line first."""
    match item.value:
        case dict() as members:
            entries = ((key, _label(key), members[key]) for key in reversed(members))
            yield from _container(item, "{}", entries, empty=not members)
        case list() as items:
            last = len(items) - 1
            indexed = ((last - back, Text(), entry) for back, entry in enumerate(reversed(items)))
            yield from _container(item, "[]", indexed, empty=not items)
        case scalar:
            yield _Line(item.depth, Text.assemble(item.label, *_scalar(scalar, item, room)))


def _container(
    item: _Entry,
    brackets: str,
    entries: Iterator[tuple[str | int, Text, JsonValue]],
    *,
    empty: bool,
) -> Iterator[_Line | _Entry]:
    is_open = item.growing is not None
    grows_here = item.growing == ()
    style = _OPEN if is_open else _PUNCTUATION
    if empty:
        end = CURSOR if is_open else (brackets[1] + item.comma, _PUNCTUATION)
        yield _Line(item.depth, Text.assemble(item.label, (brackets[0], style), end))
        return
    if grows_here:
        yield _Line(item.depth + 1, Text.assemble(CURSOR))
    elif not is_open:
        yield _Line(item.depth, Text(brackets[1] + item.comma, _PUNCTUATION))
    comma = ""
    for segment, label, value in entries:
        inner = item.growing[1:] if item.growing and item.growing[0] == segment else None
        yield _Entry(item.depth + 1, label, value, comma, inner, item.fresh.inside(segment))
        comma = ","
    yield _Line(item.depth, Text.assemble(item.label, (brackets[0], style)))


def _label(key: str) -> Text:
    return Text.assemble((quote_safely(key), _KEY), (": ", _PUNCTUATION))


def _scalar(value: JsonValue, item: _Entry, room: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield from _string(value, item.fresh.count(value), room)
    else:
        yield write_json(value), FRESH if item.fresh.is_new else _SCALAR
    if item.growing is not None:
        yield CURSOR
        return
    if isinstance(value, str):
        yield '"', _STRING
    if item.comma:
        yield item.comma, _PUNCTUATION


def _string(value: str, fresh: int, room: int) -> Iterator[tuple[str, str]]:
    """Yield a string without its closing mark, the end of it if it is long, and what is new highlighted."""
    yield ("…", _STRING) if len(value) > room else ('"', _STRING)
    shown = value[-room:]
    known = max(len(shown) - fresh, 0)
    for text, style in ((shown[:known], _STRING), (shown[known:], FRESH)):
        if text:
            yield quote_safely(text)[1:-1], style
