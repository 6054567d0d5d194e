"""Ollama's own chat endpoint.

In: a line of its NDJSON as dict, or an SDK object. Out: a chunk.
Arguments come whole, as an object, without id or index: each entry is a call.
"""

from __future__ import annotations

from jsontide.adapters._fields import arguments, field, flag, items, text
from jsontide.adapters._telling import delta_chunk, told_error
from jsontide.messages import CompletionChunk, Delta, ToolCallDelta


def ollama_chunk(event: object) -> CompletionChunk | None:
    """Read one line; `None` for what is none.

    >>> chunk = ollama_chunk({"message": {"role": "assistant", "content": "Hi"}, "done": False})
    >>> chunk.choices[0].delta.content
    'Hi'
    """
    message, is_done = field(event, "message"), flag(event, "done")
    # Beside an answer, an error that says nothing is none.
    if message is None or field(event, "error"):
        error = told_error(event)
        if error is not None or not is_done:
            return error
    delta = Delta(
        role=text(message, "role"),
        content=text(message, "content"),
        reasoning=text(message, "thinking"),
        tool_calls=tuple(map(_call, items(message, "tool_calls"))),
    )
    return delta_chunk(delta, _reason(event) if is_done else None)


def _reason(event: object) -> str:
    """Old servers do not say why; what is not a text is a reason that nobody knows."""
    reason = field(event, "done_reason")
    return text(event, "done_reason") or (repr(reason) if reason else "stop")


def _call(call: object) -> ToolCallDelta:
    function = field(call, "function")
    return ToolCallDelta(
        id=text(call, "id"), name=text(function, "name"), arguments=arguments(function, "arguments") or {}
    )
