"""OpenAI Responses, and the servers that speak it.

In: an event as dict or SDK object. Out: a chunk, or `None` for the many events that say nothing new.
Text comes in deltas; what comes only when it is done, the adapter that `detect` returns adds from what it remembers.
Only functions and custom tools are calls to be run by the caller; what the server runs itself is not told.
The input of a custom tool is text and not JSON: it is told as a JSON string.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from jsontide.adapters._fields import NO_TEXT, arguments, field, integer, items, text
from jsontide.adapters._telling import call_chunk, delta_chunk
from jsontide.messages import CompletionChunk, Delta, Spelling, ToolCallDelta

_CALLS: Final = ("function_call", "custom_tool_call")


def openai_responses_chunk(event: object) -> CompletionChunk | None:
    """Read one event; `None` for what says nothing new.

    >>> chunk = openai_responses_chunk({"type": "response.output_text.delta", "delta": "Hi"})
    >>> chunk.choices[0].delta.content
    'Hi'
    """
    reader = _READERS.get(text(event, "type") or "")
    return reader(event) if reader else None


def _content(event: object) -> CompletionChunk:
    return delta_chunk(Delta(content=text(event, "delta")))


def _reasoning(event: object) -> CompletionChunk:
    return delta_chunk(Delta(reasoning=text(event, "delta")))


def _refusal(event: object) -> CompletionChunk:
    return delta_chunk(Delta(refusal=text(event, "delta")))


def _arguments(event: object) -> CompletionChunk:
    return call_chunk(ToolCallDelta(index=_index(event), arguments=arguments(event, "delta")))


def _arguments_done(event: object) -> CompletionChunk:
    whole, name = arguments(event, "arguments"), text(event, "name")
    return call_chunk(ToolCallDelta(index=_index(event), name=name, arguments=whole, spelling="whole"))


def _input(event: object) -> CompletionChunk:
    return call_chunk(ToolCallDelta(index=_index(event), arguments=_escaped(event, "delta")))


def _input_done(event: object) -> CompletionChunk:
    # It stays open: at a limit this may be the beginning only, and the item tells whether it is.
    whole = f'"{_escaped(event, "input")}'
    return call_chunk(ToolCallDelta(index=_index(event), arguments=whole, spelling="whole"))


def _index(event: object) -> int | None:
    """The id of an item is not the id of its call: the place among the outputs is what all events share."""
    return integer(event, "output_index")


def _escaped(event: object, name: str) -> str:
    piece = text(event, name)
    if piece is None:
        return "" if field(event, name) is None else NO_TEXT
    return json.dumps(piece, ensure_ascii=False)[1:-1]


def _item_added(event: object) -> CompletionChunk | None:
    return _item(event, close="", spelling="delta")


def _item_done(event: object) -> CompletionChunk | None:
    cut_off = _is_cut_off(field(event, "item"))
    return _item(event, close="" if cut_off else '"', spelling="whole", cut_off=cut_off)


def _item(event: object, close: str, spelling: Spelling, *, cut_off: bool = False) -> CompletionChunk | None:
    item = field(event, "item")
    kind = text(item, "type")
    if kind not in _CALLS:
        return None
    return call_chunk(
        ToolCallDelta(
            index=_index(event),
            id=text(item, "call_id"),
            name=text(item, "name"),
            arguments=_written(item, close),
            spelling=spelling,
            cut_off=cut_off,
        )
    )


def _written(item: object, close: str) -> str | Mapping[str, object] | None:
    is_text = text(item, "type") == "custom_tool_call"
    return f'"{_escaped(item, "input")}{close}' if is_text else arguments(item, "arguments")


def _is_cut_off(item: object) -> bool:
    """Tell whether an item that is done is not whole: it was cut off even if the response goes on, and completes.

    A call that a program of the model made is in progress when it is done: its result is waited for.
    """
    status = text(item, "status")
    if status == "in_progress":
        return not field(item, "arguments", "input")
    return status not in {None, "completed"}


def _completed(event: object) -> CompletionChunk:
    response = field(event, "response")
    status = text(response, "status") or "completed"
    if status in {"failed", "cancelled"}:
        return _failed(event)
    if status == "incomplete":
        return _incomplete(event)
    has_calls = any(text(item, "type") in _CALLS for item in items(response, "output"))
    normal = "tool_calls" if has_calls else "stop"
    return _end(response, normal if status == "completed" else status)


def _incomplete(event: object) -> CompletionChunk:
    response = field(event, "response")
    reason = text(field(response, "incomplete_details"), "reason")
    # Whatever else ended it early, of what was to come some is missing.
    return _end(response, "content_filter" if reason == "content_filter" else "length")


def _end(response: object, reason: str) -> CompletionChunk:
    """The last event repeats all items: of some, no other may have said that they were cut off, or all they hold."""
    calls = [each for each in enumerate(items(response, "output")) if text(each[1], "type") in _CALLS]
    told = (_cut_off(at, item) if _is_cut_off(item) else _repeated(item) for at, item in calls)
    return delta_chunk(Delta(tool_calls=tuple(call for call in told if call is not None)), reason)


def _cut_off(at: int, item: object) -> ToolCallDelta:
    call_id = text(item, "call_id")
    return ToolCallDelta(index=None if call_id else at, id=call_id, name=text(item, "name"), cut_off=True)


def _repeated(item: object) -> ToolCallDelta | None:
    """Return what an item holds, for the call that has its id; without a name, as it begins no call."""
    call_id = text(item, "call_id")
    if not call_id or not field(item, "arguments", "input"):
        return None
    return ToolCallDelta(id=call_id, arguments=_written(item, close='"'), spelling="whole")


def _failed(event: object) -> CompletionChunk:
    return CompletionChunk(error=text(field(field(event, "response"), "error"), "message") or "the response failed")


def _error(event: object) -> CompletionChunk:
    return CompletionChunk(error=text(event, "message") or text(field(event, "error"), "message") or "error")


_READERS: Final[dict[str, Callable[[object], CompletionChunk | None]]] = {
    "response.output_text.delta": _content,
    "response.refusal.delta": _refusal,
    "response.reasoning_text.delta": _reasoning,
    "response.reasoning_summary_text.delta": _reasoning,
    "response.output_item.added": _item_added,
    "response.output_item.done": _item_done,
    "response.function_call_arguments.delta": _arguments,
    "response.function_call_arguments.done": _arguments_done,
    "response.custom_tool_call_input.delta": _input,
    "response.custom_tool_call_input.done": _input_done,
    "response.completed": _completed,
    "response.incomplete": _incomplete,
    "response.failed": _failed,
    "error": _error,
}
