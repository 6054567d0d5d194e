"""Ollama's own endpoints: `/api/chat`, and `/api/generate`, whose text stands beside what all lines have.

In: a line of its NDJSON as dict, or an SDK object. Out: notes on a draft.
Arguments come whole, as an object, without id or index: each entry is a call.
Requests are messages of `/api/chat`: arguments are objects, and results name the tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from jsontide.messages.calls import ToolCall
from jsontide.messages.draft import NO_INDEX, NO_KEY, CallDelta, Draft
from jsontide.messages.message import Message
from jsontide.messages.options import ToolResult
from jsontide.messages.parts import File, TextPart
from jsontide.providers.base import (
    ANYTHING,
    PIECE,
    SECOND_MESSAGE,
    SILENT,
    Form,
    Item,
    Provider,
    Reader,
    Shown,
    UsageNames,
    arguments_object,
    arguments_of,
    as_dict,
    as_text,
    check_around,
    check_fields,
    check_function,
    check_item,
    check_rest,
    check_unknown,
    count_of,
    created_of,
    fields_in,
    function_tool,
    has_arguments,
    is_object,
    is_own,
    is_true,
    items_in,
    join_texts,
    keep_metadata,
    list_of,
    plain,
    read_error,
    rest_of,
    text_in,
    text_of,
    written_name,
)
from jsontide.providers.strict import ToolRules

_NAME: Final = "ollama"
_LINE_FIELDS: Final = frozenset(
    (
        *("created_at", "done", "done_reason", "error", "eval_count", "logprobs", "message", "model"),
        *("prompt_eval_count", "response", "thinking"),
    )
)
"""The fields of a line that are read; all others, such as durations, are kept as they are."""
_LINE_HOLDERS: Final = frozenset(("error", "logprobs", "message"))
_MESSAGE_FIELDS: Final = frozenset(("content", "images", "role", "thinking", "tool_calls"))
_MESSAGE_HOLDERS: Final = frozenset(("images", "tool_calls"))
_CALL_FIELDS: Final = frozenset(("function", "id", "type"))
_CALL_HOLDERS: Final = frozenset(("function",))
_FUNCTION_FIELDS: Final = frozenset(("arguments", "index", "name"))
_NAMED_FIELDS: Final = frozenset(("arguments", "function", "id", "name", "type"))
"""The fields of a call and its function that a call has, or that go without saying."""
_CONTENT_FIELDS: Final = ("content", "images", "thinking", "tool_calls")
_PIECES: Final = frozenset((("message", "content"), ("message", "thinking"), ("response",)))
_TIME: Final = ("created_at",)
_USAGE_FIELDS: Final = ("prompt_eval_count", "eval_count")
_USAGE: Final = UsageNames(input_tokens="prompt_eval_count", output_tokens="eval_count")


class OllamaReader(Reader):
    """Reads lines; what one says after the end is of another message."""

    __slots__ = ("has_ended",)

    FIELDS: ClassVar[tuple[str, ...]] = ("has_ended",)

    NAME: ClassVar[str] = _NAME

    def __init__(self, has_ended: bool = False) -> None:
        self.has_ended: Final = has_ended

    def fits(self, event: dict[str, Any]) -> bool:
        is_line = event.get("done") is not None and _message_of(event) is not None
        return is_line or text_of(event, "error") is not None

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        return [event] if is_true(event, "done") and _message_of(event) is not None else None

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        given, is_done = _message_of(event), is_true(event, "done")
        # Beside an answer, an empty error is no error.
        if (given is None or event.get("error")) and (read_error(draft, event) or not is_done):
            check_unknown(draft, "", event)
            return self
        if self.has_ended and any([bool(as_dict(given).get(name)) for name in _CONTENT_FIELDS]):
            draft.fail(SECOND_MESSAGE)
            return self
        if draft.provider is None or draft.model is None:
            draft.identify(None, text_of(event, "model"), created_of(event.get("created_at")), self.name)
        keep_metadata(draft, event, _LINE_FIELDS)
        message = check_fields(draft, "message", given)
        _read_message(draft, message)
        if not all([has_arguments(as_dict(call)) for call in list_of(message, "tool_calls")]):
            check_around(draft, event, _LINE_HOLDERS)
            check_around(draft, message, _MESSAGE_HOLDERS)
        logprobs = event.get("logprobs")
        if isinstance(logprobs, (list, tuple)):
            draft.extend_metadata("logprobs", [plain(item) for item in logprobs])
        if is_done:
            _read_end(draft, event)
            return OllamaReader(True)
        return self

    def role_of(self, draft: Draft, event: dict[str, Any], path: tuple[object, ...]) -> int:
        if path in _PIECES:
            return PIECE
        return SILENT if path == _TIME and draft.created is not None else ANYTHING


def _message_of(event: dict[str, Any]) -> object:
    """Return the message of a line, `None` if it has none."""
    given = event.get("message")
    if given is not None or text_of(event, "response") is None:
        return given
    return {"content": event["response"], "thinking": event.get("thinking")}


def _read_message(draft: Draft, message: dict[str, Any]) -> None:
    """Note what is new, in the order in which a model says it."""
    draft.set_role(text_in(draft, message, "role"))
    draft.add_reasoning(NO_KEY, text_in(draft, message, "thinking") or "")
    draft.add_text(NO_KEY, text_in(draft, message, "content") or "")
    check_unknown(draft, "", message.get("images"))
    for image in list_of(message, "images"):
        data = as_text(plain(image)) or as_text(plain(as_dict(image).get("value")))
        draft.set_part(NO_KEY, File(None, data, index=draft.count))
    for call in items_in(draft, message, "tool_calls"):
        _read_call(draft, check_item(draft, "tool_calls", call))
    keep_metadata(draft, message, _MESSAGE_FIELDS)


def _read_call(draft: Draft, call: dict[str, Any]) -> None:
    function = fields_in(draft, call, "function")
    check_rest(draft, call, _CALL_FIELDS)
    check_function(draft, function, _FUNCTION_FIELDS)
    given = function.get("arguments")
    if given is None:
        check_around(draft, call, _CALL_HOLDERS)
    text, name = arguments_of(given), text_of(function, "name")
    at = draft.add_call(CallDelta(NO_INDEX, text_of(call, "id"), name, text, is_object=is_object(given)))
    draft.annotate(at, None, {**rest_of(call, _NAMED_FIELDS), **rest_of(function, _NAMED_FIELDS)} or None, False)


def _read_end(draft: Draft, event: dict[str, Any]) -> None:
    if any([count_of(event, name) is not None for name in _USAGE_FIELDS]):
        draft.set_usage(
            _USAGE.read(event, {name: plain(event[name]) for name in _USAGE_FIELDS if event.get(name) is not None})
        )
    reason = text_of(event, "done_reason")
    # Old servers give no reason; one that is not text is an unknown reason.
    given = event.get("done_reason")
    draft.finish(reason or (repr(given) if given else "stop"), reason)


class OllamaForm(Form):
    """Writes messages."""

    __slots__ = ()

    def write_answer(self, schema: dict[str, Any], *, strict: bool) -> Item:
        return {"format": schema}

    def write_user(self, parts: Sequence[TextPart | File]) -> list[Item]:
        images = self._find_images(parts)
        text = join_texts([part for part in parts if isinstance(part, TextPart) or self.find_file(part) is None])
        item: Item = {"role": "user", "content": text, **({"images": images} if images else {})}
        return [item] if text or images else []

    def find_file(self, file: File) -> Item | None:
        """Return an image whose content is here."""
        shown = Shown(file)
        return {"image": shown.data} if shown.kind == "image" and shown.data else None

    def _find_images(self, parts: Sequence[TextPart | File]) -> list[str]:
        blocks = [self.find_file(part) for part in parts if isinstance(part, File)]
        return [block["image"] for block in blocks if block is not None]

    def write_message(self, message: Message) -> list[Item]:
        """Return the assistant's message; thinking goes back to where it came from."""
        own = is_own(message, _NAME)
        item: Item = {"role": "assistant", "content": message.content}
        if own and message.reasoning:
            item["thinking"] = message.reasoning
        images = [part.data for part in message.parts if isinstance(part, File) and part.data is not None]
        if own and images:
            item["images"] = images
        if message.tool_calls:
            item["tool_calls"] = [_write_call(call, own=own) for call in message.tool_calls]
        return [item]

    def write_result(self, result: ToolResult) -> Item:
        images = self._find_images(result.parts)
        said = [part for part in result.parts if isinstance(part, TextPart) or self.find_file(part) is None]
        text = join_texts(said) if images else result.text
        item: Item = {"role": "tool", "tool_name": written_name(result.call), "content": text}
        if images:
            item["images"] = images
        return {**item, "tool_call_id": result.call.id} if result.call.id else item

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        return function_tool(name, description, parameters)


def _write_call(call: ToolCall, *, own: bool) -> Item:
    rest = call.extra if own else {}
    item: Item = {"function": {**rest, "name": written_name(call), "arguments": arguments_object(call)}}
    return {"id": call.id, **item} if own and call.id else item


PROVIDER: Final[Provider] = Provider(
    OllamaReader(),
    OllamaForm(),
    tools=ToolRules(why_not_strict="ollama has no strict tools", is_plain=True, inline=True),
    client_packages=("ollama",),
)
