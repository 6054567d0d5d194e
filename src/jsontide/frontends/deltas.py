"""A growing message, run or JSON in, what is new in it as plain JSON out; and that JSON in, the same growing value out.

    feed_delta(state, growing) -> (state, delta)      where it grows
    feed_replica(replica, delta) -> replica           where others follow it, in another process or later

A delta is a list of operations, empty if nothing is new. The first of a stream, and one after something that does not
continue what was there, begins with `["w", kind]`: it has everything. Also if many states lie between two, one delta
has what changed between them.

    ["w", "message" | "run" | "json"]      forget everything, this begins
    ["m", {field: value}]                  fields of the message, as `Message.to_json` writes them; null: the default;
                                           `lost` has the places of the errors that were an exception
    ["e", [key, ...], [item, ...]]         a list in the metadata grows
    ["p", part, {"kind": ..., field: ...}] a part is new or changed: all of it but its text and what its text shows
    ["t", part, "more"]                    its text, or the arguments as they were written, grow
    ["t", part, "all", 0]                  the same, written anew
    ["d", part, {...}]                     how arguments are shown, -1 for the answer or JSON alone: `_Form`
    ["v", part, "more", index]             the JSON text of what a schema or mending shows of them grows
    ["f", part] or ["f", part, value]      the arguments, or the answer, are decided: as shown, or this value
    ["x", message, reason, index, [...]]   JSON alone has an error, with its path
    ["s"]                                  the next step of a run begins
    ["o", call, {...}]                     what became of a call of the last step, as `Run.to_json` writes it
    ["n", call, delta]                     the run that its tool is grows
    ["r", {...}]                           the outcome, id and error of the run

Rule: a replica gives the same JSON and the same bytes of every encoder, and a part that no operation names stays the
same object. It decides nothing: without a schema it reads the arguments from their text, with one it shows what the
producer's schema showed, and a call is complete where the producer found it complete, and only there.
Whatever was not written by `feed_delta` is refused with `ValueError`, or is data; nothing in it is run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from json.encoder import encode_basestring
from typing import Any, Final, NoReturn, TypeAlias, cast

from jsontide._errors import ParserError, Reason
from jsontide._path import Path
from jsontide._textbuffer import NO_TEXT, GrowingText
from jsontide._values import MISSING, write_json
from jsontide.frontends.base import LOST, Streamed
from jsontide.frontends.changes import AppendText, Change, SetValue, compare_values, read_changes
from jsontide.mend.options import Repair
from jsontide.messages.calls import BaseCall, CompleteCall, Part, PartialCall
from jsontide.messages.document import Document, SchemaBinding, ShownDocument
from jsontide.messages.json_form import (
    check_sources,
    make_part,
    read_fields,
    read_part,
    write_fields,
    write_part,
)
from jsontide.messages.message import FinalAnswer, Message
from jsontide.messages.parts import BasePart, GrowingPart
from jsontide.messages.types import ErrorDetail
from jsontide.runs.json_form import read_result, write_result
from jsontide.runs.run import Run
from jsontide.runs.types import PendingResult, Result, RunOutcome, Step
from jsontide.text import Limits
from jsontide.text.options import MAX_LIMIT
from jsontide.tree import ParserState, create_parser_state, finalize, parse_chunk

Delta: TypeAlias = list[Any]
"""What changed, as plain JSON."""

_ALONE: Final = -1
"""Stands for the answer, and for JSON alone, where an operation names a part."""
_GROWN: Final = frozenset(("text", "arguments", "partial", "arguments_value"))
"""What operations of their own tell of a part."""
_LIMITS: Final = Limits(max_depth=10_000, max_chars=MAX_LIMIT, max_string=MAX_LIMIT, max_nodes=MAX_LIMIT)
"""The producer had limits of its own; what it has shown is shown."""
_OPTIONS: Final = create_parser_state()._tape.options
"""Where arguments were read with these, they are read again from their text, with the same errors."""
_Form: TypeAlias = dict[str, Any]
"""How a document is shown: `{}` from the text of its part, `hidden` not yet, `written` from a text of its own, with a
`schema`, or `mended`, and for an answer whether it `is_text`; with `decimals`; `ended` if its text is over."""


class DeltaState:
    """How much was written of a growing value; it never changes, `feed_delta` returns the next one."""

    __slots__ = ("fields", "forms", "growing", "nested", "texts")

    def __init__(
        self,
        growing: Streamed | None = None,
        fields: Mapping[str, object] | None = None,
        forms: Mapping[int, _Form] | None = None,
        texts: Mapping[int, _Written] | None = None,
        nested: Mapping[int, DeltaState] | None = None,
    ) -> None:
        self.growing: Final = growing
        """The value that was written last."""
        self.fields: Final = fields or {}
        self.forms: Final = forms or {}
        self.texts: Final = texts or {}
        self.nested: Final = nested or {}
        """The runs that tools of the last step are."""


def start_delta() -> DeltaState:
    """Return the state before anything was written."""
    return DeltaState()


def feed_delta(state: DeltaState, growing: Streamed) -> tuple[DeltaState, Delta]:
    """Return the state after a message, a run or the state of a parser, and what is new in it.

    >>> from jsontide import stream_message
    >>> words = [{"message": {"content": word}, "done": False} for word in ("Hi", "!")]
    >>> first, second, _ = stream_message(words)
    >>> state, delta = feed_delta(start_delta(), first)
    >>> delta[2:]
    [['p', 0, {'kind': 'text', 'is_open': True}], ['t', 0, 'Hi']]
    >>> feed_delta(state, second)[1]
    [['t', 0, '!']]
    """
    before = state.growing
    if growing is before:
        return state, []
    try:
        writer = _DeltaWriter(state)
        writer.write(before, growing)
    except _NotContinuedError:
        writer = _DeltaWriter(DeltaState())
        writer.write(None, growing)
    return writer.state(growing), writer.delta


def whole_delta(state: DeltaState) -> Delta:
    """Return everything that was written as one delta: a replica that begins with it reads the next ones, too.

    >>> from jsontide import create_parser_state, parse_chunk
    >>> state, _ = feed_delta(start_delta(), parse_chunk(create_parser_state(), '{"city": "Kyo'))
    >>> whole_delta(state)[-1]
    ['v', -1, '{"city":"Kyo', 13]
    """
    if state.growing is None:
        return []
    writer = _DeltaWriter(DeltaState(), state)
    writer.write(None, state.growing)
    return writer.delta


class _NotContinuedError(Exception):
    """What is to be written does not continue what was."""


class _DeltaWriter:
    """Collects the operations that lead from one value to a later one."""

    def __init__(self, before: DeltaState, whole: DeltaState | None = None) -> None:
        self.delta: Final[Delta] = []
        self._fields = dict(before.fields)
        self._forms = dict(before.forms)
        self._texts = {at: replace(text) for at, text in before.texts.items()}  # they change in place
        self._nested = dict(before.nested)
        self._whole = whole
        """What all of this is written for a second time: its texts are to end in the same place."""

    def state(self, growing: Streamed) -> DeltaState:
        return DeltaState(growing, self._fields, self._forms, self._texts, self._nested)

    def write(self, before: object, after: object) -> None:
        if isinstance(after, ParserState):
            self._begin(before, ParserState, "json")
            self._json(cast("ParserState | None", before), after)
        elif isinstance(after, Run):
            self._begin(before, Run, "run")
            self._run(Run() if before is None else cast("Run[Any]", before), after)
        else:
            self._begin(before, Message, "message")
            self._message(Message() if before is None else cast("Message", before), cast("Message", after))

    def _begin(self, before: object, kind: type, name: str) -> None:
        if before is None:
            self.delta.append(["w", name])
        elif not isinstance(before, kind):
            raise _NotContinuedError

    def _json(self, before: ParserState | None, after: ParserState) -> None:
        self._form(_ALONE, {"written": True, "decimals": True} if after.floats == "decimal" else {"written": True})
        self._changes(_ALONE, self._again(_ALONE, after.value) or read_changes(before, after), after.index)
        error = after.error
        if error is not None and (before is None or before.error is None):
            self.delta.append(["x", error.message, error.reason.name, error.index, list(error.path)])

    def _message(self, before: Message, after: Message) -> None:
        if len(after.parts) < len(before.parts):
            raise _NotContinuedError
        self._write_fields(before, after)
        for at, part in enumerate(after.parts):
            old = before.parts[at] if at < len(before.parts) else None
            if part is not old:
                self._part(at, old, part)
        if after.answer_state is not before.answer_state:
            self._answer(before.answer_state, after.answer_state)

    def _write_fields(self, before: Message, after: Message) -> None:
        now = write_fields(after)
        if after.answer_state is None and after._answer is not MISSING:
            now["answer"] = [after._answer]
        lost = [at for at, error in enumerate(after.errors) if isinstance(error.cause, BaseException)]
        if lost:
            now["lost"] = lost
        changed = {name: now.get(name) for name in {**self._fields, **now} if now.get(name) != self._fields.get(name)}
        if after._metadata is not before._metadata and "metadata" in changed and "metadata" in self._fields:
            grown = _grown((), self._fields["metadata"], now.get("metadata"))
            if grown is not None:
                del changed["metadata"]
                self.delta.extend(grown)
        if changed:
            self.delta.append(["m", changed])
        self._fields = now

    def _part(self, at: int, old: Part | None, part: Part) -> None:
        now = _plain_part(part)
        if old is None or type(old) is not type(part) or _plain_part(old) != now:
            self.delta.append(["p", at, now])
        if not isinstance(part, (GrowingPart, BaseCall)):
            return
        text = NO_TEXT if not isinstance(old, (GrowingPart, BaseCall)) else old.growing_text
        more = part.growing_text.since(text)
        if more is None:
            self.delta.append(["t", at, part.growing_text.read(), 0])
            self._forms.pop(at, None)
        elif more:
            self.delta.append(["t", at, more])
        if isinstance(part, BaseCall):
            self._arguments(at, old if isinstance(old, BaseCall) and more is not None else None, part)

    def _arguments(self, at: int, old: BaseCall | None, call: BaseCall) -> None:
        document = call.document
        if document is not None:
            self._document(at, None if old is None else old.document, document, call.growing_text)
        elif isinstance(call, CompleteCall):
            self._decide(at, old, call, call.arguments_value)
        elif call.partial is not MISSING and (old is None or old.document is not None or old.partial != call.partial):
            self.delta.append(["f", at, call.partial])

    def _decide(self, at: int, old: BaseCall | None, call: CompleteCall, value: object) -> None:
        if isinstance(old, CompleteCall) and old.arguments_value is value:
            return
        form = self._forms.get(at, {})
        if "written" in form and old is not None:
            is_shown = self._finish(at, old.document, value)
        else:
            is_shown = "hidden" not in form and _reads_as(call.growing_text, value)
            if is_shown:
                self._form(at, {"ended": True})
        self.delta.append(["f", at] if is_shown else ["f", at, value])

    def _document(self, at: int, old: Document | None, document: Document, text: GrowingText | None) -> None:
        """Write what is new of a document that still grows, or broke off."""
        form = _form_of(document, text)
        if self._form(at, form):
            old = None
        if "written" not in form:
            return
        again = self._again(at, document.value)
        if again is not None:
            found = again
        elif old is document or not document.is_shown:
            found = []
        elif document.has_schema:
            found = compare_values(MISSING if old is None else old.value, document.value, is_complete=False)
        else:
            found = read_changes(None if old is None else old.state, document.state)
        self._changes(at, found, document.state.index, document.value)

    def _again(self, at: int, value: object) -> list[Change] | None:
        """Return the change that writes a value for a second time, as far as it was open the first time."""
        known = None if self._whole is None else self._whole.texts.get(at)
        if known is None or not known.has_begun:
            return None
        return [SetValue((), cast("Any", value), known.path if known.closers else None)]

    def _form(self, at: int, form: _Form) -> bool:
        """Write how a document is shown, if it is new; return whether it begins anew then."""
        known = self._forms.get(at)
        if known == form:
            return False
        self._forms[at] = form
        self.delta.append(["d", at, form])
        if known is not None and {**known, "ended": True} == form:
            return False
        self._texts[at] = _Written()
        return True

    def _changes(self, at: int, changes: Sequence[Change], index: int, value: object = MISSING) -> None:
        """Write changes as more of a JSON text; what cannot be appended begins a new one."""
        written = self._texts[at]
        more = written.write(changes)
        if more is None:
            if value is MISSING:
                raise _NotContinuedError
            self.delta.append(["d", at, self._forms[at]])
            written = _Written()
            more = written.write(compare_values(MISSING, cast("Any", value), is_complete=False))
            assert more is not None  # a text can begin with any value
        if more or (at == _ALONE and index != written.index):
            self._texts[at] = written.after(index)
            self.delta.append(["v", at, more, index])

    def _finish(self, at: int, old: Document | None, value: object) -> bool:
        """Write the rest of a value that is decided; return whether the text says all of it."""
        before = MISSING if old is None else old.value
        written = self._texts.get(at)
        if written is None:
            return False
        more = written.write(compare_values(before, cast("Any", value), is_complete=True))
        if more is None or written.is_open or not written.has_begun:
            return False
        self._texts[at] = written.after(written.index)
        self.delta.append(["v", at, more, written.index])
        return True

    def _answer(self, old: Document | FinalAnswer | None, answer: Document | FinalAnswer | None) -> None:
        if answer is None or isinstance(old, FinalAnswer):
            raise _NotContinuedError
        if isinstance(answer, Document):
            self._document(_ALONE, old, answer, None)
            return
        form = {"written": True, "schema": True}
        self._form(_ALONE, self._forms.get(_ALONE, {**form, "is_text": True} if answer.is_text else form))
        is_shown = self._finish(_ALONE, old, answer.value)
        self.delta.append(["f", _ALONE] if is_shown else ["f", _ALONE, answer.value])

    def _run(self, before: Run[Any], after: Run[Any]) -> None:
        old, new = before.steps, after.steps
        last = len(old) - 1
        if len(new) < len(old) or any(one is not two and one != two for one, two in zip(old[:-1], new, strict=False)):
            raise _NotContinuedError
        whole = self._whole
        for number in range(max(last, 0), len(new)):
            self._whole = whole if number == len(new) - 1 else None
            known = old[number] if number <= last else None
            if known is None:
                self.delta.append(["s"])
                self._fields, self._forms, self._texts, self._nested = {}, {}, {}, {}
            self._step(known, new[number])
        now = _fields_of(after)
        if now != _fields_of(before):
            self.delta.append(["r", now])

    def _step(self, before: Step | None, after: Step) -> None:
        if before is None or before.message is not after.message:
            old = Message() if before is None else cast("Message", before.message)
            self._message(old, cast("Message", after.message))
        known = () if before is None else before.results
        for at, result in enumerate(after.results):
            if at >= len(known) or result is not known[at]:
                self._result(at, result)

    def _result(self, at: int, result: Result) -> None:
        run = _nested(result)
        if run is not None:
            if self._whole is not None and at in self._whole.nested:
                delta = whole_delta(self._whole.nested[at])
            else:
                self._nested[at], delta = feed_delta(self._nested.get(at, DeltaState()), run)
            if delta:
                self.delta.append(["n", at, delta])
        alone = result
        if isinstance(result, PendingResult):
            alone = result if run is None else replace(result, progress=MISSING)
        elif run is not None:
            alone = replace(result, nested=None)
        self.delta.append(["o", at, write_result(alone, Run)])


def _nested(result: Result) -> Run[Any] | None:
    found = result.progress if isinstance(result, PendingResult) else result.nested
    return found if isinstance(found, Run) else None


def _fields_of(run: Run[Any]) -> dict[str, object]:
    return {"outcome": run.outcome.value, "id": run.id, "error": run.error}


def _plain_part(part: Part) -> dict[str, object]:
    written = write_part(part, _GROWN)
    if isinstance(part, PartialCall) and part.error is not None and isinstance(part.error.cause, BaseException):
        written["lost"] = True
    return written


def _form_of(document: Document, text: GrowingText | None) -> _Form:
    """Return how a document is shown; from the text of its part, if its own parser read just that."""
    state, error, binding = document.state, document.state.error, document.binding
    has_all = error is not None or (text is not None and state.index == text.length)
    is_plain = not document.has_schema and not document.is_mended and state._tape.options == _OPTIONS
    if text is not None and is_plain and has_all and (document.is_shown or binding is None or not binding.is_known):
        ended: _Form = {"ended": True} if error is not None or state.is_complete else {}
        return ended if document.is_shown or binding is None else {"hidden": True, **ended}
    form: _Form = {"written": True}
    if document.has_schema:
        form["schema"] = True
    if document.is_mended:
        form["mended"] = True
    if text is None and binding is not None and binding.is_text:
        form["is_text"] = True
    return form


def _reads_as(text: GrowingText, value: object) -> bool:
    """Return whether a text is the JSON of a value, also where Python takes two values for equal."""
    try:
        return write_json(json.loads(text.read())) == write_json(value)
    except (ValueError, RecursionError):
        return False


def _grown(path: tuple[str, ...], before: object, after: object) -> Delta | None:
    """Return the operations for lists that grew, `None` if anything else changed."""
    if before == after:
        return []
    if isinstance(before, list) and isinstance(after, list) and after[: len(before)] == before:
        return [["e", list(path), after[len(before) :]]]
    if not isinstance(before, dict) or not isinstance(after, dict) or before.keys() != after.keys():
        return None
    found: Delta = []
    for key, value in after.items():
        more = _grown((*path, key), before[key], value)
        if more is None:
            return None
        found += more
    return found


@dataclass
class _Written:
    """A JSON text that grows as a value does: what is open at its end.

    Numbers are followed by a space, so that they are read at once; `null` holds the place of a member that is open but
    not the last one, because another one had its key before.
    """

    path: Path = ()
    """The innermost value that is open."""
    counts: tuple[int, ...] = ()
    """How much is in each of the values along the path that are open, -1 in a string, which is the last one."""
    closers: str = ""
    index: int = 0
    """Where the state stands whose value was written."""
    has_begun: bool = False

    def after(self, index: int) -> _Written:
        return replace(self, index=index)

    @property
    def is_open(self) -> bool:
        return bool(self.closers)

    def write(self, changes: Sequence[Change]) -> str | None:
        """Return the text of changes, `None` if they cannot be appended; the text goes on from there."""
        pieces: list[str] = []
        found = self._copy()
        for change in changes:
            more = found._write(change)
            if more is None:
                return None
            pieces.append(more)
        self.path, self.counts, self.closers, self.has_begun = found.path, found.counts, found.closers, found.has_begun
        return "".join(pieces)

    def _copy(self) -> _Written:
        return replace(self)

    def _write(self, change: Change) -> str | None:
        if isinstance(change, SetValue):
            return self._set(change)
        if isinstance(change, AppendText):
            in_string = bool(self.closers) and self.counts[-1] < 0 and change.path == self.path
            return _quoted(change.text) if in_string else None
        if not self.has_begun or change.path[: len(self.path)] != self.path:
            return None
        kept = max(len(change.path) + 1 - change.levels, 0)
        closed = self.closers[kept:][::-1]
        self.closers, self.counts, self.path = self.closers[:kept], self.counts[:kept], self.path[: max(kept - 1, 0)]
        return closed

    def _set(self, change: SetValue) -> str | None:
        if not change.path:
            if self.has_begun:
                return None
            self.has_begun = True
            return self._open(change)
        segment = change.path[-1]
        if not self.closers or change.path[:-1] != self.path or self.counts[-1] < 0:
            return None
        count = self.counts[-1]
        if isinstance(segment, int) and segment != count:
            return None
        key = f"{write_json(segment)}:" if isinstance(segment, str) else ""
        self.counts = (*self.counts[:-1], count + 1)
        return f"{',' if count else ''}{key}{self._open(change)}"

    def _open(self, change: SetValue) -> str:
        """Return the text of a value up to what is open in it."""
        value: Any = change.value
        if change.open is None:
            text = write_json(value)
            return text if isinstance(value, (str, list, dict)) else f"{text} "
        pieces: list[str] = []
        self.path = (*change.path, *change.open)
        for segment in change.open:
            if isinstance(value, dict):
                kept = {key: one for key, one in value.items() if key != segment}
                if next(reversed(value)) != segment:
                    kept = {**value, segment: None}
                pieces += ["{", *[f"{write_json(key)}:{write_json(one)}," for key, one in kept.items()]]
                pieces.append(f"{write_json(segment)}:")
                self.closers += "}"
            else:
                pieces += ["[", *[f"{write_json(one)}," for one in value[:-1]]]
                self.closers += "]"
            self.counts = (*self.counts, len(value))
            value = value[segment]
        if isinstance(value, str):
            pieces.append(f'"{_quoted(value)}')
            self.closers += '"'
            self.counts = (*self.counts, -1)
        else:
            whole = write_json(value)
            pieces.append(whole[:-1] if whole[-2:-1] in '"[]{}' else f"{whole[:-1]} ")
            self.closers += whole[-1]
            self.counts = (*self.counts, len(value))
        return "".join(pieces)


def _quoted(text: str) -> str:
    """Return a text inside of a string; half a surrogate pair stands for itself, so that nothing waits for more."""
    return encode_basestring(text)[1:-1]


@dataclass(frozen=True, slots=True)
class _KnownDocument:
    """What is known of a document: how it is shown, its parser, and its value once that is decided."""

    form: _Form = field(default_factory=dict)
    state: ParserState = field(default_factory=lambda: _new_parser({}))
    is_decided: bool = False
    value: object = MISSING

    def document(self, repairs: tuple[Repair, ...]) -> ShownDocument:
        form = self.form
        binding = SchemaBinding(None, True, "hidden" not in form, is_text="is_text" in form)
        return ShownDocument(self.state, binding, "schema" in form, "mended" in form, repairs)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A part: its class and fields as they were told, its text, and what is shown of it."""

    kind: type[BasePart]
    fields: Mapping[str, object]
    part: Part
    text: GrowingText = NO_TEXT
    shown: _KnownDocument = field(default_factory=_KnownDocument)


