"""OpenAI Chat Completions, and the many servers that speak it, old text completions included.

In: a chunk as dict or SDK object. Out: notes on a draft, whatever is odd about the chunk.

What says the same in every chunk is noted once. The input of a custom tool is text and not JSON: its arguments are a
JSON string, closed at a normal end of the message.

Requests send reasoning back only where a server wants it: blocks of OpenRouter, and Mistral's parts. Others refuse it,
or ignore it. What a server wrote beside a call, such as a signature, goes back with the call.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from json import dumps
from typing import Any, ClassVar, Final

from jsontide._values import JsonValue
from jsontide.messages.calls import BaseCall, Part, PartialCall, ToolCall
from jsontide.messages.document import write_json
from jsontide.messages.draft import NO_INDEX, NO_KEY, UNREADABLE_ARGUMENTS, CallDelta, Draft
from jsontide.messages.message import Message
from jsontide.messages.options import ToolResult
from jsontide.messages.parts import BasePart, File, Other, ReasoningPart, Source, TextPart
from jsontide.messages.types import Citation, Usage
from jsontide.providers.base import (
    ANSWER_NAME,
    ANYTHING,
    CUSTOM,
    IN_USAGE,
    PIECE,
    SECOND_MESSAGE,
    SILENT,
    Form,
    Item,
    Provider,
    Reader,
    Shown,
    UsageNames,
    arguments_of,
    arguments_text,
    as_dict,
    as_text,
    check_around,
    check_entry,
    check_fields,
    check_function,
    check_item,
    check_rest,
    check_unknown,
    check_usage_around,
    count_of,
    created_of,
    dict_of,
    fields_in,
    function_call,
    has_arguments,
    index_in,
    integer_of,
    is_object,
    is_odd_label,
    is_own,
    items_in,
    join_base64,
    list_of,
    load_json,
    plain,
    read_error,
    rest_of,
    text_in,
    text_of,
    written_id,
    written_name,
)
from jsontide.providers.strict import BOUNDS, FORMATS, StrictRules, ToolRules

_NAME: Final = "openai_chat"
_NO_ARGUMENTS: Final = "an entry with more arguments of a call has none that can be read"
OLD_FORM: Final = "function_call"
_USUAL_FIELD_COUNT: Final = 2
"""How many fields an entry has that says nothing but more arguments, and a function: no more need to be looked at."""
_CALL_FIELDS: Final = frozenset(("custom", "function", "id", "index", "type"))
_FUNCTION_FIELDS: Final = frozenset(("arguments", "name", "parsed_arguments"))
_CUSTOM_FIELDS: Final = frozenset(("input", "name"))


def read_call(draft: Draft, call: dict[str, Any]) -> None:
    """Note what an entry says about a call."""
    inner = call.get("function")
    if inner is None and call.get(CUSTOM) is not None:
        _read_custom(draft, call, fields_in(draft, call, CUSTOM))
        return
    function = check_fields(draft, "function", inner)
    if inner is None:
        check_entry(draft, call, _CALL_FIELDS)
    at = _read_function(draft, call, function)
    if call and "arguments" not in function and not (call.get("id") or function.get("name")):
        draft.lose(_NO_ARGUMENTS)
    if len(call) > _USUAL_FIELD_COUNT or len(function) > _USUAL_FIELD_COUNT or "arguments" not in function:
        _keep_rest(draft, at, call, function, _FUNCTION_FIELDS)


def read_function_call(draft: Draft, function: dict[str, Any]) -> None:
    """Note what the old form says, in which there is one call, without an id: all pieces are of the first."""
    if "arguments" not in function and not function.get("name"):
        draft.lose(_NO_ARGUMENTS)
    at = _read_function(draft, {"index": 0}, function)
    _keep_rest(draft, at, {"type": OLD_FORM}, function, _FUNCTION_FIELDS)


def _read_function(draft: Draft, call: dict[str, Any], function: dict[str, Any]) -> int:
    arguments = function.get("arguments")
    index, call_id, name = _read_index(draft, call), text_of(call, "id"), text_in(draft, function, "name")
    if type(arguments) is str or arguments is None:
        return draft.add_call(CallDelta(index, call_id, name, arguments))
    text, is_whole = arguments_of(arguments), is_object(arguments)
    return draft.add_call(CallDelta(index, call_id, name, text, is_object=is_whole))


def _read_index(draft: Draft, call: dict[str, Any]) -> int:
    """Return the index of a call; one that cannot be read matters only where no id says which call it is."""
    return integer_of(call, "index") if call.get("id") else index_in(draft, call, "index")


def _read_custom(draft: Draft, call: dict[str, Any], custom: dict[str, Any]) -> None:
    index, call_id, name = _read_index(draft, call), text_of(call, "id"), text_in(draft, custom, "name")
    at = draft.add_call(CallDelta(index, call_id, name, None))
    given = custom.get("input")
    if "input" not in custom:
        (draft.leave_unread if call_id or name else draft.lose)(_NO_ARGUMENTS)
    elif given is not None or call_id or name:
        text, part = as_text("" if given is None else given), draft.part_at(at) if 0 <= at < draft.count else None
        begins = not isinstance(part, BaseCall) or not part.arguments
        piece = UNREADABLE_ARGUMENTS if text is None else dumps(text, ensure_ascii=False)[1:-1]
        at = draft.add_call(CallDelta(index, call_id, None, f'"{piece}' if begins else piece, is_written=True))
    _keep_rest(draft, at, {"type": CUSTOM, **call}, custom, _CUSTOM_FIELDS)


def close_custom_calls(draft: Draft) -> None:
    """End the strings that the inputs of custom tools are: only the end of the message says that they are whole."""
    for part in draft.parts:
        if not isinstance(part, PartialCall) or part.extra.get("type") != CUSTOM or not part.arguments:
            continue
        if load_json(part.arguments) is None:
            name = None if part.id else part.name
            draft.add_call(CallDelta(NO_INDEX, part.id, name, '"', is_written=True))


def _keep_rest(
    draft: Draft, at: int, call: dict[str, Any], function: dict[str, Any], function_read: frozenset[str]
) -> None:
    """Keep what no field of a call holds, such as the signatures of Gemini behind this form."""
    check_rest(draft, call, _CALL_FIELDS)
    check_function(draft, function, function_read)
    extra: dict[str, JsonValue] = {}
    for name, value in call.items():
        is_usual = value == "function" if name == "type" else name in _CALL_FIELDS
        if value is not None and not is_usual:
            extra[name] = plain(value)
    extra.update(rest_of(function, function_read))
    draft.add_extra(at, extra)


# Keys of parts: blocks of reasoning have one by their index and kind, and there is one audio answer.
_KINDS_PER_BLOCK: Final = 8
_TEXT: Final = 0
_SUMMARY: Final = 1
_AUDIO: Final = 7
_DETAIL_FIELDS: Final = frozenset(("data", "id", "signature", "summary", "text"))
_THINKING_FIELDS: Final = frozenset(("signature", "thinking"))
_SOURCE_FIELDS: Final = frozenset(("title", "url"))
_AUDIO_FIELDS: Final = frozenset(("data", "id", "transcript"))
_IMAGE_FIELDS: Final = frozenset(("image_url", "type"))
_ADDRESS_FIELDS: Final = frozenset(("url",))
_CITATION_TYPES: Final = ("reference", "tool_reference")
_DATA_URL: Final = "data:"


def merge_metadata(draft: Draft, name: str, value: object) -> None:
    """Keep a field of a chunk: the last value counts, and objects get the fields that are new."""
    kept = plain(value)
    known = None if draft.metadata is None else draft.metadata.get(name)
    draft.set_metadata(name, {**known, **kept} if isinstance(known, dict) and isinstance(kept, dict) else kept)


def read_reasoning(draft: Draft, delta: dict[str, Any], name: str) -> None:
    """Note more of the reasoning, unless another field has the same text."""
    if name == "reasoning" and delta.get("reasoning_content"):  # some servers send both
        return
    if any([_detail_text(as_dict(detail)) for detail in list_of(delta, "reasoning_details")]):
        return
    piece = text_in(draft, delta, name)
    if piece is None:
        merge_metadata(draft, name, delta[name])
    else:
        draft.add_reasoning(NO_KEY, piece)


def _detail_text(detail: dict[str, Any]) -> str:
    return text_of(detail, "text") or text_of(detail, "summary") or ""


def read_reasoning_details(draft: Draft, details: object) -> None:
    """Note the blocks of reasoning as OpenRouter sends them, to be sent back as they are."""
    if not isinstance(details, (list, tuple)):
        merge_metadata(draft, "reasoning_details", details)
        return
    for item in details:
        detail = as_dict(item)
        kind = text_of(detail, "type")
        if kind == "reasoning.text":
            _grow_detail(draft, detail, _TEXT)
        elif kind == "reasoning.summary":
            _grow_detail(draft, detail, _SUMMARY)
        elif kind == "reasoning.encrypted":
            data, extra = text_of(detail, "data"), rest_of(detail, _DETAIL_FIELDS)
            place, item_id = draft.count, text_of(detail, "id")
            draft.set_part(NO_KEY, ReasoningPart("", None, False, data, place, False, item_id, extra))
        else:
            draft.set_part(NO_KEY, Other(kind or "reasoning", plain(item), False, draft.count))


def _grow_detail(draft: Draft, detail: dict[str, Any], kind: int) -> None:
    index = integer_of(detail, "index")
    key = kind if index == NO_INDEX else (index + 1) * _KINDS_PER_BLOCK + kind
    part, signature = draft.find(key), text_of(detail, "signature")
    item_id, extra = text_of(detail, "id"), rest_of(detail, _DETAIL_FIELDS)
    if not isinstance(part, ReasoningPart):
        place = draft.count
        draft.set_part(key, ReasoningPart("", signature, False, None, place, True, item_id, extra))
    else:
        if signature and signature != part.signature:
            draft.update_part(part.index, signature=signature)
        draft.annotate(part.index, item_id, {**part.extra, **extra} or None, part.is_open)
    draft.add_reasoning(key, _detail_text(detail))


def read_parts(draft: Draft, content: object) -> None:
    """Note content in parts, as Mistral sends it, or structured output as a value, as Cloudflare does."""
    if not isinstance(content, (list, tuple)) or not all([_is_part(item) for item in content]):
        _read_value(draft, content)
        return
    for item in content:
        part = as_dict(item)
        kind = text_of(part, "type") or ""
        if part.get("thinking") is not None:
            _read_thinking(draft, part)
        elif kind in _CITATION_TYPES:
            place = _length_of_last_text(draft)  # it stands after the words that it is for
            draft.cite(NO_KEY, _make_citation(plain(item), kind, part, place, place))
        elif kind == "image_url":
            read_images(draft, [part])
        elif text_of(part, "text") is not None:
            draft.add_text(NO_KEY, text_of(part, "text") or "")
        elif part:
            check_unknown(draft, "content", part)
            draft.set_part(NO_KEY, Other(kind, plain(item), False, draft.count))


def _read_value(draft: Draft, content: object) -> None:
    if isinstance(content, (list, tuple)) or as_dict(content).keys() <= _FUNCTION_FIELDS | _CALL_FIELDS:
        check_unknown(draft, "content", plain(content))
    is_written = isinstance(content, (list, tuple)) or bool(as_dict(content))
    text = write_json(plain(content)) if is_written else as_text(content)
    if text is None:
        merge_metadata(draft, "content", content)
    else:
        draft.add_text(NO_KEY, text)


def _is_part(item: object) -> bool:
    fields = as_dict(item)
    return any([name in fields for name in ("type", "text", "thinking")])


def _read_thinking(draft: Draft, part: dict[str, Any]) -> None:
    """What the model thinks is nested: parts of type `thinking` hold parts of text."""
    others: list[JsonValue] = []
    draft.add_reasoning(NO_KEY, text_of(part, "thinking") or "")
    for inner in list_of(part, "thinking"):
        text = text_of(as_dict(inner), "text")
        if text is None:
            others.append(plain(inner))
        else:
            draft.add_reasoning(NO_KEY, text)
    at, signature = draft.count - 1, text_of(part, "signature")
    if at < 0 or not isinstance(draft.part_at(at), ReasoningPart):
        if not others and not signature:
            return
        at += 1
        draft.set_part(NO_KEY, ReasoningPart("", None, False, None, at, True))
    last = draft.part_at(at)
    extra = {**last.extra, **rest_of(part, _THINKING_FIELDS)}
    if others:
        known = last.extra.get("thinking")
        extra["thinking"] = [*known, *others] if isinstance(known, list) else others
    if signature:
        draft.update_part(at, signature=signature)
    draft.annotate(at, None, extra, last.is_open)


def _length_of_last_text(draft: Draft) -> int:
    texts = [part for part in draft.parts if isinstance(part, TextPart)]
    return texts[-1].growing_text.length if texts else 0


def read_annotations(draft: Draft, annotations: object) -> None:
    """Note where the text comes from; annotations of other kinds are parts of their own."""
    if not isinstance(annotations, (list, tuple)):
        merge_metadata(draft, "annotations", annotations)
        return
    for item in annotations:
        annotation = as_dict(item)
        kind = text_of(annotation, "type") or ""
        inner = dict_of(annotation, kind) or annotation
        if "citation" in kind or inner.get("url") is not None:
            start, end = count_of(inner, "start_index"), count_of(inner, "end_index")
            draft.cite(NO_KEY, _make_citation(plain(item), kind, inner, start, end))
        else:
            draft.set_part(NO_KEY, Other(kind, plain(item), False, draft.count))


def _make_citation(raw: JsonValue, kind: str, fields: dict[str, Any], start: int | None, end: int | None) -> Citation:
    return Citation(
        type=kind,
        url=text_of(fields, "url"),
        title=text_of(fields, "title"),
        cited_text=text_of(fields, "content"),
        start=start,
        end=end,
        raw=raw if isinstance(raw, dict) else {},
    )


def read_sources(draft: Draft, name: str, value: object) -> None:
    """Note pages that the answer is based on, as Perplexity and xAI list them in every chunk or in the last one."""
    if not isinstance(value, (list, tuple)):
        merge_metadata(draft, name, value)
        return
    known = {part.url: part for part in draft.parts if isinstance(part, Source)}
    for item in value:
        fields = as_dict(item)
        url = as_text(item) or text_of(fields, "url")
        if url is None:
            merge_metadata(draft, name, value)
            return
        _read_source(draft, known, url, fields)


def _read_source(draft: Draft, known: dict[str | None, Source], url: str, fields: dict[str, Any]) -> None:
    part = known.get(url)
    title, extra = text_of(fields, "title"), rest_of(fields, _SOURCE_FIELDS)
    if part is None:
        part = Source(url, title, draft.count, False, None, extra or None)
    else:
        more = {**part.extra, **extra}
        if more == part.extra and (not title or title == part.title):
            return
        part = Source(url, title or part.title, part.index, False, None, more or None)
    known[url] = part
    _put_at(draft, part)


def _put_at(draft: Draft, part: BasePart) -> None:
    if part.index < draft.count:
        draft.replace_part(part.index, part)
    else:
        draft.set_part(NO_KEY, part)


def read_audio(draft: Draft, audio: dict[str, Any], key: int = _AUDIO) -> None:
    """Note more of a spoken answer; what it says in words is beside it."""
    known = draft.find(key)
    before = known if isinstance(known, File) else File("audio/*", index=draft.place_of(key))
    extra = {**before.extra, **rest_of(audio, _AUDIO_FIELDS)}
    spoken = text_of(audio, "transcript")
    if spoken:
        extra["transcript"] = f"{extra.get('transcript', '')}{spoken}"
    data = join_base64(before.data, text_of(audio, "data"))
    audio_id = before.id or text_of(audio, "id")
    draft.set_part(key, File(before.media_type, data, None, audio_id, before.index, True, None, extra or None))


def read_images(draft: Draft, images: object) -> None:
    """Note images, which are data or an address."""
    if not isinstance(images, (list, tuple)):
        merge_metadata(draft, "images", images)
        return
    for item in images:
        image = as_dict(item)
        inner = dict_of(image, "image_url")
        url = as_text(item) or as_text(image.get("image_url")) or text_of(inner, "url")
        place = draft.count
        if url is None:
            draft.set_part(NO_KEY, Other(text_of(image, "type") or "image", plain(item), False, place))
            continue
        extra = {**rest_of(image, _IMAGE_FIELDS), **rest_of(inner, _ADDRESS_FIELDS)}
        draft.set_part(NO_KEY, make_file(url, place, extra or None))


def make_file(url: str, place: int, extra: dict[str, JsonValue] | None) -> File:
    """Return the file of an address, which may be the data itself."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith(_DATA_URL) or not head.endswith(";base64"):
        return File(None, None, url, None, place, False, None, extra)
    media_type = head[len(_DATA_URL) :].partition(";")[0]
    return File(media_type or None, data, None, None, place, False, None, extra)


