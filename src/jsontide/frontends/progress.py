"""A growing message in, what is new in it out: the steps that every front end's protocol tells in its own words.

One fold for all protocols, so that all of them keep the same promises:

- a text or call that was begun is ended, on every way out;
- only a call that is complete and valid is `CallReady`, and nothing else says that a call may run (law 9);
- a call begins when its name is known, and its id stays: the provider's, or one that is made, if that gave none, or
  gave one twice;
- a message that is joined late gives the same steps, with all of each text at once.

Rule: a `Progress` is a value; the cost follows what is new, and the number of parts.

The text of a structured answer, which is shown as a value, is left out by `hide_answer`; a text that turns out not to
be a valid answer is sent after all, at the end: from its start to its end, or not at all.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, cast

from jsontide._json_text import make_finite
from jsontide._values import MISSING, JsonValue
from jsontide.frontends.base import DescribeError, describe_end
from jsontide.messages.calls import BaseCall, CompleteCall, Part, PartialCall, ServerCall
from jsontide.messages.document import has_infinity
from jsontide.messages.message import Message
from jsontide.messages.parts import File, GrowingPart, Other, ReasoningPart, Refusal, Source, TextPart
from jsontide.messages.types import Outcome, Usage
from jsontide.snapshots import SnapshotConflict, SnapshotState, add_value, create_snapshot_state, finalize

_ON_SERVER: Final = "the provider runs this tool itself"
TextKind: TypeAlias = Literal["text", "reasoning", "refusal"]


class TextStarted:
    """A text begins: `id` names it until it ends."""

    __slots__ = ("id", "kind")

    def __init__(self, id: str, kind: TextKind) -> None:  # noqa: A002 - what everybody calls it
        self.id: Final = id
        self.kind: Final[TextKind] = kind


class TextGrew:
    """More of a text."""

    __slots__ = ("delta", "id", "kind")

    def __init__(self, id: str, kind: TextKind, delta: str) -> None:  # noqa: A002
        self.id: Final = id
        self.kind: Final[TextKind] = kind
        self.delta: Final = delta


class TextEnded:
    """A text ends; if the model goes on with it, that is another text."""

    __slots__ = ("id", "kind", "part")

    def __init__(self, id: str, kind: TextKind, part: GrowingPart) -> None:  # noqa: A002
        self.id: Final = id
        self.kind: Final[TextKind] = kind
        self.part: Final = part


class CallStarted:
    """A call begins: its name is known."""

    __slots__ = ("id", "name", "on_server")

    def __init__(self, id: str, name: str, on_server: bool) -> None:  # noqa: A002
        self.id: Final = id
        self.name: Final = name
        self.on_server: Final = on_server
        """Whether the provider runs this tool itself."""


class ArgumentsGrew:
    """More of the arguments of a call: pieces that join to JSON, whatever the model wrote."""

    __slots__ = ("delta", "id", "name", "on_server")

    def __init__(self, id: str, name: str, on_server: bool, delta: str) -> None:  # noqa: A002
        self.id: Final = id
        self.name: Final = name
        self.on_server: Final = on_server
        self.delta: Final = delta


class CallReady:
    """A call is complete and valid: it may be run."""

    __slots__ = ("arguments", "id", "name")

    def __init__(self, id: str, name: str, arguments: JsonValue) -> None:  # noqa: A002
        self.id: Final = id
        self.name: Final = name
        self.arguments: Final = arguments


class CallFailed:
    """A call ended without being complete and valid: it must not be run."""

    __slots__ = ("id", "name", "partial", "reason", "status")

    def __init__(self, id: str, name: str, partial: object, status: str, reason: str) -> None:  # noqa: A002
        self.id: Final = id
        self.name: Final = name
        self.partial: Final = partial
        """What is known of the arguments, `MISSING` if nothing is."""
        self.status: Final = status
        """The outcome of the call, such as `truncated`."""
        self.reason: Final = reason


class ServerCallEnded:
    """A call that the provider runs itself has ended; nobody else may run it."""

    __slots__ = ("call", "id", "name")

    def __init__(self, id: str, name: str, call: ServerCall) -> None:  # noqa: A002
        self.id: Final = id
        self.name: Final = name
        self.call: Final = call


class PartAdded:
    """A source, a file, or something else that comes whole."""

    __slots__ = ("id", "part")

    def __init__(self, id: str, part: Source | File | Other) -> None:  # noqa: A002
        self.id: Final = id
        self.part: Final = part


class UsageKnown:
    """What the message costs, as far as the provider says; the last one counts."""

    __slots__ = ("usage",)

    def __init__(self, usage: Usage) -> None:
        self.usage: Final = usage


class Ended:
    """The message has ended, always as the last step; `error` says why, unless it ended well."""

    __slots__ = ("error", "message")

    def __init__(self, message: Message, error: str | None) -> None:
        self.message: Final = message
        self.error: Final = error


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
    | UsageKnown
    | Ended
)
"""Something that is new in a message."""


class PartProgress:
    """How much of a part was told."""

    __slots__ = ("count", "id", "is_ended", "name", "on_server", "sent", "writer")

    def __init__(
        self,
        id: str = "",  # noqa: A002
        name: str = "",
        sent: int = 0,
        is_ended: bool = False,
        count: int = 0,
        writer: SnapshotState | None = None,
        on_server: bool = False,
    ) -> None:
        self.id: Final = id  # empty before the part was begun
        self.name: Final = name
        self.sent: Final = sent  # characters of its text
        self.is_ended: Final = is_ended
        self.count: Final = count  # how often it was begun
        self.writer: Final = writer  # of the arguments, where they are not told as the model wrote them
        self.on_server: Final = on_server  # whether it was begun as a call that the provider runs


_NEW: Final = PartProgress()


class Progress:
    """What was told of a message so far."""

    __slots__ = ("is_over", "message", "name", "parts")

    def __init__(
        self,
        name: str,
        message: Message | None = None,
        parts: tuple[PartProgress, ...] = (),
        is_over: bool = False,
    ) -> None:
        self.name: Final = name
        """What ids begin with that are made."""
        self.message: Final = message
        self.parts: Final = parts
        self.is_over: Final = is_over

    def advance(self, message: Message, describe: DescribeError) -> tuple[Progress, list[Step]]:
        """Return the progress after one more message of the stream, and what is new in it.

        `describe` says what a client is told of an error.
        """
        before = self.message
        if message is before or self.is_over:
            return self, []
        steps: list[Step] = []
        old = () if before is None else before.parts
        is_over = message.outcome is not Outcome.STREAMING
        told = list(self.parts)
        for at, part in enumerate(message.parts):
            if at == len(told):
                told.append(_NEW)
            waits = isinstance(part, ServerCall) and not told[at].is_ended
            if at >= len(old) or old[at] is not part or is_over or waits:
                made_id = f"{self.name}-{at}"
                if isinstance(part, BaseCall):
                    call_id = told[at].id or _id_of(part, message, at) or made_id
                    is_last = is_over or (waits and _goes_on_after(message, at))
                    told[at] = _tell_call(told[at], part, call_id, is_over, is_last, steps, describe)
                else:
                    told[at] = _tell_part(told[at], part, made_id, is_over, steps)
        if message.usage is not None and (before is None or before.usage != message.usage):
            steps.append(UsageKnown(message.usage))
        if is_over:
            steps.append(Ended(message, describe_end(message, describe)))
        return Progress(self.name, message, tuple(told), is_over), steps

    def fail(self, reason: str) -> tuple[Progress, list[Step]]:
        """Return the progress after a failure that no message tells of: what is open ends, and so does the message."""
        message = Message() if self.message is None else self.message
        if self.is_over:
            return self, []
        steps: list[Step] = []
        for told, part in zip(self.parts, message.parts, strict=True):
            _break_off(told, part, reason, steps)
        steps.append(Ended(message, reason))
        return Progress(self.name, message, self.parts, is_over=True), steps


def _id_of(call: BaseCall, message: Message, at: int) -> str | None:
    """Return the provider's id of a call, unless it gave that to a call before, too."""
    is_taken = any(isinstance(part, BaseCall) and part.id == call.id for part in message.parts[:at])
    return None if is_taken else call.id


