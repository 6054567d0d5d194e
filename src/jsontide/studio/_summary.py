"""Two summaries in, the changes out that make the one into the other; with them a growing value for `jsontide.js`.

Rule: what did not change is not told, so that it stays the same object in the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from jsontide._path import Path
from jsontide._values import MISSING, JsonValue
from jsontide.deltas import Change, SetValue


def find_changes(before: object, after: object) -> list[Change]:
    """Return the changes from one summary, `MISSING` before the first, to the next.

    >>> find_changes({"count": 1, "lanes": [1]}, {"count": 2, "lanes": [1, 5]})
    [SetValue(('count',), 2), SetValue(('lanes', 1), 5)]
    """
    if before is MISSING:
        return [SetValue((), cast("JsonValue", after), ())]
    return [*_differences(before, after, ())]


def _differences(before: object, after: object, path: Path) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() <= after.keys():
        for key, value in after.items():
            yield from _differences(before.get(key, MISSING), value, (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) <= len(after):
        for place, value in enumerate(after):
            old = before[place] if place < len(before) else MISSING
            yield from _differences(old, value, (*path, place))
    elif before != after:
        yield SetValue(path, cast("JsonValue", after))