_REASONS: Final = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "complete": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "word": "stop_sequence",
    "limit": "length",
    "function_call": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "insufficient_system_resource": "length",
    "max_output_tokens": "length",
    "max_tokens": "length",
    "model_length": "length",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "recitation": "content_filter",
    "safety": "content_filter",
    "spii": "content_filter",
    "malformed_function_call": "malformed",
    "abort": "error",
    "cancelled": "error",
    "timeout": "error",
}
"""In lower case; most are words of others, which servers put into this form as they are."""
_FILTER: Final = "content_filter"
_NORMAL_REASONS: Final = ("stop", "tool_calls")
_CHUNK_FIELDS: Final = frozenset(("choices", "created", "error", "id", "model", "object", "obfuscation", "usage"))
"""The fields of a chunk that are read, or say nothing; all others are kept as they are."""
_USUAL_TEXTS: Final = frozenset(("provider", "service_tier", "system_fingerprint"))
"""Texts that many servers put into every chunk."""
_SOURCE_LISTS: Final = ("citations", "search_results")
_CHUNK_HOLDERS: Final = frozenset(
    (
        *("choices", "error", "prompt_filter_results", "prompt_logprobs", "timings", "usage", "x_groq"),
        *_SOURCE_LISTS,
    )
)
"""The fields of a chunk that servers fill with objects or arrays; then those of a choice, a delta and a call."""
_CHOICE_HOLDERS: Final = frozenset(
    ("content_filter_offsets", "content_filter_results", "delta", "error", "logprobs", "usage")
)
_DELTA_HOLDERS: Final = frozenset(
    ("annotations", "audio", "function_call", "images", "reasoning_details", "tool_calls")
)
_CALL_HOLDERS: Final = frozenset(("custom", "function"))
_CONTENT_FIELDS: Final = (
    "audio",
    "content",
    "function_call",
    "images",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "refusal",
    "tool_calls",
)
_REASONING_FIELDS: Final = ("reasoning", "reasoning_content", "reasoning_details")
_PIECES: Final = frozenset(
    (
        ("choices", 0, "delta", "content"),
        ("choices", 0, "delta", "reasoning"),
        ("choices", 0, "delta", "reasoning_content"),
        ("choices", 0, "delta", "tool_calls", 0, "function", "arguments"),
    )
)
_OBFUSCATION: Final = ("obfuscation",)
_HELPER_PREFIXES: Final = ("content.", "refusal.", "tool_calls.", "logprobs.")
"""How the types begin of the events that the helper of the SDK adds to chunks, which they repeat."""


