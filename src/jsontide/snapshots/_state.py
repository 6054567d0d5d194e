"""The state of a chunker: the text written so far, and the containers and the string open at its end.

Later states share the storage of earlier ones and append to it; each sees only its own part.
A `WriteFrame` is an open container, as far as it is written: it belongs to a state and never changes, and a count says
how many of the closed values in the shared storage are its own.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from jsontide._path import Segment
from jsontide._values import MAX_DEPTH, MISSING, flatten, unflatten
from jsontide.snapshots._reader import NOTHING_READ, ParsedText

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide.snapshots._options import ChunkOptions
    from jsontide.snapshots._writer import SnapshotWriter

_MOST_INSIDE: Final = MAX_DEPTH + 1
"""Nesting inside a frame: the deepest snapshot, in the list of closed or waiting values."""


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
        self.is_loose: bool = False  # `==` of closed values is not enough: 1 == True == 1.0

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


class SnapshotState:
    """The position in a stream of snapshots; it never changes, and can be fed again at any time.

    Made by `start_snapshots`, `feed_snapshots`, `feed_snapshot_values` and `finish_snapshots`.
    """

    __slots__ = (
        "_frames",
        "_held",
        "_is_all_text",
        "_length",
        "_open_string",
        "_open_string_key",
        "_options",
        "_parsed_text",
        "_piece_count",
        "_pieces",
        "_waited",
    )

    def __init__(self, options: ChunkOptions, frames: tuple[WriteFrame, ...], pieces: list[str]) -> None:
        self._options: ChunkOptions = options
        self._frames: tuple[WriteFrame, ...] = frames  # the open containers, outermost first; the first is the document
        self._open_string: str | None = None  # the open string, as far as it is written
        self._open_string_key: Segment = 0
        self._held: str = ""  # half a surrogate pair after it, not written yet
        self._pieces: list[str] = pieces  # the text; later states append to it
        self._piece_count: i64 = len(pieces)
        self._length: i64 = 0  # characters of the text
        self._waited: i64 = 0  # snapshots since values began to wait
        self._is_all_text: bool = True  # every snapshot came as text
        self._parsed_text: ParsedText = NOTHING_READ  # the last snapshot, if it came as text; not pickled

    @property
    def text(self) -> str:
        """All chunks so far, joined."""
        return "".join(self._pieces[: self._piece_count])

    @property
    def is_complete(self) -> bool:
        """Whether the text is a complete document, which nothing can follow."""
        return self._frames[0].count > 0

    def _last_snapshot(self) -> Any:
        """Return the last snapshot, joined from written and waiting values; `MISSING` if there was no snapshot."""
        value: Any = MISSING if self._open_string is None else self._open_string + self._held
        key = self._open_string_key
        for frame in reversed(self._frames):
            value = frame.join(key, value)
            key = frame.key
        return value[0] if value else MISSING

    def _after(self, writer: SnapshotWriter) -> SnapshotState:
        """Return the state after the snapshot that a writer has added to this one."""
        pieces = self._pieces
        if len(pieces) != self._piece_count:
            pieces = pieces[: self._piece_count]
        if writer.out:
            pieces.append("".join(writer.out))
        state = SnapshotState(self._options, tuple(writer.frames), pieces)
        state._open_string = writer.open_string
        state._open_string_key = writer.open_string_key
        state._held = writer.held
        state._length = writer.length
        state._waited = writer.waited
        state._is_all_text = self._is_all_text and writer.is_text
        return state

    def __repr__(self) -> str:
        return f"<SnapshotState after {self._length} characters>"

    def __copy__(self) -> SnapshotState:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> SnapshotState:
        return self

    def __reduce__(self) -> tuple[Callable[..., SnapshotState], tuple[object, ...]]:
        frames = [frame.dump() for frame in self._frames]
        open_string = (self._open_string, self._open_string_key, self._held)
        return restore_state, (self._options, frames, self.text, open_string, self._waited, self._is_all_text)


def restore_state(  # noqa: PLR0913, PLR0917 - what a pickle stores
    options: ChunkOptions,
    frames: list[tuple[Any, ...]],
    text: str,
    open_string: tuple[str | None, Segment, str],
    waited: int,
    is_all_text: bool,
) -> SnapshotState:
    """Return the state that was pickled."""
    state = SnapshotState(options, tuple([restore_frame(contents) for contents in frames]), [text] if text else [])
    state._open_string, state._open_string_key, state._held = open_string
    state._length = len(text)
    state._waited = waited
    state._is_all_text = is_all_text
    return state
