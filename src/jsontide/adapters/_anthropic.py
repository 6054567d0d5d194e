"""Anthropic Messages.

In: a raw stream event as dict or SDK object. Out: a chunk, or `None` for events that say nothing new.
The index of a call is the position of its content block; tools that the server runs are told as such.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from jsontide.adapters._fields import arguments, field, has, integer, items, text
from jsontide.adapters._telling import call_chunk, delta_chunk
from jsontide.messages import CompletionChunk, Delta, ToolCallDelta

_REASONS: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop_sequence",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}


def anthropic_chunk(event: object) -> CompletionChunk | None:
    """Read one event; `None` for what says nothing new.

    >>> chunk = anthropic_chunk({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hi"}})
    >>> chunk.choices[0].delta.content
    'Hi'
    """
    reader = _READERS.get(text(event, "type") or "")
    return reader(event) if reader else None


def _message_start(event: object) -> CompletionChunk:
    """Read the blocks and the reason to stop that a message may begin with.

    A tool call made by the model's code arrives so: finished, and as the end of its message.
    """
    message = field(event, "message")
    has_ended = text(message, "stop_reason") is not None
    told = (_block(at, block, is_whole=has_ended) for at, block in enumerate(items(message, "content")))
    blocks = [block for block in told if block is not None]
    delta = Delta(
        role=text(message, "role"),
        content="".join(block.content or "" for block in blocks),
        reasoning="".join(block.reasoning or "" for block in blocks),
        tool_calls=tuple(call for block in blocks for call in block.tool_calls),
    )
    return _ended(message, delta)


def _block_start(event: object) -> CompletionChunk | None:
    delta = _block(integer(event, "index"), field(event, "content_block"), is_whole=False)
    return None if delta is None else delta_chunk(delta)


def _block(index: int | None, block: object, *, is_whole: bool) -> Delta | None:
    kind = text(block, "type") or ""
    if kind == "text":
        return Delta(content=text(block, "text"))
    if kind == "thinking":
        return Delta(reasoning=text(block, "thinking"))
    # What is not known but has an input, which comes in deltas too, is nothing for the caller to run.
    if not kind.endswith("tool_use") and not has(block, "input"):
        return None
    given = arguments(block, "input")
    call = ToolCallDelta(
        index=index,
        id=text(block, "id"),
        name=text(block, "name"),
        # The input of a block that begins is empty, and comes in deltas; some servers send it whole.
        arguments=given if is_whole else given or None,
        on_server=kind != "tool_use",
    )
    return Delta(tool_calls=(call,))


def _block_delta(event: object) -> CompletionChunk | None:
    delta = field(event, "delta")
    match text(delta, "type"):
        case "text_delta":
            return delta_chunk(Delta(content=text(delta, "text")))
        case "thinking_delta":
            return delta_chunk(Delta(reasoning=text(delta, "thinking")))
        case "input_json_delta":
            return call_chunk(ToolCallDelta(index=integer(event, "index"), arguments=arguments(delta, "partial_json")))
        case _:
            return None


def _message_delta(event: object) -> CompletionChunk | None:
    delta = field(event, "delta")
    return None if text(delta, "stop_reason") is None else _ended(delta, Delta())


def _ended(by: object, delta: Delta) -> CompletionChunk:
    """Return a chunk with the reason to stop, if there is one."""
    reason = text(by, "stop_reason")
    if reason == "refusal":
        delta = replace(delta, refusal=text(field(by, "stop_details"), "explanation"))
    return delta_chunk(delta, reason and _REASONS.get(reason, reason))


def _error(event: object) -> CompletionChunk:
    error = field(event, "error")
    return CompletionChunk(error=text(error, "message") or text(error, "type") or "error")


_READERS: Final[dict[str, Callable[[object], CompletionChunk | None]]] = {
    "message_start": _message_start,
    "content_block_start": _block_start,
    "content_block_delta": _block_delta,
    "message_delta": _message_delta,
    "error": _error,
}
