"""Tokens in, updates out: the sink that tells what happens, and where.

A emitter is mutable and stands at the end of its text; a state is a mark on it (`_state`).
It tells two kinds of listeners: `updates` gets everything that was asked for, in order; `hits` gets, with the number
of the pattern, only what a pattern wants.

Rule: what nobody wants is not made. No path, no update and no value exists for a part of the document in which no
pattern can match, unless all updates or whole documents are asked for.

A string is told as it grows: its start and the characters so far at the end of each fragment, the rest at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsontide._errors import Reason
from jsontide.events._frames import Frame, chain, document_frame
from jsontide.events._kinds import JsonFragmentKind
from jsontide.events._update import Hit, JsonFragmentUpdate
from jsontide.text import modes
from jsontide.text.grammar import AT_A_VALUE
from jsontide.text.numbers import number_of
from jsontide.text.options import MOST
from jsontide.text.scanner import Scanner

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._path import PathLink
    from jsontide._values import JsonValue
    from jsontide.events._match import PatternState
    from jsontide.events._options import EventOptions
    from jsontide.events._read import Recovery
    from jsontide.events._watch import PatternSet

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
    """The end of a stream: what is open there, and what has been told of it."""

    __slots__ = (
        "error_count",
        "floats",
        "hits",
        "is_told",
        "keeps_text",
        "keeps_values",
        "known_keys",
        "max_errors",
        "most_documents",
        "options",
        "pattern_set",
        "recovery",
        "spot",
        "string_wanted",
        "tells",
        "tells_deltas",
        "tells_keys",
        "tells_whole_strings",
        "told",
        "told_index",
        "told_pieces",
        "top",
        "updates",
        "wants_deltas",
    )

    def __init__(self, options: EventOptions, pattern_set: PatternSet) -> None:
        super().__init__(options.limits, ignore_trailing=False)
        self.options: EventOptions = options
        self.pattern_set: PatternSet = pattern_set
        self.tells: bool = options.updates
        self.tells_keys: bool = options.updates and options.keys
        self.tells_deltas: bool = options.updates and options.strings != "whole"
        self.tells_whole_strings: bool = options.updates and options.strings != "deltas"
        self.keeps_values: bool = options.updates and options.values
        self.floats: str = options.floats
        self.max_errors: i64 = min(options.max_errors, MOST)
        self.most_documents: i64 = -1 if options.documents is None else min(options.documents, MOST)

        self.updates: list[JsonFragmentUpdate] = []
        self.hits: list[Hit] = []
        self.top: Frame = document_frame()  # the innermost open container
        self.top.place = pattern_set.start()
        self.spot: PathLink | None = None  # the way to the value that is being read, if somebody wanted it
        self.recovery: Recovery | None = None  # while what is wrong is skipped
        self.error_count: i64 = 0  # errors that were skipped since the last document ended
        self.known_keys: dict[str, str] = {}  # of the values that are built: equal keys are one object

        self.is_told: bool = False  # the open string has been told of
        self.told: i64 = 0  # characters of it that were told, and are in `pieces`
        self.told_pieces: i64 = 0  # the same in pieces
        self.told_index: i64 = 0  # where in the stream telling stopped
        self.keeps_text: bool = False  # somebody wants it whole
        self.wants_deltas: bool = False  # somebody wants it as it grows
        self.string_wanted: tuple[int, ...] = ()  # the patterns that want it

    def open_object(self) -> None:
        if self.tells:
            self._tell(_START_OBJECT, "{", self.token_start)
        self._open(Frame(self.top, True, modes.AFTER_MEMBER, self.token_start))

    def open_array(self) -> None:
        if self.tells:
            self._tell(_START_ARRAY, "[", self.token_start)
        self._open(Frame(self.top, False, modes.AFTER_ITEM, self.token_start))

    def _open(self, frame: Frame) -> None:
        frame.own_link = self.spot
        self.spot = None
        if self.top.place is not None:
            place = self._place()
            if not place.is_dead:
                frame.place = place
                frame.wanted = place.wanted
        if self._is_kept() or (frame.wanted and self._is_wanted(frame.wanted, growing=False)):
            frame.keep_values()
        self.top = frame

    def close_container(self) -> i64:
        frame = self.top
        parent = frame.parent
        assert parent is not None  # the document does not close
        self.top = parent
        self.spot = frame.own_link
        if self.tells:
            if frame.is_object:
                self._tell(_END_OBJECT, "}", self.token_start)
            else:
                self._tell(_END_ARRAY, "]", self.token_start)
        value: Any = frame.value()
        if frame.wanted:
            self._hit_container(frame, value)
        self._add(value, frame.start, self.token_start + 1)
        return parent.after

    def key(self, text: str) -> Reason | None:
        top = self.top
        if top.keys is not None:
            text = self.known_keys.setdefault(text, text)
        top.key = text
        if self.tells_keys:
            start: i64 = self.token_start - 1
            self.updates.append(JsonFragmentUpdate(_KEY, top.link(), text, text, start, self.token_end + 1))
        return None

    def string(self, text: str) -> None:
        end: i64 = self.token_end
        start: i64 = self.token_start - 1
        if not self.is_told:
            self._begin_string()
        if self.wants_deltas:
            self._tell_delta(text[self.told :] if self.told else text, end)
        self.forget_string()
        if self.keeps_text:
            if self.tells_whole_strings or self.string_wanted:
                update = JsonFragmentUpdate(_COMPLETE_STRING, self.spot or self._spot(), text, text, start, end + 1)
                if self.tells_whole_strings:
                    self.updates.append(update)
                if self.string_wanted:
                    self._hit(self.string_wanted, update)
            self._add(text, start, end + 1)
        else:
            self._add(None, start, end + 1)

    def number(self, lexeme: str, is_integer: bool) -> Reason | None:
        value: Any = number_of(lexeme, is_integer, self.floats)
        if value is None:
            return Reason.NUMBER_OUT_OF_RANGE
        self._tell_scalar(_COMPLETE_NUMBER, lexeme, value)
        return None

    def literal(self, word: str) -> None:
        if word == "null":
            self._tell_scalar(_COMPLETE_NULL, word, None)
        else:
            self._tell_scalar(_COMPLETE_BOOLEAN, word, word == "true")

    def _tell_scalar(self, kind: JsonFragmentKind, lexeme: str, value: JsonValue) -> None:
        start: i64 = self.token_start
        end: i64 = start + len(lexeme)
        wanted = self._wanted()
        if self.tells or wanted:
            update = JsonFragmentUpdate(kind, self._spot(), lexeme, value, start, end)
            if self.tells:
                self.updates.append(update)
            if wanted:
                self._hit(wanted, update)
        self._add(value, start, end)

    def _add(self, value: JsonValue, start: i64, end: i64) -> None:
        """Put a complete value where it belongs; the root ends its document."""
        top = self.top
        top.add(value)
        if top.items is None:
            self.node_count = 0  # nothing that has closed is kept
        if top.parent is None:
            self.error_count = 0
            if self.tells:
                told = value if self.keeps_values else None
                self.updates.append(JsonFragmentUpdate(_JSON_COMPLETE, self._spot(), None, told, start, end))
        self.spot = None

    def _spot(self) -> PathLink:
        """Return the way to the value that is being read."""
        if self.spot is None:
            self.spot = self.top.link_to_next()
        return self.spot

    def _place(self) -> PatternState:
        """Return how patterns see the value that is being read, where any can match."""
        top = self.top
        place = top.place
        assert place is not None  # who asks has looked
        if top.parent is None:
            return place
        return place.item(top.count) if top.key is None else place.member(top.key)

    def _wanted(self) -> tuple[int, ...]:
        """Return the patterns that want the value that is being read."""
        return () if self.top.place is None else self._place().wanted

    def _is_wanted(self, wanted: tuple[int, ...], *, growing: bool) -> bool:
        """Tell whether one of those patterns wants a value as it grows, or one wants it whole."""
        deltas = self.pattern_set.deltas
        for number in wanted:
            if deltas.get(number) == growing:
                return True
        return False

    def _is_kept(self) -> bool:
        """Tell whether the value that is being read will be part of a whole one."""
        return self.top.items is not None or (self.keeps_values and self.top.parent is None)

    def _tell(self, kind: JsonFragmentKind, bracket: str, at: i64) -> None:
        self.updates.append(JsonFragmentUpdate(kind, self._spot(), bracket, None, at, at + 1))

    def _hit_container(self, frame: Frame, value: JsonValue) -> None:
        kind = _END_OBJECT if frame.is_object else _END_ARRAY
        update = JsonFragmentUpdate(kind, self._spot(), None, value, frame.start, self.token_start + 1)
        self._hit(frame.wanted, update)

    def _hit(self, wanted: tuple[int, ...], update: JsonFragmentUpdate) -> None:
        """Tell those who want whole values."""
        deltas = self.pattern_set.deltas
        for number in wanted:
            if not deltas.get(number, True):
                self.hits.append(Hit(number, update))

    def _begin_string(self) -> None:
        """Tell that a string has opened."""
        start: i64 = self.token_start
        self.string_wanted = self._wanted()
        self._choose_listeners()
        self.is_told = True
        self.told_index = start
        if self.tells_deltas:
            self.updates.append(JsonFragmentUpdate(_START_STRING, self._spot(), '"', None, start - 1, start))

    def _choose_listeners(self) -> None:
        """Find out how the open string is wanted."""
        wanted = self.string_wanted
        self.keeps_text = self.tells_whole_strings or self._is_kept() or self._is_wanted(wanted, growing=False)
        self.wants_deltas = self.tells_deltas or self._is_wanted(wanted, growing=True)

    def _tell_delta(self, text: str, end: i64) -> None:
        """Tell what is new of the open string."""
        if not text:
            return
        update = JsonFragmentUpdate(_PARTIAL_STRING, self.spot or self._spot(), text, None, self.told_index, end)
        self.told_index = end
        self.told += len(text)
        if self.tells_deltas:
            self.updates.append(update)
        if self.string_wanted:
            deltas = self.pattern_set.deltas
            for number in self.string_wanted:
                if deltas.get(number, False):
                    self.hits.append(Hit(number, update))

    def tell_open_string(self) -> None:
        """Tell how far the open string has come: the fragment is over, or the string is wrong."""
        if self.mode != modes.STRING:
            return
        if not self.is_told:
            self._begin_string()
        pieces = self.pieces
        count: i64 = len(pieces)
        if self.wants_deltas and count > self.told_pieces:
            text = pieces[self.told_pieces] if count == self.told_pieces + 1 else "".join(pieces[self.told_pieces :])
            self._tell_delta(text, self.token_end if self.is_over else self.index - len(self.held))
            self.told_pieces = count
        if not self.keeps_text and count:
            self._drop_text()

    def tell_more(self, text: str) -> None:
        """Tell of a fragment that is nothing but more of the open string; a key is told when it is whole."""
        if self.mode != modes.STRING:
            return
        if self.wants_deltas:
            self._tell_delta(text, self.index)
            self.told_pieces += 1
        if not self.keeps_text:
            self._drop_text()

    def _drop_text(self) -> None:
        self.pieces = []  # and not cleared: a state may still look at it
        self.told = self.told_pieces = 0

    def forget_string(self) -> None:
        """Make ready for the next string."""
        self.is_told = False
        self.told = self.told_pieces = 0

    def go_on(self, frames: list[Frame], string_wanted: tuple[int, ...]) -> None:
        """Stand inside these containers, outermost first, as after a fragment that was told."""
        self.top = frames[-1]
        self.depth = len(frames) - 1
        self.after = self.top.after
        if self.mode != modes.STRING:
            return
        self.is_told = True
        self.string_wanted = string_wanted
        self._choose_listeners()
        if self.wants_deltas:
            self.told = sum([len(piece) for piece in self.pieces])
            self.told_pieces = len(self.pieces)
            self.told_index = self.index - len(self.held)

    def listen_anew(self) -> None:
        """Look for the patterns of now, in containers that are already open too."""
        for frame in chain(self.top):
            frame.place = self.pattern_set.place_of(frame)
        if self.mode == modes.STRING:
            self._choose_listeners()

    def begin_document(self, at: i64) -> bool:
        if self.most_documents == self.top.count:
            return False
        self.node_count = 0
        self.known_keys = {}
        self.max_index = at + self.max_chars
        return True

    def path(self) -> PathLink:
        top = self.top
        return top.link_to_next() if top.parent is None or self.mode in AT_A_VALUE else top.link()
