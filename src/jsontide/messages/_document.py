"""A JSON text that grows, and what may be shown of it: pieces of text in, a partial value out.

Rule: a document is a value. What did not change is the same object as before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from jsontide._errors import ParserError
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema import Resolution, SchemaMismatch, from_json_ast
from jsontide.tree import ParserState, create_parser_state, finalize, parse_chunk


@dataclass(frozen=True, slots=True)
class Lens:
    """How a document is looked at; without a schema, any JSON is shown."""

    schema: object
    streams: bool
    """Whether it is shown while it grows."""
    is_known: bool = True
    """Whether it was told at all which schema holds; before that nothing is shown, which it might not show."""

    def __reduce__(self) -> str | tuple[type[Lens], tuple[object, ...]]:
        # There is one that is unknown, also after pickling: whether a lens is another one is asked by identity.
        return (Lens, (self.schema, self.streams)) if self.is_known else "UNKNOWN"


UNKNOWN: Final = Lens(None, streams=False, is_known=False)


def check_lens(lens: Lens | None) -> None:
    """Refuse a schema that is none: before the stream, and not in the middle of it."""
    if lens is not None and lens.schema is not None:
        from_json_ast(lens.schema, create_parser_state())


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One growing text; equal to another that shows the same."""

    state: ParserState
    lens: Lens | None = None
    resolution: Resolution[object] | None = None
    """What the schema shows, if there is one, as soon as it may be asked."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and self._told == other._told

    __hash__ = None  # type: ignore[assignment]

    @property
    def _told(self) -> tuple[object, ...]:
        return self.lens, self.is_complete, self.error, self.value

    @property
    def is_complete(self) -> bool:
        """Whether all of the text is there."""
        return self.state.is_complete

    @property
    def error(self) -> ParserError | None:
        """What is wrong with the text."""
        return self.state.error

    @property
    def mismatches(self) -> tuple[SchemaMismatch, ...]:
        """What does not fit the schema."""
        return () if self.resolution is None else self.resolution.errors

    @property
    def value(self) -> JsonValue | Missing:
        """What may be shown now."""
        if self.resolution is not None:
            return self.resolution.value
        return self.state.value if self._is_shown else MISSING

    @property
    def model(self) -> object:
        """The whole value, as an instance of the type that is its schema."""
        return self.state.value if self.resolution is None else self.resolution.model

    @property
    def _is_shown(self) -> bool:
        lens = self.lens
        return lens is None or (lens.is_known and (lens.streams or self.state.is_complete))


def new_document(lens: Lens | None = None) -> Document:
    return Document(create_parser_state(), lens)


def grown(document: Document, piece: str) -> Document:
    """Return the document after one more piece of its text."""
    return _at(document, parse_chunk(document.state, piece))


def closed(document: Document) -> Document:
    """Return the document after the end of its text."""
    return _at(document, finalize(document.state))


def seen(document: Document, lens: Lens | None) -> Document:
    """Return the document looked at in another way, because now its schema is known."""
    return document if document.lens is lens else _looked(Document(document.state, lens))


def _at(document: Document, state: ParserState) -> Document:
    if state is document.state:
        return document
    return _looked(Document(state, document.lens, document.resolution))


def _looked(document: Document) -> Document:
    lens = document.lens
    if lens is None or lens.schema is None or not document._is_shown:
        return document
    resolution = from_json_ast(lens.schema, document.state, document.resolution)
    return Document(document.state, lens, resolution)
