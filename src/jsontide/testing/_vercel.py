"""A UI message stream in, the message that a client makes of it out, or the first rule that it breaks.

Clients forgive mistakes, or fail without an explanation: a stream without an end looks finished to `useChat`, and a
call that broke off looks like one that is still running. This checker knows the rules that clients enforce, and those
that they should enforce:

- events and fields as ai 5, 6 and 7 all accept them, and those of approvals, which 5 does not know; one JSON object per
  event, `[DONE]` last;
- one `start`, first; steps do not overlap; one end, and nothing after it but `[DONE]`;
- texts and calls begin once, grow only while they are open, and are ended before their step is;
- an error of a call is not taken back;
- a result comes after the arguments, and only a preliminary one is followed by another;
- a person is asked about a call that waits, once, and says no only to what was asked;
- no key that makes a client drop the stream.

A client ignores fields that it does not know, so a misspelled `providerExecuted` would make it run a tool a second
time; here they are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, TypeAlias

from jsontide.testing._events import (
    DONE,
    Event,
    Fields,
    ProtocolError,
    load_event,
    read_events,
    refuse,
    refuse_unsafe,
    sse_events,
)

_META: Final[Fields] = {"providerMetadata?": "object"}
_CALL: Final[Fields] = {"toolCallId": "text", "providerExecuted?": "switch", "dynamic?": "switch", **_META}
_NAMED_CALL: Final[Fields] = {**_CALL, "toolName": "text", "title?": "text"}

_FIELDS: Final[Mapping[str, Fields]] = {
    "start": {"messageId?": "text", "messageMetadata?": "object"},
    "start-step": {},
    "finish-step": {},
    "text-start": {"id": "text", **_META},
    "text-delta": {"id": "text", "delta": "text", **_META},
    "text-end": {"id": "text", **_META},
    "reasoning-start": {"id": "text", **_META},
    "reasoning-delta": {"id": "text", "delta": "text", **_META},
    "reasoning-end": {"id": "text", **_META},
    "tool-input-start": _NAMED_CALL,
    "tool-input-delta": {"toolCallId": "text", "inputTextDelta": "text"},
    "tool-input-available": {**_NAMED_CALL, "input": "anything"},
    "tool-input-error": {**_NAMED_CALL, "input": "anything", "errorText": "text"},
    "tool-output-available": {**_CALL, "output": "anything", "preliminary?": "switch"},
    "tool-output-error": {**_CALL, "errorText": "text"},
    "tool-output-denied": _CALL,
    "tool-approval-request": {"approvalId": "text", "toolCallId": "text", "reason?": "text", "signature?": "text"},
    "source-url": {"sourceId": "text", "url": "text", "title?": "text", **_META},
    "source-document": {"sourceId": "text", "mediaType": "text", "title": "text", "filename?": "text", **_META},
    "file": {"url": "text", "mediaType": "text", **_META},
    "message-metadata": {"messageMetadata": "object"},
    "error": {"errorText": "text"},
    "abort": {"reason?": "text"},
    "finish": {"finishReason?": "text", "messageMetadata?": "object"},
}
_DATA: Final[Fields] = {"data": "anything", "id?": "text", "transient?": "switch"}
"""The fields of `data-` and any name."""
_FINISH_REASONS: Final = ("stop", "length", "content-filter", "tool-calls", "error", "other")


def _fields_of(kind: str) -> Fields | None:
    return _DATA if kind.startswith("data-") else _FIELDS.get(kind)


CallState: TypeAlias = Literal[
    "input-streaming", "input-available", "approval-requested", "output-available", "output-error", "output-denied"
]
_APPROVALS: Final = ("tool-approval-request", "tool-output-denied")
_RESULTS: Final = ("output-available", "output-error", "output-denied")
_ENDS: Final = ("finish", "error", "abort")


@dataclass(frozen=True, slots=True, kw_only=True)
class VercelCall:
    """A call as a client has it."""

    id: str
    name: str
    state: CallState
    input: object = None
    """The arguments: whole, or those that were known when the call failed."""
    input_text: str = ""
    """The arguments as they came."""
    approval_id: str | None = None
    output: object = None
    preliminary: bool = False
    """Whether the output is not the last one."""
    error_text: str | None = None
    provider_executed: bool = False
    dynamic: bool = False
    may_run: bool = False
    """Whether the client runs it, unless it has a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VercelReport:
    """The message that a client makes of a stream."""

    message_id: str | None
    parts: tuple[dict[str, Any], ...]
    """In the order in which the client shows them; calls have the type `call` and their id."""
    calls: tuple[VercelCall, ...]
    metadata: dict[str, Any]
    end: Literal["finish", "error", "abort"]
    finish_reason: str | None = None
    error_text: str | None = None

    @property
    def text(self) -> str:
        """All text for the reader."""
        return "".join([part["text"] for part in self.parts if part["type"] == "text"])

    @property
    def reasoning(self) -> str:
        """All thinking."""
        return "".join([part["text"] for part in self.parts if part["type"] == "reasoning"])

    @property
    def data(self) -> dict[str, Any]:
        """The last value of each kind of data part, without `data-`."""
        parts = [part for part in self.parts if part["type"].startswith("data-")]
        return {part["type"].removeprefix("data-"): part["data"] for part in parts}


