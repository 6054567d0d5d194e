"""A stream of AG-UI events in, what a client has at its end out; `ProtocolError` for anything that a client
would refuse, or would drop with a warning.

Rule: stricter than any client. A stream has an end; every patch fits; a call that ended has arguments that are JSON;
`RUN_FINISHED` leaves nothing open, and names the calls that are to be run.

Patches follow RFC 6902, as the clients of AG-UI apply them; nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from jsontide._path import Segment
from jsontide.frontends.unsafe_keys import is_unsafe
from jsontide.testing._events import (
    Event,
    Fields,
    Parsed,
    ProtocolError,
    check_arguments,
    check_fields,
    is_index,
    load_event,
    read_events,
    refuse,
    refuse_unsafe,
    sse_events,
)


def apply_patch(value: Parsed, operations: list[Parsed]) -> Parsed:
    for operation in operations:
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            refuse(f"not an operation: {operation!r:.80}")
        value = _apply(value, operation)
    return value


def _apply(value: Parsed, operation: dict[str, Parsed]) -> Parsed:
    name, path = operation.get("op"), _segments(operation["path"])
    if name in {"add", "replace", "test"} and "value" not in operation:
        refuse(f"{name} has no value")
    match name:
        case "add" | "replace":
            return _edit(value, path, name, operation["value"])
        case "remove":
            return _edit(value, path, "remove")
        case "test":
            return value if _find(value, path) == operation["value"] else refuse(f"the test of {path} fails")
        case "copy" | "move":
            source = _segments(str(operation.get("from")))
            found = _find(value, source)
            return _edit(value if name == "copy" else _edit(value, source, "remove"), path, "add", found)
    return refuse(f"there is no operation {name!r}")


def _segments(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        refuse(f"a pointer begins with '/', not {pointer!r}")
    segments = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for parent, key in zip(["", *segments], segments, strict=False):
        if is_unsafe(parent, key):
            refuse(f"clients refuse the key {key!r} in a pointer")
    return segments


def _edit(value: Parsed, path: list[str], name: str, new: Parsed = None) -> Parsed:
    """Return a value in which the place at a path is added, replaced or removed, in copies of the containers around."""
    if not path:
        return refuse("the root cannot be removed") if name == "remove" else new
    if not isinstance(value, (list, dict)):
        refuse(f"there is no container around {path[0]!r}")
    copy: Parsed = value.copy()
    if len(path) > 1:
        key = _key(copy, path[0])
        copy[key] = _edit(copy[key], path[1:], name, new)
    elif name == "remove":
        del copy[_key(copy, path[0])]
    elif name == "add" and isinstance(copy, list):
        copy.insert(int(_key(copy, path[0], is_new=True)), new)
    else:
        copy[_key(copy, path[0], is_new=name == "add")] = new
    return copy


def _find(value: Parsed, path: list[str]) -> Parsed:
    for segment in path:
        container: Parsed = value if isinstance(value, (list, dict)) else refuse(f"there is no container at {path!r}")
        value = container[_key(container, segment)]
    return value


def _key(container: Parsed, segment: str, *, is_new: bool = False) -> Segment:
    """Return the key or index that a segment means; without `is_new` there must be something."""
    if isinstance(container, dict):
        return segment if is_new or segment in container else refuse(f"there is nothing at {segment!r}")
    if is_new and segment == "-":
        return len(container)
    if not is_index(segment, len(container) + is_new):
        refuse(f"there is nothing at {segment!r} of {len(container)} items")
    return int(segment)


_ALL: Final = {"timestamp?": "count", "rawEvent?": "something", "metadata?": "object"}
_MESSAGE: Final = {"messageId": "text"}
_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "RUN_STARTED": {
        "threadId": "text",
        "runId": "text",
        "protocolVersion?": "text",
        "parentRunId?": "text",
        "input?": "object",
    },
    "RUN_FINISHED": {
        "threadId": "text",
        "runId": "text",
        "result?": "something",
        "outcome?": "object",
        "usage?": "list",
    },
    "RUN_ERROR": {"message": "text", "code?": "text", "usage?": "list"},
    "STEP_STARTED": {"stepName": "text"},
    "STEP_FINISHED": {"stepName": "text"},
    "TEXT_MESSAGE_START": {**_MESSAGE, "role?": "text", "name?": "text"},
    "TEXT_MESSAGE_CONTENT": {**_MESSAGE, "delta": "text"},
    "TEXT_MESSAGE_END": _MESSAGE,
    "TOOL_CALL_START": {"toolCallId": "text", "toolCallName": "text", "parentMessageId?": "text"},
    "TOOL_CALL_ARGS": {"toolCallId": "text", "delta": "text"},
    "TOOL_CALL_END": {"toolCallId": "text"},
    "TOOL_CALL_RESULT": {**_MESSAGE, "toolCallId": "text", "content": "something", "role?": "text"},
    "STATE_SNAPSHOT": {"snapshot": "anything"},
    "STATE_DELTA": {"delta": "list"},
    "REASONING_START": _MESSAGE,
    "REASONING_END": _MESSAGE,
    "REASONING_MESSAGE_START": {**_MESSAGE, "role": "text"},
    "REASONING_MESSAGE_CONTENT": {**_MESSAGE, "delta": "text"},
    "REASONING_MESSAGE_END": _MESSAGE,
    "REASONING_ENCRYPTED_VALUE": {"subtype": "text", "entityId": "text", "encryptedValue": "text"},
    "ACTIVITY_SNAPSHOT": {**_MESSAGE, "activityType": "text", "content": "object", "replace?": "switch"},
    "ACTIVITY_DELTA": {**_MESSAGE, "activityType": "text", "patch": "list"},
    "SUBAGENT_STARTED": {
        "name": "text",
        "description?": "text",
        "parentSubagentRunId?": "text",
        "parentToolCallId?": "text",
        "parentMessageId?": "text",
    },
    "SUBAGENT_FINISHED": {"result?": "something", "outcome?": "object"},
    "SUBAGENT_ERROR": {"message": "text", "code?": "text"},
    "RAW": {"event": "anything", "source?": "text"},
    "CUSTOM": {"name": "text", "value": "anything"},
}
_USAGE: Final = {
    "provider?": "text",
    "model?": "text",
    "inputTokens?": "count",
    "outputTokens?": "count",
    "totalTokens?": "count",
    "reasoningTokens?": "count",
    "cachedInputTokens?": "count",
    "cacheWriteInputTokens?": "count",
}
_OUTCOMES: Final = {"success": {"pendingToolCallIds?": "list"}, "interrupt": {"interrupts": "list"}, "cancelled": {}}
_INTERRUPT: Final = {
    "id": "text",
    "reason": "text",
    "message?": "text",
    "toolCallId?": "text",
    "subagentRunId?": "text",
    "responseSchema?": "object",
    "expiresAt?": "text",
    "metadata?": "object",
}
_ROLES: Final = {"developer", "system", "assistant", "user"}


@dataclass
class AgUiCall:
    """A tool call, as a client has it."""

    name: str
    arguments: str = ""
    """As text; JSON if the call may be run."""
    state: Literal["open", "ready", "answered"] = "open"
    """Only a call that is `ready` may be run; `answered` says that there is a result."""
    is_ended: bool = False
    """Whether it has its TOOL_CALL_END: clients then look whether there is a result, and run it if there is none."""


@dataclass
class AgUiRun:
    """What a client has at the end of a stream."""

    messages: list[dict[str, Parsed]] = field(default_factory=list)
    calls: dict[str, AgUiCall] = field(default_factory=dict)
    """By id."""
    state: Parsed = field(default_factory=dict)
    custom: list[tuple[str, Parsed]] = field(default_factory=list)
    """Names and values of custom events."""
    subagents: dict[str, str] = field(default_factory=dict)
    """How the runs of tools ended, by id: `finished` or `error`."""
    end: dict[str, Parsed] = field(default_factory=dict)
    """The event that ended the run."""


def check_ag_ui(stream: bytes | str, state: Parsed = None, before: AgUiRun | None = None) -> AgUiRun:
    """Return what a client has at the end of a stream of AG-UI, or raise `ProtocolError`.

    `state` is the state of the client before; `before` is all that it has from the run before, in place of it.
    Chunk events are not known here.

    >>> started = 'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}'
    >>> check_ag_ui(started + "\\n\\n")
    Traceback (most recent call last):
    jsontide.testing.ProtocolError: the stream ends without RUN_FINISHED or RUN_ERROR
    """
    checker = _AgUiChecker({} if state is None else state, before)
    read_events(sse_events(stream), checker.read)
    if not checker.run.end:
        raise ProtocolError("the stream ends without RUN_FINISHED or RUN_ERROR")
    return checker.run


def _fields_of(kind: str) -> Fields | None:
    fields = _FIELDS.get(kind)
    if fields is None or kind.startswith("RUN_"):
        return None if fields is None else {**fields, **_ALL}
    name = "subagentRunId" if kind.startswith("SUBAGENT_") else "subagentRunId?"
    return {**fields, **_ALL, name: "text"}


def _owner_of(event: Event) -> dict[str, Parsed]:
    """Return the run of a tool that something belongs to, as a client notes it."""
    return {"subagentRunId": event["subagentRunId"]} if "subagentRunId" in event else {}


class _AgUiChecker:
    """What a client has so far, and which texts, calls and steps are open."""

    def __init__(self, state: Parsed, before: AgUiRun | None) -> None:
        begun = AgUiRun(state=state) if before is None else deepcopy(before)
        self.run: Final = replace(begun, custom=[], subagents={}, end={})
        self.closed: Final = {message["id"] for message in self.run.messages}
        """Messages of earlier runs and steps: more of them would be glued to what stands before their results."""
        self.started: Event | None = None
        self.open: Final[dict[tuple[str, str], None]] = {}  # kind and id
        self._readers: Final[Mapping[str, Callable[[Event], None]]] = {
            "RUN_STARTED": self._start_run,
            "RUN_FINISHED": self._finish_run,
            "RUN_ERROR": self._end_run,
            "TEXT_MESSAGE_START": self._start_text,
            "TEXT_MESSAGE_CONTENT": self._grow_text,
            "REASONING_MESSAGE_START": self._start_text,
            "REASONING_MESSAGE_CONTENT": self._grow_text,
            "TOOL_CALL_START": self._start_call,
            "TOOL_CALL_ARGS": self._grow_call,
            "TOOL_CALL_END": self._end_call,
            "TOOL_CALL_RESULT": self._answer_call,
            "STATE_SNAPSHOT": self._set_state,
            "STATE_DELTA": self._patch_state,
            "CUSTOM": self._add_custom,
            "STEP_FINISHED": self._finish_step,
            "REASONING_ENCRYPTED_VALUE": self._add_encrypted,
            "ACTIVITY_SNAPSHOT": self._show_activity,
            "ACTIVITY_DELTA": self._patch_activity,
            "SUBAGENT_FINISHED": self._finish_subagent,
            "SUBAGENT_ERROR": self._finish_subagent,
        }

    def read(self, data: str) -> None:
        event = load_event(data, _fields_of)
        kind = event["type"]
        if self.run.end:
            refuse(f"{kind} follows the end of the run")
        if self.started is None and kind not in {"RUN_STARTED", "RUN_ERROR"}:
            refuse(f"the first event must be RUN_STARTED, not {kind}")
        self._open_or_close(kind, event)
        reader = self._readers.get(kind)
        if reader is not None:
            reader(event)

    def _open_or_close(self, kind: str, event: Event) -> None:
        """Note that an event begins or ends something; it must have begun before it grows."""
        thing, _, what = kind.rpartition("_")
        own = event.get("subagentRunId")
        if own is not None and kind != "SUBAGENT_STARTED" and ("SUBAGENT", own) not in self.open:
            refuse(f"{kind} of the run of a tool {own!r}, which is not open")
        if kind in {"TOOL_CALL_RESULT", "REASONING_ENCRYPTED_VALUE"} or thing in {"", "RUN", "STATE", "ACTIVITY"}:
            return
        name = event.get("messageId") or event.get("toolCallId") or (own if thing == "SUBAGENT" else None)
        key = (thing, str(name or (event.get("stepName") if own is None else f"{event.get('stepName')} of {own}")))
        if what in {"START", "STARTED"}:
            if key in self.open:
                refuse(f"{kind} of {key[1]!r}, which is open")
            self.open[key] = None
        elif key not in self.open:
            refuse(f"{kind} of {key[1]!r}, which is not open")
        elif what in {"END", "FINISHED", "ERROR"}:
            del self.open[key]

    def _start_run(self, event: Event) -> None:
        if self.started is not None:
            refuse("RUN_STARTED while the run is active")
        self.started = event

    def _finish_run(self, event: Event) -> None:
        if self.open:
            thing, name = next(iter(self.open))
            refuse(f"RUN_FINISHED while {thing} {name!r} is open")
        for name in ("threadId", "runId"):
            if self.started is None or event[name] != self.started[name]:
                refuse(f"{name} is not the same as in RUN_STARTED")
        outcome = event.get("outcome", {"type": "success"})
        if outcome.get("type") not in _OUTCOMES:
            refuse(f"there is no outcome {outcome!r}")
        check_fields(outcome, _OUTCOMES[outcome["type"]])
        for interrupt in outcome.get("interrupts", []):
            check_fields(interrupt, _INTERRUPT)
            call = self.run.calls.get(interrupt.get("toolCallId"))
            if "toolCallId" in interrupt and (call is None or call.state != "ready"):
                refuse(f"the call {interrupt['toolCallId']!r} does not wait for an answer")
        pending = outcome.get("pendingToolCallIds")
        ready = [call_id for call_id, call in self.run.calls.items() if call.state == "ready"]
        if pending is not None and sorted(pending) != sorted(ready):
            refuse(f"pendingToolCallIds must be {ready}, not {pending}")
        self._end_run(event)

    def _end_run(self, event: Event) -> None:
        for usage in event.get("usage", []):
            check_fields(usage, _USAGE)
        self.run.end = event

    def _start_text(self, event: Event) -> None:
        is_reasoning = event["type"].startswith("REASONING")
        role = event.get("role", "assistant")
        if role not in ({"reasoning"} if is_reasoning else _ROLES):
            refuse(f"there is no role {role!r} here")
        found = self._message(event["messageId"])
        if found is None:
            self.run.messages.append({"id": event["messageId"], "role": role, "content": "", **_owner_of(event)})
        elif event["messageId"] in self.closed:
            refuse(f"the message {event['messageId']!r} is of an earlier step or run")
        elif found["role"] != role:
            refuse(f"the message {event['messageId']!r} is of another role: {found['role']!r}")

    def _grow_text(self, event: Event) -> None:
        message = self._message(event["messageId"])
        if message is not None:
            message["content"] = message.get("content", "") + event["delta"]

    def _start_call(self, event: Event) -> None:
        call_id, parent = str(event["toolCallId"]), str(event.get("parentMessageId", event["toolCallId"]))
        if call_id in self.run.calls:
            refuse(f"there is a call {call_id!r} already")
        owner = self._message(parent)
        if owner is None:
            owner = {"id": parent, "role": "assistant", **_owner_of(event)}
            self.run.messages.append(owner)
        elif parent in self.closed:
            refuse(f"the message {parent!r} is of an earlier step or run")
        elif owner["role"] != "assistant":
            refuse(f"the message {parent!r} is not the assistant's")
        function = {"name": event["toolCallName"], "arguments": ""}
        owner.setdefault("toolCalls", []).append({"id": call_id, "type": "function", "function": function})
        self.run.calls[call_id] = AgUiCall(event["toolCallName"])

    def _open_call(self, event: Event) -> AgUiCall:
        call = self.run.calls[event["toolCallId"]]
        if call.state != "open":
            refuse(f"the call {event['toolCallId']!r} has a result already")
        return call

    def _grow_call(self, event: Event) -> None:
        call = self._open_call(event)
        call.arguments += event["delta"]
        for message in self.run.messages:
            for entry in message.get("toolCalls", []):
                if entry["id"] == event["toolCallId"]:
                    entry["function"]["arguments"] = call.arguments

    def _end_call(self, event: Event) -> None:
        call = self.run.calls[event["toolCallId"]]
        call.is_ended = True
        if call.state == "answered":
            return
        check_arguments(call.arguments, f"the arguments of {event['toolCallId']!r}")
        call.state = "ready"

    def _answer_call(self, event: Event) -> None:
        call = self.run.calls.get(event["toolCallId"])
        if self._message(event["messageId"]) is not None:
            refuse(f"there is a message {event['messageId']!r} already")
        if call is None or call.state == "answered":
            refuse(f"no call {event['toolCallId']!r} waits for a result")
        call.state = "answered"
        message = {"id": event["messageId"], "toolCallId": event["toolCallId"], "role": "tool"}
        more = {"metadata": event["metadata"]} if "metadata" in event else {}
        message |= {"content": event["content"], **_owner_of(event), **more}
        self.run.messages.insert(self._place_of(event["toolCallId"]), message)

    def _place_of(self, call_id: str) -> int:
        """Return where the result of a call stands: after the message of the call, and the results that follow it."""
        messages = self.run.messages
        calls = [[entry["id"] for entry in message.get("toolCalls", [])] for message in messages]
        at = next(at for at, ids in enumerate(calls, 1) if call_id in ids)
        while at < len(messages) and messages[at]["role"] == "tool":
            at += 1
        return at

    def _finish_step(self, event: Event) -> None:
        own = event.get("subagentRunId")
        self.closed.update(each["id"] for each in self.run.messages if each.get("subagentRunId") == own)

    def _add_encrypted(self, event: Event) -> None:
        """Keep what a provider needs to have back; a client drops it without a word if there is no such thing."""
        name = event["entityId"]
        if event["subtype"] not in {"message", "tool-call"}:
            refuse(f"there is no subtype {event['subtype']!r}")
        entries = [entry for message in self.run.messages for entry in message.get("toolCalls", [])]
        known = self.run.messages if event["subtype"] == "message" else entries
        entity = next((each for each in known if each["id"] == name), None)
        if entity is None:
            refuse(f"there is no {event['subtype']} {name!r}")
        entity["encryptedValue"] = event["encryptedValue"]

    def _show_activity(self, event: Event) -> None:
        refuse_unsafe(event["content"])
        found = self._message(event["messageId"])
        about = {"activityType": event["activityType"], "content": event["content"]}
        if found is None:
            activity = {"id": event["messageId"], "role": "activity", **about, **_owner_of(event)}
            self.run.messages.append(activity)
        elif found["role"] != "activity":
            refuse(f"the message {event['messageId']!r} is no activity")
        elif event.get("replace", True):
            found |= about

    def _patch_activity(self, event: Event) -> None:
        refuse_unsafe(event["patch"])
        found = self._message(event["messageId"])
        if found is None or found["role"] != "activity":
            refuse(f"there is no activity {event['messageId']!r}")
        found["content"] = apply_patch(found["content"], event["patch"])

    def _finish_subagent(self, event: Event) -> None:
        own = event["subagentRunId"]
        inside = [key for key in self.open if key[0] == "STEP" and key[1].endswith(f" of {own}")]
        if inside:
            refuse(f"{event['type']} while a step of {own!r} is open")
        self.run.subagents[own] = event["type"].removeprefix("SUBAGENT_").lower()

    def _set_state(self, event: Event) -> None:
        refuse_unsafe(event["snapshot"])
        self.run.state = event["snapshot"]

    def _patch_state(self, event: Event) -> None:
        refuse_unsafe(event["delta"])
        self.run.state = apply_patch(self.run.state, event["delta"])

    def _add_custom(self, event: Event) -> None:
        refuse_unsafe(event["value"])
        self.run.custom.append((event["name"], event["value"]))

    def _message(self, message_id: str) -> dict[str, Parsed] | None:
        return next((message for message in self.run.messages if message["id"] == message_id), None)
