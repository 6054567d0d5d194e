"""The streams of assistant-ui in, what a client has at their end out; `ProtocolError` for anything that a client
would refuse, or would drop with a warning.

Rule: stricter than any client. A stream has an end; every part and call is ended; a call may be run only if its
arguments are JSON, and every other call has a result, because a client runs those that have none. A result comes
before its part is finished; one more takes its place.

Operations of an object stream change nothing in place; one that does not fit raises `ValueError` with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from jsontide.frontends.unsafe_keys import is_unsafe_in_paths
from jsontide.testing._events import (
    DONE,
    Event,
    Fields,
    Parsed,
    ProtocolError,
    check_arguments,
    check_fields,
    is_index,
    load_data,
    load_event,
    read_events,
    refuse,
    refuse_unsafe,
    sse_events,
)


def apply_operations(value: Parsed, operations: list[Parsed]) -> Parsed:
    for operation in operations:
        if not isinstance(operation, dict) or set(operation) != {"type", "path", "value"}:
            refuse(f"an operation has a type, a path and a value: {operation!r:.80}")
        if operation["type"] not in {"set", "append-text"}:
            refuse(f"there is no operation {operation['type']!r}")
        path = operation["path"]
        if not isinstance(path, list) or not all(isinstance(segment, str) for segment in path):
            refuse(f"a path is a list of texts, not {path!r:.60}")
        for segment in path:
            if is_unsafe_in_paths(None, segment):
                refuse(f"clients refuse a path with {segment!r}")
        value = _put(value, operation["path"], operation)
    return value


def _put(value: Parsed, path: list[str], operation: dict[str, Parsed]) -> Parsed:
    if not path:
        return _change(value, operation)
    if isinstance(value, list):
        if not is_index(path[0], len(value) + 1):
            refuse(f"{path[0]!r} is not an index for {len(value)} items")
        items, at = value.copy(), int(path[0])
        if at == len(items):
            items.append(None)
        items[at] = _put(items[at], path[1:], operation)
        return items
    if not isinstance(value, dict):
        refuse(f"there is no container around {path[0]!r}")
    if len(path) > 1 and path[0] not in value:
        refuse(f"there is nothing at {path[0]!r}")
    return {**value, path[0]: _put(value.get(path[0]), path[1:], operation)}


def _change(value: Parsed, operation: dict[str, Parsed]) -> Parsed:
    if operation["type"] == "set":
        return operation["value"]
    if not isinstance(value, str) or not isinstance(operation["value"], str):
        refuse(f"there is no text at {operation['path']} to append to")
    return value + operation["value"]


_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "part-start": {"part": "object"},
    "part-finish": {},
    "tool-call-args-text-finish": {},
    "text-delta": {"textDelta": "text"},
    "annotations": {"annotations": "list"},
    "data": {"data": "list"},
    "step-start": {"messageId": "text"},
    "step-finish": {"finishReason": "text", "usage": "object", "isContinued": "switch"},
    "message-finish": {"finishReason": "text", "usage": "object"},
    "result": {"result": "anything", "isError": "switch", "artifact?": "something"},
    "error": {"error": "text", "code?": "text", "severity?": "text"},
    "update-state": {"operations": "list"},
}
_OF_A_PART: Final = {"part-finish", "tool-call-args-text-finish", "text-delta", "result"}
_PARTS: Final[Mapping[str, Mapping[str, str]]] = {
    "text": {},
    "reasoning": {},
    "tool-call": {"toolCallId": "text", "toolName": "text"},
    "source": {"sourceType": "text", "id": "text", "url": "text", "title?": "text"},
    "file": {"data": "text", "mimeType": "text"},
    "data": {"name": "text", "data": "anything"},
}
_REASONS: Final = {"stop", "length", "content-filter", "tool-calls", "error", "other", "unknown"}
_USAGE: Final = {"inputTokens": "count", "outputTokens": "count"}


@dataclass
class AssistantPart:
    """A part of a message, as a client has it."""

    type: str
    start: dict[str, Parsed]
    """The part as it began."""
    text: str = ""
    """Its text, or the arguments of a call."""
    may_run: bool = False
    """Whether it is a call that a client runs, unless it has a result."""
    result: Parsed = None
    has_result: bool = False
    is_error: bool = False
    is_finished: bool = False


@dataclass
class AssistantTransport:
    """What a client has at the end of a stream."""

    parts: list[AssistantPart] = field(default_factory=list)
    state: Parsed = None
    finish_reason: str = ""
    error: dict[str, Parsed] | None = None
    """The chunk that says what failed."""


def check_assistant_transport(stream: bytes | str) -> AssistantTransport:
    """Return what a client has at the end of a stream of assistant-transport, or raise `ProtocolError`.

    >>> check_assistant_transport('data: {"type":"part-start","part":{"type":"text"}}\\n\\n')
    Traceback (most recent call last):
    jsontide.testing.ProtocolError: the stream ends without [DONE]
    """
    events = sse_events(stream)
    if not events or events[-1] != DONE:
        raise ProtocolError("the stream ends without [DONE]")
    checker = _TransportChecker()
    read_events(events[:-1], checker.read)
    if not checker.found.finish_reason:
        raise ProtocolError("the stream ends without message-finish")
    return checker.found


def check_object_stream(stream: bytes | str) -> Parsed:
    """Return the value at the end of an object stream, or raise `ProtocolError`.

    The protocol has no end: here the value must be an object whose `status` is no longer `streaming`.

    >>> check_object_stream('data: [{"type":"set","path":[],"value":{"status":"complete"}}]\\n\\n')
    {'status': 'complete'}
    """
    value: Parsed = None

    def has_ended() -> bool:
        return isinstance(value, dict) and value.get("status", "streaming") != "streaming"

    def read(data: str) -> None:
        nonlocal value
        if has_ended():
            refuse("something follows the end")
        operations = load_data(data)
        if not isinstance(operations, list) or not operations:
            refuse("an event is a list of operations")
        if value is None and (not isinstance(operations[0], dict) or operations[0].get("path") != []):
            refuse("the first operation must set the root")
        refuse_unsafe(operations)
        value = apply_operations(value, operations)

    read_events(sse_events(stream), read)
    if not has_ended():
        raise ProtocolError("the stream ends without an end in its value")
    return value


def _fields_of(kind: str) -> Fields | None:
    fields = _FIELDS.get(kind)
    return None if fields is None else {**fields, "path" if kind in _OF_A_PART else "path?": "list"}


class _TransportChecker:
    """What a client has so far."""

    def __init__(self) -> None:
        self.found: Final = AssistantTransport()
        self._steps: list[str] = []
        self._before: dict[str, None] = {}
        self._readers: Final[Mapping[str, Callable[[Event], None]]] = {
            "part-start": self._start,
            "text-delta": self._grow,
            "tool-call-args-text-finish": self._allow,
            "result": self._answer,
            "part-finish": self._finish,
            "step-start": self._start_step,
            "step-finish": self._finish_step,
            "message-finish": self._finish_message,
            "error": self._fail,
            "update-state": self._update,
        }

    def read(self, data: str) -> None:
        chunk = load_event(data, _fields_of)
        refuse_unsafe(chunk)
        if self.found.finish_reason:
            refuse(f"{chunk['type']} follows message-finish")
        if chunk["type"] not in _OF_A_PART and chunk.get("path"):
            refuse(f"{chunk['type']} is not of a part, and has a path")
        reader = self._readers.get(chunk["type"])
        if reader is not None:
            reader(chunk)

    def _start(self, chunk: Event) -> None:
        part = chunk["part"]
        if part.get("type") not in _PARTS:
            refuse(f"there is no part {part!r:.60}")
        check_fields(part, {**_PARTS[part["type"]], "parentId?": "text"})
        calls = {each.start["toolCallId"] for each in self.found.parts if each.type == "tool-call"}
        if part.get("toolCallId") in calls:
            refuse(f"there is a call {part['toolCallId']!r} already")
        self.found.parts.append(AssistantPart(part["type"], part))

    def _part(self, chunk: Event) -> AssistantPart:
        path = chunk["path"]
        if len(path) != 1 or type(path[0]) is not int or not 0 <= path[0] < len(self.found.parts):
            refuse(f"there is no part at {path!r}")
        part = self.found.parts[path[0]]
        if part.is_finished:
            refuse(f"{chunk['type']} of a part that is finished")
        return part

    def _call(self, chunk: Event) -> AssistantPart:
        part = self._part(chunk)
        if part.type != "tool-call":
            refuse(f"{chunk['type']} of a part that is no call")
        return part

    def _grow(self, chunk: Event) -> None:
        part = self._part(chunk)
        if part.type not in {"text", "reasoning", "tool-call"} or part.may_run or part.has_result:
            refuse("text-delta of a part whose text does not grow")
        part.text += chunk["textDelta"]

    def _allow(self, chunk: Event) -> None:
        part = self._call(chunk)
        if part.may_run or part.has_result:
            refuse("the arguments of a call end that has ended")
        check_arguments(part.text)
        part.may_run = True

    def _answer(self, chunk: Event) -> None:
        part = self._call(chunk)
        if part.has_result and not part.may_run:
            refuse("a call that may not be run has a result already")
        part.result, part.has_result, part.is_error = chunk["result"], True, chunk["isError"]

    def _finish(self, chunk: Event) -> None:
        part = self._part(chunk)
        if part.type == "tool-call" and not (part.may_run or part.has_result):
            refuse("a call is finished that has no result and may not be run: a client would run it")
        part.is_finished = True

    def _start_step(self, chunk: Event) -> None:
        if self._steps:
            refuse("step-start while a step is open")
        if chunk["messageId"] in self._before:
            refuse(f"there was a step {chunk['messageId']!r} already")
        self._before[chunk["messageId"]] = None
        self._steps.append(chunk["messageId"])

    def _finish_step(self, chunk: Event) -> None:
        _check_finish(chunk)
        if not self._steps:
            refuse("step-finish without step-start")
        self._steps.clear()

    def _finish_message(self, chunk: Event) -> None:
        _check_finish(chunk)
        if self._steps:
            refuse("message-finish while a step is open")
        if not all(part.is_finished for part in self.found.parts):
            refuse("message-finish while a part is open")
        reason = chunk["finishReason"]
        if reason == "tool-calls" and not any(part.may_run and not part.has_result for part in self.found.parts):
            refuse("no call may be run, and the message waits for results")
        if self.found.error is not None and reason in {"stop", "tool-calls"}:
            refuse(f"the message failed, and ends with {reason!r}")
        self.found.finish_reason = reason

    def _fail(self, chunk: Event) -> None:
        self.found.error = chunk

    def _update(self, chunk: Event) -> None:
        state = {} if self.found.state is None else self.found.state
        self.found.state = apply_operations(state, chunk["operations"])


def _check_finish(chunk: Event) -> None:
    if chunk["finishReason"] not in _REASONS:
        refuse(f"there is no finishReason {chunk['finishReason']!r}")
    check_fields(chunk["usage"], _USAGE)
