"""Recordings of real streams, an extra beside the streams that are written here: what a person reads off each.

The laws that hold for every stream are in `test_contract`, which these go through too.
"""

import json
from collections.abc import Callable, Iterable
from functools import cache, reduce
from typing import Any

import pytest

from jsontide.messages import CompleteCall, Message, Outcome, Usage
from jsontide.providers import feed_stream, finish_stream, start_stream, to_request
from tests.recorded_streams import TURNS, Event, all_events, events, every_recording, reading
from tests.relations import same
from tests.shared_data import in_data

pytestmark = in_data("provider-streams")

OUTCOMES = {
    "stop": Outcome.COMPLETE,
    "tool_calls": Outcome.COMPLETE,
    "length": Outcome.TRUNCATED,
    "refusal": Outcome.REFUSED,
}


def message_of(told: list[Event]) -> Any:
    return finish_stream(reduce(feed_stream, told, start_stream())).message


@cache
def final(name: str) -> Any:
    return message_of(events(name))


@every_recording
def test_a_recording_says_what_a_person_reads_off_it(name: str) -> None:
    message, expected = final(name), reading(name)
    assert message.content == expected.text
    assert message.reasoning == expected.reasoning
    assert message.finish_reason == expected.reason
    assert [(call.id, call.name) for call in message.tool_calls] == [(call.id, call.name) for call in expected.calls]
    for call, other in zip(message.tool_calls, expected.calls, strict=True):
        assert isinstance(call, CompleteCall)
        assert same(call.arguments_value, other.value)
        assert same(json.loads(call.arguments), other.value)
    is_empty = not (expected.text or expected.calls or expected.has_items) and expected.reason == "stop"
    assert message.outcome is (Outcome.EMPTY if is_empty else OUTCOMES[str(expected.reason)])
    assert not message.errors


@pytest.mark.parametrize("file", [file for file, turns in TURNS.items() if len(turns) > 1] or [""])
def test_turns_in_one_stream_are_not_one_message(file: str) -> None:
    message, first = message_of(all_events(file)), message_of(TURNS[file][0])
    assert message.content == first.content
    assert [call.arguments for call in message.tool_calls] == [call.arguments for call in first.tool_calls]
    assert not any(isinstance(call, CompleteCall) for call in message.tool_calls)
    assert (message.outcome, message.errors[0].source) == (Outcome.TRUNCATED, "stream")


# Usage.


def merged(told: Iterable[Event | None]) -> Event:
    """Fields that were told, each with its last value."""
    return reduce(lambda all_of_it, one: {**all_of_it, **(one or {})}, told, {})


def chat_usage(told: list[Event]) -> Usage:
    raw = merged(event.get("usage") or (event.get("x_groq") or {}).get("usage") for event in told)
    if not raw:
        return Usage()
    prompt, completion = raw.get("prompt_tokens_details") or {}, raw.get("completion_tokens_details") or {}
    reasoning = completion.get("reasoning_tokens", raw.get("reasoning_tokens"))
    given, written, total = raw["prompt_tokens"], raw["completion_tokens"], raw["total_tokens"]
    # xAI does not count what was thought as written, but counts it in the total.
    assert total - given - written in {0, reasoning}
    return Usage(
        input_tokens=given,
        output_tokens=total - given,
        total_tokens=total,
        cached_tokens=prompt.get("cached_tokens", raw.get("prompt_cache_hit_tokens", raw.get("cached_tokens"))),
        reasoning_tokens=reasoning,
    )


def responses_usage(told: list[Event]) -> Usage:
    (raw,) = (event["response"]["usage"] for event in told if event["type"] == "response.completed")
    return Usage(
        input_tokens=raw["input_tokens"],
        output_tokens=raw["output_tokens"],
        total_tokens=raw["total_tokens"],
        cached_tokens=raw["input_tokens_details"]["cached_tokens"],
        cache_write_tokens=raw["input_tokens_details"].get("cache_write_tokens"),
        reasoning_tokens=raw["output_tokens_details"]["reasoning_tokens"],
    )


def anthropic_usage(told: list[Event]) -> Usage:
    """Input without what was cached; `message_delta` has the totals, some fields only `message_start`."""
    raw = merged(event.get("usage") or event.get("message", {}).get("usage") for event in told)
    cached, written = raw.get("cache_read_input_tokens"), raw.get("cache_creation_input_tokens")
    given = raw["input_tokens"] + (cached or 0) + (written or 0)
    return Usage(
        input_tokens=given,
        output_tokens=raw["output_tokens"],
        total_tokens=given + raw["output_tokens"],
        cached_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=(raw.get("output_tokens_details") or {}).get("thinking_tokens"),
    )


