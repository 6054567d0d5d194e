"""Steps of a message in, events of AG-UI out.

Rule: every START has its END, except for a call that must not be run: that one gets a result that says why.
"""

from __future__ import annotations

from typing import Final

from jsontide._values import MISSING, JsonValue
from jsontide.encoders._answer_text import place_of
from jsontide.encoders.hostile_keys import safe_value
from jsontide.encoders.message_value import plain_part
from jsontide.encoders.progress import (
    ArgumentsGrew,
    CallFailed,
    CallReady,
    CallStarted,
    PartAdded,
    ServerCallEnded,
    Step,
    TextEnded,
    TextGrew,
    TextStarted,
)
from jsontide.messages.calls import BaseCall, ServerCall
from jsontide.messages.message import Message
from jsontide.messages.parts import Refusal, TextPart

_LARGEST: Final = 2**53 - 1
_COUNTS: Final = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "reasoningTokens": "reasoning_tokens",
    "cachedInputTokens": "cached_tokens",
    "cacheWriteInputTokens": "cache_write_tokens",
}


class EventWriter:
    """Collects the events of one message's steps."""

    def __init__(self, name: str, message: Message) -> None:
        self.events: Final[list[dict[str, object]]] = []
        self._name: Final = name
        self._main: Final = _main_text(message)

    def write(self, step: Step) -> None:
        if isinstance(step, (TextStarted, TextGrew, TextEnded)):
            self._write_text(step)
        elif isinstance(step, (CallStarted, ArgumentsGrew, CallReady, CallFailed, ServerCallEnded)):
            self._write_call(step)
        elif isinstance(step, PartAdded):
            value = plain_part(step.part)
            self._add_custom(str(value.pop("type")), {"id": step.id, **value})

    def _write_text(self, step: TextStarted | TextGrew | TextEnded) -> None:
        message_id = self._message_id(place_of(self._name, step.id))
        if step.kind == "reasoning":
            self._write_reasoning(step, message_id)
        elif isinstance(step, TextStarted):
            self._add("TEXT_MESSAGE_START", messageId=message_id, role="assistant")
        elif isinstance(step, TextGrew):
            self._add("TEXT_MESSAGE_CONTENT", messageId=message_id, delta=step.delta)
        else:
            self._add("TEXT_MESSAGE_END", messageId=message_id)

    def _write_reasoning(self, step: TextStarted | TextGrew | TextEnded, message_id: str) -> None:
        span = f"{message_id}-span"
        if isinstance(step, TextStarted):
            self._add("REASONING_START", messageId=span)
            self._add("REASONING_MESSAGE_START", messageId=message_id, role="reasoning")
        elif isinstance(step, TextGrew):
            self._add("REASONING_MESSAGE_CONTENT", messageId=message_id, delta=step.delta)
        else:
            self._add("REASONING_MESSAGE_END", messageId=message_id)
            self._add("REASONING_END", messageId=span)

    def _write_call(self, step: CallStarted | ArgumentsGrew | CallReady | CallFailed | ServerCallEnded) -> None:
        if isinstance(step, ServerCallEnded):
            self._add_custom("server_call", _plain_server_call(step.id, step.name, step.call))
        elif isinstance(step, CallReady):
            self._add("TOOL_CALL_END", toolCallId=step.id)
        elif isinstance(step, CallFailed):
            said = f"this call was not run: {step.reason}"
            self._add("TOOL_CALL_RESULT", messageId=f"{step.id}-result", toolCallId=step.id, content=said)
        elif step.on_server:
            if isinstance(step, CallStarted):
                self._add_custom("server_call", {"id": step.id, "name": step.name, "status": "started"})
        elif isinstance(step, CallStarted):
            self._add("TOOL_CALL_START", toolCallId=step.id, toolCallName=step.name, parentMessageId=self._name)
        else:
            self._add("TOOL_CALL_ARGS", toolCallId=step.id, delta=step.delta)

    def _message_id(self, at: int) -> str:
        """Return the id of the text at a place; if it goes on after its end, it has the same one."""
        return self._name if at == self._main else f"{self._name}-{at}"

    def _add_custom(self, name: str, value: dict[str, JsonValue]) -> None:
        self._add("CUSTOM", name=f"jsontide.{name}", value=safe_value(value))

    def _add(self, event: str, **fields: object) -> None:
        self.events.append({"type": event, **fields})


def _main_text(message: Message) -> int | None:
    """Return the place of the text that is one message with the calls: the first, if no call stands before it."""
    for at, part in enumerate(message.parts):
        if isinstance(part, (TextPart, Refusal)):
            return at
        if isinstance(part, BaseCall) and not isinstance(part, ServerCall):
            return None
    return None


def _plain_server_call(call_id: str, name: str, call: ServerCall) -> dict[str, JsonValue]:
    plain: dict[str, JsonValue] = {"id": call_id, "name": name, "status": call.status or "ended"}
    if call.partial is not MISSING:
        plain["arguments"] = call.partial
    if call.result is not MISSING:
        plain["result"] = call.result
    return plain


def write_usage(message: Message) -> dict[str, object]:
    """Return what a message costs, as a field of the event that ends the run; nothing if it is not known."""
    usage = message.usage
    if usage is None:
        return {}
    entry: dict[str, object] = {}
    if message.provider is not None:
        entry["provider"] = message.provider
    if message.model is not None:
        entry["model"] = message.model
    for name, field in _COUNTS.items():
        _count(entry, name, getattr(usage, field))
    if usage.input_tokens is not None and usage.output_tokens is not None:
        _count(entry, "totalTokens", usage.input_tokens + usage.output_tokens)
    return {"usage": [entry]}


def _count(entry: dict[str, object], name: str, count: object) -> None:
    """Add a number of tokens, if it is one that the protocol takes."""
    if isinstance(count, int) and 0 <= count <= _LARGEST:
        entry[name] = count
