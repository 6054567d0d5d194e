"""The state of a chunker: what is written, and what is open at its end.

Later states share the storage of earlier ones and append to it; each sees only its own part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsontide._values import MISSING
from jsontide.snapshots._frames import WriteFrame, restore_frame
from jsontide.snapshots._parsed_text import NOTHING_READ, ParsedText

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_extensions import i64

    from jsontide._path import Segment
    from jsontide.snapshots._options import ChunkOptions
    from jsontide.snapshots._snapshot_writer import SnapshotWriter


class SnapshotState:
    """The position in a stream of snapshots; it never changes, and can be fed again at any time.

    Made by `create_snapshot_state`, `add_snapshot`, `add_value` and `finish`.
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
        """Return the last snapshot, put together from what is written and what waits; `MISSING` if there was none."""
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
