"""What all stages of a stream have in common: a stage is what is known of a stream after some of its pieces.

    UndecidedStage ──▶ JsonStage ──▶ DocumentsStage    one JSON document, then several
        │                  ├───────▶ MessageStage      events of a provider, or its whole response
        │                  └───────▶ ArrayStage        events in an array, as Gemini sends them
        ├────────────▶ EventsStage ──▶ MessageStage    server-sent or decoded events
        └────────────▶ PlainTextStage                  anything else

Rule: a stage is a value; `feed` returns the next one, of the same class or of one to the right.

How a stream begins decides what reads it (`_sniff`); text is bad JSON if that is mended. No byte is lost meanwhile.
What follows a JSON document may show that it is something else: lines of a provider's events, or several documents.
That is decided when the document is whole; a whole response, at the end of the stream; and an array of events, when the
first of them is whole.
The value of a message is made when it is read, and parts that did not change are the same objects in all moments.
Data of events that is not JSON is shown as text, and no text is wrong: what is not UTF-8 becomes U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeAlias, TypeVar, cast

from jsontide._decoded import Decoded
from jsontide._errors import JsonStreamError, ParserError, Reason
from jsontide._path import Path
from jsontide._sniff import BLANK, sniff
from jsontide._textbuffer import GrowingText
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.frontends import (
    AppendText,
    Change,
    Finish,
    SetValue,
    compare_values,
    message_changes,
    open_path,
    read_changes,
)
from jsontide.frontends.changes import move_change
from jsontide.frontends.message_value import message_value
from jsontide.mend import start_mend
from jsontide.messages import MessageConfig, Outcome, fail_message, stop_message
from jsontide.messages.calls import BaseCall, Part
from jsontide.messages.document import Document
from jsontide.messages.message import Message as NativeMessage
from jsontide.providers import SseState, StreamState, decode_sse, finish_stream, reduce_item, start_stream
from jsontide.providers.registry import detect
from jsontide.recordings._recording import End
from jsontide.schema import Resolution, Status, from_json_ast, shape_of
from jsontide.streams import loads
from jsontide.text.numbers import Floats
from jsontide.tree import ParserState, create_parser_state, finalize, parse_chunk
from jsontide.tree.containers import ArrayContainer, Container
from jsontide.tree.log import get_log, is_closed

if TYPE_CHECKING:
    from jsontide.mend import Mending, Repair
    from jsontide.messages import Message

Kind: TypeAlias = Literal["unknown", "json", "message", "documents", "text"]
KINDS: Final[tuple[Kind, ...]] = ("json", "message", "documents", "text")
"""What a stream can be said to be from the start."""
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class StageOptions:
    """What a stream is followed with."""

    schema: object
    mend: Mending | None
    config: MessageConfig
    as_kind: Kind | None
    floats: Floats = "float"


class StreamStage:
    """A stream so far; this one shows nothing."""

    __slots__ = ()

    kind: Kind = "unknown"

    def feed(self, data: bytes) -> StreamStage:
        """Return the stage after more bytes."""
        raise NotImplementedError

    def feed_event(self, event: Mapping[str, object]) -> StreamStage:
        """Return the stage after an event that a client decoded."""
        message = f"an event follows bytes: {event!r:.60}"
        raise TypeError(message)

    def finish(self, end: End, error: str | None) -> StreamStage:
        """Return the stage after the end of the stream."""
        raise NotImplementedError

    def changes_since(self, before: StreamStage) -> list[Change]:
        """Return what changed in the value since an earlier stage of the stream."""
        return []

    @property
    def value(self) -> JsonValue | Missing:
        """What is shown."""
        return MISSING

    @property
    def state(self) -> ParserState | None:
        """The state of the parser, of a JSON document."""
        return None

    @property
    def message(self) -> Message | None:
        """The message."""
        return None

    @property
    def resolution(self) -> Resolution[object] | None:
        """What the schema shows of a JSON document, if there is one."""
        return None

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """What was mended."""
        return ()

    @property
    def error(self) -> ParserError | str | None:
        """What is wrong."""
        return None

    @property
    def is_complete(self) -> bool:
        """Whether all of it is there and good."""
        return False

    @property
    def outcome(self) -> Outcome:
        """What the end means, `STREAMING` before it."""
        return Outcome.STREAMING


class SharedList(Generic[_Item]):
    """A list that grows, of which many stages see a beginning: only the newest of them appends in place."""

    __slots__ = ("_count", "_items")

    def __init__(self, items: list[_Item] | None = None) -> None:
        self._items: Final = [] if items is None else items
        self._count: Final = len(self._items)

    def append(self, *items: _Item) -> SharedList[_Item]:
        """Return the list with more at its end."""
        if not items:
            return self
        shared = self._items if len(self._items) == self._count else self._items[: self._count]
        shared += items
        return SharedList(shared)

    def __len__(self) -> int:
        return self._count

    def read(self, start: int = 0) -> list[_Item]:
        """Return what is in it, from a place on."""
        return self._items[start : self._count]


def end_outcome(end: End, error: ParserError | str | None, *, is_whole: bool) -> Outcome:
    """Return what the end of a stream means that is no message."""
    if is_whole and error is None:
        return Outcome.COMPLETE
    if end == "stopped":
        return Outcome.CANCELLED
    is_cut = end == "lost" or not isinstance(error, ParserError) or error.reason.name == "UNEXPECTED_END"
    return Outcome.TRUNCATED if is_cut else Outcome.INVALID


class PlainTextStage(StreamStage):
    """A text so far."""

    __slots__ = ("_decoded", "_end", "_text")

    kind: Kind = "text"

    def __init__(self, text: GrowingText | None = None, decoded: Decoded | None = None, end: End | None = None) -> None:
        self._text: Final = GrowingText("") if text is None else text
        self._decoded: Final = Decoded() if decoded is None else decoded
        self._end: Final = end

    def feed(self, data: bytes) -> StreamStage:
        decoded = self._decoded.feed(data)
        return PlainTextStage(self._text.append(decoded.text), decoded)

    def finish(self, end: End, error: str | None) -> StreamStage:
        decoded = self._decoded.finish()
        return PlainTextStage(self._text.append(decoded.text), decoded, end)

    def changes_since(self, before: StreamStage) -> list[Change]:
        changes: list[Change] = []
        if not isinstance(before, PlainTextStage) or (self._text.length and not before._text.length):
            if self._text.length:
                changes.append(SetValue((), self._text.read(), () if self._end is None else None))
        else:
            if self._text.length > before._text.length:
                changes.append(AppendText((), self._text.tail(self._text.length - before._text.length)))
            if self._text.length and self._end is not None and before._end is None:
                changes.append(Finish(()))
        return changes

    @property
    def value(self) -> JsonValue | Missing:
        return self._text.read() if self._text.length else MISSING

    @property
    def is_complete(self) -> bool:
        return self._end == "over"

    @property
    def outcome(self) -> Outcome:
        if self._end is None:
            return Outcome.STREAMING
        return end_outcome(self._end, None, is_whole=self._end == "over")


class SharedParts:
    """The parts that are not open any more, as the values of all moments show them: what is the same stays so."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[Part, JsonValue]] = {}

    def share(self, message: NativeMessage, value: JsonValue | Missing) -> JsonValue | Missing:
        """Return the value of a message, which was just made, with the parts that are known already."""
        parts = cast("dict[str, list[JsonValue]]", value)["parts"]
        for at, part in enumerate(message.parts):
            if not getattr(part, "is_open", False):
                _, known = self._known.setdefault(id(part), (part, parts[at]))
                if known == parts[at]:
                    parts[at] = known
        return value


