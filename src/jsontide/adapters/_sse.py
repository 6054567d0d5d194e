"""The bytes of a server-sent event stream in, its events out, by the rules of the WHATWG HTML standard, section 9.2.

Rule: nothing raises on a stream; an event that the end cuts off is dropped, as the standard says.
An event that is too long is an error, and the end: nothing that follows is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from jsontide._growing import NO_TEXT, GrowingText
from jsontide.adapters._chunks import Chunk
from jsontide.adapters._fields import digits
from jsontide.adapters._lines import ANY_LINE, MOST, TOO_LONG, LineState, split_lines
from jsontide.text._limits import check_count


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
    lines, ended = split_lines(state.lines, chunk, state.max_chars)
    state = replace(state, lines=lines)
    events: list[SseEvent] = []
    for line in ended:
        if line:
            state = _field(state, line)
            if len(state.data) > state.max_chars + 1:  # the last newline is not part of the data
                return replace(state, lines=TOO_LONG, data=NO_TEXT), tuple(events)
            continue
        # If the data buffer is an empty string, set the data buffer and the event type buffer to the empty string.
        if state.data:
            events.append(SseEvent(str(state.data)[:-1], state.event or "message", state.id, state.retry))
        state = replace(state, data=NO_TEXT, event="")
    return state, tuple(events)


def _field(state: SseState, line: str) -> SseState:
    name, _, value = line.partition(":")
    value = value.removeprefix(" ")
    match name:
        case "data":
            return replace(state, data=state.data.append(value + "\n"))
        case "event":
            return replace(state, event=value)
        case "id" if "\0" not in value:
            return replace(state, id=value)
        case "retry" if (wait := digits(value)) is not None:
            return replace(state, retry=wait)
        case _:  # a comment has no name
            return state
