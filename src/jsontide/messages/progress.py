"""A growing message in, what is new in it out, as events that say it in order; front ends encode them.

One fold for programs and all protocols, so that all of them keep the same promises:

- a text or call that has started also ends, on every way out;
- only a call that is complete and valid is `CallFinished`, and nothing else says that a call may run (law 9);
- a call starts when its name is known, and keeps its id: the provider's, or one made here, if the provider gave none
  or gave it twice;
- who joins late gets the same events, with each text at once.

Rule: a `Progress` is a value; the cost follows the new text and the number of parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, Generic, Literal, TypeAlias, TypeVar, cast

from jsontide._values import MISSING, JsonValue, make_finite
from jsontide.messages.calls import BaseCall, CompleteCall, Part, PartialCall, ServerCall
from jsontide.messages.document import has_infinity
from jsontide.messages.message import Message
from jsontide.messages.parts import File, GrowingPart, Other, ReasoningPart, Refusal, Source
from jsontide.messages.types import ErrorDetail, Outcome, Usage
from jsontide.snapshots import SnapshotConflict, SnapshotState, feed_snapshot_values, finish_snapshots, start_snapshots

_ON_SERVER: Final = "the provider runs this tool itself"
TextKind: TypeAlias = Literal["text", "reasoning", "refusal"]
Describe: TypeAlias = Callable[[ErrorDetail], str]
"""Describes an error of a message."""
Ending = TypeVar("Ending", bound=Enum)

# `part` is an index of `Message.parts`, and `id` names a text, call or part until it ends.


@dataclass(slots=True)
class TextStarted:
    """A text, a refusal or reasoning starts."""

    part: int
    kind: TextKind
    id: str


@dataclass(slots=True)
class GrowingDelta:
    """More of a text."""

    part: int
    text: str
    id: str

    @property
    def kind(self) -> TextKind:
        raise NotImplementedError


class TextDelta(GrowingDelta):
    """More of what the model wrote for its reader."""

    __slots__ = ()

    @property
    def kind(self) -> TextKind:
        return "text"


class ReasoningDelta(GrowingDelta):
    """More of the model's reasoning."""

    __slots__ = ()

    @property
    def kind(self) -> TextKind:
        return "reasoning"


class RefusalDelta(GrowingDelta):
    """More of why the model refuses to answer."""

    __slots__ = ()

    @property
    def kind(self) -> TextKind:
        return "refusal"


@dataclass(slots=True)
class TextFinished:
    """A text, a refusal or reasoning ends; if the model goes on with it, that is another text."""

    part: int
    kind: TextKind
    id: str


@dataclass(slots=True)
class CallStarted:
    """A call starts: its name is known."""

    part: int
    name: str
    id: str
    on_server: bool
    """Whether the provider runs this tool itself."""


@dataclass(slots=True)
class ArgumentsDelta:
    """More of the arguments of a call: pieces that join to JSON, whatever the model wrote."""

    part: int
    text: str
    id: str
    on_server: bool


@dataclass(slots=True)
class CallFinished:
    """A call is complete and valid: it may be run."""

    call: CompleteCall
    part: int
    name: str
    id: str


@dataclass(slots=True)
class CallFailed:
    """A call ended without being complete and valid: it must not be run."""

    part: int
    name: str
    id: str
    partial: object
    """The arguments so far, `MISSING` if nothing is known of them."""
    status: str
    """The outcome of the call, such as `truncated`."""
    reason: str


@dataclass(slots=True)
class ServerCallFinished:
    """A call that the provider runs itself has ended; nobody else may run it."""

    call: ServerCall
    part: int
    name: str
    id: str


@dataclass(slots=True)
class PartAdded:
    """A part that comes whole: a source, a file, or something else; what a provider adds later is in the message."""

    added: Source | File | Other
    part: int
    id: str


@dataclass(slots=True)
class UsageChanged:
    """What the message has cost so far; of a run, all of its messages together."""

    usage: Usage


