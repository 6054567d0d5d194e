"""The pieces of a stream in, the changes of what it shows or some of its values out; the last moment as the result.

Rule: a value is passed on when it will not change any more; one that is replaced, such as a status, once for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jsontide import MISSING, JsonValue
from jsontide._path import Path
from jsontide._pattern import Pattern
from jsontide._values import Missing
from jsontide.cli._input import Events
from jsontide.cli._matching import matches
from jsontide.cli._walk import find, walk
from jsontide.deltas import Change, Finish, SetValue
from jsontide.recordings import Moment, follow, start_moment


def follow_changes(stream: Events, schema: object, pattern: Pattern | None, tell: Callable[[Change], None]) -> Moment:
    """Tell the changes at all paths, or at those that a pattern matches."""
    last = start_moment()
    for moment in follow(stream.source, schema=schema):
        for change in moment.changes:
            if pattern is None or matches(pattern, change.path):
                tell(change)
        last = moment
    return last


def follow_values(stream: Events, schema: object, pattern: Pattern, tell: Callable[[Path, JsonValue], None]) -> Moment:
    """Tell the values that a pattern matches, each with its path, as they complete."""
    last = start_moment()
    for moment in follow(stream.source, schema=schema):
        for change in moment.changes:
            for path, value in _completed(change):
                if matches(pattern, path):
                    tell(path, _find(moment, path) if isinstance(value, Missing) else value)
        last = moment
    return last


def _completed(change: Change) -> Iterator[tuple[Path, JsonValue | Missing]]:
    """Yield what a change completes; the value is `MISSING` where it is to be looked up."""
    if isinstance(change, SetValue):
        start = len(change.path)
        for path, value in walk(change.path, change.value):
            if change.open is None or path[start:] != change.open[: len(path) - start]:
                yield path, value
    elif isinstance(change, Finish):
        for level in range(change.levels):
            yield change.path[: len(change.path) - level], MISSING


def _find(moment: Moment, path: Path) -> JsonValue:
    assert not isinstance(moment.value, Missing)  # noqa: S101 - something in it is complete
    return find(moment.value, path)
