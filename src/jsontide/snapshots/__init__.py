"""Whole snapshots of a growing value in, text chunks out that join to JSON."""

from jsontide.snapshots._chunkers import JsonStreamChunker, TextStreamChunker
from jsontide.snapshots._options import ChunkChoices, create_snapshot_state
from jsontide.snapshots._state import SnapshotState
from jsontide.snapshots._steps import add_snapshot, add_value, finish
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
    "finish",
]
