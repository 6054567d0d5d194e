"""An open container, as far as it is written.

A frame belongs to a state and never changes.
Its closed values are in storage that later frames of the same container share and append to; a count says how many of
them belong to this frame.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from jsontide._flatten import flatten, unflatten
from jsontide._values import MISSING
from jsontide.snapshots._json_types import MAX_DEPTH

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._path import Segment

_MOST_INSIDE: Final = MAX_DEPTH + 1
"""Nesting of what a frame holds: the deepest snapshot, in the list of what is closed or waits."""


class WriteFrame:
    """An open container; the document itself is one too, as an array of one value without brackets."""

    __slots__ = ("count", "is_begun", "is_loose", "items", "key", "members", "start", "to_rewrite", "waiting")

    def __init__(self, key: Segment, is_object: bool, start: i64, waiting: dict[Segment, Any]) -> None:
        self.key: Segment = key  # its key or index in the container around it
        self.start: i64 = start  # characters written before it
        self.members: dict[str, Any] | None = {} if is_object else None  # of an object: its closed values
        self.items: list[Any] = []  # of an array: the same
        self.count: i64 = 0  # how many of those belong to this frame
        self.waiting: dict[Segment, Any] = waiting  # values known but not written, as last seen
        self.to_rewrite: set[Segment] | None = None  # members written wrong, to be written again in the same step
        self.is_begun: bool = False  # it is not empty: the next value needs a comma
        self.is_loose: bool = False  # `==` of what is closed is not enough: 1 == True == 1.0

    def fork(self) -> WriteFrame:
        """Return a frame that may be written to without changing this one."""
        fork = WriteFrame(self.key, False, self.start, self.waiting)
        count = self.count
        members = self.members
        if members is None:
            fork.items = self.items if len(self.items) == count else self.items[:count]
        else:
            fork.members = members if len(members) == count else dict(islice(members.items(), count))
        fork.count = count
        fork.to_rewrite = None if self.to_rewrite is None else self.to_rewrite.copy()
        fork.is_begun = self.is_begun
        fork.is_loose = self.is_loose
        return fork

    def replace_objects(self, current: Any) -> WriteFrame:
        """Return a frame with the same values, taken from another container that has equal ones."""
        other = self.fork()
        members = self.members
        if members is None:
            other.items = list(islice(current, self.count))
        else:
            other.members = {key: current[key] for key in members}
        return other

    def is_newest(self) -> bool:
        """Return whether no later frame has written into the storage."""
        members = self.members
        return (len(self.items) if members is None else len(members)) == self.count

    def add(self, key: Segment, value: Any) -> None:
        """Add a closed value."""
        members = self.members
        if members is None:
            self.items.append(value)
        else:
            assert isinstance(key, str)  # of an object
            members[key] = value
        self.count += 1
        to_rewrite = self.to_rewrite
        if to_rewrite is not None:
            to_rewrite.discard(key)
            if not to_rewrite:
                self.to_rewrite = None

    def must_rewrite(self, key: Segment) -> bool:
        """Return whether a member is written wrong, and must be written again."""
        return self.to_rewrite is not None and key in self.to_rewrite

    def forget(self, keys: list[Segment]) -> None:
        """Forget members, closed or open, so that they are written again."""
        members = self.members
        assert members is not None  # only an object can have a member twice
        to_rewrite = set(keys)
        self.members = {key: value for key, value in members.items() if key not in to_rewrite}
        self.count = len(self.members)
        self.to_rewrite = to_rewrite if self.to_rewrite is None else self.to_rewrite | to_rewrite

    def join(self, key: Segment, value: Any) -> Any:
        """Return the container with its closed values, those that wait, and the open one unless it is `MISSING`."""
        count: int = self.count
        members = self.members
        if members is not None:
            joined: dict[Segment, Any] = dict(islice(members.items(), count))
            joined.update(self.waiting)
            if value is not MISSING:
                joined[key] = value
            return joined
        items = self.items[:count] if value is MISSING else [*self.items[:count], value]
        return [*items, *[self.waiting[at] for at in sorted(self.waiting)]]

    def dump(self) -> tuple[Any, ...]:
        """Return what a pickle stores."""
        count: int = self.count
        members = self.members
        closed: Any = self.items[:count] if members is None else dict(islice(members.items(), count))
        return (
            self.key,
            flatten(closed, _MOST_INSIDE),
            self.start,
            list(self.waiting),
            flatten(list(self.waiting.values()), _MOST_INSIDE),
            self.is_begun,
            self.is_loose,
        )


def restore_frame(contents: tuple[Any, ...]) -> WriteFrame:
    """Return the frame that `dump` was called on."""
    key, parts, start, waiting_keys, waiting_parts, is_begun, is_loose = contents
    closed: Any = unflatten(parts)
    is_object = isinstance(closed, dict)
    frame = WriteFrame(key, is_object, start, dict(zip(waiting_keys, unflatten(waiting_parts), strict=True)))
    if is_object:
        frame.members = closed
    else:
        frame.items = closed
    frame.count = len(closed)
    frame.is_begun = is_begun
    frame.is_loose = is_loose
    return frame


def create_document_frame() -> WriteFrame:
    """Return the frame around the root, before any text."""
    return WriteFrame(0, is_object=False, start=0, waiting={})
