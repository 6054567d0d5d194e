"""Amazon Bedrock ConverseStream.

In: an event as boto3 gives it, a dict of one member. Out: notes on a draft.
The key of a part is the index of its content block; text and reasoning begin with their first delta.
Requests are what boto3 takes: binary data is bytes.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from jsontide._values import MISSING, JsonValue
from jsontide.messages.calls import BaseCall, CompleteCall, Part, PartialCall, ServerCall
from jsontide.messages.document import write_json
from jsontide.messages.draft import NO_INDEX, NO_KEY, CallDelta, Draft
from jsontide.messages.options import ToolResult
from jsontide.messages.parts import File, Other, ReasoningPart, Refusal, TextPart
from jsontide.messages.types import Citation
from jsontide.providers import anthropic
from jsontide.providers.base import (
    ANSWER_NAME,
    Item,
    Provider,
    Reader,
    Shown,
    StartReader,
    UsageNames,
    arguments_object,
    arguments_of,
    as_dict,
    as_text,
    check_block,
    check_delta,
    check_fields,
    check_places,
    check_rest,
    check_unknown,
    dict_of,
    fields_in,
    index_in,
    integer_of,
    is_object,
    join_base64,
    keep_metadata,
    list_of,
    plain,
    read_error,
    rest_of,
    text_of,
    written_name,
)
from jsontide.providers.blocks import (
    BlockForm,
    add_citations,
    attach_result,
    block_id,
    describe_call,
    extend_result,
    extra_of,
    find_reasoning,
    find_text,
    merge_delta,
    redact,
    sign,
)
from jsontide.providers.strict import ToolRules

_NAME: Final = "bedrock"
_REASONS: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop_sequence",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "malformed",
    "malformed_tool_use": "malformed",
}
_EXCEPTION_NAMES: Final = (
    "internalServerException",
    "modelStreamErrorException",
    "serviceUnavailableException",
    "throttlingException",
    "validationException",
)
_EVENT_NAMES: Final = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop")

_INDEX: Final = "contentBlockIndex"
_PADDING_FIELD: Final = "p"
"""Random letters, so that the length of an event says nothing about what is in it."""
_EVENT_FIELDS: Final = frozenset((*_EVENT_NAMES, "metadata", "error", _PADDING_FIELD))
_START_FIELDS: Final = frozenset(("role", "id", _PADDING_FIELD))
_BEGIN_FIELDS: Final = frozenset((_INDEX, "start", _PADDING_FIELD))
_DELTA_FIELDS: Final = frozenset((_INDEX, "delta", _PADDING_FIELD))
_END_FIELDS: Final = frozenset((_INDEX, _PADDING_FIELD))
_STOP_FIELDS: Final = frozenset(("stopReason", _PADDING_FIELD))
_METADATA_FIELDS: Final = frozenset(("usage", _PADDING_FIELD))
_WHOLE_FIELDS: Final = frozenset(("output", "stopReason", "usage", "additionalModelResponseFields"))
_HEAD_FIELDS: Final = frozenset(("toolUseId", "name", "type"))
_INPUT_FIELDS: Final = frozenset(("input",))
_CITED_FIELDS: Final = frozenset(("content", "citations"))
_RESULT_FIELDS: Final = frozenset(("content",))
_IMAGE_FIELDS: Final = frozenset(("format", "source"))
_SOURCE_FIELDS: Final = frozenset(("bytes",))
_REASONING_FIELDS: Final = frozenset(("text", "signature", "redactedContent", "reasoningText"))
_USAGE: Final = UsageNames(
    # What the provider calls input is what no cache had.
    input_tokens="inputTokens + cacheReadInputTokens + cacheWriteInputTokens",
    output_tokens="outputTokens",
    total_tokens="totalTokens",
    cached_tokens="cacheReadInputTokens",
    cache_write_tokens="cacheWriteInputTokens",
)
_NO_INPUT: Final = "an event with more input of a tool has none that can be read"
_NO_FIELDS: Final[frozenset[str]] = frozenset()
_HOLDERS: Final = frozenset(("delta", "start"))
"""The fields of blocks that hold something."""
_USUAL_FIELD_COUNT: Final = 2
"""The fields of a usual delta of a block."""


class BedrockReader(StartReader):
    """Reads events, and watches for a second `messageStart`."""

    __slots__ = ()

    NAME: ClassVar[str] = _NAME

    def fits(self, event: dict[str, Any]) -> bool:
        return any([name in event for name in (*_EVENT_NAMES, *_EXCEPTION_NAMES)])

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        message = dict_of(event, "output").get("message")
        if message is None or text_of(event, "stopReason") is None:
            return None
        fields = as_dict(message)
        events: list[dict[str, Any]] = [{"messageStart": {"role": text_of(fields, "role")}}]
        for at, item in enumerate(list_of(fields, "content")):
            events += _split_block(at, as_dict(item))
        more = event.get("additionalModelResponseFields")
        events.append({"messageStop": {"stopReason": event["stopReason"], "additionalModelResponseFields": more}})
        rest = {name: value for name, value in event.items() if name not in _WHOLE_FIELDS}
        events.append({"metadata": {**rest, "usage": event.get("usage")}})
        return events

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        if draft.provider is None:
            draft.identify(None, None, None, self.name)
        more = event.get("contentBlockDelta")
        if more is not None and len(event) == 1:
            _read_delta(draft, check_fields(draft, "contentBlockDelta", more))
            return self.continue_after(self.start.after_event())
        return self._read_members(draft, event)

    def _read_members(self, draft: Draft, event: dict[str, Any]) -> Reader:
        """Note what the members of an event say: there is one as a rule, and an error may stand beside it."""
        reader: Reader = self
        for name, value in event.items():
            if value is None:
                continue
            if name == "messageStart":
                reader = self._begin(draft, check_fields(draft, name, value))
            elif name == "contentBlockStart":
                _read_start(draft, check_fields(draft, name, value))
                reader = self.continue_after(self.start.after_event())
            elif name == "contentBlockDelta":
                _read_delta(draft, check_fields(draft, name, value))
                reader = self.continue_after(self.start.after_event())
            elif name == "contentBlockStop":
                block = check_fields(draft, name, value)
                draft.close(integer_of(block, _INDEX))
                _keep_rest_of_block(draft, block, _END_FIELDS)
            elif name == "messageStop":
                _read_stop(draft, check_fields(draft, name, value))
                reader = self.continue_after(self.start.after_event())
            elif name == "metadata":
                _read_metadata(draft, check_fields(draft, name, value))
        _read_rest(draft, event)
        return reader

    def _begin(self, draft: Draft, start: dict[str, Any]) -> Reader:
        _keep_rest_of_message(draft, start, _START_FIELDS)
        after = self.start.start(draft, text_of(start, "id"))
        if after is None:
            return self
        draft.set_role(text_of(start, "role"))
        return self.continue_after(after)


def _split_block(at: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events that a stream of a block would have."""
    start: dict[str, Any] = {}
    deltas: list[dict[str, Any]] = []
    for name, value in block.items():
        if value is None:
            continue
        if name == "text":
            deltas.append({name: value})
        elif name == "reasoningContent":
            deltas.append({name: {**as_dict(value), **dict_of(as_dict(value), "reasoningText")}})
        elif name == "toolUse":
            tool = as_dict(value)
            start[name] = {inner: each for inner, each in tool.items() if inner != "input"}
            deltas.append({name: {"input": tool["input"]} if "input" in tool else tool})
        else:
            start[name] = value
    events: list[dict[str, Any]] = []
    if start:
        events.append({"contentBlockStart": {"contentBlockIndex": at, "start": start}})
    events += [{"contentBlockDelta": {"contentBlockIndex": at, "delta": delta}} for delta in deltas]
    events.append({"contentBlockStop": {"contentBlockIndex": at}})
    return events


