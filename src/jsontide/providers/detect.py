"""An event in, the reader of its stream out."""

from __future__ import annotations

from typing import Any, Final

from jsontide.providers.anthropic import AnthropicReader
from jsontide.providers.bedrock import BedrockReader
from jsontide.providers.claude_agent import AgentReader
from jsontide.providers.cohere import CohereReader
from jsontide.providers.envelopes import EnvelopeReader, is_whole_envelope, open_envelope
from jsontide.providers.fields import as_dict
from jsontide.providers.gemini import GeminiReader
from jsontide.providers.gemini_interactions import InteractionsReader
from jsontide.providers.ollama import OllamaReader
from jsontide.providers.openai_chat import ChatReader
from jsontide.providers.openai_responses import ResponsesReader
from jsontide.providers.reader import Reader

_IN_ORDER: Final[list[Reader]] = [
    ChatReader(),
    ResponsesReader(),
    InteractionsReader(),
    AnthropicReader(),
    CohereReader(),
    GeminiReader(),
    BedrockReader(),
    OllamaReader(),
    AgentReader(),
]
PROVIDERS: Final = tuple(dict.fromkeys([reader.name for reader in _IN_ORDER]))
"""The names of all providers whose streams are read."""


def find_reader(event: dict[str, Any]) -> Reader | None:
    """Return the reader for a stream that has this event, `None` if the event does not say."""
    for reader in _IN_ORDER:
        if reader.fits(event):
            return reader
    inside = open_envelope(event)
    inner = None if inside is None else find_reader(inside)
    return None if inner is None else EnvelopeReader(inner)


def split_whole(event: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events that a stream of a whole completion would have; the event itself if it is not one."""
    for reader in _IN_ORDER:
        events = reader.split_whole(event)
        if events is not None:
            return events
    return [event]


def is_whole(event: object) -> bool:
    """Return whether this is a whole completion, as dict or SDK object."""
    fields = as_dict(event)
    return is_whole_envelope(fields) or any([reader.split_whole(fields) is not None for reader in _IN_ORDER])


def detect(event: object) -> str | None:
    """Return the name of the provider whose stream has this event, `None` if the event does not say.

    >>> detect({"choices": [{"index": 0, "delta": {"content": "Hi"}}]})
    'openai_chat'
    >>> detect({"type": "new"})
    """
    reader = find_reader(as_dict(event))
    return None if reader is None else reader.name
