"""The accumulator: a holder of a emitter, and of the callbacks that patterns lead to."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from jsontide._check import check_switch
from jsontide._mypyc import mypyc_attr
from jsontide._pattern import parse_pattern
from jsontide.events._callback import check_callback, check_result
from jsontide.events._create import begin
from jsontide.events._errors import JsonFragmentError
from jsontide.events._fork import claim, fork
from jsontide.events._read import read, read_decoded, read_end
from jsontide.events._state import EventState
from jsontide.events._update import Hit, JsonFragmentUpdate
from jsontide.events._watch import PatternSet
from jsontide.text.utf8 import as_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn, Unpack

    from mypy_extensions import i64

    from jsontide._path import Segment
    from jsontide._pattern import Pattern, Step
    from jsontide.events._emitter import EventEmitter
    from jsontide.events._options import AccumulatorChoices
    from jsontide.text.utf8 import ByteSource

Callback: TypeAlias = Callable[[JsonFragmentUpdate], object]
_Callback = TypeVar("_Callback", bound=Callback)

# What the next call has to do.
_READY: Final = 0  # nothing but read, if it gets text
_CAREFUL: Final = 1  # look at what is not usual: bytes, an error, news of subscriptions, a state that was handed out
_READING: Final = 2  # refuse: the call before was broken off


class Subscription:
    """What `JsonFragmentAccumulator.on` returns: it can be cancelled, and decorates the callback if none was given."""

    __slots__ = ("_accumulator", "_callback", "_is_cancelled", "_number", "_once", "_since", "deltas", "pattern")

    def __init__(self, accumulator: JsonFragmentAccumulator, pattern: Pattern, *, deltas: bool, once: bool) -> None:
        self._accumulator: JsonFragmentAccumulator = accumulator
        self._once: bool = once
        self._callback: Callback | None = None
        self._is_cancelled: bool = False
        self._number: int = 0  # its own, in the order of subscribing
        self._since: int = 0  # what begins before that is not for it
        self.pattern: Pattern = pattern
        """The steps of the pattern."""
        self.deltas: bool = deltas
        """Whether it is told of strings as they grow."""

    @property
    def is_active(self) -> bool:
        """Whether its callback can still be called."""
        return not self._is_cancelled

    def cancel(self) -> None:
        """Call the callback no more, not even for what is already read; cancelling twice does nothing."""
        if not self._is_cancelled:
            self._is_cancelled = True
            self._accumulator._forget(self)

    def __call__(self, callback: _Callback) -> _Callback:
        check_callback(callback)
        self._callback = callback
        return callback

    def _tell(self, update: JsonFragmentUpdate) -> None:
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
        message = "a subscription cannot be copied or pickled: it is one of its accumulator's"
        raise TypeError(message)


@mypyc_attr(allow_interpreted_subclasses=True)
class JsonFragmentAccumulator:
    """Takes JSON text in fragments, cut anywhere, and tells what happens in it, and where.

    `add_fragment` returns what happened, in order; `on` calls functions with what happens at some paths.

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
        "_has_news",
        "_next_number",
        "_raises",
        "_shared",
        "_source",
        "_stance",
        "_subscriptions",
        "_unreturned",
        "_untold",
        "_watch",
    )

    def __init__(self, **options: Unpack[AccumulatorChoices]) -> None:
        """Choose what is told, and what happens to text that is no JSON.

        - `on_error="event"`: tell it by an update, and read no more until `reset`; `"raise"` raises
          `JsonFragmentError`, `"skip"` tells it and goes on after the next comma or closing bracket of the innermost
          open container.
        - `documents=None`: how many documents may follow each other; by default any number.
        - `keys=True`: tell of keys.
        - `strings="both"`: tell of strings as they grow and when they are whole; `"deltas"` leaves out whole ones,
          `"whole"` all but them.
        - `values=True`: let `JsonComplete` carry the value; without, nothing is kept of what was read.
        - `updates=True`: without, return errors only, for those who listen by `on`.
        - `floats="float"`: what numbers with a fraction or an exponent become; or `"decimal"`, or `"lexeme"`.
        - `limits=Limits()`: how long and deep each document may be.
        - `max_errors=1000`: with `on_error="skip"`, how many errors are skipped before a document ends; one more ends
          the reading, with the reason `TOO_MANY_ERRORS`.
        """
        self._first, self._raises = begin(**options)
        self._watch: PatternSet = PatternSet()
        self._emitter: EventEmitter = fork(self._first, self._watch)
        self._source: ByteSource | None = None
        self._stance: i64 = _READY
        self._shared: EventState | None = None  # what was handed out since the last fragment, and may have been fed
        self._subscriptions: dict[int, Subscription] = {}
        self._next_number: int = 0
        self._has_news: bool = False  # subscriptions have come or gone since the last fragment
        self._untold: deque[Hit] = deque()
        self._unreturned: list[JsonFragmentUpdate] = []  # these two are empty, unless a callback raised

    @property
    def state(self) -> EventState:
        """Where the stream stands, as a value for `add_fragment` and `finalize` of `jsontide.events`."""
        state = self._mark()
        self._shared = state
        self._stance = _CAREFUL
        return state

    @property
    def is_complete(self) -> bool:
        """Whether at least one document has ended and nothing is open."""
        return self._mark().is_complete

    def add_fragment(self, fragment: str | bytes | bytearray | memoryview) -> list[JsonFragmentUpdate]:
        """Read on, call the callbacks of what is found, and return what happened."""
        if self._stance != _READY or type(fragment) is not str:
            return self._add_carefully(fragment)
        emitter = self._emitter
        if fragment:
            self._stance = _READING
            read(emitter, fragment)
        updates = emitter.updates
        emitter.updates = []
        if emitter.hits or emitter.is_over:
            return self._deliver(updates)
        self._stance = _READY
        return updates

    def _add_carefully(self, fragment: str | bytes | bytearray | memoryview) -> list[JsonFragmentUpdate]:
        """Do the same when there is more to it than reading text."""
        emitter = self._claimed()
        source, text, is_good = as_text(fragment, self._source, emitter.index, "fragment")
        if len(fragment) > 0 and not emitter.is_over:
            self._stance = _READING
            read_decoded(emitter, text, source, is_good)
            self._source = source
        return self._told(emitter)

    def finish(self) -> list[JsonFragmentUpdate]:
        """Say that the text is over; return what only that decides: a root number, or the error."""
        emitter = self._claimed()
        if not emitter.is_over:
            self._stance = _READING
            read_end(emitter, self._source)
        return self._told(emitter)

    def reset(self) -> None:
        """Be as new, with the same options and subscriptions."""
        self._emitter = fork(self._first, self._watch)
        self._source = None
        self._shared = None
        self._has_news = False
        self._stance = _CAREFUL
        for subscription in self._subscriptions.values():
            subscription._since = 0
        self._untold.clear()
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

        With `deltas`, of every piece of a matching string instead, as it grows.
        Containers come with their whole value.
        It applies to values that begin in later fragments; `once` cancels it after the first call.
        Without a callback, the subscription decorates one.
        Nobody would await a coroutine: an asynchronous function or a generator function is refused with `TypeError`,
        and so is a call that returns what such a function returns.

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
        self._watch.add(number, subscription.pattern, deltas)
        self._subscriptions[number] = subscription
        self._heed_news()
        return subscription

    def _forget(self, subscription: Subscription) -> None:
        del self._subscriptions[subscription._number]
        self._watch.remove(subscription._number)
        self._heed_news()

    def _heed_news(self) -> None:
        self._has_news = True
        if self._stance == _READY:
            self._stance = _CAREFUL

    def _mark(self) -> EventState:
        """Return where the stream stands."""
        if self._stance == _READING:
            message = "the last call was broken off, and what it read is lost; reset, and begin again"
            raise RuntimeError(message)
        return self._shared or EventState(self._emitter, self._source)

    def _claimed(self) -> EventEmitter:
        """Return a emitter of its own that stands where the stream does, and looks for the patterns of now."""
        state = self._mark()
        if self._shared is not None and not state.is_over:
            self._emitter = claim(state)
        if self._has_news:
            self._emitter.listen_anew()
            self._has_news = False
        self._shared = None
        return self._emitter

    def _told(self, emitter: EventEmitter) -> list[JsonFragmentUpdate]:
        updates = emitter.updates
        emitter.updates = []
        return self._deliver(updates)

    def _deliver(self, updates: list[JsonFragmentUpdate]) -> list[JsonFragmentUpdate]:
        """Call the callbacks; what a callback that raises leaves undone comes with the next call."""
        emitter = self._emitter
        self._untold.extend(emitter.hits)
        self._unreturned.extend(updates)
        emitter.hits = []
        self._stance = _CAREFUL
        while self._untold:
            hit = self._untold.popleft()
            subscription = self._subscriptions.get(hit.number)
            if subscription is not None:
                subscription._tell(hit.update)
        updates = self._unreturned
        self._unreturned = []
        emitter = self._emitter  # another one, if a callback has reset
        if (
            self._stance == _CAREFUL
            and self._source is None
            and not (emitter.is_over or self._has_news or self._shared)
        ):
            self._stance = _READY
        error = emitter.error
        if self._raises and error is not None:
            raise JsonFragmentError(error, [each for each in updates if each.value is not error])
        return updates

    def __reduce__(self) -> NoReturn:
        message = "an accumulator cannot be copied or pickled, but its state can, and `jsontide.events` goes on with it"
        raise TypeError(message)
