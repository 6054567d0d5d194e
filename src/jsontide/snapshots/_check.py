"""What is written and a snapshot in, what the snapshot holds along the open path out, or where it contradicts.

What is closed must be the same, whatever it holds: `==` of whole subtrees tells, as fast as Python can.
It is exact where all snapshots came as text; otherwise it takes 1, 1.0 and True for one another, and the types of what
holds any of them are compared too.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any

from jsontide._build import COMPILED
from jsontide._values import MISSING
from jsontide.snapshots._difference import Difference, difference, types_agree
from jsontide.snapshots._errors import SnapshotConflict
from jsontide.snapshots._kinds import ARRAY, OBJECT, kind_of
from jsontide.snapshots.writing import compact, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mypy_extensions import i64

    from jsontide._path import Path, Segment
    from jsontide.snapshots._frames import Frame


class Conflict:
    """A place where a snapshot contradicts what is written; paths and texts are made for those that are raised."""

    __slots__ = ("before", "inside", "key", "level", "now", "open_string", "place", "start")

    def __init__(self, level: i64, key: Segment, place: i64, inside: Path) -> None:
        self.level: i64 = level  # the innermost frame in which writing the value again would mend it
        self.key: Segment = key  # that value, in that frame
        self.place: i64 = place  # the frame of the contradiction
        self.inside: Path = inside  # and the way from there
        self.before: Any = MISSING  # what is written, if it is closed
        self.open_string: str | None = None  # or if it is the open string
        self.start: i64 = -1  # or, if not negative: where it begins
        self.now: Any = MISSING  # what the snapshot holds

    def conflict(self, frames: list[Frame], text: str) -> SnapshotConflict:
        """Return what is raised if it is not repaired; `text` is all that is written."""
        path = tuple([frame.key for frame in frames[2 : self.place + 1]])  # the document and the root have none
        written = "" if self.before is MISSING else compact(self.before, False)
        if self.open_string is not None:
            written = quoted(self.open_string, False)[:-1]
        if self.start >= 0:
            written = text[self.start :]
        return SnapshotConflict(path + self.inside, written, "" if self.now is MISSING else compact(self.now, False))


def open_key(frames: list[Frame], level: i64, open_string_key: Segment) -> Segment:
    """Return the key of what is open in a frame: the next frame, or the open string."""
    return frames[level + 1].key if level + 1 < len(frames) else open_string_key


def check(
    frames: list[Frame], open_string: str | None, open_string_key: Segment, found: list[Any], is_exact: bool
) -> Conflict | None:
    """Go on down the open path, appending what a snapshot holds for each frame; return the first contradiction.

    `found` begins with what is held for the document; after a repair it goes on from where that was made.
    """
    top: i64 = len(frames) - 1
    level: i64 = len(found) - 1
    while True:
        current: Any = found[level]
        conflict = _conflict_in_closed(frames, level, current, is_exact)
        if conflict is not None:
            return conflict
        if level == top and open_string is None:
            return None
        key = open_key(frames, level, open_string_key)
        if not _holds(current, key):
            conflict = _gone(frames, level, key)
            conflict.open_string = open_string
            if level < top:
                conflict.start = frames[level + 1].start
            return conflict
        if level == top:
            return _clash_of_leaf(frames, open_string or "", open_string_key, current[key])
        found.append(current[key])
        level += 1


def _clash_of_leaf(frames: list[Frame], open_string: str, open_string_key: Segment, current: Any) -> Conflict | None:
    if isinstance(current, str) and current.startswith(open_string):
        return None
    top: i64 = len(frames) - 1
    conflict = Conflict(top, open_string_key, top, _in_frame(top, open_string_key))
    conflict.open_string = open_string
    conflict.now = current
    return conflict


def changed_members(members: dict[str, Any], current: Any) -> list[Segment]:
    """Return the keys of what is closed in an object, and is something else in a snapshot that has it too."""
    changed: list[Segment] = []
    for key, before in members.items():
        if _holds(current, key) and difference(before, current[key]) is not None:
            changed.append(key)
    return changed


def adopted(frame: Frame, current: Any) -> Frame:
    """Return a frame that holds what is closed by the objects of a snapshot that `check` let pass."""
    return frame.holding(current) if _is_beginning(frame, current) else frame


def _conflict_in_closed(frames: list[Frame], level: i64, current: Any, is_exact: bool) -> Conflict | None:
    frame = frames[level]
    members = frame.members
    if kind_of(current) != (ARRAY if members is None else OBJECT):
        return _changed_type(frames, level, current)
    is_certain = is_exact or not frame.is_loose  # what is equal is the same
    if not is_certain and members is None and _begins_with_the_same(frame, current):
        return None
    if _is_beginning(frame, current) and (is_certain or types_agree(_closed(frame), current)):
        return None
    pairs: Iterable[tuple[Segment, Any]] = enumerate(frame.items) if members is None else members.items()
    for key, before in pairs:
        if not _holds(current, key):
            conflict = _gone(frames, level, key)
            conflict.before = before
            return conflict
        found = difference(before, current[key])
        if found is not None:
            return _changed(level, key, found)
    return None


def _begins_with_the_same(frame: Frame, current: Any) -> bool:
    """Tell whether all that is closed in an array is the same objects, as where snapshots share what did not change."""
    count: i64 = frame.count
    items = frame.items
    if len(current) < count:
        return False
    if not COMPILED or not isinstance(current, list):
        return all(map(is_, items, current))
    for at in range(count):
        if items[at] is not current[at]:
            return False
    return True


def _is_beginning(frame: Frame, current: Any) -> bool:
    """Tell quickly whether all that is closed is the same, at once where it is the same object; a doubt is no."""
    members = frame.members
    try:
        if members is None:
            beginning: Any = current[: frame.count]
            return bool(frame.items == (beginning if isinstance(beginning, list) else list(beginning)))
        return bool(members.items() <= current.items())
    except RecursionError:  # deeper than Python compares
        return False


def _closed(frame: Frame) -> Any:
    return frame.items if frame.members is None else frame.members


def _holds(container: Any, key: Any) -> bool:
    return key in container if isinstance(container, dict) else key < len(container)


def _changed_type(frames: list[Frame], level: i64, current: Any) -> Conflict:
    frame = frames[level]
    conflict = Conflict(level - 1, frame.key, level, ())
    conflict.start = frame.start
    conflict.now = current
    return conflict


def _gone(frames: list[Frame], level: i64, key: Segment) -> Conflict:
    """Make the conflict of something that is written and not in the snapshot any more."""
    return Conflict(level - 1, frames[level].key, level, _in_frame(level, key))


def _changed(level: i64, key: Segment, found: Difference) -> Conflict:
    conflict = Conflict(level, key, level, _in_frame(level, key) + found.path)
    conflict.before = found.before
    conflict.now = found.now
    return conflict


def _in_frame(level: i64, key: Segment) -> Path:
    """Return the way from a frame to a value in it; the root has no key."""
    return () if level == 0 else (key,)
