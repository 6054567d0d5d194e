"""What Gemini says about where its answer comes from: metadata in, sources and citations out.

It comes with any response of a stream, and often again, with more in it. Places in the text are counted in bytes.
Rule: the metadata is kept whatever it says; a citation is made only where its place in the text is certain.
"""

from __future__ import annotations

from typing import Any, Final, cast

from jsontide._values import JsonValue
from jsontide.adapters._read.fields import as_dict, count_of, dict_of, list_of, text_of
from jsontide.adapters._read.gemini_fields import count_chars
from jsontide.messages.draft import NO_KEY, Draft
from jsontide.messages.parts import Source, TextPart
from jsontide.messages.record import replace
from jsontide.messages.types import Citation

GROUNDING: Final = "groundingMetadata"
CITATIONS: Final = "citationMetadata"
_CHUNKS: Final = "groundingChunks"
_SUPPORTS: Final = "groundingSupports"
_INDICES: Final = "groundingChunkIndices"


def merge_metadata(draft: Draft, name: str, value: JsonValue) -> None:
    """Keep metadata that comes in several responses, each with more of it or with the rest."""
    known = None if draft.metadata is None else draft.metadata.get(name)
    draft.set_metadata(name, value if known is None else _merge(cast("JsonValue", known), value))


def _merge(known: JsonValue, new: JsonValue) -> JsonValue:
    if isinstance(known, dict) and isinstance(new, dict):
        merged = {name: _merge(known[name], value) if name in known else value for name, value in new.items()}
        return {**known, **merged}
    if isinstance(known, list) and isinstance(new, list):
        if _repeats(known, new):
            return new if len(new) > len(known) else known
        return [*known, *new]
    return new


def _repeats(known: list[Any], new: list[Any]) -> bool:
    """Return whether one of two lists begins with the other."""
    most = min(len(known), len(new))
    return known[:most] == new[:most]


def read_grounding(draft: Draft, grounding: JsonValue) -> None:
    """Keep what the answer is based on, and add a part for each source that is new."""
    fields = as_dict(grounding)
    chunks = list_of(fields, _CHUNKS)
    known = list_of(as_dict({} if draft.metadata is None else draft.metadata.get(GROUNDING)), _CHUNKS)
    if known and chunks and not _repeats(known, chunks):
        # These are counted for themselves, and come after those that are known.
        supports = [_shift(as_dict(support), len(known)) for support in list_of(fields, _SUPPORTS)]
        fields = {**fields, _SUPPORTS: supports}
    merge_metadata(draft, GROUNDING, fields)
    for chunk in chunks:
        _add_source(draft, as_dict(chunk))


def _shift(support: dict[str, Any], by: int) -> dict[str, Any]:
    indices = [at + by if isinstance(at, int) else at for at in list_of(support, _INDICES)]
    return {**support, _INDICES: indices}


def _add_source(draft: Draft, chunk: dict[str, Any]) -> None:
    for kind in chunk:
        fields = dict_of(chunk, kind)
        url, title = read_source(fields)
        rest = {name: value for name, value in fields.items() if name not in {"uri", "title"}}
        extra: dict[str, JsonValue] = {kind: rest}
        if fields and not _has_source(draft, url, title, extra):
            draft.put(NO_KEY, Source(url, title, draft.count, False, None, extra))


def _has_source(draft: Draft, url: str | None, title: str | None, extra: dict[str, JsonValue]) -> bool:
    for at in range(draft.count):
        part = draft.part_at(at)
        if isinstance(part, Source) and part.url == url and part.title == title and part.extra == extra:
            return True
    return False


def read_source(fields: dict[str, Any]) -> tuple[str | None, str | None]:
    return text_of(fields, "uri"), text_of(fields, "title")


class _Text:
    """A text part, and where in the whole text it begins."""

    __slots__ = ("at", "citations", "encoded", "offset", "part")

    def __init__(self, at: int, part: TextPart, offset: int) -> None:
        self.at: Final = at
        self.part: Final = part
        self.offset: Final = offset
        self.encoded: Final = part.text.encode("utf-8", "surrogatepass")
        self.citations: list[Citation] = []

    def holds(self, start: int, end: int, text: str | None) -> bool:
        if start < 0 or end < start or end > len(self.encoded):
            return False
        return text is None or self.encoded[start:end].decode("utf-8", "replace") == text


def cite(draft: Draft) -> None:
    """Give the text parts the citations that the metadata so far has for them."""
    metadata = {} if draft.metadata is None else draft.metadata
    grounding = as_dict(metadata.get(GROUNDING))
    chunks = list_of(grounding, _CHUNKS)
    texts = _find_texts(draft)
    for support in list_of(grounding, _SUPPORTS):
        _cite_support(texts, as_dict(support), chunks)
    cited = as_dict(metadata.get(CITATIONS))
    for citation in [*list_of(cited, "citations"), *list_of(cited, "citationSources")]:
        _cite_source(texts, as_dict(citation))
    for text in texts:
        citations = tuple(text.citations)
        if citations != text.part.citations:
            draft.describe(text.at, replace(text.part, citations=citations))


def _find_texts(draft: Draft) -> list[_Text]:
    texts: list[_Text] = []
    offset = 0
    for at in range(draft.count):
        part = draft.part_at(at)
        if isinstance(part, TextPart):
            text = _Text(at, part, offset)
            offset += len(text.encoded)
            texts.append(text)
    return texts


def _cite_support(texts: list[_Text], support: dict[str, Any], chunks: list[object]) -> None:
    segment = dict_of(support, "segment")
    found = _locate(texts, segment, text_of(segment, "text"))
    if found is None:
        return
    text, start, end = found
    indices = [at for at in list_of(support, _INDICES) if isinstance(at, int) and 0 <= at < len(chunks)]
    for at in indices:
        chunk = as_dict(chunks[at])
        fields = dict_of(chunk, next(iter(chunk), ""))
        url, title = read_source(fields)
        text.citations.append(
            Citation(
                type="groundingSupport",
                url=url,
                title=title,
                cited_text=text_of(fields, "text"),
                start=start,
                end=end,
                raw=support,
            )
        )


def _cite_source(texts: list[_Text], citation: dict[str, Any]) -> None:
    found = _locate(texts, citation, None)
    if found is not None:
        text, start, end = found
        url, title = read_source(citation)
        text.citations.append(Citation(type="citation", url=url, title=title, start=start, end=end, raw=citation))


def _locate(texts: list[_Text], segment: dict[str, Any], said: str | None) -> tuple[_Text, int, int] | None:
    """Return the text that a segment is in, and its place there in characters.

    Of a stream, segments are counted from the beginning of the whole text; else from that of their part.
    """
    start, end = count_of(segment, "startIndex") or 0, count_of(segment, "endIndex")
    if end is None:
        return None
    for text in texts:
        if text.holds(start - text.offset, end - text.offset, said):
            return text, count_chars(text.encoded, start - text.offset), count_chars(text.encoded, end - text.offset)
    if said is not None:
        for text in texts:
            if text.holds(start, end, said):
                return text, count_chars(text.encoded, start), count_chars(text.encoded, end)
    return None
