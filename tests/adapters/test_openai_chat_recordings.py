"""Every recording of chat completions: an independent reading, nothing lost, and back into a request."""

import json
from typing import Any

import pytest

from jsontide.adapters import to_request
from jsontide.messages import CompleteCall, ReasoningPart, Source, TextPart, ToolResult
from tests.adapters.block_streams import (
    Event,
    check_law_nine_at_every_cut,
    check_law_three,
    check_saved,
    last,
    missing_leaves,
)
from tests.provider_streams import NAMES, all_events, events, needs_recordings

pytestmark = needs_recordings

CHAT = [name for name in NAMES if "choices" in events(name)[0]]
DROPPED = [
    ("chat.completion.chunk", "object"),
    ("chat.completion.chunk", "obfuscation"),
    ("chat.completion.chunk", "created"),
    ("chat.completion.chunk", "choices.*.index"),
    ("chat.completion.chunk", "choices.*.delta.index"),
    ("chat.completion.chunk", "choices.*.delta.tool_calls.*.index"),
    ("chat.completion.chunk", "choices.*.delta.tool_calls.*.type"),
    ("chat.completion.chunk", "usage"),
]
"""What is not in the message: what the type says, padding, places, and all times and totals but one."""


def find_usage(told: list[Event]) -> Event:
    *_, usage = (event["usage"] for event in told if event.get("usage"))
    return dict(usage)


def some(told: list[Event]) -> list[Event]:
    """The beginning and the end of a long recording."""
    return told if len(told) < 120 else [*told[:60], *told[-60:]]


@pytest.mark.parametrize("name", CHAT)
class TestEveryRecording:
    def test_parts_in_their_order(self, name: str) -> None:
        expected: list[tuple[type, str]] = []
        calls: dict[int, list[str]] = {}
        for event in events(name):
            if "citations" in event and not expected:
                expected += [(Source, url) for url in event["citations"]]
            for choice in event["choices"]:
                delta = choice.get("delta", {})
                thought = delta.get("reasoning_content") or delta.get("reasoning")
                said = delta.get("content") or choice.get("text")
                for kind, piece in ((ReasoningPart, thought), (TextPart, said)):
                    if piece and expected and expected[-1][0] is kind:
                        expected[-1] = (kind, expected[-1][1] + piece)
                    elif piece:
                        expected.append((kind, piece))
                for call in delta.get("tool_calls", []):
                    if call["index"] not in calls:
                        calls[call["index"]] = [call["id"], call["function"]["name"]]
                        expected.append((CompleteCall, ""))
        message = last(*events(name))
        found: list[Any] = [*message.parts]
        assert [type(part) for part in found] == [kind for kind, _ in expected]
        shown = [part.url if isinstance(part, Source) else getattr(part, "text", "") for part in found]
        assert shown == [text for _, text in expected]
        assert [[call.id, call.name] for call in message.tool_calls] == [*calls.values()]
        assert [part.index for part in found] == [*range(len(found))]
        assert not any(part.is_open for part in found)

    def test_usage_and_names(self, name: str) -> None:
        told = events(name)
        usage, message = find_usage(told), last(*told)
        assert message.usage is not None
        assert message.usage.raw == usage
        assert (message.usage.input_tokens, message.usage.total_tokens) == (
            usage["prompt_tokens"],
            usage["total_tokens"],
        )
        assert message.usage.output_tokens == usage["total_tokens"] - usage["prompt_tokens"]
        reasoning = usage.get("completion_tokens_details", {}).get("reasoning_tokens")
        cached = usage.get("prompt_tokens_details", {}).get("cached_tokens")
        assert (message.usage.reasoning_tokens, message.usage.cached_tokens) == (reasoning, cached)
        first = next(event for event in told if event["id"])
        assert (message.id, message.model, message.created) == (first["id"], first["model"], first["created"])
        assert (message.provider, message.role) == ("openai_chat", "assistant")

    def test_nothing_is_lost(self, name: str) -> None:
        message = last(*events(name))
        assert missing_leaves(events(name), message, lambda _: "chat.completion.chunk", DROPPED) == []

    def test_states_can_be_saved_anywhere(self, name: str) -> None:
        check_saved(some(events(name)))

    def test_laws_three_and_nine(self, name: str) -> None:
        told = some(events(name))
        check_law_three(told)
        check_law_nine_at_every_cut(told, lambda event: any(choice.get("finish_reason") for choice in event["choices"]))

    def test_objects_of_the_sdk_say_the_same(self, name: str) -> None:
        models = pytest.importorskip("openai._models", reason="the objects of the SDK are needed")
        chat = pytest.importorskip("openai.types.chat", reason="the objects of the SDK are needed")
        objects = [models.construct_type(type_=chat.ChatCompletionChunk, value=event) for event in some(events(name))]
        assert last(*objects) == last(*some(events(name)))

    def test_goes_back_into_a_request(self, name: str) -> None:
        message = last(*events(name))
        (item,) = json.loads(json.dumps(to_request(message)))
        text = "".join(
            (choice.get("delta", {}).get("content") or choice.get("text") or "")
            for event in events(name)
            for choice in event["choices"]
        )
        assert (item["role"], item["content"] or "") == ("assistant", text)
        calls: dict[int, Event] = {}
        for event in events(name):
            for choice in event["choices"]:
                for call in choice.get("delta", {}).get("tool_calls", []):
                    known = calls.setdefault(call["index"], {"type": "function", "id": call.get("id"), "function": {}})
                    for field in ("name", "arguments"):
                        piece = call["function"].get(field) or ""
                        known["function"][field] = known["function"].get(field, "") + piece
        assert item.get("tool_calls", []) == [*calls.values()]
        assert set(item) <= {"role", "content", "tool_calls"}
        results = to_request([ToolResult(call, {"ok": True}) for call in message.tool_calls], "openai_chat")
        assert results == [
            {"role": "tool", "tool_call_id": call["id"], "content": '{"ok":true}'} for call in calls.values()
        ]


def test_all_recordings_of_chat_are_here() -> None:
    folders = {name.partition("/")[0] for name in CHAT}
    assert folders == {
        "alibaba",
        "deepseek",
        "groq",
        "mistral",
        "moonshotai",
        "openai",
        "openai-compatible",
        "perplexity",
        "xai",
    }
    assert len(CHAT) == sum("choices" in all_events(name)[0] for name in NAMES if "#" not in name)
