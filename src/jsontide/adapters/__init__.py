"""The edges: where streams come from, and the loops that drive the core, sync and async."""

from jsontide.adapters._chunk import achunk_snapshots, chunk_snapshots
from jsontide.adapters._drive import avalues, loads, values
from jsontide.adapters._follow import aitems, astream, avalue, items, stream, value

__all__ = [
    "achunk_snapshots",
    "aitems",
    "astream",
    "avalue",
    "avalues",
    "chunk_snapshots",
    "items",
    "loads",
    "stream",
    "value",
    "values",
]