class Replica:
    """The same growing value as elsewhere; it never changes, `feed_replica` returns the next one."""

    __slots__ = (
        "_alone",
        "_earlier",
        "_entries",
        "_fields",
        "_kind",
        "_message",
        "_nested",
        "_results",
        "_run",
        "growing",
    )

    def __init__(self) -> None:
        self.growing: Streamed | None = None
        """The message, run or state of a parser; `None` before the first delta."""
        self._kind = ""
        self._fields: dict[str, object] = {}
        self._entries: tuple[_Entry, ...] = ()
        self._alone: _KnownDocument | None = None
        self._message: Message | None = None
        self._earlier: tuple[Step, ...] = ()
        self._results: tuple[Result, ...] = ()
        self._nested: dict[int, Replica] = {}
        self._run: dict[str, Any] = {}

    def _copy(self, other: Replica) -> None:
        self.growing, self._kind, self._fields = other.growing, other._kind, other._fields
        self._entries, self._alone, self._message = other._entries, other._alone, other._message
        self._earlier, self._results = other._earlier, other._results
        self._nested, self._run = other._nested, other._run

    def __repr__(self) -> str:
        return f"<Replica {self.growing!r}>"


def start_replica() -> Replica:
    """Return the replica before the first delta."""
    return Replica()