@dataclass(slots=True)
class Finished(Generic[Ending]):
    """The message or run has ended, always as the last event."""

    outcome: Ending
    error: str | None
    """Why, unless it ended well."""
    message: Message
    """The message, as it ended; of a run, the last one."""


PartEvent: TypeAlias = (
    TextStarted
    | TextDelta
    | ReasoningDelta
    | RefusalDelta
    | TextFinished
    | CallStarted
    | ArgumentsDelta
    | CallFinished
    | CallFailed
    | ServerCallFinished
    | PartAdded
)
"""Something that is new in a part of a message."""
MessageEvent: TypeAlias = PartEvent | UsageChanged | Finished[Outcome]
"""Something that is new in a message."""


@dataclass(slots=True)
class PartProgress:
    """How much of a part was sent."""

    id: str = ""
    """Empty before the part has started."""
    name: str = ""
    length: int = 0
    """How many characters of its text were sent."""
    is_ended: bool = False
    count: int = 0
    """How often it has started."""
    writer: SnapshotState | None = None
    """Writes the arguments, where they are not sent as the model wrote them."""
    on_server: bool = False
    """Whether it started as a call that the provider runs."""


_NEW: Final = PartProgress()
_DELTAS: Final[dict[TextKind, type[TextDelta | ReasoningDelta | RefusalDelta]]] = {
    "text": TextDelta,
    "reasoning": ReasoningDelta,
    "refusal": RefusalDelta,
}


@dataclass(slots=True)
class Progress:
    """How much of a message was sent."""

    name: str
    """The beginning of ids that are made here."""
    message: Message | None = None
    parts: tuple[PartProgress, ...] = ()
    is_over: bool = False
    prefix: str = ""
    """Stands before the ids of calls, of a run whose calls stand among those of another one."""

    def advance(self, message: Message, describe: Describe) -> tuple[Progress, list[MessageEvent]]:
        """Return the progress after one more message of the stream, and what is new in it.

        `describe` describes an error.
        """
        before = self.message
        if message is before or self.is_over:
            return self, []
        old = () if before is None else before.parts
        sent = list(self.parts)
        emitter = _Emitter(self.name, message, describe, self.prefix)
        for index, part in enumerate(message.parts):
            if index == len(sent):
                sent.append(_NEW)
            waits = isinstance(part, ServerCall) and not sent[index].is_ended
            if index >= len(old) or old[index] is not part or emitter.is_over or waits:
                sent[index] = emitter.emit(sent[index], index, part)
        events = emitter.events
        if emitter.is_over:
            events.append(Finished(message.outcome, describe_end(message, describe), message))
        return Progress(self.name, message, tuple(sent), emitter.is_over, self.prefix), events

    def advance_all(self, message: Message) -> tuple[Progress, list[MessageEvent]]:
        """Do as `advance` does, for programs: with what the message cost, and errors in their own words."""
        before, is_over = self.message, self.is_over
        progress, events = self.advance(message, describe_plainly)
        usage = message.usage
        if usage is not None and not is_over and (before is None or before.usage != usage):
            events.insert(len(events) - progress.is_over, UsageChanged(usage))
        return progress, events

    def fail(self, reason: str) -> tuple[Progress, list[MessageEvent]]:
        """Return the progress after a failure outside the message: all that is open ends, and so does the message."""
        message = Message() if self.message is None else self.message
        if self.is_over:
            return self, []
        events: list[MessageEvent] = []
        for index, (sent, part) in enumerate(zip(self.parts, message.parts, strict=True)):
            if sent.id and not sent.is_ended:
                events += _break_off(sent, index, part, reason)
        events.append(Finished(message.outcome, reason, message))
        return Progress(self.name, message, self.parts, True, self.prefix), events


