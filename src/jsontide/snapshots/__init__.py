"""Whole snapshots of a growing value in, text chunks out that join to JSON."""

from jsontide._public import publish
from jsontide.snapshots._chunkers import JsonStreamChunker, TextStreamChunker, add_snapshot, add_value, finalize
from jsontide.snapshots._options import ChunkChoices, create_snapshot_state
from jsontide.snapshots._state import SnapshotState
from jsontide.snapshots._types import SnapshotConflict

__all__ = [
    "ChunkChoices",
    "JsonStreamChunker",
    "SnapshotConflict",
    "SnapshotState",
    "TextStreamChunker",
    "add_snapshot",
    "add_value",
    "create_snapshot_state",
    "finalize",
]

publish(__name__, __all__, globals())
