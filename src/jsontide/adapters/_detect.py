"""An event in, the adapter that reads its stream out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from jsontide.adapters._anthropic import anthropic_chunk
from jsontide.adapters._bedrock import EXCEPTIONS, bedrock_chunk
from jsontide.adapters._cohere import cohere_chunk
from jsontide.adapters._fields import field, has, items, text
from jsontide.adapters._gemini import GEMINI_START, GeminiMemory, gemini_chunk
from jsontide.adapters._gemini_interactions import gemini_interactions_chunk
from jsontide.adapters._ollama import ollama_chunk
from jsontide.adapters._one_message import ById, ByStart
from jsontide.adapters._openai_chat import openai_chat_chunk
from jsontide.adapters._openai_responses import ResponsesMemory, read_responses
from jsontide.adapters._telling import told_error
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
        return (self if memory is self.memory else Gemini(self.name, memory)), chunk or told_error(event)


@dataclass(frozen=True, slots=True)
class Responses:
    """The adapter of OpenAI Responses."""

    name: str = "openai-responses"
    memory: ResponsesMemory = ResponsesMemory()  # noqa: RUF009 - it never changes either

    def read(self, event: object) -> tuple[Responses, CompletionChunk | None]:
        memory, chunk = read_responses(self.memory, event)
        return (self if memory is self.memory else Responses(self.name, memory)), chunk or told_error(event)


@dataclass(frozen=True, slots=True)
class OneMessage:
    """An adapter whose stream fails where another message begins in it."""

    inner: Adapter
    watch: ByStart | ById

    @property
    def name(self) -> str:
        return self.inner.name

    def read(self, event: object) -> tuple[OneMessage, CompletionChunk | None]:
        inner, chunk = self.inner.read(event)
        watch, chunk = self.watch.check(event, chunk)
        is_same = inner is self.inner and watch is self.watch
        return (self if is_same else OneMessage(inner, watch)), chunk


_Rule: TypeAlias = tuple[Callable[[object], bool], Adapter]

_ANTHROPIC_TYPES: Final = ("message_start", "message_delta", "message_stop")
_COHERE_PARTS: Final = ("message-", "content-", "tool-plan-", "tool-call-", "citation-")
_BEDROCK_KEYS: Final = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop")


def _type(event: object) -> str:
    return text(event, "type") or ""


def _in_helper(event: object) -> object:
    """The helper of OpenAI's SDK wraps chunks in events of its own."""
    return field(event, "chunk") if _type(event) == "chunk" else event


def _is_chat(event: object) -> bool:
    inner = _in_helper(event)
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


def _is_cohere(event: object) -> bool:
    return _type(event).startswith(_COHERE_PARTS)


def _is_bedrock(event: object) -> bool:
    return has(event, *_BEDROCK_KEYS, *EXCEPTIONS)


def _is_ollama(event: object) -> bool:
    return (has(event, "done") and has(event, "message")) or text(event, "error") is not None


def _chat_id(event: object) -> str | None:
    return text(_in_helper(event), "id")


def _gemini_id(event: object) -> str | None:
    return text(event, "responseId", "response_id")


def _response(event: object) -> object:
    return (field(event, "response") or event) if _type(event) == "response.created" else None


def _interaction(event: object) -> object:
    is_begun = text(event, "event_type", "type") == "interaction.created"
    return (field(event, "interaction") or event) if is_begun else None


def _anthropic_message(event: object) -> object:
    return (field(event, "message") or event) if _type(event) == "message_start" else None


def _cohere_message(event: object) -> object:
    return event if _type(event) == "message-start" else None


def _bedrock_message(event: object) -> object:
    return field(event, "messageStart")


_RULES: Final[tuple[_Rule, ...]] = (
    (_is_chat, OneMessage(Plain("openai-chat", openai_chat_chunk), ById(_chat_id))),
    (_is_responses, OneMessage(Responses(), ByStart(_response))),
    (_is_interactions, OneMessage(Plain("gemini-interactions", gemini_interactions_chunk), ByStart(_interaction))),
    (_is_anthropic, OneMessage(Plain("anthropic", anthropic_chunk), ByStart(_anthropic_message))),
    (_is_cohere, OneMessage(Plain("cohere", cohere_chunk), ByStart(_cohere_message))),
    (_is_gemini, OneMessage(Gemini(), ById(_gemini_id))),
    (_is_bedrock, OneMessage(Plain("bedrock", bedrock_chunk), ByStart(_bedrock_message))),
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
