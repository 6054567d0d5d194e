"""Anthropic Messages.

In: a raw stream event as dict or SDK object. Out: notes on a draft; a message, results and tools as content blocks.
The key of a part is the place of its content block; tools that the provider runs are `ServerCall`s.
The helpers of the SDK put events of their own between those of the stream, which repeat what those say.
After a fallback to another model, a request leaves out some blocks of the model that declined: its thinking, its calls,
and calls of server tools that have no result.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from jsontide._values import MISSING, JsonValue
from jsontide.messages.calls import BaseCall, CompleteCall, Part, PartialCall, ServerCall
from jsontide.messages.draft import CallDelta, Draft
from jsontide.messages.message import Message
from jsontide.messages.options import ToolResult
from jsontide.messages.parts import File, Other, ReasoningPart, TextPart
from jsontide.messages.types import Citation
from jsontide.providers.base import (
    ANYTHING,
    PIECE,
    Item,
    Provider,
    Reader,
    Shown,
    StartReader,
    UsageNames,
    arguments_object,
    arguments_of,
    as_dict,
    check_block,
    check_delta,
    check_fields,
    check_item,
    check_places,
    check_rest,
    check_unknown,
    describe_error,
    dict_of,
    fields_in,
    index_in,
    integer_of,
    is_object,
    items_in,
    keep_metadata,
    list_of,
    load_json,
    plain,
    read_error,
    rest_of,
    text_in,
    text_of,
    written_name,
)
from jsontide.providers.blocks import (
    BlockForm,
    add_citations,
    attach_result,
    block_id,
    describe_call,
    extra_of,
    find_reasoning,
    find_text,
    merge_delta,
    redact,
    result_block,
    sign,
)
from jsontide.providers.strict import FORMATS, StrictRules, ToolRules

_NAME: Final = "anthropic"
_REASONS: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop_sequence",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "compaction": "pause",
}
_EVENT_TYPES: Final = ("message_start", "message_delta", "message_stop")
_NO_FIELDS: Final[frozenset[str]] = frozenset()
_PLACES: Final = {
    "message_start": frozenset(("message",)),
    "content_block_start": frozenset(("content_block",)),
    "content_block_stop": frozenset(("content_block",)),
    "message_delta": frozenset(("delta",)),
    "message_stop": frozenset(("message",)),
    # Events of the SDK's helpers, which repeat others.
    "citation": frozenset(("citation", "snapshot")),
    "compaction": frozenset(("content",)),
    "input_json": frozenset(("partial_json", "snapshot")),
    "message": frozenset(("content",)),
    "signature": frozenset(("signature",)),
    "text": frozenset(("snapshot", "text")),
    "thinking": frozenset(("snapshot", "thinking")),
}
"""The fields that hold something in the events of each kind."""
_DELTA_PLACES: Final = frozenset(("delta",))
_DELTA_EVENT_FIELDS: Final = frozenset(("delta", "error", "index", "type"))
_HOLDERS: Final = frozenset(("content_block", "delta", "message"))
_SILENT_TYPES: Final = frozenset(("", "ping"))
_REFUSAL_KEY: Final = -1
"""The key of the part that says why the model refused: blocks count from 0."""
_DECLINED_KEY: Final = -2
"""The key of calls that a later model replaced."""

_USAGE: Final = UsageNames(
    # What the provider calls input is what no cache had.
    input_tokens="input_tokens + cache_read_input_tokens + cache_creation_input_tokens",
    output_tokens="output_tokens",
    cached_tokens="cache_read_input_tokens",
    cache_write_tokens="cache_creation_input_tokens",
    reasoning_tokens="output_tokens_details.thinking_tokens",
)
_NO_INPUT: Final = "the block of a call has no input, not even an empty one"
_OTHER_INPUT: Final = "the block of a call has other input than its events"
_NO_JSON: Final = "an event with more input of a tool has none that can be read"
_ADDRESS_FIELDS: Final = frozenset(("index", "type"))
_TYPE_FIELD: Final = frozenset(("type",))
_EVENT_FIELDS: Final = frozenset(("content_block", "delta", "error", "index", "message", "type", "usage"))
_MESSAGE_FIELDS: Final = frozenset(("content", "id", "model", "parsed_output", "role", "stop_reason", "type", "usage"))
_CALL_FIELDS: Final = frozenset(("id", "input", "name", "type"))
_TEXT_FIELDS: Final = frozenset(("citations", "parsed_output", "text", "type"))
_THINKING_FIELDS: Final = frozenset(("signature", "thinking", "type"))
_REDACTED_FIELDS: Final = frozenset(("data", "type"))
_RESULT_FIELDS: Final = frozenset(("content",))
_TEXT_DELTA_FIELDS: Final = frozenset(("text", "type"))
_JSON_DELTA_FIELDS: Final = frozenset(("partial_json", "type"))
_THINKING_DELTA_FIELDS: Final = frozenset(("estimated_tokens", "thinking", "type"))
"""The estimate is a hint for a progress bar; `usage` has the figure."""
_PIECES: Final = frozenset((("delta", "partial_json"), ("delta", "text"), ("delta", "thinking")))
_USUAL_FIELD_COUNT: Final = 2
"""The fields of a usual delta."""


class AnthropicReader(StartReader):
    """Reads events, and watches for a second `message_start`."""

    __slots__ = ()

    NAME: ClassVar[str] = _NAME

    def fits(self, event: dict[str, Any]) -> bool:
        kind = text_of(event, "type") or ""
        return kind in _EVENT_TYPES or kind.startswith("content_block_") or kind == "error"

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        if text_of(event, "type") != "message" or not isinstance(event.get("content"), (list, tuple)):
            return None
        end = ("stop_reason", "stop_sequence", "stop_details")
        message = {name: value for name, value in event.items() if name not in end}
        message["content"] = []
        events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
        for at, block in enumerate(list_of(event, "content")):
            events.append({"type": "content_block_start", "index": at, "content_block": block})
            events.append({"type": "content_block_stop", "index": at})
        events.append({"type": "message_delta", "delta": {name: event.get(name) for name in end}})
        events.append({"type": "message_stop"})
        return events

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        if draft.provider is None:
            draft.identify(None, None, None, self.name)
        kind = text_of(event, "type") or ""
        if kind == "content_block_delta":
            _read_block_delta(draft, event)
            return self.continue_after(self.start.after_event())
        is_known = kind in _PLACES or kind in _SILENT_TYPES
        check_places(draft, event, _PLACES.get(kind, _NO_FIELDS), _HOLDERS if is_known else _NO_FIELDS)
        if kind == "message_start":
            return self._begin(draft, event)
        if kind == "content_block_start":
            item = event.get("content_block")
            block = check_fields(draft, "content_block", item)
            _read_block(draft, index_in(draft, event, "index"), item, block, False)
        elif kind == "content_block_stop":
            draft.close(integer_of(event, "index"))
            check_whole(draft, dict_of(event, "content_block"))
            read_error(draft, event)
            keep_metadata(draft, event, _EVENT_FIELDS)
            return self
        elif kind == "message_delta":
            _read_message_delta(draft, event)
        elif kind == "error":
            _read_failure(draft, event)
            return self
        else:
            _read_unknown(draft, kind, event)
            return self
        _read_more(draft, event)
        return self.continue_after(self.start.after_event())

    def role_of(self, draft: Draft, event: dict[str, Any], path: tuple[object, ...]) -> int:
        return PIECE if path in _PIECES else ANYTHING

    def _begin(self, draft: Draft, event: dict[str, Any]) -> Reader:
        message = fields_in(draft, event, "message")
        start = self.start.start(draft, text_of(message, "id") or text_of(event, "id"))
        if start is None:
            return self
        draft.identify(text_of(message, "id"), text_of(message, "model"), None, self.name)
        draft.set_role(text_of(message, "role"))
        keep_metadata(draft, message, _MESSAGE_FIELDS)
        _read_usage(draft, message)
        # A tool call made by the model's code arrives so: finished, and as the end of its message.
        has_ended = text_of(message, "stop_reason") is not None
        for at, item in enumerate(items_in(draft, message, "content")):
            _read_block(draft, at, item, check_item(draft, "content", item), has_ended)
            if has_ended:
                draft.close(at)
        _read_end(draft, message)
        return self.continue_after(start)


def _read_more(draft: Draft, event: dict[str, Any]) -> None:
    """Note an error beside what an event says, and the fields that few events have."""
    if event.get("error"):  # an empty one beside something else is no error
        read_error(draft, event)
    check_rest(draft, event, _EVENT_FIELDS)
    keep_metadata(draft, event, _EVENT_FIELDS)


def _read_failure(draft: Draft, event: dict[str, Any]) -> None:
    error = event.get("error")
    draft.fail("error" if error is None else describe_error(error), plain(error))
    if error is not None:
        draft.set_metadata("error", plain(error))
    keep_metadata(draft, event, _EVENT_FIELDS)


def _read_unknown(draft: Draft, kind: str, event: dict[str, Any]) -> None:
    """Keep what an event of a kind that is not known says; what the end of a message repeats is known."""
    if read_error(draft, event):
        return
    if kind == "message_stop":
        keep_metadata(draft, event, _EVENT_FIELDS)
    elif kind not in _PLACES:
        if isinstance(draft.find(integer_of(event, "index")), PartialCall):
            check_delta(draft, event, _ADDRESS_FIELDS)
        rest = rest_of(event, _TYPE_FIELD)
        if rest and kind not in _SILENT_TYPES:
            draft.set_metadata(kind, rest)


# Blocks.


def _read_block(draft: Draft, key: int, item: object, block: dict[str, Any], is_whole: bool) -> None:
    """Note the beginning of a block, which may have all of it."""
    kind = text_of(block, "type") or ""
    if kind == "text":
        _begin_text(draft, key, block)
    elif kind == "thinking":
        at = find_reasoning(draft, key, begins=True)
        draft.add_extra(at, rest_of(block, _THINKING_FIELDS))
        sign(draft, at, text_of(block, "signature"), False)
        draft.add_reasoning(key, text_of(block, "thinking") or "")
    elif kind == "redacted_thinking":
        at = find_reasoning(draft, key, begins=True)
        draft.add_extra(at, rest_of(block, _REDACTED_FIELDS))
        redact(draft, at, text_of(block, "data"))
    elif kind.endswith("tool_use") or "input" in block:
        _begin_call(draft, key, kind, block, is_whole)
    elif not _read_result(draft, key, block):
        _begin_other(draft, key, kind, item, block)


def _begin_text(draft: Draft, key: int, block: dict[str, Any]) -> None:
    at = find_text(draft, key, begins=True)
    draft.add_extra(at, rest_of(block, _TEXT_FIELDS))
    add_citations(draft, at, [_read_citation(citation) for citation in list_of(block, "citations")])
    draft.add_text(key, text_of(block, "text") or "")


def _begin_call(draft: Draft, key: int, kind: str, block: dict[str, Any], is_whole: bool) -> None:
    given = block.get("input")
    arguments, is_mapping = arguments_of(given), is_object(given)
    # The input of a block that begins is empty, and comes in deltas; some servers send it whole.
    if not is_whole and arguments is not None and not given and (is_mapping or not arguments):
        arguments = None
    # A block of an unknown kind with an input is not for the caller to run.
    on_server = kind != "tool_use"
    whole = is_mapping and arguments is not None
    call_id, name = text_of(block, "id"), text_of(block, "name")
    check_rest(draft, block, _CALL_FIELDS)
    if given is None:
        draft.leave_unread(_NO_INPUT)
    at = draft.add_call(CallDelta(key, call_id, name, arguments, False, whole, on_server, False, key))
    describe_call(draft, at, kind, rest_of(block, _CALL_FIELDS))


def _read_result(draft: Draft, key: int, block: dict[str, Any]) -> bool:
    """Note the result of a call of the provider; return whether it is that of one in this message."""
    call_id = text_of(block, "tool_use_id")
    if call_id is None:
        return False
    content = block.get("content")
    result: object = MISSING if content is None else plain(content)
    return attach_result(draft, call_id, key, result, rest_of(block, _RESULT_FIELDS))


def check_whole(draft: Draft, block: dict[str, Any]) -> None:
    """Note that a block, which repeats what events said of a call, has other input, or is of none that is known."""
    given, call_id = block.get("input"), text_of(block, "id")
    if given is None:
        if text_of(block, "type") == "tool_use":
            draft.lose(_OTHER_INPUT)
        return
    calls = [part for part in draft.parts if isinstance(part, BaseCall) and part.id == call_id]
    whole = load_json(given) if isinstance(given, str) else plain(given)
    call = calls[-1] if calls else None
    if call is None or (isinstance(call, PartialCall) and load_json(call.arguments or "{}") != whole):
        draft.lose(_OTHER_INPUT)


def _begin_other(draft: Draft, key: int, kind: str, item: object, block: dict[str, Any]) -> None:
    raw = plain(item)
    if not isinstance(raw, dict) or not raw:
        return
    if kind == "fallback":
        if "from_" in raw:  # as the SDK calls it
            raw["from"] = raw.pop("from_")
        _hand_over(draft)
        draft.set_model(text_of(dict_of(block, "to"), "model"))
    draft.set_part(key, Other(kind, raw, False, draft.count, True))


def _hand_over(draft: Draft) -> None:
    """Another model takes over from one that declined: the calls of that one must not be run, nor sent back."""
    for part in draft.parts:
        if isinstance(part, PartialCall):
            raw: dict[str, JsonValue] = {"type": "tool_use", "id": part.id, "name": part.name}
            raw["input"] = part.arguments
            draft.set_part(_DECLINED_KEY, Other("tool_use", {**raw, **part.extra}, False, part.index))


# Deltas.


def _read_block_delta(draft: Draft, event: dict[str, Any]) -> None:
    delta = fields_in(draft, event, "delta")
    if event.get("delta") is None:
        draft.lose(_NO_JSON)
    _read_delta(draft, index_in(draft, event, "index"), delta)
    if len(event) > _USUAL_FIELD_COUNT + 1:
        check_places(draft, event, _DELTA_PLACES, _HOLDERS)
        if not delta.get("type"):  # what it lacks may be anywhere
            check_delta(draft, event, _DELTA_EVENT_FIELDS)
        _read_more(draft, event)


def _read_delta(draft: Draft, key: int, delta: dict[str, Any]) -> None:
    kind = text_of(delta, "type")
    if kind == "input_json_delta":
        _read_json(draft, key, delta)
        return
    check_block(draft, key, kind)
    if kind == "text_delta":
        if isinstance(draft.find(key), Other):
            merge_delta(draft, key, rest_of(delta), False)
            return
        text = text_in(draft, delta, "text")
        draft.add_text(key, text or "")
        if text is None or len(delta) > _USUAL_FIELD_COUNT:
            rest = rest_of(delta, _TEXT_DELTA_FIELDS)
            check_unknown(draft, "", rest)
            draft.add_extra(find_text(draft, key), rest)
    elif kind == "thinking_delta":
        text = text_in(draft, delta, "thinking")
        draft.add_reasoning(key, text or "")
        if text is None or len(delta) > _USUAL_FIELD_COUNT:
            rest = rest_of(delta, _THINKING_DELTA_FIELDS)
            check_unknown(draft, "", rest)
            draft.add_extra(find_reasoning(draft, key), rest)
    elif kind == "signature_delta" and not isinstance(draft.find(key), Other):
        check_unknown(draft, "", delta)
        sign(draft, find_reasoning(draft, key), text_of(delta, "signature"), False)
    elif kind == "citations_delta" and delta.get("citation") is not None:
        add_citations(draft, find_text(draft, key), [_read_citation(delta["citation"])])
    else:
        _read_other_delta(draft, key, delta)


def _read_json(draft: Draft, key: int, delta: dict[str, Any]) -> None:
    piece = delta.get("partial_json")
    if isinstance(draft.find(key), Other):
        check_unknown(draft, "partial_json", piece)
        merge_delta(draft, key, rest_of(delta), False)
        return
    if "partial_json" not in delta:
        draft.lose(_NO_JSON)
    elif len(delta) > _USUAL_FIELD_COUNT:
        check_rest(draft, delta, _JSON_DELTA_FIELDS)
    if type(piece) is str:
        draft.add_call(CallDelta(key, None, None, piece, key=key))
    else:
        draft.add_call(CallDelta(key, None, None, arguments_of(piece), is_object=is_object(piece), key=key))


def _read_other_delta(draft: Draft, key: int, delta: dict[str, Any]) -> None:
    """Keep a delta of a kind that is not known; a compaction comes whole, in one of them."""
    part = draft.find(key)
    if part is None or isinstance(part, PartialCall):  # it may be arguments, whatever its type
        check_delta(draft, delta, _NO_FIELDS)
    else:
        check_unknown(draft, "", delta)
    said = rest_of(delta)
    if len(said) > 1 or (said and "type" not in said):
        merge_delta(draft, key, said, delta.get("type") == "compaction_delta")


def _read_citation(item: object) -> Citation:
    citation = as_dict(item)
    raw = plain(item)
    return Citation(
        type=text_of(citation, "type") or "",
        url=text_of(citation, "url"),
        title=text_of(citation, "title") or text_of(citation, "document_title"),
        cited_text=text_of(citation, "cited_text"),
        raw=raw if isinstance(raw, dict) else {},
    )


# The end.


def _read_message_delta(draft: Draft, event: dict[str, Any]) -> None:
    delta = dict_of(event, "delta")
    if delta.get("type"):  # as those of blocks have
        draft.lose(_NO_JSON)
    check_unknown(draft, "delta", event.get("delta"))
    keep_metadata(draft, delta, _MESSAGE_FIELDS)
    _read_end(draft, delta)
    _read_usage(draft, event)


def _read_end(draft: Draft, by: dict[str, Any]) -> None:
    """Note the reason to stop, if there is one."""
    reason = text_of(by, "stop_reason")
    if not reason:
        return
    if reason == "refusal" and draft.find(_REFUSAL_KEY) is None:
        draft.add_refusal(_REFUSAL_KEY, text_of(dict_of(by, "stop_details"), "explanation") or "")
    draft.finish(_REASONS.get(reason, reason), reason)


def _read_usage(draft: Draft, event: dict[str, Any]) -> None:
    """Note what the message cost: later figures replace earlier ones, and those that are missing stay."""
    given = rest_of(dict_of(event, "usage"))
    if not given:
        return
    check_unknown(draft, "usage", given)
    if "service_tier" in given:
        draft.set_metadata("service_tier", given["service_tier"])
    before = draft.usage
    raw = given if before is None else {**before.raw, **given}
    draft.set_usage(_USAGE.read(raw, raw))


_FALLBACK: Final = "fallback"
_NOT_AFTER_FALLBACK: Final = ("connector_text", "tool_use")
_PDF: Final = "application/pdf"
_IN_BASE64: Final = ("image/jpeg", "image/png", "image/gif", "image/webp", _PDF)


class AnthropicForm(BlockForm):
    """Writes content blocks."""

    __slots__ = ()

    NAME: ClassVar[str] = _NAME
    SYSTEM: ClassVar[str] = "system"

    def write_answer(self, schema: dict[str, Any], *, strict: bool) -> Item:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}

    def write_continued(self, message: Message) -> Item:
        """Return the container in which the model's code runs: it goes on there after results and pauses."""
        container = text_of(dict_of(message.metadata, "container"), "id")
        return {"container": container} if container else {}

    def select(self, parts: Sequence[Part]) -> Sequence[Part]:
        fallbacks = [at for at, part in enumerate(parts) if isinstance(part, Other) and part.type == _FALLBACK]
        last = fallbacks[-1] if fallbacks else -1
        return [part for at, part in enumerate(parts) if at >= last or _outlives_fallback(part)]

    def write_part(self, part: Part) -> Item | None:
        """Return a block; a refusal is not one."""
        if isinstance(part, TextPart):
            return _write_text(part)
        if isinstance(part, ReasoningPart):
            return _write_thinking(part)
        if isinstance(part, (CompleteCall, PartialCall)):
            return {**self.write_call(part), **extra_of(part.extra)}
        if isinstance(part, ServerCall):
            block: Item = {"type": part.type or "server_tool_use"}
            if part.id:
                block["id"] = part.id
            if part.name:
                block["name"] = part.name
            return {**block, "input": arguments_object(part), **extra_of(part.extra)}
        return dict(part.raw) if isinstance(part, Other) and isinstance(part.raw, dict) else None

    def write_call(self, call: BaseCall) -> Item:
        return {"type": "tool_use", "id": block_id(call), "name": written_name(call), "input": arguments_object(call)}

    def find_file(self, file: File) -> Item | None:
        """Return an image, or a document: a PDF, a text, or any that the provider keeps."""
        shown = Shown(file)
        kind = "image" if shown.kind == "image" else "document"
        source = _write_source(file, shown)
        if source is None:
            return None
        block: Item = {"type": kind, "source": source}
        return {**block, "title": file.name} if kind == "document" and file.name else block

    def write_server_result(self, call: ServerCall, block: Item) -> Item:
        return block if call.result is MISSING else {**block, "content": call.result}

    def write_result(self, result: ToolResult) -> Item:
        content = self.write_content(result.parts) or result.text
        block: Item = {"type": "tool_result", "tool_use_id": block_id(result.call), "content": content}
        if "toolset_name" in result.call.extra:
            block["toolset_name"] = result.call.extra["toolset_name"]
        return block if result.error is None else {**block, "is_error": True}

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        tool: Item = {"name": name, "input_schema": {"type": "object", **parameters}}
        if description:
            tool["description"] = description
        return {**tool, "strict": True} if strict else tool


