"""What encoders do with the events of a message, whatever their protocol is.

Where a structured answer is shown as a value, `drop_answer_text` leaves out its text; a text that turns out not to be a
valid answer is sent at the end, whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar, cast

from jsontide.messages.message import Message
from jsontide.messages.parts import TextPart
from jsontide.messages.progress import (
    CallFailed,
    Finished,
    GrowingDelta,
    MessageEvent,
    Progress,
    TextDelta,
    TextFinished,
    TextStarted,
    make_id,
)
from jsontide.messages.types import ErrorKind

Hidden: TypeAlias = frozenset[int]
"""The indexes of text parts that are shown as a value."""
_Other = TypeVar("_Other")


def drop_answer_text(
    progress: Progress, events: Sequence[MessageEvent | _Other], hidden: Hidden, *, hides: bool, shows: bool
) -> tuple[list[MessageEvent | _Other], Hidden]:
    """Return the events without the text of the answer, and which parts are hidden then.

    `hides` says that a text which starts now is the answer; `shows`, that the end sends the hidden texts.
    """
    kept: list[MessageEvent | _Other] = []
    for event in events:
        if isinstance(event, TextStarted) and event.kind == "text" and hides:
            hidden |= {event.part}
        if isinstance(event, Finished) and shows:
            for index in sorted(hidden):
                kept += _whole_text(progress, index)
        if not isinstance(event, (TextStarted, GrowingDelta, TextFinished)) or event.part not in hidden:
            kept.append(event)
    return kept, hidden


def _whole_text(progress: Progress, index: int) -> list[MessageEvent]:
    part = cast("TextPart", cast("Message", progress.message).parts[index])
    text_id = make_id(progress.name, index)
    return [
        TextStarted(index, "text", text_id),
        TextDelta(index, part.text, text_id),
        TextFinished(index, "text", text_id),
    ]


def first_failed(events: Sequence[MessageEvent]) -> CallFailed | None:
    """Return the first call among events that must not be run."""
    return next((event for event in events if isinstance(event, CallFailed)), None)


def is_lost(message: Message) -> bool:
    """Return whether the connection to the provider failed."""
    return any(error.kind is ErrorKind.TRANSPORT for error in message.errors)