def feed_replica(replica: Replica, delta: object) -> Replica:
    """Return the replica after one more delta; raise `ValueError` for anything that `feed_delta` has not written.

    >>> from jsontide import stream_message
    >>> *_, message = stream_message([{"message": {"content": "Hi"}, "done": True}])
    >>> feed_replica(start_replica(), feed_delta(start_delta(), message)[1]).growing
    <Message COMPLETE 'Hi'>
    """
    if not isinstance(delta, list):
        _refuse(f"a list was expected, not {type(delta).__name__}")
    if not delta:
        return replica
    reader = _DeltaReader(replica)
    try:
        for operation in delta:
            reader.apply(operation)
        return reader.replica()
    except (TypeError, KeyError, OverflowError, RecursionError) as error:
        _refuse(f"{type(error).__name__}: {error}")


class _DeltaReader:
    """Applies operations to a copy of a replica."""

    def __init__(self, before: Replica) -> None:
        after = self._after = Replica()
        after._copy(before)
        self._changed: set[int] = set()
        self._entries: list[_Entry] = list(before._entries)
        self._nested = dict(before._nested)
        self._results = list(before._results)
        self._has_new_fields = self._has_new_run = False

    def apply(self, operation: object) -> None:
        match operation:
            case ["w", ("message" | "run" | "json") as kind]:
                self._restart(str(kind))
            case _ if not self._after._kind:
                _refuse("the first operation must begin a message, a run, or JSON")
            case ["m", dict(fields)]:
                self._set_fields(fields)
            case ["e", list(path), list(items)]:
                self._extend(path, items)
            case ["x", str(message), str(reason), int(index), list(path)] if reason in Reason.__members__:
                error = ParserError(message, Reason[reason], index, 1, 1, tuple(path), frozenset())
                shown = self._shown(_ALONE)
                self._keep(_ALONE, replace(shown, state=shown.state._end_at(shown.state.index, error)))
            case ["s" | "r" | "o" | "n", *_] if self._after._kind == "run":
                self._apply_to_run(operation)
            case _:
                self._apply_to_part(operation)

    def _apply_to_run(self, operation: object) -> None:
        match operation:
            case ["s"]:
                self._next_step()
            case ["o", int(at), dict(result)]:
                self._set_result(at, result)
            case ["n", int(at), list(delta)]:
                self._nested[at] = feed_replica(self._nested.get(at, Replica()), delta)
            case ["r", dict(fields)]:
                self._after._run = fields
                self._has_new_run = True
            case _:
                _refuse_operation(operation)

    def _apply_to_part(self, operation: object) -> None:
        match operation:
            case ["t", int(at), str(more)]:
                self._grow(at, more)
            case ["v", int(at), str(more), int(index)]:
                self._show(at, more, index)
            case ["p", int(at), dict(fields)]:
                self._put(at, fields)
            case ["t", int(at), str(whole), 0]:
                self._change(at, text=GrowingText(whole), shown=_KnownDocument())
            case ["d", int(at), dict(form)]:
                self._begin(at, form)
            case ["f", int(at), *value] if len(value) <= 1:
                self._decide(at, value)
            case _:
                _refuse_operation(operation)

    def _restart(self, kind: str) -> None:
        self._after = Replica()
        self._after._kind = kind
        self._changed, self._entries, self._nested, self._results = set(), [], {}, []
        self._has_new_fields = self._has_new_run = False

    def _entry(self, at: int) -> _Entry:
        if not 0 <= at < len(self._entries):
            _refuse(f"there is no part {at}")
        return self._entries[at]

    def _change(self, at: int, **changes: Any) -> None:  # noqa: ANN401 - fields of an entry
        self._entries[at] = replace(self._entry(at), **changes)
        self._changed.add(at)

    def _put(self, at: int, fields: Mapping[str, object]) -> None:
        kind, read = read_part(at, {name: one for name, one in fields.items() if name != "lost"})
        if "error" in read and "lost" in fields:
            (read["error"],) = _with_causes((read["error"],), [0])
        if not _GROWN.isdisjoint(read) or self._after._kind == "json":
            _refuse(f"part {at} has a text in its fields")
        if at == len(self._entries):
            self._entries.append(_Entry(kind, read, cast("Part", None)))
        before = self._entry(at)
        shown = before.shown
        if before.kind is not kind:
            shown = replace(shown, is_decided=False, value=MISSING)
        self._change(at, kind=kind, fields=read, shown=shown)

    def _grow(self, at: int, more: str) -> None:
        entry = self._entry(at)
        text, shown = entry.text.append(more), entry.shown
        if "written" not in shown.form and issubclass(entry.kind, BaseCall):
            shown = replace(shown, state=parse_chunk(shown.state, more))
        self._change(at, text=text, shown=shown)

    def _shown(self, at: int) -> _KnownDocument:
        if at != _ALONE:
            return self._entry(at).shown
        return self._after._alone if self._after._alone is not None else _refuse("nothing is shown yet")

    def _keep(self, at: int, shown: _KnownDocument) -> None:
        if at == _ALONE:
            self._after._alone = shown
            self._has_new_fields = True
        else:
            self._change(at, shown=shown)

    def _begin(self, at: int, form: _Form) -> None:
        """Show a document in another way; only that its text is over leaves the rest as it is."""
        known = None if at == _ALONE and self._after._alone is None else self._shown(at)
        if known is not None and {**known.form, "ended": True} == form != known.form:
            state = known.state
        elif "written" in form or at == _ALONE:
            state = _new_parser(form)
        else:
            state = parse_chunk(_new_parser(form), self._entry(at).text.read())
        self._keep(at, _KnownDocument(form, finalize(state) if "ended" in form else state))

    def _show(self, at: int, more: str, index: int) -> None:
        shown = self._shown(at)
        if "written" not in shown.form:
            _refuse(f"the text of part {at} is shown itself")
        state = parse_chunk(shown.state, more) if more else shown.state
        if state.error is not None:
            _refuse(f"what is shown of part {at} is not JSON: {state.error.message}")
        self._keep(at, replace(shown, state=state._end_at(index, None)))

    def _decide(self, at: int, value: list[object]) -> None:
        """Keep the value of a call or an answer that is decided, which may be what is shown already."""
        shown = _KnownDocument() if at == _ALONE and self._after._alone is None else self._shown(at)
        if not value and not shown.state.is_complete:
            _refuse(f"what is shown of part {at} is not complete")
        self._keep(at, replace(shown, is_decided=True, value=value[0] if value else shown.state.value))

    def _set_fields(self, fields: Mapping[str, object]) -> None:
        unknown = [name for name in fields if name not in {*_MESSAGE_FIELDS, "answer", "lost"}]
        if unknown:
            _refuse(f"a message has no field {unknown[0]!r}")
        known = {**self._after._fields, **fields}
        self._after._fields = {name: value for name, value in known.items() if value is not None}
        self._has_new_fields = True

    def _extend(self, path: list[object], items: list[object]) -> None:
        metadata = self._after._fields.get("metadata")
        self._after._fields = {**self._after._fields, "metadata": _extended(metadata, path, items)}
        self._has_new_fields = True

    def _next_step(self) -> None:
        after = self._after
        message = self._finish_message()
        if message is not None:
            after._earlier = (*after._earlier, Step(cast("Any", message), tuple(self._results)))
        self._entries, self._results, self._nested = [], [], {}
        after._fields, after._entries, after._alone, after._message = {}, (), None, Message()
        self._has_new_run = True

    def _set_result(self, at: int, result: dict[str, object]) -> None:
        message = self._finish_message()
        calls = () if message is None else message.tool_calls
        if not 0 <= at < len(calls) or at > len(self._results) or "nested" in result:
            _refuse(f"there is no call {at}")
        found = read_result(cast("Any", calls[at]), result, _no_run)
        run = None if at not in self._nested else self._nested[at].growing
        if run is not None:
            found = replace(found, progress=run) if isinstance(found, PendingResult) else replace(found, nested=run)
        self._results[at : at + 1] = [found]
        self._has_new_run = True

    def _finish_message(self) -> Message | None:
        """Return the message as it is by now, the same object if nothing is new in it."""
        after = self._after
        if not self._changed and not self._has_new_fields:
            return after._message
        for at in sorted(self._changed):
            self._entries[at] = replace(self._entries[at], part=_make_part(at, self._entries[at]))
        parts = tuple([entry.part for entry in self._entries])
        fields = {name: after._fields[name] for name in after._fields if name in _MESSAGE_FIELDS}
        read = read_fields(fields, _MESSAGE_FIELDS)
        errors = _with_causes(read.pop("errors", ()), after._fields.get("lost", []))
        check_sources(parts, errors)
        shown = _read_answer(after._fields.get("answer", [MISSING]))
        repairs = cast("tuple[Repair, ...]", read.get("repairs", ()))
        if after._alone is not None:
            shown = after._alone.document(repairs)
            if after._alone.is_decided:
                value = after._alone.value
                shown = FinalAnswer(value, value, repairs, "is_text" in after._alone.form)
        after._message = Message(parts=parts, answer=shown, errors=errors, **cast("dict[str, Any]", read))
        self._changed, self._has_new_fields = set(), False
        self._has_new_run = True
        return after._message

    def replica(self) -> Replica:
        after = self._after
        if after._kind == "json":
            after.growing = None if after._alone is None else after._alone.state
            return after
        message = self._finish_message()
        after._entries = tuple(self._entries)
        if after._kind == "message":
            after.growing = cast("Streamed", Message() if message is None else message)
            return after
        if self._has_new_run or after.growing is None:
            last = () if message is None else (Step(cast("Any", message), tuple(self._results)),)
            after.growing = _make_run((*after._earlier, *last), after._run)
        after._results, after._nested = tuple(self._results), self._nested
        return after