class MessageStage(StreamStage):
    """A message so far."""

    __slots__ = ("_parts", "_stream", "_value")

    kind: Kind = "message"

    def __init__(self, stream: StreamState, parts: SharedParts | None = None) -> None:
        self._stream: Final = stream
        self._parts: Final = SharedParts() if parts is None else parts
        self._value: JsonValue | Missing | None = None

    def feed(self, data: bytes) -> StreamStage:
        return self._read(data)

    def feed_event(self, event: Mapping[str, object]) -> StreamStage:
        return self._read(event)

    def _read(self, item: object) -> StreamStage:
        return self if self._stream.is_over else MessageStage(reduce_item(self._stream, item), self._parts)

    def finish(self, end: End, error: str | None) -> StreamStage:
        if end == "over":
            return MessageStage(finish_stream(self._stream), self._parts)
        if end == "stopped":
            return MessageStage(StreamState(stop_message(self._stream.message_state)), self._parts)
        return self._read(ConnectionError(error or "the connection was lost"))

    def changes_since(self, before: StreamStage) -> list[Change]:
        old = before._stream.message if isinstance(before, MessageStage) else None
        return message_changes(cast("NativeMessage | None", old), cast("NativeMessage", self._stream.message))

    @property
    def value(self) -> JsonValue | Missing:
        if self._value is None:
            message = cast("NativeMessage", self._stream.message)
            self._value = self._parts.share(message, message_value(message))
        return self._value

    @property
    def message(self) -> Message:
        return self._stream.message

    @property
    def repairs(self) -> tuple[Repair, ...]:
        message = cast("NativeMessage", self._stream.message)
        answer = message.answer_state
        found = [] if answer is None else list(answer.repairs)
        for part in message.parts:
            if isinstance(part, BaseCall):
                found += part.repairs
        return tuple(found)

    @property
    def error(self) -> str | None:
        errors = self._stream.message.errors
        return errors[0].message if errors else None

    @property
    def is_complete(self) -> bool:
        return self._stream.outcome is Outcome.COMPLETE

    @property
    def outcome(self) -> Outcome:
        return self._stream.outcome


