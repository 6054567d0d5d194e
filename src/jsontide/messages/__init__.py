"""A provider's stream in, a growing message out: text, reasoning, tool calls, structured output, and how it ended."""

from typing import TYPE_CHECKING, Generic

from jsontide._public import lazily, publish
from jsontide.messages.calls import PartialCall, ServerCall
from jsontide.messages.options import MessageConfig, Tool, ToolResult, UserMessage
from jsontide.messages.parts import File, Other, ReasoningPart, Refusal, Source, TextPart
from jsontide.messages.state import MessageState
from jsontide.messages.types import (
    ArgumentsMode,
    CancelledError,
    Choice,
    Citation,
    CompletionChunk,
    Delta,
    EmptyError,
    ErrorDetail,
    ErrorKind,
    FilteredError,
    IncompleteCallError,
    InvalidError,
    MessageError,
    Outcome,
    ProviderError,
    ProviderErrorKind,
    RefusedError,
    ToolCallDelta,
    TruncatedError,
    Usage,
)

if TYPE_CHECKING:
    from enum import Enum
    from typing import Any, TypeAlias

    from typing_extensions import TypeVar

    from jsontide._values import Missing
    from jsontide.messages import calls, message, progress
    from jsontide.messages.progress import (
        ArgumentsDelta,
        CallFailed,
        CallStarted,
        PartAdded,
        ReasoningDelta,
        RefusalDelta,
        ServerCallFinished,
        TextDelta,
        TextFinished,
        TextStarted,
        UsageChanged,
    )
    from jsontide.schema import Partial

    _Answer = TypeVar("_Answer", default=Any)
    _Args_co = TypeVar("_Args_co", default=Any, covariant=True)
    _Ending = TypeVar("_Ending", bound=Enum)

    # Native classes cannot have type parameters, so these are declared for type checkers only.

    class CompleteCall(calls.CompleteCall, Generic[_Args_co]):
        @property
        def arguments_model(self) -> _Args_co: ...

    ToolCall: TypeAlias = CompleteCall[Any] | PartialCall
    Part: TypeAlias = (
        TextPart | ReasoningPart | CompleteCall[Any] | PartialCall | ServerCall | Refusal | Source | File | Other
    )

    class Message(message.Message, Generic[_Answer]):
        parts: tuple[Part, ...]  # type: ignore[misc]  # the same, with the public name of complete calls

        @property
        def answer(self) -> _Answer | Partial[_Answer] | Missing: ...
        def result(self) -> _Answer: ...
        @property
        def tool_calls(self) -> tuple[ToolCall, ...]: ...
        @staticmethod
        def from_json(text: object) -> "Message[Any]": ...

    class CallFinished(progress.CallFinished):
        call: CompleteCall[Any]

    class Finished(progress.Finished[_Ending]):
        message: Message[Any]

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
    MessageEvent: TypeAlias = PartEvent | UsageChanged | Finished[Outcome]

    # What the functions take; at run time they check it themselves.

    def start_message(config: MessageConfig | None = None) -> MessageState: ...
    def feed_message(state: MessageState, chunk: CompletionChunk) -> MessageState: ...
    def finish_message(state: MessageState) -> MessageState: ...
    def stop_message(state: MessageState) -> MessageState: ...
    def fail_message(state: MessageState, error: BaseException | str) -> MessageState: ...

else:
    from jsontide.messages.calls import CompleteCall, Part, ToolCall
    from jsontide.messages.draft import feed_message
    from jsontide.messages.ending import fail_message, finish_message, stop_message
    from jsontide.messages.message import Message
    from jsontide.messages.state import start_message

    __getattr__ = lazily(__name__, "jsontide.messages.progress")

__all__ = [
    "ArgumentsDelta",
    "ArgumentsMode",
    "CallFailed",
    "CallFinished",
    "CallStarted",
    "CancelledError",
    "Choice",
    "Citation",
    "CompleteCall",
    "CompletionChunk",
    "Delta",
    "EmptyError",
    "ErrorDetail",
    "ErrorKind",
    "File",
    "FilteredError",
    "Finished",
    "IncompleteCallError",
    "InvalidError",
    "Message",
    "MessageConfig",
    "MessageError",
    "MessageEvent",
    "MessageState",
    "Other",
    "Outcome",
    "Part",
    "PartAdded",
    "PartEvent",
    "PartialCall",
    "ProviderError",
    "ProviderErrorKind",
    "ReasoningDelta",
    "ReasoningPart",
    "Refusal",
    "RefusalDelta",
    "RefusedError",
    "ServerCall",
    "ServerCallFinished",
    "Source",
    "TextDelta",
    "TextFinished",
    "TextPart",
    "TextStarted",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolResult",
    "TruncatedError",
    "Usage",
    "UsageChanged",
    "UserMessage",
    "fail_message",
    "feed_message",
    "finish_message",
    "start_message",
    "stop_message",
]

publish(__name__, __all__, globals())
