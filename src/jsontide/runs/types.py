"""Plain types around a run: how it ended, its steps, what becomes of each call, and what else can happen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, get_args

from jsontide._check import check_choice, check_type
from jsontide._values import MISSING
from jsontide.messages import Message, ToolResult
from jsontide.messages.calls import BaseCall
from jsontide.messages.types import check_texts

if TYPE_CHECKING:
    from jsontide.messages import ToolCall
    from jsontide.runs.run import Run


class RunOutcome(Enum):
    """What the end of a run means; where a message ended it, the same as the outcome of that message."""

    STREAMING = "streaming"
    """There is no end yet."""
    COMPLETE = "complete"
    """The last message is complete, and calls nothing."""
    WAITING = "waiting"
    """A person must decide whether some calls may run."""
    LIMIT = "limit"
    """There were as many steps as were allowed, and the model wanted more."""
    TRUNCATED = "truncated"
    INVALID = "invalid"
    REFUSED = "refused"
    FILTERED = "filtered"
    EMPTY = "empty"
    CANCELLED = "cancelled"
    """The caller stopped it."""
    FAILED = "failed"
    """Something around the messages failed: the request, or what the caller does between them."""


PendingStatus: TypeAlias = Literal["queued", "waiting", "running"]
_STATUSES: Final = get_args(PendingStatus)


@dataclass(frozen=True, slots=True)
class PendingResult:
    """The place of a result that is not there yet."""

    call: ToolCall
    status: PendingStatus = "queued"
    """`queued` before it starts, `waiting` while a person must decide, `running` from before it starts to its end."""
    progress: object = MISSING
    """The last value that the tool yielded."""
    reason: str | None = None
    """Why a person must decide."""

    def __post_init__(self) -> None:
        check_type("call", self.call, BaseCall, "a call of a message")
        check_choice("status", self.status, _STATUSES)
        check_texts(self, "reason")


Result: TypeAlias = PendingResult | ToolResult


@dataclass(frozen=True, slots=True)
class Step:
    """One message of a run, and the results of its calls, in their order; none before the message has ended."""

    message: Message[Any]
    results: tuple[Result, ...] = ()

    def __post_init__(self) -> None:
        check_type("message", self.message, Message, "a Message")
        if self.results and [id(one.call) for one in self.results] != [id(call) for call in self.message.tool_calls]:
            raise ValueError("results must be those of the calls of the message, in their order")


@dataclass(frozen=True, slots=True)
class StepStarted:
    """The next message begins."""

    waited: float | None = None
    """How many seconds the provider took to begin its answer, if that was measured."""


@dataclass(frozen=True, slots=True)
class StepEnded:
    """The provider's stream is over, and so is the message."""


@dataclass(frozen=True, slots=True)
class ToolWaits:
    """A person must decide whether a call may run."""

    call_id: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call is about to run; fed before it does, so that nothing that may have run is started again."""

    call_id: str


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A tool yielded a value."""

    call_id: str
    value: object


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """The result of a call is there."""

    call_id: str
    result: ToolResult


RunInput: TypeAlias = StepStarted | StepEnded | ToolWaits | ToolStarted | ToolProgress | ToolFinished


class RunSink(Protocol):
    """Takes what happens in a run while it happens, as a `RunRecorder` of `jsontide.recordings` does."""

    def write(self, event: object, /) -> object:
        """Take the next event.

        The run that begins or goes on comes first; then what a provider sends, as it was received, the exception of a
        stream that failed, or one of `RunInput`.
        """

    def finish(self, run: Run[Any], /) -> object:
        """Take the run at its end."""