def _tell_part(
    told: PartProgress, part: GrowingPart | Source | File | Other, made_id: str, is_over: bool, steps: list[Step]
) -> PartProgress:
    if isinstance(part, GrowingPart):
        return _tell_text(told, part, made_id, is_over, steps)
    if told.is_ended or (part.is_open and not is_over):
        return told
    steps.append(PartAdded(made_id, part))
    return PartProgress(made_id, is_ended=True)


def _tell_text(told: PartProgress, part: GrowingPart, made_id: str, is_over: bool, steps: list[Step]) -> PartProgress:
    kind = kind_of(part)
    text = part.growing_text
    delta = text.tail(text.length - told.sent)
    if delta and (not told.id or told.is_ended):
        count = told.count + 1
        told = PartProgress(made_id if count == 1 else f"{made_id}-{count}", "", told.sent, count=count)
        steps.append(TextStarted(told.id, kind))
    if delta:
        steps.append(TextGrew(told.id, kind, delta))
    is_ended = bool(told.id) and not told.is_ended and (is_over or not part.is_open)
    if is_ended:
        steps.append(TextEnded(told.id, kind, part))
    return PartProgress(told.id, "", text.length, told.is_ended or is_ended, told.count)


def kind_of(part: GrowingPart) -> TextKind:
    """Return what kind of text a part is."""
    if isinstance(part, ReasoningPart):
        return "reasoning"
    return "refusal" if isinstance(part, Refusal) else "text"