def describe_end(message: Message, describe: Describe) -> str | None:
    """Return why a message ended badly, for people; `None` if it ended well or has not ended."""
    outcome = message.outcome
    if outcome in {Outcome.COMPLETE, Outcome.STREAMING}:
        return None
    return describe(message.errors[0]) if message.errors else f"the message is {outcome.value}"


def describe_plainly(error: ErrorDetail) -> str:
    """Describe an error in its own words."""
    return error.message


def make_id(name: str, index: int) -> str:
    """Return an id for a part that has none."""
    return f"{name}-{index}"


class _Emitter:
    """Collects the events of one message, part by part."""

    __slots__ = ("_describe", "_message", "_name", "_prefix", "events", "is_over")

    def __init__(self, name: str, message: Message, describe: Describe, prefix: str) -> None:
        self.events: Final[list[MessageEvent]] = []
        self.is_over: Final = message.outcome is not Outcome.STREAMING
        self._name: Final = name
        self._prefix: Final = prefix
        self._message: Final = message
        self._describe: Final = describe

    def emit(self, sent: PartProgress, index: int, part: Part) -> PartProgress:
        """Add what is new in a part; return how much of it is sent then."""
        if isinstance(part, BaseCall):
            return self._emit_call(sent, index, part)
        if isinstance(part, GrowingPart):
            return self._emit_text(sent, index, part)
        if sent.is_ended or (part.is_open and not self.is_over):
            return sent
        part_id = make_id(self._name, index)
        self.events.append(PartAdded(part, index, part_id))
        return PartProgress(part_id, is_ended=True)

    def _emit_text(self, sent: PartProgress, index: int, part: GrowingPart) -> PartProgress:
        kind = kind_of(part)
        text = part.growing_text
        delta = text.tail(text.length - sent.length)
        text_id, is_ended, count = sent.id, sent.is_ended, sent.count
        is_secret = not text_id and must_go_back(part) and (self.is_over or not part.is_open)
        if is_secret or (delta and (not text_id or is_ended)):
            count, is_ended = count + 1, False
            text_id = make_id(self._name, index) if count == 1 else f"{make_id(self._name, index)}-{count}"
            self.events.append(TextStarted(index, kind, text_id))
        if delta:
            self.events.append(_DELTAS[kind](index, delta, text_id))
        if text_id and not is_ended and (self.is_over or not part.is_open):
            is_ended = True
            self.events.append(TextFinished(index, kind, text_id))
        return PartProgress(text_id, "", text.length, is_ended, count)

    def _emit_call(self, sent: PartProgress, index: int, call: BaseCall) -> PartProgress:
        if sent.is_ended or not call.name:
            return sent
        on_server, call_id = isinstance(call, ServerCall), sent.id
        if call_id and on_server and not sent.on_server:  # nobody else may run it
            invalid = Outcome.INVALID.value
            self.events.append(CallFailed(index, sent.name, call_id, call.partial, invalid, _ON_SERVER))
            sent, call_id = _NEW, f"{call_id}-on-server"
        if not sent.id:
            call_id = call_id or self._id_of(call, index)
            sent = PartProgress(call_id, call.name, on_server=on_server)
            self.events.append(CallStarted(index, call.name, call_id, on_server))
        try:
            delta, length, writer = _grow_arguments(sent, call)
        except SnapshotConflict as error:  # the whole contradicts the part that was sent: nobody may run it
            invalid = Outcome.INVALID.value
            self.events.append(CallFailed(index, sent.name, call_id, call.partial, invalid, str(error)))
            return PartProgress(call_id, sent.name, sent.length, is_ended=True)
        is_ready = isinstance(call, CompleteCall)
        if is_ready and not length and not delta:
            delta = "{}"  # a call without arguments
        if delta:
            self.events.append(ArgumentsDelta(index, delta, call_id, on_server))
        is_ended = self.is_over or is_ready or (isinstance(call, ServerCall) and self._has_result(call, index))
        if is_ended:
            self._end_call(sent, index, call)
        return PartProgress(call_id, sent.name, length, is_ended, writer=writer, on_server=on_server)

    def _id_of(self, call: BaseCall, index: int) -> str:
        """Return the provider's id of a call, unless an earlier call has the same one."""
        others = self._message.parts[:index]
        is_taken = any(isinstance(part, BaseCall) and part.id == call.id for part in others)
        return make_id(self._name, index) if is_taken or not call.id else self._prefix + call.id

    def _has_result(self, call: ServerCall, index: int) -> bool:
        """Return whether all is known of a provider's tool; its result may come in a later part."""
        later = self._message.parts[index + 1 :]
        return has_run(call) and any([isinstance(part, (GrowingPart, BaseCall)) or not part.is_open for part in later])

    def _end_call(self, sent: PartProgress, index: int, call: BaseCall) -> None:
        if isinstance(call, CompleteCall):
            self.events.append(CallFinished(call, index, sent.name, sent.id))
        elif isinstance(call, ServerCall):
            self.events.append(ServerCallFinished(call, index, sent.name, sent.id))
        elif isinstance(call, PartialCall):
            status = call.status.value
            reason = f"the call is {status}" if call.error is None else self._describe(call.error)
            self.events.append(CallFailed(index, sent.name, sent.id, call.partial, status, reason))


