"""The edges: where streams come from, and the loops that drive the core, sync and async."""

from jsontide.adapters._anthropic import anthropic_chunk
from jsontide.adapters._bedrock import bedrock_chunk
from jsontide.adapters._cohere import cohere_chunk
from jsontide.adapters._detect import ADAPTERS, Adapter, detect
from jsontide.adapters._drive import avalues, loads, values
from jsontide.adapters._follow import aitems, astream, avalue, items, stream, value
from jsontide.adapters._gemini import GeminiMemory, gemini_chunk
from jsontide.adapters._gemini_interactions import gemini_interactions_chunk
from jsontide.adapters._ndjson import NdjsonState, decode_ndjson, finish_ndjson
from jsontide.adapters._ollama import ollama_chunk
from jsontide.adapters._openai_chat import openai_chat_chunk
from jsontide.adapters._openai_responses import openai_responses_chunk
from jsontide.adapters._sse import SseEvent, SseState, decode_sse
from jsontide.adapters._stream_message import AsyncMessageStream, MessageStream, astream_message, stream_message

__all__ = [
    "ADAPTERS",
    "Adapter",
    "AsyncMessageStream",
    "GeminiMemory",
    "MessageStream",
    "NdjsonState",
    "SseEvent",
    "SseState",
    "aitems",
    "anthropic_chunk",
    "astream",
    "astream_message",
    "avalue",
    "avalues",
    "bedrock_chunk",
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
    "value",
    "values",
]