def _write_source(file: File, shown: Shown) -> Item | None:
    """Return where an image or a document comes from."""
    if shown.kind in {"audio", "video"}:
        return None
    if shown.data is not None:
        if shown.kind == "text":
            text = _decode_text(shown.data)
            return {"type": "text", "media_type": "text/plain", "data": text} if text.strip() else None
        is_known = shown.media_type in _IN_BASE64
        return {"type": "base64", "media_type": shown.media_type, "data": shown.data} if is_known else None
    if shown.url is not None and (shown.kind == "image" or shown.media_type == _PDF):
        return {"type": "url", "url": shown.url}
    return {"type": "file", "file_id": file.id} if file.id else None


def _decode_text(data: str) -> str:
    """Return the text of a file, an empty one if it is none."""
    try:
        return b64decode(data).decode()
    except ValueError:
        return ""


def _outlives_fallback(part: Part) -> bool:
    if isinstance(part, ServerCall):
        return result_block(part) is not None
    if isinstance(part, Other):
        return part.type not in _NOT_AFTER_FALLBACK
    return isinstance(part, TextPart)


def _write_text(part: TextPart) -> Item | None:
    if not part.text.strip():
        return None
    block: Item = {"type": "text", "text": part.text, **extra_of(part.extra)}
    return {**block, "citations": [dict(citation.raw) for citation in part.citations]} if part.citations else block


def _write_thinking(part: ReasoningPart) -> Item | None:
    if part.redacted:
        return {"type": "redacted_thinking", "data": part.encrypted, **extra_of(part.extra)} if part.encrypted else None
    if part.signature is None:
        return None
    return {"type": "thinking", "thinking": part.text, "signature": part.signature, **extra_of(part.extra)}


TOOLS: Final[ToolRules] = ToolRules(
    names="[a-zA-Z0-9_-]{1,128}",
    names_in_words="1 to 128 letters, digits, '_' and '-'",
    strict=StrictRules(formats=FORMATS | {"uri"}, max_tools=20, max_optional=24, max_unions=16),
)
PROVIDER: Final[Provider] = Provider(
    AnthropicReader(),
    AnthropicForm(),
    tools=TOOLS,
    event_names=("message_start", "message_delta", "message_stop", "error"),
    event_prefixes=("content_block_",),
    client_packages=("anthropic",),
)
