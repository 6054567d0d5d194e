"""Bytes or text cut anywhere in, whole lines out.

Rule: nothing raises on a stream. Bytes that are not UTF-8 become U+FFFD; a byte order mark at the start is passed over.
A line that is too long is the end: neither it nor what follows is kept.
"""

from __future__ import annotations

import re
from codecs import utf_8_decode
from dataclasses import dataclass, replace
from typing import Final

from jsontide._growing import NO_TEXT, GrowingText
from jsontide.adapters._chunks import Chunk
from jsontide.text import Limits

_ANY_END: Final = re.compile("\r\n|\n|\r")
_BYTE_ORDER_MARK: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class LineState:
    """Where a stream of lines stands; it never changes."""

    ends_at_cr: bool = True
    """Whether CR and CRLF end a line too, and not LF alone."""
    pending: bytes = b""
    """The beginning of a character that is not complete yet."""
    line: GrowingText = NO_TEXT
    """The beginning of a line that is not complete yet."""
    is_start: bool = True
    after_cr: bool = False
    """Whether a LF that comes next belongs to the line end before it."""
    is_too_long: bool = False
    """Whether there was a line with more characters than it may have."""


def split_lines(state: LineState, chunk: Chunk, most: int) -> tuple[LineState, list[str]]:
    """Return the state after a chunk, and the lines that it ended, each of so many characters at most."""
    before = state
    state, text = _decoded(state, chunk)
    if before.is_too_long:
        return before, []
    if state.after_cr and text:
        text = text[1:] if text[0] == "\n" else text
        state = replace(state, after_cr=False)
    if not text:
        return state, []
    if len(state.line) + len(text) > most:
        return _checked(*_split(state, text), most)
    return _split(state, text)


def _checked(state: LineState, lines: list[str], most: int) -> tuple[LineState, list[str]]:
    lengths = [*map(len, lines), len(state.line)]
    if max(lengths) <= most:
        return state, lines
    return TOO_LONG, lines[: next(at for at, length in enumerate(lengths) if length > most)]


def _split(state: LineState, text: str) -> tuple[LineState, list[str]]:
    parts: list[str] = _ANY_END.split(text) if state.ends_at_cr else text.split("\n")
    line = state.line.append(parts[0])
    if len(parts) == 1:
        return replace(state, line=line), []
    lines = [str(line), *parts[1:-1]]
    after_cr = state.ends_at_cr and text[-1] == "\r"
    return replace(state, line=GrowingText(parts[-1]), after_cr=after_cr), lines


def last_line(state: LineState) -> str:
    """Return what follows the last line end; half a character there becomes U+FFFD."""
    return str(state.line) + state.pending.decode("utf-8", "replace")


def _decoded(state: LineState, chunk: Chunk) -> tuple[LineState, str]:
    if not isinstance(chunk, Chunk):
        message = f"a chunk must be str, bytes, bytearray or memoryview, not {type(chunk).__name__}"
        raise TypeError(message)
    if not chunk:
        return state, ""
    if isinstance(chunk, str):
        text, pending = state.pending.decode("utf-8", "replace") + chunk, b""
    else:
        data = state.pending + bytes(chunk)
        text, used = utf_8_decode(data, "replace", False)  # noqa: FBT003 - it takes no keywords
        pending = data[used:]
    if not text:
        return replace(state, pending=pending), ""
    if state.is_start and text[0] == _BYTE_ORDER_MARK:
        text = text[1:]
    return replace(state, pending=pending, is_start=False), text


MOST: Final = Limits().max_chars
"""Characters of a line or an event, unless another limit is asked for: as many as the parser takes."""
ANY_LINE: Final = LineState()
LF_LINE: Final = LineState(ends_at_cr=False)
TOO_LONG: Final = LineState(is_too_long=True)
"""Where nothing more is read."""