# Blocks.


def _read_start(draft: Draft, block: dict[str, Any]) -> None:
    key = index_in(draft, block, _INDEX)
    for name, value in fields_in(draft, block, "start").items():
        if value is None:
            continue
        fields = check_fields(draft, name, value) if name == "toolUse" else as_dict(value)
        if name == "toolUse":
            _begin_call(draft, key, fields)
        elif name == "toolResult":
            _begin_result(draft, key, fields)
        elif name == "image":
            _begin_image(draft, key, fields)
        elif name == "citationsContent":
            _read_cited(draft, key, fields)
        else:
            check_unknown(draft, name, value)
            draft.set_part(key, Other(name, {name: plain(value)}, False, draft.count, True))
    _keep_rest_of_block(draft, block, _BEGIN_FIELDS)


def _begin_call(draft: Draft, key: int, tool: dict[str, Any]) -> None:
    kind = text_of(tool, "type")
    on_server = kind is not None and kind != "tool_use"
    call_id, name = text_of(tool, "toolUseId"), text_of(tool, "name")
    check_rest(draft, tool, _HEAD_FIELDS)
    at = draft.add_call(CallDelta(key, call_id, name, None, on_server=on_server, key=key))
    describe_call(draft, at, kind or "", rest_of(tool, _HEAD_FIELDS))