class ChatReader(Reader):
    """Reads chunks; some servers give each an id of its own, so another id says something only after the end."""

    __slots__ = ("ended",)

    FIELDS: ClassVar[tuple[str, ...]] = ("ended",)

    NAME: ClassVar[str] = _NAME

    def __init__(self, ended: str | None = None) -> None:
        self.ended: Final = ended
        """The id of the message that has ended."""

    def fits(self, event: dict[str, Any]) -> bool:
        inner = _unwrap(event)
        if isinstance(inner.get("choices"), (list, tuple)):
            return True
        return not text_of(inner, "type") and "message" in dict_of(inner, "error")

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        choices = [as_dict(choice) for choice in list_of(event, "choices")]
        if not choices or not all([_is_whole(choice) for choice in choices]):
            return None
        return [{**event, "choices": [_as_chunk(choice) for choice in choices]}]

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        event = _unwrap(event)
        choices = items_in(draft, event, "choices")
        # Beside an answer, an empty error is no error.
        failed = (not choices or bool(event.get("error"))) and read_error(draft, event)
        if not choices and not failed and "type" in event and _read_other(draft, event):
            return self
        if choices or not failed or draft.provider is not None:  # an error alone may be anybody's
            self._identify(draft, event)
        _read_fields(draft, event)
        ended = self.ended
        for at, item in enumerate(choices):
            choice = check_item(draft, "choices", item)
            given = choice.get("index")
            index = at if given is None else given if type(given) is int else integer_of(choice, "index")
            if index == NO_INDEX:
                draft.fail("the index of a choice is not a number: which answer it is for is not known")
                return self
            if index == draft.choice:
                delta = fields_in(draft, choice, "delta")
                ended = self._read_choice(draft, event, choice, delta)
                if delta.get("tool_calls") or delta.get("function_call"):
                    _check_around_calls(draft, event, choice, delta)
        return self if ended is self.ended else ChatReader(ended)

    def role_of(self, draft: Draft, event: dict[str, Any], path: tuple[object, ...]) -> int:
        if path in _PIECES:
            # The text of an old completion is compared with the others.
            return ANYTHING if "text" in event["choices"][0] else PIECE
        if path[0] == "usage" and len(path) == 2:
            return IN_USAGE
        return SILENT if path == _OBFUSCATION else ANYTHING

    def make_usage(self, usage: dict[str, Any]) -> Usage:
        return _read_usage(usage, plain(usage))

    def _identify(self, draft: Draft, event: dict[str, Any]) -> None:
        if draft.provider is None or draft.id is None or draft.model is None:
            created = created_of(event.get("created")) or None  # Azure begins with empty fields
            draft.identify(text_of(event, "id"), text_of(event, "model"), created, self.name)

    def _read_choice(
        self, draft: Draft, event: dict[str, Any], choice: dict[str, Any], delta: dict[str, Any]
    ) -> str | None:
        """Note what a choice says, and return the id of the message if it has ended."""
        ended = self.ended
        if ended is not None and (text_of(event, "id") or ended) != ended and _says_something(choice, delta):
            draft.fail(SECOND_MESSAGE)
            return ended
        reason: str | None = None
        for name, value in choice.items():
            if value is None or name == "index":
                continue
            if name == "delta":
                read_delta(draft, delta)
            elif name == "finish_reason":
                reason = text_in(draft, choice, name)
            elif name == "text":
                _read_text(draft, choice, delta)
            else:
                _read_choice_field(draft, name, value, event, delta)
        if reason:
            word = read_reason(reason)
            if word in _NORMAL_REASONS:
                close_custom_calls(draft)
            draft.finish(word, reason)
            if ended is None:
                ended = text_of(event, "id")
        return ended


