"""Text cut anywhere in, whole lines out.

Rule: nothing raises on a stream.
A line that is too long is the end: neither it nor what follows is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from jsontide._textbuffer import NO_TEXT, GrowingText
from jsontide.adapters._decode import START, TextState, end_of
from jsontide.text import Limits

_ANY_END: Final = re.compile("\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class LineState:
    """Where a stream of lines stands; it never changes."""

    ends_at_cr: bool = True
    """Whether CR and CRLF end a line too, and not LF alone."""
    text: TextState = START
    """Where the decoding of what comes stands."""
    line: GrowingText = NO_TEXT
    """The beginning of a line that is not complete yet."""
    after_cr: bool = False
    """Whether a LF that comes next belongs to the line end before it."""
    is_too_long: bool = False
    """Whether there was a line with more characters than it may have."""


def split_lines(state: LineState, text: str, most: int) -> tuple[LineState, list[str]]:
    """Return the state after more text, and the lines that it ended, each of so many characters at most."""
    if state.is_too_long:
        return state, []
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
    """Return what follows the last line end."""
    return str(state.line) + end_of(state.text)


MOST: Final = Limits().max_chars
"""Characters of a line or an event, unless another limit is asked for: as many as the parser takes."""
ANY_LINE: Final = LineState()
LF_LINE: Final = LineState(ends_at_cr=False)
TOO_LONG: Final = LineState(is_too_long=True)
"""Where nothing more is read."""