_FIRST: Final = 1
"""The place of the first item in the log: after that of the array."""


class ArrayStage(MessageStage):
    """A message so far, whose events are the items of an array."""

    __slots__ = ("_array", "_place")

    def __init__(self, stream: StreamState, parts: SharedParts, array: ParserState, place: int) -> None:
        super().__init__(stream, parts)
        self._array: Final = array
        self._place: Final = place
        """The place in the log of the first item that is not read."""

    def feed(self, data: bytes) -> StreamStage:
        return self if self._stream.is_over else self._read_on(parse_chunk(self._array, data))

    def _read_on(self, array: ParserState) -> ArrayStage:
        stream, place = self._stream, self._place
        for item, after in _closed_items(array, place):
            stream, place = reduce_item(stream, item), after
        if array.error is not None:
            stream = StreamState(fail_message(stream.message_state, array.error.message))
        return ArrayStage(stream, self._parts, array, place)

    def finish(self, end: End, error: str | None) -> StreamStage:
        after = self._read_on(finalize(self._array)) if end == "over" else self
        return MessageStage(after._stream, self._parts).finish(end, error)


def start_array(config: MessageConfig, array: ParserState) -> ArrayStage | None:
    """Return the stage after an array whose first item is closed and an event of Gemini; `None` for any other."""
    first = next(_closed_items(array, _FIRST), None)
    if first is None or detect(first[0]) != "gemini":
        return None
    return ArrayStage(start_stream(config), SharedParts(), array, _FIRST)._read_on(array)


def has_first_item(state: ParserState) -> bool:
    """Return whether an array has begun, and its first item is closed."""
    return next(_closed_items(state, _FIRST), None) is not None


def _closed_items(state: ParserState, place: int) -> Iterator[tuple[object, int]]:
    """Yield the items of the root that are closed, from a place of the log on, each with the place after it."""
    log = get_log(state)
    if not log.length or not isinstance(log.entries[0], ArrayContainer):
        return
    for at in range(place, log.length):
        if log.owners[at].node_id:
            continue  # inside an item
        entry = log.entries[at]
        if not isinstance(entry, Container):
            yield entry, at + 1
        elif is_closed(state, entry):
            yield entry.value(), at + 1
        else:
            return


