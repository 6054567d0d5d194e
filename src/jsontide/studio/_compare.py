"""Two moments of one stream in, what is the same object in both and what is new out: law 3, made visible.

Rule: objects are compared by identity (`is`), never by what is in them.
"""

from __future__ import annotations

from functools import reduce
from typing import Final, TypeAlias

from jsontide._path import Path
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.deltas import CompactValue, CompactWriter
from jsontide.encoders import message_changes
from jsontide.recordings import Moment

Value: TypeAlias = "JsonValue | Missing"
_MOST: Final = 50_000


def read_values(earlier: Moment, later: Moment) -> tuple[Value, Value]:
    """Return the values of two moments; of a message, as a front end has them that is told what changed."""
    if earlier.message is None or later.message is None:
        return earlier.value, later.value
    writer, events = CompactWriter().write(message_changes(None, earlier.message))
    before = reduce(CompactValue.read, events, CompactValue())
    _, events = writer.write(message_changes(earlier.message, later.message))
    return before.value, reduce(CompactValue.read, events, before).value


def find_value(value: Value, path: Path) -> Value:
    """Return the value at a path, `MISSING` if there is none."""
    for segment in path:
        if isinstance(value, dict) and isinstance(segment, str):
            value = value.get(segment, MISSING)
        elif isinstance(value, list) and isinstance(segment, int) and segment < len(value):
            value = value[segment]
        else:
            return MISSING
    return value


def mark(before: Value, after: Value) -> str:
    """Return whether a value is the `same` object, was `changed`, or is `new`."""
    if before is MISSING:
        return "new"
    return "same" if before is after else "changed"


def count_marks(before: Value, after: Value) -> dict[str, int]:
    """Count objects that are new or changed, and those that are kept with all that is in them.

    What is inside a kept object is not counted: it was not looked at, which is what identity is good for.
    """
    counts = {"same": 0, "changed": 0, "new": 0}
    todo: list[tuple[Value, Value]] = [] if after is MISSING else [(before, after)]
    while todo and counts["changed"] + counts["new"] < _MOST:
        old, now = todo.pop()
        found = mark(old, now)
        counts[found] += 1
        if found == "same":
            continue
        if isinstance(now, dict):
            members = old if isinstance(old, dict) else {}
            todo += [(members.get(key, MISSING), member) for key, member in now.items()]
        elif isinstance(now, list):
            items: list[Value] = [*old] if isinstance(old, list) else []
            items += [MISSING] * (len(now) - len(items))
            todo += zip(items, now, strict=False)
    return counts