def _unwrap(event: dict[str, Any]) -> dict[str, Any]:
    """The helper of the SDK wraps chunks in events of its own."""
    kind = event.get("type")
    return event if kind is None or kind != "chunk" else dict_of(event, "chunk") or event


def _is_whole(choice: dict[str, Any]) -> bool:
    """Return whether a choice has all of its message; some servers put a delta beside it that says nothing."""
    return choice.get("message") is not None and not _says_something(choice, dict_of(choice, "delta"))


def _read_text(draft: Draft, choice: dict[str, Any], delta: dict[str, Any]) -> None:
    """Note the text of an old completion; beside a delta, it is the same once more."""
    text = text_in(draft, choice, "text") or ""
    content = delta.get("content")
    if not content:
        if not any([text == delta.get(name) for name in ("reasoning", "reasoning_content", "refusal")]):
            draft.add_text(NO_KEY, text)
    elif text and text != content:
        merge_metadata(draft, "text", text)


def _as_chunk(choice: dict[str, Any]) -> dict[str, Any]:
    """Return a choice of a whole completion as one of a chunk; a model reasons before it answers."""
    message = as_dict(choice["message"])
    # Calls differ by their place: an id may be missing.
    calls = message.get("tool_calls")
    if isinstance(calls, (list, tuple)):
        calls = [{**as_dict(call), "index": at} if as_dict(call) else call for at, call in enumerate(calls)]
    rest = {name: value for name, value in choice.items() if name != "message" and name != "delta"}
    reasoning = {name: message[name] for name in _REASONING_FIELDS if message.get(name) is not None}
    others = {name: value for name, value in message.items() if name != "parsed"}  # by the SDK, from the content
    return {**rest, "delta": {**reasoning, **others, "tool_calls": calls}}


