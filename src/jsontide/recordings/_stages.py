"""The stages of a stream: a piece in, the next stage out.

    UndecidedStage ──▶ JsonStage ──▶ DocumentsStage    one JSON document, then several
        │                  └───────▶ MessageStage      events of a provider, alone or in an array, or its whole response
        ├────────────▶ EventsStage ──▶ MessageStage    server-sent or decoded events
        │                                  └─────────▶ StreamedRunStage    several messages, or those of an agent
        ├────────────▶ RecordedRunStage                a run that was recorded, with what happened between its messages
        └────────────▶ PlainTextStage                  anything else

Rule: a stage is a value; `feed` returns the next one, of the same class or of one to the right.

How a stream begins decides what reads it (`_sniff`); text is bad JSON if that is mended. No byte is lost meanwhile.
The text after a JSON document may show that it is something else: a provider's events on lines, or several documents.
That is decided when the document is whole; a whole response, at the end of the stream; and an array of events, when the
first of them is whole. The reader of a provider knows where another message begins: then the stream is a run.
The value of a message is made when it is read, and parts that did not change are the same objects in all moments.
Data of events that is not JSON is shown as text, and no text is wrong: bytes that are not UTF-8 become U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, TypeAlias, TypeVar, cast

from jsontide._decode import Decoded
from jsontide._errors import JsonStreamError, ParserError, Reason
from jsontide._path import Path
from jsontide._sniff import BLANK, sniff
from jsontide._textbuffer import NO_TEXT, GrowingText
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
    run_changes,
    run_value,
)
from jsontide.frontends.changes import move_changes
from jsontide.frontends.message_value import message_value
from jsontide.mend import start_mend
from jsontide.messages import ErrorDetail, MessageConfig, Outcome, stop_message
from jsontide.messages.calls import BaseCall, Part
from jsontide.messages.document import Document
from jsontide.messages.message import Message as NativeMessage
from jsontide.providers import SseState, StreamState, feed_sse, feed_stream, finish_stream, start_sse, start_stream
from jsontide.providers.base import SECOND_MESSAGE
from jsontide.recordings._recording import End
from jsontide.recordings._run_notes import RunNote
from jsontide.runs.lanes import RunReader
from jsontide.runs.run import Run, RunState, fail_run, feed_run, finish_run, start_run, stop_run
from jsontide.runs.types import RunOutcome, Step
from jsontide.schema import Resolution, Status, from_json_ast, shape_of
from jsontide.streams import loads
from jsontide.text.numbers import Floats
from jsontide.tree import ParserState, create_parser_state, finalize, parse_chunk
from jsontide.tree.log import Log, is_closed
from jsontide.tree.tape import ArrayContainer, Container

if TYPE_CHECKING:
    from jsontide.mend import Repair
    from jsontide.messages import Message

Kind: TypeAlias = Literal["unknown", "json", "message", "run", "documents", "text"]
KINDS: Final[tuple[Kind, ...]] = ("json", "message", "run", "documents", "text")
"""The kinds that can be named from the start."""
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class StageOptions:
    """The options of `start_moment`."""

    config: MessageConfig
    """Its schema and repairs hold for a JSON document, too."""
    as_kind: Kind | None
    floats: Floats


class StreamStage:
    """A stream so far; this one shows nothing. `Moment` says what the properties mean."""

    __slots__ = ()

    kind: ClassVar[Kind] = "unknown"
    end: End | None = None
    waited: float = 0.0

    def feed(self, data: bytes) -> StreamStage:
        """Return the stage after more bytes."""
        raise NotImplementedError

    def feed_event(self, event: Mapping[str, object]) -> StreamStage:
        """Return the stage after an event that a client decoded."""
        message = f"an event follows bytes: {event!r:.60}"
        raise TypeError(message)

    def feed_note(self, note: RunNote) -> StreamStage:
        """Return the stage after what happened around the messages of a run."""
        message = f"a note of a run follows a stream: {note.value!r:.60}"
        raise TypeError(message)

    def finish(self, end: End, error: str | None) -> StreamStage:
        """Return the stage after the end of the stream."""
        raise NotImplementedError

    def changes_since(self, before: StreamStage) -> list[Change]:
        """Return what changed in the value since an earlier stage of the stream."""
        return []

    @property
    def value(self) -> JsonValue | Missing:
        return MISSING

    @property
    def state(self) -> ParserState | None:
        return None

    @property
    def message(self) -> Message | None:
        return None

    @property
    def runs(self) -> tuple[Run[Any], ...]:
        return ()

    @property
    def resolution(self) -> Resolution[object] | None:
        return None

    @property
    def repairs(self) -> tuple[Repair, ...]:
        return ()

    @property
    def error(self) -> ParserError | str | None:
        return None

    @property
    def is_complete(self) -> bool:
        return self.end == "over" and self.error is None

    @property
    def outcome(self) -> Outcome | RunOutcome:
        return Outcome.STREAMING if self.end is None else self._end_outcome()

    def _end_outcome(self) -> Outcome:
        if self.is_complete:
            return Outcome.COMPLETE
        if self.end == "stopped":
            return Outcome.CANCELLED
        error = self.error
        is_cut = self.end == "lost" or not isinstance(error, ParserError) or error.reason is Reason.UNEXPECTED_END
        return Outcome.TRUNCATED if is_cut else Outcome.INVALID


def feed_all(stage: StreamStage, pieces: Iterable[bytes]) -> StreamStage:
    for piece in pieces:
        stage = stage.feed(piece)
    return stage


class SharedList(Generic[_Item]):
    """A growing list that many stages share, each with its own length: only the newest one appends in place."""

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
        """Return its items, from a place on."""
        return self._items[start : self._count]


@dataclass(frozen=True, slots=True, eq=False)
class PlainTextStage(StreamStage):
    """A text so far."""

    text: GrowingText = NO_TEXT
    decoded: Decoded = Decoded()  # noqa: RUF009 - a value
    end: End | None = None

    kind: ClassVar[Kind] = "text"

    def feed(self, data: bytes) -> StreamStage:
        decoded = self.decoded.feed(data)
        return PlainTextStage(self.text.append(decoded.text), decoded)

    def finish(self, end: End, error: str | None) -> StreamStage:
        decoded = self.decoded.finish()
        return PlainTextStage(self.text.append(decoded.text), decoded, end)

    def changes_since(self, before: StreamStage) -> list[Change]:
        length = self.text.length
        if not length:
            return []
        if not isinstance(before, PlainTextStage) or not before.text.length:
            return [SetValue((), self.text.read(), () if self.end is None else None)]
        changes: list[Change] = []
        if length > before.text.length:
            changes.append(AppendText((), self.text.tail(length - before.text.length)))
        if self.end is not None and before.end is None:
            changes.append(Finish(()))
        return changes

    @property
    def value(self) -> JsonValue | Missing:
        return self.text.read() if self.text.length else MISSING


@dataclass(slots=True, eq=False)
class MessageStage(StreamStage):
    """A message so far."""

    stream: StreamState
    items: SharedList[object]
    """All that came, to be read again if another message begins."""
    is_alone: bool = False
    """Whether the stream is known to be one message."""
    shared: dict[int, tuple[Part, JsonValue]] = field(default_factory=dict)
    """The parts that are closed, by their ids, as the values of all moments show them."""
    shown: JsonValue | Missing = field(default=MISSING, init=False)

    kind: ClassVar[Kind] = "message"

    def feed(self, data: bytes) -> StreamStage:
        return self._read(data)

    def feed_event(self, event: Mapping[str, object]) -> StreamStage:
        return self._read(event)

    def _read(self, item: object) -> StreamStage:
        if self.stream.is_over:
            return self
        stream, items = feed_stream(self.stream, item), self.items.append(item)
        if not self.is_alone and any(error.message == SECOND_MESSAGE for error in stream.errors):
            return start_streamed_run(stream.message_state.config, items)
        return self._with(stream, items)

    def _with(self, stream: StreamState, items: SharedList[object]) -> MessageStage:
        return MessageStage(stream, items, self.is_alone, self.shared)

    def finish(self, end: End, error: str | None) -> StreamStage:
        if end == "over":
            return self._with(finish_stream(self.stream), self.items)
        if end == "stopped":
            return self._with(StreamState(stop_message(self.stream.message_state)), self.items)
        return self._read(ConnectionError(error or "the connection was lost"))

    def changes_since(self, before: StreamStage) -> list[Change]:
        old = before.stream.message if isinstance(before, MessageStage) else None
        return message_changes(cast("NativeMessage | None", old), cast("NativeMessage", self.stream.message))

    @property
    def value(self) -> JsonValue | Missing:
        if self.shown is MISSING:
            message = cast("NativeMessage", self.stream.message)
            self.shown = message_value(message)
            parts = cast("dict[str, list[JsonValue]]", self.shown)["parts"]
            for at, part in enumerate(message.parts):
                if not getattr(part, "is_open", False):
                    _, known = self.shared.setdefault(id(part), (part, parts[at]))
                    if known == parts[at]:
                        parts[at] = known
        return self.shown

    @property
    def message(self) -> Message:
        return self.stream.message

    @property
    def repairs(self) -> tuple[Repair, ...]:
        return _repairs_of(self.stream.message)

    @property
    def error(self) -> str | None:
        errors = self.stream.message.errors
        return errors[0].message if errors else None

    @property
    def is_complete(self) -> bool:
        return self.stream.outcome is Outcome.COMPLETE

    @property
    def outcome(self) -> Outcome:
        return self.stream.outcome


def _repairs_of(message: Message) -> tuple[Repair, ...]:
    """Return the repairs of the answer and the calls of a message."""
    answer = cast("NativeMessage", message).answer_state
    found = [] if answer is None else list(answer.repairs)
    for part in message.parts:
        if isinstance(part, BaseCall):
            found += part.repairs
    return tuple(found)


_BROKE_OFF: Final = "the recording ended before the run did"


@dataclass(slots=True, eq=False)
class RunStage(StreamStage):
    """One run, or several, so far."""

    shared: dict[int, tuple[Step, JsonValue]] = field(default_factory=dict, kw_only=True)
    """The steps that are over, by their ids, as the values of all moments show them."""
    end: End | None = field(default=None, kw_only=True)
    shown: JsonValue | Missing = field(default=MISSING, init=False)

    kind: ClassVar[Kind] = "run"

    def changes_since(self, before: StreamStage) -> list[Change]:
        known = before.runs
        if not self.runs or not all(map(_goes_on, known, self.runs)):
            return compare_values(before.value if known else MISSING, self.value, is_complete=self.end is not None)
        changes = _changes_of(known[0] if known else None, self.runs[0])
        others: list[Change] = [] if len(self.runs) == 1 or len(known) > 1 else [SetValue((_OTHERS,), [], ())]
        for at, run in enumerate(self.runs[1:], 1):
            before_it = known[at] if at < len(known) else None
            others += move_changes(_changes_of(before_it, run), (_OTHERS, at - 1))
        place = 0 if known else 1  # inside the first run, which ends last
        return [*changes[:place], *others, *changes[place:]]

    @property
    def value(self) -> JsonValue | Missing:
        if self.shown is MISSING and self.runs:
            first, *others = map(self._show, self.runs)
            self.shown = {**first, _OTHERS: cast("list[JsonValue]", others)} if others else first
        return self.shown

    def _show(self, run: Run[Any]) -> dict[str, JsonValue]:
        value = cast("dict[str, Any]", run_value(run, describe_error=_tell_error))
        for at, step in enumerate(run.earlier):
            _, value["steps"][at] = self.shared.setdefault(id(step), (step, value["steps"][at]))
        return value

    @property
    def message(self) -> Message | None:
        return self.runs[0].message if self.runs else None

    @property
    def error(self) -> str | None:
        errors = [run.error for run in self.runs if run.error is not None]
        errors += [error.message for run in self.runs if run.message is not None for error in run.message.errors]
        return errors[0] if errors else None

    @property
    def repairs(self) -> tuple[Repair, ...]:
        return tuple(found for run in self.runs for step in run.steps for found in _repairs_of(step.message))

    @property
    def is_complete(self) -> bool:
        return bool(self.runs) and all(run.outcome is RunOutcome.COMPLETE for run in self.runs)

    @property
    def outcome(self) -> RunOutcome:
        """The outcome of the run; of several, of the first that is not complete."""
        outcomes = [run.outcome for run in self.runs] or [RunOutcome.STREAMING]
        return next((outcome for outcome in outcomes if outcome is not RunOutcome.COMPLETE), RunOutcome.COMPLETE)


_OTHERS: Final = "others"


def _tell_error(error: ErrorDetail | Exception) -> str:
    """Return an error in its own words: who looks at a recording may read what a browser may not."""
    return error.message if isinstance(error, ErrorDetail) else str(error)


def _changes_of(before: Run[Any] | None, after: Run[Any]) -> list[Change]:
    return run_changes(before, after, describe_error=_tell_error)


def _goes_on(before: Run[Any], after: Run[Any]) -> bool:
    """Return whether a run has all that it had before."""
    return before.id == after.id and len(before.steps) <= len(after.steps) and after.is_over >= before.is_over


@dataclass(slots=True, eq=False)
class StreamedRunStage(RunStage):
    """The runs of a stream of several messages."""

    reader: RunReader

    @property
    def runs(self) -> tuple[Run[Any], ...]:
        return self.reader.runs

    def feed(self, data: bytes) -> StreamStage:
        return self._then(lambda reader: reader.feed(data))

    def feed_event(self, event: Mapping[str, object]) -> StreamStage:
        return self._then(lambda reader: reader.feed(event))

    def finish(self, end: End, error: str | None) -> StreamStage:
        if end == "stopped":
            return self._then(RunReader.stop, end)
        if end == "over":
            return self._then(RunReader.finish, end)
        return self._then(lambda reader: reader.fail(ConnectionError(error or "the connection was lost")), end)

    def _then(self, step: Callable[[RunReader], object], end: End | None = None) -> StreamedRunStage:
        reader = self.reader.fork()
        step(reader)
        return StreamedRunStage(reader, shared=self.shared, end=end)


def start_streamed_run(config: MessageConfig, items: SharedList[object]) -> StreamedRunStage:
    """Return the stage after items that turned out to be those of a run."""
    reader = RunReader(config)
    for item in items.read():
        reader.feed(item)
    return StreamedRunStage(reader)


@dataclass(slots=True, eq=False)
class RecordedRunStage(RunStage):
    """A run that was recorded."""

    growing: RunState[Any]
    waited: float = 0.0
    """How many seconds the provider took to begin the message that begins here."""
    problem: str | None = None
    """What first did not follow from what was before; it is left out."""

    @property
    def runs(self) -> tuple[Run[Any], ...]:
        return (self.growing.run,)

    def feed(self, data: bytes) -> StreamStage:
        return self._then(lambda state: feed_run(state, data))

    def feed_event(self, event: Mapping[str, object]) -> StreamStage:
        return self._then(lambda state: feed_run(state, event))

    def feed_note(self, note: RunNote) -> StreamStage:
        return self._then(note.feed, waited=note.waited)

    def finish(self, end: End, error: str | None) -> StreamStage:
        if end == "stopped":
            return self._then(stop_run, end)
        if end == "lost":
            return self._then(lambda state: fail_run(state, error or "the connection was lost"), end)
        return self._then(_finish_recorded, end)

    def _then(
        self, step: Callable[[RunState[Any]], RunState[Any]], end: End | None = None, waited: float = 0.0
    ) -> RecordedRunStage:
        state, problem = self.growing, self.problem
        try:
            state = step(state)
        except ValueError as error:
            problem = problem or f"the recording does not follow: {error}"
        return RecordedRunStage(state, waited, problem, shared=self.shared, end=end)

    @property
    def error(self) -> str | None:
        return self.problem or RunStage.error.__get__(self)  # super() fails in a class with slots

    @property
    def is_complete(self) -> bool:
        return self.problem is None and self.growing.run.outcome is RunOutcome.COMPLETE


def _finish_recorded(state: RunState[Any]) -> RunState[Any]:
    """Return the state after the last line; calls that should have run show that the recording broke off."""
    try:
        return finish_run(state)
    except ValueError:
        return fail_run(state, _BROKE_OFF)


_BLANK_TEXT: Final = " \t\r\n\ufeff"
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True, eq=False)
class DocumentsStage(StreamStage):
    """Documents so far."""

    values: SharedList[JsonValue]
    """The documents that are whole."""
    decoded: Decoded
    floats: Floats = "float"
    growing: ParserState | None = None
    """The document that grows, or is wrong; `None` between two of them."""
    closed: ParserState | None = None
    """The end of the document that grew before the last piece, if it has one."""
    end: End | None = None

    kind: ClassVar[Kind] = "documents"

    def feed(self, data: bytes) -> StreamStage:
        return self._read(self.decoded.feed(data))

    def _read(self, decoded: Decoded, end: End | None = None) -> DocumentsStage:
        reader = _DocumentReader(self.growing, self.floats)
        if self.error is None:
            for line in _LINE.findall(decoded.text):
                reader.read(line)
            if end == "over":
                reader.finish()
        values = self.values.append(*reader.whole)
        return DocumentsStage(values, decoded, self.floats, reader.state, reader.closed, end)

    def finish(self, end: End, error: str | None) -> StreamStage:
        return self._read(self.decoded.finish(), end)

    def changes_since(self, before: StreamStage) -> list[Change]:
        if not isinstance(before, DocumentsStage) or before._is_empty:
            return self._set_all()
        at = len(before.values)
        changes: list[Change] = []
        after = self.growing if self.closed is None else self.closed
        if before._shown and after is not None:
            changes += move_changes(read_changes(before.growing, after), (at,))
            at += 1
        changes += [SetValue((at + place,), value) for place, value in enumerate(self.values.read(at))]
        if at <= len(self.values):
            changes += [SetValue((len(self.values),), value, self._open_path) for value in self._shown]
        if self.end is not None and before.end is None:
            changes.append(Finish(()))
        return changes

    def _set_all(self) -> list[Change]:
        if self._is_empty:
            return []
        shown, inside = self._shown, self._open_path
        place: Path | None = (len(self.values), *inside) if shown and inside is not None else ()
        return [SetValue((), self.values.read() + shown, place if self.end is None else None)]

    @property
    def _is_empty(self) -> bool:
        return not len(self.values) and not self._shown

    @property
    def _shown(self) -> list[JsonValue]:
        """The value of the document that grows, if it has one."""
        value = MISSING if self.growing is None else self.growing.value
        return [] if value is MISSING else [value]

    @property
    def _open_path(self) -> Path | None:
        """The path to the growing end of that document."""
        return None if self.growing is None else open_path(self.growing)

    @property
    def value(self) -> JsonValue | Missing:
        return MISSING if self._is_empty else self.values.read() + self._shown

    @property
    def state(self) -> ParserState | None:
        return self.growing

    @property
    def error(self) -> ParserError | None:
        return None if self.growing is None else self.growing.error


class _DocumentReader:
    """Reads the documents in one piece."""

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


@dataclass(frozen=True, slots=True, eq=False)
class EventsStage(StreamStage):
    """Events so far, none of them from a known provider."""

    stream: StreamState
    events: SharedList[JsonValue]
    raw: SharedList[bytes]
    """The bytes before the first event: without an event, they are a text after all."""
    sse: SseState
    end: End | None = None
    items: SharedList[object] = field(default_factory=SharedList)
    """All that came."""

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return "documents" if len(self.events) else "unknown"

    def feed(self, data: bytes) -> StreamStage:
        stream, items = feed_stream(self.stream, data), self.items.append(data)
        if stream.is_known:
            return _start_known(stream, items)
        return self._feed_sse(stream, items, data)

    def _feed_sse(
        self, stream: StreamState, items: SharedList[object], data: bytes, end: End | None = None
    ) -> EventsStage:
        sse, found = feed_sse(self.sse, data)
        events = self.events.append(*[_load(event.data) for event in found if event.data.strip() != _DONE])
        raw = SharedList[bytes]() if len(events) else self.raw.append(data)
        return EventsStage(stream, events, raw, sse, end, items)

    def feed_event(self, event: Mapping[str, object]) -> StreamStage:
        if len(self.raw):
            return StreamStage.feed_event(self, event)
        stream, items = feed_stream(self.stream, event), self.items.append(event)
        if stream.is_known:
            return _start_known(stream, items)
        events = self.events.append(cast("JsonValue", event))
        return EventsStage(stream, events, self.raw, self.sse, None, items)

    def finish(self, end: End, error: str | None) -> StreamStage:
        stream = finish_stream(self.stream) if end == "over" else self.stream
        if stream.is_known:
            return _start_known(stream, self.items).finish(end, error)
        after = self._feed_sse(stream, self.items, b"\n\n" if end == "over" else b"", end)
        if len(after.events) or not len(self.raw):
            return after
        return feed_all(PlainTextStage(), self.raw.read()).finish(end, error)

    def changes_since(self, before: StreamStage) -> list[Change]:
        known = len(before.events) if isinstance(before, EventsStage) else 0
        new = self.events.read(known)
        is_over = self.end is not None
        if not known:
            return [SetValue((), [*new], None if is_over else ())] if new else []
        changes: list[Change] = [SetValue((known + at,), event) for at, event in enumerate(new)]
        if is_over and cast("EventsStage", before).end is None:
            changes.append(Finish(()))
        return changes

    @property
    def value(self) -> JsonValue | Missing:
        return self.events.read() if len(self.events) else MISSING

    @property
    def error(self) -> str | None:
        return self.sse.error

    def _end_outcome(self) -> Outcome:
        return Outcome.EMPTY if self.end == "over" and not len(self.events) else StreamStage._end_outcome(self)


def start_events(options: StageOptions) -> EventsStage:
    """Return the stage before any event."""
    return EventsStage(start_stream(options.config), SharedList(), SharedList(), start_sse())


def _start_known(stream: StreamState, items: SharedList[object]) -> StreamStage:
    """Return the stage of a stream of a provider: that of a run if it holds several messages, or may."""
    run = start_streamed_run(stream.message_state.config, items)
    return run if run.reader.has_several else MessageStage(stream, items)


def _load(data: str) -> JsonValue:
    try:
        return loads(data)
    except JsonStreamError:
        return data


_BYTE_ORDER_MARK: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class Mended:
    """A document that is mended, and the bytes of a character that is not whole."""

    document: Document
    decoded: Decoded

    def feed(self, data: bytes) -> Mended:
        decoded = self.decoded.feed(data)
        return Mended(self.document.append(decoded.text), decoded)

    def finish(self) -> Mended:
        decoded = self.decoded.finish()
        return Mended(self.document.append(decoded.text).finish(), decoded)


class Resolver:
    """Shows states of one document through a schema; it keeps the last two, which the next one goes on from.

    The value that a schema shows is copied for each state that is kept, because somebody may still look at it.
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


