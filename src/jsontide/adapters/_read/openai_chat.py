"""OpenAI Chat Completions, and the many servers that speak it, old text completions included.

In: a chunk as dict or SDK object. Out: notes on a draft, whatever is odd about the chunk.
"""

from __future__ import annotations

from typing import Any, Final

from jsontide._values import JsonValue
from jsontide.adapters._read.chat_calls import close_custom_calls, read_call, read_function_call
from jsontide.adapters._read.chat_parts import (
    keep_metadata,
    read_annotations,
    read_audio,
    read_images,
    read_parts,
    read_reasoning,
    read_reasoning_details,
    read_sources,
)
from jsontide.adapters._read.fields import as_dict, count_of, created_of, dict_of, integer_of, list_of, plain, text_of
from jsontide.adapters._read.reader import ANOTHER, Reader, read_error
from jsontide.messages.draft import NO_INDEX, NO_KEY, Draft
from jsontide.messages.types import Usage

_REASONS: Final = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "complete": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "function_call": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "insufficient_system_resource": "length",
    "max_output_tokens": "length",
    "max_tokens": "length",
    "model_length": "length",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "recitation": "content_filter",
    "safety": "content_filter",
    "spii": "content_filter",
    "malformed_function_call": "malformed",
    "abort": "error",
    "cancelled": "error",
    "timeout": "error",
}
"""In lower case; most are words of others, which servers put into this form as they are."""
_FILTER: Final = "content_filter"
_NORMAL: Final = ("stop", "tool_calls")
_READ: Final = frozenset(("choices", "created", "error", "id", "model", "object", "obfuscation", "usage"))
"""The fields of a chunk that are read, or say nothing; all others are kept as they are."""
_SOURCES: Final = ("citations", "search_results")
_SAYS: Final = (
    "audio",
    "content",
    "function_call",
    "images",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "refusal",
    "tool_calls",
)
_REASONING: Final = ("reasoning", "reasoning_content", "reasoning_details")
_HELPER: Final = ("content.", "refusal.", "tool_calls.", "logprobs.")
"""How the types begin of the events that the helper of the SDK adds to chunks, which they repeat."""


class ChatReader(Reader):
    """Reads chunks; some servers give each an id of its own, so another id says something only after the end."""

    __slots__ = ("ended",)

    def __init__(self, ended: str | None = None) -> None:
        self.ended: Final = ended
        """The id of the message that has ended."""

    @property
    def name(self) -> str:
        return "openai_chat"

    def _fields(self) -> tuple[object, ...]:
        return (self.ended,)

    def fits(self, event: dict[str, Any]) -> bool:
        inner = _unwrap(event)
        if isinstance(inner.get("choices"), (list, tuple)):
            return True
        return not text_of(inner, "type") and "message" in dict_of(inner, "error")

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        choices = [as_dict(choice) for choice in list_of(event, "choices")]
        if not choices or any([choice.get("message") is None or choice.get("delta") is not None for choice in choices]):
            return None
        return [{**event, "choices": [_as_chunk(choice) for choice in choices]}]

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        event = _unwrap(event)
        choices = list_of(event, "choices")
        # Beside an answer, an error that says nothing is none.
        if (not choices or event.get("error")) and read_error(draft, event):
            return self
        if not choices and "type" in event and _read_other(draft, event):
            return self
        if draft.provider is None or draft.id is None or draft.model is None:
            created = created_of(event.get("created")) or None  # Azure begins with empty fields
            draft.identify(text_of(event, "id"), text_of(event, "model"), created, self.name)
        _read_fields(draft, event)
        ended = self.ended
        for at, item in enumerate(choices):
            choice = as_dict(item)
            given = choice.get("index")
            index = at if given is None else given if type(given) is int else integer_of(choice, "index")
            if index == NO_INDEX:
                draft.fail("the index of a choice is not a number: which answer it is for is not known")
                return self
            if index == draft.choice:
                ended = self._read_choice(draft, choice, event)
        return self if ended is self.ended else ChatReader(ended)

    def _read_choice(self, draft: Draft, choice: dict[str, Any], event: dict[str, Any]) -> str | None:
        """Note what a choice says, and return the id of the message if it has ended."""
        delta = dict_of(choice, "delta")
        ended = self.ended
        if ended is not None and (text_of(event, "id") or ended) != ended and _says_something(choice, delta):
            draft.fail(ANOTHER)
            return ended
        reason: str | None = None
        for name, value in choice.items():
            if value is None or name == "index":
                continue
            if name == "delta":
                read_delta(draft, delta)
            elif name == "finish_reason":
                reason = text_of(choice, name)
            elif name == "text":
                draft.add_text(NO_KEY, text_of(choice, name) or "")
            else:
                _read_choice_field(draft, name, value, event)
        if reason:
            word = read_reason(reason)
            if word in _NORMAL:
                close_custom_calls(draft)
            draft.finish(word, reason)
            if ended is None:
                ended = text_of(event, "id")
        return ended