_MESSAGE_FIELDS: Final = tuple([name for name in Message.FIELDS if name != "parts"])


def _read_answer(answer: object) -> object:
    """Return an answer that came without a document, in a list, because it may be anything."""
    return answer[0] if isinstance(answer, list) and len(answer) == 1 else _refuse("an answer must be in a list")


def _with_causes(errors: object, places: object) -> tuple[ErrorDetail, ...]:
    """Return errors with an exception where there was one: what people read of them depends on it."""
    known = cast("tuple[ErrorDetail, ...]", errors)
    lost = places if isinstance(places, list) else []
    return tuple([replace(one, cause=ConnectionError(LOST)) if at in lost else one for at, one in enumerate(known)])


def _make_run(steps: tuple[Step, ...], fields: Mapping[str, Any]) -> Run[Any]:
    outcome = next((one for one in RunOutcome if one.value == fields.get("outcome", "streaming")), None)
    if outcome is None:
        _refuse(f"there is no outcome {fields.get('outcome')!r}")
    return Run(steps, outcome, fields.get("id"), fields.get("error"))


def _no_run(*_: object) -> NoReturn:
    _refuse("a nested run has operations of its own")


def _make_part(at: int, entry: _Entry) -> Part:
    kind, fields = entry.kind, dict(entry.fields)
    if issubclass(kind, GrowingPart):
        fields["text"] = entry.text
    elif issubclass(kind, BaseCall):
        shown = entry.shown
        fields["arguments"] = entry.text
        if kind is CompleteCall:
            fields["arguments_value"] = shown.value if shown.is_decided else _refuse(f"call {at} is not complete")
        elif shown.is_decided:
            fields["partial"] = shown.value
        else:
            fields["partial"] = shown.document(cast("tuple[Repair, ...]", fields.get("repairs", ())))
    return cast("Part", make_part(at, kind, fields))


def _extended(value: object, path: list[object], items: list[object]) -> object:
    """Return a value with a list in it that has more items."""
    if not path:
        return [*value, *items] if isinstance(value, list) else _refuse("there is no list to extend")
    key, *rest = path
    if not isinstance(value, dict) or not isinstance(key, str):
        _refuse(f"there is no list at {path!r:.100}")
    return {**value, key: _extended(value.get(key), rest, items)}


def _new_parser(form: _Form) -> ParserState:
    if "written" not in form:
        return create_parser_state()
    return create_parser_state(limits=_LIMITS, floats="decimal" if "decimals" in form else "float")


def _refuse_operation(operation: object) -> NoReturn:
    _refuse(f"not an operation here: {operation!r:.100}")


def _refuse(why: str) -> NoReturn:
    message = f"this is not a delta that feed_delta wrote: {why}"
    raise ValueError(message)
