"""The bytes of a stream as they came, and windows into them as text.

Rule: a character that is cut into two pieces belongs to the piece that completes it, and what is not UTF-8 is shown as
U+FFFD; nothing is left out.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from codecs import getincrementaldecoder
from typing import Final

from jsontide.deltas import write_json

_BEFORE: Final = 1500
_AFTER: Final = 500
_MOST_PIECES: Final = 320
_DECODER: Final = getincrementaldecoder("utf-8")


class RawText:
    """All bytes of a stream, and where each piece of it ends."""

    def __init__(self) -> None:
        self._data: Final = bytearray()
        self._ends: Final = array("Q", [0])

    def __len__(self) -> int:
        return len(self._data)

    def add(self, data: object) -> None:
        """Add a piece: bytes, or an event, which is shown as a line of JSON."""
        self._data.extend(data if isinstance(data, bytes) else f"{write_json(data)}\n".encode())
        self._ends.append(len(self._data))

    def end(self, number: int) -> int:
        """Return how many bytes have come."""
        return self._ends[number]

    def window(self, number: int) -> dict[str, object]:
        """Return the pieces around the caret of a moment: `[number, text]` for each, the first of them cut."""
        caret = self._ends[number]
        start = max(caret - _BEFORE, self._ends[max(0, number - _MOST_PIECES)])
        while 0 < start < caret and self._data[start] & 0xC0 == 0x80:  # noqa: PLR2004 - inside a character
            start += 1
        end = min(caret + _AFTER, len(self._data))
        return {"start": start, "caret": caret, "total": len(self._data), "pieces": self._pieces(start, end)}

    def _pieces(self, start: int, end: int) -> list[tuple[int, str]]:
        decoder = _DECODER("replace")
        pieces: list[tuple[int, str]] = []
        number = bisect_right(self._ends, start)
        while start < end and len(pieces) < 2 * _MOST_PIECES:
            stop = min(self._ends[number], end)
            pieces.append((number, decoder.decode(bytes(self._data[start:stop]))))
            start = stop
            number += 1
        return pieces
