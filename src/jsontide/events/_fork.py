"""A state in, a teller to go on with out.

A teller is written only at its end. The newest state goes on with its own; an older one, or one whose step was broken
off, gets a fork: a copy of what it could see of the open containers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide.events._frames import chain
from jsontide.events._teller import Teller

if TYPE_CHECKING:
    from jsontide.events._frames import Frame
    from jsontide.events._state import EventState
    from jsontide.events._watch import Watch


def claim(state: EventState) -> Teller:
    """Return the teller to go on with: the state's own if that ends there, else a fork of it."""
    teller = state._teller
    if teller.step != state._step:
        teller = fork(state, teller.watch)
    # Counted before anything is written: a state whose step is broken off is no longer the newest.
    teller.step += 1
    return teller


def fork(state: EventState, watch: Watch) -> Teller:
    """Return a teller of its own that stands where the state does, and looks for these patterns."""
    old = state._teller
    teller = Teller(old.options, watch)
    teller.step = state._step
    teller.mode = state._mode
    teller.index = state._index
    teller.held = state._held
    teller.token_start = state._token_start
    teller.pieces = state._pieces[: state._piece_count]
    teller.node_count = state._node_count
    teller.max_index = state._max_index
    teller.line = state._line
    teller.known_keys = old.known_keys
    teller.error_count = state._error_count
    teller.recovery = None if state._recovery is None else state._recovery.copy()
    teller.error = state.error
    teller.is_over = state.is_over
    teller.go_on(_fork_frames(state), state._string_wanted)
    if watch is not old.watch:
        teller.listen_anew()
    return teller


def _fork_frames(state: EventState) -> list[Frame]:
    """Copy the open containers, outermost first, as the state saw them."""
    old = chain(state._top)
    frames: list[Frame] = []
    parent: Frame | None = None
    for i in range(len(old) - 1):
        inner = old[i + 1]
        parent = old[i].fork(inner.index, inner.own_key, parent)
        frames.append(parent)
    frames.append(old[-1].fork(state._count, state._key, parent))
    return frames
