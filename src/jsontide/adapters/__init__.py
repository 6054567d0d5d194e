"""The edges: where streams come from, and the loops that drive the core, sync and async.

The part that reads messages is loaded on first use.
"""

from typing import TYPE_CHECKING

from jsontide._public import homes_of, lazily, publish
from jsontide.adapters._chunks import Chunk
from jsontide.adapters._drive import aloads, astates, avalues, loads, states, values
from jsontide.adapters._follow import aitems, astream, avalue, items, stream, value
from jsontide.adapters._snapshots import achunk_snapshots, chunk_snapshots

if TYPE_CHECKING:
    from jsontide.adapters._decoders import (
        NdjsonState,
        SseEvent,
        SseState,
        decode_ndjson,
        decode_sse,
        finish_ndjson,
    )
    from jsontide.adapters._models import astream_model, stream_model
    from jsontide.adapters._read.detect import PROVIDERS, detect
    from jsontide.adapters._read.turn import StreamState, finish_stream, reduce_item, start_stream
    from jsontide.adapters._requests.write import to_request, tool_definitions, why_not_strict
    from jsontide.adapters._run_tools import arun_tools, run_tools
    from jsontide.adapters._stream_message import (
        AsyncMessageStream,
        MessageStream,
        ReadingChoices,
        astream_message,
        stream_message,
    )
else:
    __getattr__ = lazily(
        __name__,
        homes_of(
            {
                "jsontide.adapters._decoders": (
                    "NdjsonState",
                    "SseEvent",
                    "SseState",
                    "decode_ndjson",
                    "decode_sse",
                    "finish_ndjson",
                ),
                "jsontide.adapters._models": ("astream_model", "stream_model"),
                "jsontide.adapters._read.detect": ("PROVIDERS", "detect"),
                "jsontide.adapters._read.turn": ("StreamState", "finish_stream", "reduce_item", "start_stream"),
                "jsontide.adapters._requests.write": ("to_request", "tool_definitions", "why_not_strict"),
                "jsontide.adapters._run_tools": ("arun_tools", "run_tools"),
                "jsontide.adapters._stream_message": (
                    "AsyncMessageStream",
                    "ReadingChoices",
                    "MessageStream",
                    "astream_message",
                    "stream_message",
                ),
            }
        ),
    )

__all__ = [
    "PROVIDERS",
    "AsyncMessageStream",
    "Chunk",
    "MessageStream",
    "NdjsonState",
    "ReadingChoices",
    "SseEvent",
    "SseState",
    "StreamState",
    "achunk_snapshots",
    "aitems",
    "aloads",
    "arun_tools",
    "astates",
    "astream",
    "astream_message",
    "astream_model",
    "avalue",
    "avalues",
    "chunk_snapshots",
    "decode_ndjson",
    "decode_sse",
    "detect",
    "finish_ndjson",
    "finish_stream",
    "items",
    "loads",
    "reduce_item",
    "run_tools",
    "start_stream",
    "states",
    "stream",
    "stream_message",
    "stream_model",
    "to_request",
    "tool_definitions",
    "value",
    "values",
    "why_not_strict",
]

publish(__name__, __all__, globals())