def _begin_result(draft: Draft, key: int, result: dict[str, Any]) -> None:
    """Note the result of a call of the provider, of this message or of one before it."""
    content = result.get("content")
    found: object = MISSING if content is None else plain(content)
    block = rest_of(result, _RESULT_FIELDS)
    if not attach_result(draft, text_of(result, "toolUseId"), key, found, block):
        raw: dict[str, JsonValue] = {**block, "content": [] if content is None else plain(content)}
        draft.set_part(key, Other("toolResult", {"toolResult": raw}, False, draft.count, True))


def _begin_image(draft: Draft, key: int, image: dict[str, Any]) -> None:
    kind = text_of(image, "format")
    file = File(f"image/{kind}" if kind else None, None, None, None, draft.count, True)
    _read_image(draft, draft.set_part(key, file), image)


def _read_cited(draft: Draft, key: int, block: dict[str, Any]) -> None:
    """Note text that comes whole with the places that it cites."""
    at = find_text(draft, key, begins=True)
    draft.add_extra(at, rest_of(block, _CITED_FIELDS))
    add_citations(draft, at, [_read_citation(citation) for citation in list_of(block, "citations")])
    for piece in list_of(block, "content"):
        draft.add_text(key, text_of(as_dict(piece), "text") or "")


def _read_image(draft: Draft, at: int, image: dict[str, Any]) -> None:
    draft.add_extra(at, rest_of(image, _IMAGE_FIELDS))
    source, part = dict_of(image, "source"), draft.part_at(at) if at >= 0 else None
    if source and isinstance(part, File):
        given = plain(source.get("bytes"))
        data = join_base64(part.data, given if isinstance(given, str) else None)
        url = text_of(dict_of(source, "s3Location"), "uri") or part.url
        draft.update_part(at, data=data, url=url, extra={**part.extra, **rest_of(source, _SOURCE_FIELDS)})


# Deltas.


def _read_delta(draft: Draft, block: dict[str, Any]) -> None:
    key = index_in(draft, block, _INDEX)
    delta, says_nothing = fields_in(draft, block, "delta"), True
    for name, value in delta.items():
        if value is not None:
            says_nothing = False
            _read_piece(draft, key, name, value)
    if says_nothing and _may_be_call(draft, key):
        draft.lose(_NO_INPUT)
    if not delta or len(block) > _USUAL_FIELD_COUNT:
        _keep_rest_of_block(draft, block, _DELTA_FIELDS)


def _read_piece(draft: Draft, key: int, name: str, value: object) -> None:
    if name == "toolUse":
        _read_input(draft, key, check_fields(draft, name, value))
        return
    check_block(draft, key, name)
    if name == "text":
        draft.add_text(key, value if type(value) is str else _read_odd_text(draft, value))
    elif name == "reasoningContent":
        _read_reasoning(draft, key, as_dict(value))
    elif name == "citation":
        add_citations(draft, find_text(draft, key), [_read_citation(value)])
    elif name == "toolResult" and isinstance(value, (list, tuple)):
        _read_result(draft, key, [plain(item) for item in value])
    elif name == "image" and isinstance(draft.find(key), File):
        _read_image(draft, draft.find_at(key), as_dict(value))
    else:
        _read_other_delta(draft, key, name, value)


def _may_be_call(draft: Draft, key: int) -> bool:
    """Return whether a block is a call, or not known."""
    part = None if key == NO_KEY else draft.find(key)
    return part is None or isinstance(part, PartialCall)