@dataclass(frozen=True, slots=True, eq=False)
class JsonStage(StreamStage):
    """A document so far."""

    options: StageOptions
    strict: ParserState
    """The document read without mending; it decides whether this is one document."""
    raw: SharedList[bytes]
    resolver: Resolver | None
    """Reads the document through its schema, if there is one."""
    mended: Mended | None = None
    stream: StreamState | None = None
    """The same as a provider's stream, when the document is whole and may be one of its events."""
    end: End | None = None

    kind: ClassVar[Kind] = "json"

    def feed(self, data: bytes) -> StreamStage:
        strict = parse_chunk(self.strict, data)
        raw = self.raw.append(data)
        stream = None
        if self.options.as_kind is None and not _has_first_item(self.strict) and _has_first_item(strict):
            events = self._read_events(raw)
            if events.is_known:
                return _start_known(events, SharedList[object]().append(*raw.read()))
        if self.options.as_kind is None and _is_whole(strict):
            if not _is_whole(self.strict):
                stream = self._start_stream(strict, raw)
            elif self.stream is not None:
                stream = feed_stream(self.stream, data)
            if stream is not None and stream.is_known:
                return _start_known(stream, SharedList[object]().append(*raw.read()))
            if self.mended is None and (self.strict.is_complete or not _is_whole(self.strict)):
                rest = _rest_of(strict, raw)
                if rest is not None:
                    documents = SharedList[JsonValue]().append(strict.value)  # type: ignore[arg-type]
                    return DocumentsStage(documents, Decoded(), self.options.floats).feed(rest)
        mended = None if self.mended is None else self.mended.feed(data)
        return JsonStage(self.options, strict, raw, self.resolver, mended=mended, stream=stream)

    def _start_stream(self, strict: ParserState, raw: SharedList[bytes]) -> StreamState | None:
        """Return the stream so far if the document is an event of a provider, or its whole response."""
        value = strict.value
        if not isinstance(value, dict) or not feed_stream(start_stream(self.options.config), value).is_known:
            return None
        return self._read_events(raw)

    def _read_events(self, raw: SharedList[bytes]) -> StreamState:
        return reduce(feed_stream, raw.read(), start_stream(self.options.config))

    def finish(self, end: End, error: str | None) -> StreamStage:
        if self.stream is not None and end == "over":
            stream = finish_stream(self.stream)
            if stream.is_known:
                return _start_known(stream, SharedList[object]().append(*self.raw.read())).finish(end, error)
        strict = finalize(self.strict)
        mended = None if self.mended is None else self.mended.finish()
        return JsonStage(self.options, strict, self.raw, self.resolver, mended=mended, end=end)

    def changes_since(self, before: StreamStage) -> list[Change]:
        old = before if isinstance(before, JsonStage) else None
        if self.resolver is None:
            return read_changes(None if old is None else old.state, self.state)
        value, was_complete = (MISSING, False) if old is None else (old.value, old.is_complete)
        if value is self.value and was_complete is self.is_complete:
            return []
        return compare_values(value, self.value, is_complete=self.is_complete)

    @property
    def state(self) -> ParserState:
        return self.strict if self.mended is None else self.mended.document.state

    @property
    def resolution(self) -> Resolution[object] | None:
        return None if self.resolver is None else self.resolver.resolve(self.state)

    @property
    def value(self) -> JsonValue | Missing:
        resolution = self.resolution
        return self.state.value if resolution is None else resolution.value

    @property
    def repairs(self) -> tuple[Repair, ...]:
        return () if self.mended is None else self.mended.document.repairs

    @property
    def error(self) -> ParserError | str | None:
        wrong = self.strict.error if self.mended is None else self.mended.document.error
        if wrong is not None:
            return wrong
        resolution = self.resolution
        return resolution.errors[0].message if resolution is not None and resolution.errors else None

    @property
    def is_complete(self) -> bool:
        is_whole = self.strict.is_complete if self.mended is None else self.mended.document.is_complete
        resolution = self.resolution
        return is_whole and (resolution is None or resolution.status is Status.FINAL)

    def _end_outcome(self) -> Outcome:
        return Outcome.INVALID if isinstance(self.error, str) else StreamStage._end_outcome(self)