def _read_other(draft: Draft, event: dict[str, Any]) -> bool:
    """Keep an event that is not a chunk; return whether it was one of those."""
    kind = text_of(event, "type")
    if not kind or event.get("choices") is not None:
        return False
    if kind != "ping" and not kind.startswith(_HELPER_PREFIXES):
        check_unknown(draft, kind, event)
        draft.extend_metadata("events", [plain(event)])
    return True


def _read_fields(draft: Draft, event: dict[str, Any]) -> None:
    """Note what a chunk says beside its choices."""
    for name, value in event.items():
        if name not in _CHUNK_FIELDS and value is not None:
            _read_field(draft, name, value, event)
        elif is_odd_label(name, value):
            check_unknown(draft, name, value)
    usage = event.get("usage")
    if usage is not None:
        _set_usage(draft, usage)


def _read_field(draft: Draft, name: str, value: object, event: dict[str, Any]) -> None:
    """Note a field of a chunk that servers add to those of OpenAI."""
    if type(value) is str:
        if name not in _USUAL_TEXTS:
            check_unknown(draft, name, value)
        draft.set_metadata(name, value)
    elif name in _SOURCE_LISTS:
        read_sources(draft, name, value)
    elif name == "x_groq":
        fields = as_dict(value)
        if event.get("usage") is None:
            _set_usage(draft, fields.get("usage"))
        merge_metadata(draft, name, {inner: fields[inner] for inner in fields if inner != "usage"})
    else:
        check_unknown(draft, name, value)
        merge_metadata(draft, name, value)


