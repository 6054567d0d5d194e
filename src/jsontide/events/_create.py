"""Options in, the state before any text out.

Never compiled: what is wrong with an option is better said by its own checks than by those of compiled calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide._check import check_choice
from jsontide.events._emitter import EventEmitter
from jsontide.events._options import ON_ERROR, EventOptions
from jsontide.events._state import EventState
from jsontide.events._watch import NO_PATTERNS

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide.events._options import EventChoices, OnError


def create_event_state(*, skip_errors: bool = False, **options: Unpack[EventChoices]) -> EventState:
    """Return the state before any text; the options are those of `JsonFragmentAccumulator`.

    With `skip_errors`, what is no JSON is told and skipped; else nothing is read after it.
    """
    return EventState(EventEmitter(EventOptions(skips_errors=skip_errors, **options), NO_PATTERNS), None)


def begin(*, on_error: OnError = "event", **options: Unpack[EventChoices]) -> tuple[EventState, bool]:
    """Return the first state of an accumulator, and whether it raises errors."""
    check_choice("on_error", on_error, ON_ERROR)
    return create_event_state(skip_errors=on_error == "skip", **options), on_error == "raise"
