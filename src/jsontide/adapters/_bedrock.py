"""Amazon Bedrock ConverseStream.

In: an event as boto3 gives it, a dict of one member. Out: a chunk, or `None` for events that say nothing new.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jsontide.adapters._fields import arguments, field, integer, text
from jsontide.adapters._telling import call_chunk, delta_chunk, end_chunk, told_error
from jsontide.messages import CompletionChunk, Delta, ToolCallDelta

_REASONS: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop_sequence",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "malformed",
    "malformed_tool_use": "malformed",
}
EXCEPTIONS: Final = (
    "internalServerException",
    "modelStreamErrorException",
    "serviceUnavailableException",
    "throttlingException",
    "validationException",
)


def bedrock_chunk(event: object) -> CompletionChunk | None:
    """Read one event; `None` for what says nothing new.

    >>> chunk = bedrock_chunk({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hi"}}})
    >>> chunk.choices[0].delta.content
    'Hi'
    """
    start, more = field(event, "contentBlockStart"), field(event, "contentBlockDelta")
    begun, stop = field(event, "messageStart"), field(event, "messageStop")
    if more is not None:
        return _block_delta(more)
    if start is not None:
        return _block_start(start)
    if begun is not None:
        return delta_chunk(Delta(role=text(begun, "role")))
    if stop is not None:
        reason = text(stop, "stopReason")
        return end_chunk(_REASONS.get(reason, reason)) if reason else None
    return _exception(event)


def _block_start(start: object) -> CompletionChunk | None:
    tool = field(field(start, "start"), "toolUse")
    if tool is None:
        return None
    call = ToolCallDelta(
        index=integer(start, "contentBlockIndex"),
        id=text(tool, "toolUseId"),
        name=text(tool, "name"),
        on_server=text(tool, "type") not in {None, "tool_use"},
    )
    return call_chunk(call)


def _block_delta(block: object) -> CompletionChunk:
    delta = field(block, "delta")
    tool = field(delta, "toolUse")
    calls: tuple[ToolCallDelta, ...] = ()
    if tool is not None:
        calls = (ToolCallDelta(index=integer(block, "contentBlockIndex"), arguments=arguments(tool, "input")),)
    return delta_chunk(
        Delta(content=text(delta, "text"), reasoning=text(field(delta, "reasoningContent"), "text"), tool_calls=calls)
    )


def _exception(event: object) -> CompletionChunk | None:
    # Those that are not known are failures too.
    named = [name for name in event if str(name).endswith("Exception")] if isinstance(event, Mapping) else []
    for name in (*EXCEPTIONS, *named):
        exception = field(event, name)
        if exception is not None:
            return CompletionChunk(error=text(exception, "message", "originalMessage") or name)
    return told_error(event)
