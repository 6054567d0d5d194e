"""A JSON text that grows, and what may be shown of it: pieces of text in, a partial value out.

Rule: a document is a value. What did not change is the same object as before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from jsontide._errors import ParserError
from jsontide._path import Path
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.tree import ParserState, create_parser_state, finalize, parse_chunk


class Mismatch(Protocol):
    """What a schema says against a value."""

    @property
    def path(self) -> Path: ...

    @property
    def reason(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Lens:
    """How a document is looked at."""

    schema: object
    streams: bool
    """Whether it is shown while it grows."""


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One growing text; equal to another that shows the same."""

    state: ParserState
    lens: Lens | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and self._told == other._told

    __hash__ = None  # type: ignore[assignment]

    @property
    def _told(self) -> tuple[object, ...]:
        return self.lens, self.is_complete, self.error, self.value

    @property
    def is_complete(self) -> bool:
        return self.state.is_complete

    @property
    def error(self) -> ParserError | None:
        """What is wrong with the text."""
        return self.state.error

    @property
    def value(self) -> JsonValue | Missing:
        """What may be shown now."""
        if self.lens is not None and not self.lens.streams and not self.state.is_complete:
            return MISSING
        return self.state.value

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        """What does not fit the schema."""
        return ()

    @property
    def model(self) -> object:
        """The whole value, as an instance of the type that is its schema."""
        return self.value


def new_document(lens: Lens | None = None) -> Document:
    return Document(create_parser_state(), lens)


def grown(document: Document, piece: str) -> Document:
    """Return the document after one more piece of its text."""
    state = parse_chunk(document.state, piece)
    return document if state is document.state else Document(state, document.lens)


def closed(document: Document) -> Document:
    """Return the document after the end of its text."""
    state = finalize(document.state)
    return document if state is document.state else Document(state, document.lens)


def seen(document: Document, lens: Lens | None) -> Document:
    """Return the document looked at in another way, because now its schema is known."""
    return document if document.lens is lens else Document(document.state, lens)
