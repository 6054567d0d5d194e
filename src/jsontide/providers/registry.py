"""All providers in one list: an event in, the reader of its stream out; a name in, what writes its requests out.

To read another provider, write its module and add a line here.
Rule: the first provider that an event fits reads the stream, so the order is that of detection.
"""

from __future__ import annotations

from typing import Any, Final

from jsontide.providers import (
    anthropic,
    bedrock,
    claude_agent,
    cohere,
    gemini,
    gemini_interactions,
    ollama,
    openai_chat,
    openai_responses,
)
from jsontide.providers.base import Provider, Reader, as_dict
from jsontide.providers.envelopes import EnvelopeReader, is_whole_envelope, name_foreign, open_envelope

_IN_ORDER: Final[list[Provider]] = [
    openai_chat.PROVIDER,
    openai_responses.PROVIDER,
    gemini_interactions.PROVIDER,
    anthropic.PROVIDER,
    cohere.PROVIDER,
    gemini.PROVIDER,
    bedrock.PROVIDER,
    ollama.PROVIDER,
    claude_agent.PROVIDER,
]
PROVIDERS: Final = tuple(dict.fromkeys([provider.name for provider in _IN_ORDER]))
"""The names of all providers whose streams are read."""
WITH_REQUESTS: Final = {provider.name: provider for provider in _IN_ORDER if provider.form is not None}
"""Those to which requests can be written."""
CLIENT_PACKAGES: Final = frozenset([name for provider in _IN_ORDER for name in provider.client_packages])
_EVENT_NAMES: Final = frozenset([name for provider in _IN_ORDER for name in provider.event_names])
_EVENT_PREFIXES: Final = tuple([prefix for provider in _IN_ORDER for prefix in provider.event_prefixes])


def find_reader(event: dict[str, Any]) -> Reader | None:
    """Return the reader for a stream that has this event, `None` if the event does not say."""
    for provider in _IN_ORDER:
        if provider.reader.fits(event):
            return provider.reader
    inside = open_envelope(event)
    inner = None if inside is None else find_reader(inside)
    return None if inner is None else EnvelopeReader(inner)


def split_whole(event: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events that a stream of a whole completion would have; the event itself if it is not one."""
    for provider in _IN_ORDER:
        events = provider.reader.split_whole(event)
        if events is not None:
            return events
    return [event]


def is_whole(event: object) -> bool:
    """Return whether this is a whole completion, as dict or SDK object."""
    fields = as_dict(event)
    return is_whole_envelope(fields) or any([provider.reader.split_whole(fields) is not None for provider in _IN_ORDER])


def is_provider_event(name: str) -> bool:
    """Return whether server-sent events of this name are those of a provider."""
    return name in _EVENT_NAMES or name.startswith(_EVENT_PREFIXES)


def detect(event: object) -> str | None:
    """Return the name of the provider whose stream has this event, `None` if the event does not say.

    >>> detect({"choices": [{"index": 0, "delta": {"content": "Hi"}}]})
    'openai_chat'
    >>> detect({"type": "new"})
    """
    fields = as_dict(event)
    reader = None if name_foreign(event, fields) else find_reader(fields)
    return None if reader is None else reader.name