def _goes_on_after(message: Message, at: int) -> bool:
    """Return whether a message has gone on after a tool of the provider, whose result may come in a part of its own."""
    return any([isinstance(part, (GrowingPart, BaseCall)) or not part.is_open for part in message.parts[at + 1 :]])


def _tell_call(
    told: PartProgress,
    call: BaseCall,
    call_id: str,
    is_over: bool,
    is_last: bool,
    steps: list[Step],
    describe: DescribeError,
) -> PartProgress:
    """Tell what is new of a call; `is_last` says that the result of a tool of the provider is there, if one comes."""
    if told.is_ended or not call.name:
        return told
    on_server = isinstance(call, ServerCall)
    if told.id and on_server and not told.on_server:  # nobody else may run what was told of it
        steps.append(CallFailed(told.id, told.name, call.partial, Outcome.INVALID.value, _ON_SERVER))
        told, call_id = _NEW, f"{told.id}-on-server"
    if not told.id:
        told = PartProgress(call_id, call.name, on_server=on_server)
        steps.append(CallStarted(told.id, told.name, on_server))
    is_ready = isinstance(call, CompleteCall)
    try:
        delta, sent, writer = _grow_arguments(told, call)
    except SnapshotConflict as error:  # the whole differs from what was shown: nobody may run what was told of it
        steps.append(CallFailed(told.id, told.name, call.partial, Outcome.INVALID.value, str(error)))
        return PartProgress(told.id, told.name, told.sent, is_ended=True)
    if is_ready and not sent and not delta:
        delta = "{}"  # a call without arguments
    if delta:
        steps.append(ArgumentsGrew(told.id, told.name, on_server, delta))
    is_ended = is_over or is_ready or (is_last and isinstance(call, ServerCall) and has_run(call))
    if is_ended:
        _end_call(told, call, steps, describe)
    return PartProgress(told.id, told.name, sent, is_ended, writer=writer, on_server=on_server)


def has_run(call: ServerCall) -> bool:
    """Return whether a provider has run a tool; its result may come long after the arguments."""
    return not call.is_open and (call.result is not MISSING or call.status is not None)