def start_json(options: StageOptions) -> JsonStage:
    """Return the stage before any text."""
    schema, mend = options.config.response_schema, options.config.mend
    mended = None
    if mend is not None:
        mending = start_mend(mend, None if schema is None else shape_of(schema))
        mended = Mended(Document(create_parser_state(floats=options.floats), None, None, None, mending), Decoded())
    resolver = None if schema is None else Resolver(schema)
    return JsonStage(options, create_parser_state(floats=options.floats), SharedList(), resolver, mended=mended)


def _is_whole(state: ParserState) -> bool:
    error = state.error
    return state.is_complete if error is None else error.reason is Reason.TRAILING_TEXT


def _has_first_item(state: ParserState) -> bool:
    """Return whether an array has begun, and its first item is closed."""
    log = Log(state)
    if log.length <= 1 or not isinstance(log.entries[0], ArrayContainer):
        return False
    first = log.entries[1]
    return not isinstance(first, Container) or is_closed(state, first)


def _rest_of(state: ParserState, raw: SharedList[bytes]) -> bytes | None:
    """Return the bytes after a whole document, if they begin another one."""
    error = state.error
    if error is None:
        return None
    text = b"".join(raw.read()).decode("utf-8", "surrogateescape").removeprefix(_BYTE_ORDER_MARK)[error.index :]
    return text.encode("utf-8", "surrogateescape") if text[:1] in {"{", "["} else None


