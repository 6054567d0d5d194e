"""Chunks in, then an error; the line of the error with a caret under the place out.

Rule: only the end of the text is kept, whatever the length of the stream.
"""

import codecs

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

    def explain(self, error: ParserError, width: int) -> str:
        """Return the message, the line and the caret; the line is cut to the width around the place."""
        place = error.index - self._start
        line_start = self._text.rfind("\n", 0, place) + 1
        line_end = (self._text + "\n").find("\n", place)
        gutter = f"{error.line} | "
        # A line may be as long as a chunk: it is cut roughly before its cells are measured.
        after = _first_cells(escape_unsafe(self._text[place : min(line_end, place + _AFTER)]), _AFTER)
        before = escape_unsafe(self._text[max(line_start, place - width) : place])
        before = _last_cells(before, width - len(gutter) - _AFTER)
        margin = " " * (len(gutter) + cell_len(before))
        where = f" at {escape_unsafe(path_text(error.path))}" if error.path else ""
        return f"{error.message}{where}\n{gutter}{before}{after}\n{margin}^"


def _first_cells(text: str, room: int) -> str:
    while cell_len(text) > room:
        text = text[:-1]
    return text


def _last_cells(text: str, room: int) -> str:
    if cell_len(text) <= room:
        return text
    while cell_len(text) >= max(room, 1):
        text = text[1:]
    return "…" + text