def _grow_arguments(told: PartProgress, call: BaseCall) -> tuple[str, int, SnapshotState | None]:
    """Return what is new in the arguments, how much was told then, and the writer, if they were mended.

    Front ends parse what they get, so they get the JSON that was made of a text that is none.
    """
    document = call.document
    text = call.growing_text
    writer = told.writer
    if isinstance(call, ServerCall):  # some providers write all of it again: it is told once, when it is whole
        is_told = told.sent > 0
        return ("", told.sent, None) if call.is_open or is_told else (text.read(), text.length, None)
    if writer is None:
        is_mended = bool(call.repairs) if document is None else document.mend is not None
        if not is_mended:
            return text.tail(text.length - told.sent), text.length, None
        writer = create_snapshot_state()
    writer, delta = _write_value(writer, call)
    return delta, text.length, writer


def _write_value(writer: SnapshotState, call: BaseCall) -> tuple[SnapshotState, str]:
    value = call.arguments_value if isinstance(call, CompleteCall) else call.partial
    if value is MISSING:
        return writer, ""
    try:
        writer, delta = add_value(writer, value)
    except ValueError:  # a conflict is one too
        if not has_infinity(value):
            raise
        writer, delta = add_value(writer, cast("JsonValue", make_finite(value)))
    if isinstance(call, CompleteCall):
        writer, rest = finalize(writer)
        delta += rest
    return writer, delta


def _end_call(told: PartProgress, call: BaseCall, steps: list[Step], describe: DescribeError) -> None:
    if isinstance(call, CompleteCall):
        steps.append(CallReady(told.id, told.name, call.arguments_value))
    elif isinstance(call, ServerCall):
        steps.append(ServerCallEnded(told.id, told.name, call))
    elif isinstance(call, PartialCall):
        status = call.status.value
        reason = f"the call is {status}" if call.error is None else describe(call.error)
        steps.append(CallFailed(told.id, told.name, call.partial, status, reason))


def _break_off(told: PartProgress, part: Part, reason: str, steps: list[Step]) -> None:
    """End a part that is open."""
    if not told.id or told.is_ended:
        return
    if isinstance(part, GrowingPart):
        steps.append(TextEnded(told.id, kind_of(part), part))
    elif isinstance(part, ServerCall):
        steps.append(ServerCallEnded(told.id, told.name, part))
    elif isinstance(part, BaseCall):
        steps.append(CallFailed(told.id, told.name, part.partial, Outcome.TRUNCATED.value, reason))


Hidden: TypeAlias = frozenset[int]
"""The places of text parts that are shown as a value."""


def place_of(name: str, text_id: str) -> int:
    """Return which part a text is, by the id that `Progress(name)` made for it."""
    return int(text_id[len(name) + 1 :].partition("-")[0])


def hide_answer(
    name: str, message: Message, steps: list[Step], hidden: Hidden, *, hides: bool
) -> tuple[list[Step], Hidden]:
    """Return the steps that are to be told, and which parts are hidden then.

    `name` is that of the `Progress`; `hides` tells whether the text of the message is shown as a value.
    """
    kept: list[Step] = []
    for step in steps:
        if isinstance(step, Ended) and not hides:
            kept += _show(name, message, hidden)
        if not isinstance(step, (TextStarted, TextGrew, TextEnded)):
            kept.append(step)
            continue
        at = place_of(name, step.id)
        if isinstance(step, TextStarted) and step.kind == "text" and hides:
            hidden |= {at}
        if at not in hidden:
            kept.append(step)
    return kept, hidden


def _show(name: str, message: Message, hidden: Hidden) -> list[Step]:
    """Return the steps of texts that were hidden, because they seemed to be the answer."""
    steps: list[Step] = []
    for at in sorted(hidden):
        part, text_id = cast("TextPart", message.parts[at]), f"{name}-{at}"
        steps += [TextStarted(text_id, "text"), TextGrew(text_id, "text", part.growing_text.read())]
        steps.append(TextEnded(text_id, "text", part))
    return steps
