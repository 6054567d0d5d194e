"""Gemini's `generateContentStream`, on the Gemini API and on Vertex AI.

In: what is remembered of the stream, and a response as dict or SDK object. Out: what to remember, and a chunk.
Calls have no index and often no id, so they are counted; arguments come whole, or in values at JSON paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from jsontide.adapters._fields import arguments, field, flag, integer, items, text
from jsontide.adapters._gemini_args import Arguments, closing, continues, no_arguments, with_partials
from jsontide.adapters._telling import end_chunk, told_error
from jsontide.messages import Choice, CompletionChunk, Delta, ToolCallDelta

_REASONS: Final = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "LANGUAGE": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "MALFORMED_FUNCTION_CALL": "malformed",
    "MALFORMED_RESPONSE": "malformed",
    "UNEXPECTED_TOOL_CALL": "malformed",
    "TOO_MANY_TOOL_CALLS": "length",
}


@dataclass(frozen=True, slots=True)
class GeminiMemory:
    """What is remembered between the responses of one stream."""

    calls: int = 0
    """How many calls have begun."""
    arguments: Arguments | None = None
    """The arguments of the call that is open."""


GEMINI_START: Final = GeminiMemory()


def gemini_chunk(memory: GeminiMemory, event: object) -> tuple[GeminiMemory, CompletionChunk | None]:
    """Read one response; the chunk is `None` where there is nothing new.

    >>> part = {"functionCall": {"name": "weather", "args": {"city": "Kyoto"}}}
    >>> memory, chunk = gemini_chunk(GeminiMemory(), {"candidates": [{"content": {"parts": [part]}}]})
    >>> chunk.choices[0].delta.tool_calls[0].arguments
    {'city': 'Kyoto'}
    """
    if not isinstance(memory, GeminiMemory):
        message = f"a memory must be a GeminiMemory, not {type(memory).__name__}"
        raise TypeError(message)
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


def _joined(parts: Sequence[object], *, is_thought: bool) -> str:
    return "".join(text(part, "text") or "" for part in parts if flag(part, "thought") is is_thought)


def _reason(candidate: object) -> str | None:
    reason = text(candidate, "finishReason", "finish_reason")
    return None if reason is None or reason == "FINISH_REASON_UNSPECIFIED" else _REASONS.get(reason, reason)


def _blocked(event: object) -> CompletionChunk | None:
    """A prompt that was blocked has no candidates, only feedback."""
    error = told_error(event)
    if error is not None:
        return error
    blocked = text(field(event, "promptFeedback", "prompt_feedback"), "blockReason", "block_reason")
    return end_chunk("content_filter") if blocked else None


def _call(memory: GeminiMemory, call: object) -> tuple[GeminiMemory, list[ToolCallDelta]]:
    name, said = text(call, "name"), continues(call)
    # Of a call that may go on or not nothing is known to be whole.
    goes_on, is_unclear = said is not False, said is None
    given, partials = arguments(call, "args"), _partials(call)
    begins = name is not None or memory.arguments is None
    if begins and name is None and not given and not partials:  # the end of a call that is over already
        return memory, []
    calls = memory.calls + begins
    if begins and not goes_on and not partials:
        return GeminiMemory(calls), [ToolCallDelta(index=calls - 1, id=text(call, "id"), name=name, arguments=given)]
    begun = no_arguments() if begins or memory.arguments is None else memory.arguments
    grown, more = with_partials(begun, partials, given)
    if not goes_on:
        more += closing(grown)
    told = ToolCallDelta(index=calls - 1, id=text(call, "id"), name=name, arguments=more, cut_off=is_unclear)
    return GeminiMemory(calls, grown if goes_on else None), [told]


def _partials(call: object) -> Sequence[object]:
    """What is no array must not go missing unnoticed: it is taken for one part."""
    found = field(call, "partialArgs", "partial_args")
    return items(call, "partialArgs", "partial_args") if isinstance(found, list | tuple | None) else (found,)
