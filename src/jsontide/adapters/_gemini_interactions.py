"""Gemini's Interactions API.

In: an event as dict or SDK object. Out: a chunk, or `None` for events that say nothing new.
The index of a call is the position of its step; steps of tools that the server runs are told as such.
"""

from __future__ import annotations

from typing import Final

from jsontide.adapters._fields import arguments, field, integer, text
from jsontide.adapters._telling import call_chunk, delta_chunk, end_chunk
from jsontide.messages import CompletionChunk, Delta, ToolCallDelta

_SAID: Final = {"failed": "failed", "cancelled": "was cancelled"}
_STATUS: Final = {"completed": "stop", "requires_action": "tool_calls", "incomplete": "length"}


def gemini_interactions_chunk(event: object) -> CompletionChunk | None:
    """Read one event; `None` for what says nothing new.

    >>> chunk = gemini_interactions_chunk({"event_type": "step.delta", "delta": {"type": "text", "text": "Hi"}})
    >>> chunk.choices[0].delta.content
    'Hi'
    """
    match text(event, "event_type", "type"):
        case "step.start":
            return _start(integer(event, "index"), field(event, "step"))
        case "step.delta":
            return _delta(integer(event, "index"), field(event, "delta"))
        case "interaction.completed":
            return _end(field(event, "interaction"))
        case "error":
            return CompletionChunk(error=text(field(event, "error"), "message") or "error")
        case _:
            return None


def _start(index: int | None, step: object) -> CompletionChunk | None:
    kind = text(step, "type") or ""
    if not kind.endswith("_call"):
        return None
    call = ToolCallDelta(
        index=index,
        id=text(step, "id"),
        name=text(step, "name"),
        arguments=arguments(step, "arguments") or None,
        on_server=kind != "function_call",
    )
    return call_chunk(call)


def _delta(index: int | None, delta: object) -> CompletionChunk | None:
    match text(delta, "type"):
        case "text":
            return delta_chunk(Delta(content=text(delta, "text")))
        case "thought_summary":
            return delta_chunk(Delta(reasoning=text(field(delta, "content"), "text")))
        case "arguments_delta":
            return call_chunk(ToolCallDelta(index=index, arguments=arguments(delta, "arguments")))
        case _:
            return None


def _end(interaction: object) -> CompletionChunk:
    # Nothing said is as good as a normal end, and what is no text is as good as an unknown word.
    status = "completed" if field(interaction, "status") is None else text(interaction, "status") or "unknown"
    if status in {"failed", "cancelled"}:
        return CompletionChunk(error=text(field(interaction, "error"), "message") or f"the interaction {_SAID[status]}")
    return end_chunk(_STATUS.get(status, status))
