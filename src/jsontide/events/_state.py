"""The state of an accumulator, and `(state, fragment) -> (state, updates)`: its pure form.

A state is an immutable mark on an emitter. Feeding the newest state of an emitter continues with it; feeding an older
one forks first. Invalid text raises nothing: the error is an update.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from jsontide._check import check_state
from jsontide._decode import ByteSource, as_text
from jsontide._errors import ParserError
from jsontide._mypyc import mypyc_attr
from jsontide.events._emitter import (
    EventEmitter,
    EventFrame,
    JsonFragmentUpdate,
    Recovery,
    claim,
    feed_decoded,
    feed_end,
)
from jsontide.events._pickle import EventDump, dump, load
from jsontide.text import modes
from jsontide.text.scanner import Position

if TYPE_CHECKING:
    from mypy_extensions import i64


@mypyc_attr(free_list_len=1)  # most programs drop a state when they have the next one
class EventState(Position):
    """Where a stream of fragments stands; it never changes, and can be fed again at any time.

    Made by `start_events`, `feed_events` and `finish_events`.
    """

    __slots__ = ("_count", "_emitter", "_error_count", "_key", "_recovery", "_source", "_string_wanted", "_top")

    def __init__(self, emitter: EventEmitter, source: ByteSource | None) -> None:
        super().__init__(emitter)
        self._emitter: EventEmitter = emitter
        self._source: ByteSource | None = source
        self._string_wanted: tuple[int, ...] = emitter.string_wanted
        top = emitter.top
        self._top: EventFrame = top
        self._count: i64 = top.count
        self._key: str | None = top.key
        self._error_count: i64 = emitter.error_count
        recovery = emitter.recovery
        self._recovery: Recovery | None = None if recovery is None else recovery.copy()

    @property
    def is_over(self) -> bool:
        """Whether an error has ended the stream."""
        # An emitter that is over is never written again, so only its last state can be over.
        return self._emitter.is_over and self._emitter.step == self._step

    @property
    def error(self) -> ParserError | None:
        """The error that ended the stream, if one did."""
        return self._emitter.error if self.is_over else None

    @property
    def is_complete(self) -> bool:
        """Whether at least one document has ended and nothing is open."""
        if self._mode != modes.DONE or self._recovery is not None or self.is_over:
            return False
        return self._count > 0

    @property
    def index(self) -> int:
        """The number of code points read; after an error, of those before it."""
        return self._index

    def __repr__(self) -> str:
        return f"<EventState at index {self._index}>"

    def __reduce__(self) -> tuple[Callable[..., EventState], tuple[object, ...]]:
        return restore_state, (dump(self),)


def restore_state(dumped: EventDump) -> EventState:
    """Return a state from the contents of its pickle."""
    return EventState(load(dumped), dumped.source)


def feed_events(
    state: EventState, fragment: str | bytes | bytearray | memoryview
) -> tuple[EventState, list[JsonFragmentUpdate]]:
    """Return the state after one more fragment, and what happened in it; `state` itself does not change.

    >>> from jsontide.events import start_events
    >>> state, updates = feed_events(start_events(), '{"city": "Kyo')
    >>> for update in updates:
    ...     print(update.path, update.kind, update.text)
    root StartObject {
    root Key city
    root.city StartString "
    root.city PartialString Kyo
    """
    check_state(state, EventState, "an")
    source, text, is_good = as_text(fragment, state._source, state._index, "fragment")
    if state.is_over or len(fragment) == 0:
        return state, []
    emitter = claim(state)
    feed_decoded(emitter, text, source, is_good)
    return _result(emitter, source)


def finish_events(state: EventState) -> tuple[EventState, list[JsonFragmentUpdate]]:
    """Return the state after the end of the text, and what only that decides: a root number, or an error.

    >>> from jsontide.events import start_events
    >>> state, _ = feed_events(start_events(), "12")
    >>> [(update.kind.value, update.value) for update in finish_events(state)[1]]
    [('CompleteNumber', 12), ('JsonComplete', 12)]
    """
    check_state(state, EventState, "an")
    source = state._source
    if state.is_over or (state._mode == modes.DONE and state._recovery is None and not (source and source.pending)):
        return state, []
    emitter = claim(state)
    feed_end(emitter, source)
    return _result(emitter, source)


def _result(emitter: EventEmitter, source: ByteSource | None) -> tuple[EventState, list[JsonFragmentUpdate]]:
    updates = emitter.updates
    emitter.updates = []
    emitter.matches = []
    return EventState(emitter, source), updates
