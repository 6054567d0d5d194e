"""Streams of snapshots in, text chunks out: the loops around the chunker, sync and async."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from jsontide._values import JsonValue
from jsontide.adapters._chunks import Chunk, apulling, pulling
from jsontide.snapshots import add_snapshot, add_value, create_snapshot_state, finalize

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from typing import Unpack

    from jsontide.snapshots import ChunkChoices, SnapshotState

_Snapshot: TypeAlias = "Chunk | JsonValue | Mapping[str, object] | Sequence[object]"


def chunk_snapshots(
    snapshots: Iterable[Chunk | JsonValue | Mapping[str, object] | Sequence[object]],
    **options: Unpack[ChunkChoices],
) -> Generator[str]:
    """Yield the chunks of a stream of snapshots that are not empty, the closing one included.

    Snapshots that are str or bytes are JSON text, all others are values; the options are those of `JsonStreamChunker`.

    >>> list(chunk_snapshots(['{"a": "x"}', '{"a": "x"}', '{"b": 1, "a": "xy"}']))
    ['{"a":"x', 'y","b":1', '}']
    """
    if isinstance(snapshots, Chunk | Mapping) or not isinstance(snapshots, Iterable):
        message = f"snapshots must be an iterable of texts or values, not {type(snapshots).__name__}"
        raise TypeError(message)
    return _chunks(create_snapshot_state(**options), snapshots)


def achunk_snapshots(
    snapshots: AsyncIterable[Chunk | JsonValue | Mapping[str, object] | Sequence[object]],
    **options: Unpack[ChunkChoices],
) -> AsyncGenerator[str]:
    """Do as `chunk_snapshots` does, for an asynchronous stream of snapshots."""
    if not isinstance(snapshots, AsyncIterable):
        message = f"snapshots must be an asynchronous iterable of texts or values, not {type(snapshots).__name__}"
        raise TypeError(message)
    return _achunks(create_snapshot_state(**options), snapshots)


def _chunks(state: SnapshotState, snapshots: Iterable[_Snapshot]) -> Generator[str]:
    with pulling(snapshots) as source:
        for snapshot in source:
            state, chunk = _added(state, snapshot)
            if chunk:
                yield chunk
    last = finalize(state)[1]
    if last:
        yield last


async def _achunks(state: SnapshotState, snapshots: AsyncIterable[_Snapshot]) -> AsyncGenerator[str]:
    async with apulling(snapshots) as source:
        async for snapshot in source:
            state, chunk = _added(state, snapshot)
            if chunk:
                yield chunk
    last = finalize(state)[1]
    if last:
        yield last


def _added(state: SnapshotState, snapshot: _Snapshot) -> tuple[SnapshotState, str]:
    if isinstance(snapshot, Chunk):
        return add_snapshot(state, snapshot)
    return add_value(state, snapshot)
