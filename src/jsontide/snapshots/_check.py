"""What is written and a snapshot in, what the snapshot holds along the open path out, or where it contradicts.

What is closed must be the same, whatever it holds: `==` of whole subtrees tells, as fast as Python can.
It is exact where all snapshots came as text; otherwise it takes 1, 1.0 and True for one another, and the types of what
holds any of them are compared too.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any

from jsontide._values import MISSING
from jsontide.snapshots._difference import Difference, difference, types_agree
from jsontide.snapshots._kinds import ARRAY, OBJECT, kind_of
from jsontide.snapshots._writing import compact, quoted
from jsontide.text._build import COMPILED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mypy_extensions import i64

    from jsontide._path import Path, Segment
    from jsontide.snapshots._frames import Frame


class Clash:
    """A place where a snapshot contradicts what is written."""

    __slots__ = ("key", "level", "path", "start", "wanted", "written")

    def __init__(self, level: i64, key: Segment, path: Path) -> None:
        self.level: i64 = level  # the innermost frame in which writing the value again would mend it
        self.key: Segment = key  # that value, in that frame
        self.path: Path = path
        self.written: str = ""
        self.start: i64 = -1  # if not negative: what is written begins there
        self.wanted: str = ""


def open_key(frames: list[Frame], level: i64, leaf_key: Segment) -> Segment:
    """Return the key of what is open in a frame: the next frame, or the open string."""
    return frames[level + 1].key if level + 1 < len(frames) else leaf_key


def check(frames: list[Frame], leaf: str | None, leaf_key: Segment, snapshot: Any, is_exact: bool) -> list[Any] | Clash:
    """Return what a snapshot holds for each frame, or the first contradiction."""
    found: list[Any] = []
    current: Any = [snapshot]
    top: i64 = len(frames) - 1
    for level in range(top + 1):
        clash = _clash_of_closed(frames, level, current, is_exact)
        if clash is not None:
            return clash
        found.append(current)
        if level == top and leaf is None:
            return found
        key = open_key(frames, level, leaf_key)
        if not _holds(current, key):
            clash = _gone(frames, level, key, _open_text(leaf or ""))
            if level < top:
                clash.start = frames[level + 1].start
            return clash
        current = current[key]
    assert leaf is not None  # or the loop had ended with the innermost frame
    if isinstance(current, str) and current.startswith(leaf):
        return found
    clash = Clash(top, leaf_key, _child_path(frames, top, leaf_key))
    clash.written = _open_text(leaf)
    clash.wanted = compact(current, False)
    return clash


def adopted(frame: Frame, current: Any) -> Frame:
    """Return a frame that holds what is closed by the objects of a snapshot that `check` let pass."""
    return frame.holding(current) if _is_beginning(frame, current) else frame


def _clash_of_closed(frames: list[Frame], level: i64, current: Any, is_exact: bool) -> Clash | None:
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
            return _gone(frames, level, key, compact(before, False))
        found = difference(before, current[key])
        if found is not None:
            return _changed(frames, level, key, found)
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


def _changed_type(frames: list[Frame], level: i64, current: Any) -> Clash:
    frame = frames[level]
    clash = Clash(level - 1, frame.key, _path(frames, level))
    clash.start = frame.start
    clash.wanted = compact(current, False)
    return clash


def _gone(frames: list[Frame], level: i64, key: Segment, written: str) -> Clash:
    """Make the clash of something that is written and not in the snapshot any more."""
    clash = Clash(level - 1, frames[level].key, _child_path(frames, level, key))
    clash.written = written
    return clash


def _changed(frames: list[Frame], level: i64, key: Segment, found: Difference) -> Clash:
    clash = Clash(level, key, _child_path(frames, level, key) + found.path)
    if found.before is not MISSING:
        clash.written = compact(found.before, False)
    if found.now is not MISSING:
        clash.wanted = compact(found.now, False)
    return clash


def _open_text(leaf: str) -> str:
    return quoted(leaf, False)[:-1]


def _path(frames: list[Frame], level: i64) -> Path:
    """Return the path of a frame; the document and the root have none."""
    return tuple([frame.key for frame in frames[2 : level + 1]])


def _child_path(frames: list[Frame], level: i64, key: Segment) -> Path:
    return () if level == 0 else (*_path(frames, level), key)
