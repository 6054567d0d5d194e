"""The few shapes of chunks that adapters make."""

from __future__ import annotations

from jsontide.adapters._fields import field, text
from jsontide.messages import Choice, CompletionChunk, Delta, ToolCallDelta


def delta_chunk(delta: Delta, finish_reason: str | None = None) -> CompletionChunk:
    """Return the chunk of a provider that gives one answer only."""
    return CompletionChunk(choices=(Choice(delta=delta, finish_reason=finish_reason),))


def call_chunk(call: ToolCallDelta) -> CompletionChunk:
    return delta_chunk(Delta(tool_calls=(call,)))


def end_chunk(finish_reason: str) -> CompletionChunk:
    return CompletionChunk(choices=(Choice(finish_reason=finish_reason),))


def error_chunk(error: object) -> CompletionChunk:
    """Return the chunk of an error, whatever it is written as, also if it says nothing."""
    said = error if isinstance(error, str) else text(error, "message", "type", "code")
    return CompletionChunk(error=said or "error")


def told_error(event: object) -> CompletionChunk | None:
    """Return the chunk of an event that tells of an error, in the field that all servers and proxies have for it."""
    error = field(event, "error")
    return None if error is None or error is False else error_chunk(error)
