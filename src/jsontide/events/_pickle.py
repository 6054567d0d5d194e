"""An event state in, plain data out, and back; interpreted, so that both builds pickle the same.

The data is flat and plain, so that it fits both builds and documents of any depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from jsontide._decode import ByteSource
from jsontide._errors import ParserError
from jsontide._pattern import Pattern
from jsontide._values import flatten, unflatten
from jsontide.events._emitter import EventEmitter, EventFrame, Recovery, fork, open_frames
from jsontide.events.patterns import PatternSet
from jsontide.text.scanner import set_position

if TYPE_CHECKING:
    from jsontide.events._options import EventOptions
    from jsontide.events._state import EventState
    from jsontide.text.scanner import PlainPosition


_FRAME_FIELDS: Final = ("is_object", "after", "start", "own_key", "index", "count", "key", "keys", "wanted")
"""What an open container is pickled by, beside its values, which are made flat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDump:
    """Everything that a state can see."""

    options: EventOptions
    patterns: tuple[tuple[int, Pattern, bool], ...]
    source: ByteSource | None
    position: PlainPosition
    string_wanted: tuple[int, ...]
    error_count: int
    frames: tuple[dict[str, Any], ...]  # by the names of fields, outermost first
    recovery: Recovery | None
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
        frames=tuple(
            {
                "items": None if frame.items is None else flatten(frame.items),
                **{name: getattr(frame, name) for name in _FRAME_FIELDS},
            }
            for frame in open_frames(copy.top)
        ),
        recovery=copy.recovery,
        error=copy.error,
    )


def load(dumped: EventDump) -> EventEmitter:
    """Return an emitter at the position of the state."""
    pattern_set = PatternSet()
    for number, pattern, deltas in dumped.patterns:
        pattern_set.add(number, pattern, deltas)
    emitter = EventEmitter(dumped.options, pattern_set)
    set_position(emitter, dumped.position)
    emitter.error_count = dumped.error_count
    emitter.recovery = dumped.recovery
    emitter.error = dumped.error
    emitter.is_over = dumped.error is not None
    emitter.resume(_load_frames(dumped.frames, pattern_set), dumped.string_wanted)
    return emitter


def _load_frames(dumps: tuple[dict[str, Any], ...], pattern_set: PatternSet) -> list[EventFrame]:
    frames: list[EventFrame] = []
    for fields in dumps:
        frame = EventFrame(frames[-1] if frames else None, fields["is_object"], fields["after"], fields["start"])
        for name in _FRAME_FIELDS:
            setattr(frame, name, fields[name])
        frame.items = None if fields["items"] is None else unflatten(fields["items"])
        frame.find_pattern_state(pattern_set)
        frames.append(frame)
    return frames