def _read_odd_text(draft: Draft, value: object) -> str:
    """Return a text that is no plain one, and note what may be arguments if it is none at all."""
    text = as_text(value)
    if text is None:
        check_rest(draft, {"text": value}, _NO_FIELDS)
    return text or ""


def _read_other_delta(draft: Draft, key: int, name: str, value: object) -> None:
    check_unknown(draft, name, value)
    if _may_be_call(draft, key):
        check_delta(draft, {name: value}, _NO_FIELDS)
    merge_delta(draft, key, {name: plain(value)}, False)


def _read_input(draft: Draft, key: int, tool: dict[str, Any]) -> None:
    piece = tool.get("input")
    if "input" not in tool:
        draft.lose(_NO_INPUT)
    elif len(tool) > 1:
        check_delta(draft, tool, _INPUT_FIELDS)
    draft.add_call(CallDelta(key, None, None, arguments_of(piece), is_object=is_object(piece), key=key))


def _read_reasoning(draft: Draft, key: int, reasoning: dict[str, Any]) -> None:
    check_rest(draft, reasoning, _REASONING_FIELDS)
    draft.add_reasoning(key, text_of(reasoning, "text") or "")
    signature, hidden = text_of(reasoning, "signature"), reasoning.get("redactedContent")
    if signature:
        sign(draft, find_reasoning(draft, key), signature, True)
    if hidden is not None:
        data = plain(hidden)
        redact(draft, find_reasoning(draft, key), data if isinstance(data, str) else None)
    rest = rest_of(reasoning, _REASONING_FIELDS)
    if rest:
        draft.add_extra(find_reasoning(draft, key), rest)


def _read_result(draft: Draft, key: int, items: list[JsonValue]) -> None:
    if extend_result(draft, key, items):
        return
    at = draft.find_at(key)
    part = draft.part_at(at) if at >= 0 else None
    raw = part.raw.get("toolResult") if isinstance(part, Other) and isinstance(part.raw, dict) else None
    if isinstance(part, Other) and isinstance(raw, dict):
        content = raw.get("content")
        before = content if isinstance(content, list) else []
        draft.update_part(at, raw={"toolResult": {**raw, "content": [*before, *items]}})
    else:
        merge_delta(draft, key, {"toolResult": items}, False)


def _read_citation(item: object) -> Citation:
    citation = as_dict(item)
    location = dict_of(citation, "location")
    raw = plain(item)
    texts = [text_of(as_dict(content), "text") or "" for content in list_of(citation, "sourceContent")]
    return Citation(
        type=next(iter(location), ""),
        url=text_of(dict_of(location, "web"), "url"),
        title=text_of(citation, "title"),
        cited_text="".join(texts) if texts else None,
        raw=raw if isinstance(raw, dict) else {},
    )


# The end.


def _read_stop(draft: Draft, stop: dict[str, Any]) -> None:
    reason = text_of(stop, "stopReason")
    if reason:
        draft.finish(_REASONS.get(reason, reason), reason)
    _keep_rest_of_message(draft, stop, _STOP_FIELDS)


def _read_metadata(draft: Draft, metadata: dict[str, Any]) -> None:
    usage = rest_of(dict_of(metadata, "usage"))
    if usage:
        check_unknown(draft, "usage", usage)
        draft.set_usage(_USAGE.read(usage, usage))
    _keep_rest_of_message(draft, metadata, _METADATA_FIELDS)


def _keep_rest_of_block(draft: Draft, fields: dict[str, Any], known: frozenset[str]) -> None:
    """Keep what else an event of a block says; without what such an event brings, all of it may be arguments."""
    _check_padding(draft, fields)
    check_places(draft, fields, known, _HOLDERS)
    (check_rest if "delta" in fields or "start" in fields else check_delta)(draft, fields, known)
    keep_metadata(draft, fields, known)


def _keep_rest_of_message(draft: Draft, fields: dict[str, Any], known: frozenset[str]) -> None:
    """Keep what else an event says that is of no block; with the index of one, all of it may be arguments."""
    _check_padding(draft, fields)
    check_places(draft, fields, known, _HOLDERS)
    if fields.get(_INDEX) is not None:
        check_delta(draft, fields, known)
    keep_metadata(draft, fields, known)


