"""Two values of a stream in, what changed between them out: for values that went through a schema.

Values grow and what did not change is the same object (laws 2 and 3), so only what is another object is looked into:
in an array the last item and those after it, in an object its members, in a string the characters after the old ones.
Only a repeated key takes something back: what it replaced is set again, whole.
The parse knows when a value closes, a value does not: it is finished when another one begins after it, or at the end.

Rule: applied in order to the value before, the changes give the value after; a value that did not grow is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from jsontide._values import MISSING
from jsontide.deltas.changes import AppendText, Change, Finish, SetValue

if TYPE_CHECKING:
    from jsontide._path import Path, Segment
    from jsontide._values import JsonValue, Missing


def compare_values(before: JsonValue | Missing, after: JsonValue | Missing, *, is_complete: bool) -> list[Change]:
    """Return what changed from one value of a stream to a later one; `is_complete` says that it will not change.

    >>> compare_values({"city": "Kyo"}, {"city": "Kyoto", "stops": [3]}, is_complete=False)
    [AppendText(('city',), 'to'), Finish(('city',), 1), SetValue(('stops',), [3], open=())]
    """
    if after is MISSING:
        return []
    if before is MISSING:
        return [SetValue((), after, None if is_complete else _open_in(after))]
    changes: list[Change] = []
    _compare(before, after, changes)
    if is_complete:
        _finish((), after, changes)
    return changes


def _compare(before: object, after: object, changes: list[Change]) -> None:
    """Add what changed: go down along the last values as long as they changed, then add what is new, inside first."""
    path: Path = ()
    around: list[tuple[Path, object, Segment | None, list[Segment]]] = []
    while before is not after:
        found = _new_in(before, after)
        if found is None:
            _replace(path, before, after, changes)
            break
        last, new = found
        replaced = _replaced_in(before, after, last)
        changes += [SetValue((*path, key), cast("JsonValue", _at(after, key))) for key in replaced]
        if new:
            around.append((path, after, last, new))
        if last is None:
            break
        path = (*path, last)
        before, after = _at(before, last), _at(after, last)
    while around:
        _add_new(*around.pop(), changes)


def _new_in(before: object, after: object) -> tuple[Segment | None, list[Segment]] | None:
    """Return the last value of a container before, and what is new in it; `None` if it did not only grow."""
    if isinstance(before, list) and isinstance(after, list) and _continues(before, after):
        return (len(before) - 1 if before else None), list(range(len(before), len(after)))
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() <= after.keys():
        return (next(reversed(before)) if before else None), [key for key in after if key not in before]
    return None


def _continues(before: list[object], after: list[object]) -> bool:
    """Return whether an array is the same with more at its end, and not that of another member of the same key."""
    return len(after) >= len(before) and before[:-1] == after[: len(before) - 1 if before else 0]


def _replaced_in(before: object, after: object, last: Segment | None) -> list[Segment]:
    """Return the members of an object, but for the last one, that another one of the same key has replaced."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return []
    return [key for key, old in before.items() if key != last and old is not after.get(key) and old != after.get(key)]


def _replace(path: Path, before: object, after: object, changes: list[Change]) -> None:
    if isinstance(before, str) and isinstance(after, str) and after.startswith(before):
        if len(after) > len(before):
            changes.append(AppendText(path, after[len(before) :]))
    else:
        changes.append(SetValue(path, cast("JsonValue", after), _open_in(after), is_new=False))


def _add_new(path: Path, after: object, last: Segment | None, new: list[Segment], changes: list[Change]) -> None:
    """Add the new values of a container: the last one before them is finished."""
    if last is not None:
        _finish((*path, last), _at(after, last), changes)
    values = [(segment, cast("JsonValue", _at(after, segment))) for segment in new]
    changes += [SetValue((*path, segment), value) for segment, value in values[:-1]]
    segment, value = values[-1]
    changes.append(SetValue((*path, segment), value, _open_in(value)))


def _finish(path: Path, value: object, changes: list[Change]) -> None:
    """Finish a value, from the innermost one that may be open outwards."""
    inside = _open_in(value)
    if inside is not None:
        changes.append(Finish((*path, *inside), len(inside) + 1))


def _open_in(value: object) -> Path | None:
    """Return the path to the innermost value that may still grow: the last one of the last one, and so on."""
    path: list[Segment] = []
    is_open = isinstance(value, (str, list, dict))
    while isinstance(value, (list, dict)) and value:
        segment: Segment = len(value) - 1 if isinstance(value, list) else next(reversed(value))
        value = _at(value, segment)
        if not isinstance(value, (str, list, dict)):
            break
        path.append(segment)
    return tuple(path) if is_open else None


def _at(container: object, segment: Segment) -> object:
    return cast("Any", container)[segment]
