"""One message of a model: its parts in order, what it cost, how it ended.

Rule: a message is a value that anybody can build, compare, save and load. What is needed to read on is in
`MessageState`, not here.
"""

from __future__ import annotations

from collections.abc import Callable
from types import GenericAlias
from typing import ClassVar, Final, cast

from jsontide._errors import ParserError, hint_at_mending
from jsontide._textbuffer import GrowingList, GrowingLists
from jsontide._values import MISSING, JsonValue, pack
from jsontide.mend.options import Repair
from jsontide.messages.calls import CompleteCall, Part, PartialCall, ToolCall
from jsontide.messages.document import Document
from jsontide.messages.json_form import read_message, write_message
from jsontide.messages.parts import ReasoningPart, Refusal, Source, TextPart
from jsontide.messages.record import Record, shorten
from jsontide.messages.types import (
    CancelledError,
    EmptyError,
    ErrorDetail,
    ErrorKind,
    ErrorSource,
    FilteredError,
    InvalidError,
    MessageError,
    Outcome,
    RefusedError,
    TruncatedError,
    Usage,
)

_ERRORS: Final[dict[Outcome, type[MessageError]]] = {
    Outcome.STREAMING: MessageError,
    Outcome.TRUNCATED: TruncatedError,
    Outcome.INVALID: InvalidError,
    Outcome.REFUSED: RefusedError,
    Outcome.FILTERED: FilteredError,
    Outcome.CANCELLED: CancelledError,
    Outcome.EMPTY: EmptyError,
}
LENGTH: Final = "length"
"""The finish reason of a message that broke off at the limit of tokens."""
_MOST_ERRORS: Final = 20
"""The largest number of errors in feedback; with more, a model starts again anyway."""
_FEEDBACK_INTRODUCTIONS: Final = {
    Outcome.TRUNCATED: "Your last message broke off at the limit of tokens, before it was complete.",
    Outcome.INVALID: "Your last message could not be used.",
    Outcome.EMPTY: "Your last message was empty.",
}
_FEEDBACK_REQUEST: Final = "Please send it again, complete and corrected."


class FinalAnswer:
    """Structured output that is complete and valid."""

    __slots__ = ("is_text", "model", "repairs", "value")

    def __init__(self, model: object, value: object, repairs: tuple[Repair, ...] = (), is_text: bool = True) -> None:
        self.model: Final = model
        self.value: Final = value
        """The same as plain JSON."""
        self.repairs: Final = repairs
        self.is_text: Final = is_text
        """Whether it is the text of the message, and not the arguments of a call."""

    def __copy__(self) -> FinalAnswer:
        return self

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return FinalAnswer, (pack(self.model), pack(self.value), self.repairs, self.is_text)


