"""What people pass in and get where they decode a stream of events or lines themselves.

Rule: nothing raises on a stream, but a wrong argument is refused by name; so this module is interpreted.
An event that the end cuts off is dropped, and bytes that are not UTF-8 become U+FFFD, as the standards say.
An event or a line that is too long is an error, and the end: nothing that follows is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from jsontide._check import check_count, check_state
from jsontide._values import Chunk
from jsontide.providers import wire
from jsontide.providers.wire import MAX_CHARS, START_OF_TEXT, NamedEvent, NdjsonRest, SseRest, StrayLine, TextState


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

    _text: TextState
    _rest: SseRest

    @property
    def id(self) -> str:
        """The last id that the stream named, from which a new connection can go on."""
        return wire.replaced(self._rest.event.id)

    @property
    def retry(self) -> int | None:
        """The last time to wait before connecting again that the stream named, in milliseconds."""
        return self._rest.event.retry

    @property
    def error(self) -> str | None:
        """Why nothing more is read, if it is not."""
        return self._rest.error


def start_sse(*, max_chars: int = MAX_CHARS) -> SseState:
    """Return the state before the first chunk; an event or a line may have `max_chars` characters."""
    check_count("max_chars", max_chars)
    return SseState(START_OF_TEXT, SseRest(max_chars))


def feed_sse(state: SseState, chunk: Chunk) -> tuple[SseState, tuple[SseEvent, ...]]:
    r"""Return the state after a chunk, cut anywhere, and the events that it completed.

    There is nothing to finish: the standard drops an event that the end of the stream cuts off.

    >>> state, events = feed_sse(start_sse(), b"event: delta\r\ndata: {}\r")
    >>> events
    ()
    >>> state, events = feed_sse(state, b"\n\r\n")
    >>> events
    (SseEvent(data='{}', event='delta', id='', retry=None),)
    """
    check_state(state, SseState, "an")
    decoding, text = wire.decode(state._text, chunk)
    found: list[wire.Found] = []
    rest = wire.feed_sse(state._rest, text, found)
    return SseState(decoding, rest), tuple(_event(one) for one in found if not isinstance(one, StrayLine))


def _event(found: str | NamedEvent) -> SseEvent:
    replaced = wire.replaced
    if isinstance(found, str):
        return SseEvent(replaced(found))
    return SseEvent(replaced(found.data), replaced(found.event), replaced(found.id), found.retry)


@dataclass(frozen=True, slots=True)
class NdjsonState:
    """Where a stream of lines stands; it never changes."""

    _text: TextState
    _rest: NdjsonRest

    @property
    def error(self) -> str | None:
        """Why nothing more is read, if it is not."""
        return self._rest.error


def start_ndjson(*, max_chars: int = MAX_CHARS) -> NdjsonState:
    """Return the state before the first chunk; a line may have `max_chars` characters."""
    check_count("max_chars", max_chars)
    return NdjsonState(START_OF_TEXT, NdjsonRest(max_chars))


def feed_ndjson(state: NdjsonState, chunk: Chunk) -> tuple[NdjsonState, tuple[str, ...]]:
    r"""Return the state after a chunk, cut anywhere, and the lines that it ended.

    >>> state, lines = feed_ndjson(start_ndjson(), b'{"a": 1}\r\n{"b"')
    >>> lines
    ('{"a": 1}',)
    >>> state, lines = feed_ndjson(state, b": 2}")
    >>> lines, finish_ndjson(state)
    ((), ('{"b": 2}',))
    """
    check_state(state, NdjsonState, "an")
    decoding, text = wire.decode(state._text, chunk)
    rest, lines = wire.feed_ndjson(state._rest, text)
    return NdjsonState(decoding, rest), tuple(map(wire.replaced, lines))


def finish_ndjson(state: NdjsonState) -> tuple[str, ...]:
    """Return the last line, if the stream ended without a line end."""
    check_state(state, NdjsonState, "an")
    rest, _ = wire.feed_ndjson(state._rest, wire.end_of(state._text))
    line = wire.rest_of_ndjson(rest)
    return (wire.replaced(line),) if line else ()
