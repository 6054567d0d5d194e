"""Tokens in, updates out: the sink that says what happens in a document, and where.

An emitter is mutable and stands at the end of its text; a state is a mark on it (`_state`).
It has two outputs: `updates` gets everything that the options ask for, in order; `matches` gets only what a pattern
wants, with the number of the pattern.

Rule: what is not wanted is not made. No path, no update and no value exists for a part of the document in which no
pattern can match, unless the options ask for all updates or whole documents. The path of an update is made on demand:
updates keep a link, which all updates of one value share.

A string is emitted as it grows: its start and the characters so far when a fragment ends, the rest when it closes.

An `EventFrame` is an open array or object, as far as events need to know it. One emitter writes it, at its end only; a
state remembers how many of its values were complete, so that an older state still sees its own part of it.

An error ends the stream, or is skipped up to the next comma or closing bracket of the innermost open container. It is
emitted when that point is found, because only then the skipped text is known. At most `max_errors` errors are
skipped in a document; one more ends the stream.

The newest state continues with its own emitter; an older one, or one whose step was interrupted, gets a fork: a copy of
what it could see of the open containers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from jsontide._decode import ByteSource
from jsontide._errors import ParserError, Reason, get_link
from jsontide._mypyc import mypyc_attr
from jsontide._path import Path, PathLink, link_to
from jsontide._values import JsonValue
from jsontide.events._types import JsonFragmentKind
from jsontide.events.patterns import PatternSet, PatternState
from jsontide.text import modes
from jsontide.text.grammar import AT_A_VALUE, END_OF_TEXT
from jsontide.text.numbers import parse_number
from jsontide.text.options import MAX_LIMIT
from jsontide.text.scanner import Scanner, Skip
from jsontide.text.strings import join_pieces

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide.events._options import EventOptions
    from jsontide.events._state import EventState


@mypyc_attr(free_list_len=1)  # many fragments make one update, which is dropped before the next
class JsonFragmentUpdate:
    """What happened, where, and in which part of the stream.

    `text` and `value` depend on `kind`; the table in the documentation lists them.
    `start` and `end` are offsets in the stream, in code points.
    """

    __slots__ = ("_link", "end", "kind", "start", "text", "value")

    def __init__(  # noqa: PLR0913, PLR0917 - what it is made of; the compiled emitter calls by position
        self,
        kind: JsonFragmentKind,
        link: PathLink,
        text: str | None,
        value: JsonValue | ParserError,
        start: i64,
        end: i64,
    ) -> None:
        self.kind: JsonFragmentKind = kind
        self._link: PathLink = link
        self.text: str | None = text
        self.value: JsonValue | ParserError = value
        self.start: i64 = start
        self.end: i64 = end

    @property
    def path(self) -> str:
        """The path as text: `root.users[2].email`."""
        link = self._link
        return link.written or link.text()

    @property
    def segments(self) -> Path:
        """The keys and indices from the root down: `("users", 2, "email")`."""
        return self._link.path()

    def __repr__(self) -> str:
        shown = [f"{self.kind.value} {self.path}"]
        if self.text is not None:
            shown.append(f"text={self.text!r}")
        if self.value is not None:
            shown.append(f"value={self.value!r}")
        return f"<{' '.join(shown)} [{self.start}:{self.end}]>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JsonFragmentUpdate):
            return NotImplemented
        return self._contents() == other._contents()

    def __hash__(self) -> int:
        return hash((self.kind, self.segments, self.text, self.start, self.end))

    def _contents(self) -> tuple[object, ...]:
        return (self.segments, self.kind, self.text, self.value, (self.start, self.end))

    def __reduce__(self) -> tuple[Callable[..., JsonFragmentUpdate], tuple[object, ...]]:
        return restore_update, self._contents()


def restore_update(
    path: Path, kind: JsonFragmentKind, text: str | None, value: JsonValue | ParserError, span: tuple[int, int]
) -> JsonFragmentUpdate:
    """Return an update from the contents of its pickle."""
    start, end = span
    return JsonFragmentUpdate(kind, link_to(path), text, value, start, end)


class PatternMatch:
    """An update that a pattern wants, with the number of the pattern."""

    __slots__ = ("number", "update")

    def __init__(self, number: int, update: JsonFragmentUpdate) -> None:
        self.number: int = number
        self.update: JsonFragmentUpdate = update


class EventFrame:
    """An open container; the document is one too, around the root."""

    __slots__ = (
        "after",
        "count",
        "index",
        "is_object",
        "items",
        "key",
        "keys",
        "own_key",
        "own_link",
        "parent",
        "pattern_state",
        "start",
        "wanted",
    )

    def __init__(self, parent: EventFrame | None, is_object: bool, after: i64, start: i64) -> None:
        self.parent: EventFrame | None = parent
        self.is_object: bool = is_object
        self.after: i64 = after  # the mode after a value in it
        self.start: i64 = start  # where in the stream it began
        self.own_key: str | None = None if parent is None else parent.key
        self.index: i64 = 0 if parent is None else parent.count  # complete values before it in its parent
        self.count: i64 = 0  # complete values in it
        self.key: str | None = None  # the last key in it
        self.items: list[object] | None = None  # its complete values, if they are wanted
        self.keys: list[str] | None = None  # and their keys, in an object
        self.pattern_state: PatternState | None = None  # if any pattern can match in it
        self.wanted: tuple[int, ...] = ()  # the patterns that want its value
        self.own_link: PathLink | None = None  # made on demand

    def add(self, value: object) -> None:
        """Add a complete value."""
        items = self.items
        if items is not None:
            items.append(value)
            if self.keys is not None and self.key is not None:
                self.keys.append(self.key)
        self.count += 1

    def value(self) -> object:
        """Return the value, if it was built; the container must have closed."""
        if self.keys is not None and self.items is not None:
            return dict(zip(self.keys, self.items, strict=True))
        return self.items

    def link(self) -> PathLink:
        """Return the link to it, made on demand."""
        own = self.own_link
        if own is not None:
            return own
        missing: list[EventFrame] = []
        frame = self
        while frame.own_link is None and frame.parent is not None:
            missing.append(frame)
            frame = frame.parent
        link = frame.own_link  # of the document: None
        while missing:
            frame = missing.pop()
            link = frame.own_link = _link_in(link, frame.own_key, frame.index)
        assert link is not None  # the document has none, and is never asked for it
        return link

    def link_to_next(self) -> PathLink:
        """Return the link to the value that is being read in it."""
        return _link_in(None if self.parent is None else self.link(), self.key, self.count)

    def find_pattern_state(self, pattern_set: PatternSet) -> None:
        """Look up its pattern state again; that of its parent is up to date."""
        parent = self.parent
        if parent is None or parent.parent is None:
            self.pattern_state = pattern_set.start()
        elif parent.pattern_state is None:
            self.pattern_state = None
        else:
            outer = parent.pattern_state
            state = outer.item(self.index) if self.own_key is None else outer.member(self.own_key)
            self.pattern_state = None if state.is_dead else state

    def fork(self, count: i64, key: str | None, parent: EventFrame | None) -> EventFrame:
        """Return a copy that continues after `count` values."""
        fork = EventFrame(parent, self.is_object, self.after, self.start)
        fork.own_key = self.own_key
        fork.index = self.index
        fork.count = count
        fork.key = key
        fork.pattern_state = self.pattern_state
        fork.wanted = self.wanted
        fork.own_link = self.own_link
        if self.items is not None:
            fork.items = self.items[:count]
        if self.keys is not None:
            fork.keys = self.keys[:count]
        return fork


def _link_in(container: PathLink | None, key: str | None, index: i64) -> PathLink:
    """Return the link to a value; without a container, to the root."""
    if container is None:
        return PathLink(None, 0)
    return PathLink(container, index) if key is None else PathLink(container, key)


def create_document_frame(start: i64) -> EventFrame:
    """Return the frame around the root of a document that begins at `start`."""
    return EventFrame(None, is_object=False, after=modes.DONE, start=start)


def open_frames(top: EventFrame) -> list[EventFrame]:
    """Return the open containers, outermost first; the first is the document."""
    frames: list[EventFrame] = []
    frame: EventFrame | None = top
    while frame is not None:
        frames.append(frame)
        frame = frame.parent
    frames.reverse()
    return frames


_ERROR: Final = JsonFragmentKind.Error
_FINAL_REASONS: Final = frozenset(
    (Reason.TEXT_TOO_LONG, Reason.TOO_MANY_NODES, Reason.TRAILING_TEXT, Reason.BAD_UTF8, Reason.UNEXPECTED_END)
)
"""Nothing can be read after these."""
_MAX_SHOWN_LENGTH: Final = 40  # of the skipped text in a message
_CHARACTERS_AT_ONCE: Final = 4096  # each error copies the rest of them


class Recovery:
    """The text that is being skipped, and the error before it."""

    __slots__ = ("error", "shown", "skip")

    def __init__(self, error: ParserError, skip: Skip, shown: str) -> None:
        self.error: ParserError = error
        self.skip: Skip = skip
        self.shown: str = shown  # the beginning of the skipped text

    def copy(self) -> Recovery:
        """Return an independent copy."""
        return Recovery(self.error, self.skip.copy(), self.shown)

    def __reduce__(self) -> tuple[Callable[..., Recovery], tuple[object, ...]]:
        return Recovery, (self.error, self.skip, self.shown)


def feed(emitter: EventEmitter, text: str) -> None:
    """Read a fragment, with or without errors."""
    if emitter.recovery is not None:
        _feed_rest(emitter, text)
        return
    held = emitter.held
    emitter.scan(text)
    if emitter.is_over:
        _feed_rest(emitter, _after_error(emitter, held, text))
    elif emitter.mode == modes.STRING:
        emitter.emit_open_string()


def feed_decoded(emitter: EventEmitter, text: str, source: ByteSource | None, is_good: bool) -> None:
    """Read a fragment that came as bytes; `is_good` means that they were valid UTF-8 to the end."""
    feed(emitter, text)
    if not is_good and source is not None and not emitter.is_over:
        _end_any_recovery(emitter)
        _fail(emitter, Reason.BAD_UTF8, source.wanted, source.found)


def _feed_rest(emitter: EventEmitter, text: str) -> None:
    """Read the rest of a fragment that has an error."""
    begin: i64 = 0
    while begin < len(text) and not emitter.is_over:
        _feed_some(emitter, text[begin : begin + _CHARACTERS_AT_ONCE])
        begin += _CHARACTERS_AT_ONCE
    if not emitter.is_over:
        emitter.emit_open_string()


def _feed_some(emitter: EventEmitter, text: str) -> None:
    while text:
        if emitter.recovery is not None:
            text = _skip(emitter, emitter.recovery, text)
            continue
        held = emitter.held
        emitter.scan(text)
        if emitter.error is None:
            break
        text = _after_error(emitter, held, text)


def _after_error(emitter: EventEmitter, held: str, text: str) -> str:
    """Emit the error or begin to skip; return the rest of the text."""
    error = emitter.error
    assert error is not None
    emitter.emit_open_string()
    if not emitter.options.skips_errors or error.reason in _FINAL_REASONS:
        _emit_error(emitter, error, error.message, error.index)
        return ""
    if emitter.error_count >= emitter.max_errors:
        _fail(emitter, Reason.TOO_MANY_ERRORS, f"at most {emitter.max_errors} errors", "more")
        return ""
    emitter.error_count += 1
    _begin_recovery(emitter, error)
    return (held + text)[error.index - emitter.base :]


def feed_end(emitter: EventEmitter, source: ByteSource | None) -> None:
    """End the text."""
    _end_any_recovery(emitter)
    if source is not None and source.pending:
        _fail(emitter, Reason.UNEXPECTED_END, source.wanted_rest, END_OF_TEXT)
    else:
        if emitter.mode != modes.DONE:
            emitter.finish()
        if emitter.error is not None:
            _emit_error(emitter, emitter.error, emitter.error.message, emitter.error.index)


def fail_with(emitter: EventEmitter, error: ParserError) -> None:
    """End the stream with an error from outside, at the value that is being read."""
    _end_any_recovery(emitter)
    path: Any = emitter.path()
    emitter.error = replace(error, path=path)
    emitter.is_over = True
    _emit_error(emitter, emitter.error, error.message, error.index)


def _fail(emitter: EventEmitter, reason: Reason, wanted: str, found: str) -> None:
    emitter.fail(reason, wanted, found, emitter.index)
    error = emitter.error
    assert error is not None  # `fail` has just set it
    _emit_error(emitter, error, error.message, error.index)


def _emit_error(emitter: EventEmitter, error: ParserError, message: str, end: i64) -> None:
    """Emit the error, also with `updates=False`."""
    emitter.updates.append(JsonFragmentUpdate(_ERROR, get_link(error), message, error, error.index, end))


def _begin_recovery(emitter: EventEmitter, error: ParserError) -> None:
    top = emitter.top
    closer = "" if top.parent is None else "}" if top.is_object else "]"
    emitter.recovery = Recovery(error, Skip(closer, emitter.mode <= modes.KEY_TEXT, False, 0), "")
    emitter.error = None
    emitter.is_over = False
    emitter.held = ""
    emitter.pieces = []
    emitter.link = None
    emitter.reset_string()
    emitter.mode = top.after


def _skip(emitter: EventEmitter, recovery: Recovery, text: str) -> str:
    """Skip as far as necessary; return the rest of the text."""
    room: i64 = emitter.max_index - emitter.index
    skipped = text[:room]
    end: i64 = 1 if recovery.error.reason is Reason.BYTE_ORDER_MARK else recovery.skip.find_end(skipped)
    if end >= 0:
        skipped = skipped[:end]
    if len(recovery.shown) <= _MAX_SHOWN_LENGTH:
        recovery.shown += skipped[: _MAX_SHOWN_LENGTH + 1]
    newlines = skipped.count("\n")
    if newlines:
        emitter.line = (emitter.line[0] + newlines, emitter.index + skipped.rfind("\n") + 1)
    emitter.index += len(skipped)
    if end >= 0:
        _end_recovery(emitter, recovery)
        if recovery.error.reason is Reason.BYTE_ORDER_MARK:
            emitter.mode = modes.VALUE
        return text[end:]
    if len(text) > room:
        _end_recovery(emitter, recovery)
        _fail(emitter, Reason.TEXT_TOO_LONG, f"at most {emitter.max_chars} characters of text", "more")
    return ""


def _end_any_recovery(emitter: EventEmitter) -> None:
    """Stop skipping, if anything is being skipped."""
    if emitter.recovery is not None:
        _end_recovery(emitter, emitter.recovery)


def _end_recovery(emitter: EventEmitter, recovery: Recovery) -> None:
    """Emit the error, now that the length of the skipped text is known."""
    error = recovery.error
    count = emitter.index - error.index
    shown = recovery.shown if len(recovery.shown) <= _MAX_SHOWN_LENGTH else recovery.shown[:_MAX_SHOWN_LENGTH] + "..."
    characters = "1 character" if count == 1 else f"{count} characters"
    text = f"{error.message}; skipped {characters}: {shown!r}" if count else error.message
    _emit_error(emitter, error, text, emitter.index)
    emitter.recovery = None


_START_OBJECT: Final = JsonFragmentKind.StartObject
_END_OBJECT: Final = JsonFragmentKind.EndObject
_START_ARRAY: Final = JsonFragmentKind.StartArray
_END_ARRAY: Final = JsonFragmentKind.EndArray
_KEY: Final = JsonFragmentKind.Key
_START_STRING: Final = JsonFragmentKind.StartString
_PARTIAL_STRING: Final = JsonFragmentKind.PartialString
_COMPLETE_STRING: Final = JsonFragmentKind.CompleteString
_COMPLETE_NUMBER: Final = JsonFragmentKind.CompleteNumber
_COMPLETE_BOOLEAN: Final = JsonFragmentKind.CompleteBoolean
_COMPLETE_NULL: Final = JsonFragmentKind.CompleteNull
_JSON_COMPLETE: Final = JsonFragmentKind.JsonComplete


class EventEmitter(Scanner):
    """The end of a stream: the containers and the string open there, and how much of them was emitted."""

    __slots__ = (
        "emits_deltas",
        "emits_keys",
        "emits_updates",
        "emits_whole_strings",
        "emitted_chars",
        "emitted_index",
        "emitted_pieces",
        "error_count",
        "floats",
        "is_string_started",
        "keeps_text",
        "keeps_values",
        "known_keys",
        "link",
        "matches",
        "max_documents",
        "max_errors",
        "options",
        "pattern_set",
        "recovery",
        "string_wanted",
        "top",
        "updates",
        "wants_deltas",
    )

    def __init__(self, options: EventOptions, pattern_set: PatternSet) -> None:
        super().__init__(options.limits, ignore_trailing=False)
        self.options: EventOptions = options
        self.pattern_set: PatternSet = pattern_set
        self.emits_updates: bool = options.updates
        self.emits_keys: bool = options.updates and options.keys
        self.emits_deltas: bool = options.updates and options.strings != "whole"
        self.emits_whole_strings: bool = options.updates and options.strings != "deltas"
        self.keeps_values: bool = options.updates and options.values
        self.floats: str = options.floats
        self.max_errors: i64 = min(options.max_errors, MAX_LIMIT)
        self.max_documents: i64 = -1 if options.documents is None else min(options.documents, MAX_LIMIT)

        self.updates: list[JsonFragmentUpdate] = []
        self.matches: list[PatternMatch] = []
        self.top: EventFrame = create_document_frame(0)  # the innermost open container
        self.top.pattern_state = pattern_set.start()
        self.link: PathLink | None = None  # to the value that is being read, made on demand
        self.recovery: Recovery | None = None  # while invalid text is skipped
        self.error_count: i64 = 0  # errors skipped since the last document ended
        self.known_keys: dict[str, str] = {}  # of the values that are built: equal keys are one object

        self.is_string_started: bool = False  # the start of the open string was emitted
        self.emitted_chars: i64 = 0  # how many characters of it were emitted and are in `pieces`
        self.emitted_pieces: i64 = 0  # the same in pieces
        self.emitted_index: i64 = 0  # where in the stream they end
        self.keeps_text: bool = False  # it is wanted whole
        self.wants_deltas: bool = False  # it is wanted as it grows
        self.string_wanted: tuple[int, ...] = ()  # the patterns that want it

    def open_object(self) -> None:
        if self.emits_updates:
            self._emit_bracket(_START_OBJECT, "{", self.token_start)
        self._open(EventFrame(self.top, True, modes.AFTER_MEMBER, self.token_start))

    def open_array(self) -> None:
        if self.emits_updates:
            self._emit_bracket(_START_ARRAY, "[", self.token_start)
        self._open(EventFrame(self.top, False, modes.AFTER_ITEM, self.token_start))

    def _open(self, frame: EventFrame) -> None:
        frame.own_link = self.link
        self.link = None
        if self.top.pattern_state is not None:
            pattern_state = self._pattern_state()
            if not pattern_state.is_dead:
                frame.pattern_state = pattern_state
                frame.wanted = pattern_state.wanted
        if self._is_kept() or (frame.wanted and self._is_wanted(frame.wanted, growing=False)):
            frame.items = []
            if frame.is_object:
                frame.keys = []
        self.top = frame

    def close_container(self) -> i64:
        frame = self.top
        parent = frame.parent
        assert parent is not None  # the document does not close
        self.top = parent
        self.link = frame.own_link
        if self.emits_updates:
            if frame.is_object:
                self._emit_bracket(_END_OBJECT, "}", self.token_start)
            else:
                self._emit_bracket(_END_ARRAY, "]", self.token_start)
        value: Any = frame.value()
        if frame.wanted:
            kind = _END_OBJECT if frame.is_object else _END_ARRAY
            update = JsonFragmentUpdate(kind, self._make_link(), None, value, frame.start, self.token_start + 1)
            self._emit_matches(frame.wanted, update)
        self._add(value, frame.start, self.token_start + 1)
        return parent.after

    def key(self, text: str) -> Reason | None:
        top = self.top
        if top.keys is not None:
            text = self.known_keys.setdefault(text, text)
        top.key = text
        if self.emits_keys:
            start: i64 = self.token_start - 1
            self.updates.append(JsonFragmentUpdate(_KEY, top.link(), text, text, start, self.token_end + 1))
        return None

    def string(self, text: str) -> None:
        end: i64 = self.token_end
        start: i64 = self.token_start - 1
        if not self.is_string_started:
            self._begin_string()
        if self.wants_deltas:
            self._emit_delta(text[self.emitted_chars :] if self.emitted_chars else text, end)
        self.reset_string()
        if self.keeps_text:
            if self.emits_whole_strings or self.string_wanted:
                update = JsonFragmentUpdate(
                    _COMPLETE_STRING, self.link or self._make_link(), text, text, start, end + 1
                )
                if self.emits_whole_strings:
                    self.updates.append(update)
                if self.string_wanted:
                    self._emit_matches(self.string_wanted, update)
            self._add(text, start, end + 1)
        else:
            self._add(None, start, end + 1)

    def number(self, lexeme: str, is_integer: bool) -> Reason | None:
        value: Any = parse_number(lexeme, is_integer, self.floats)
        if value is None:
            return Reason.NUMBER_OUT_OF_RANGE
        self._emit_scalar(_COMPLETE_NUMBER, lexeme, value)
        return None

    def literal(self, word: str) -> None:
        if word == "null":
            self._emit_scalar(_COMPLETE_NULL, word, None)
        else:
            self._emit_scalar(_COMPLETE_BOOLEAN, word, word == "true")

    def _emit_scalar(self, kind: JsonFragmentKind, lexeme: str, value: JsonValue) -> None:
        start: i64 = self.token_start
        end: i64 = start + len(lexeme)
        wanted = self._wanted()
        if self.emits_updates or wanted:
            update = JsonFragmentUpdate(kind, self._make_link(), lexeme, value, start, end)
            if self.emits_updates:
                self.updates.append(update)
            if wanted:
                self._emit_matches(wanted, update)
        self._add(value, start, end)

    def _add(self, value: JsonValue, start: i64, end: i64) -> None:
        """Add a complete value to its container; the root ends its document."""
        top = self.top
        top.add(value)
        if top.items is None:
            self.node_count = 0  # nothing closed is kept
        if top.parent is None:
            self.error_count = 0
            if self.emits_updates:
                whole = value if self.keeps_values else None
                self.updates.append(JsonFragmentUpdate(_JSON_COMPLETE, self._make_link(), None, whole, start, end))
        self.link = None

    def _make_link(self) -> PathLink:
        """Return the link to the value that is being read, made on demand."""
        if self.link is None:
            self.link = self.top.link_to_next()
        return self.link

    def _pattern_state(self) -> PatternState:
        """Return the pattern state of the value that is being read; the innermost container must have one."""
        top = self.top
        outer = top.pattern_state
        assert outer is not None
        if top.parent is None:
            return outer
        return outer.item(top.count) if top.key is None else outer.member(top.key)

    def _wanted(self) -> tuple[int, ...]:
        """Return the patterns that want the value that is being read."""
        return () if self.top.pattern_state is None else self._pattern_state().wanted

    def _is_wanted(self, wanted: tuple[int, ...], *, growing: bool) -> bool:
        """Return whether one of these patterns wants the value as it grows; or, if not `growing`, whole."""
        deltas = self.pattern_set.deltas
        for number in wanted:
            if deltas.get(number) == growing:
                return True
        return False

    def _is_kept(self) -> bool:
        """Return whether the value that is being read will be part of a larger one that is kept."""
        return self.top.items is not None or (self.keeps_values and self.top.parent is None)

    def _emit_bracket(self, kind: JsonFragmentKind, bracket: str, at: i64) -> None:
        self.updates.append(JsonFragmentUpdate(kind, self._make_link(), bracket, None, at, at + 1))

    def _emit_matches(self, wanted: tuple[int, ...], update: JsonFragmentUpdate) -> None:
        """Emit the update for those of the patterns that want whole values."""
        deltas = self.pattern_set.deltas
        for number in wanted:
            if not deltas.get(number, True):
                self.matches.append(PatternMatch(number, update))

    def _begin_string(self) -> None:
        """Emit the start of a string."""
        start: i64 = self.token_start
        self.string_wanted = self._wanted()
        self._choose_string_output()
        self.is_string_started = True
        self.emitted_index = start
        if self.emits_deltas:
            self.updates.append(JsonFragmentUpdate(_START_STRING, self._make_link(), '"', None, start - 1, start))

    def _choose_string_output(self) -> None:
        """Decide whether the open string is wanted whole, as it grows, or both."""
        wanted = self.string_wanted
        self.keeps_text = self.emits_whole_strings or self._is_kept() or self._is_wanted(wanted, growing=False)
        self.wants_deltas = self.emits_deltas or self._is_wanted(wanted, growing=True)

    def _emit_delta(self, text: str, end: i64) -> None:
        """Emit the new part of the open string."""
        if not text:
            return
        update = JsonFragmentUpdate(
            _PARTIAL_STRING, self.link or self._make_link(), text, None, self.emitted_index, end
        )
        self.emitted_index = end
        self.emitted_chars += len(text)
        if self.emits_deltas:
            self.updates.append(update)
        if self.string_wanted:
            deltas = self.pattern_set.deltas
            for number in self.string_wanted:
                if deltas.get(number, False):
                    self.matches.append(PatternMatch(number, update))

    def emit_open_string(self) -> None:
        """Emit the open string so far: the fragment has ended, or the string is invalid."""
        if self.mode != modes.STRING:
            return
        if not self.is_string_started:
            self._begin_string()
        pieces = self.pieces
        count: i64 = len(pieces)
        done: i64 = self.emitted_pieces
        if self.wants_deltas and count > done:
            self._emit_delta(join_pieces(pieces, done, count), self.index - len(self.held))
            self.emitted_pieces = count
        if not self.keeps_text and count:
            self.pieces = []  # not cleared: a state may still refer to it
            self.emitted_chars = self.emitted_pieces = 0

    def reset_string(self) -> None:
        """Get ready for the next string."""
        self.is_string_started = False
        self.emitted_chars = self.emitted_pieces = 0

    def resume(self, frames: list[EventFrame], string_wanted: tuple[int, ...]) -> None:
        """Continue inside these containers, outermost first, as after a fragment that was emitted."""
        self.top = frames[-1]
        self.max_index = frames[0].start + self.max_chars
        self.depth = len(frames) - 1
        self.after = self.top.after
        if self.mode != modes.STRING:
            return
        self.is_string_started = True
        self.string_wanted = string_wanted
        self._choose_string_output()
        if self.wants_deltas:
            self.emitted_chars = sum([len(piece) for piece in self.pieces])
            self.emitted_pieces = len(self.pieces)
            self.emitted_index = self.index - len(self.held)

    def refresh_patterns(self) -> None:
        """Use the patterns as they are now, in open containers too."""
        for frame in open_frames(self.top):
            frame.find_pattern_state(self.pattern_set)
        if self.mode == modes.STRING:
            self._choose_string_output()

    def begin_document(self, at: i64) -> bool:
        document = self.top
        if self.max_documents == document.count:
            return False
        # Another frame: states of the document before still refer to its own.
        self.top = create_document_frame(at)
        self.top.count = document.count
        self.top.pattern_state = document.pattern_state
        self.node_count = 0
        self.known_keys = {}
        self.max_index = at + self.max_chars
        return True

    def path(self) -> PathLink:
        top = self.top
        return top.link_to_next() if top.parent is None or self.mode in AT_A_VALUE else top.link()


def claim(state: EventState) -> EventEmitter:
    """Return the emitter to continue with: the state's own if it is still at this state, else a fork of it."""
    emitter = state._emitter
    if emitter.step != state._step:
        emitter = fork(state, emitter.pattern_set)
    # Counted before anything is written: a state whose step is interrupted is no longer the newest.
    emitter.step += 1
    return emitter


def fork(state: EventState, pattern_set: PatternSet) -> EventEmitter:
    """Return a separate emitter at the position of the state, with these patterns."""
    old = state._emitter
    emitter = EventEmitter(old.options, pattern_set)
    state.restore(emitter)
    emitter.known_keys = old.known_keys
    emitter.error_count = state._error_count
    emitter.recovery = None if state._recovery is None else state._recovery.copy()
    emitter.error = state.error
    emitter.is_over = state.is_over
    emitter.resume(_fork_frames(state), state._string_wanted)
    if pattern_set is not old.pattern_set:
        emitter.refresh_patterns()
    return emitter


def _fork_frames(state: EventState) -> list[EventFrame]:
    """Copy the open containers, outermost first, as the state saw them."""
    old = open_frames(state._top)
    frames: list[EventFrame] = []
    parent: EventFrame | None = None
    for i in range(len(old) - 1):
        inner = old[i + 1]
        parent = old[i].fork(inner.index, inner.own_key, parent)
        frames.append(parent)
    frames.append(old[-1].fork(state._count, state._key, parent))
    return frames
