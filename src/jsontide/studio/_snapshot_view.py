"""Some moments in, the chunks out that their values turn back into: what `JsonStreamChunker` writes for them.

The chunker begins at the first of these moments, so that the cost does not grow with what came before: its first chunk
is the whole value of that moment, of which only the length is told.
"""

from __future__ import annotations

from typing import Any, Final

from jsontide import JsonStreamChunker, SnapshotConflict
from jsontide._values import MISSING
from jsontide.studio._session import Session

_SNAPSHOTS: Final = 24
_LARGE: Final = 20_000
"""From so many values on, only a few snapshots are compared."""
_LONG: Final = 400


def view_chunks(session: Session, number: int) -> dict[str, Any]:
    """Return the chunks of the moments up to this one, and where the chunker began."""
    many = session.history.value_count(number) > _LARGE
    first = max(0, number - (3 if many else _SNAPSHOTS))
    chunker = JsonStreamChunker()
    chunks: list[dict[str, Any]] = []
    base = 0
    for each in range(first, number + 1):
        value = session.moments[each].value
        try:
            chunk = "" if value is MISSING else chunker.process_value(value)
        except SnapshotConflict as conflict:
            chunks.append({"n": each, "conflict": str(conflict)})
            break
        if each == first:
            base = len(chunk)
        if each > first or first == 0:
            chunks.append({"n": each, "text": chunk[-_LONG:], "length": len(chunk)})
    return {"from": first, "base": base, "chunks": chunks}