def bedrock_usage(told: list[Event]) -> Usage:
    raw = merged(event.get("metadata", {}).get("usage") for event in told)
    if not raw:
        return Usage()
    cached, written = raw.get("cacheReadInputTokens"), raw.get("cacheWriteInputTokens")
    return Usage(
        input_tokens=raw["inputTokens"] + (cached or 0) + (written or 0),
        output_tokens=raw["outputTokens"],
        total_tokens=raw["totalTokens"],
        cached_tokens=cached,
        cache_write_tokens=written,
    )


def cohere_usage(told: list[Event]) -> Usage:
    (raw,) = (event["delta"]["usage"] for event in told if event["type"] == "message-end")
    tokens = raw["tokens"]
    return Usage(
        input_tokens=int(tokens["input_tokens"]),
        output_tokens=int(tokens["output_tokens"]),
        total_tokens=int(tokens["input_tokens"] + tokens["output_tokens"]),
        cached_tokens=raw.get("cached_tokens"),
    )


def gemini_usage(told: list[Event]) -> Usage:
    """Output is what was written and what was thought."""
    raw = merged(event.get("usageMetadata") for event in told)
    return Usage(
        input_tokens=raw["promptTokenCount"],
        output_tokens=raw["candidatesTokenCount"] + raw.get("thoughtsTokenCount", 0),
        total_tokens=raw["totalTokenCount"],
        cached_tokens=raw.get("cachedContentTokenCount"),
        reasoning_tokens=raw.get("thoughtsTokenCount"),
    )


def interactions_usage(told: list[Event]) -> Usage:
    (raw,) = (event["interaction"]["usage"] for event in told if event["event_type"] == "interaction.completed")
    return Usage(
        input_tokens=raw["total_input_tokens"] + raw.get("total_tool_use_tokens", 0),
        output_tokens=raw["total_output_tokens"] + raw.get("total_thought_tokens", 0),
        total_tokens=raw["total_tokens"],
        cached_tokens=raw.get("total_cached_tokens"),
        reasoning_tokens=raw.get("total_thought_tokens"),
    )


USAGES: dict[str, Callable[[list[Event]], Usage]] = {
    "openai_chat": chat_usage,
    "openai_responses": responses_usage,
    "anthropic": anthropic_usage,
    "bedrock": bedrock_usage,
    "cohere": cohere_usage,
    "gemini": gemini_usage,
    "gemini_interactions": interactions_usage,
}
FIGURES = ("input_tokens", "output_tokens", "total_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")


@every_recording
def test_the_final_usage_is_what_the_provider_says_at_last(name: str) -> None:
    message = final(name)
    expected = USAGES[str(message.provider)](events(name))
    if expected == Usage():
        assert message.usage is None
        return
    assert message.usage is not None
    shown = {figure: getattr(message.usage, figure) for figure in FIGURES}
    assert shown == {figure: getattr(expected, figure) for figure in FIGURES}
    assert message.usage.raw
    if expected.total_tokens is not None:
        assert expected.total_tokens == (expected.input_tokens or 0) + (expected.output_tokens or 0)


# Back into a request.


def anthropic_request(told: list[Event]) -> list[Event]:
    blocks = anthropic_blocks(told)
    return [{"role": "assistant", "content": blocks}] if blocks else []


def anthropic_blocks(told: list[Event]) -> list[Event]:
    """The blocks that a person reads off the events."""
    blocks: dict[int, Event] = {}
    inputs: dict[int, str] = {}
    for event in told:
        if event["type"] == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event["type"] == "content_block_delta":
            block, said = blocks[event["index"]], event["delta"]
            for name in ("text", "thinking", "signature"):
                if name in said:
                    block[name] += said[name]
            if "partial_json" in said:
                inputs[event["index"]] = inputs.get(event["index"], "") + said["partial_json"]
    for index, text in inputs.items():
        blocks[index]["input"] = json.loads(text or "{}")
    return [block for _, block in sorted(blocks.items())]


def bedrock_request(told: list[Event]) -> list[Event]:
    return [{"role": "assistant", "content": bedrock_blocks(told)}]


