"""A state in, an emitter to continue with out.

An emitter is written only at its end. The newest state continues with its own; an older one, or one whose step was
interrupted, gets a fork: a copy of what it could see of the open containers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide.events._emitter import EventEmitter
from jsontide.events._frames import open_frames

if TYPE_CHECKING:
    from jsontide.events._frames import EventFrame
    from jsontide.events._patterns import PatternSet
    from jsontide.events._state import EventState


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