def _unwrap(event: dict[str, Any]) -> dict[str, Any]:
    """The helper of the SDK wraps chunks in events of its own."""
    kind = event.get("type")
    return event if kind is None or kind != "chunk" else dict_of(event, "chunk")


def _as_chunk(choice: dict[str, Any]) -> dict[str, Any]:
    """Return a choice of a whole completion as one of a chunk; a model reasons before it answers."""
    message = as_dict(choice["message"])
    # Their place tells the calls apart: an id may be missing.
    calls = [{**as_dict(call), "index": at} for at, call in enumerate(list_of(message, "tool_calls"))]
    rest = {name: value for name, value in choice.items() if name != "message"}
    reasoning = {name: message[name] for name in _REASONING if message.get(name) is not None}
    others = {name: value for name, value in message.items() if name != "parsed"}  # by the SDK, from the content
    return {**rest, "delta": {**reasoning, **others, "tool_calls": calls}}


def _read_other(draft: Draft, event: dict[str, Any]) -> bool:
    """Keep an event that is no chunk; return whether it is none."""
    kind = text_of(event, "type")
    if not kind or event.get("choices") is not None:
        return False
    if kind != "ping" and not kind.startswith(_HELPER):
        draft.extend_metadata("events", [plain(event)])
    return True


def _read_fields(draft: Draft, event: dict[str, Any]) -> None:
    """Note what a chunk says beside its choices."""
    for name, value in event.items():
        if name not in _READ and value is not None:
            _read_field(draft, name, value, event)
    usage = event.get("usage")
    if usage is not None:
        _set_usage(draft, usage)


def _read_field(draft: Draft, name: str, value: object, event: dict[str, Any]) -> None:
    """Note a field of a chunk that servers add to those of OpenAI."""
    if type(value) is str:
        draft.set_metadata(name, value)
    elif name in _SOURCES:
        read_sources(draft, name, value)
    elif name == "x_groq":
        fields = as_dict(value)
        if event.get("usage") is None:
            _set_usage(draft, fields.get("usage"))
        keep_metadata(draft, name, {inner: fields[inner] for inner in fields if inner != "usage"})
    else:
        keep_metadata(draft, name, value)


def _read_choice_field(draft: Draft, name: str, value: object, event: dict[str, Any]) -> None:
    if name == "logprobs":
        _read_logprobs(draft, value)
    elif name == "usage":  # as Moonshot sends it
        if event.get("usage") is None:
            _set_usage(draft, value)
    elif name == "error":
        if value:
            read_error(draft, {"error": value})
    elif name != "message":  # beside deltas, it is all of them so far
        keep_metadata(draft, name, value)


