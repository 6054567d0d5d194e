"""Pieces of a JSON text in, the value that may be shown so far out; and the rules by which a message is read.

Rule: a document is a value. What did not change is the same object as before.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from math import isinf
from typing import Final, Literal

from jsontide._errors import ParserError, Reason
from jsontide._path import Segment
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.mend import Mending, MendState, Repair, RepairKind, feed_mend, finish_mend, start_mend
from jsontide.mend.state import Passage, place_error, with_path
from jsontide.messages.types import ErrorDetail, ErrorKind, ErrorSource
from jsontide.schema import Partial, Policies, Resolution, SchemaMismatch, from_json_ast, shape_of
from jsontide.text import Limits
from jsontide.tree import ParserState, create_parser_state, finalize, node_at, parse_chunk
from jsontide.tree.log import OpenEnd


class SchemaBinding:
    """The schema of a document; without one, any JSON is shown."""

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
        """Whether the document is the text of a message, and not the arguments of a call."""

    def __reduce__(self) -> str | tuple[type[SchemaBinding], tuple[object, ...]]:
        # Bindings are compared by identity, so there is only one UNKNOWN, also after unpickling.
        fields = (self.schema, self.streams, True, self.policies, self.is_text)
        return (SchemaBinding, fields) if self.is_known else "UNKNOWN"


UNKNOWN: Final = SchemaBinding(None, False, False)


class ErrorMemo:
    """The mismatches of a document as errors of a message, which the next document reuses."""

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
        """The value according to the schema, `None` without a schema or before anything is shown."""
        self._memo = memo
        self.mend: Final = mend
        """The state of mending, if bad JSON is mended."""
        self._error: Final = error
        """The first error of a text that is mended, at its position in the original."""

    @property
    def is_complete(self) -> bool:
        """Whether the value is closed; a repair never completes it."""
        return self.state.is_complete and (self.mend is None or (self._error is None and not self.mend.is_truncated))

    @property
    def error(self) -> ParserError | None:
        """The first error of the text."""
        return self.state.error if self.mend is None else self._error

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs so far."""
        return () if self.mend is None else self.mend.repairs

    @property
    def has_schema(self) -> bool:
        """Whether the value is what a schema shows; without one, changes are read from the parse."""
        return self.resolution is not None

    @property
    def is_mended(self) -> bool:
        """Whether the text that is parsed may be another one than was written."""
        return self.mend is not None

    @property
    def mismatches(self) -> tuple[SchemaMismatch, ...]:
        """The places that do not fit the schema."""
        return () if self.resolution is None else self.resolution.errors

    def errors(self, source: ErrorSource) -> tuple[ErrorDetail, ...]:
        """Return the errors of the document; that a text is unfinished is no error while it may continue.

        Errors that were known before stay the same objects, and are not made again.
        """
        mismatches = self.mismatches
        memo = self._memo
        known = memo.mismatches if memo is not None and memo.source == source else ()
        kept = min(len(known), len(mismatches))
        while kept and known[kept - 1] is not mismatches[kept - 1]:  # an open value may change its mismatches
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
        """Whether mending dropped all of the text: it has no JSON that could continue."""
        return self.mend is not None and self.state.root_id is None and bool(self.mend.repairs)

    @property
    def value(self) -> JsonValue | Missing:
        """What may be shown now."""
        if self.resolution is not None:
            return self.resolution.value
        return self.state.value if _is_shown(self.binding, self.state) else MISSING

    @property
    def is_shown(self) -> bool:
        """Whether there is anything to show, found without making the value."""
        if self.resolution is not None:
            return self.resolution.value is not MISSING
        return _is_shown(self.binding, self.state) and not OpenEnd(self.state).shows_nothing

    @property
    def model(self) -> object:
        """The whole value, as an instance of the schema's type."""
        return self.state.value if self.resolution is None else self.resolution.model

    @property
    def partial(self) -> object:
        """What may be shown now, with the attributes of the instance to come, or `MISSING`."""
        resolution = self.resolution
        return MISSING if resolution is None or resolution.value is MISSING else Partial(resolution)

    def is_complete_at(self, path: str | Sequence[Segment]) -> bool:
        """Return whether the value at a path is shown and will not change any more."""
        if self.resolution is not None:
            return Partial(self.resolution).is_complete_at(path)
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
        """Return the document read with the schema that is known by now.

        Text that was read before is not mended again.
        """
        if self.binding is binding:
            return self
        if self.mend is None or self.mend.index > 0:
            mend = self.mend
        return _resolve(self.state, binding, None, None, mend, self._error)

    def read_strictly(self) -> Document:
        """Return the document without mending; it must have no text yet."""
        return self if self.mend is None else Document(self.state, self.binding, self.resolution)

    def _append_mended(self, mend: MendState, piece: str) -> Document:
        after, text, _ = feed_mend(mend, piece)
        if after is mend:
            return self
        state = parse_chunk(self.state, text) if text else self.state
        return self._advance(state, after, self._place(state, after, piece))

    def _finish_mended(self, mend: MendState) -> Document:
        after, text, _ = finish_mend(mend)
        if after is mend:
            return self
        # Brackets that mending adds are left out: a value that broke off must not look complete.
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
        """Return the error of the text after one more piece, at its position in the original."""
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
        """Compare what two documents show."""
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


