"""Every recording of OpenAI Responses, Azure, xAI and LM Studio against an independent reading of its items."""

import json
import pickle
from copy import deepcopy
from functools import reduce
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from jsontide import MISSING
from jsontide.adapters import finish_stream, reduce_item, start_stream, stream_message
from jsontide.adapters._requests.openai_responses import FORM
from jsontide.messages import CompleteCall, Message, Outcome, Refusal, ServerCall, TextPart, ToolResult
from tests.adapters.client_types import adapter_of
from tests.provider_streams import NAMES, Event, events, needs_recordings

pytestmark = needs_recordings

RESPONSES = [name for name in NAMES if any(str(told.get("type")).startswith("response.") for told in events(name))]
every_recording = pytest.mark.parametrize("name", RESPONSES)


def read(name: str) -> Message:
    *_, message = stream_message(events(name))
    return message


def items(name: str) -> list[Event]:
    """The items of a turn as they were when they were done, in order."""
    return [told["item"] for told in events(name) if told["type"] == "response.output_item.done"]


def response(name: str) -> Event:
    (whole,) = (told["response"] for told in events(name) if told["type"] == "response.completed")
    return whole  # type: ignore[no-any-return]


def expected(item: Event) -> list[tuple[object, ...]]:
    """What a person reads off an item: the kinds of parts, their texts, ids, and what must be sent back."""
    item_id = item["id"]
    if item["type"] == "message":
        return [("text", item_id, item.get("phase"), part["text"], part["annotations"]) for part in item["content"]]
    if item["type"] == "reasoning":
        texts = [part["text"] for part in [*item["summary"], *item.get("content", [])]] or [""]
        encrypted = [item.get("encrypted_content"), *[None] * len(texts)]
        return [("reasoning", item_id, text, secret) for text, secret in zip(texts, encrypted, strict=False)]
    if item["type"] == "function_call":
        return [("call", item_id, item["call_id"], item["name"], json.loads(item["arguments"]), item.get("caller"))]
    if item["type"] == "custom_tool_call":
        return [("call", item_id, item["call_id"], item["name"], item["input"], None)]
    if item["type"] == "program_output":
        return [("other", item_id, item)]
    return [("server", item_id, item["type"], item.get("call_id", item_id), item.get("status"))]


def shown(part: Any) -> tuple[object, ...]:
    """The same of a part."""
    match part.__class__.__name__:
        case "TextPart":
            return (
                "text",
                part.item_id,
                part.extra.get("phase"),
                part.text,
                [dict(each.raw) for each in part.citations],
            )
        case "ReasoningPart":
            return ("reasoning", part.item_id, part.text, part.encrypted)
        case "CompleteCall":
            return ("call", part.item_id, part.id, part.name, part.arguments_value, part.extra.get("caller"))
        case "ServerCall":
            return ("server", part.item_id, part.type, part.id, part.status)
    return ("other", part.item_id, part.raw)


@every_recording
@pytest.mark.untraced
class TestEveryRecording:
    def test_has_the_parts_of_its_items_in_order(self, name: str) -> None:
        parts = [shown(part) for part in read(name).parts]
        assert parts == [part for item in items(name) for part in expected(item)]

    def test_says_what_it_is_and_what_it_cost(self, name: str) -> None:
        message, whole = read(name), response(name)
        assert (message.id, message.model, message.created) == (whole["id"], whole["model"], whole["created_at"])
        assert (message.provider, message.role, message.raw_finish_reason) == (
            "openai_responses",
            "assistant",
            "completed",
        )
        usage, told = message.usage, whole["usage"]
        assert usage is not None
        assert (usage.input_tokens, usage.output_tokens) == (told["input_tokens"], told["output_tokens"])
        assert usage.cached_tokens == told["input_tokens_details"]["cached_tokens"]
        assert usage.reasoning_tokens == told["output_tokens_details"]["reasoning_tokens"]
        assert (usage.total_tokens, usage.raw) == (told["total_tokens"], told)
        for field in ("service_tier", "completed_at", "content_filters", "tool_usage"):
            assert message.metadata.get(field) == whole.get(field)

    def test_what_the_provider_ran_has_its_results(self, name: str) -> None:
        for item, part in zip(items(name), read(name).parts, strict=False):
            if isinstance(part, ServerCall):
                told = item.get("outputs") or item.get("results") or item.get("output") or item.get("tools")
                told = told or item.get("action", {}).get("sources")
                assert part.result == (MISSING if told is None else told)
                waits = {"apply_patch_call", "local_shell_call", "shell_call", "tool_search_call"}
                assert part.needs_action == (item["type"] in waits)

    def test_is_a_value(self, name: str) -> None:
        message = read(name)
        assert Message.from_json(message.to_json()) == message
        assert pickle.loads(pickle.dumps(message)) == message  # noqa: S301 - our own

    def test_goes_on_from_a_saved_state(self, name: str) -> None:
        told = events(name)
        at = Random(name).randrange(len(told))
        state = reduce(reduce_item, told[:at], start_stream())
        loaded = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own
        assert loaded.reader == state.reader
        ended = finish_stream(reduce(reduce_item, told[at:], loaded))
        assert ended.message == read(name)

    def test_cut_anywhere_has_nothing_to_run(self, name: str) -> None:
        """Law 9, and law 3: what an event does not touch stays the same object."""
        state = start_stream()
        for told in events(name)[:-1]:
            after = reduce_item(state, told)
            message = finish_stream(after).message
            assert message.outcome is Outcome.TRUNCATED
            assert not any(isinstance(part, CompleteCall) for part in message.parts)
            before, now = state.message.parts, after.message.parts
            assert sum(one is not two for one, two in zip(before, now, strict=False)) <= 1
            assert len(now) >= len(before)
            state = after

    def test_text_grows_only(self, name: str) -> None:
        texts = [message.content for message in stream_message(events(name))]
        assert all(after.startswith(before) for before, after in pairwise(texts))

    def test_without_deltas_says_the_same(self, name: str) -> None:
        told = [each for each in events(name) if not each["type"].endswith(".delta")]
        *_, message = stream_message(told)
        assert message == read(name)

    def test_with_the_end_only_says_the_same_texts_and_calls(self, name: str) -> None:
        *_, message = stream_message([response(name)])
        full = read(name)
        assert (message.content, message.reasoning) == (full.content, full.reasoning)
        assert [(call.id, call.arguments) for call in message.tool_calls] == [
            (call.id, call.arguments) for call in full.tool_calls
        ]
        assert message.usage == full.usage