def _check_padding(draft: Draft, fields: dict[str, Any]) -> None:
    """Note that what stands for padding is no text, and may be arguments."""
    if text_of(fields, _PADDING_FIELD) is None:
        check_delta(draft, {_PADDING_FIELD: fields.get(_PADDING_FIELD)}, _NO_FIELDS)


def _read_rest(draft: Draft, event: dict[str, Any]) -> None:
    """Note a failure, of a kind that is known or not, and keep what else an event has."""
    for name, value in event.items():
        if value is not None and name.endswith("Exception"):
            fields = as_dict(value)
            said = text_of(fields, "message") or text_of(fields, "originalMessage") or name
            draft.fail(said, {"type": name, **as_dict(plain(value))})
            draft.set_metadata(name, plain(value))
    # Beside a known member, an empty error is no error.
    _check_padding(draft, event)
    is_alone = not any([name in event for name in _EVENT_NAMES])
    if not ((is_alone or event.get("error")) and read_error(draft, event)):
        for name, value in event.items():
            if name not in _EVENT_FIELDS:
                check_places(draft, {name: value}, _NO_FIELDS, _HOLDERS)
                # Of a block, as arguments are, or the fields of one without its name.
                if any([integer_of(each, _INDEX) != NO_INDEX for each in (event, as_dict(value))]):
                    check_delta(draft, {name: value}, _NO_FIELDS)
        keep_metadata(draft, event, _EVENT_FIELDS)


