"""Streams of snapshots in, text chunks out: the loops around the chunker, sync and async."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from jsontide._values import Chunk, JsonValue
from jsontide.snapshots import feed_snapshot_values, feed_snapshots, finish_snapshots, start_snapshots
from jsontide.streams.sources import adrive, check_async, check_plain, drive

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from typing import Unpack

    from jsontide.snapshots import ChunkChoices, SnapshotState

_Snapshot: TypeAlias = "Chunk | JsonValue | Mapping[str, object] | Sequence[object]"


def chunk_snapshots(
    snapshots: Iterable[Chunk | JsonValue | Mapping[str, object] | Sequence[object]], **options: Unpack[ChunkChoices]
) -> Generator[str]:
    """Yield the chunks of a stream of snapshots that are not empty, the closing one included.

    Snapshots that are str or bytes are JSON text, all others are values; the options are those of `JsonStreamChunker`.

    >>> list(chunk_snapshots(['{"a": "x"}', '{"a": "x"}', '{"b": 1, "a": "xy"}']))
    ['{"a":"x', 'y","b":1', '}']
    """
    check_plain(snapshots, "snapshots must be an iterable of texts or values", "achunk_snapshots")
    return drive(snapshots, _Chunker(options))


def achunk_snapshots(
    snapshots: AsyncIterable[Chunk | JsonValue | Mapping[str, object] | Sequence[object]],
    **options: Unpack[ChunkChoices],
) -> AsyncGenerator[str]:
    """Like `chunk_snapshots`, but for an asynchronous stream of snapshots."""
    check_async(snapshots, "snapshots must be an asynchronous iterable of texts or values", "chunk_snapshots")
    return adrive(snapshots, _Chunker(options))


class _Chunker:
    """The stage inside the loops: a snapshot in, its chunk out unless it is empty."""

    is_over: bool = False

    def __init__(self, options: ChunkChoices) -> None:
        self._state = start_snapshots(**options)

    def add(self, snapshot: _Snapshot) -> tuple[str, ...]:
        if isinstance(snapshot, Chunk):
            return self._advance(feed_snapshots(self._state, snapshot))
        return self._advance(feed_snapshot_values(self._state, snapshot))

    def finish(self) -> tuple[str, ...]:
        return self._advance(finish_snapshots(self._state))

    def _advance(self, step: tuple[SnapshotState, str]) -> tuple[str, ...]:
        self._state, chunk = step
        return (chunk,) if chunk else ()
