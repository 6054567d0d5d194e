"""The bytes of a server-sent event stream in, its events out, by the rules of the WHATWG HTML standard, section 9.2.

Rule: nothing raises on a stream; an event that the end cuts off is dropped, and bytes that are not UTF-8 become U+FFFD,
as the standard says. Underneath, for streams of which nothing may be lost, both are kept, and so are stray lines.
An event that is too long is an error, and the end: nothing that follows is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from jsontide._check import check_count
from jsontide._textbuffer import NO_TEXT, GrowingText
from jsontide.adapters._chunks import Chunk
from jsontide.adapters._decode import decode, replaced
from jsontide.adapters._fields import digits
from jsontide.adapters._lines import ANY_LINE, MOST, TOO_LONG, LineState, last_line, split_lines


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event of a stream, as it was dispatched."""

    data: str
    """The data lines, joined by newlines."""
    event: str = "message"
    """Its type."""
    id: str = ""
    """The last id that the stream named."""
    retry: int | None = None
    """The last time to wait before connecting again that the stream named, in milliseconds."""


@dataclass(frozen=True, slots=True)
class SseState:
    """Where a stream of events stands, and what is known of the event that is open; it never changes."""

    lines: LineState = ANY_LINE
    data: GrowingText = NO_TEXT
    """The data lines so far, each with a newline."""
    event: str = ""
    id: str = ""
    retry: int | None = None
    max_chars: int = MOST
    """The most that an event or a line may have."""

    def __post_init__(self) -> None:
        if self.max_chars is not MOST:
            check_count("max_chars", self.max_chars)

    @property
    def error(self) -> str | None:
        """Why nothing more is read, if it is not."""
        return f"an event is longer than {self.max_chars} characters" if self.lines.is_too_long else None


def decode_sse(state: SseState, chunk: Chunk) -> tuple[SseState, tuple[SseEvent, ...]]:
    r"""Return the state after a chunk, cut anywhere, and the events that it completed.

    >>> state, events = decode_sse(SseState(), b"event: delta\r\ndata: {}\r")
    >>> events
    ()
    >>> state, events = decode_sse(state, b"\n\r\n")
    >>> events
    (SseEvent(data='{}', event='delta', id='', retry=None),)
    """
    if not isinstance(state, SseState):
        message = f"a state must be an SseState, not {type(state).__name__}"
        raise TypeError(message)
    decoding, text = decode(state.lines.text, chunk)
    if not state.lines.is_too_long:
        state = replace(state, lines=replace(state.lines, text=decoding))
    state, found = read_sse(state, text)
    return state, tuple(_shown(event) for event in found if isinstance(event, SseEvent))


def _shown(event: SseEvent) -> SseEvent:
    return SseEvent(replaced(event.data), replaced(event.event), replaced(event.id), event.retry)


Found: TypeAlias = "SseEvent | str"
"""An event, or a line that is neither a field of one nor a comment."""


def read_sse(state: SseState, text: str) -> tuple[SseState, list[Found]]:
    """Return the state after more decoded text, and what it completed, with damage left in it."""
    lines, ended = split_lines(state.lines, text, state.max_chars)
    data, kind, last_id, retry = state.data, state.event, state.id, state.retry
    found: list[Found] = []
    for line in ended:
        if not line:
            # If the data buffer is an empty string, set the data buffer and the event type buffer to the empty string.
            if data:
                found.append(SseEvent(str(data)[:-1], kind or "message", last_id, retry))
            data, kind = NO_TEXT, ""
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "data":
                data = data.append(value + "\n")
                if len(data) > state.max_chars + 1:  # the last newline is not part of the data
                    return SseState(TOO_LONG, NO_TEXT, kind, last_id, retry, state.max_chars), found
            case "event":
                kind = value
            case "id":
                last_id = last_id if "\0" in value else value
            case "retry":
                wait = digits(value)
                retry = retry if wait is None else wait
            case "":  # a comment
                pass
            case _:
                found.append(line)
    return SseState(lines, data, kind, last_id, retry, state.max_chars), found


def rest_of_sse(state: SseState) -> tuple[SseEvent | None, str]:
    """Return the event that no blank line ended, if it has data, and the last line, if nothing ended that."""
    line = last_line(state.lines)
    ended, _ = read_sse(state, "\n") if line else (state, [])
    event = SseEvent(str(ended.data)[:-1], ended.event or "message", ended.id, ended.retry) if ended.data else None
    return event, "" if line.startswith(":") else line
