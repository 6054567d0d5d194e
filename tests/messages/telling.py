"""Short ways to write what a provider streams."""

from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import accumulate
from typing import Any

from jsontide.messages import (
    Choice,
    CompletionChunk,
    Delta,
    Message,
    MessageConfig,
    MessageState,
    ToolCallDelta,
    feed_message,
    finish_message,
    start_message,
)
from jsontide.messages.document import Document
from jsontide.messages.message import FinalAnswer

Arguments = str | Mapping[str, object] | None


def delta(reason: str | None = None, **said: Any) -> CompletionChunk:
    return CompletionChunk(choices=(Choice(delta=Delta(**said), finish_reason=reason),))


def text(content: str) -> CompletionChunk:
    return delta(content=content)


def entry(arguments: Arguments = None, **said: Any) -> ToolCallDelta:
    return ToolCallDelta(arguments=arguments, **said)


def call(arguments: Arguments = None, **said: Any) -> CompletionChunk:
    return delta(tool_calls=(entry(arguments, **said),))


def end(reason: str = "tool_calls") -> CompletionChunk:
    return delta(reason)


def fed(chunks: Iterable[CompletionChunk], config: MessageConfig | None = None) -> MessageState:
    return reduce(feed_message, chunks, start_message(config))


def trail(chunks: Iterable[CompletionChunk], config: MessageConfig | None = None) -> list[MessageState]:
    return list(accumulate(chunks, feed_message, initial=start_message(config)))


def finished(chunks: Iterable[CompletionChunk], config: MessageConfig | None = None) -> MessageState:
    return finish_message(fed(chunks, config))


def shown_answer(message: Message[Any]) -> Any:
    """What may be shown of the answer, as plain JSON, also when there is an instance."""
    answer = message._answer
    return answer.value if isinstance(answer, Document | FinalAnswer) else answer


def values(state: MessageState) -> list[tuple[Any, ...]]:
    """The id, name and arguments to run of every call; it raises where one cannot be run."""
    return [(call.id, call.name, call.arguments_value) for call in state.message.tool_calls]  # type: ignore[union-attr]
