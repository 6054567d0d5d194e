"""Text fragments in, updates out: what happens in a document, and where, while it streams."""

from jsontide._public import publish
from jsontide.events._accumulator import JsonFragmentAccumulator, Subscription
from jsontide.events._emitter import JsonFragmentUpdate
from jsontide.events._options import create_event_state
from jsontide.events._state import EventState, add_fragment, finalize
from jsontide.events._types import JsonFragmentError, JsonFragmentKind

__all__ = [
    "EventState",
    "JsonFragmentAccumulator",
    "JsonFragmentError",
    "JsonFragmentKind",
    "JsonFragmentUpdate",
    "Subscription",
    "add_fragment",
    "create_event_state",
    "finalize",
]

publish(__name__, __all__, globals())
