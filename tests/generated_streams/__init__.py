"""Streams of every provider, written from descriptions of what the model says.

`said` describes, a module for each provider writes, `compare` checks a message against its description.
All of it is made in memory, the same on every run.
"""

from types import ModuleType

from tests.generated_streams import (
    anthropic,
    bedrock,
    cohere,
    gemini,
    gemini_interactions,
    ollama,
    openai_chat,
    openai_responses,
)
from tests.generated_streams.said import Stream

WRITERS: tuple[ModuleType, ...] = (
    openai_chat,
    openai_responses,
    anthropic,
    bedrock,
    cohere,
    gemini,
    gemini_interactions,
    ollama,
)
STREAMS: dict[str, Stream] = {
    f"{stream.provider}/{stream.name}": stream for writer in WRITERS for stream in writer.STREAMS
}