class LateUsage:
    """What a message cost, made when it is asked for: where each event says it, most are replaced before."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: Usage | None = None

    def make(self) -> Usage:
        """Return the usage; it is called once."""
        raise NotImplementedError

    def read(self) -> Usage:
        if self._made is None:
            self._made = self.make()
        return self._made


class Message(Record):
    """A model's message so far; it never changes."""

    __slots__ = (
        "_answer",
        "_metadata",
        "_repairs",
        "_usage",
        "created",
        "errors",
        "finish_reason",
        "id",
        "model",
        "outcome",
        "parts",
        "provider",
        "raw_finish_reason",
        "role",
    )

    FIELDS: ClassVar[tuple[str, ...]] = (
        "parts",
        "outcome",
        "finish_reason",
        "raw_finish_reason",
        "usage",
        "id",
        "model",
        "provider",
        "created",
        "role",
        "errors",
        "metadata",
        "repairs",
    )
    KEPT: ClassVar[dict[str, str]] = {
        "usage": "_usage",
        "metadata": "_metadata",
        "repairs": "_repairs",
        "answer": "_answer",
    }

    def __init__(
        self,
        parts: tuple[Part, ...] = (),
        outcome: Outcome = Outcome.STREAMING,
        finish_reason: str | None = None,
        raw_finish_reason: str | None = None,
        usage: Usage | LateUsage | None = None,
        id: str | None = None,  # noqa: A002 - what everybody calls it
        model: str | None = None,
        provider: str | None = None,
        created: object = None,
        role: str = "assistant",
        errors: tuple[ErrorDetail, ...] = (),
        metadata: dict[str, object] | None = None,
        repairs: tuple[Repair, ...] = (),
        answer: object = MISSING,
    ) -> None:
        self.parts: Final = parts
        """In the order in which the provider began them."""
        self.outcome: Final = outcome
        """How the message ended; `STREAMING` before the end."""
        self.finish_reason: Final = finish_reason
        """Why the message ended: `stop`, `length`, `content_filter`, another, or the provider's own word.

        `tool_calls`, whatever the provider calls it, if the message ended normally and has calls to run.
        """
        self.raw_finish_reason: Final = raw_finish_reason
        """The same in the provider's words."""
        self._usage: Final = usage
        self.id: Final = id
        self.model: Final = model
        """The model that answered, in the provider's words."""
        self.provider: Final = provider
        """The provider whose stream it is, such as `anthropic`."""
        self.created: Final = cast("float | None", created)
        """When it was made, in seconds since 1970."""
        self.role: Final = role
        self.errors: Final = errors
        """The errors; shown at the end."""
        self._metadata: Final = metadata
        self._repairs: Final = repairs
        self._answer: Final = answer

    @property
    def usage(self) -> Usage | None:
        """What it cost; `None` until the provider reports it."""
        usage = self._usage
        return usage.read() if isinstance(usage, LateUsage) else usage

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """What was mended in the structured output, in the order of its text; calls have their own."""
        answer = self.answer_state
        return self._repairs if answer is None else answer.repairs

    @property
    def metadata(self) -> dict[str, JsonValue]:
        """What no field holds, as the provider wrote it: service tier, fingerprint, timings, log probabilities."""
        kept = self._metadata or {}
        return cast(
            "dict[str, JsonValue]",
            {
                name: value.read() if isinstance(value, (GrowingList, GrowingLists)) else value
                for name, value in kept.items()
            },
        )

    @property
    def answer(self) -> object:
        """The structured output: a `Partial` while it grows, the instance when it is complete and valid.

        `MISSING` while nothing may be shown, and where no schema was given.
        """
        answer = self._answer
        if isinstance(answer, Document):
            return answer.partial
        return answer.model if isinstance(answer, FinalAnswer) else answer

    @property
    def answer_state(self) -> Document | FinalAnswer | None:
        """The structured output as it is read, and as it is once it is valid; `None` without a schema."""
        answer = self._answer
        return answer if isinstance(answer, (Document, FinalAnswer)) else None

    @property
    def text_is_answer(self) -> bool:
        """Whether the text is read as the answer; the answer can be a call instead, with text beside it."""
        answer = self._answer
        if isinstance(answer, FinalAnswer):
            return answer.is_text
        return isinstance(answer, Document) and answer.binding is not None and answer.binding.is_text

    @property
    def content(self) -> str:
        """The text of all text parts."""
        return "".join([part.text for part in self.parts if isinstance(part, TextPart)])

    @property
    def reasoning(self) -> str:
        """What the model says about its thinking."""
        return "".join([part.text for part in self.parts if isinstance(part, ReasoningPart)])

    @property
    def refusal(self) -> str:
        """Why the model refused to answer."""
        return "".join([part.text for part in self.parts if isinstance(part, Refusal)])

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls for the caller to run, in the order in which they began."""
        return tuple([part for part in self.parts if isinstance(part, (CompleteCall, PartialCall))])

    @property
    def sources(self) -> tuple[Source, ...]:
        """The pages and documents that the answer is based on."""
        return tuple([part for part in self.parts if isinstance(part, Source)])

    @property
    def pending_actions(self) -> tuple[Part, ...]:
        """The parts that wait for the caller beside its tool calls: approvals, patches, commands."""
        return tuple([part for part in self.parts if part.needs_action])

    def raise_for_outcome(self) -> None:
        """Raise the `MessageError` for how the message ended, unless it is complete."""
        outcome = self.outcome
        if outcome is Outcome.COMPLETE:
            return
        first = self.errors[0] if self.errors else None
        why = f"the message is {outcome.value}"
        if first is not None:
            why = f"{why}: {first.message}"
            found = first.cause
            hint = hint_at_mending(found) if isinstance(found, ParserError) and self._is_strict(first.source) else ""
            why = f"{why}; {hint}" if hint else why
        elif self.refusal:
            why = f"{why}: {shorten(self.refusal)}"
        elif self.finish_reason is not None and outcome is not Outcome.EMPTY:
            why = f"{why}: the provider ended it with {self.raw_finish_reason or self.finish_reason!r}"
        cause = None if first is None else first.cause
        error = _ERRORS[outcome](why, self)
        error.__cause__ = cause if isinstance(cause, BaseException) else None  # mypyc drops what follows `from`
        raise error

    def _is_strict(self, source: ErrorSource) -> bool:
        """Return whether the answer or the call of an error is there and was not mended."""
        if source == "content":
            return not self.repairs
        calls = self.tool_calls
        return isinstance(source, int) and 0 <= source < len(calls) and not calls[source].repairs

    def result(self) -> object:
        """Return the answer as an instance of the schema's type; raise what `raise_for_outcome` raises.

        A complete message without structured output raises `MessageError` too: it calls tools instead, or was read
        without a `response_schema`.
        """
        self.raise_for_outcome()
        answer = self._answer
        if isinstance(answer, FinalAnswer):
            return answer.model
        if answer is not MISSING and not isinstance(answer, Document):
            return answer
        why = "it calls tools" if self.tool_calls else "it was read without a response_schema"
        raise MessageError(f"the message has no structured output: {why}", self)

    def feedback(self) -> str:
        """Return what was wrong with the structured output or the calls, as text to send back to the model.

        Empty if nothing was.
        """
        return _write_feedback(self)

    def to_json(self) -> str:
        """Return the message as JSON text, in a documented form that later versions read too."""
        answer = self.answer_state
        return write_message(self, self._answer if answer is None else answer.value)

    @staticmethod
    def from_json(text: object) -> Message:
        """Return the message that `to_json` wrote, from its text or from the parsed object.

        Instances of your types are not in it: `answer` is plain JSON, and so are the arguments of calls.
        """
        return _make_message(**read_message(text, Message.FIELDS))

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Message, (*[pack(field) for field in self._fields()], pack(self._answer))

    @classmethod
    def __class_getitem__(cls, item: object) -> GenericAlias:
        return GenericAlias(cls, (item,))

    def __repr__(self) -> str:
        calls = "".join([f", {call!r}" for call in self.tool_calls])
        return f"<Message {self.outcome.name} {shorten(self.content)!r}{calls}>"


_make_message: Final = cast("Callable[..., Message]", Message)


def _write_feedback(message: Message) -> str:
    """Return the errors of the structured output and the calls, as text for the model; empty if there are none.

    Faults that are not the model's are left out: a stream that failed, broke off, or ended for another reason.
    """
    if any([error.source == "stream" for error in message.errors]):
        return ""
    introduction = _FEEDBACK_INTRODUCTIONS.get(message.outcome)
    details = [error for error in message.errors if error.kind is not ErrorKind.TRANSPORT]
    if message.outcome is Outcome.TRUNCATED and message.finish_reason != LENGTH:
        introduction = None
    if introduction is None and not details:
        return ""
    lines = [introduction or _FEEDBACK_INTRODUCTIONS[Outcome.INVALID]]
    lines += [f"- {_describe_error(message, error)}" for error in details[:_MOST_ERRORS]]
    if len(details) > _MOST_ERRORS:
        lines.append(f"- and {len(details) - _MOST_ERRORS} more")
    return "\n".join([*lines, _FEEDBACK_REQUEST])


def _describe_error(message: Message, error: ErrorDetail) -> str:
    where = "the answer"
    if isinstance(error.source, int):
        name = message.tool_calls[error.source].name if 0 <= error.source < len(message.tool_calls) else None
        where = f"the call of {name}" if name else f"call {error.source + 1}"
    return f"{where}: {error.message}"
