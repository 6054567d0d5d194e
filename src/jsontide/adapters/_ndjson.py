"""The bytes of newline-delimited JSON in, its lines out, each to be read as one document.

Rule: nothing raises on a stream. Blank lines are passed over; the last line needs no line end.
Bytes that are not UTF-8 become U+FFFD.
A line that is too long is an error, and the end: nothing that follows is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from jsontide._check import check_count
from jsontide.adapters._chunks import Chunk
from jsontide.adapters._decode import decode, replaced
from jsontide.adapters._lines import LF_LINE, MOST, LineState, last_line, split_lines


@dataclass(frozen=True, slots=True)
class NdjsonState:
    """Where a stream of lines stands; it never changes."""

    lines: LineState = LF_LINE
    max_chars: int = MOST
    """The most that a line may have."""

    def __post_init__(self) -> None:
        if self.max_chars is not MOST:
            check_count("max_chars", self.max_chars)

    @property
    def error(self) -> str | None:
        """Why nothing more is read, if it is not."""
        return f"a line is longer than {self.max_chars} characters" if self.lines.is_too_long else None


def decode_ndjson(state: NdjsonState, chunk: Chunk) -> tuple[NdjsonState, tuple[str, ...]]:
    r"""Return the state after a chunk, cut anywhere, and the lines that it ended.

    >>> state, lines = decode_ndjson(NdjsonState(), b'{"a": 1}\r\n{"b"')
    >>> lines
    ('{"a": 1}',)
    >>> state, lines = decode_ndjson(state, b": 2}")
    >>> lines, finish_ndjson(state)
    ((), ('{"b": 2}',))
    """
    _check(state)
    decoding, text = decode(state.lines.text, chunk)
    if not state.lines.is_too_long:
        state = replace(state, lines=replace(state.lines, text=decoding))
    state, lines = read_ndjson(state, text)
    return state, tuple(map(replaced, lines))


def read_ndjson(state: NdjsonState, text: str) -> tuple[NdjsonState, tuple[str, ...]]:
    """Do the same with decoded text, and leave damage in it."""
    lines, ended = split_lines(state.lines, text, state.max_chars)
    return NdjsonState(lines, state.max_chars), _not_blank(ended)


def finish_ndjson(state: NdjsonState) -> tuple[str, ...]:
    """Return the last line, if the stream ended without a line end."""
    _check(state)
    return tuple(map(replaced, rest_of_ndjson(state)))


def rest_of_ndjson(state: NdjsonState) -> tuple[str, ...]:
    """Do the same, and leave damage in it."""
    return _not_blank([last_line(state.lines)])


def _check(state: NdjsonState) -> None:
    if not isinstance(state, NdjsonState):
        message = f"a state must be an NdjsonState, not {type(state).__name__}"
        raise TypeError(message)


def _not_blank(lines: list[str]) -> tuple[str, ...]:
    return tuple(line for line in (line.strip(" \t\r") for line in lines) if line)