@dataclass(frozen=True, slots=True, eq=False)
class UndecidedStage(StreamStage):
    """The kind of stream is not known yet."""

    options: StageOptions
    received: tuple[bytes, ...] = ()
    end: End | None = None

    def feed(self, data: bytes) -> StreamStage:
        received = (*self.received, data)
        stage = _decide(self.options, b"".join(received))
        return UndecidedStage(self.options, received) if stage is None else feed_all(stage, received)

    def feed_event(self, event: Mapping[str, object]) -> StreamStage:
        if self.received:
            return StreamStage.feed_event(self, event)
        stage = _start_as(self.options) or start_events(self.options)
        return stage.feed_event(event)

    def feed_note(self, note: RunNote) -> StreamStage:
        if self.received:
            return StreamStage.feed_note(self, note)
        return RecordedRunStage(start_run(self.options.config)).feed_note(note)

    def finish(self, end: End, error: str | None) -> StreamStage:
        stage = _start_as(self.options)
        if stage is not None:
            return stage.finish(end, error)
        if not b"".join(self.received).strip(BLANK):
            return UndecidedStage(self.options, self.received, end)
        # It begins as a field of server-sent events, and no field came.
        return feed_all(PlainTextStage(), self.received).finish(end, error)

    @property
    def is_complete(self) -> bool:
        return False

    def _end_outcome(self) -> Outcome:
        return Outcome.EMPTY if self.end == "over" else StreamStage._end_outcome(self)


def start_stage(options: StageOptions) -> StreamStage:
    """Return the stage before anything of a stream."""
    if options.as_kind == "json":
        return start_json(options)
    if options.as_kind == "documents":
        return DocumentsStage(SharedList(), Decoded(), options.floats)
    return PlainTextStage() if options.as_kind == "text" else UndecidedStage(options)


def _start_as(options: StageOptions) -> StreamStage | None:
    """Return the stage of a stream that is known to be a message or a run."""
    if options.as_kind == "run":
        return start_streamed_run(options.config, SharedList())
    if options.as_kind == "message":
        return MessageStage(start_stream(options.config), SharedList(), is_alone=True)
    return None


def _decide(options: StageOptions, begun: bytes) -> StreamStage | None:
    """Return the stage that reads a stream with this beginning, `None` while several may."""
    form = sniff(begun)
    stage = _start_as(options)
    if stage is not None:
        return stage
    if form == "frames":
        return MessageStage(start_stream(options.config), SharedList())
    if form is None:
        return None
    if form == "events":
        return start_events(options)
    return PlainTextStage() if form == "text" and options.config.mend is None else start_json(options)