def _read_choice_field(draft: Draft, name: str, value: object, event: dict[str, Any], delta: dict[str, Any]) -> None:
    if name == "logprobs":
        _read_logprobs(draft, value)
    elif name == "usage":  # as Moonshot sends it
        if event.get("usage") is None:
            _set_usage(draft, value)
    elif name == "error":
        if value:
            read_error(draft, {"error": value})
    elif name == "message":  # beside deltas, it is all of them so far
        if not delta or "role" not in as_dict(value):
            check_unknown(draft, name, value)
    else:
        check_unknown(draft, name, value)
        merge_metadata(draft, name, value)


def read_delta(draft: Draft, delta: dict[str, Any]) -> None:
    """Note what is new in a message."""
    for name, value in delta.items():
        if value is None:
            continue
        if name == "content":
            if type(value) is str:
                draft.add_text(NO_KEY, value)
            else:
                read_parts(draft, value)
        elif name == "tool_calls":
            for call in items_in(draft, delta, name):
                read_call(draft, check_item(draft, name, call))
        elif name == "role":
            draft.set_role(text_in(draft, delta, name))
        else:
            _read_delta_field(draft, delta, name, value)
    annotations = delta.get("annotations")
    if annotations is not None:  # they are about the text, wherever they stand
        read_annotations(draft, annotations)


