"""Gemini's `partialArgs`: values at JSON paths in, the growing arguments out.

Rule: what is put together is never changed, only what leads to a changed place is made anew.
What does not fit together, such as a path through a number or an element far behind the last one, is `None`.
"""

from __future__ import annotations

import json
import re
from typing import Final, TypeAlias

from jsontide._path import Path, Segment
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.adapters._fields import field, text

_MOST_EXACT: Final = 2**53
_STEP: Final = re.compile(
    r"""\.(?P<name>[^.\[\]]+)
    | \[(?P<index>[0-9]{1,9})\]
    | \[(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]""",
    re.VERBOSE,
)
_Slot: TypeAlias = "JsonValue | Missing"


def with_partial(arguments: JsonValue, partial: object) -> JsonValue:
    """Return the arguments with one more partial argument in them, `None` if it has no place there."""
    path = path_of(text(partial, "jsonPath", "json_path") or "")
    if not path:
        return None
    changed = _put(arguments, path, partial)
    return None if isinstance(changed, Missing) else changed


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
        if step is None:
            return None
        segments.append(_segment(step))
        place = step.end()
    return tuple(segments)


def _segment(step: re.Match[str]) -> Segment:
    if step["index"]:
        return int(step["index"])
    if step["name"]:
        return step["name"]
    inside = step["quoted"][1:-1]
    return re.sub(r"\\(.)", r"\1", inside)


def _put(value: _Slot, path: Path, partial: object) -> _Slot:
    """Return a value with the partial argument at a path in it, `MISSING` if there is no such place."""
    if not path:
        return _leaf(value, partial)
    segment, rest = path[0], path[1:]
    if isinstance(segment, str):
        members = {} if value is MISSING else value
        if not isinstance(members, dict):
            return MISSING
        member = _put(members.get(segment, MISSING), rest, partial)
        return MISSING if isinstance(member, Missing) else {**members, segment: member}
    elements = [] if value is MISSING else value
    if not isinstance(elements, list) or segment > len(elements):
        return MISSING
    element = _put(elements[segment] if segment < len(elements) else MISSING, rest, partial)
    return MISSING if isinstance(element, Missing) else [*elements[:segment], element, *elements[segment + 1 :]]


def _leaf(before: _Slot, partial: object) -> _Slot:
    piece = text(partial, "stringValue", "string_value")
    if isinstance(before, str):
        return before + (piece or "")
    if before is not MISSING:
        return MISSING
    if piece is not None:
        return piece
    number = field(partial, "numberValue", "number_value")
    if isinstance(number, int | float) and not isinstance(number, bool):
        return _number(number)
    truth = field(partial, "boolValue", "bool_value")
    return truth if isinstance(truth, bool) else None


def _number(number: float) -> int | float:
    """Numbers travel as doubles: one without a fraction is an integer again."""
    if isinstance(number, float) and number.is_integer() and abs(number) <= _MOST_EXACT:
        return int(number)
    return number


def as_text(arguments: JsonValue) -> str:
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