JUNK = [None, 5, -1, 10**30, True, 1.5, "", "x", [], [None], {}, {"a": 1}, "function_call", "message", "mcp_call"]


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all values inside one."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, child in inside for place in ((*way, key), *places(child, (*way, key)))]


def damaged(told: Event, random: Random) -> Event:
    """An event in which one value is missing, or another."""
    told = deepcopy(told)
    *way, key = random.choice(places(told))
    holder = reduce(lambda value, segment: value[segment], way, told)
    holder[key] = deepcopy(random.choice(JUNK))
    if random.random() < 0.3:
        del holder[key]
    return told


@every_recording
@pytest.mark.parametrize("seed", range(6))
def test_nothing_raises_on_damaged_events_and_all_can_be_saved_and_written(name: str, seed: int) -> None:
    random = Random(f"{name} {seed}")
    told = [each for each in events(name) if not each["type"].endswith(".delta") or random.random() < 0.2]
    told = [damaged(each, random) if random.random() < 0.2 else each for each in told]
    state = finish_stream(reduce(reduce_item, told, start_stream()))
    message: Any = state.message
    assert Message.from_json(message.to_json()) == message
    assert [part.index for part in message.parts] == list(range(len(message.parts)))
    FORM.write_message(message)
    FORM.write_results([ToolResult(call, "done") for call in message.tool_calls])
    known = {item.get("call_id") for item in items(name) if item["type"] in {"function_call", "custom_tool_call"}}
    for call in message.tool_calls:
        assert call.status is not Outcome.COMPLETE or call.id in known or call.id in {None, *map(str, JUNK)}


def without_nothing(item: Event) -> Event:
    """An item without fields that say nothing, and without log probabilities, which no request takes."""
    kept = {key: value for key, value in item.items() if value is not None}
    if item["type"] == "message":
        kept["content"] = [{key: part[key] for key in part if key != "logprobs"} for part in item["content"]]
    if not kept.get("content", True):
        del kept["content"]
    return kept


@every_recording
def test_what_is_written_back_is_what_came(name: str) -> None:
    """Order, ids, phases, encrypted reasoning, calls, and what the provider ran: whole items, as it sent them."""
    written = FORM.write_message(read(name))
    assert [without_nothing(item) for item in written] == [without_nothing(item) for item in items(name)]
    loaded = Message.from_json(read(name).to_json())
    assert FORM.write_message(loaded) == written


@every_recording
def test_what_is_written_back_is_what_the_client_takes(name: str) -> None:
    responses = pytest.importorskip("openai.types.responses", reason="the openai client is not installed")
    message = read(name)
    taker = adapter_of(responses.ResponseInputItemParam)
    for item in FORM.write_message(message):
        assert taker.validate_python(item)["type"] == item["type"]


def test_recordings_have_what_these_tests_are_about() -> None:
    parts = [part for name in RESPONSES for part in read(name).parts]
    assert any(isinstance(part, TextPart) and part.citations for part in parts)
    assert len({part.type for part in parts if isinstance(part, ServerCall)}) > 8
    assert not any(isinstance(part, Refusal) for part in parts)
