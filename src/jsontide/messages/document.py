"""A JSON text that grows, and what may be shown of it: pieces of text in, a partial value out.

Rule: a document is a value. What did not change is the same object as before.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isinf
from typing import Final

from jsontide._errors import ParserError, Reason
from jsontide._path import Segment
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.mend import MendState, Repair, finish_mend, mend_chunk
from jsontide.mend.state import Passage, place_error, with_path
from jsontide.messages.types import ErrorDetail, ErrorKind, ErrorSource
from jsontide.schema import Partial, Policies, Resolution, SchemaMismatch, from_json_ast
from jsontide.tree import ParserState, finalize, node_at, parse_chunk
from jsontide.tree.log import Place


class SchemaBinding:
    """The schema that a document is read with; without one, any JSON is shown."""

    __slots__ = ("is_known", "is_text", "policies", "schema", "streams")

    def __init__(
        self,
        schema: object,
        streams: bool,
        is_known: bool = True,
        policies: Policies | None = None,
        is_text: bool = False,
    ) -> None:
        self.schema: Final = schema
        self.streams: Final = streams
        """Whether the value is shown while it grows."""
        self.is_known: Final = is_known
        """False until the tool's name is known; nothing is shown before then."""
        self.policies: Final = policies
        self.is_text: Final = is_text
        """Whether it is read from the text of a message, and not from the arguments of a call."""

    def __reduce__(self) -> str | tuple[type[SchemaBinding], tuple[object, ...]]:
        # There is one that is unknown, also after unpickling: bindings are compared by identity.
        fields = (self.schema, self.streams, True, self.policies, self.is_text)
        return (SchemaBinding, fields) if self.is_known else "UNKNOWN"


UNKNOWN: Final = SchemaBinding(None, False, False)


class ErrorMemo:
    """The mismatches of a document as errors of a message, so that those of the next one can go on from them."""

    __slots__ = ("details", "mismatches", "source")

    def __init__(
        self, source: ErrorSource, mismatches: tuple[SchemaMismatch, ...], details: tuple[ErrorDetail, ...]
    ) -> None:
        self.source: Final = source
        self.mismatches: Final = mismatches
        self.details: Final = details


