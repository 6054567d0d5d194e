"""The parts of chat completions beside text and calls: reasoning, citations, sources, audio, images.

In: what servers put into a chunk for them. Out: notes on a draft.
Rule: what says the same in every chunk is noted once.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any, Final

from jsontide._values import JsonValue
from jsontide.adapters._read.fields import as_dict, as_text, count_of, dict_of, integer_of, list_of, plain, text_of
from jsontide.messages.draft import NO_INDEX, NO_KEY, Draft
from jsontide.messages.parts import BasePart, File, Other, ReasoningPart, Source, TextPart
from jsontide.messages.record import replace
from jsontide.messages.types import Citation

# Keys of parts: blocks of reasoning have one by their index and kind, and there is one audio answer.
_KINDS: Final = 8
_TEXT: Final = 0
_SUMMARY: Final = 1
_AUDIO: Final = 7
_DETAIL_READ: Final = ("data", "id", "signature", "summary", "text")
_THINKING_READ: Final = ("signature", "thinking")
_CITATIONS: Final = ("reference", "tool_reference")
_DATA_URL: Final = "data:"


def keep_metadata(draft: Draft, name: str, value: object) -> None:
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
    piece = text_of(delta, name)
    if piece is None:
        keep_metadata(draft, name, delta[name])
    else:
        draft.add_reasoning(NO_KEY, piece)


def _detail_text(detail: dict[str, Any]) -> str:
    return text_of(detail, "text") or text_of(detail, "summary") or ""


def read_reasoning_details(draft: Draft, details: object) -> None:
    """Note the blocks of reasoning as OpenRouter sends them, to be sent back as they are."""
    if not isinstance(details, (list, tuple)):
        keep_metadata(draft, "reasoning_details", details)
        return
    for item in details:
        detail = as_dict(item)
        kind = text_of(detail, "type")
        if kind == "reasoning.text":
            _grow_detail(draft, detail, _TEXT)
        elif kind == "reasoning.summary":
            _grow_detail(draft, detail, _SUMMARY)
        elif kind == "reasoning.encrypted":
            data, extra = text_of(detail, "data"), _rest_of(detail, _DETAIL_READ)
            place, item_id = draft.place_of(NO_KEY), text_of(detail, "id")
            draft.put(NO_KEY, ReasoningPart("", None, False, data, place, False, item_id, extra))
        else:
            draft.put(NO_KEY, Other(kind or "reasoning", plain(item), False, draft.place_of(NO_KEY)))


def _grow_detail(draft: Draft, detail: dict[str, Any], kind: int) -> None:
    index = integer_of(detail, "index")
    key = kind if index == NO_INDEX else (index + 1) * _KINDS + kind
    part, signature = draft.find(key), text_of(detail, "signature")
    item_id, extra = text_of(detail, "id"), _rest_of(detail, _DETAIL_READ)
    if not isinstance(part, ReasoningPart):
        place = draft.place_of(NO_KEY)
        draft.put(key, ReasoningPart("", signature, False, None, place, True, item_id, extra))
    else:
        if signature and signature != part.signature:
            draft.describe(part.index, replace(part, signature=signature))
        draft.label(part.index, item_id, {**part.extra, **extra} or None, part.is_open)
    draft.add_reasoning(key, _detail_text(detail))


def _rest_of(fields: dict[str, Any], read: tuple[str, ...]) -> dict[str, JsonValue]:
    return {name: plain(value) for name, value in fields.items() if value is not None and name not in read}


def read_parts(draft: Draft, content: object) -> None:
    """Note content in parts, as Mistral sends it."""
    if not isinstance(content, (list, tuple)):
        text = as_text(content)
        if text is None:
            keep_metadata(draft, "content", content)
        else:
            draft.add_text(NO_KEY, text)
        return
    for item in content:
        part = as_dict(item)
        kind = text_of(part, "type") or ""
        if part.get("thinking") is not None:
            _read_thinking(draft, part)
        elif kind in _CITATIONS:
            place = _length_of_last_text(draft)  # it stands after the words that it is for
            draft.cite(NO_KEY, _make_citation(plain(item), kind, part, place, place))
        elif kind == "image_url":
            read_images(draft, [part])
        elif text_of(part, "text") is not None:
            draft.add_text(NO_KEY, text_of(part, "text") or "")
        elif part:
            draft.put(NO_KEY, Other(kind, plain(item), False, draft.place_of(NO_KEY)))


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
        draft.put(NO_KEY, ReasoningPart("", None, False, None, at, True))
    last = draft.part_at(at)
    extra = {**last.extra, **_rest_of(part, _THINKING_READ)}
    if others:
        known = last.extra.get("thinking")
        extra["thinking"] = [*known, *others] if isinstance(known, list) else others
    if signature:
        draft.describe(at, replace(last, signature=signature))
    draft.label(at, None, extra, last.is_open)


def _length_of_last_text(draft: Draft) -> int:
    for at in range(draft.count - 1, -1, -1):
        part = draft.part_at(at)
        if isinstance(part, TextPart):
            return len(part.text)
    return 0


def read_annotations(draft: Draft, annotations: object) -> None:
    """Note where the text comes from; annotations of other kinds are parts of their own."""
    if not isinstance(annotations, (list, tuple)):
        keep_metadata(draft, "annotations", annotations)
        return
    for item in annotations:
        annotation = as_dict(item)
        kind = text_of(annotation, "type") or ""
        inner = dict_of(annotation, kind) or annotation
        if "citation" in kind or inner.get("url") is not None:
            start, end = count_of(inner, "start_index"), count_of(inner, "end_index")
            draft.cite(NO_KEY, _make_citation(plain(item), kind, inner, start, end))
        else:
            draft.put(NO_KEY, Other(kind, plain(item), False, draft.place_of(NO_KEY)))


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
        keep_metadata(draft, name, value)
        return
    known = {part.url: part for part in [draft.part_at(at) for at in range(draft.count)] if isinstance(part, Source)}
    for item in value:
        fields = as_dict(item)
        url = as_text(item) or text_of(fields, "url")
        if url is None:
            keep_metadata(draft, name, value)
            return
        _read_source(draft, known, url, fields)


def _read_source(draft: Draft, known: dict[str | None, Source], url: str, fields: dict[str, Any]) -> None:
    part = known.get(url)
    title, extra = text_of(fields, "title"), _rest_of(fields, ("title", "url"))
    if part is None:
        part = Source(url, title, draft.place_of(NO_KEY), False, None, extra or None)
    else:
        more = {**part.extra, **extra}
        if more == part.extra and (not title or title == part.title):
            return
        part = Source(url, title or part.title, part.index, False, None, more or None)
    known[url] = part
    _put_at(draft, part)


def _put_at(draft: Draft, part: BasePart) -> None:
    if part.index < draft.count:
        draft.describe(part.index, part)
    else:
        draft.put(NO_KEY, part)


def read_audio(draft: Draft, audio: dict[str, Any]) -> None:
    """Note more of a spoken answer; what it says in words is beside it."""
    known = draft.find(_AUDIO)
    before = known if isinstance(known, File) else File("audio/*", index=draft.place_of(_AUDIO))
    extra = {**before.extra, **_rest_of(audio, ("data", "id", "transcript"))}
    spoken = text_of(audio, "transcript")
    if spoken:
        extra["transcript"] = f"{extra.get('transcript', '')}{spoken}"
    data = _join_base64(before.data, text_of(audio, "data"))
    audio_id = before.id or text_of(audio, "id")
    draft.put(_AUDIO, File(before.media_type, data, None, audio_id, before.index, True, None, extra or None))


def _join_base64(before: str | None, piece: str | None) -> str | None:
    """Return the base64 of both: each piece may be padded by itself."""
    if not before or not piece:
        return before or piece
    if not before.endswith("="):
        return before + piece
    try:
        return before[:-4] + b64encode(b64decode(before[-4:]) + b64decode(piece)).decode()
    except ValueError:
        return before + piece


def read_images(draft: Draft, images: object) -> None:
    """Note images, which are data or an address."""
    if not isinstance(images, (list, tuple)):
        keep_metadata(draft, "images", images)
        return
    for item in images:
        image = as_dict(item)
        inner = dict_of(image, "image_url")
        url = as_text(item) or as_text(image.get("image_url")) or text_of(inner, "url")
        place = draft.place_of(NO_KEY)
        if url is None:
            draft.put(NO_KEY, Other(text_of(image, "type") or "image", plain(item), False, place))
            continue
        extra = {**_rest_of(image, ("image_url", "type")), **_rest_of(inner, ("url",))}
        draft.put(NO_KEY, make_file(url, place, extra or None))


def make_file(url: str, place: int, extra: dict[str, JsonValue] | None) -> File:
    """Return the file of an address, which may be the data itself."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith(_DATA_URL) or not head.endswith(";base64"):
        return File(None, None, url, None, place, False, None, extra)
    media_type = head[len(_DATA_URL) :].partition(";")[0]
    return File(media_type or None, data, None, None, place, False, None, extra)
