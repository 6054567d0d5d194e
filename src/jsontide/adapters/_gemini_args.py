"""Gemini's `partialArgs`: values at JSON paths in, the text of the growing arguments out.

The values are put together, and `snapshots` turns what they grow to into text.
Rule: what was written is never taken back. Parts that do not fit together, such as a path through a number, an element
far behind the last one or more of a string that was closed, end the writing: the text stays open, and cannot be run.
So does the text of a call that ends while one of its strings was said to go on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, cast

from jsontide._growing import joined, waits
from jsontide._path import Path, Segment
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.adapters._fields import field, flag, has, text
from jsontide.snapshots import SnapshotConflict, SnapshotState, add_value, create_snapshot_state, finish

_MOST_EXACT: Final = 2**53
_DEEPEST: Final = 512
_STEP: Final = re.compile(
    r"""\.(?P<name>[^.\[\]]+)
    | \[(?P<index>[0-9]{1,9})\]
    | \[(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]""",
    re.VERBOSE,
)
_IN_QUOTES: Final = re.compile(r'\\.|"', re.DOTALL)
_VALUES: Final = (
    *("stringValue", "string_value", "numberValue", "number_value", "boolValue", "bool_value"),
    *("nullValue", "null_value"),
)
_Slot: TypeAlias = "JsonValue | Missing"


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one call as far as they are put together and written."""

    value: dict[str, JsonValue]
    written: SnapshotState
    is_broken: bool = False
    unfinished: frozenset[Path] = frozenset()
    """Where there are strings that were said to go on."""


def no_arguments() -> Arguments:
    # Keys come in the order of writing, so the last value is the one that grows.
    return Arguments({}, create_snapshot_state(key_order="kept"))


def with_partials(
    arguments: Arguments, partials: Iterable[object], whole: str | Mapping[str, object] | None = None
) -> tuple[Arguments, str]:
    """Return the arguments after some more of them, or after all of them so far, and the text that this adds."""
    if arguments.is_broken:
        return arguments, ""
    value: _Slot = _so_far(arguments, whole)
    unfinished = arguments.unfinished
    for partial in partials:
        path = path_of(text(partial, "jsonPath", "json_path") or "")
        place = frozenset([path or ()])
        value = _put(value, path, partial, goes_on=place <= unfinished) if path and value is not MISSING else MISSING
        unfinished = unfinished | place if flag(partial, "willContinue", "will_continue") else unfinished - place
    if not isinstance(value, dict):
        return _broken(arguments)
    try:
        written, added = add_value(arguments.written, value)
    except (TypeError, ValueError):  # a conflict with what is written, or something that JSON does not have
        return _broken(arguments)
    return Arguments(value, written, unfinished=unfinished), added


def _broken(arguments: Arguments) -> tuple[Arguments, str]:
    """A call without any text would be one without arguments, which can be run."""
    return replace(arguments, is_broken=True), "" if arguments.written.text else "{"


def _so_far(arguments: Arguments, whole: str | Mapping[str, object] | None) -> _Slot:
    if not whole:
        return arguments.value
    return cast("dict[str, JsonValue]", dict(whole)) if isinstance(whole, Mapping) else MISSING


def closing(arguments: Arguments) -> str:
    """Return the text that closes the arguments, nothing if they are not whole, or not what was written."""
    if arguments.is_broken or arguments.unfinished:
        return ""
    try:
        return finish(arguments.written)[1]
    except SnapshotConflict:
        return ""


def path_of(written: str) -> Path | None:
    """Read a JSONPath of plain steps.

    >>> path_of("$.recipe['odd key'][0]")
    ('recipe', 'odd key', 0)
    """
    if not written.startswith("$"):
        return None
    segments: list[Segment] = []
    place = 1
    while place < len(written):
        step = _STEP.match(written, place)
        segment = None if step is None else _segment(step)
        if step is None or segment is None:
            return None
        segments.append(segment)
        place = step.end()
    return tuple(segments) if len(segments) <= _DEEPEST else None


def _segment(step: re.Match[str]) -> Segment | None:
    if step["index"]:
        return int(step["index"])
    return step["name"] or _unquoted(step["quoted"])


def _unquoted(quoted: str) -> str | None:
    """RFC 9535: a name in quotes of either kind has the escapes of a JSON string, and its own quote may be escaped."""
    inside = _IN_QUOTES.sub(lambda found: {'"': '\\"', "\\'": "'"}.get(found[0], found[0]), quoted[1:-1])
    try:
        name = json.loads(f'"{inside}"')
    except ValueError:
        return None
    return cast("str", name)


def _put(value: _Slot, path: Path, partial: object, *, goes_on: bool) -> _Slot:
    """Return a value with the partial argument at a path in it, `MISSING` if there is no such place.

    `goes_on` tells that what is there was said to go on.
    """
    if not path:
        return _leaf(value, partial, goes_on=goes_on)
    segment, rest = path[0], path[1:]
    if isinstance(segment, str):
        members = {} if value is MISSING else value
        if not isinstance(members, dict):
            return MISSING
        member = _put(members.get(segment, MISSING), rest, partial, goes_on=goes_on)
        return MISSING if isinstance(member, Missing) else {**members, segment: member}
    elements = [] if value is MISSING else value
    if not isinstance(elements, list) or segment > len(elements):
        return MISSING
    element = _put(elements[segment] if segment < len(elements) else MISSING, rest, partial, goes_on=goes_on)
    return MISSING if isinstance(element, Missing) else [*elements[:segment], element, *elements[segment + 1 :]]


def _leaf(before: _Slot, partial: object, *, goes_on: bool) -> _Slot:
    piece = text(partial, "stringValue", "string_value")
    if isinstance(before, str) and (goes_on or not piece) and (piece is not None or field(partial, *_VALUES) is None):
        return _longer(before, piece or "")
    if before is not MISSING:
        return MISSING
    if piece is not None:
        return piece
    number = field(partial, "numberValue", "number_value")
    if isinstance(number, int | float) and not isinstance(number, bool):
        return _number(number)
    truth = field(partial, "boolValue", "bool_value")
    if isinstance(truth, bool):
        return truth
    return None if has(partial, "nullValue", "null_value") else MISSING


def _longer(before: str, piece: str) -> str:
    """Pieces may have been cut between the two halves of a character."""
    if not waits(before):
        return before + piece
    added, held = joined(before[-1], piece)
    return before[:-1] + added + held


def _number(number: float) -> int | float:
    """Numbers travel as doubles: one without a fraction is an integer again."""
    if isinstance(number, float) and number.is_integer() and abs(number) <= _MOST_EXACT:
        return int(number)
    return number
