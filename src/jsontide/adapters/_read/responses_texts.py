"""Texts of OpenAI Responses: the contents of messages, refusals, summaries and thoughts, with what belongs to them.

In: deltas, wholes and annotations of a text, named by the place of its item and its own. Out: notes on a draft.
Servers may send a text only when a part or an item is done, or at the end.

Rule: nothing is told twice. A whole that does not go on where the deltas stopped adds nothing, and is remembered: then
some of the text was lost, or is not what was meant.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from jsontide._values import JsonValue
from jsontide.adapters._read.fields import count_of, dict_of, integer_of, list_of, plain, text_of
from jsontide.messages.calls import ServerCall
from jsontide.messages.draft import NO_INDEX, NO_KEY, Draft
from jsontide.messages.parts import BasePart, File, Other, ReasoningPart, Refusal, TextPart
from jsontide.messages.record import replace
from jsontide.messages.types import Citation

CONTENT: Final = 0
REFUSAL: Final = 1
THOUGHT: Final = 2
SUMMARY: Final = 3
_KINDS: Final = {"output_text": CONTENT, "refusal": REFUSAL, "reasoning_text": THOUGHT, "summary_text": SUMMARY}
"""What the types of parts hold."""
_STRIDE: Final = 1 << 20
"""Outputs are so far apart in keys: the first is the item itself, then come its parts, four kinds for each place."""
_PART_FIELDS: Final = frozenset(("type", "text", "refusal", "annotations", "logprobs", "parsed"))
"""The fields of a part that are read; the helper of the SDK adds the last one."""

Labels: TypeAlias = dict[int, tuple[str | None, dict[str, JsonValue]]]
"""The ids of open items and what else they say, by output."""


def item_key(output: int) -> int:
    """Return the key of the part that is an item, or stands for it."""
    return output * _STRIDE


def text_key(kind: int, output: int, at: int) -> int:
    """Return the key of one of the texts of an item."""
    return output * _STRIDE + 1 + 4 * at + kind


def output_of_key(key: int) -> int:
    return key // _STRIDE


def place_in(fields: dict[str, Any], name: str) -> int:
    """Return a place that is 0 if nothing is said of it."""
    at = integer_of(fields, name)
    return 0 if at == NO_INDEX else at


def name_in(fields: dict[str, Any], name: str) -> str | None:
    """Return an id or another word, of which an empty one says nothing."""
    return text_of(fields, name) or None


def key_of(kind: int, event: dict[str, Any]) -> int:
    """Return the key of the text that an event is about."""
    at = place_in(event, "summary_index" if kind == SUMMARY else "content_index")
    return text_key(kind, place_in(event, "output_index"), at)


class Texts:
    """Takes down what one event says about texts; what must be remembered after it is in its fields."""

    __slots__ = ("counts", "draft", "is_contradicted", "labels")

    def __init__(self, draft: Draft, labels: Labels, counts: dict[int, int], is_contradicted: bool) -> None:
        self.draft: Final = draft
        self.labels: Labels = labels
        self.counts: dict[int, int] = counts
        """How many log probabilities came of each text."""
        self.is_contradicted: bool = is_contradicted
        """Whether some text was not what its deltas said."""

    def grow(self, kind: int, event: dict[str, Any]) -> None:
        """Note a delta of a text."""
        key, piece = key_of(kind, event), text_of(event, "delta") or ""
        if piece and self.draft.find(key) is None:
            self._begin(kind, key, name_in(event, "item_id"))
        add_piece(self.draft, kind, key, piece)
        self._add_logprobs(key, list_of(event, "logprobs"), False)

    def complete(self, kind: int, event: dict[str, Any]) -> None:
        """Note the whole of a text."""
        key, whole = key_of(kind, event), text_of(event, "refusal" if kind == REFUSAL else "text")
        if whole:
            self._complete(kind, key, name_in(event, "item_id"), whole)
        self._add_logprobs(key, list_of(event, "logprobs"), True)

    def cite(self, event: dict[str, Any]) -> None:
        """Note one annotation of a text."""
        key = key_of(CONTENT, event)
        if self.draft.find(key) is None:
            self._begin(CONTENT, key, name_in(event, "item_id"))
        part, at = self.draft.find(key), integer_of(event, "annotation_index")
        if isinstance(part, TextPart) and (at == NO_INDEX or at >= len(part.citations)):
            citation = _read_citation(plain(event.get("annotation")))
            self.draft.describe(part.index, replace(part, citations=(*part.citations, citation)))

    def read_part(self, event: dict[str, Any], is_done: bool) -> None:
        """Note a part of an item that begins or is done."""
        at = place_in(event, "content_index" if event.get("summary_index") is None else "summary_index")
        item_id = name_in(event, "item_id")
        self.read_content(dict_of(event, "part"), place_in(event, "output_index"), at, item_id, is_done)

    def read_content(self, part: dict[str, Any], output: int, at: int, item_id: str | None, is_done: bool) -> int:
        """Note a part of an item, and return its key."""
        said = text_of(part, "type") or ""
        kind = _KINDS.get(said, -1)
        if kind < 0:
            return self._put_unknown(part, output, at, item_id, is_done)
        key = text_key(kind, output, at)
        if self.draft.find(key) is None:
            self._begin(kind, key, item_id)
        whole = text_of(part, "refusal" if kind == REFUSAL else "text")
        if whole:  # some servers leave the text out where they repeat a part
            self._complete(kind, key, item_id, whole)
        self._cite_all(key, [plain(value) for value in list_of(part, "annotations")])
        self._add_logprobs(key, list_of(part, "logprobs"), True)
        self._keep(key, part)
        if is_done:
            self.draft.close(key)
        return key

    def _put_unknown(self, part: dict[str, Any], output: int, at: int, item_id: str | None, is_done: bool) -> int:
        """Keep a content of a type that is not known; what it belongs to is said, as it is no item itself."""
        said = text_of(part, "type")
        if not said:
            return NO_KEY
        key = text_key(CONTENT, output, at)
        known_id, extra = self.labels.get(output, (None, {}))
        whole = {**extra, "type": "message"}
        self.put(key, Other(said, plain(part), False, self.place_for(key), not is_done, item_id or known_id, whole))
        return key

    def _begin(self, kind: int, key: int, item_id: str | None) -> None:
        """Begin a part for a text; the first one of a reasoning item takes the place of the item."""
        draft, output = self.draft, output_of_key(key)
        known_id, extra = self.labels.get(output, (None, {}))
        item_id = item_id or known_id
        at = draft.count
        if kind == CONTENT:
            draft.put(key, TextPart("", (), at, True, item_id, extra or None))
        elif kind == REFUSAL:
            draft.put(key, Refusal("", at, True, item_id, extra or None))
        else:
            extra = {**extra, "type": "summary_text" if kind == SUMMARY else "reasoning_text"}
            first, encrypted = draft.find(item_key(output)), None
            if isinstance(first, ReasoningPart):
                at, encrypted = first.index, first.encrypted
            draft.put(key, ReasoningPart("", None, False, encrypted, at, True, item_id, extra))

    def _complete(self, kind: int, key: int, item_id: str | None, whole: str) -> None:
        if self.draft.find(key) is None:
            self._begin(kind, key, item_id)
        if not self.draft.complete_text(key, whole) and kind == CONTENT:
            # What was thought, or why nothing is said, is shown and no more: there the deltas will do.
            self.is_contradicted = True

    def _add_logprobs(self, key: int, values: list[object], is_whole: bool) -> None:
        """Keep log probabilities, of a whole those that are new."""
        if not values:
            return
        count = self.counts.get(key, 0)
        new = values[count:] if is_whole else values
        if new:
            self.counts = {**self.counts, key: count + len(new)}
            self.draft.extend_metadata("logprobs", [plain(value) for value in new])

    def _cite_all(self, key: int, annotations: list[JsonValue]) -> None:
        """Note all annotations of a text, unless more of them came one by one."""
        part = self.draft.find(key)
        if not isinstance(part, TextPart) or len(annotations) < len(part.citations):
            return
        if annotations != [citation.raw for citation in part.citations]:
            citations = tuple([_read_citation(annotation) for annotation in annotations])
            self.draft.describe(part.index, replace(part, citations=citations))

    def _keep(self, key: int, part: dict[str, Any]) -> None:
        """Keep the fields of a part that are not known."""
        more: dict[str, JsonValue] = {
            name: plain(value) for name, value in part.items() if value is not None and name not in _PART_FIELDS
        }
        found = self.draft.find(key)
        if more and found is not None:
            self.draft.label(found.index, None, {**found.extra, "part": more}, found.is_open)

    def place_for(self, key: int) -> int:
        """Return the place of the part of a key if an item can replace it, else that of the next one."""
        before = self.draft.find(key)
        return before.index if isinstance(before, (ServerCall, File, Other)) else self.draft.count

    def put(self, key: int, part: BasePart) -> None:
        if self.draft.find(key) != part:
            self.draft.put(key, part)


def add_piece(draft: Draft, kind: int, key: int, piece: str) -> None:
    if kind == CONTENT:
        draft.add_text(key, piece)
    elif kind == REFUSAL:
        draft.add_refusal(key, piece)
    else:
        draft.add_reasoning(key, piece)


def _read_citation(annotation: JsonValue) -> Citation:
    """Return where a text comes from."""
    fields: dict[str, Any] = annotation if isinstance(annotation, dict) else {}
    return Citation(
        type=text_of(fields, "type") or "",
        url=text_of(fields, "url"),
        title=text_of(fields, "title") or text_of(fields, "filename"),
        start=count_of(fields, "start_index"),
        end=count_of(fields, "end_index"),
        raw=fields,
    )
