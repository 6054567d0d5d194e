"""Whole snapshots in, text chunks out: the holders of a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide.snapshots._create import create_snapshot_state
from jsontide.snapshots._steps import add_snapshot, add_value, finalize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from jsontide._values import JsonValue
    from jsontide.snapshots._options import ChunkChoices
    from jsontide.snapshots._state import SnapshotState


class JsonStreamChunker:
    """Turns snapshots of one growing value into text chunks that join to JSON.

    Each snapshot is a whole value, a later one of the same; the order of its keys means nothing.
    After each call, all chunks together are the beginning of a JSON text that shows nothing but what the snapshot
    holds; after `flush` they are the last snapshot.
    A snapshot that contradicts what is written raises `SnapshotConflict`, and is as if it had not been.

    >>> chunker = JsonStreamChunker()
    >>> chunker.process('{"name": "Mat"}')
    '{"name":"Mat'
    >>> chunker.process('{"age": 32, "name": "Matthew"}')
    'thew","age":32'
    >>> chunker.flush()
    '}'
    """

    def __init__(self, **options: Unpack[ChunkChoices]) -> None:
        """Choose how snapshots are read.

        - `on_conflict="raise"`: with `"repair"`, a member that contradicts what is written is written again in the
          innermost object that is still open, because parsers take the last of two; where none can carry it, it
          raises.
        - `key_order="any"`: `"kept"` for producers whose keys come in the order of writing, as those of any partial
          parser do: the last value is the one that grows, and nothing ever waits.
        - `numbers="whole"`: `"grow"` for producers whose numbers arrive digit by digit: a number is written when
          something later appears, or its container closes.
        - `empty="early"`: `"late"` for producers that send whole skeletons and fill them in later: nothing empty is
          written before it fills, or its container closes.
        - `nulls="early"`: `"late"` for producers that send null for what has not come yet, as `model_dump()` does with
          optional fields: null is not written before its container closes, unless something takes its place.
        - `max_wait=None`: how many more snapshots values may wait for a sign of which one grows; then all of them
          count as complete, which is a guess. Without it they wait as long as it takes.
        - `ensure_ascii=False`: escape all that is not ASCII, for sinks that cannot take it.
        """
        self._first: SnapshotState = create_snapshot_state(**options)
        self._state: SnapshotState = self._first

    @property
    def state(self) -> SnapshotState:
        """Where the stream stands, as a value for the functions of `jsontide.snapshots`."""
        return self._state

    @property
    def text(self) -> str:
        """All chunks so far, joined."""
        return self._state.text

    def process(self, snapshot: str | bytes | bytearray | memoryview) -> str:
        """Take the next snapshot as JSON text, and return the chunk that it adds, which may be empty.

        Raises `SnapshotConflict` if it contradicts what is written, `JsonStreamError` if it is not JSON.
        """
        self._state, chunk = add_snapshot(self._state, snapshot)
        return chunk

    def process_value(self, snapshot: JsonValue | Mapping[str, object] | Sequence[object]) -> str:
        """Take the next snapshot as a Python value, and return the chunk that it adds, which may be empty.

        It is not modified, and may be changed by its owner afterwards, as partial parsers do that show one object.

        >>> chunker = JsonStreamChunker(key_order="kept")
        >>> value = {"title": "Kyo"}
        >>> chunker.process_value(value)
        '{"title":"Kyo'
        >>> value["title"] = "Kyoto"
        >>> chunker.process_value(value)
        'to'
        """
        self._state, chunk = add_value(self._state, snapshot)
        return chunk

    def flush(self) -> str:
        """Say that there are no more snapshots, and return the chunk that closes all that is open."""
        self._state, chunk = finalize(self._state)
        return chunk

    def reset(self) -> None:
        """Be as new, with the same options."""
        self._state = self._first
