"""The few shapes of chunks that adapters make."""

from __future__ import annotations

from jsontide.messages import Choice, CompletionChunk, Delta, ToolCallDelta


def delta_chunk(delta: Delta, finish_reason: str | None = None) -> CompletionChunk:
    """Return the chunk of a provider that gives one answer only."""
    return CompletionChunk(choices=(Choice(delta=delta, finish_reason=finish_reason),))


def call_chunk(call: ToolCallDelta) -> CompletionChunk:
    return delta_chunk(Delta(tool_calls=(call,)))


def end_chunk(finish_reason: str) -> CompletionChunk:
    return CompletionChunk(choices=(Choice(finish_reason=finish_reason),))
