"""A message that somebody stopped in the middle in, the same one cancelled out.

`stop_message` does it for the state of a message; here is only the message, as a source gave it.
Rule: nothing in a cancelled message can be run (law 9).
"""

from __future__ import annotations

from typing import cast

from jsontide._values import MISSING
from jsontide.messages import Message
from jsontide.messages.calls import BaseCall, CompleteCall, Part, PartialCall
from jsontide.messages.growth import answer_of, document_of, text_of
from jsontide.messages.record import replace
from jsontide.messages.types import Outcome


def cancel(message: Message[object]) -> Message[object]:
    """Return a message as it is when it was stopped; one that has ended stays as it is."""
    if message.outcome is not Outcome.STREAMING:
        return message
    parts = tuple([_cancel_part(part) for part in message.parts])
    answer = answer_of(message)
    shown = MISSING if answer is None else answer
    return replace(message, parts=parts, outcome=Outcome.CANCELLED, repairs=(), answer=shown)


def _cancel_part(part: Part) -> Part:
    if isinstance(part, CompleteCall | PartialCall):
        return _cancel_call(part)
    return cast("Part", part.close()) if part.is_open else part


def _cancel_call(call: BaseCall) -> PartialCall:
    document = document_of(call)
    return PartialCall(
        call.name,
        text_of(call),
        call.partial if document is None else document,
        Outcome.CANCELLED,
        None,
        call.id,
        call.index,
        is_open=False,
        item_id=call.item_id,
        extra=call.extra or None,
        repairs=() if document is not None else call.repairs,
    )
