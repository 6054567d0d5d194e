"""Gemini's `generateContentStream`, on the Gemini API and on Vertex AI.

In: what is remembered of the stream, and a response as dict or SDK object. Out: what to remember, and a chunk.
Calls have no index and often no id, so they are counted; arguments come whole, or in values at JSON paths.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from jsontide._values import JsonValue
from jsontide.adapters._fields import field, flag, integer, items, mapping, text
from jsontide.adapters._gemini_args import as_text, with_partial
from jsontide.adapters._telling import end_chunk
from jsontide.messages import Choice, CompletionChunk, Delta, ToolCallDelta

_REASONS: Final = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "MALFORMED_FUNCTION_CALL": "malformed",
    "MALFORMED_RESPONSE": "malformed",
}


@dataclass(frozen=True, slots=True)
class GeminiMemory:
    """What is remembered between the responses of one stream."""

    calls: int = 0
    """How many calls have begun."""
    is_open: bool = False
    """Whether the last of them goes on."""
    arguments: JsonValue = None
    """What is put together of its arguments; `None` when that failed."""


GEMINI_START: Final = GeminiMemory()


def gemini_chunk(memory: GeminiMemory, event: object) -> tuple[GeminiMemory, CompletionChunk | None]:
    """Read one response; the chunk is `None` where there is nothing new.

    >>> part = {"functionCall": {"name": "weather", "args": {"city": "Kyoto"}}}
    >>> memory, chunk = gemini_chunk(GeminiMemory(), {"candidates": [{"content": {"parts": [part]}}]})
    >>> chunk.choices[0].delta.tool_calls[0].arguments
    {'city': 'Kyoto'}
    """
    candidate = next((one for one in items(event, "candidates") if not integer(one, "index")), None)
    if candidate is None:
        return memory, _blocked(event)
    content = field(candidate, "content")
    parts = items(content, "parts")
    calls: list[ToolCallDelta] = []
    for part in parts:
        call = field(part, "functionCall", "function_call")
        if call is not None:
            memory, told = _call(memory, call)
            calls += told
    delta = Delta(
        role="assistant" if text(content, "role") == "model" else None,
        content=_joined(parts, is_thought=False),
        reasoning=_joined(parts, is_thought=True),
        tool_calls=tuple(calls),
    )
    return memory, CompletionChunk(choices=(Choice(delta=delta, finish_reason=_reason(candidate)),))


def _joined(parts: object, *, is_thought: bool) -> str | None:
    texts = parts if isinstance(parts, list | tuple) else ()
    return "".join(text(part, "text") or "" for part in texts if flag(part, "thought") is is_thought) or None


def _reason(candidate: object) -> str | None:
    reason = text(candidate, "finishReason", "finish_reason")
    return None if reason is None or reason == "FINISH_REASON_UNSPECIFIED" else _REASONS.get(reason, reason)


def _blocked(event: object) -> CompletionChunk | None:
    """A prompt that was blocked has no candidates, only feedback."""
    error = field(event, "error")
    if error is not None:
        return CompletionChunk(error=text(error, "message") or "error")
    blocked = text(field(event, "promptFeedback", "prompt_feedback"), "blockReason", "block_reason")
    return end_chunk("content_filter") if blocked else None


def _call(memory: GeminiMemory, call: object) -> tuple[GeminiMemory, list[ToolCallDelta]]:
    name, whole = text(call, "name"), mapping(call, "args")
    goes_on = flag(call, "willContinue", "will_continue")
    if name is None and not memory.is_open:
        return memory, []
    if name is not None:
        memory = GeminiMemory(memory.calls + 1, is_open=True, arguments={})
    index, call_id = memory.calls - 1, text(call, "id")
    if name is not None and not goes_on and not items(call, "partialArgs", "partial_args"):
        told = ToolCallDelta(index=index, id=call_id, name=name, arguments=whole or {})
        return replace(memory, is_open=False), [told]
    memory, more = _more(memory, call, is_first=name is not None, goes_on=goes_on)
    return memory, [ToolCallDelta(index=index, id=call_id, name=name, arguments=more)]


def _more(memory: GeminiMemory, call: object, *, is_first: bool, goes_on: bool) -> tuple[GeminiMemory, str]:
    arguments = memory.arguments
    for partial in items(call, "partialArgs", "partial_args"):
        arguments = with_partial(arguments, partial) if arguments is not None else None
    begun = "{" if is_first else ""
    if goes_on or arguments is None:
        return replace(memory, arguments=arguments, is_open=goes_on), begun
    return replace(memory, arguments=arguments, is_open=False), begun + as_text(arguments)[1:]
