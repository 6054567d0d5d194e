"""Chunks in, then an error; the line of the error with a caret under the place out.

Rule: only the end of the text is kept, whatever the length of the stream.
"""

import codecs
from collections.abc import Iterable, Iterator

from rich.cells import cell_len

from jsontide import ParserError
from jsontide._path import path_text
from jsontide.cli._escape import escape_unsafe

_KEPT = 256
_AFTER = 15


class RecentText:
    """The end of a stream of bytes as text, counted in code points as the parser counts them."""

    def __init__(self) -> None:
        # Invalid bytes become marks; the parser stops at the first of them, so all indices agree.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._text = ""
        self._start = 0

    def feed(self, chunk: bytes) -> None:
        dropped = max(0, len(self._text) - _KEPT)
        self._start += dropped
        self._text = self._text[dropped:] + self._decoder.decode(chunk)

    def remember(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Pass chunks on, and keep the end of them."""
        for chunk in chunks:
            self.feed(chunk)
            yield chunk

    def explain(self, error: ParserError, width: int) -> str:
        """Return the message, the line and the caret."""
        return f"{describe(error)}\n{draw_place(self._text, error.index - self._start, error.line, width)}"


def describe(error: ParserError) -> str:
    """Return the message, with the path if the error has one."""
    where = f" at {escape_unsafe(path_text(error.path))}" if error.path else ""
    return f"{error.message}{where}"


def draw_place(text: str, place: int, line: int, width: int) -> str:
    """Return the line around a place of the text, cut to the width, and under it the caret."""
    gutter = f"{line} | "
    room = width - len(gutter)
    # A line may be as long as a chunk: it is cut roughly before its cells are measured.
    before = text[max(place - width, 0) : place].rpartition("\n")[2]
    after = escape_unsafe(text[place : place + max(width, _AFTER)].partition("\n")[0])
    before = _last_cells(escape_unsafe(before), room - cell_len(first_cells(after, _AFTER)))
    after = first_cells(after, max(room - cell_len(before), _AFTER))
    margin = " " * (len(gutter) + cell_len(before))
    return f"{gutter}{before}{after}\n{margin}^"


def first_cells(text: str, room: int) -> str:
    """Return the beginning of a text that is not wider."""
    while cell_len(text) > room:
        text = text[:-1]
    return text


def _last_cells(text: str, room: int) -> str:
    if cell_len(text) <= room:
        return text
    while cell_len(text) >= max(room, 1):
        text = text[1:]
    return "…" + text
