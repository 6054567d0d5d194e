"""Server-sent or decoded events in, the list of their data out, until an event of a provider makes it a message.

Rule: data that is not JSON is shown as text; `[DONE]`, which only marks the end, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from jsontide._errors import JsonStreamError
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.adapters import (
    SseState,
    StreamState,
    decode_sse,
    finish_stream,
    loads,
    reduce_item,
    start_stream,
)
from jsontide.deltas import Change, Finish, SetValue
from jsontide.messages import Outcome
from jsontide.recordings._message_stage import MessageStage
from jsontide.recordings._piece import End
from jsontide.recordings._stage import Kind, Setup, Shared, Stage, end_outcome
from jsontide.recordings._text_stage import TextStage

_DONE: Final = "[DONE]"


class EventsStage(Stage):
    """Events so far, none of them from a known provider."""

    __slots__ = ("_end", "_events", "_raw", "_sse", "_stream")

    def __init__(
        self,
        stream: StreamState,
        events: Shared[JsonValue],
        raw: Shared[bytes],
        sse: SseState,
        end: End | None = None,
    ) -> None:
        self._stream: Final = stream
        self._events: Final = events
        self._raw: Final = raw
        """What was received before the first event: without one, it is a text after all."""
        self._sse: Final = sse
        self._end: Final = end

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return "documents" if len(self._events) else "unknown"

    def feed(self, data: bytes) -> Stage:
        stream = reduce_item(self._stream, data)
        if stream.is_known:
            return MessageStage(stream)
        return self._feed_sse(stream, data)

    def _feed_sse(self, stream: StreamState, data: bytes, end: End | None = None) -> EventsStage:
        sse, found = decode_sse(self._sse, data)
        events = self._events.append(*[_load(event.data) for event in found if event.data.strip() != _DONE])
        raw = Shared[bytes]() if len(events) else self._raw.append(data)
        return EventsStage(stream, events, raw, sse, end)

    def feed_event(self, event: Mapping[str, object]) -> Stage:
        if len(self._raw):
            return super().feed_event(event)
        stream = reduce_item(self._stream, event)
        if stream.is_known:
            return MessageStage(stream)
        events = self._events.append(cast("JsonValue", event))
        return EventsStage(stream, events, self._raw, self._sse)

    def finish(self, end: End, error: str | None) -> Stage:
        stream = finish_stream(self._stream) if end == "over" else self._stream
        if stream.is_known:
            return MessageStage(stream)
        after = self._feed_sse(stream, b"\n\n" if end == "over" else b"", end)
        if len(after._events) or not len(self._raw):
            return after
        text: Stage = TextStage()
        for data in self._raw.read():
            text = text.feed(data)
        return text.finish(end, error)

    def changes_since(self, before: Stage) -> list[Change]:
        known = len(before._events) if isinstance(before, EventsStage) else 0
        new = self._events.read(known)
        is_over = self._end is not None
        if not known:
            return [SetValue((), [*new], None if is_over else ())] if new else []
        changes: list[Change] = [SetValue((known + at,), event) for at, event in enumerate(new)]
        if is_over and cast("EventsStage", before)._end is None:
            changes.append(Finish(()))
        return changes

    @property
    def value(self) -> JsonValue | Missing:
        return self._events.read() if len(self._events) else MISSING

    @property
    def error(self) -> str | None:
        return self._sse.error

    @property
    def is_complete(self) -> bool:
        return self._end == "over" and self.error is None

    @property
    def outcome(self) -> Outcome:
        if self._end is None:
            return Outcome.STREAMING
        if self._end == "over" and not len(self._events):
            return Outcome.EMPTY
        return end_outcome(self._end, self.error, is_whole=self.is_complete)


def start_events(setup: Setup) -> EventsStage:
    """Return the stage before any event."""
    return EventsStage(start_stream(setup.config), Shared(), Shared(), SseState())


def _load(data: str) -> JsonValue:
    try:
        return loads(data)
    except JsonStreamError:
        return data