class ShownDocument(Document):
    """What a document shows, without its schema and its mending: for a reader in another process."""

    __slots__ = ("_has_schema", "_is_mended", "_repairs")

    def __init__(
        self,
        state: ParserState,
        binding: SchemaBinding,
        has_schema: bool,
        is_mended: bool,
        repairs: tuple[Repair, ...] = (),
    ) -> None:
        Document.__init__(self, state, binding)
        self._has_schema: Final = has_schema
        self._is_mended: Final = is_mended
        self._repairs: Final = repairs

    @property
    def has_schema(self) -> bool:
        return self._has_schema

    @property
    def is_mended(self) -> bool:
        return self._is_mended

    @property
    def repairs(self) -> tuple[Repair, ...]:
        return self._repairs

    @property
    def partial(self) -> object:
        """What may be shown now, as plain JSON."""
        return self.value

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return ShownDocument, (self.state, self.binding, self._has_schema, self._is_mended, self._repairs)


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


class ReadingRules:
    """The options of a message, in the form in which its reader asks for them."""

    __slots__ = (
        "_call_mend",
        "_call_mends",
        "_limits",
        "_mend",
        "_rests",
        "_trailing",
        "allowed_in_calls",
        "answer",
        "answer_is_call",
        "bindings",
        "choice",
        "done_is_end",
        "is_cumulative",
        "max_parts",
        "output_name",
    )

    def __init__(
        self,
        answer: SchemaBinding | None,
        bindings: dict[str, SchemaBinding],
        answer_is_call: bool,
        output_name: str,
        is_cumulative: bool,
        done_is_end: bool,
        choice: int,
        max_parts: int,
        limits: Limits,
        trailing: Literal["error", "ignore"],
        mend: Mending | None,
    ) -> None:
        self.answer: Final = answer
        """How the answer is read."""
        self.bindings: Final = bindings
        """How the arguments of each tool are read."""
        self.answer_is_call: Final = answer_is_call
        """Whether the answer comes as the arguments of a reserved tool."""
        self.output_name: Final = output_name
        self.is_cumulative: Final = is_cumulative
        """Whether the provider sends all arguments so far, each time."""
        self.done_is_end: Final = done_is_end
        """Whether `[DONE]` ends a message as a finish reason does."""
        self.choice: Final = choice
        self.max_parts: Final = max_parts
        self._limits: Final = limits
        self._trailing: Final = trailing
        self._mend: Final = _start_mending(mend, answer)
        # Two calls in one text must not run as the first.
        one = replace(mend, values="one") if mend is not None and mend.values == "first" else mend
        self._call_mend: Final = _start_mending(one, None)
        self._call_mends: Final = {name: _start_mending(one, binding) for name, binding in bindings.items()}
        if answer_is_call:
            self._call_mends[output_name] = _start_mending(one, answer)
        self.allowed_in_calls: Final[frozenset[RepairKind]] = frozenset() if mend is None else mend.allowed_in_calls
        """The lossy and structural repairs that a call may have and still be run."""
        names = [*bindings, output_name] if answer_is_call else [*bindings]
        self._rests: Final = _find_rests(names)
        """The names of tools that begin the name of another tool, each with the rest of that name."""

    def new_document(self, binding: SchemaBinding | None, is_call: bool) -> Document:
        state = create_parser_state(limits=self._limits, trailing=self._trailing)
        return Document(state, binding, mend=self._call_mend if is_call else self._mend)

    def name_document(self, document: Document, name: str | None) -> Document:
        """Return the arguments of a call, bound to the schema of its tool."""
        mend = self._call_mend if name is None else self._call_mends.get(name, self._call_mend)
        return document.bind(self.binding_of(name), mend)

    def binding_of(self, name: str | None) -> SchemaBinding | None:
        """Return how the arguments of a tool are read; `None` if it was not offered."""
        if name is None:
            return UNKNOWN if self.bindings else None
        return self.answer if self.is_output(name) else self.bindings.get(name)

    def is_output(self, name: str | None) -> bool:
        """Return whether a call of this name is the answer itself."""
        return self.answer_is_call and name == self.output_name

    def is_maybe_answer(self, name: str | None) -> bool:
        """Return whether a call of this name is the answer, or may still turn out to be."""
        return self.answer_is_call and (name is None or name == self.output_name)

    def offers(self, name: str) -> bool:
        """Return whether a tool of this name was offered; without any tools, all names are."""
        return not self.bindings or name in self.bindings

    def tools_before(self, name: str) -> list[str]:
        """Return the names of tools that, with this name after them, begin the name of another tool."""
        return [first for first, rest in self._rests if rest.startswith(name)]

    def possible_prefixes(self, name: str) -> list[str]:
        """Return the names of tools that may be the first piece of a name that this one continues.

        A name that no tool has may continue any other; the name of a tool only one that, with it, begins the name of
        another tool.
        """
        if name in self.bindings or self.is_output(name):
            return self.tools_before(name)
        return [*self.bindings, self.output_name] if self.answer_is_call else [*self.bindings]


def _start_mending(mend: Mending | None, binding: SchemaBinding | None) -> MendState | None:
    if mend is None:
        return None
    return start_mend(mend, None if binding is None or binding.schema is None else shape_of(binding.schema))


def _find_rests(names: list[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    in_order = sorted(names)
    for at, first in enumerate(in_order):
        for name in in_order[at + 1 :]:
            if not name.startswith(first):  # in this order, all names with the prefix come next
                break
            found.append((first, name.removeprefix(first)))
    return found


def write_json(value: object) -> str:
    """Return compact JSON; for a value that has none, a placeholder that is not valid JSON.

    Nothing is mended, as the writer for front ends does: infinity stays a word that is not JSON, and a lone surrogate
    stays alone, so that a call with such arguments is refused.
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return f"{type(value).__name__} is not JSON"


def has_infinity(value: object) -> bool:
    """Return whether a value has a number that was too large for Python, and became infinity."""
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
