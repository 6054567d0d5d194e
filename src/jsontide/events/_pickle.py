"""An event state in, plain data out, and back: the contents of a pickle.

The data is flat and plain, so that it fits both builds and documents of any depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsontide._flatten import flatten, unflatten
from jsontide.events._emitter import EventEmitter, EventFrame, Recovery, fork, open_frames
from jsontide.events.patterns import PatternSet
from jsontide.text.scanner import Skip, set_position

if TYPE_CHECKING:
    from jsontide._errors import ParserError
    from jsontide._pattern import Pattern
    from jsontide.events._options import EventOptions
    from jsontide.events._state import EventState
    from jsontide.text.scanner import PlainPosition
    from jsontide.text.utf8 import ByteSource


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameDump:
    """An open container."""

    is_object: bool
    after: int
    start: int
    own_key: str | None
    index: int
    count: int
    key: str | None
    items: list[object] | None  # flat
    keys: list[str] | None
    wanted: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryDump:
    """What is being skipped."""

    error: ParserError
    shown: str
    closer: str
    in_string: bool
    is_escaped: bool
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDump:
    """Everything that a state can see."""

    options: EventOptions
    patterns: tuple[tuple[int, Pattern, bool], ...]
    source: ByteSource | None
    position: PlainPosition
    string_wanted: tuple[int, ...]
    error_count: int
    frames: tuple[FrameDump, ...]
    recovery: RecoveryDump | None
    error: ParserError | None


def dump(state: EventState) -> EventDump:
    """Return everything that a state can see."""
    pattern_set = state._emitter.pattern_set
    copy = fork(state, pattern_set)
    return EventDump(
        options=copy.options,
        patterns=tuple(
            (number, pattern, pattern_set.deltas[number]) for number, pattern in pattern_set.patterns.items()
        ),
        source=state._source,
        position=state.to_tuple(),
        string_wanted=copy.string_wanted,
        error_count=copy.error_count,
        frames=tuple(map(_dump_frame, open_frames(copy.top))),
        recovery=None if copy.recovery is None else _dump_recovery(copy.recovery),
        error=copy.error,
    )


def _dump_frame(frame: EventFrame) -> FrameDump:
    return FrameDump(
        is_object=frame.is_object,
        after=frame.after,
        start=frame.start,
        own_key=frame.own_key,
        index=frame.index,
        count=frame.count,
        key=frame.key,
        items=None if frame.items is None else flatten(frame.items),
        keys=frame.keys,
        wanted=frame.wanted,
    )


def _dump_recovery(recovery: Recovery) -> RecoveryDump:
    skip = recovery.skip
    return RecoveryDump(
        error=recovery.error,
        shown=recovery.shown,
        closer=skip.closer,
        in_string=skip.in_string,
        is_escaped=skip.is_escaped,
        depth=skip.depth,
    )


def load(dumped: EventDump) -> EventEmitter:
    """Return an emitter at the position of the state."""
    pattern_set = PatternSet()
    for number, pattern, deltas in dumped.patterns:
        pattern_set.add(number, pattern, deltas)
    emitter = EventEmitter(dumped.options, pattern_set)
    set_position(emitter, dumped.position)
    emitter.error_count = dumped.error_count
    emitter.recovery = None if dumped.recovery is None else _load_recovery(dumped.recovery)
    emitter.error = dumped.error
    emitter.is_over = dumped.error is not None
    emitter.resume(_load_frames(dumped.frames, pattern_set), dumped.string_wanted)
    return emitter


def _load_frames(dumps: tuple[FrameDump, ...], pattern_set: PatternSet) -> list[EventFrame]:
    frames: list[EventFrame] = []
    for dumped in dumps:
        frame = EventFrame(frames[-1] if frames else None, dumped.is_object, dumped.after, dumped.start)
        frame.own_key = dumped.own_key
        frame.index = dumped.index
        frame.count = dumped.count
        frame.key = dumped.key
        frame.items = None if dumped.items is None else unflatten(dumped.items)
        frame.keys = dumped.keys
        frame.wanted = dumped.wanted
        frame.find_pattern_state(pattern_set)
        frames.append(frame)
    return frames


def _load_recovery(dumped: RecoveryDump) -> Recovery:
    skip = Skip(dumped.closer, dumped.in_string)
    skip.is_escaped = dumped.is_escaped
    skip.depth = dumped.depth
    return Recovery(dumped.error, skip, dumped.shown)