_BLANK_TEXT: Final = " \t\r\n\ufeff"
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")


class DocumentsStage(StreamStage):
    """Documents so far."""

    __slots__ = ("_closed", "_decoded", "_end", "_floats", "_open", "_values")

    kind: Kind = "documents"

    def __init__(
        self,
        values: SharedList[JsonValue],
        decoded: Decoded,
        floats: Floats = "float",
        growing: ParserState | None = None,
        closed: ParserState | None = None,
        end: End | None = None,
    ) -> None:
        self._values: Final = values
        """The documents that are whole."""
        self._decoded: Final = decoded
        self._floats: Final = floats
        self._open: Final = growing
        """The one that grows, or is wrong; `None` between two of them."""
        self._closed: Final = closed
        """The end of the one that grew before the last piece, if it has one."""
        self._end: Final = end

    def feed(self, data: bytes) -> StreamStage:
        return self._read(self._decoded.feed(data))

    def _read(self, decoded: Decoded, end: End | None = None) -> DocumentsStage:
        reader = _DocumentReader(self._open, self._floats)
        if self.error is None:
            for line in _LINE.findall(decoded.text):
                reader.read(line)
            if end == "over":
                reader.finish()
        values = self._values.append(*reader.whole)
        return DocumentsStage(values, decoded, self._floats, reader.state, reader.closed, end)

    def finish(self, end: End, error: str | None) -> StreamStage:
        return self._read(self._decoded.finish(), end)

    def changes_since(self, before: StreamStage) -> list[Change]:
        if not isinstance(before, DocumentsStage) or before._is_empty:
            return self._set_all()
        at = len(before._values)
        changes: list[Change] = []
        after = self._open if self._closed is None else self._closed
        if before._shown and after is not None:
            changes += [move_change(change, (at, *change.path)) for change in read_changes(before._open, after)]
            at += 1
        changes += [SetValue((at + place,), value) for place, value in enumerate(self._values.read(at))]
        if at <= len(self._values):
            changes += [SetValue((len(self._values),), value, self._open_path) for value in self._shown]
        if self._end is not None and before._end is None:
            changes.append(Finish(()))
        return changes

    def _set_all(self) -> list[Change]:
        if self._is_empty:
            return []
        shown, inside = self._shown, self._open_path
        place: Path | None = (len(self._values), *inside) if shown and inside is not None else ()
        return [SetValue((), self._values.read() + shown, place if self._end is None else None)]

    @property
    def _is_empty(self) -> bool:
        return not len(self._values) and not self._shown

    @property
    def _shown(self) -> list[JsonValue]:
        """What is shown of the one that grows."""
        value = MISSING if self._open is None else self._open.value
        return [] if value is MISSING else [value]

    @property
    def _open_path(self) -> Path | None:
        """Where in that one it grows."""
        return None if self._open is None else open_path(self._open)

    @property
    def value(self) -> JsonValue | Missing:
        return MISSING if self._is_empty else self._values.read() + self._shown

    @property
    def state(self) -> ParserState | None:
        return self._open

    @property
    def error(self) -> ParserError | None:
        return None if self._open is None else self._open.error

    @property
    def is_complete(self) -> bool:
        return self._end == "over" and self.error is None

    @property
    def outcome(self) -> Outcome:
        return Outcome.STREAMING if self._end is None else end_outcome(self._end, self.error, is_whole=self.is_complete)


