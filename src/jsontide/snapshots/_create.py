"""Options in, the state before any snapshot out.

Never compiled: what is wrong with an option is better said by its own checks than by those of compiled calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide.snapshots._frames import document_frame
from jsontide.snapshots._options import ChunkOptions
from jsontide.snapshots._state import SnapshotState

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide.snapshots._options import ChunkChoices


def create_snapshot_state(**options: Unpack[ChunkChoices]) -> SnapshotState:
    """Return the state before any snapshot; the options are those of `JsonStreamChunker`."""
    return SnapshotState(ChunkOptions(**options), (document_frame(),), [])
