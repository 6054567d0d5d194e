"""OpenAI Chat Completions, and the many servers that speak it, old text completions included.

In: a chunk as dict or SDK object. Out: the same as `CompletionChunk`, whatever is odd about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jsontide.adapters._fields import arguments, field, integer, items, text
from jsontide.adapters._telling import told_error
from jsontide.messages import Choice, CompletionChunk, Delta, ToolCallDelta

_REASONS: Final = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "complete": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "function_call": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "insufficient_system_resource": "length",
    "max_output_tokens": "length",
    "max_tokens": "length",
    "model_length": "length",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "recitation": "content_filter",
    "safety": "content_filter",
    "spii": "content_filter",
    "malformed_function_call": "malformed",
    "abort": "error",
    "cancelled": "error",
    "timeout": "error",
}
"""In lower case; most are words of others, which servers put into this form as they are."""
_FILTER: Final = "content_filter"


def openai_chat_chunk(event: object) -> CompletionChunk | None:
    """Read one chunk; `None` for what is none.

    >>> chunk = openai_chat_chunk({"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}]})
    >>> chunk.choices[0].delta.content
    'Hi'
    """
    # The helper of the SDK wraps chunks in events of its own.
    event = field(event, "chunk") if text(event, "type") == "chunk" else event
    choices = items(event, "choices")
    # Beside an answer, an error that says nothing is none.
    if not choices or field(event, "error"):
        return told_error(event)
    if any(map(_has_no_place, choices)):
        return CompletionChunk(error="the index of a choice is not a number: which answer it is for is not known")
    return CompletionChunk(choices=tuple(_choice(at, choice) for at, choice in enumerate(choices)))


def _has_no_place(choice: object) -> bool:
    return field(choice, "index") is not None and integer(choice, "index") is None


def _choice(at: int, choice: object) -> Choice:
    index = integer(choice, "index")
    return Choice(
        index=at if index is None else index,
        delta=_delta(field(choice, "delta"), text(choice, "text")),
        finish_reason=_reason(text(choice, "finish_reason")),
    )


def _reason(said: str | None) -> str | None:
    """Some servers write a word large, or add what was filtered: `content_filter: SAFETY`."""
    if not said:
        return None
    word = said.lower()
    return _FILTER if word.startswith(_FILTER) else _REASONS.get(word, said)


def _delta(delta: object, completion: str | None) -> Delta:
    parts = items(delta, "content")
    return Delta(
        role=text(delta, "role"),
        content=_joined(parts) if parts else text(delta, "content") or completion,
        reasoning=_thinking(parts) if parts else text(delta, "reasoning_content", "reasoning"),
        refusal=text(delta, "refusal"),
        tool_calls=tuple(map(_call, items(delta, "tool_calls"))) + _function_call(delta),
    )


def _joined(parts: Sequence[object]) -> str:
    return "".join(text(part, "text") or "" for part in parts)


def _thinking(parts: Sequence[object]) -> str:
    """Mistral nests what the model thinks: parts of type `thinking` hold parts of text."""
    return "".join(_joined(items(part, "thinking")) for part in parts)


def _call(call: object) -> ToolCallDelta:
    function = field(call, "function")
    return ToolCallDelta(
        index=integer(call, "index"),
        id=text(call, "id"),
        name=text(function, "name"),
        arguments=arguments(function, "arguments"),
    )


def _function_call(delta: object) -> tuple[ToolCallDelta, ...]:
    """The form before there were several calls."""
    function = field(delta, "function_call")
    if function is None:
        return ()
    return (ToolCallDelta(name=text(function, "name"), arguments=arguments(function, "arguments")),)
