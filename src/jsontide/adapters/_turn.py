"""What a client streams in, the message after each event out: one assistant's turn in pure steps.

An item is an event of any provider, as dict or SDK object, a `CompletionChunk`, or raw bytes of the response.
The first event that is recognised decides whose stream it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jsontide.adapters._chunks import Chunk
from jsontide.adapters._detect import Adapter, detect
from jsontide.adapters._wire import DONE, Undecided, WireState, decode_wire, finish_wire
from jsontide.messages import (
    CompletionChunk,
    MessageState,
    fail_message,
    finish_message,
    reduce_chunk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a turn stands; it never changes."""

    state: MessageState
    adapter: Adapter | None = None
    wire: WireState = Undecided()  # noqa: RUF009 - it never changes either


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
    yield replace(turn, state=finish_message(turn.state))


def fail(turn: Turn, error: BaseException) -> Iterator[Turn]:
    """Yield the turn after the stream failed."""
    yield replace(turn, state=fail_message(turn.state, error))


def _take_event(turn: Turn, event: object) -> Turn:
    if event is DONE:
        return replace(turn, state=finish_message(turn.state))
    if isinstance(event, CompletionChunk):
        return replace(turn, state=reduce_chunk(turn.state, event))
    adapter = turn.adapter or detect(event)
    if adapter is None:
        return turn
    adapter, chunk = adapter.read(event)
    state = turn.state if chunk is None else reduce_chunk(turn.state, chunk)
    # Spelled out: this is what every event costs.
    return Turn(state, adapter, turn.wire)