class _DocumentReader:
    """What one piece gives."""

    def __init__(self, state: ParserState | None, floats: Floats) -> None:
        self.state = state
        self._floats: Final = floats
        self.closed: ParserState | None = None
        self.whole: list[JsonValue] = []
        self._grew_before = state is not None

    def read(self, line: str) -> None:
        """Read a line; a document may end in it, and others follow."""
        while line:
            if self.state is None:
                line = line.lstrip(_BLANK_TEXT)
                if not line:
                    return
                self.state = create_parser_state(floats=self._floats)
            elif self.state.error is not None:
                return
            index = self.state.index
            self.state = parse_chunk(self.state, line)
            error = self.state.error
            if error is not None and error.reason is Reason.TRAILING_TEXT:
                line = line[error.index - index :]
                self._close()
            else:
                line = ""
                if self.state.is_complete:
                    self._close()

    def finish(self) -> None:
        if self.state is not None and self.state.error is None:
            self.state = finalize(self.state)
            if self.state.is_complete:
                self._close()

    def _close(self) -> None:
        state = self.state
        if state is not None and state.value is not MISSING:
            self.whole.append(state.value)
        if self._grew_before:
            self.closed, self._grew_before = state, False
        self.state = None


_DONE: Final = "[DONE]"


class EventsStage(StreamStage):
    """Events so far, none of them from a known provider."""

    __slots__ = ("_end", "_events", "_raw", "_sse", "_stream")

    def __init__(
        self,
        stream: StreamState,
        events: SharedList[JsonValue],
        raw: SharedList[bytes],
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

    def feed(self, data: bytes) -> StreamStage:
        stream = reduce_item(self._stream, data)
        if stream.is_known:
            return MessageStage(stream)
        return self._feed_sse(stream, data)

    def _feed_sse(self, stream: StreamState, data: bytes, end: End | None = None) -> EventsStage:
        sse, found = decode_sse(self._sse, data)
        events = self._events.append(*[_load(event.data) for event in found if event.data.strip() != _DONE])
        raw = SharedList[bytes]() if len(events) else self._raw.append(data)
        return EventsStage(stream, events, raw, sse, end)

    def feed_event(self, event: Mapping[str, object]) -> StreamStage:
        if len(self._raw):
            return super().feed_event(event)
        stream = reduce_item(self._stream, event)
        if stream.is_known:
            return MessageStage(stream)
        events = self._events.append(cast("JsonValue", event))
        return EventsStage(stream, events, self._raw, self._sse)

    def finish(self, end: End, error: str | None) -> StreamStage:
        stream = finish_stream(self._stream) if end == "over" else self._stream
        if stream.is_known:
            return MessageStage(stream)
        after = self._feed_sse(stream, b"\n\n" if end == "over" else b"", end)
        if len(after._events) or not len(self._raw):
            return after
        text: StreamStage = PlainTextStage()
        for data in self._raw.read():
            text = text.feed(data)
        return text.finish(end, error)

    def changes_since(self, before: StreamStage) -> list[Change]:
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


def start_events(options: StageOptions) -> EventsStage:
    """Return the stage before any event."""
    return EventsStage(start_stream(options.config), SharedList(), SharedList(), SseState())


def _load(data: str) -> JsonValue:
    try:
        return loads(data)
    except JsonStreamError:
        return data


_BYTE_ORDER_MARK: Final = "\ufeff"


class Mended:
    """A document that is mended, and the bytes of a character that is not whole."""

    __slots__ = ("decoded", "document")

    def __init__(self, document: Document, decoded: Decoded) -> None:
        self.document: Final = document
        self.decoded: Final = decoded

    def feed(self, data: bytes) -> Mended:
        decoded = self.decoded.feed(data)
        return Mended(self.document.append(decoded.text), decoded)

    def finish(self) -> Mended:
        decoded = self.decoded.finish()
        return Mended(self.document.append(decoded.text).finish(), decoded)


class Resolver:
    """Shows states of one document through a schema; it keeps the last two, which the next one goes on from.

    What a schema shows is copied for each state that is kept, because every one of them may still be looked at.
    """

    __slots__ = ("_kept", "_schema")

    def __init__(self, schema: object) -> None:
        self._schema: Final = schema
        self._kept: tuple[tuple[ParserState, Resolution[object]], ...] = ()

    def resolve(self, state: ParserState) -> Resolution[object]:
        for known, resolution in self._kept:
            if known is state:
                return resolution
        resolution = from_json_ast(self._schema, state, self._kept[0][1] if self._kept else None)
        self._kept = ((state, resolution), *self._kept[:1])
        return resolution


class JsonStage(StreamStage):
    """A document so far."""

    __slots__ = ("_end", "_mended", "_options", "_raw", "_resolver", "_stream", "_strict")

    kind: Kind = "json"

    def __init__(
        self,
        options: StageOptions,
        strict: ParserState,
        raw: SharedList[bytes],
        resolver: Resolver | None,
        *,
        mended: Mended | None = None,
        stream: StreamState | None = None,
        end: End | None = None,
    ) -> None:
        self._options: Final = options
        self._strict: Final = strict
        """What is read without mending; it decides whether this is one document."""
        self._raw: Final = raw
        self._resolver: Final = resolver
        """What reads the document through its schema, if there is one."""
        self._mended: Final = mended
        self._stream: Final = stream
        """The same as a provider's stream, when the document is whole and may be one of its events."""
        self._end: Final = end

    def feed(self, data: bytes) -> StreamStage:
        strict = parse_chunk(self._strict, data)
        raw = self._raw.append(data)
        stream = None
        if self._options.as_kind is None and not has_first_item(self._strict) and has_first_item(strict):
            array = start_array(self._options.config, strict)
            if array is not None:
                return array
        if self._options.as_kind is None and _is_whole(strict):
            if not _is_whole(self._strict):
                stream = self._start_stream(strict, raw)
            elif self._stream is not None:
                stream = reduce_item(self._stream, data)
            if stream is not None and stream.is_known:
                return MessageStage(stream)
            if self._mended is None and (self._strict.is_complete or not _is_whole(self._strict)):
                rest = _rest_of(strict, raw)
                if rest is not None:
                    documents = SharedList[JsonValue]().append(strict.value)  # type: ignore[arg-type]
                    return DocumentsStage(documents, Decoded(), self._options.floats).feed(rest)
        mended = None if self._mended is None else self._mended.feed(data)
        return JsonStage(self._options, strict, raw, self._resolver, mended=mended, stream=stream)

    def _start_stream(self, strict: ParserState, raw: SharedList[bytes]) -> StreamState | None:
        """Return the stream so far if the document is an event of a provider, or its whole response."""
        value = strict.value
        if not isinstance(value, dict) or not reduce_item(start_stream(self._options.config), value).is_known:
            return None
        return reduce(reduce_item, raw.read(), start_stream(self._options.config))

    def finish(self, end: End, error: str | None) -> StreamStage:
        if self._stream is not None and end == "over":
            stream = finish_stream(self._stream)
            if stream.is_known:
                return MessageStage(stream)
        strict = finalize(self._strict)
        mended = None if self._mended is None else self._mended.finish()
        return JsonStage(self._options, strict, self._raw, self._resolver, mended=mended, end=end)

    def changes_since(self, before: StreamStage) -> list[Change]:
        old = before if isinstance(before, JsonStage) else None
        if self._resolver is None:
            return read_changes(None if old is None else old.state, self.state)
        value, was_complete = (MISSING, False) if old is None else (old.value, old.is_complete)
        if value is self.value and was_complete is self.is_complete:
            return []
        return compare_values(value, self.value, is_complete=self.is_complete)

    @property
    def state(self) -> ParserState:
        return self._strict if self._mended is None else self._mended.document.state

    @property
    def resolution(self) -> Resolution[object] | None:
        return None if self._resolver is None else self._resolver.resolve(self.state)

    @property
    def value(self) -> JsonValue | Missing:
        resolution = self.resolution
        return self.state.value if resolution is None else resolution.value

    @property
    def repairs(self) -> tuple[Repair, ...]:
        return () if self._mended is None else self._mended.document.repairs

    @property
    def error(self) -> ParserError | str | None:
        wrong = self._strict.error if self._mended is None else self._mended.document.error
        if wrong is not None:
            return wrong
        resolution = self.resolution
        return resolution.errors[0].message if resolution is not None and resolution.errors else None

    @property
    def is_complete(self) -> bool:
        is_whole = self._strict.is_complete if self._mended is None else self._mended.document.is_complete
        resolution = self.resolution
        return is_whole and (resolution is None or resolution.status is Status.FINAL)

    @property
    def outcome(self) -> Outcome:
        if self._end is None:
            return Outcome.STREAMING
        error = self.error
        if isinstance(error, str):
            return Outcome.INVALID
        return end_outcome(self._end, error, is_whole=self.is_complete)


def start_json(options: StageOptions) -> JsonStage:
    """Return the stage before any text."""
    mended = None
    if options.mend is not None:
        mend = start_mend(options.mend, None if options.schema is None else shape_of(options.schema))
        mended = Mended(Document(create_parser_state(floats=options.floats), None, None, None, mend), Decoded())
    resolver = None if options.schema is None else Resolver(options.schema)
    return JsonStage(options, create_parser_state(floats=options.floats), SharedList(), resolver, mended=mended)


def _is_whole(state: ParserState) -> bool:
    error = state.error
    return state.is_complete if error is None else error.reason is Reason.TRAILING_TEXT


def _rest_of(state: ParserState, raw: SharedList[bytes]) -> bytes | None:
    """Return what follows a whole document, if it begins another one."""
    error = state.error
    if error is None:
        return None
    text = b"".join(raw.read()).decode("utf-8", "surrogateescape").removeprefix(_BYTE_ORDER_MARK)[error.index :]
    return text.encode("utf-8", "surrogateescape") if text[:1] in {"{", "["} else None


class UndecidedStage(StreamStage):
    """Nothing that says what the stream is."""

    __slots__ = ("_end", "_options", "_received")

    def __init__(self, options: StageOptions, received: tuple[bytes, ...] = (), end: End | None = None) -> None:
        self._options: Final = options
        self._received: Final = received
        self._end: Final = end

    def feed(self, data: bytes) -> StreamStage:
        received = (*self._received, data)
        stage = _decide(self._options, b"".join(received))
        if stage is None:
            return UndecidedStage(self._options, received)
        for piece in received:
            stage = stage.feed(piece)
        return stage

    def feed_event(self, event: Mapping[str, object]) -> StreamStage:
        if self._received:
            return super().feed_event(event)
        stage = _start_message(self._options) if self._options.as_kind == "message" else start_events(self._options)
        return stage.feed_event(event)

    def finish(self, end: End, error: str | None) -> StreamStage:
        if self._options.as_kind == "message":
            return _start_message(self._options).finish(end, error)
        if not b"".join(self._received).strip(BLANK):
            return UndecidedStage(self._options, self._received, end)
        stage: StreamStage = PlainTextStage()  # it begins as a field does, and no field came
        for piece in self._received:
            stage = stage.feed(piece)
        return stage.finish(end, error)

    @property
    def outcome(self) -> Outcome:
        if self._end is None:
            return Outcome.STREAMING
        return Outcome.EMPTY if self._end == "over" else end_outcome(self._end, None, is_whole=False)


def start_stage(options: StageOptions) -> StreamStage:
    """Return the stage before anything of a stream."""
    if options.as_kind == "json":
        return start_json(options)
    if options.as_kind == "documents":
        return DocumentsStage(SharedList(), Decoded(), options.floats)
    return PlainTextStage() if options.as_kind == "text" else UndecidedStage(options)


def _start_message(options: StageOptions) -> StreamStage:
    return MessageStage(start_stream(options.config))


def _decide(options: StageOptions, begun: bytes) -> StreamStage | None:
    """Return what reads a stream that begins like this, `None` if that is not clear yet."""
    form = sniff(begun)
    if options.as_kind == "message" or form == "frames":
        return _start_message(options)
    if form is None:
        return None
    if form == "events":
        return start_events(options)
    return PlainTextStage() if form == "text" and options.mend is None else start_json(options)
