"""Completion chunks in, a streaming assistant message out: structured output, tool calls, errors, and how it ended."""

from jsontide._public import publish
from jsontide.messages._calls import CompleteCall, PartialCall, ToolCall
from jsontide.messages._chunks import Choice, CompletionChunk, Delta, Spelling, ToolCallDelta
from jsontide.messages._config import MessageConfig, Tool
from jsontide.messages._message import Message
from jsontide.messages._outcome import ErrorKind, IncompleteCallError, MessageError, Outcome
from jsontide.messages._reduce import (
    MessageState,
    fail_message,
    finish_message,
    reduce_chunk,
    start_message,
    stop_message,
)

__all__ = [
    "Choice",
    "CompleteCall",
    "CompletionChunk",
    "Delta",
    "ErrorKind",
    "IncompleteCallError",
    "Message",
    "MessageConfig",
    "MessageError",
    "MessageState",
    "Outcome",
    "PartialCall",
    "Spelling",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "fail_message",
    "finish_message",
    "reduce_chunk",
    "start_message",
    "stop_message",
]

publish(__name__, __all__, globals())
