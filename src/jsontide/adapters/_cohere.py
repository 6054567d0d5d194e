"""Cohere Chat, version 2.

In: an event as dict or SDK object. Out: a chunk, or `None` for events that say nothing new.
The plan that precedes tool calls is told as reasoning.
"""

from __future__ import annotations

from typing import Final

from jsontide.adapters._fields import arguments, field, integer, text
from jsontide.adapters._telling import call_chunk, delta_chunk, end_chunk, error_chunk, told_error
from jsontide.messages import CompletionChunk, Delta, ToolCallDelta

_REASONS: Final = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop_sequence",
    "TOOL_CALL": "tool_calls",
    "MAX_TOKENS": "length",
    "ERROR_LIMIT": "length",
    "ERROR_TOXIC": "content_filter",
}
_FAILURES: Final = ("ERROR", "TIMEOUT", "USER_CANCEL")


def cohere_chunk(event: object) -> CompletionChunk | None:
    """Read one event; `None` for what says nothing new.

    >>> chunk = cohere_chunk({"type": "content-delta", "delta": {"message": {"content": {"text": "Hi"}}}})
    >>> chunk.choices[0].delta.content
    'Hi'
    """
    delta = field(event, "delta")
    message = field(delta, "message")
    match text(event, "type"):
        case "message-start":
            return delta_chunk(Delta(role=text(message, "role")))
        case "content-start" | "content-delta":
            content = field(message, "content")
            return delta_chunk(Delta(content=text(content, "text"), reasoning=text(content, "thinking")))
        case "tool-plan-delta":
            return delta_chunk(Delta(reasoning=text(message, "tool_plan")))
        case "tool-call-start" | "tool-call-delta":
            return call_chunk(_call(event, field(message, "tool_calls")))
        case "message-end":
            return _end(delta)
        case _:
            return told_error(event)


def _call(event: object, call: object) -> ToolCallDelta:
    function = field(call, "function")
    return ToolCallDelta(
        index=integer(event, "index"),
        id=text(call, "id"),
        name=text(function, "name"),
        arguments=arguments(function, "arguments"),
    )


def _end(delta: object) -> CompletionChunk | None:
    reason = text(delta, "finish_reason")
    error = field(delta, "error")
    if error or reason in _FAILURES:
        return error_chunk(error or reason)
    return None if reason is None else end_chunk(_REASONS.get(reason, reason))
