"""One module for each provider: its events in, notes on a message out; messages, results and tools in, requests out.

Everything here is loaded on first use.
"""

from typing import TYPE_CHECKING

from jsontide._public import homes_of, lazily

if TYPE_CHECKING:
    from jsontide.providers.decoders import NdjsonState, SseEvent, SseState, decode_ndjson, decode_sse, finish_ndjson
    from jsontide.providers.registry import PROVIDERS, detect
    from jsontide.providers.requests import to_request, tool_definitions, why_not_strict
    from jsontide.providers.stream_reader import StreamState, finish_stream, reduce_item, start_stream
else:
    __getattr__ = lazily(
        __name__,
        homes_of(
            {
                "jsontide.providers.decoders": (
                    "NdjsonState",
                    "SseEvent",
                    "SseState",
                    "decode_ndjson",
                    "decode_sse",
                    "finish_ndjson",
                ),
                "jsontide.providers.registry": ("PROVIDERS", "detect"),
                "jsontide.providers.requests": ("to_request", "tool_definitions", "why_not_strict"),
                "jsontide.providers.stream_reader": ("StreamState", "finish_stream", "reduce_item", "start_stream"),
            }
        ),
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