class BedrockForm(BlockForm):
    """Writes content blocks."""

    __slots__ = ()

    NAME: ClassVar[str] = _NAME
    SYSTEM: ClassVar[str] = "system"

    def write_request(self, system: str, items: list[Item], tools: list[Item], answer: Item) -> Item:
        """Return the arguments of `converse`; without tools it refuses calls, so those that were called are named."""
        written: Item = {"messages": items, **answer}
        if system.strip():
            written["system"] = [{"text": system}]
        named = tools or [self.write_tool(name, "", {}, strict=False) for name in _find_called(items)]
        if named:
            written["toolConfig"] = {"tools": named}
        return written

    def write_answer(self, schema: dict[str, Any], *, strict: bool) -> Item:
        described = {"schema": write_json(schema), "name": ANSWER_NAME}
        return {"outputConfig": {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": described}}}}

    def write_part(self, part: Part) -> Item | None:
        if isinstance(part, (TextPart, Refusal)):
            return _write_text(part)
        if isinstance(part, ReasoningPart):
            return _write_reasoning(part)
        if isinstance(part, (CompleteCall, PartialCall)):
            return {"toolUse": {**_write_tool_use(part), **extra_of(part.extra)}}
        if isinstance(part, ServerCall):
            kind = part.type or "server_tool_use"
            return {"toolUse": {**_write_tool_use(part), "type": kind, **extra_of(part.extra)}}
        if isinstance(part, File):
            return _write_image(part)
        return _restore_bytes(part.raw) if isinstance(part, Other) and isinstance(part.raw, dict) else None

    def write_call(self, call: BaseCall) -> Item:
        return {"toolUse": _write_tool_use(call)}

    def write_text(self, text: str) -> Item:
        return {"text": text}

    def write_content(self, parts: Sequence[TextPart | File]) -> list[Item]:
        """Return the blocks; a document must not be alone."""
        blocks = BlockForm.write_content(self, parts)
        named = [block["document"]["name"] for block in blocks if "document" in block]
        return (
            [*blocks, {"text": ", ".join(named)}]
            if named and not any(["text" in block for block in blocks])
            else blocks
        )

    def find_file(self, file: File) -> Item | None:
        shown = Shown(file)
        kind = shown.kind if shown.kind in _FORMATS else "document"
        form = _FORMATS[kind].get(shown.media_type.partition("/")[2])
        data = _decode_base64(shown.data)
        source: Item = {} if data is None else {"bytes": data}
        if shown.url is not None and shown.url.startswith("s3://"):
            source = {"s3Location": {"uri": shown.url}}
        if form is None or not source:
            return None
        named = {"name": _write_name(shown.name)} if kind == "document" else {}
        return {kind: {"format": form, **named, "source": source}}

    def write_server_result(self, call: ServerCall, block: Item) -> Item:
        content = [] if call.result is MISSING else _restore_bytes(call.result)
        return {"toolResult": {**block, "content": content}}

    def write_result(self, result: ToolResult) -> Item:
        text = result.text
        # A blank text is refused, no content is not; an error always has a text.
        content = [block for block in self.write_content(result.parts) if "audio" not in block]
        if not content and text.strip():
            content = [{"text": text}]
        block: Item = {"toolUseId": block_id(result.call), "content": content}
        # Few models take a status, and all take what has none for a success.
        return {"toolResult": block if result.error is None else {**block, "status": "error"}}

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        spec: Item = {"name": name, "inputSchema": {"json": {"type": "object", **parameters}}}
        if description:
            spec["description"] = description
        return {"toolSpec": {**spec, "strict": True} if strict else spec}


_DOCUMENTS: Final = {
    "pdf": "pdf",
    "csv": "csv",
    "html": "html",
    "plain": "txt",
    "markdown": "md",
    "msword": "doc",
    "vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "vnd.ms-excel": "xls",
    "vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}
_FORMATS: Final = {
    "image": {"png": "png", "jpeg": "jpeg", "jpg": "jpeg", "gif": "gif", "webp": "webp"},
    "audio": {"mpeg": "mp3", "mp3": "mp3", "wav": "wav", "x-wav": "wav", "flac": "flac", "aac": "aac", "ogg": "ogg"},
    "video": {"mp4": "mp4", "webm": "webm", "quicktime": "mov", "mpeg": "mpeg", "x-matroska": "mkv"},
    "document": _DOCUMENTS,
}
"""What stands behind the slash of a media type, and what the provider calls it."""
_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9()\[\]-]+")


def _write_name(name: str | None) -> str:
    """Return the name of a document in the characters that it may have."""
    return _NOT_IN_NAMES.sub(" ", name or "").strip()[:200].strip() or "document"


def _find_called(items: list[Item]) -> list[str]:
    """Return the names of the tools that are called in a conversation."""
    blocks = [block for item in items for block in item["content"] if isinstance(block, dict) and "toolUse" in block]
    return list(dict.fromkeys([block["toolUse"]["name"] for block in blocks]))


def _write_text(part: TextPart | Refusal) -> Item | None:
    if not part.text.strip():
        return None
    if isinstance(part, TextPart) and part.citations:
        citations = [dict(citation.raw) for citation in part.citations]
        return {"citationsContent": {"content": [{"text": part.text}], "citations": citations}}
    return {"text": part.text}


def _write_reasoning(part: ReasoningPart) -> Item | None:
    if part.redacted:
        data = _decode_base64(part.encrypted)
        return {"reasoningContent": {"redactedContent": data}} if data else None
    if part.signature is None:  # models that sign none do not ask for it
        return None
    return {"reasoningContent": {"reasoningText": {"text": part.text, "signature": part.signature}}}


def _write_tool_use(call: BaseCall) -> Item:
    return {"toolUseId": block_id(call), "name": written_name(call), "input": arguments_object(call)}


def _write_image(part: File) -> Item | None:
    kind, _, form = (part.media_type or "").partition("/")
    data, location = _decode_base64(part.data), part.extra.get("s3Location")
    if kind != "image" or not (data or location):
        return None
    return {"image": {"format": form, "source": {"bytes": data} if data else {"s3Location": location}}}


def _decode_base64(text: str | None) -> bytes | None:
    try:
        return b64decode(text) if text else None
    except (Error, ValueError):
        return None


def _restore_bytes(value: object) -> Any:  # noqa: ANN401 - as deep as what the provider sent
    """Return a block as boto3 takes it; what a tool returned as JSON stays as it is."""
    if isinstance(value, list):
        return [_restore_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _restore_field(name, item) for name, item in value.items()}


def _restore_field(name: str, value: object) -> object:
    if name == "json":
        return value
    if name in {"bytes", "redactedContent"} and isinstance(value, str):
        return _decode_base64(value)
    return _restore_bytes(value)


PROVIDER: Final[Provider] = Provider(
    BedrockReader(),
    BedrockForm(),
    tools=ToolRules(
        names="[a-zA-Z0-9_-]{1,64}",
        names_in_words="1 to 64 letters, digits, '_' and '-'",
        strict=anthropic.TOOLS.strict,
    ),
    client_packages=("aiobotocore", "boto3", "botocore"),
)
