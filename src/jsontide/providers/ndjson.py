"""The text of newline-delimited JSON in, its lines out, each to be read as one document.

Rule: nothing raises on a stream. Blank lines are passed over; the last line needs no line end.
A line that is too long is the end: nothing that follows is read.
"""

from __future__ import annotations

from typing import Final

from jsontide._textbuffer import GrowingText
from jsontide.messages.record import Value

_SPACE: Final = " \t\r"


class NdjsonRest(Value):
    """The line that waits for its end."""

    __slots__ = ("is_too_long", "line", "max_chars")

    def __init__(self, max_chars: int, line: GrowingText | None, is_too_long: bool) -> None:
        self.max_chars: Final = max_chars
        """The most that a line may have."""
        self.line: Final = line
        self.is_too_long: Final = is_too_long

    def _fields(self) -> tuple[object, ...]:
        return self.max_chars, self.line, self.is_too_long

    @property
    def error(self) -> str | None:
        """Why nothing more is read, if it is not."""
        return f"a line is longer than {self.max_chars} characters" if self.is_too_long else None


def start_ndjson(max_chars: int) -> NdjsonRest:
    return NdjsonRest(max_chars, None, False)


def feed_ndjson(rest: NdjsonRest, text: str) -> tuple[NdjsonRest, list[str]]:
    """Return what waits after more text, and the lines that it ended."""
    found: list[str] = []
    if rest.is_too_long or not text:
        return rest, found
    line, most = rest.line, rest.max_chars
    *ended, last = text.split("\n")
    if ended and line is not None:
        ended[0] = line.read() + ended[0]
        line = None
    for whole in ended:
        if len(whole) > most:
            return NdjsonRest(most, None, True), found
        stripped = whole.strip(_SPACE)
        if stripped:
            found.append(stripped)
    if last:
        line = GrowingText(last) if line is None else line.append(last)
        if line.length > most:
            return NdjsonRest(most, None, True), found
    return rest if line is rest.line else NdjsonRest(most, line, False), found


def rest_of_ndjson(rest: NdjsonRest) -> str:
    """Return the last line, if the stream ended without a line end."""
    return "" if rest.line is None else rest.line.read().strip(_SPACE)
