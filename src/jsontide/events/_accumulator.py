"""The accumulator: holds an emitter, and calls the callbacks of the patterns that match."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias, TypeVar, Unpack

from jsontide._check import check_switch
from jsontide._decode import ByteSource, as_text
from jsontide._errors import ParserError, get_link
from jsontide._mypyc import mypyc_attr
from jsontide._path import Segment
from jsontide._pattern import Pattern, Step, parse_pattern
from jsontide.events._emitter import (
    EventEmitter,
    JsonFragmentUpdate,
    PatternMatch,
    claim,
    fail_with,
    feed,
    feed_decoded,
    feed_end,
    fork,
)
from jsontide.events._options import AccumulatorChoices, check_callback, check_result, create_accumulator_state
from jsontide.events._state import EventState
from jsontide.events._types import JsonFragmentError, JsonFragmentKind
from jsontide.events.patterns import PatternSet
from jsontide.mend.options import Mending, Repair
from jsontide.mend.state import MendReader

if TYPE_CHECKING:
    from mypy_extensions import i64


Callback: TypeAlias = Callable[[JsonFragmentUpdate], object]
_Callback = TypeVar("_Callback", bound=Callback)

_ERROR: Final = JsonFragmentKind.Error

# What the next call has to do.
_READY: Final = 0  # only read, if it gets text
_CAREFUL: Final = 1  # check for the unusual: bytes, an error, changed subscriptions, a state that was handed out
_READING: Final = 2  # refuse: the call before was interrupted


class Subscription:
    """Returned by `JsonFragmentAccumulator.on`: cancel it, or use it to decorate the callback if you passed none."""

    __slots__ = ("_accumulator", "_callback", "_is_cancelled", "_number", "_once", "_since", "deltas", "pattern")

    def __init__(self, accumulator: JsonFragmentAccumulator, pattern: Pattern, *, deltas: bool, once: bool) -> None:
        self._accumulator: JsonFragmentAccumulator = accumulator
        self._once: bool = once
        self._callback: Callback | None = None
        self._is_cancelled: bool = False
        self._number: int = 0  # in the order of subscribing
        self._since: int = 0  # values that begin before this index are not for it
        self.pattern: Pattern = pattern
        """The steps of the pattern."""
        self.deltas: bool = deltas
        """Whether it gets strings as they grow."""

    @property
    def is_active(self) -> bool:
        """Whether its callback can still be called."""
        return not self._is_cancelled

    def cancel(self) -> None:
        """Stop calling the callback, also for what was already read; cancelling twice does nothing."""
        if not self._is_cancelled:
            self._is_cancelled = True
            self._accumulator._remove(self)

    def __call__(self, callback: _Callback) -> _Callback:
        check_callback(callback)
        self._callback = callback
        return callback

    def _notify(self, update: JsonFragmentUpdate) -> None:
        if self._is_cancelled or self._callback is None or update.start < self._since:
            return
        if self._once:
            self.cancel()
        result = self._callback(update)
        if result is not None:
            check_result(result)

    def __repr__(self) -> str:
        return f"<Subscription {self.pattern!r}{' cancelled' if self._is_cancelled else ''}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a subscription cannot be copied or pickled: it belongs to its accumulator")


@mypyc_attr(allow_interpreted_subclasses=True)
class JsonFragmentAccumulator:
    """Takes JSON text in fragments, cut anywhere, and returns what happens in it, and where.

    `add_fragment` returns what happened, in order; `on` calls functions for the paths that you choose.

    >>> accumulator = JsonFragmentAccumulator()
    >>> for update in accumulator.add_fragment('{"users": [{"na') + accumulator.add_fragment('me": "Ada"}]}'):
    ...     print(update.path, update.kind, update.text)
    root StartObject {
    root Key users
    root.users StartArray [
    root.users[0] StartObject {
    root.users[0] Key name
    root.users[0].name StartString "
    root.users[0].name PartialString Ada
    root.users[0].name CompleteString Ada
    root.users[0] EndObject }
    root.users EndArray ]
    root EndObject }
    root JsonComplete None
    >>> accumulator.is_complete
    True
    """

    __slots__ = (
        "_emitter",
        "_first",
        "_mending",
        "_next_number",
        "_pattern_set",
        "_patterns_changed",
        "_phase",
        "_raises",
        "_reader",
        "_shared",
        "_source",
        "_subscriptions",
        "_undelivered",
        "_unreturned",
    )

    def __init__(self, **options: Unpack[AccumulatorChoices]) -> None:
        """Choose which updates you get, and what happens when the text is not valid JSON.

        - `on_error="event"`: emit an `Error` and read nothing more until `reset`; `"raise"` raises
          `JsonFragmentError`; `"skip"` emits the error and continues at the next comma or closing bracket of the
          innermost open container.
        - `documents=None`: how many documents may follow each other; by default any number.
        - `keys=True`: emit keys.
        - `strings="both"`: emit strings as they grow and when they are complete; `"deltas"` leaves out the complete
          ones, `"whole"` everything else.
        - `values=True`: `JsonComplete` carries the value; with `False`, nothing that was read is kept.
        - `updates=True`: with `False`, return only errors, if you listen with `on`.
        - `floats="float"`: what numbers with a fraction or an exponent become; or `"decimal"`, or `"lexeme"`.
        - `limits=Limits()`: how long and deep each document may be.
        - `max_errors=1000`: with `on_error="skip"`, how many errors of a document are skipped; one more ends the
          stream with the reason `TOO_MANY_ERRORS`.
        - `mend=None`: mend bad JSON, as `jsontide.mend` says; errors then point into the original text, and all other
          updates into the mended one.
        """
        self._first, self._raises, self._mending = create_accumulator_state(**options)
        self._reader: MendReader | None = _start_reader(self._mending)
        self._pattern_set: PatternSet = PatternSet()
        self._emitter: EventEmitter = fork(self._first, self._pattern_set)
        self._source: ByteSource | None = None
        self._phase: i64 = _READY if self._reader is None else _CAREFUL
        self._shared: EventState | None = None  # handed out since the last fragment; may have been fed
        self._subscriptions: dict[int, Subscription] = {}
        self._next_number: int = 0
        self._patterns_changed: bool = False  # since the last fragment
        self._undelivered: deque[PatternMatch] = deque()
        self._unreturned: list[JsonFragmentUpdate] = []  # these two are empty, unless a callback raised

    @property
    def state(self) -> EventState:
        """The state of the stream, for `feed_events` and `finish_events`.

        Those read strict JSON, so an accumulator that mends has none.
        """
        if self._reader is not None:
            message = "an accumulator that mends has no state of its own: pass the text of feed_mend to feed_events"
            raise TypeError(message)
        state = self._mark()
        self._shared = state
        self._phase = _CAREFUL
        return state

    @property
    def is_complete(self) -> bool:
        """Whether at least one document has ended and nothing is open."""
        return self._mark().is_complete

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """All repairs so far, in the order of the text; there are none without `mend`."""
        return () if self._reader is None else self._reader.repairs

    def add_fragment(self, fragment: str | bytes | bytearray | memoryview) -> list[JsonFragmentUpdate]:
        """Read a fragment, call the callbacks of the patterns that match, and return what happened."""
        if self._phase != _READY or type(fragment) is not str:
            return self._add_carefully(fragment)
        emitter = self._emitter
        if fragment:
            self._phase = _READING
            feed(emitter, fragment)
        if emitter.matches or emitter.is_over:
            return self._deliver()
        updates = emitter.updates
        emitter.updates = []
        self._phase = _READY
        return updates

    def _add_carefully(self, fragment: str | bytes | bytearray | memoryview) -> list[JsonFragmentUpdate]:
        """Do the same when there is more to do than to read text."""
        emitter = self._claim()
        if self._reader is not None:
            text = self._reader.decode(fragment)
            if not emitter.is_over:
                self._phase = _READING
                self._feed_mended(self._reader, emitter, self._reader.feed_text(text))
            return self._deliver()
        source, text, is_good = as_text(fragment, self._source, emitter.index, "fragment")
        if len(fragment) > 0 and not emitter.is_over:
            self._phase = _READING
            feed_decoded(emitter, text, source, is_good)
            self._source = source
        return self._deliver()

    def finish(self) -> list[JsonFragmentUpdate]:
        """End the text; return what only its end decides: a root number, or an error."""
        emitter = self._claim()
        if not emitter.is_over:
            self._phase = _READING
            if self._reader is not None:
                self._feed_mended(self._reader, emitter, self._reader.finish())
            if not emitter.is_over:
                feed_end(emitter, self._source)
        return self._deliver()

    def _feed_mended(self, reader: MendReader, emitter: EventEmitter, text: str) -> None:
        """Read mended text, and then the error that ended the mending, if there is one."""
        if text:
            feed(emitter, text)
        for at, update in enumerate(emitter.updates):
            error = update.value
            if update.kind is _ERROR and isinstance(error, ParserError):
                placed = reader.place(error)
                message = (update.text or "").replace(error.message, placed.message)
                end = max(reader.original_index(update.end), placed.index)
                emitter.updates[at] = JsonFragmentUpdate(_ERROR, get_link(placed), message, placed, placed.index, end)
                if emitter.error is error:
                    emitter.error = placed
        if reader.error is not None and not emitter.is_over:
            fail_with(emitter, reader.error)

    def reset(self) -> None:
        """Discard all input; keep the options and subscriptions."""
        self._emitter = fork(self._first, self._pattern_set)
        self._reader = _start_reader(self._mending)
        self._source = None
        self._shared = None
        self._patterns_changed = False
        self._phase = _CAREFUL
        for subscription in self._subscriptions.values():
            subscription._since = 0
        self._undelivered.clear()
        self._unreturned = []

    def on(
        self,
        pattern: str | Sequence[Segment | Step],
        callback: Callback | None = None,
        *,
        deltas: bool = False,
        once: bool = False,
    ) -> Subscription:
        """Call a function with the update of every value that a pattern matches, when the value is complete.

        With `deltas`, call it with every piece of a matching string instead, as the string grows.
        Containers come with their whole value.
        The subscription covers values that begin in later fragments; `once` cancels it after the first call.
        Without a callback, use the subscription as a decorator.
        A callback must be a plain function: a coroutine or generator function raises `TypeError`, and so does a
        callback that returns a coroutine or a generator, because nothing would run it.

        >>> accumulator = JsonFragmentAccumulator(updates=False)
        >>> @accumulator.on("users[*].name")
        ... def greet(update):
        ...     print("hello", update.value)
        >>> accumulator.add_fragment('{"users": [{"name": "Ada"}, {"name": "Alan"}]}')
        hello Ada
        hello Alan
        []
        """
        check_switch("deltas", deltas)
        check_switch("once", once)
        subscription = Subscription(self, parse_pattern(pattern), deltas=deltas, once=once)
        subscription._since = self._emitter.index if self._shared is None else self._shared.index
        if callback is not None:
            subscription(callback)
        number = subscription._number = self._next_number
        self._next_number += 1
        self._pattern_set.add(number, subscription.pattern, deltas)
        self._subscriptions[number] = subscription
        self._note_change()
        return subscription

    def _remove(self, subscription: Subscription) -> None:
        del self._subscriptions[subscription._number]
        self._pattern_set.remove(subscription._number)
        self._note_change()

    def _note_change(self) -> None:
        self._patterns_changed = True
        if self._phase == _READY:
            self._phase = _CAREFUL

    def _mark(self) -> EventState:
        """Return the state of the stream."""
        if self._phase == _READING:
            raise RuntimeError("the last call was interrupted, and what it read is lost; call reset and begin again")
        return self._shared or EventState(self._emitter, self._source)

    def _claim(self) -> EventEmitter:
        """Return an emitter that no other state uses, at the end of the stream, with the current patterns."""
        state = self._mark()
        if self._shared is not None and not state.is_over:
            self._emitter = claim(state)
        if self._patterns_changed:
            self._emitter.refresh_patterns()
            self._patterns_changed = False
        self._shared = None
        return self._emitter

    def _deliver(self) -> list[JsonFragmentUpdate]:
        """Call the callbacks; if one raises, the rest is delivered by the next call."""
        emitter = self._emitter
        self._undelivered.extend(emitter.matches)
        self._unreturned.extend(emitter.updates)
        emitter.matches = []
        emitter.updates = []
        self._phase = _CAREFUL
        while self._undelivered:
            match = self._undelivered.popleft()
            subscription = self._subscriptions.get(match.number)
            if subscription is not None:
                subscription._notify(match.update)
        updates = self._unreturned
        self._unreturned = []
        emitter = self._emitter  # a new one, if a callback has called reset
        if (
            self._phase == _CAREFUL
            and self._source is None
            and self._reader is None
            and not (emitter.is_over or self._patterns_changed or self._shared)
        ):
            self._phase = _READY
        error = emitter.error
        if self._raises and error is not None:
            raise JsonFragmentError(error, [each for each in updates if each.value is not error])
        return updates

    def __reduce__(self) -> NoReturn:
        message = "an accumulator cannot be copied or pickled, but its state can; `jsontide.events` continues from it"
        raise TypeError(message)


def _start_reader(mending: Mending | None) -> MendReader | None:
    return None if mending is None else MendReader(mending)
