"""Anthropic Messages.

In: a raw stream event as dict or SDK object. Out: a chunk, or `None` for events that say nothing new.
The index of a call is the position of its content block; tools that the server runs are told as such.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from jsontide.adapters._fields import arguments, field, has, integer, text
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
    return delta_chunk(Delta(role=text(field(event, "message"), "role")))


def _block_start(event: object) -> CompletionChunk | None:
    block = field(event, "content_block")
    kind = text(block, "type") or ""
    if kind == "text":
        return delta_chunk(Delta(content=text(block, "text")))
    if kind == "thinking":
        return delta_chunk(Delta(reasoning=text(block, "thinking")))
    # What is not known but has an input, which comes in deltas too, is nothing for the caller to run.
    if not kind.endswith("tool_use") and not has(block, "input"):
        return None
    return call_chunk(
        ToolCallDelta(
            index=integer(event, "index"),
            id=text(block, "id"),
            name=text(block, "name"),
            # The input is empty here, and comes in deltas; some servers send it whole.
            arguments=arguments(block, "input") or None,
            on_server=kind != "tool_use",
        )
    )


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
    reason = text(delta, "stop_reason")
    if reason is None:
        return None
    why = text(field(delta, "stop_details"), "explanation") if reason == "refusal" else None
    return delta_chunk(Delta(refusal=why), _REASONS.get(reason, reason))


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