def _read_delta_field(draft: Draft, delta: dict[str, Any], name: str, value: object) -> None:
    if name == "reasoning_content" or name == "reasoning":
        read_reasoning(draft, delta, name)
    elif name == "refusal":
        draft.add_refusal(NO_KEY, text_in(draft, delta, name) or "")
    elif name == "function_call":  # the form before there were several calls
        read_function_call(draft, check_fields(draft, name, value))
    elif name == "reasoning_details":
        read_reasoning_details(draft, value)
    elif name == "audio":
        read_audio(draft, as_dict(value))
    elif name == "images":
        read_images(draft, value)
    elif isinstance(value, (list, tuple)):
        if name != "annotations":
            check_unknown(draft, name, value)
            draft.extend_metadata(name, [plain(item) for item in value])
    else:
        check_unknown(draft, name, value)
        if name != "index":  # Mistral repeats that of the choice
            merge_metadata(draft, name, value)


def _check_around_calls(draft: Draft, event: dict[str, Any], choice: dict[str, Any], delta: dict[str, Any]) -> None:
    """Note what may be the arguments of the calls of a chunk, if one of them has none."""
    calls = [as_dict(call) for call in list_of(delta, "tool_calls")]
    calls = [call for call in calls if not has_arguments(call)]
    old = dict_of(delta, "function_call")
    if not calls and not (old and old.get("arguments") is None):
        return
    check_around(draft, event, _CHUNK_HOLDERS)
    has_message = "role" in dict_of(choice, "message")
    check_around(draft, choice, _CHOICE_HOLDERS | {"message"} if has_message else _CHOICE_HOLDERS)
    for fields in (event, choice):
        check_usage_around(draft, fields.get("usage"))
    is_in_parts = isinstance(delta.get("content"), (list, tuple))
    check_around(draft, delta, _DELTA_HOLDERS | {"content"} if is_in_parts else _DELTA_HOLDERS)
    for call in calls:
        check_around(draft, call, _CALL_HOLDERS)


def _says_something(choice: dict[str, Any], delta: dict[str, Any]) -> bool:
    return bool(choice.get("text")) or any([bool(delta.get(name)) for name in _CONTENT_FIELDS])


def read_reason(said: str) -> str:
    """Some servers write a word large, or add what was filtered: `content_filter: SAFETY`."""
    word = said.lower()
    return _FILTER if word.startswith(_FILTER) else _REASONS.get(word, said)


def _read_logprobs(draft: Draft, logprobs: object) -> None:
    """Add to each of the lists: of content and refusal, or of tokens and offsets in old completions."""
    lists = {name: plain(values) for name, values in as_dict(logprobs).items() if values is not None}
    draft.extend_metadata_in("logprobs", lists)


_USAGE: Final = UsageNames(
    input_tokens="prompt_tokens",
    output_tokens="completion_tokens",
    total_tokens="total_tokens",
    # OpenAI, DeepSeek and Moonshot name them differently.
    cached_tokens="prompt_tokens_details.cached_tokens or prompt_cache_hit_tokens or cached_tokens",
    cache_write_tokens="prompt_tokens_details.cache_write_tokens or prompt_tokens_details.cache_creation_input_tokens",
    reasoning_tokens="completion_tokens_details.reasoning_tokens or reasoning_tokens",  # the second is Perplexity's
)


def _set_usage(draft: Draft, usage: object) -> None:
    """Note what a message cost so far; totals that a server sends with every chunk replace each other."""
    fields = as_dict(usage)
    check_unknown(draft, "usage", usage)
    if fields:
        draft.set_usage(_read_usage(fields, plain(usage)))


def _read_usage(usage: dict[str, Any], raw: JsonValue) -> Usage:
    found = _USAGE.read(usage, raw)
    spent, said, reasoning = found.input_tokens, found.output_tokens, found.reasoning_tokens
    if spent is not None and said is not None and reasoning and found.total_tokens == spent + said + reasoning:
        return dataclasses.replace(found, output_tokens=said + reasoning)  # xAI counts them apart
    return found


_DETAIL_PREFIX: Final = "reasoning."
"""How the types of OpenRouter's blocks of reasoning begin."""
_TEXT_FIELDS: Final = {"reasoning.text": "text", "reasoning.summary": "summary"}


