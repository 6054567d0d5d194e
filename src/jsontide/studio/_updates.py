"""The pieces of a JSON text in, the events of any of them out.

Every so many pieces, which are read as one, a state is kept; the events of a piece are made from the last state before
it when they are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jsontide._errors import ParserError
from jsontide.deltas import write_json
from jsontide.events import EventState, JsonFragmentUpdate, add_fragment, create_event_state
from jsontide.recordings import Piece

_EVERY: Final = 128
_SHOWN: Final = 40
_LONG: Final = 120


class Updates:
    """The events of a stream, by piece."""

    def __init__(self) -> None:
        self._kept: Final[list[EventState]] = [create_event_state()]
        self._waiting: Final[list[bytes]] = []
        self._count = 0

    def add(self, data: bytes) -> None:
        """Take the next piece."""
        self._waiting.append(data)
        self._count += 1
        if len(self._waiting) == _EVERY:
            state, _ = add_fragment(self._kept[-1], b"".join(self._waiting))
            self._kept.append(state)
            self._waiting.clear()

    def last(self, pieces: Sequence[Piece], number: int) -> list[dict[str, object]]:
        """Return the last events of the first `number` pieces, each with the number of its piece."""
        number = min(number, self._count)
        first = max(0, number - 1) // _EVERY
        found: list[dict[str, object]] = []
        while first >= 0 and len(found) < _SHOWN:
            found = self._read(pieces, first * _EVERY, min(number, (first + 1) * _EVERY)) + found
            first -= 1
        return found[-_SHOWN:]

    def _read(self, pieces: Sequence[Piece], start: int, end: int) -> list[dict[str, object]]:
        state = self._kept[start // _EVERY]
        found: list[dict[str, object]] = []
        for number in range(start, end):
            data = pieces[number].data
            if isinstance(data, bytes):
                state, updates = add_fragment(state, data)
                found += [_describe(update, number + 1) for update in updates[-_SHOWN:]]
        return found


def _describe(update: JsonFragmentUpdate, number: int) -> dict[str, object]:
    text = update.text
    if isinstance(update.value, ParserError):
        text = update.value.message
    elif text is None and not isinstance(update.value, dict | list):
        text = write_json(update.value)
    return {"n": number, "what": update.kind.value, "path": update.path, "text": (text or "")[:_LONG]}
