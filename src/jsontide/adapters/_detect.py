"""An event in, the adapter that reads its stream out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

from jsontide.adapters._anthropic import anthropic_chunk
from jsontide.adapters._bedrock import EXCEPTIONS, bedrock_chunk
from jsontide.adapters._cohere import cohere_chunk
from jsontide.adapters._fields import field, has, items, text
from jsontide.adapters._gemini import GEMINI_START, GeminiMemory, gemini_chunk
from jsontide.adapters._gemini_interactions import gemini_interactions_chunk
from jsontide.adapters._ollama import ollama_chunk
from jsontide.adapters._openai_chat import openai_chat_chunk
from jsontide.adapters._openai_responses import openai_responses_chunk
from jsontide.adapters._openai_responses_text import Streamed, with_event
from jsontide.adapters._telling import delta_chunk, told_error
from jsontide.messages import CompletionChunk


class Adapter(Protocol):
    """Reads the events of one provider's stream; a value, which carries what it must remember."""

    @property
    def name(self) -> str:
        """Whose events it reads."""

    def read(self, event: object) -> tuple[Adapter, CompletionChunk | None]:
        """Return the adapter for the next event, and what this one says, `None` if that is nothing new."""


@dataclass(frozen=True, slots=True)
class Plain:
    """An adapter that has nothing to remember."""

    name: str
    convert: Callable[[object], CompletionChunk | None]

    def read(self, event: object) -> tuple[Plain, CompletionChunk | None]:
        return self, self.convert(event) or told_error(event)


@dataclass(frozen=True, slots=True)
class Gemini:
    """The adapter of Gemini's `generateContentStream`."""

    name: str = "gemini"
    memory: GeminiMemory = GEMINI_START

    def read(self, event: object) -> tuple[Gemini, CompletionChunk | None]:
        memory, chunk = gemini_chunk(self.memory, event)
        return (self if memory is self.memory else replace(self, memory=memory)), chunk or told_error(event)


@dataclass(frozen=True, slots=True)
class Responses:
    """The adapter of OpenAI Responses; it remembers what was streamed, to take what was not from what is repeated."""

    name: str = "openai-responses"
    streamed: Streamed = Streamed()  # noqa: RUF009 - it never changes either

    def read(self, event: object) -> tuple[Responses, CompletionChunk | None]:
        streamed, more = with_event(self.streamed, event)
        chunk = openai_responses_chunk(event) if more is None else delta_chunk(more)
        return (self if streamed is self.streamed else replace(self, streamed=streamed)), chunk or told_error(event)


_Rule: TypeAlias = tuple[Callable[[object], bool], Adapter]

_ANTHROPIC_TYPES: Final = ("message_start", "message_delta", "message_stop")
_COHERE_PARTS: Final = ("message-", "content-", "tool-plan-", "tool-call-", "citation-")
_BEDROCK_KEYS: Final = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop")


def _type(event: object) -> str:
    return text(event, "type") or ""


def _is_chat(event: object) -> bool:
    inner = field(event, "chunk") if _type(event) == "chunk" else event
    if isinstance(field(inner, "choices"), list | tuple):
        return True
    return not _type(inner) and has(field(inner, "error"), "message")


def _is_responses(event: object) -> bool:
    return _type(event).startswith("response.") or (_type(event) == "error" and has(event, "sequence_number", "param"))


def _is_anthropic(event: object) -> bool:
    kind = _type(event)
    return kind in _ANTHROPIC_TYPES or kind.startswith("content_block_") or kind == "error"


def _is_interactions(event: object) -> bool:
    return (text(event, "event_type") or _type(event)).startswith(("interaction.", "step."))


def _is_gemini(event: object) -> bool:
    return bool(items(event, "candidates")) or has(event, "promptFeedback", "usageMetadata", "prompt_feedback")


def _is_ollama(event: object) -> bool:
    return (has(event, "done") and has(event, "message")) or text(event, "error") is not None


_RULES: Final[tuple[_Rule, ...]] = (
    (_is_chat, Plain("openai-chat", openai_chat_chunk)),
    (_is_responses, Responses()),
    (_is_interactions, Plain("gemini-interactions", gemini_interactions_chunk)),
    (_is_anthropic, Plain("anthropic", anthropic_chunk)),
    (lambda event: _type(event).startswith(_COHERE_PARTS), Plain("cohere", cohere_chunk)),
    (_is_gemini, Gemini()),
    (lambda event: has(event, *_BEDROCK_KEYS, *EXCEPTIONS), Plain("bedrock", bedrock_chunk)),
    (_is_ollama, Plain("ollama", ollama_chunk)),
)
ADAPTERS: Final = {adapter.name: adapter for _, adapter in _RULES}
"""All adapters, by name."""


def detect(event: object) -> Adapter | None:
    """Return the adapter for a stream that has this event, `None` if the event does not tell.

    >>> detect({"type": "content_block_stop", "index": 0}).name
    'anthropic'
    >>> detect({"type": "new"})
    """
    return next((adapter for fits, adapter in _RULES if fits(event)), None)
