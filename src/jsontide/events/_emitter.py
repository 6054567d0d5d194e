"""Tokens in, updates out: the sink that says what happens in a document, and where.

An emitter is mutable and stands at the end of its text; a state is a mark on it (`_state`).
It has two outputs: `updates` gets everything that the options ask for, in order; `matches` gets only what a pattern
wants, with the number of the pattern.

Rule: what is not wanted is not made. No path, no update and no value exists for a part of the document in which no
pattern can match, unless the options ask for all updates or whole documents.

A string is emitted as it grows: its start and the characters so far when a fragment ends, the rest when it closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsontide._errors import Reason
from jsontide.events._frames import EventFrame, create_document_frame, open_frames
from jsontide.events._types import JsonFragmentKind
from jsontide.events._update import JsonFragmentUpdate, PatternMatch
from jsontide.text import modes
from jsontide.text.grammar import AT_A_VALUE
from jsontide.text.numbers import parse_number
from jsontide.text.options import MOST
from jsontide.text.scanner import Scanner

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._path import PathLink
    from jsontide._values import JsonValue
    from jsontide.events._options import EventOptions
    from jsontide.events._patterns import PatternSet, PatternState
    from jsontide.events._recovery import Recovery

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
    """The end of a stream: what is open there, and what has been emitted of it."""

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
        self.max_errors: i64 = min(options.max_errors, MOST)
        self.max_documents: i64 = -1 if options.documents is None else min(options.documents, MOST)

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
            frame.keep_values()
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
            self._emit_container_match(frame, value)
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

    def _emit_container_match(self, frame: EventFrame, value: JsonValue) -> None:
        kind = _END_OBJECT if frame.is_object else _END_ARRAY
        update = JsonFragmentUpdate(kind, self._make_link(), None, value, frame.start, self.token_start + 1)
        self._emit_matches(frame.wanted, update)

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
        """Emit what is new in the open string."""
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
            text = pieces[done] if count == done + 1 else "".join(pieces[done:])
            self._emit_delta(text, self.index - len(self.held))
            self.emitted_pieces = count
        if not self.keeps_text and count:
            self._drop_text()

    def emit_more(self, text: str) -> None:
        """Emit a fragment that is nothing but more of the open string; a key is emitted when it is complete."""
        if self.mode != modes.STRING:
            return
        if self.wants_deltas:
            self._emit_delta(text, self.index)
            self.emitted_pieces += 1
        if not self.keeps_text:
            self._drop_text()

    def _drop_text(self) -> None:
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
