"""A whole completion in, the events that a stream of it would have out: some servers do not stream, though asked to.

Rule: only what no stream has is taken for a whole. Gemini and Ollama write a whole as they write the parts of a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from jsontide.adapters._fields import field, has, integer, items, text

_Events: TypeAlias = Iterator[object]

_MESSAGE: Final = ("role", "content", "refusal", "reasoning_content", "reasoning", "function_call", "tool_calls")
_CALL: Final = ("id", "type", "function", "custom")


def events_of(whole: object) -> list[object] | None:
    """Return the events of a whole completion, as dict or SDK object, `None` if it is none.

    >>> whole = {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}
    >>> [event["type"] for event in events_of(whole)]
    ['message_start', 'message_delta', 'message_stop']
    """
    read = next((read for fits, read in _SHAPES if fits(whole)), None)
    return None if read is None else list(read(whole))


def _with(event: object, names: tuple[str, ...], **changes: object) -> dict[str, object]:
    """Return the fields of an event, with some of them changed."""
    told = dict(event) if isinstance(event, Mapping) else {name: field(event, name) for name in names}
    return {**told, **changes}


def _first_choice(whole: object) -> object:
    return next((choice for choice in items(whole, "choices") if not integer(choice, "index")), None)


def _is_chat(whole: object) -> bool:
    choice = _first_choice(whole)
    return field(choice, "message") is not None and field(choice, "delta") is None


def _chat(whole: object) -> _Events:
    choice = _first_choice(whole)
    message = field(choice, "message")
    # Their place tells them apart: an id may be missing.
    calls = [_with(call, _CALL, index=at) for at, call in enumerate(items(message, "tool_calls"))]
    delta = _with(message, _MESSAGE, tool_calls=calls)
    yield {"choices": [{"index": 0, "delta": delta, "finish_reason": field(choice, "finish_reason")}]}


def _is_response(whole: object) -> bool:
    return text(whole, "object") == "response" and has(whole, "output")


def _response(whole: object) -> _Events:
    yield {"type": "response.created", "response": whole}
    for at, item in enumerate(items(whole, "output")):
        yield {"type": "response.output_item.done", "output_index": at, "item": item}
    yield {"type": "response.completed", "response": whole}


def _is_anthropic(whole: object) -> bool:
    return text(whole, "type") == "message" and isinstance(field(whole, "content"), list | tuple)


def _anthropic(whole: object) -> _Events:
    yield {"type": "message_start", "message": {"id": text(whole, "id"), "role": text(whole, "role"), "content": []}}
    for at, block in enumerate(items(whole, "content")):
        yield {"type": "content_block_start", "index": at, "content_block": block}
        yield {"type": "content_block_stop", "index": at}
    delta = {"stop_reason": text(whole, "stop_reason"), "stop_details": field(whole, "stop_details")}
    yield {"type": "message_delta", "delta": delta}
    yield {"type": "message_stop"}


def _is_interaction(whole: object) -> bool:
    is_named = text(whole, "object") == "interaction" or has(whole, "steps", "outputs")
    return is_named and text(whole, "status") is not None


def _interaction(whole: object) -> _Events:
    yield {"event_type": "interaction.created", "interaction": whole}
    for at, step in enumerate(items(whole, "steps", "outputs")):
        yield {"event_type": "step.start", "index": at, "step": step}
        for delta in _step_deltas(step):
            yield {"event_type": "step.delta", "index": at, "delta": delta}
        yield {"event_type": "step.stop", "index": at}
    yield {"event_type": "interaction.completed", "interaction": whole}


def _step_deltas(step: object) -> _Events:
    match text(step, "type"):
        case "text":
            yield step
        case "model_output":
            yield from items(step, "content")
        case "thought":
            yield from ({"type": "thought_summary", "content": part} for part in items(step, "summary"))


def _is_converse(whole: object) -> bool:
    return field(field(whole, "output"), "message") is not None and text(whole, "stopReason") is not None


def _converse(whole: object) -> _Events:
    message = field(field(whole, "output"), "message")
    yield {"messageStart": {"role": text(message, "role")}}
    for at, block in enumerate(items(message, "content")):
        tool, reasoning = field(block, "toolUse"), field(block, "reasoningContent")
        if tool is not None:
            yield {"contentBlockStart": {"contentBlockIndex": at, "start": {"toolUse": tool}}}
        delta = _with(block, ("text", "toolUse"), reasoningContent=field(reasoning, "reasoningText"))
        yield {"contentBlockDelta": {"contentBlockIndex": at, "delta": delta}}
        yield {"contentBlockStop": {"contentBlockIndex": at}}
    yield {"messageStop": {"stopReason": text(whole, "stopReason")}}


def _is_cohere(whole: object) -> bool:
    return field(whole, "message") is not None and text(whole, "finish_reason") is not None


def _cohere(whole: object) -> _Events:
    message = field(whole, "message")
    yield {"type": "message-start", "delta": {"message": {"role": text(message, "role")}}}
    yield {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": text(message, "tool_plan")}}}
    for at, part in enumerate(items(message, "content")):
        yield {"type": "content-start", "index": at, "delta": {"message": {"content": part}}}
    for at, call in enumerate(items(message, "tool_calls")):
        yield {"type": "tool-call-start", "index": at, "delta": {"message": {"tool_calls": call}}}
    yield {"type": "message-end", "delta": {"finish_reason": text(whole, "finish_reason")}}


_SHAPES: Final[tuple[tuple[Callable[[object], bool], Callable[[object], _Events]], ...]] = (
    (_is_chat, _chat),
    (_is_response, _response),
    (_is_anthropic, _anthropic),
    (_is_interaction, _interaction),
    (_is_converse, _converse),
    (_is_cohere, _cohere),
)
