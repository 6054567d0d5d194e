"""Options in, the state before any text out.

Never compiled: what is wrong with an option is better said by its own checks than by those of compiled calls.
"""

from __future__ import annotations

from typing import Final

from jsontide.events._options import EventOptions, Strings
from jsontide.events._state import EventState
from jsontide.events._teller import Teller
from jsontide.events._watch import NOTHING_WATCHED
from jsontide.text import Limits
from jsontide.text._choices import Floats

DEFAULT_LIMITS: Final = Limits()


def create_event_state(  # noqa: PLR0913 - options, all by name
    *,
    documents: int | None = None,
    skip_errors: bool = False,
    updates: bool = True,
    keys: bool = True,
    strings: Strings = "both",
    values: bool = True,
    floats: Floats = "float",
    limits: Limits = DEFAULT_LIMITS,
) -> EventState:
    """Return the state before any text; the options are those of `JsonFragmentAccumulator`."""
    options = EventOptions(
        limits=limits,
        floats=floats,
        documents=documents,
        updates=updates,
        keys=keys,
        strings=strings,
        values=values,
        skips_errors=skip_errors,
    )
    return EventState(Teller(options, NOTHING_WATCHED), None)
