"""Text fragments in, updates out: what happens in a document, and where, while it streams."""

from jsontide._public import publish
from jsontide.events._accumulator import JsonFragmentAccumulator, Subscription
from jsontide.events._emitter import JsonFragmentUpdate
from jsontide.events._options import start_events
from jsontide.events._state import EventState, feed_events, finish_events
from jsontide.events._types import JsonFragmentError, JsonFragmentKind

__all__ = [
    "EventState",
    "JsonFragmentAccumulator",
    "JsonFragmentError",
    "JsonFragmentKind",
    "JsonFragmentUpdate",
    "Subscription",
    "feed_events",
    "finish_events",
    "start_events",
]

publish(__name__, __all__, globals())
