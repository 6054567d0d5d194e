"""What people pass in and get where they decode a stream of events or lines themselves.

Rule: nothing raises on a stream, but a wrong argument is refused by name; so this module is interpreted.
An event that the end cuts off is dropped, and bytes that are not UTF-8 become U+FFFD, as the standards say.
An event or a line that is too long is an error, and the end: nothing that follows is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from jsontide._check import check_count, check_state
from jsontide._values import Chunk
from jsontide.providers.framing import (
    MAX_CHARS,
    START_OF_TEXT,
    NamedEvent,
    NdjsonRest,
    SseRest,
    StrayLine,
    TextState,
    decode,
    end_of,
    feed_ndjson,
    feed_sse,
    replaced,
    rest_of_ndjson,
    start_ndjson,
    start_sse,
)


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

    max_chars: int = MAX_CHARS
    """The most that an event or a line may have."""
    _text: TextState = START_OF_TEXT
    _rest: SseRest | None = None
    """What waits for more text; nothing before the first chunk."""

    def __post_init__(self) -> None:
        check_count("max_chars", self.max_chars)

    @property
    def id(self) -> str:
        """The last id that the stream named, from which a new connection can go on."""
        return "" if self._rest is None else replaced(self._rest.event.id)

    @property
    def retry(self) -> int | None:
        """The last time to wait before connecting again that the stream named, in milliseconds."""
        return None if self._rest is None else self._rest.event.retry

    @property
    def error(self) -> str | None:
        """Why nothing more is read, if it is not."""
        return None if self._rest is None else self._rest.error


def decode_sse(state: SseState, chunk: Chunk) -> tuple[SseState, tuple[SseEvent, ...]]:
    r"""Return the state after a chunk, cut anywhere, and the events that it completed.

    >>> state, events = decode_sse(SseState(), b"event: delta\r\ndata: {}\r")
    >>> events
    ()
    >>> state, events = decode_sse(state, b"\n\r\n")
    >>> events
    (SseEvent(data='{}', event='delta', id='', retry=None),)
    """
    check_state(state, SseState, "an")
    decoding, text = decode(state._text, chunk)
    rest, found = feed_sse(start_sse(state.max_chars) if state._rest is None else state._rest, text)
    events = tuple(_event(one) for one in found if not isinstance(one, StrayLine))
    return SseState(state.max_chars, decoding, rest), events


def _event(found: str | NamedEvent) -> SseEvent:
    if isinstance(found, str):
        return SseEvent(replaced(found))
    return SseEvent(replaced(found.data), replaced(found.event), replaced(found.id), found.retry)


@dataclass(frozen=True, slots=True)
class NdjsonState:
    """Where a stream of lines stands; it never changes."""

    max_chars: int = MAX_CHARS
    """The most that a line may have."""
    _text: TextState = START_OF_TEXT
    _rest: NdjsonRest | None = None
    """What waits for more text; nothing before the first chunk."""

    def __post_init__(self) -> None:
        check_count("max_chars", self.max_chars)

    @property
    def error(self) -> str | None:
        """Why nothing more is read, if it is not."""
        return None if self._rest is None else self._rest.error


def decode_ndjson(state: NdjsonState, chunk: Chunk) -> tuple[NdjsonState, tuple[str, ...]]:
    r"""Return the state after a chunk, cut anywhere, and the lines that it ended.

    >>> state, lines = decode_ndjson(NdjsonState(), b'{"a": 1}\r\n{"b"')
    >>> lines
    ('{"a": 1}',)
    >>> state, lines = decode_ndjson(state, b": 2}")
    >>> lines, finish_ndjson(state)
    ((), ('{"b": 2}',))
    """
    rest = _rest_of(state)
    decoding, text = decode(state._text, chunk)
    rest, lines = feed_ndjson(rest, text)
    return NdjsonState(state.max_chars, decoding, rest), tuple(map(replaced, lines))


def finish_ndjson(state: NdjsonState) -> tuple[str, ...]:
    """Return the last line, if the stream ended without a line end."""
    rest, _ = feed_ndjson(_rest_of(state), end_of(state._text))
    line = rest_of_ndjson(rest)
    return (replaced(line),) if line else ()


def _rest_of(state: NdjsonState) -> NdjsonRest:
    check_state(state, NdjsonState, "an")
    return start_ndjson(state.max_chars) if state._rest is None else state._rest
