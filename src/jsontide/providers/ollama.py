"""Ollama's own endpoints: `/api/chat`, and `/api/generate`, whose text stands beside what all lines have.

In: a line of its NDJSON as dict, or an SDK object. Out: notes on a draft.
Arguments come whole, as an object, without id or index: each entry is a call.
"""

from __future__ import annotations

from typing import Any, Final

from jsontide._values import JsonValue
from jsontide.messages.draft import NO_INDEX, NO_KEY, CallDelta, Draft
from jsontide.messages.parts import File
from jsontide.messages.types import Usage
from jsontide.providers.fields import (
    arguments_of,
    as_dict,
    as_text,
    check_fields,
    check_function,
    check_item,
    check_rest,
    check_unknown,
    count_of,
    created_of,
    fields_in,
    is_object,
    is_true,
    items_in,
    list_of,
    plain,
    text_of,
)
from jsontide.providers.reader import ANOTHER, Reader, read_error

_READ: Final = frozenset(
    (
        "created_at",
        "done",
        "done_reason",
        "error",
        "eval_count",
        "logprobs",
        "message",
        "model",
        "prompt_eval_count",
        "response",
        "thinking",
    )
)
"""The fields of a line that are read; all others, such as durations, are kept as they are."""
_MESSAGE_READ: Final = frozenset(("content", "images", "role", "thinking", "tool_calls"))
_CALL_READ: Final = frozenset(("function", "id", "type"))
_FUNCTION_READ: Final = frozenset(("arguments", "index", "name"))
_SAYS: Final = ("content", "images", "thinking", "tool_calls")
_COUNTS: Final = ("prompt_eval_count", "eval_count")


class OllamaReader(Reader):
    """Reads lines; what one says after the end is of another message."""

    __slots__ = ("has_ended",)

    def __init__(self, has_ended: bool = False) -> None:
        self.has_ended: Final = has_ended

    @property
    def name(self) -> str:
        return "ollama"

    def fits(self, event: dict[str, Any]) -> bool:
        is_line = event.get("done") is not None and _message_of(event) is not None
        return is_line or text_of(event, "error") is not None

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        return [event] if is_true(event, "done") and _message_of(event) is not None else None

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        given, is_done = _message_of(event), is_true(event, "done")
        # Beside an answer, an error that says nothing is none.
        if (given is None or event.get("error")) and (read_error(draft, event) or not is_done):
            return self
        if self.has_ended and any([bool(as_dict(given).get(name)) for name in _SAYS]):
            draft.fail(ANOTHER)
            return self
        if draft.provider is None or draft.model is None:
            draft.identify(None, text_of(event, "model"), created_of(event.get("created_at")), self.name)
        for name, value in event.items():
            if name not in _READ and value is not None:
                check_unknown(draft, name, value)
                draft.set_metadata(name, plain(value))
        _read_message(draft, check_fields(draft, "message", given))
        logprobs = event.get("logprobs")
        if isinstance(logprobs, (list, tuple)):
            draft.extend_metadata("logprobs", [plain(item) for item in logprobs])
        if is_done:
            _read_end(draft, event)
            return OllamaReader(True)
        return self

    def _fields(self) -> tuple[object, ...]:
        return (self.has_ended,)


def _message_of(event: dict[str, Any]) -> object:
    """Return the message of a line, `None` if it has none."""
    given = event.get("message")
    if given is not None or text_of(event, "response") is None:
        return given
    return {"content": event["response"], "thinking": event.get("thinking")}


def _read_message(draft: Draft, message: dict[str, Any]) -> None:
    """Note what is new, in the order in which a model says it."""
    draft.set_role(text_of(message, "role"))
    draft.add_reasoning(NO_KEY, text_of(message, "thinking") or "")
    draft.add_text(NO_KEY, text_of(message, "content") or "")
    for image in list_of(message, "images"):
        data = as_text(plain(image)) or as_text(plain(as_dict(image).get("value")))
        draft.put(NO_KEY, File(None, data, index=draft.place_of(NO_KEY)))
    for call in items_in(draft, message, "tool_calls"):
        _read_call(draft, check_item(draft, "tool_calls", call))
    for name, value in message.items():
        if name not in _MESSAGE_READ and value is not None:
            check_unknown(draft, name, value)
            draft.set_metadata(name, plain(value))


def _read_call(draft: Draft, call: dict[str, Any]) -> None:
    function = fields_in(draft, call, "function")
    check_rest(draft, call, _CALL_READ)
    check_function(draft, function, _FUNCTION_READ)
    given = function.get("arguments")
    text, name = arguments_of(given), text_of(function, "name")
    at = draft.add_call(CallDelta(NO_INDEX, text_of(call, "id"), name, text, is_object=is_object(given)))
    extra: dict[str, JsonValue] = {}
    for name, value in [*call.items(), *function.items()]:
        if name not in ("arguments", "function", "id", "name", "type") and value is not None:
            extra[name] = plain(value)
    draft.label(at, None, extra or None, False)


def _read_end(draft: Draft, event: dict[str, Any]) -> None:
    spent, said = count_of(event, "prompt_eval_count"), count_of(event, "eval_count")
    if spent is not None or said is not None:
        raw = {name: plain(event[name]) for name in _COUNTS if event.get(name) is not None}
        total = None if spent is None or said is None else spent + said
        draft.set_usage(Usage(input_tokens=spent, output_tokens=said, total_tokens=total, raw=raw))
    reason = text_of(event, "done_reason")
    # Old servers do not say why; what is not a text is a reason that nobody knows.
    given = event.get("done_reason")
    draft.finish(reason or (repr(given) if given else "stop"), reason)
