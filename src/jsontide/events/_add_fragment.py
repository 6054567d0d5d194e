"""`(state, fragment) -> (state, updates)`: the pure form of the accumulator.

Invalid text raises nothing: the error is an update.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide.events._fork import claim
from jsontide.events._recovery import feed_decoded, feed_end
from jsontide.events._state import EventState
from jsontide.text import modes
from jsontide.text.utf8 import as_text

if TYPE_CHECKING:
    from jsontide.events._emitter import EventEmitter
    from jsontide.events._update import JsonFragmentUpdate
    from jsontide.text.utf8 import ByteSource


def add_fragment(
    state: EventState, fragment: str | bytes | bytearray | memoryview
) -> tuple[EventState, list[JsonFragmentUpdate]]:
    """Return the state after one more fragment, and what happened in it; `state` itself does not change.

    >>> from jsontide.events import create_event_state
    >>> state, updates = add_fragment(create_event_state(), '{"city": "Kyo')
    >>> for update in updates:
    ...     print(update.path, update.kind, update.text)
    root StartObject {
    root Key city
    root.city StartString "
    root.city PartialString Kyo
    """
    _check_state(state)
    source, text, is_good = as_text(fragment, state._source, state._index, "fragment")
    if state.is_over or len(fragment) == 0:
        return state, []
    emitter = claim(state)
    feed_decoded(emitter, text, source, is_good)
    return _result(emitter, source)


def finalize(state: EventState) -> tuple[EventState, list[JsonFragmentUpdate]]:
    """Return the state after the end of the text, and what only that decides: a root number, or an error.

    >>> from jsontide.events import create_event_state
    >>> state, _ = add_fragment(create_event_state(), "12")
    >>> [(update.kind.value, update.value) for update in finalize(state)[1]]
    [('CompleteNumber', 12), ('JsonComplete', 12)]
    """
    _check_state(state)
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


def _check_state(state: EventState) -> None:
    if not isinstance(state, EventState):
        message = f"a state must be an EventState, not {type(state).__name__}"
        raise TypeError(message)
