"""The written text and a snapshot in, the snapshot's values along the open path out, or the first contradiction.

Closed values must be the same: `==` of whole subtrees is the fastest way to compare them.
It is exact where all snapshots came as text; otherwise it takes 1, 1.0 and True for one another, and the types of
containers that hold any of them are compared too.
`find_difference` finds the first place where two values differ: types count, the order of keys does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from itertools import zip_longest
from operator import is_
from typing import TYPE_CHECKING, Any

from jsontide._path import Path, PathLink, Segment
from jsontide._values import ARRAY, LITERAL, MISSING, NUMBER, OBJECT, compact, json_type, number_text, quote
from jsontide.snapshots._state import WriteFrame
from jsontide.snapshots._types import SnapshotConflict
from jsontide.text.numbers import is_integer

if TYPE_CHECKING:
    from mypy_extensions import i64


def is_empty(value: Any) -> bool:
    """Return whether a value is an empty string, array or object."""
    return json_type(value) <= OBJECT and len(value) == 0


def has_value_at(container: Any, key: Any) -> bool:
    """Return whether an object has a key, or an array an index."""
    return key in container if isinstance(container, dict) else key < len(container)


class ComparedPair(PathLink):
    """Two values at the same path, where they may differ; `MISSING` for nothing."""

    __slots__ = ("before", "now")

    def __init__(self, parent: ComparedPair | None, segment: Segment, before: Any, now: Any) -> None:
        PathLink.__init__(self, parent, segment)
        self.before: Any = before
        self.now: Any = now


def find_difference(before: Any, now: Any) -> ComparedPair | None:
    """Return the first difference, if there is one.

    >>> find_difference({"a": [1, 2], "b": ""}, {"b": "", "a": [1, 2.0]}).path()
    ('a', 1)
    """
    pairs = [ComparedPair(None, 0, before, now)]
    while pairs:
        pair = pairs.pop()
        if pair.before is pair.now:
            continue
        if pair.before is MISSING or pair.now is MISSING:
            return pair
        kind = json_type(pair.before)
        if kind != json_type(pair.now):
            return pair
        if kind == OBJECT:
            pairs += _members(pair)
        elif kind == ARRAY:
            pairs += _items(pair)
        elif kind == NUMBER:
            if not _is_same_number(number_text(pair.before), number_text(pair.now)):
                return pair
        elif kind == LITERAL or pair.before != pair.now:
            return pair
    return None


def types_agree(before: Any, now: Any) -> bool:
    """Return whether two containers that are equal in Python are equal in JSON; `now` may have more values.

    >>> types_agree([1, {"a": True}], [1, {"a": True}]), types_agree([1, {"a": True}], [1, {"a": 1}])
    (True, False)
    """
    containers: list[Any] = [before, now]
    while containers:
        now = containers.pop()
        before = containers.pop()
        if isinstance(before, dict):
            now = [now[key] for key in before]
            before = before.values()
        for one, other in zip(before, now, strict=False):
            if one is other:
                continue
            kind = type(one)
            if kind is not type(other):
                return False
            if isinstance(one, (dict, list, tuple)):
                containers.append(one)
                containers.append(other)
            elif not one and str(one) != str(other):  # zeros with different signs
                return False
    return True


def _members(pair: ComparedPair) -> list[ComparedPair]:
    """Return the pairs of members, the first one last."""
    before: dict[str, Any] = pair.before
    now: dict[str, Any] = pair.now
    pairs = [ComparedPair(pair, key, before[key], now.get(key, MISSING)) for key in before]
    pairs += [ComparedPair(pair, key, MISSING, now[key]) for key in now if key not in before]
    pairs.reverse()
    return pairs


def _items(pair: ComparedPair) -> list[ComparedPair]:
    """Return the pairs of items, the first one last."""
    pairs = [
        ComparedPair(pair, index, before, now)
        for index, (before, now) in enumerate(zip_longest(pair.before, pair.now, fillvalue=MISSING))
    ]
    pairs.reverse()
    return pairs


def _is_same_number(before: str, now: str) -> bool:
    """Return whether two lexemes are the same value: 1.0 and 1.00 are; 1 and 1.0 are not, nor 0.0 and -0.0."""
    if before == now:
        return True
    if is_integer(before) or is_integer(now) or before.startswith("-") != now.startswith("-"):
        return False
    try:
        return Decimal(before) == Decimal(now)
    except InvalidOperation:
        return False


class Conflict:
    """A place where a snapshot contradicts the written text; path and texts are made only if it is raised."""

    __slots__ = ("before", "inside", "key", "level", "now", "open_string", "place", "start")

    def __init__(  # noqa: PLR0913, PLR0917 - where, and the two values
        self, level: i64, key: Segment, place: i64, inside: Path, before: Any = MISSING, now: Any = MISSING
    ) -> None:
        self.level: i64 = level  # the innermost frame where writing a value again would repair it
        self.key: Segment = key  # that value, in that frame
        self.place: i64 = place  # the frame of the contradiction
        self.inside: Path = inside  # and the path from there
        self.before: Any = before  # the written value, if it is closed
        self.now: Any = now  # what the snapshot has there
        self.open_string: str | None = None  # the written text, if it is the open string
        self.start: i64 = -1  # or, if not negative, where the text of it begins

    def to_exception(self, frames: list[WriteFrame], text: str) -> SnapshotConflict:
        """Return the exception for a conflict that is not repaired; `text` is the whole text so far."""
        path = tuple([frame.key for frame in frames[2 : self.place + 1]])  # the document and the root have none
        written = compact(self.before)
        if self.open_string is not None:
            written = quote(self.open_string, False)[:-1]
        if self.start >= 0:
            written = text[self.start :]
        return SnapshotConflict(path + self.inside, written, compact(self.now))


def open_key(frames: list[WriteFrame], level: i64, open_string_key: Segment) -> Segment:
    """Return the key of the open value of a frame: the next frame, or the open string."""
    return frames[level + 1].key if level + 1 < len(frames) else open_string_key


def find_conflict(
    frames: list[WriteFrame], open_string: str | None, open_string_key: Segment, found: list[Any], is_exact: bool
) -> Conflict | None:
    """Walk down the open path and return the first contradiction, if there is one.

    `found` starts with the snapshot's value for the document, and gets one for each frame; after a repair the walk goes
    on from the frame where that was made.
    """
    top: i64 = len(frames) - 1
    level: i64 = len(found) - 1
    while True:
        current: Any = found[level]
        conflict = _closed_conflict(frames, level, current, is_exact)
        if conflict is not None:
            return conflict
        if level == top and open_string is None:
            return None
        key = open_key(frames, level, open_string_key)
        if not has_value_at(current, key):
            conflict = _gone_conflict(frames, level, key, MISSING)
            conflict.open_string = open_string
            if level < top:
                conflict.start = frames[level + 1].start
            return conflict
        if level == top:
            return _string_conflict(frames, open_string or "", open_string_key, current[key])
        found.append(current[key])
        level += 1


def _string_conflict(
    frames: list[WriteFrame], open_string: str, open_string_key: Segment, current: Any
) -> Conflict | None:
    if isinstance(current, str) and current.startswith(open_string):
        return None
    top: i64 = len(frames) - 1
    conflict = Conflict(top, open_string_key, top, _in_frame(top, open_string_key), MISSING, current)
    conflict.open_string = open_string
    return conflict


def changed_members(members: dict[str, Any], current: Any) -> list[Segment]:
    """Return the keys of closed members that have another value in a snapshot."""
    changed: list[Segment] = []
    for key, before in members.items():
        if has_value_at(current, key) and find_difference(before, current[key]) is not None:
            changed.append(key)
    return changed


def _closed_conflict(frames: list[WriteFrame], level: i64, current: Any, is_exact: bool) -> Conflict | None:
    frame = frames[level]
    members = frame.members
    if json_type(current) != (ARRAY if members is None else OBJECT):
        conflict = Conflict(level - 1, frame.key, level, (), MISSING, current)
        conflict.start = frame.start
        return conflict
    is_certain = is_exact or not frame.is_loose  # `==` is exact
    if not is_certain and members is None and _begins_with_same_objects(frame, current):
        return None
    if is_beginning(frame, current) and (
        is_certain or types_agree(frame.items if members is None else members, current)
    ):
        return None
    pairs: Iterable[tuple[Segment, Any]] = enumerate(frame.items) if members is None else members.items()
    for key, before in pairs:
        if not has_value_at(current, key):
            return _gone_conflict(frames, level, key, before)
        found = find_difference(before, current[key])
        if found is not None:
            return Conflict(level, key, level, _in_frame(level, key) + found.path(), found.before, found.now)
    return None


def _begins_with_same_objects(frame: WriteFrame, current: Any) -> bool:
    """Return whether an array begins with the very objects that are closed, as where snapshots share them."""
    count: i64 = frame.count
    return len(current) >= count and all(map(is_, frame.items, current))


def is_beginning(frame: WriteFrame, current: Any) -> bool:
    """Return whether all closed values are equal to those of a snapshot; `False` if they are too deep to compare."""
    members = frame.members
    try:
        if members is None:
            beginning: Any = current[: frame.count]
            return bool(frame.items == (beginning if isinstance(beginning, list) else list(beginning)))
        return bool(members.items() <= current.items())
    except RecursionError:
        return False


def _gone_conflict(frames: list[WriteFrame], level: i64, key: Segment, before: Any) -> Conflict:
    """Return the conflict of a written value that is gone from the snapshot."""
    return Conflict(level - 1, frames[level].key, level, _in_frame(level, key), before)


def _in_frame(level: i64, key: Segment) -> Path:
    """Return the path from a frame to a value in it; the root has no key."""
    return () if level == 0 else (key,)
