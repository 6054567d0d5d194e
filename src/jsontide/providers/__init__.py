"""One module for each provider: its events in, notes on a message out; messages, results and tools in, requests out.

Everything here is loaded on first use.
"""

from typing import TYPE_CHECKING

from jsontide._public import lazily

if TYPE_CHECKING:
    from jsontide.providers.decoders import NdjsonState, SseEvent, SseState, decode_ndjson, decode_sse, finish_ndjson
    from jsontide.providers.registry import PROVIDERS, detect
    from jsontide.providers.requests import to_request, tool_definitions, why_not_strict
    from jsontide.providers.stream_reader import StreamState, finish_stream, reduce_item, start_stream
else:
    __getattr__ = lazily(
        __name__,
        "jsontide.providers.requests",
        "jsontide.providers.decoders",
        "jsontide.providers.registry",
        "jsontide.providers.stream_reader",
    )

__all__ = [
    "PROVIDERS",
    "NdjsonState",
    "SseEvent",
    "SseState",
    "StreamState",
    "decode_ndjson",
    "decode_sse",
    "detect",
    "finish_ndjson",
    "finish_stream",
    "reduce_item",
    "start_stream",
    "to_request",
    "tool_definitions",
    "why_not_strict",
]
