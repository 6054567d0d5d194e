"""`(state, fragment) -> (state, updates)`: the pure form of the accumulator.

Text never raises: what is wrong with it is told by an update.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from jsontide._errors import Reason
from jsontide.events import _recover
from jsontide.events._fork import claim
from jsontide.events._state import EventState
from jsontide.text import _modes as modes
from jsontide.text._utf8 import START_OF_BYTES, decode

if TYPE_CHECKING:
    from jsontide.events._teller import Teller
    from jsontide.events._update import JsonFragmentUpdate
    from jsontide.text._utf8 import ByteSource

Hits: TypeAlias = "list[tuple[int, JsonFragmentUpdate]]"
"""What patterns want, each with the number of its pattern."""


def add_fragment(
    state: EventState, fragment: str | bytes | bytearray | memoryview
) -> tuple[EventState, list[JsonFragmentUpdate]]:
    """Return the state after one more fragment, and what happened in it; the state that goes in stays as it is.

    >>> from jsontide.events import create_event_state
    >>> state, updates = add_fragment(create_event_state(), '{"city": "Kyo')
    >>> for update in updates:
    ...     print(update.path, update.kind, update.text)
    root StartObject {
    root Key city
    root.city StartString "
    root.city PartialString Kyo
    """
    state, updates, _ = advance(state, fragment)
    return state, updates


def finish(state: EventState) -> tuple[EventState, list[JsonFragmentUpdate]]:
    """Return the state after the end of the text, and what only that decides: a root number, or an error."""
    state, updates, _ = conclude(state)
    return state, updates


def advance(
    state: EventState, fragment: str | bytes | bytearray | memoryview
) -> tuple[EventState, list[JsonFragmentUpdate], Hits]:
    """Do as `add_fragment` does, and also return what patterns want."""
    _check_state(state)
    source = state._source
    if isinstance(fragment, str):
        if source is not None:
            message = "a str fragment cannot follow bytes fragments"
            raise TypeError(message)
        if not fragment or state.is_over:
            return state, [], []
        teller = claim(state)
        _recover.read(teller, fragment)
        return _result(teller, None)
    _check_bytes(fragment)
    if source is None and state._index > 0:
        message = "a bytes fragment cannot follow str fragments"
        raise TypeError(message)
    if len(fragment) == 0 or state.is_over:
        return state, [], []
    return _advance_bytes(state, START_OF_BYTES if source is None else source, bytes(fragment))


def _advance_bytes(
    state: EventState, source: ByteSource, fragment: bytes
) -> tuple[EventState, list[JsonFragmentUpdate], Hits]:
    source, text, is_good = decode(source, fragment)
    teller = claim(state)
    _recover.read(teller, text)
    if not is_good and not teller.is_over:
        _fail(teller, Reason.BAD_UTF8, f"UTF-8 at byte {source.offset}")
    return _result(teller, source)


def conclude(state: EventState) -> tuple[EventState, list[JsonFragmentUpdate], Hits]:
    """Do as `finish` does, and also return what patterns want."""
    _check_state(state)
    source = state._source
    pending = b"" if source is None else source.pending
    if state.is_over or (state._mode == modes.DONE and state._recovery is None and not pending):
        return state, [], []
    teller = claim(state)
    if source is not None and pending:
        wanted = f"the rest of the UTF-8 sequence at byte {source.offset} before the end of the text"
        _fail(teller, Reason.UNEXPECTED_END, wanted)
    else:
        _recover.finish(teller)
    return _result(teller, source)


def _result(teller: Teller, source: ByteSource | None) -> tuple[EventState, list[JsonFragmentUpdate], Hits]:
    updates = teller.updates
    hits = teller.hits
    teller.updates = []
    if hits:
        teller.hits = []
    return EventState(teller, source), updates, hits


def _fail(teller: Teller, reason: Reason, wanted: str) -> None:
    teller.fail(reason, wanted, teller.index)
    error = teller.error
    assert error is not None  # it has just been made
    _recover.tell_error(teller, error, error.message, error.index)


def _check_state(state: EventState) -> None:
    if not isinstance(state, EventState):
        message = f"a state must be an EventState, not {type(state).__name__}"
        raise TypeError(message)


def _check_bytes(fragment: bytes | bytearray | memoryview) -> None:
    if not isinstance(fragment, bytes | bytearray | memoryview):
        message = f"a fragment must be str, bytes, bytearray or memoryview, not {type(fragment).__name__}"
        raise TypeError(message)