def read_delta(draft: Draft, delta: dict[str, Any]) -> None:
    """Note what is new in a message."""
    for name, value in delta.items():
        if value is None:
            continue
        if name == "content":
            if type(value) is str:
                draft.add_text(NO_KEY, value)
            else:
                read_parts(draft, value)
        elif name == "tool_calls":
            if isinstance(value, (list, tuple)):
                calls: list[object] = value if type(value) is list else list(value)
                for call in calls:
                    read_call(draft, as_dict(call))
        elif name == "role":
            draft.set_role(text_of(delta, name))
        else:
            _read_delta_field(draft, delta, name, value)
    annotations = delta.get("annotations")
    if annotations is not None:  # they are about the text, wherever they stand
        read_annotations(draft, annotations)


def _read_delta_field(draft: Draft, delta: dict[str, Any], name: str, value: object) -> None:
    if name == "reasoning_content" or name == "reasoning":
        read_reasoning(draft, delta, name)
    elif name == "refusal":
        draft.add_refusal(NO_KEY, text_of(delta, name) or "")
    elif name == "function_call":  # the form before there were several calls
        read_function_call(draft, as_dict(value))
    elif name == "reasoning_details":
        read_reasoning_details(draft, value)
    elif name == "audio":
        read_audio(draft, as_dict(value))
    elif name == "images":
        read_images(draft, value)
    elif isinstance(value, (list, tuple)):
        if name != "annotations":
            draft.extend_metadata(name, [plain(item) for item in value])
    elif name != "index":  # Mistral repeats that of the choice
        keep_metadata(draft, name, value)


def _says_something(choice: dict[str, Any], delta: dict[str, Any]) -> bool:
    return bool(choice.get("text")) or any([bool(delta.get(name)) for name in _SAYS])


def read_reason(said: str) -> str:
    """Some servers write a word large, or add what was filtered: `content_filter: SAFETY`."""
    word = said.lower()
    return _FILTER if word.startswith(_FILTER) else _REASONS.get(word, said)


def _read_logprobs(draft: Draft, logprobs: object) -> None:
    """Add to each of the lists: of content and refusal, or of tokens and offsets in old completions."""
    known = None if draft.metadata is None else draft.metadata.get("logprobs")
    lists: dict[str, Any] = dict(known) if isinstance(known, dict) else {}
    for name, values in as_dict(logprobs).items():
        if isinstance(values, (list, tuple)):
            lists[name] = [*lists.get(name, ()), *[plain(value) for value in values]]
        elif values is not None:
            lists[name] = plain(values)
    if lists:
        draft.set_metadata("logprobs", lists)


def _set_usage(draft: Draft, usage: object) -> None:
    """Note what a message cost so far; totals that a server sends with every chunk replace each other."""
    fields = as_dict(usage)
    if fields:
        draft.set_usage(_read_usage(fields, plain(usage)))


def _read_usage(usage: dict[str, Any], raw: JsonValue) -> Usage:
    """Return what a message cost."""
    prompt, completion = dict_of(usage, "prompt_tokens_details"), dict_of(usage, "completion_tokens_details")
    total, reasoning = count_of(usage, "total_tokens"), count_of(completion, "reasoning_tokens")
    if reasoning is None:
        reasoning = count_of(usage, "reasoning_tokens")  # Perplexity
    spent, said = count_of(usage, "prompt_tokens"), count_of(usage, "completion_tokens")
    if spent is not None and said is not None and reasoning and total == spent + said + reasoning:
        said += reasoning  # xAI counts them apart
    return Usage(
        input_tokens=spent,
        output_tokens=said,
        total_tokens=total,
        cached_tokens=_first_count(prompt, "cached_tokens", usage, "prompt_cache_hit_tokens", "cached_tokens"),
        cache_write_tokens=_first_count(prompt, "cache_write_tokens", prompt, "cache_creation_input_tokens", ""),
        reasoning_tokens=reasoning,
        raw=raw if isinstance(raw, dict) else {},
    )


def _first_count(
    fields: dict[str, Any], name: str, others: dict[str, Any], other_name: str, last_name: str
) -> int | None:
    """Return the first of three figures that a server gives: OpenAI, DeepSeek and Moonshot name them differently."""
    found = count_of(fields, name)
    if found is None:
        found = count_of(others, other_name)
    return count_of(others, last_name) if found is None else found