def kind_of(part: GrowingPart) -> TextKind:
    """Return the kind of text in a part."""
    if isinstance(part, ReasoningPart):
        return "reasoning"
    return "refusal" if isinstance(part, Refusal) else "text"


def must_go_back(part: GrowingPart) -> bool:
    """Return whether the provider wants a part back, though there may be nothing in it for people."""
    fields = (part.signature, part.encrypted, part.item_id) if isinstance(part, ReasoningPart) else ()
    return bool(part.extra) or any([field is not None for field in fields])


def has_run(call: ServerCall) -> bool:
    """Return whether a provider has run a tool; its result may come long after the arguments."""
    return not call.is_open and (call.result is not MISSING or call.status is not None)


def _grow_arguments(sent: PartProgress, call: BaseCall) -> tuple[str, int, SnapshotState | None]:
    """Return the new text of the arguments, how much is sent then, and the writer, if they were mended.

    Front ends parse arguments, so send the mended JSON.
    """
    document = call.document
    text = call.growing_text
    writer = sent.writer
    if isinstance(call, ServerCall):  # some providers write all of it again: it is sent once, when it is whole
        is_sent = sent.length > 0
        return ("", sent.length, None) if call.is_open or is_sent else (text.read(), text.length, None)
    if writer is None:
        is_mended = bool(call.repairs) if document is None else document.is_mended
        if not is_mended:
            return text.tail(text.length - sent.length), text.length, None
        writer = start_snapshots()
    writer, delta = _write_value(writer, call)
    return delta, text.length, writer


def _write_value(writer: SnapshotState, call: BaseCall) -> tuple[SnapshotState, str]:
    value = call.arguments_value if isinstance(call, CompleteCall) else call.partial
    if value is MISSING:
        return writer, ""
    try:
        writer, delta = feed_snapshot_values(writer, value)
    except ValueError:  # a conflict is one too
        if not has_infinity(value):
            raise
        writer, delta = feed_snapshot_values(writer, cast("JsonValue", make_finite(value)))
    if isinstance(call, CompleteCall):
        writer, rest = finish_snapshots(writer)
        delta += rest
    return writer, delta


def _break_off(sent: PartProgress, index: int, part: Part, reason: str) -> list[MessageEvent]:
    """Return the end of a part that is open."""
    if isinstance(part, GrowingPart):
        return [TextFinished(index, kind_of(part), sent.id)]
    if isinstance(part, ServerCall):
        return [ServerCallFinished(part, index, sent.name, sent.id)]
    if isinstance(part, BaseCall):
        return [CallFailed(index, sent.name, sent.id, part.partial, Outcome.TRUNCATED.value, reason)]
    return []
