"""The edges: where streams come from, and the loops that drive the core, sync and async.

The part that reads messages is loaded on first use.
"""

from typing import TYPE_CHECKING

from jsontide._public import homes_of, lazily, publish
from jsontide.adapters._chunks import Chunk
from jsontide.adapters._drive import aloads, avalues, loads, values
from jsontide.adapters._follow import aitems, astream, avalue, items, stream, value
from jsontide.adapters._snapshots import achunk_snapshots, chunk_snapshots

if TYPE_CHECKING:
    from jsontide.adapters._anthropic import anthropic_chunk
    from jsontide.adapters._bedrock import bedrock_chunk
    from jsontide.adapters._cohere import cohere_chunk
    from jsontide.adapters._detect import ADAPTERS, Adapter, detect
    from jsontide.adapters._gemini import GeminiMemory, gemini_chunk
    from jsontide.adapters._gemini_interactions import gemini_interactions_chunk
    from jsontide.adapters._models import astream_model, stream_model
    from jsontide.adapters._ndjson import NdjsonState, decode_ndjson, finish_ndjson
    from jsontide.adapters._ollama import ollama_chunk
    from jsontide.adapters._openai_chat import openai_chat_chunk
    from jsontide.adapters._openai_responses import openai_responses_chunk
    from jsontide.adapters._sse import SseEvent, SseState, decode_sse
    from jsontide.adapters._stream_message import (
        AsyncMessageStream,
        MessageChoices,
        MessageStream,
        astream_message,
        stream_message,
    )
else:
    __getattr__ = lazily(
        __name__,
        homes_of(
            {
                "jsontide.adapters._anthropic": ("anthropic_chunk",),
                "jsontide.adapters._bedrock": ("bedrock_chunk",),
                "jsontide.adapters._cohere": ("cohere_chunk",),
                "jsontide.adapters._detect": ("ADAPTERS", "Adapter", "detect"),
                "jsontide.adapters._gemini": ("GeminiMemory", "gemini_chunk"),
                "jsontide.adapters._gemini_interactions": ("gemini_interactions_chunk",),
                "jsontide.adapters._models": ("astream_model", "stream_model"),
                "jsontide.adapters._ndjson": ("NdjsonState", "decode_ndjson", "finish_ndjson"),
                "jsontide.adapters._ollama": ("ollama_chunk",),
                "jsontide.adapters._openai_chat": ("openai_chat_chunk",),
                "jsontide.adapters._openai_responses": ("openai_responses_chunk",),
                "jsontide.adapters._sse": ("SseEvent", "SseState", "decode_sse"),
                "jsontide.adapters._stream_message": (
                    "AsyncMessageStream",
                    "MessageChoices",
                    "MessageStream",
                    "astream_message",
                    "stream_message",
                ),
            }
        ),
    )

__all__ = [
    "ADAPTERS",
    "Adapter",
    "AsyncMessageStream",
    "Chunk",
    "GeminiMemory",
    "MessageChoices",
    "MessageStream",
    "NdjsonState",
    "SseEvent",
    "SseState",
    "achunk_snapshots",
    "aitems",
    "aloads",
    "anthropic_chunk",
    "astream",
    "astream_message",
    "astream_model",
    "avalue",
    "avalues",
    "bedrock_chunk",
    "chunk_snapshots",
    "cohere_chunk",
    "decode_ndjson",
    "decode_sse",
    "detect",
    "finish_ndjson",
    "gemini_chunk",
    "gemini_interactions_chunk",
    "items",
    "loads",
    "ollama_chunk",
    "openai_chat_chunk",
    "openai_responses_chunk",
    "stream",
    "stream_message",
    "stream_model",
    "value",
    "values",
]

publish(__name__, __all__, globals())