class Document:
    """One growing text."""

    __slots__ = ("_error", "_memo", "binding", "mend", "resolution", "state")

    def __init__(
        self,
        state: ParserState,
        binding: SchemaBinding | None = None,
        resolution: Resolution[object] | None = None,
        memo: ErrorMemo | None = None,
        mend: MendState | None = None,
        error: ParserError | None = None,
    ) -> None:
        self.state: Final = state
        self.binding: Final = binding
        self.resolution: Final = resolution
        """What the schema shows, if there is one, as soon as it may be asked."""
        self._memo = memo
        self.mend: Final = mend
        """Where mending stands, if bad JSON is mended."""
        self._error: Final = error if mend is not None else state.error

    @property
    def is_complete(self) -> bool:
        """Whether all of the text is there; never by a repair."""
        return self.state.is_complete and (self.mend is None or (self._error is None and not self.mend.is_truncated))

    @property
    def error(self) -> ParserError | None:
        """What is wrong with the text."""
        return self._error

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """What was mended."""
        return () if self.mend is None else self.mend.repairs

    @property
    def mismatches(self) -> tuple[SchemaMismatch, ...]:
        """What does not fit the schema."""
        return () if self.resolution is None else self.resolution.errors

    def errors(self, source: ErrorSource) -> tuple[ErrorDetail, ...]:
        """Return what is wrong with the document; that it breaks off is not, while it may go on.

        What was wrong with it before stays the same object, and costs nothing again.
        """
        mismatches = self.mismatches
        memo = self._memo
        known = memo.mismatches if memo is not None and memo.source == source else ()
        kept = min(len(known), len(mismatches))
        while kept and known[kept - 1] is not mismatches[kept - 1]:  # those of an open value
            kept -= 1
        details = () if memo is None else memo.details[:kept]
        if kept < len(mismatches):
            more = [ErrorDetail(ErrorKind.SCHEMA, source, one.message, one.path, one) for one in mismatches[kept:]]
            details = (*details, *more)
        if len(mismatches) != len(known) or kept != len(known):
            self._memo = ErrorMemo(source, mismatches, details)
        error = self.error
        if error is None or (error.reason is Reason.UNEXPECTED_END and not self._has_only_prose):
            return details
        return (ErrorDetail(ErrorKind.JSON, source, error.message, error.path, error), *details)

    @property
    def _has_only_prose(self) -> bool:
        """Whether all of the text was dropped: it does not break off, it has no JSON."""
        return self.mend is not None and self.state.root_id is None and bool(self.mend.repairs)

    @property
    def value(self) -> JsonValue | Missing:
        """What may be shown now."""
        if self.resolution is not None:
            return self.resolution.value
        return self.state.value if _is_shown(self.binding, self.state) else MISSING

    @property
    def is_shown(self) -> bool:
        """Whether there is anything to show; the value itself is not made for it."""
        if self.resolution is not None:
            return self.resolution.value is not MISSING
        return _is_shown(self.binding, self.state) and not Place(self.state).shows_nothing

    @property
    def model(self) -> object:
        """The whole value, as an instance of the type that is its schema."""
        return self.state.value if self.resolution is None else self.resolution.model

    @property
    def partial(self) -> object:
        """What may be shown now, with the attributes of the instance to come; `MISSING` while nothing may."""
        resolution = self.resolution
        return MISSING if resolution is None or resolution.value is MISSING else Partial(resolution)

    def is_complete_at(self, path: str | Sequence[Segment]) -> bool:
        """Return whether the value at a path is shown and will not change any more."""
        if self.resolution is not None:
            return Partial(self.resolution).is_complete(path)
        if not _is_shown(self.binding, self.state):
            return False
        node = node_at(self.state, path)
        return node is not None and node.closed

    def append(self, piece: str) -> Document:
        """Return the document after one more piece of its text."""
        if self.mend is not None:
            return self._append_mended(self.mend, piece)
        state = parse_chunk(self.state, piece)
        if state is self.state:
            return self
        binding = self.binding
        if binding is None or binding.schema is None:
            return Document(state, binding, None)
        return _resolve(state, binding, self.resolution, self._memo)

    def finish(self) -> Document:
        """Return the document after the end of its text."""
        if self.mend is not None:
            return self._finish_mended(self.mend)
        state = finalize(self.state)
        return self if state is self.state else _resolve(state, self.binding, self.resolution, self._memo)

    def bind(self, binding: SchemaBinding | None, mend: MendState | None) -> Document:
        """Return the document read with another schema, because now it is known.

        What was read before is not mended again.
        """
        if self.binding is binding:
            return self
        if self.mend is None or self.mend.index > 0:
            mend = self.mend
        return _resolve(self.state, binding, None, None, mend, self._error)

    def read_strictly(self) -> Document:
        """Return the document, which has no text yet, for text that is not mended."""
        return self if self.mend is None else Document(self.state, self.binding, self.resolution)

    def _append_mended(self, mend: MendState, piece: str) -> Document:
        after, text, _ = mend_chunk(mend, piece)
        if after is mend:
            return self
        state = parse_chunk(self.state, text) if text else self.state
        return self._advance(state, after, self._place(state, after, piece))

    def _finish_mended(self, mend: MendState) -> Document:
        after, text, _ = finish_mend(mend)
        if after is mend:
            return self
        # What would close a value that broke off is not read: it must not look complete.
        text = text.removesuffix(after.closers)
        state = parse_chunk(self.state, text) if text else self.state
        error = self._place(state, after, "")
        if error is None and after.truncation is not None:
            error = with_path(after.truncation, finalize(state).error)
        elif error is None:
            state = finalize(state)
            error = self._place(state, after, "")
        return self._advance(state, after, error)

    def _place(self, state: ParserState, after: MendState, piece: str) -> ParserError | None:
        """Return what is wrong with the text, at its place in the original, after one more piece of it."""
        before = self.mend
        if self._error is not None or before is None:
            return self._error
        error = state.error
        if error is not None:
            held = before.passage
            passage = Passage(held.text + piece, held.base, held.line, held.line_start)
            return place_error(error, after.repairs, passage)
        return None if after.error is None else with_path(after.error, finalize(state).error)

    def _advance(self, state: ParserState, mend: MendState, error: ParserError | None) -> Document:
        if state is self.state:
            return Document(state, self.binding, self.resolution, self._memo, mend, error)
        return _resolve(state, self.binding, self.resolution, self._memo, mend, error)

    def __eq__(self, other: object) -> bool:
        """Two documents are equal if they show the same."""
        return (
            isinstance(other, Document)
            and self.is_complete is other.is_complete
            and self.error == other.error
            and self.value == other.value
        )

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'Document'")

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Document, (self.state, self.binding, self.resolution, None, self.mend, self._error)


def _is_shown(binding: SchemaBinding | None, state: ParserState) -> bool:
    return binding is None or (binding.is_known and (binding.streams or state.is_complete))


def _resolve(
    state: ParserState,
    binding: SchemaBinding | None,
    before: Resolution[object] | None,
    memo: ErrorMemo | None,
    mend: MendState | None = None,
    error: ParserError | None = None,
) -> Document:
    if binding is None or binding.schema is None or not _is_shown(binding, state):
        return Document(state, binding, before, memo, mend, error)
    resolution = from_json_ast(binding.schema, state, before, policies=binding.policies)
    return Document(state, binding, resolution, memo, mend, error)


def write_json(value: object) -> str:
    """Return the text of a value, as short as it goes; the reason why there is none, which is no JSON either."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return f"{type(value).__name__} is not JSON"


def has_infinity(value: object) -> bool:
    """Return whether a number of a value is so large that Python reads it as infinity, which is no JSON."""
    waiting: list[object] = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, float) and isinf(part):
            return True
    return False