class ChatForm(Form):
    """Writes messages of chat completions."""

    __slots__ = ()

    def write_answer(self, schema: dict[str, Any], *, strict: bool) -> Item:
        described = {"name": ANSWER_NAME, "schema": schema, "strict": strict}
        return {"response_format": {"type": "json_schema", "json_schema": described}}

    def find_file(self, file: File) -> Item | None:
        """Return an image, spoken words, or any other file whose content is here or known to the server."""
        shown = Shown(file)
        if shown.kind == "image" and shown.link is not None:
            return {"type": "image_url", "image_url": {"url": shown.link}}
        form = _AUDIO_FORMATS.get(shown.media_type)
        if form is not None and shown.data is not None:
            return {"type": "input_audio", "input_audio": {"data": shown.data, "format": form}}
        if shown.kind in {"audio", "video"}:
            return None
        if shown.data is not None and shown.media_type:
            return {"type": "file", "file": {"filename": file.name or "file", "file_data": shown.link}}
        return {"type": "file", "file": {"file_id": file.id}} if file.id else None

    def write_message(self, message: Message) -> list[Item]:
        """Return the assistant's message."""
        own = is_own(message, _NAME)
        item: Item = {"role": "assistant", "content": message.content or None}
        if message.refusal:
            item["refusal"] = message.refusal
        if own:
            _add_own(item, message.parts)
        old = [call for call in message.tool_calls if own and call.extra.get("type") == OLD_FORM]
        calls = [_write_call(call, own=own) for call in message.tool_calls if call not in old]
        if old:
            item["function_call"] = {"name": written_name(old[0]), "arguments": arguments_text(old[0])}
        if calls:
            item["tool_calls"] = calls
        if len(item) == 2 and item["content"] is None:
            item["content"] = ""
        return [item]

    def write_result(self, result: ToolResult) -> Item:
        if result.call.extra.get("type") == OLD_FORM:
            return {"role": "function", "name": written_name(result.call), "content": result.text}
        return {"role": "tool", "tool_call_id": written_id(result.call), "content": result.text}

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        """Return the definition of a function."""
        function = {"name": name, "description": description, "parameters": parameters, "strict": strict}
        return {"type": "function", "function": function}


def _add_own(item: Item, parts: Sequence[Part]) -> None:
    """Add what only the server understands from which the message came."""
    details = [detail for part in parts for detail in _write_details(part)]
    if details:
        item["reasoning_details"] = details
    if any(_is_thinking(part) for part in parts):
        item["content"] = [_write_part(part) for part in parts if _is_thinking(part) or isinstance(part, TextPart)]
    for part in parts:
        if isinstance(part, File) and part.id is not None:
            item["audio"] = {"id": part.id}


def _write_details(part: Part) -> list[Item]:
    """Return the block of reasoning that OpenRouter sent."""
    if isinstance(part, Other) and part.type.startswith(_DETAIL_PREFIX) and isinstance(part.raw, dict):
        return [part.raw]
    kind = part.extra.get("type")
    if not isinstance(part, ReasoningPart) or not isinstance(kind, str) or not kind.startswith(_DETAIL_PREFIX):
        return []
    said = {_TEXT_FIELDS[kind]: part.text} if kind in _TEXT_FIELDS else {"data": part.encrypted}
    named = {"signature": part.signature, "id": part.item_id}
    return [{**part.extra, **said, **{name: value for name, value in named.items() if value is not None}}]


def _is_thinking(part: Part) -> bool:
    """Return whether a part is one of Mistral's, which nests thinking in the content."""
    return isinstance(part, ReasoningPart) and part.extra.get("type") == "thinking"


def _write_part(part: Part) -> Item:
    if not isinstance(part, ReasoningPart):
        return {"type": "text", "text": part.text if isinstance(part, TextPart) else ""}
    others = part.extra.get("thinking")
    thinking = [{"type": "text", "text": part.text}, *(others if isinstance(others, list) else [])]
    signature = {} if part.signature is None else {"signature": part.signature}
    return {**part.extra, "thinking": thinking, **signature}


def _write_call(call: ToolCall, *, own: bool) -> Item:
    extra = {name: value for name, value in call.extra.items() if name != "type"} if own else {}
    kind = call.extra.get("type") if own else None
    if kind == CUSTOM:
        custom = {"name": written_name(call), "input": _read_input(call)}
        return {"id": written_id(call), "type": CUSTOM, CUSTOM: custom, **extra}
    return {**function_call(call), **({"type": kind} if kind else {}), **extra}


def _read_input(call: ToolCall) -> str:
    """Return the text that the JSON string of a custom tool's arguments holds."""
    found = load_json(call.arguments)
    return found if isinstance(found, str) else ""


_AUDIO_FORMATS: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
TOOLS: Final[ToolRules] = ToolRules(
    names="[a-zA-Z0-9_-]{1,64}",
    names_in_words="1 to 64 letters, digits, '_' and '-'",
    strict=StrictRules(
        formats=FORMATS,
        bounds=BOUNDS,
        has_patterns=True,
        needs_all=True,
        needs_type=True,
        may_recur=True,
        max_properties=5_000,
        max_levels=10,
        max_values=1_000,
        max_letters=120_000,
    ),
    is_plain=True,
    answers_are_objects=True,
    takes_loose_answers=True,
)
PROVIDER: Final[Provider] = Provider(
    ChatReader(),
    ChatForm(),
    tools=TOOLS,
    client_packages=("azure", "groq", "huggingface_hub", "litellm", "mistralai", "openai"),
)
