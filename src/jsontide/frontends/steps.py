"""What encoders do with the events of a message, whatever their protocol is.

Where a structured answer is shown as a value, `drop_answer_text` leaves out its text; a text that turns out not to be a
valid answer is sent at the end, whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar, cast

from jsontide.messages.message import Message
from jsontide.messages.parts import BasePart, File, GrowingPart, Other, ReasoningPart, Refusal, Source, TextPart
from jsontide.messages.types import ErrorKind, Outcome
from jsontide.snapshots import SnapshotConflict, SnapshotState, feed_snapshot_values, finish_snapshots, start_snapshots

_ON_SERVER: Final = "the provider runs this tool itself"
TextKind: TypeAlias = Literal["text", "reasoning", "refusal"]


@dataclass(slots=True)
class _PartStep:
    id: str
    """Names the text, call or part until it ends."""
    index: int
    """Which part of the message it is."""


@dataclass(slots=True)
class TextStarted(_PartStep):
    """A text starts."""

    kind: TextKind


@dataclass(slots=True)
class TextGrew(_PartStep):
    """More of a text."""

    kind: TextKind
    delta: str


@dataclass(slots=True)
class TextEnded(_PartStep):
    """A text ends; if the model goes on with it, that is another text."""

    kind: TextKind


@dataclass(slots=True)
class CallStarted(_PartStep):
    """A call starts: its name is known."""

    name: str
    on_server: bool
    """Whether the provider runs this tool itself."""


@dataclass(slots=True)
class ArgumentsGrew(_PartStep):
    """More of the arguments of a call: pieces that join to JSON, whatever the model wrote."""

    on_server: bool
    delta: str


@dataclass(slots=True)
class CallReady(_PartStep):
    """A call is complete and valid: it may be run."""

    name: str
    arguments: JsonValue


@dataclass(slots=True)
class CallFailed(_PartStep):
    """A call ended without being complete and valid: it must not be run."""

    name: str
    partial: object
    """The arguments so far, `MISSING` if nothing is known of them."""
    status: str
    """The outcome of the call, such as `truncated`."""
    reason: str


@dataclass(slots=True)
class ServerCallEnded(_PartStep):
    """A call that the provider runs itself has ended; nobody else may run it."""

    name: str
    call: ServerCall


@dataclass(slots=True)
class PartAdded(_PartStep):
    """A part that comes whole: a source, a file, or something else."""

    part: Source | File | Other


@dataclass(slots=True)
class Ended:
    """The message has ended, always as the last step; `error` says why, unless it ended well."""

    message: Message
    error: str | None


Step: TypeAlias = (
    TextStarted
    | TextGrew
    | TextEnded
    | CallStarted
    | ArgumentsGrew
    | CallReady
    | CallFailed
    | ServerCallEnded
    | PartAdded
    | Ended
)
from jsontide.messages.types import ErrorKind

Hidden: TypeAlias = frozenset[int]
"""The indexes of text parts that are shown as a value."""
_Other = TypeVar("_Other")


def drop_answer_text(
    progress: Progress, events: Sequence[MessageEvent | _Other], hidden: Hidden, *, hides: bool, shows: bool
) -> tuple[list[MessageEvent | _Other], Hidden]:
    """Return the events without the text of the answer, and which parts are hidden then.

    `hides` says that a text which starts now is the answer; `shows`, that the end sends the hidden texts.
    """
    kept: list[MessageEvent | _Other] = []
    for event in events:
        if isinstance(event, TextStarted) and event.kind == "text" and hides:
            hidden |= {event.part}
        if isinstance(event, Finished) and shows:
            for index in sorted(hidden):
                kept += _whole_text(progress, index)
        if not isinstance(event, (TextStarted, GrowingDelta, TextFinished)) or event.part not in hidden:
            kept.append(event)
    return kept, hidden


def _whole_text(progress: Progress, index: int) -> list[MessageEvent]:
    part = cast("TextPart", cast("Message", progress.message).parts[index])
    text_id = make_id(progress.name, index)
    return [
        TextStarted(index, "text", text_id),
        TextDelta(index, part.text, text_id),
        TextFinished(index, "text", text_id),
    ]


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

    def advance(self, message: Message, describe: DescribeError) -> tuple[Progress, list[Step]]:
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
        steps = emitter.steps
        if emitter.is_over:
            steps.append(Ended(message, describe_end(message, describe)))
        return Progress(self.name, message, tuple(sent), emitter.is_over, self.prefix), steps

    def fail(self, reason: str) -> tuple[Progress, list[Step]]:
        """Return the progress after a failure outside the message: all that is open ends, and so does the message."""
        message = Message() if self.message is None else self.message
        if self.is_over:
            return self, []
        steps: list[Step] = []
        for index, (sent, part) in enumerate(zip(self.parts, message.parts, strict=True)):
            if sent.id and not sent.is_ended:
                steps += _break_off(sent, index, part, reason)
        steps.append(Ended(message, reason))
        return Progress(self.name, message, self.parts, True, self.prefix), steps

    def drop_answer_text(
        self, steps: Sequence[Step | _Other], hidden: Hidden, *, hides: bool, shows: bool
    ) -> tuple[list[Step | _Other], Hidden]:
        """Return the steps without the text of the answer, and which parts are hidden then.

        `hides` says that a text which starts now is the answer; `shows`, that the end sends the hidden texts.
        """
        kept: list[Step | _Other] = []
        for step in steps:
            if isinstance(step, TextStarted) and step.kind == "text" and hides:
                hidden |= {step.index}
            if isinstance(step, Ended) and shows:
                for index in sorted(hidden):
                    kept += self._whole_text(index)
            if not isinstance(step, (TextStarted, TextGrew, TextEnded)) or step.index not in hidden:
                kept.append(step)
        return kept, hidden

    def _whole_text(self, index: int) -> list[Step]:
        part = cast("TextPart", cast("Message", self.message).parts[index])
        text_id = make_id(self.name, index)
        return [
            TextStarted(text_id, index, "text"),
            TextGrew(text_id, index, "text", part.text),
            TextEnded(text_id, index, "text"),
        ]


def first_failed(steps: Sequence[Step]) -> CallFailed | None:
    """Return the first call among steps that must not be run."""
    return next((step for step in steps if isinstance(step, CallFailed)), None)


def is_lost(message: Message) -> bool:
    """Return whether the connection to the provider failed."""
    return any(error.kind is ErrorKind.TRANSPORT for error in message.errors)


def make_id(name: str, index: int) -> str:
    """Return an id for a part that has none."""
    return f"{name}-{index}"


class _Emitter:
    """Collects the steps of one message, part by part."""

    __slots__ = ("_describe", "_message", "_name", "_prefix", "is_over", "steps")

    def __init__(self, name: str, message: Message, describe: DescribeError, prefix: str) -> None:
        self.steps: Final[list[Step]] = []
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
        self.steps.append(PartAdded(part_id, index, part))
        return PartProgress(part_id, is_ended=True)

    def _emit_text(self, sent: PartProgress, index: int, part: GrowingPart) -> PartProgress:
        kind = kind_of(part)
        text = part.growing_text
        delta = text.tail(text.length - sent.length)
        text_id, is_ended, count = sent.id, sent.is_ended, sent.count
        is_secret = not text_id and has_secret(part) and (self.is_over or not part.is_open)
        if is_secret or (delta and (not text_id or is_ended)):
            count, is_ended = count + 1, False
            text_id = make_id(self._name, index) if count == 1 else f"{make_id(self._name, index)}-{count}"
            self.steps.append(TextStarted(text_id, index, kind))
        if delta:
            self.steps.append(TextGrew(text_id, index, kind, delta))
        if text_id and not is_ended and (self.is_over or not part.is_open):
            is_ended = True
            self.steps.append(TextEnded(text_id, index, kind))
        return PartProgress(text_id, "", text.length, is_ended, count)

    def _emit_call(self, sent: PartProgress, index: int, call: BaseCall) -> PartProgress:
        if sent.is_ended or not call.name:
            return sent
        on_server, call_id = isinstance(call, ServerCall), sent.id
        if call_id and on_server and not sent.on_server:  # nobody else may run it
            invalid = Outcome.INVALID.value
            self.steps.append(CallFailed(call_id, index, sent.name, call.partial, invalid, _ON_SERVER))
            sent, call_id = _NEW, f"{call_id}-on-server"
        if not sent.id:
            call_id = call_id or self._id_of(call, index)
            sent = PartProgress(call_id, call.name, on_server=on_server)
            self.steps.append(CallStarted(call_id, index, call.name, on_server))
        try:
            delta, length, writer = _grow_arguments(sent, call)
        except SnapshotConflict as error:  # the whole contradicts the part that was sent: nobody may run it
            invalid = Outcome.INVALID.value
            self.steps.append(CallFailed(call_id, index, sent.name, call.partial, invalid, str(error)))
            return PartProgress(call_id, sent.name, sent.length, is_ended=True)
        is_ready = isinstance(call, CompleteCall)
        if is_ready and not length and not delta:
            delta = "{}"  # a call without arguments
        if delta:
            self.steps.append(ArgumentsGrew(call_id, index, on_server, delta))
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
            self.steps.append(CallReady(sent.id, index, sent.name, call.arguments_value))
        elif isinstance(call, ServerCall):
            self.steps.append(ServerCallEnded(sent.id, index, sent.name, call))
        elif isinstance(call, PartialCall):
            status = call.status.value
            reason = f"the call is {status}" if call.error is None else self._describe(call.error)
            self.steps.append(CallFailed(sent.id, index, sent.name, call.partial, status, reason))


def kind_of(part: GrowingPart) -> TextKind:
    """Return the kind of text in a part."""
    if isinstance(part, ReasoningPart):
        return "reasoning"
    return "refusal" if isinstance(part, Refusal) else "text"


def has_secret(part: BasePart) -> bool:
    """Return whether a part must go back to its provider, though there may be nothing in it for people."""
    fields = (part.signature, part.encrypted, part.item_id) if isinstance(part, ReasoningPart) else ()
    return bool(part.extra or any([field is not None for field in fields]))


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
        is_mended = bool(call.repairs) if document is None else document.mend is not None
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


def _break_off(sent: PartProgress, index: int, part: Part, reason: str) -> list[Step]:
    """Return the end of a part that is open."""
    if isinstance(part, GrowingPart):
        return [TextEnded(sent.id, index, kind_of(part))]
    if isinstance(part, ServerCall):
        return [ServerCallEnded(sent.id, index, sent.name, part)]
    if isinstance(part, BaseCall):
        return [CallFailed(sent.id, index, sent.name, part.partial, Outcome.TRUNCATED.value, reason)]
    return []