def bedrock_blocks(told: list[Event]) -> list[Event]:
    """The blocks that a person reads off the events, as a request has them."""
    tools: dict[int, Event] = {}
    texts: dict[tuple[int, str], str] = {}
    for event in told:
        started, grown = event.get("contentBlockStart"), event.get("contentBlockDelta")
        if started:
            tools[started["contentBlockIndex"]] = started["start"]["toolUse"]
        if grown:
            said = grown["delta"]
            said = said.get("reasoningContent") or said.get("toolUse") or {"plain": said.get("text")}
            for name, piece in said.items():
                key = (grown["contentBlockIndex"], name)
                texts[key] = texts.get(key, "") + piece
    blocks: dict[int, Event] = {}
    for (index, name), text in texts.items():
        if name == "plain":
            blocks[index] = {"text": text}
        elif name == "input":
            blocks[index] = {"toolUse": {**tools[index], "input": json.loads(text)}}
        elif name == "text":
            signed = {"text": text, "signature": texts[index, "signature"]}
            blocks[index] = {"reasoningContent": {"reasoningText": signed}}
    return [block for _, block in sorted(blocks.items())]


def interaction_steps(told: list[Event]) -> list[Event]:
    """The steps of a recording, each with all that its deltas brought."""
    steps: dict[int, Event] = {}
    for event in told:
        if "step" in event:
            steps[event["index"]] = {**event["step"]}
        step, said = steps.get(event.get("index", -1), {}), event.get("delta", {})
        for name, value in said.items():
            if said["type"] in {"text", "text_annotation_delta"} and name != "type":
                content = step.setdefault("content", [{"type": "text"}])[0]
                content[name] = content.get(name, type(value)()) + value
            elif name != "type":
                step[name] = value
    return [*steps.values()]


def without_nothing(item: Event) -> Event:
    """An item without fields that say nothing, and without log probabilities, which no request takes."""
    kept = {key: value for key, value in item.items() if value is not None}
    if item["type"] == "message":
        kept["content"] = [{key: part[key] for key in part if key != "logprobs"} for part in item["content"]]
    if not kept.get("content", True):
        del kept["content"]
    return kept


def chat_request(told: list[Event]) -> list[Event]:
    calls: dict[int, Event] = {}
    text = ""
    for choice in (choice for event in told for choice in event["choices"]):
        delta = choice.get("delta", {})
        text += delta.get("content") or choice.get("text") or ""
        for call in delta.get("tool_calls", []):
            known = calls.setdefault(call["index"], {"type": "function", "id": call.get("id"), "function": {}})
            for field in ("name", "arguments"):
                known["function"][field] = known["function"].get(field, "") + (call["function"].get(field) or "")
    item: Event = {"role": "assistant", "content": text or None}
    return [{**item, "tool_calls": [*calls.values()]} if calls else item]


def cohere_request(told: list[Event]) -> list[Event]:
    deltas = [event.get("delta", {}).get("message", {}) for event in told]
    item: Event = {"role": "assistant"}
    if plan := "".join(delta.get("tool_plan") or "" for delta in deltas):
        item["tool_plan"] = plan
    blocks = [delta["content"] for delta in deltas if isinstance(delta.get("content"), dict)]
    if text := "".join(block.get("text") or "" for block in blocks):
        item["content"] = [{"type": "text", "text": text}]
    calls = [delta["tool_calls"] for delta in deltas if isinstance(delta.get("tool_calls"), dict)]
    if calls:
        item["tool_calls"] = [
            {**one, "function": {**one["function"], "arguments": one["function"]["arguments"] or "{}"}} for one in calls
        ]
    return [item]


def responses_request(told: list[Event]) -> list[Event]:
    items = [event["item"] for event in told if event["type"] == "response.output_item.done"]
    return [without_nothing(item) for item in items]


REQUESTS: dict[str, Callable[[list[Event]], list[Event]]] = {
    "anthropic": anthropic_request,
    "bedrock": bedrock_request,
    "cohere": cohere_request,
    "gemini_interactions": interaction_steps,
    "openai_chat": chat_request,
    "openai_responses": responses_request,
}
"""What a person would send back; the parts of Gemini's are joined, and are read again below."""


@every_recording
def test_a_recording_goes_back_as_it_came(name: str) -> None:
    message = final(name)
    sent = to_request(message)
    assert to_request(Message.from_json(message.to_json())) == sent
    if message.provider == "gemini":
        ended = {"candidates": [{"content": sent[0], "finishReason": "STOP"}]}
        assert message_of([ended]).parts == message.parts
        return
    expected = REQUESTS[message.provider](events(name))
    assert ([without_nothing(item) for item in sent] if message.provider == "openai_responses" else sent) == expected
