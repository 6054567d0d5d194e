"""One module for each provider: its events in, notes on a message out; messages, results and tools in, requests out.

Everything here is loaded on first use.
"""

from typing import TYPE_CHECKING

from jsontide._public import lazily

if TYPE_CHECKING:
    from jsontide.providers.decoders import (
        NdjsonState,
        SseEvent,
        SseState,
        feed_ndjson,
        feed_sse,
        finish_ndjson,
        start_ndjson,
        start_sse,
    )
    from jsontide.providers.registry import PROVIDERS, detect
    from jsontide.providers.requests import answer_format, to_request, tool_definitions, why_not_strict
    from jsontide.providers.stream_reader import StreamState, feed_stream, finish_stream, start_stream
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
    "answer_format",
    "detect",
    "feed_ndjson",
    "feed_sse",
    "feed_stream",
    "finish_ndjson",
    "finish_stream",
    "start_ndjson",
    "start_sse",
    "start_stream",
    "to_request",
    "tool_definitions",
    "why_not_strict",
]
