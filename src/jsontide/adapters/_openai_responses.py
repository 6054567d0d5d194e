"""OpenAI Responses, and the servers that speak it.

In: an event as dict or SDK object. Out: a chunk, or `None` for the many events that say nothing new.
Text comes in deltas; what comes only when it is done, the adapter that `detect` returns adds from what it remembers.
Only functions and custom tools are calls to be run by the caller; what the server runs itself is not told.
xAI writes some of that as calls of custom tools, which the caller did not declare: they are told as the server's.
The input of a custom tool is text and not JSON: it is told as a JSON string.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from jsontide.adapters._fields import NO_TEXT, arguments, field, integer, items, text
from jsontide.adapters._openai_responses_text import Streamed, with_event
from jsontide.adapters._telling import call_chunk, delta_chunk
from jsontide.messages import CompletionChunk, Delta, Spelling, ToolCallDelta

_CALLS: Final = ("function_call", "custom_tool_call")
_COMPLETED: Final = "completed"
_BEGINNINGS: Final = ("response.created", "response.queued", "response.in_progress")
_ENDS: Final = ("response.completed", "response.incomplete")
_CONTRADICTED: Final = CompletionChunk(error="the text is not what its deltas said")
_Names: TypeAlias = frozenset[str] | None
"""The custom tools that the caller declared, `None` if that is not known."""


@dataclass(frozen=True, slots=True)
class ResponsesMemory:
    """What is remembered between the events of one stream."""

    streamed: Streamed = Streamed()  # noqa: RUF009 - it never changes either
    declared: _Names = None


def read_responses(memory: ResponsesMemory, event: object) -> tuple[ResponsesMemory, CompletionChunk | None]:
    """Read one event with what was remembered before it."""
    kind = text(event, "type") or ""
    streamed, more = with_event(memory.streamed, kind, event)
    declared = _declared(field(event, "response"), memory.declared) if kind in _BEGINNINGS else memory.declared
    if streamed is not memory.streamed or declared is not memory.declared:
        memory = ResponsesMemory(streamed, declared)
    if kind in _ENDS and streamed.is_contradicted:
        return memory, _CONTRADICTED
    return memory, _chunk(kind, event, declared) if more is None else delta_chunk(more)


def openai_responses_chunk(event: object) -> CompletionChunk | None:
    """Read one event; `None` for what says nothing new.

    >>> chunk = openai_responses_chunk({"type": "response.output_text.delta", "delta": "Hi"})
    >>> chunk.choices[0].delta.content
    'Hi'
    """
    return _chunk(text(event, "type") or "", event, None)


def _chunk(kind: str, event: object, declared: _Names) -> CompletionChunk | None:
    reader, item_reader = _READERS.get(kind), _ITEM_READERS.get(kind)
    if item_reader:
        return item_reader(event, declared)
    return reader(event) if reader else None


def _declared(response: object, before: _Names) -> _Names:
    """Return the names of the custom tools in the request, which a response repeats.

    A search may load others, so with one of these nothing is known.
    """
    tools = field(response, "tools")
    if not isinstance(tools, list | tuple):
        return before
    found = [*tools, *(tool for group in tools if text(group, "type") == "namespace" for tool in items(group, "tools"))]
    if any(text(tool, "type") == "tool_search" for tool in found):
        return None
    return frozenset(text(tool, "name") or "" for tool in found if text(tool, "type") == "custom")


def _is_on_server(item: object, declared: _Names) -> bool:
    name = text(item, "name")
    return declared is not None and text(item, "type") == "custom_tool_call" and bool(name) and name not in declared


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


def _item_added(event: object, declared: _Names) -> CompletionChunk | None:
    return _item(event, declared, close="", spelling="delta")


def _item_done(event: object, declared: _Names) -> CompletionChunk | None:
    cut_off = _is_cut_off(field(event, "item"))
    return _item(event, declared, close="" if cut_off else '"', spelling="whole", cut_off=cut_off)


def _item(
    event: object, declared: _Names, close: str, spelling: Spelling, *, cut_off: bool = False
) -> CompletionChunk | None:
    item = field(event, "item")
    if text(item, "type") not in _CALLS:
        return None
    return call_chunk(
        ToolCallDelta(
            index=_index(event),
            id=text(item, "call_id"),
            name=text(item, "name"),
            arguments=_written(item, close),
            spelling=spelling,
            cut_off=cut_off,
            on_server=_is_on_server(item, declared),
        )
    )


def _written(item: object, close: str) -> str | Mapping[str, object] | None:
    is_text = text(item, "type") == "custom_tool_call"
    return f'"{_escaped(item, "input")}{close}' if is_text else arguments(item, "arguments")


def _is_cut_off(item: object) -> bool:
    """Tell whether an item that is done is not whole: it was cut off even if the response goes on, and completes.

    A call that a program of the model made is in progress when it is done: its result is waited for.
    """
    status = _status(item)
    if status == "in_progress":
        return not field(item, "arguments", "input")
    return status != _COMPLETED


def _status(of: object) -> str:
    """Nothing said is as good as a normal end, and what is no text is as good as an unknown word."""
    return _COMPLETED if field(of, "status") is None else text(of, "status") or "unknown"


def _completed(event: object, declared: _Names) -> CompletionChunk:
    response = field(event, "response")
    status = _status(response)
    if status in {"failed", "cancelled"}:
        return _failed(event)
    if status == "incomplete":
        return _incomplete(event, declared)
    calls = (item for item in items(response, "output") if text(item, "type") in _CALLS)
    has_calls = any(not _is_on_server(item, declared) for item in calls)
    normal = "tool_calls" if has_calls else "stop"
    return _end(response, declared, normal if status == _COMPLETED else status)


def _incomplete(event: object, declared: _Names) -> CompletionChunk:
    response = field(event, "response")
    reason = text(field(response, "incomplete_details"), "reason")
    # Whatever else ended it early, of what was to come some is missing.
    return _end(response, declared, "content_filter" if reason == "content_filter" else "length")


def _end(response: object, declared: _Names, reason: str) -> CompletionChunk:
    """The last event repeats all items: of some, no other may have said that they were cut off, or all they hold."""
    calls = [each for each in enumerate(items(response, "output")) if text(each[1], "type") in _CALLS]
    told = (_cut_off(at, item, declared) if _is_cut_off(item) else _repeated(item, declared) for at, item in calls)
    return delta_chunk(Delta(tool_calls=tuple(call for call in told if call is not None)), reason)


def _cut_off(at: int, item: object, declared: _Names) -> ToolCallDelta:
    call_id = text(item, "call_id")
    return ToolCallDelta(
        index=None if call_id else at,
        id=call_id,
        name=text(item, "name"),
        cut_off=True,
        on_server=_is_on_server(item, declared),
    )


def _repeated(item: object, declared: _Names) -> ToolCallDelta | None:
    """Return what an item holds, for the call that has its id; without a name, as it begins no call."""
    call_id = text(item, "call_id")
    if not call_id or not field(item, "arguments", "input"):
        return None
    on_server = _is_on_server(item, declared)
    return ToolCallDelta(id=call_id, arguments=_written(item, close='"'), spelling="whole", on_server=on_server)


def _failed(event: object) -> CompletionChunk:
    return CompletionChunk(error=text(field(field(event, "response"), "error"), "message") or "the response failed")


def _error(event: object) -> CompletionChunk:
    return CompletionChunk(error=text(event, "message") or text(field(event, "error"), "message") or "error")


_READERS: Final[dict[str, Callable[[object], CompletionChunk | None]]] = {
    "response.output_text.delta": _content,
    "response.refusal.delta": _refusal,
    "response.reasoning_text.delta": _reasoning,
    "response.reasoning_summary_text.delta": _reasoning,
    "response.function_call_arguments.delta": _arguments,
    "response.function_call_arguments.done": _arguments_done,
    "response.custom_tool_call_input.delta": _input,
    "response.custom_tool_call_input.done": _input_done,
    "response.failed": _failed,
    "error": _error,
}
_ITEM_READERS: Final[dict[str, Callable[[object, _Names], CompletionChunk | None]]] = {
    "response.output_item.added": _item_added,
    "response.output_item.done": _item_done,
    "response.completed": _completed,
    "response.incomplete": _incomplete,
}
