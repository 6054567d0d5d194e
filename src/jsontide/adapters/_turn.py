"""What a client streams in, messages out: one assistant's turn as a pure step.

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
    from jsontide.messages import Message


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a turn stands; it never changes."""

    state: MessageState
    adapter: Adapter | None = None
    wire: WireState = Undecided()  # noqa: RUF009 - it never changes either


def take(turn: Turn, item: object) -> tuple[Turn, list[Message]]:
    """Return the turn after an item, and the message after each event in it that changed something."""
    if not isinstance(item, Chunk):
        return _take_events(turn, [item])
    wire, events = decode_wire(turn.wire, item)
    return _take_events(replace(turn, wire=wire), events)


def finish(turn: Turn) -> tuple[Turn, list[Message]]:
    """Return the turn after the end of the stream, and the last messages, the finished one included."""
    turn, messages = _take_events(turn, finish_wire(turn.wire))
    if turn.state.is_over:
        return turn, messages
    turn = replace(turn, state=finish_message(turn.state))
    return turn, [*messages, turn.state.message]


def fail(turn: Turn, error: BaseException) -> tuple[Turn, list[Message]]:
    """Return the turn after the stream failed, and the message as it is then."""
    if turn.state.is_over:
        return turn, []
    turn = replace(turn, state=fail_message(turn.state, error))
    return turn, [turn.state.message]


def _take_events(turn: Turn, events: list[object]) -> tuple[Turn, list[Message]]:
    messages = []
    for event in events:
        before, turn = turn, _take_event(turn, event)
        if turn.state is not before.state:
            messages.append(turn.state.message)
    return turn, messages


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
