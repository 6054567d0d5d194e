"""Text of OpenAI Responses that no delta brought: servers may send some of it only when a part or an item is done.

In: what was streamed of each part, and an event. Out: the same with this event, and the text that only this event has.
Rule: nothing is told twice. A whole that does not go on where the deltas stopped adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Final, Literal, TypeAlias

from jsontide._growing import NO_TEXT, GrowingText
from jsontide.adapters._fields import field as member
from jsontide.adapters._fields import integer, items, text
from jsontide.messages import Delta

_Kind: TypeAlias = Literal["content", "refusal", "reasoning", "summary"]
_Place: TypeAlias = tuple[_Kind, int, int]
_Piece: TypeAlias = tuple[_Place, str]

_PARTS: Final[dict[str, tuple[_Kind, str]]] = {
    "output_text": ("content", "text"),
    "refusal": ("refusal", "refusal"),
    "reasoning_text": ("reasoning", "text"),
    "summary_text": ("summary", "text"),
}
"""What the types of parts hold, and where."""
_UNITS: Final = "utf-16-le"


@dataclass(frozen=True, slots=True)
class Streamed:
    """What deltas brought of each part of a response, by its place."""

    parts: Mapping[_Place, GrowingText] = field(default_factory=dict)
    place: _Place | None = None
    """Where the part is that grows; it is put to the others when another one does."""
    text: GrowingText = NO_TEXT

    def at(self, place: _Place) -> GrowingText:
        return self.text if place == self.place else self.parts.get(place, NO_TEXT)

    def grown(self, place: _Place, piece: str) -> Streamed:
        text = self.at(place).append(piece)
        if place == self.place or self.place is None:
            return Streamed(self.parts, place, text)
        return Streamed({**self.parts, self.place: self.text}, place, text)


def with_event(streamed: Streamed, event: object) -> tuple[Streamed, Delta | None]:
    """Return what was streamed after an event, and what it adds if it is no delta itself."""
    kind = text(event, "type") or ""
    if kind == "response.created":
        return Streamed(), None
    if kind in _DELTAS:
        return streamed.grown(_place(event, _DELTAS[kind]), text(event, "delta") or ""), None
    pieces = [(place, _missing(streamed, place, whole)) for place, whole in _wholes(kind, event)]
    if not any(piece for _, piece in pieces):
        return streamed, None
    return reduce(lambda so_far, piece: so_far.grown(*piece), pieces, streamed), _delta(pieces)


def _missing(streamed: Streamed, place: _Place, whole: str) -> str:
    before = str(streamed.at(place))
    if whole.startswith(before):
        return whole[len(before) :]
    # Deltas may have been cut between the two halves of a character.
    written, all_of_it = before.encode(_UNITS, "surrogatepass"), whole.encode(_UNITS, "surrogatepass")
    missing = all_of_it[len(written) :] if all_of_it.startswith(written) else b""
    return missing.decode(_UNITS, "surrogatepass")


def _delta(pieces: Iterable[_Piece]) -> Delta:
    told = {"content": "", "refusal": "", "reasoning": ""}
    for (kind, _, _), piece in pieces:
        told["reasoning" if kind == "summary" else kind] += piece
    return Delta(content=told["content"], refusal=told["refusal"], reasoning=told["reasoning"])


def _place(event: object, kind: _Kind) -> _Place:
    at = integer(event, "summary_index" if kind == "summary" else "content_index")
    return kind, integer(event, "output_index") or 0, at or 0


def _wholes(kind: str, event: object) -> list[_Piece]:
    reader = _WHOLES.get(kind)
    return reader(event) if reader else []


def _part(event: object, part: object) -> list[_Piece]:
    kind, name = _PARTS.get(text(part, "type") or "", (None, ""))
    return [(_place(event, kind), text(part, name) or "")] if kind else []


def _of_text(kind: _Kind, name: str, event: object) -> list[_Piece]:
    return [(_place(event, kind), text(event, name) or "")]


def _of_part(event: object) -> list[_Piece]:
    return _part(event, member(event, "part"))


def _of_item(event: object) -> list[_Piece]:
    item, index = member(event, "item"), integer(event, "output_index")
    parts = [*enumerate(items(item, "summary")), *enumerate(items(item, "content"))]
    told = ({"output_index": index, "content_index": at, "summary_index": at, "part": part} for at, part in parts)
    return [piece for one in told for piece in _of_part(one)]


_DELTAS: Final[dict[str, _Kind]] = {
    "response.output_text.delta": "content",
    "response.refusal.delta": "refusal",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "summary",
}
_WHOLES: Final[dict[str, Callable[[object], list[_Piece]]]] = {
    "response.output_text.done": partial(_of_text, "content", "text"),
    "response.refusal.done": partial(_of_text, "refusal", "refusal"),
    "response.reasoning_text.done": partial(_of_text, "reasoning", "text"),
    "response.reasoning_summary_text.done": partial(_of_text, "summary", "text"),
    "response.content_part.done": _of_part,
    "response.reasoning_summary_part.done": _of_part,
    "response.output_item.done": _of_item,
}
