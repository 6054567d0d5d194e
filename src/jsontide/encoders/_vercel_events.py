"""The steps of a message in, events of Vercel's UI message stream out.

Only what ai 5, 6 and 7 all accept by default: one wrong word, or a `null` where something is optional, makes a client
drop the rest of the stream.

Rule: only `CallReady` becomes `tool-input-available` without `providerExecuted`, the event that makes a client run a
tool.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Final, TypeAlias, cast

from jsontide._values import MISSING, JsonValue
from jsontide.encoders.hostile_keys import HostileKeys, find_hostile_key, without_hostile_keys
from jsontide.encoders.progress import (
    ArgumentsGrew,
    CallFailed,
    CallReady,
    CallStarted,
    Ended,
    PartAdded,
    ServerCallEnded,
    Step,
    TextEnded,
    TextGrew,
    TextStarted,
)
from jsontide.messages.calls import ServerCall
from jsontide.messages.message import Message
from jsontide.messages.parts import File, Source
from jsontide.messages.types import Outcome, Usage

Event: TypeAlias = dict[str, JsonValue]

_REASONS: Final = {
    "stop": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool-calls",
    "length": "length",
    "content_filter": "content-filter",
    "refusal": "content-filter",
}
"""Why a message ended, in the words that all clients know."""
_WITHHELD: Final = (Outcome.REFUSED, Outcome.FILTERED)
_BY_ITSELF: Final = (Outcome.COMPLETE, Outcome.EMPTY)
_USAGE: Final = {"cached_tokens": "cachedInputTokens", "cache_write_tokens": "cacheWriteTokens"}
"""Where the AI SDK has other words than ours in its own case."""
_NO_RESULT: Final = "the provider gave no result"
_CUT_OFF: Final = "the call broke off"


def explain_key(key: str) -> str:
    return f"the key {key!r} is not sent, because clients refuse it"


class VercelWriter:
    """Writes steps as events, given the options of the encoder."""

    __slots__ = ("_call", "_hostile_keys")

    def __init__(self, hostile_keys: HostileKeys, *, dynamic_tools: bool) -> None:
        self._hostile_keys: Final = hostile_keys
        self._call: Final[Event] = {"dynamic": True} if dynamic_tools else {}

    def write(self, step: Step) -> list[Event]:
        """Return the events of a step; what a client has no word for gives none."""
        match step:
            case TextStarted() | TextGrew() | TextEnded():
                return [_write_text(step)]
            case CallStarted():
                return [self._about("tool-input-start", step.id, step.on_server, toolName=step.name)]
            case ArgumentsGrew():
                return [{"type": "tool-input-delta", "toolCallId": step.id, "inputTextDelta": step.delta}]
            case CallReady():
                return [self._ready(step.id, step.name, step.arguments, on_server=False)]
            case CallFailed():
                return [self._failed(step.id, step.name, step.partial, step.reason, on_server=False)]
            case ServerCallEnded():
                return self._ended_on_server(step)
            case PartAdded():
                return _write_part(step)
            case Ended():
                return write_end(step.message, step.error)
        return []  # what it cost is told at the end

    def clean(self, value: object) -> tuple[JsonValue, str | None]:
        """Return a value as it may be sent, and why it must not be sent after all, if that is so."""
        key = find_hostile_key(value)
        reason = None if key is None or self._hostile_keys == "drop" else explain_key(key)
        return without_hostile_keys(cast("JsonValue", value)), reason

    def _ready(self, call_id: str, name: str, arguments: object, *, on_server: bool) -> Event:
        cleaned, reason = self.clean(arguments)
        if reason is not None:
            return self._failed(call_id, name, cleaned, reason, on_server=on_server)
        return self._about("tool-input-available", call_id, on_server, toolName=name, input=cleaned)

    def _failed(self, call_id: str, name: str, partial: object, reason: str, *, on_server: bool) -> Event:
        shown = {} if partial is MISSING else self.clean(partial)[0]
        return self._about("tool-input-error", call_id, on_server, toolName=name, input=shown, errorText=reason)

    def _ended_on_server(self, step: ServerCallEnded) -> list[Event]:
        """Return the arguments of a tool that the provider runs, and what came of it as far as it is known."""
        call, partial = step.call, step.call.partial
        if call.result is MISSING and call.arguments and not call.is_complete(()):
            return [self._failed(step.id, step.name, partial, _CUT_OFF, on_server=True)]
        arguments = self._ready(step.id, step.name, {} if partial is MISSING else partial, on_server=True)
        if call.needs_action or arguments["type"] == "tool-input-error":
            return [arguments]
        return [arguments, self._output(step.id, call)]

    def _output(self, call_id: str, call: ServerCall) -> Event:
        output, reason = self.clean({"status": call.status} if call.result is MISSING else call.result)
        if call.result is MISSING and call.status != "completed":
            reason = _NO_RESULT if call.status is None else f"{_NO_RESULT}, and says: {call.status}"
        if reason is not None:
            return self._about("tool-output-error", call_id, True, errorText=reason)
        return self._about("tool-output-available", call_id, True, output=output)

    def _about(self, name: str, call_id: str, on_server: bool, **more: JsonValue) -> Event:
        """Return an event about a call, with what must be the same in all of them."""
        event: Event = {"type": name, "toolCallId": call_id, **more, **self._call}
        if on_server:
            event["providerExecuted"] = True
        return event


def write_end(message: Message, error: str | None) -> list[Event]:
    """Return how a message ended: it finished, was stopped, or failed."""
    if _is_failure(message):
        return write_failure(message, error or "the stream failed")
    if message.outcome is Outcome.CANCELLED:
        return [*_write_cost(message), {"type": "abort"}]
    return [*_write_cost(message), {"type": "finish-step"}, {"type": "finish", "finishReason": _finish_reason(message)}]


def write_failure(message: Message, reason: str) -> list[Event]:
    """Return the end of a message that failed; a client reads nothing after it."""
    return [*_write_cost(message), {"type": "error", "errorText": reason}]


def _write_cost(message: Message) -> list[Event]:
    usage = message.usage
    return [] if usage is None else [{"type": "message-metadata", "messageMetadata": {"usage": plain_usage(usage)}}]


def _is_failure(message: Message) -> bool:
    """Return whether the stream failed, or what came of it is not what was asked for.

    A message that is still streaming was given up.
    """
    if message.outcome in {Outcome.STREAMING, Outcome.INVALID}:
        return True
    return any(error.source == "stream" for error in message.errors)


def _finish_reason(message: Message) -> str:
    if message.outcome in _WITHHELD:
        return "content-filter"
    reason = _REASONS.get(message.finish_reason or "", "other")
    return reason if message.outcome in _BY_ITSELF or reason == "length" else "other"


def plain_usage(usage: Usage) -> JsonValue:
    """Return what a message cost in the words of the AI SDK, without what is not known."""
    known = {field.name: getattr(usage, field.name) for field in fields(usage) if field.name != "raw"}
    return {_USAGE.get(name, _camel(name)): count for name, count in known.items() if count is not None}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _write_text(step: TextStarted | TextGrew | TextEnded) -> Event:
    kind = "reasoning" if step.kind == "reasoning" else "text"  # for a refusal there is no word
    if isinstance(step, TextGrew):
        return {"type": f"{kind}-delta", "id": step.id, "delta": step.delta}
    return {"type": f"{kind}-start" if isinstance(step, TextStarted) else f"{kind}-end", "id": step.id}


def _write_part(step: PartAdded) -> list[Event]:
    part = step.part
    if isinstance(part, Source):
        return _write_source(step.id, part)
    return _write_file(part) if isinstance(part, File) else []


def _write_source(source_id: str, source: Source) -> list[Event]:
    title: Event = {} if source.title is None else {"title": source.title}
    if source.url is not None:
        return [{"type": "source-url", "sourceId": source_id, "url": source.url, **title}]
    return [{"type": "source-document", "sourceId": source_id, "mediaType": "text/plain", **title}] if title else []


def _write_file(file: File) -> list[Event]:
    """Return a file that the client can show: one that it gets by an address, or whole."""
    kind = file.media_type or "application/octet-stream"
    url = file.url if file.url is not None or file.data is None else f"data:{kind};base64,{file.data}"
    return [] if url is None else [{"type": "file", "url": url, "mediaType": kind}]
