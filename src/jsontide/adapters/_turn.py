"""What a client streams in, the message after each event out: one assistant's turn in pure steps.

An item is an event of any provider, as dict or SDK object, a `CompletionChunk`, or raw bytes of the response.
The first event that is recognised decides whose stream it is.

Rule: a stream of which something is damaged or lost does not end as if all had come.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Final

from jsontide.adapters._chunks import Chunk
from jsontide.adapters._detect import Adapter, detect
from jsontide.adapters._whole import events_of
from jsontide.adapters._wire import DONE, SHOWN, Damage, WireState, beginning, decode_wire, finish_wire
from jsontide.messages import (
    CompletionChunk,
    MessageState,
    fail_message,
    finish_message,
    reduce_chunk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOTHING: Final = "no event of a known provider was recognised; the stream begins with {}"


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a turn stands; it never changes."""

    state: MessageState
    adapter: Adapter | None = None
    wire: WireState = WireState()  # noqa: RUF009 - it never changes either
    is_known: bool = False
    """Whether an event was recognised; before that, the next two are kept."""
    begun: str = ""
    """What came first, if that is no text."""
    damage: str | None = None
    """What was damaged in it; the stream may be none of events."""


def take(turn: Turn, item: object) -> Iterator[Turn]:
    """Yield the turn after each event in an item: what one of them raises takes nothing from those before it."""
    if not isinstance(item, Chunk):
        yield _take_event(turn, item)
        return
    wire, events = decode_wire(turn.wire, item)
    turn = replace(turn, wire=wire)
    yield turn
    for event in events:
        turn = _take_event(turn, event)
        yield turn


def finish(turn: Turn) -> Iterator[Turn]:
    """Yield the turn after each event that the end of the stream completes, and after the end."""
    for event in finish_wire(turn.wire):
        turn = _take_event(turn, event)
        yield turn
    yield _end(turn)


def fail(turn: Turn, error: BaseException | str) -> Iterator[Turn]:
    """Yield the turn after the stream failed."""
    yield _fail(turn, error)


def _fail(turn: Turn, error: BaseException | str) -> Turn:
    return replace(turn, state=fail_message(turn.state, error))


def _end(turn: Turn) -> Turn:
    begun = turn.wire.begun if turn.wire.begun.strip() else turn.begun
    if turn.is_known or not begun:
        return replace(turn, state=finish_message(turn.state))
    return _fail(turn, _NOTHING.format(beginning(begun)))


_SHORT: Final = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = SHOWN


def _take_event(turn: Turn, event: object) -> Turn:
    if event is DONE:
        return _end(turn)
    if isinstance(event, Damage):
        return _fail(turn, event.said) if turn.is_known else replace(turn, damage=turn.damage or event.said)
    if isinstance(event, CompletionChunk):
        return replace(turn, state=reduce_chunk(turn.state, event), is_known=True)
    if turn.adapter is None:
        return _take_first(turn, event)
    adapter, chunk = turn.adapter.read(event)
    state = turn.state if chunk is None else reduce_chunk(turn.state, chunk)
    # Spelled out: this is what every event costs.
    return Turn(state, adapter, turn.wire, is_known=True)


def _take_first(turn: Turn, event: object) -> Turn:
    """Find out whose stream it is; a whole completion is taken as one event."""
    events = events_of(event) or [event]
    adapter = detect(events[0])
    if adapter is None:
        return turn if turn.begun else replace(turn, begun=_SHORT.repr(event))
    known = Turn(turn.state, adapter, turn.wire, is_known=True)
    return _fail(known, turn.damage) if turn.damage else reduce(_take_event, events, known)
