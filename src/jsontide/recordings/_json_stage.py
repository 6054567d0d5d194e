"""Bytes that begin as JSON does in, one JSON document out, through a schema and mended if that is asked for.

What follows the document may show that it is something else: lines of a provider's events, or several documents.
Rule: that is decided when the document is whole, and not while it grows; a whole response, at the end of the stream;
and an array of events, when the first of them is whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide._errors import ParserError, Reason
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.adapters import StreamState, finish_stream, reduce_item, start_stream
from jsontide.deltas import Change, compare_values, read_changes
from jsontide.mend import start_mend
from jsontide.messages import Outcome
from jsontide.messages.document import Document
from jsontide.recordings._array_stage import has_first_item, start_array
from jsontide.recordings._documents_stage import DocumentsStage
from jsontide.recordings._message_stage import MessageStage
from jsontide.recordings._piece import End
from jsontide.recordings._stage import Kind, Setup, Shared, Stage, end_outcome
from jsontide.recordings._text_stage import Decoded
from jsontide.schema import Resolution, Status, from_json_ast, shape_of
from jsontide.tree import ParserState, create_parser_state, finalize, parse_chunk

if TYPE_CHECKING:
    from jsontide.mend import Repair

_BYTE_ORDER_MARK: Final = "\ufeff"


class Mended:
    """A document that is mended, and the bytes of a character that is not whole."""

    __slots__ = ("decoded", "document")

    def __init__(self, document: Document, decoded: Decoded) -> None:
        self.document: Final = document
        self.decoded: Final = decoded

    def feed(self, data: bytes) -> Mended:
        decoded = self.decoded.feed(data)
        return Mended(self.document.append(decoded.text), decoded)

    def finish(self) -> Mended:
        decoded = self.decoded.feed(b"", is_last=True)
        return Mended(self.document.append(decoded.text).finish(), decoded)


class Resolver:
    """Shows states of one document through a schema; it keeps the last two, which the next one goes on from.

    What a schema shows is copied for each state that is kept, because every one of them may still be looked at.
    """

    __slots__ = ("_kept", "_schema")

    def __init__(self, schema: object) -> None:
        self._schema: Final = schema
        self._kept: tuple[tuple[ParserState, Resolution[object]], ...] = ()

    def resolve(self, state: ParserState) -> Resolution[object]:
        for known, resolution in self._kept:
            if known is state:
                return resolution
        resolution = from_json_ast(self._schema, state, self._kept[0][1] if self._kept else None)
        self._kept = ((state, resolution), *self._kept[:1])
        return resolution


class JsonStage(Stage):
    """A document so far."""

    __slots__ = ("_end", "_mended", "_raw", "_resolver", "_setup", "_stream", "_strict")

    kind: Kind = "json"

    def __init__(
        self,
        setup: Setup,
        strict: ParserState,
        raw: Shared[bytes],
        resolver: Resolver | None,
        *,
        mended: Mended | None = None,
        stream: StreamState | None = None,
        end: End | None = None,
    ) -> None:
        self._setup: Final = setup
        self._strict: Final = strict
        """What is read without mending; it decides whether this is one document."""
        self._raw: Final = raw
        self._resolver: Final = resolver
        """What reads the document through its schema, if there is one."""
        self._mended: Final = mended
        self._stream: Final = stream
        """The same as a provider's stream, when the document is whole and may be one of its events."""
        self._end: Final = end

    def feed(self, data: bytes) -> Stage:
        strict = parse_chunk(self._strict, data)
        raw = self._raw.append(data)
        stream = None
        if self._setup.as_kind is None and not has_first_item(self._strict) and has_first_item(strict):
            array = start_array(self._setup.config, strict)
            if array is not None:
                return array
        if self._setup.as_kind is None and _is_whole(strict):
            if not _is_whole(self._strict):
                stream = self._start_stream(strict, raw)
            elif self._stream is not None:
                stream = reduce_item(self._stream, data)
            if stream is not None and stream.is_known:
                return MessageStage(stream)
            if self._mended is None and (self._strict.is_complete or not _is_whole(self._strict)):
                rest = _rest_of(strict, raw)
                if rest is not None:
                    documents = Shared[JsonValue]().append(strict.value)  # type: ignore[arg-type]
                    return DocumentsStage(documents, Decoded(), self._setup.floats).feed(rest)
        mended = None if self._mended is None else self._mended.feed(data)
        return JsonStage(self._setup, strict, raw, self._resolver, mended=mended, stream=stream)

    def _start_stream(self, strict: ParserState, raw: Shared[bytes]) -> StreamState | None:
        """Return the stream so far if the document is an event of a provider, or its whole response."""
        value = strict.value
        if not isinstance(value, dict) or not reduce_item(start_stream(self._setup.config), value).is_known:
            return None
        return _read_all(start_stream(self._setup.config), raw)

    def finish(self, end: End, error: str | None) -> Stage:
        if self._stream is not None and end == "over":
            stream = finish_stream(self._stream)
            if stream.is_known:
                return MessageStage(stream)
        strict = finalize(self._strict)
        mended = None if self._mended is None else self._mended.finish()
        return JsonStage(self._setup, strict, self._raw, self._resolver, mended=mended, end=end)

    def changes_since(self, before: Stage) -> list[Change]:
        old = before if isinstance(before, JsonStage) else None
        if self._resolver is None:
            return read_changes(None if old is None else old.state, self.state)
        value, was_complete = (MISSING, False) if old is None else (old.value, old.is_complete)
        if value is self.value and was_complete is self.is_complete:
            return []
        return compare_values(value, self.value, is_complete=self.is_complete)

    @property
    def state(self) -> ParserState:
        return self._strict if self._mended is None else self._mended.document.state

    @property
    def resolution(self) -> Resolution[object] | None:
        return None if self._resolver is None else self._resolver.resolve(self.state)

    @property
    def value(self) -> JsonValue | Missing:
        resolution = self.resolution
        return self.state.value if resolution is None else resolution.value

    @property
    def repairs(self) -> tuple[Repair, ...]:
        return () if self._mended is None else self._mended.document.repairs

    @property
    def error(self) -> ParserError | str | None:
        wrong = self._strict.error if self._mended is None else self._mended.document.error
        if wrong is not None:
            return wrong
        resolution = self.resolution
        return resolution.errors[0].message if resolution is not None and resolution.errors else None

    @property
    def is_complete(self) -> bool:
        is_whole = self._strict.is_complete if self._mended is None else self._mended.document.is_complete
        resolution = self.resolution
        return is_whole and (resolution is None or resolution.status is Status.FINAL)

    @property
    def outcome(self) -> Outcome:
        if self._end is None:
            return Outcome.STREAMING
        error = self.error
        if isinstance(error, str):
            return Outcome.INVALID
        return end_outcome(self._end, error, is_whole=self.is_complete)


def start_json(setup: Setup) -> JsonStage:
    """Return the stage before any text."""
    mended = None
    if setup.mend is not None:
        mend = start_mend(setup.mend, None if setup.schema is None else shape_of(setup.schema))
        mended = Mended(Document(create_parser_state(floats=setup.floats), None, None, None, mend), Decoded())
    resolver = None if setup.schema is None else Resolver(setup.schema)
    return JsonStage(setup, create_parser_state(floats=setup.floats), Shared(), resolver, mended=mended)


def _is_whole(state: ParserState) -> bool:
    error = state.error
    return state.is_complete if error is None else error.reason is Reason.TRAILING_TEXT


def _rest_of(state: ParserState, raw: Shared[bytes]) -> bytes | None:
    """Return what follows a whole document, if it begins another one."""
    error = state.error
    if error is None:
        return None
    text = b"".join(raw.read()).decode("utf-8", "surrogateescape").removeprefix(_BYTE_ORDER_MARK)[error.index :]
    return text.encode("utf-8", "surrogateescape") if text[:1] in {"{", "["} else None


def _read_all(stream: StreamState, raw: Shared[bytes]) -> StreamState:
    for data in raw.read():
        stream = reduce_item(stream, data)
    return stream