def check_vercel(stream: bytes | str, before: VercelReport | None = None, *, approvals: bool = True) -> VercelReport:
    r"""Return the message that a client makes of a whole UI message stream, or raise `ProtocolError`.

    `before` is the message that the stream goes on with, such as one in which a call waited for a person.
    With `approvals=False`, the events that ai 5 does not know are refused.

    >>> check_vercel('data: {"type":"start"}\n\ndata: {"type":"text-delta","id":"1","delta":"Hi"}\n\n')
    Traceback (most recent call last):
    jsontide.testing.ProtocolError: event 1: text-delta: '1' is not open
    """
    checker = _VercelChecker(approvals=approvals)
    if before is not None:
        checker.go_on(before)
    read_events(sse_events(stream), checker.read)
    return checker.report()


@dataclass(slots=True)
class _VercelChecker:
    """What a client knows after some events."""

    approvals: bool = True
    is_started: bool = False
    expected_id: str | None = None
    """The message that the stream must go on with."""
    is_done: bool = False
    in_step: bool = False
    end: dict[str, Any] | None = None
    message_id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    parts: list[dict[str, Any]] = field(default_factory=list)
    open: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)

    def go_on(self, before: VercelReport) -> None:
        """Begin with a message that is there."""
        self.expected_id = before.message_id
        self.metadata = deepcopy(before.metadata)
        self.parts = [dict(part) for part in before.parts]
        self.calls = {call.id: {each.name: getattr(call, each.name) for each in fields(call)} for call in before.calls}
        for call in self.calls.values():
            call["has_result"] = call["state"] in _RESULTS

    def read(self, data: str) -> None:
        if self.is_done:
            refuse("something follows [DONE]")
        if data == DONE:
            if self.end is None:
                refuse("[DONE] before the end: finish, error or abort")
            self.is_done = True
            return
        event = load_event(data, _fields_of)
        refuse_unsafe(event)
        if self.end is not None:
            refuse(f"{event['type']} after {self.end['type']}")
        if (event["type"] == "start") == self.is_started:
            refuse("the first event, and no other, is start")
        self.is_started = True
        if event["type"] in _APPROVALS and not self.approvals:
            refuse(f"{event['type']} is not known to ai 5")
        self.apply(event)
        if self.expected_id not in {None, self.message_id}:
            refuse(f"the message is {self.message_id!r}, but {self.expected_id!r} is to go on: a client would have two")

    def apply(self, event: Event) -> None:
        kind = event["type"]
        if kind.startswith(("text-", "reasoning-")):
            self.apply_text(event, *kind.split("-"))
        elif kind in _CALL_RULES:
            _CALL_RULES[kind](self, event)
        elif kind.endswith("-step"):
            self.apply_step(kind)
        elif kind in _ENDS:
            self.apply_end(event)
        elif kind.startswith("data-"):
            self.apply_data(event)
        elif kind not in {"start", "message-metadata"}:
            self.parts.append(event)
        self.message_id = event.get("messageId", self.message_id)
        _merge(self.metadata, event.get("messageMetadata", {}))

    def apply_text(self, event: Event, kind: str, what: str) -> None:
        key = (kind, event["id"])
        if what == "start":
            if key in self.open:
                refuse(f"{event['type']}: {event['id']!r} is already open")
            self.open[key] = {"type": kind, "text": ""}
            self.parts.append(self.open[key])
            return
        if key not in self.open:
            refuse(f"{event['type']}: {event['id']!r} is not open")
        if what == "delta":
            self.open[key]["text"] += event["delta"]
        else:
            del self.open[key]

    def apply_step(self, kind: str) -> None:
        if self.in_step is (kind == "start-step"):
            refuse(f"{kind}: a step {'is already open' if self.in_step else 'is not open'}")
        self.close_parts(kind)
        self.in_step = not self.in_step

    def apply_end(self, event: Event) -> None:
        kind = event["type"]
        self.close_parts(kind)
        if kind == "finish" and self.in_step:
            refuse("finish: a step is still open")
        if event.get("finishReason", "stop") not in _FINISH_REASONS:
            refuse(f"finish: {event['finishReason']!r} is no reason that ai 5, 6 and 7 all know")
        self.end = event

    def close_parts(self, kind: str) -> None:
        """Refuse texts and calls that are still open where all must have ended."""
        for part, key in self.open:
            refuse(f"{kind}: the {part} {key!r} is still open")
        for call in self.calls.values():
            if call["state"] == "input-streaming":
                refuse(f"{kind}: the call {call['id']!r} is still open")

    def apply_data(self, event: Event) -> None:
        same = [part for part in self.parts if part["type"] == event["type"] and part.get("id") == event.get("id")]
        if event.get("transient"):
            return
        if same and "id" in event:
            same[0]["data"] = event["data"]
        else:
            self.parts.append(event)

    def start_call(self, event: Event) -> None:
        key = event["toolCallId"]
        if key in self.calls:
            refuse(f"{event['type']}: the call {key!r} was already begun")
        self.calls[key] = {
            "id": key,
            "name": event["toolName"],
            "state": "input-streaming",
            "input_text": "",
            "provider_executed": event.get("providerExecuted", False),
            "dynamic": event.get("dynamic", False),
            "preliminary": False,
            "has_result": False,
        }
        self.parts.append({"type": "call", "id": key})

    def grow_call(self, event: Event) -> None:
        self.open_call(event)["input_text"] += event["inputTextDelta"]

    def open_call(self, event: Event) -> dict[str, Any]:
        kind, key = event["type"], event["toolCallId"]
        if key not in self.calls:
            refuse(f"{kind}: the call {key!r} was not begun")
        call = self.calls[key]
        if call["state"] != "input-streaming":
            refuse(f"{kind}: the call {key!r} is not open, but {call['state']}")
        return call

    def end_input(self, event: Event) -> None:
        if event["toolCallId"] not in self.calls:
            self.start_call(event)
        call = self.open_call(event)
        self.compare(event, call)
        if event["toolName"] != call["name"]:
            refuse(f"{event['type']}: the call began as {call['name']!r}")
        call["input"] = event["input"]
        is_ready = event["type"] == "tool-input-available"
        call["state"] = "input-available" if is_ready else "output-error"
        call["has_result"] = not is_ready
        call["error_text"] = event.get("errorText")
        call["may_run"] = is_ready and not call["provider_executed"]

    def end_output(self, event: Event) -> None:
        kind, key = event["type"], event["toolCallId"]
        call = self.calls.get(key)
        if call is None or call["state"] == "input-streaming" or (call["has_result"] and not call["preliminary"]):
            refuse(f"{kind}: the call {key!r} has no arguments that can have a result")
        self.compare(event, call)
        call["state"] = kind.removeprefix("tool-")
        call["has_result"] = True
        call["output"], call["error_text"] = event.get("output"), event.get("errorText")
        call["preliminary"] = event.get("preliminary", False)

    def ask(self, event: Event) -> None:
        kind, key = event["type"], event["toolCallId"]
        call = self.calls.get(key)
        if call is None or call["state"] != "input-available":
            refuse(f"{kind}: the call {key!r} does not wait for a person")
        if any(one.get("approval_id") == event["approvalId"] for one in self.calls.values()):
            refuse(f"{kind}: there is a request {event['approvalId']!r} already")
        call["state"], call["approval_id"] = "approval-requested", event["approvalId"]

    def deny(self, event: Event) -> None:
        call = self.calls.get(event["toolCallId"])
        if call is None or call["state"] not in {"input-available", "approval-requested"}:
            refuse(f"{event['type']}: the call {event['toolCallId']!r} does not wait for a person")
        self.compare(event, call)
        call["state"], call["has_result"] = "output-denied", True

    def compare(self, event: Event, call: dict[str, Any]) -> None:
        """Refuse an event that contradicts earlier events of its call."""
        for name, known in (("dynamic", "dynamic"), ("providerExecuted", "provider_executed")):
            if event.get(name, False) != call[known]:
                refuse(f"{event['type']}: {name!r} is not the same as before")

    def report(self) -> VercelReport:
        if not self.is_done or self.end is None:
            raise ProtocolError("the stream ends without [DONE]")
        calls = [{name: value for name, value in call.items() if name != "has_result"} for call in self.calls.values()]
        return VercelReport(
            message_id=self.message_id,
            parts=tuple(self.parts),
            calls=tuple([VercelCall(**call) for call in calls]),
            metadata=self.metadata,
            end=self.end["type"],
            finish_reason=self.end.get("finishReason"),
            error_text=self.end.get("errorText"),
        )


_CALL_RULES: Final[dict[str, Callable[[_VercelChecker, Event], None]]] = {
    "tool-input-start": _VercelChecker.start_call,
    "tool-input-delta": _VercelChecker.grow_call,
    "tool-input-available": _VercelChecker.end_input,
    "tool-input-error": _VercelChecker.end_input,
    "tool-output-available": _VercelChecker.end_output,
    "tool-output-error": _VercelChecker.end_output,
    "tool-output-denied": _VercelChecker.deny,
    "tool-approval-request": _VercelChecker.ask,
}


def _merge(known: dict[str, Any], more: dict[str, Any]) -> None:
    """Add metadata as clients do: objects are merged, everything else is replaced."""
    for name, value in more.items():
        if isinstance(value, dict) and isinstance(known.get(name), dict):
            _merge(known[name], value)
        else:
            known[name] = value
