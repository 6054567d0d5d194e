"""The edges: where streams come from, and the loops that drive the core, sync and async."""

from jsontide.adapters._drive import avalues, loads, values
from jsontide.adapters._follow import aitems, astream, avalue, items, stream, value
from jsontide.adapters._ndjson import NdjsonState, decode_ndjson, finish_ndjson
from jsontide.adapters._sse import SseEvent, SseState, decode_sse

__all__ = [
    "NdjsonState",
    "SseEvent",
    "SseState",
    "aitems",
    "astream",
    "avalue",
    "avalues",
    "decode_ndjson",
    "decode_sse",
    "finish_ndjson",
    "items",
    "loads",
    "stream",
    "value",
    "values",
]
