"""Whole snapshots of a growing value in, text chunks out that join to JSON."""

from jsontide._public import publish
from jsontide.snapshots._chunkers import (
    JsonStreamChunker,
    TextStreamChunker,
    feed_snapshot_values,
    feed_snapshots,
    finish_snapshots,
)
from jsontide.snapshots._options import ChunkChoices, start_snapshots
from jsontide.snapshots._state import SnapshotState
from jsontide.snapshots._types import SnapshotConflict

__all__ = [
    "ChunkChoices",
    "JsonStreamChunker",
    "SnapshotConflict",
    "SnapshotState",
    "TextStreamChunker",
    "feed_snapshot_values",
    "feed_snapshots",
    "finish_snapshots",
    "start_snapshots",
]

publish(__name__, __all__, globals())
