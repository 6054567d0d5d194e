"""Text of OpenAI Responses that no delta brought: servers may send some of it only when a part or an item is done.

In: what was streamed of each part, and an event. Out: the same with this event, and the text that only this event has.
Rule: nothing is told twice. A whole that does not go on where the deltas stopped adds nothing, and is remembered: then
some of the text was lost, or is not what was meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal, TypeAlias

from jsontide._textbuffer import NO_TEXT, GrowingText, joined, waits, without_half
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


@dataclass(frozen=True, slots=True)
class _Part:
    """What deltas brought of one part."""

    text: GrowingText = NO_TEXT
    held: str = ""
    """Half a character, where the deltas were cut between the two halves."""

    def append(self, piece: str) -> _Part:
        if self.held or waits(piece):
            piece, held = joined(self.held, piece)
            return _Part(self.text.append(piece), held)
        return _Part(self.text.append(piece))

    def missing(self, whole: str) -> str | None:
        """Return what the whole has more than the deltas, `None` if it does not begin with them."""
        if len(whole) < self.text.length:  # asked first: the deltas are joined only for a whole that is as long
            return None
        before = str(self.text)
        if not whole.startswith(before):
            return None
        rest = whole[len(before) :]
        return without_half(rest, self.held) if self.held else rest


_NO_PART: Final = _Part()


class _Log:
    """Parts in the order in which others began to grow; states share it, and each sees the first so many entries."""

    __slots__ = ("entries", "latest")

    def __init__(self, entries: list[tuple[_Place, _Part]]) -> None:
        self.entries = entries
        self.latest = dict(entries)
        """True for the state that sees all entries."""

    def append(self, place: _Place, part: _Part) -> None:
        # First of all, so that a log which an interrupt leaves half written is the newest to nobody.
        self.entries.append((place, part))
        self.latest[place] = part


@dataclass(frozen=True, slots=True, eq=False)
class Streamed:
    """What deltas brought of each part of a response, by its place."""

    place: _Place | None = None
    """Where the part is that grows; it is put to the others when another one does."""
    part: _Part = _NO_PART
    others: _Log | None = None
    count: int = 0
    """How many entries of the log are seen: a state that does not see all of them is not the newest, and copies."""
    is_contradicted: bool = False
    """Whether some text was not what its deltas said."""

    def at(self, place: _Place) -> Streamed:
        """Return the same with the part at a place as the one that grows."""
        if place == self.place:
            return self
        others, count = self.others, self.count
        if others is None or len(others.entries) != count:
            others = _Log([] if others is None else others.entries[:count])
        if self.place is not None:
            others.append(self.place, self.part)
            count += 1
        return Streamed(place, others.latest.get(place, _NO_PART), others, count, self.is_contradicted)

    def append(self, place: _Place, piece: str) -> Streamed:
        there = self.at(place)
        return Streamed(place, there.part.append(piece), there.others, there.count, there.is_contradicted)


def with_event(streamed: Streamed, kind: str, event: object) -> tuple[Streamed, Delta | None]:
    """Return what was streamed after an event of a kind, and what it adds if it is no delta itself."""
    if kind in _DELTAS:
        return streamed.append(_place(event, _DELTAS[kind]), text(event, "delta") or ""), None
    pieces: list[_Piece] = []
    for place, whole in _wholes(kind, event):
        streamed = streamed.at(place)
        missing = streamed.part.missing(whole)
        if missing is None:
            # What was thought, or why nothing is said, is shown and no more: there the deltas will do.
            streamed = replace(streamed, is_contradicted=streamed.is_contradicted or place[0] == "content")
        elif missing:
            streamed = streamed.append(place, missing)
            pieces.append((place, missing))
    return streamed, _delta(pieces) if pieces else None


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
    return _whole(event, kind, text(part, name)) if kind else []


def _of_text(kind: _Kind, name: str, event: object) -> list[_Piece]:
    return _whole(event, kind, text(event, name))


def _whole(event: object, kind: _Kind, written: str | None) -> list[_Piece]:
    """Some servers leave the text out where they repeat a part."""
    return [(_place(event, kind), written)] if written else []


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
