"""Every recording as a turn: nothing is lost, nothing is remade, and it can be saved and gone on with anywhere."""

import hashlib
import json
import pickle
from collections.abc import Callable, Iterable
from functools import cache, reduce
from itertools import accumulate, pairwise
from random import Random
from typing import Any

import pytest

from jsontide.adapters import StreamState, finish_stream, reduce_item, start_stream, stream_message
from jsontide.messages import CompleteCall, Message, Outcome, Usage
from tests.cuts import cut_randomly
from tests.leaves import TABLE, Dropped, is_shown, leaves, lost, read_table, shown_in
from tests.provider_streams import NAMES, Event, events, is_end, needs_recordings

pytestmark = [needs_recordings, pytest.mark.untraced]

every_recording = pytest.mark.parametrize("name", NAMES)


@cache
def states_of(name: str) -> list[StreamState]:
    """The state before the first event, and after each."""
    return list(accumulate(events(name), reduce_item, initial=start_stream()))


@cache
def final(name: str) -> Any:
    return finish_stream(states_of(name)[-1]).message


ROWS = read_table(TABLE.read_text("utf-8"))


@cache
def lost_from(name: str) -> set[tuple[str, str, str]]:
    """What the final message does not hold: event, field and value as JSON, each once."""
    message = final(name)
    told = lost(events(name), json.loads(message.to_json()), str(message.provider))
    return {(event, path, json.dumps(value)) for event, (path, value) in told}


def covering(provider: str, event: str, path: str, value: str) -> list[Dropped]:
    return [row for row in ROWS if row.covers(provider, event, (path, json.loads(value)))]


class TestNothingIsLost:
    @every_recording
    def test_every_leaf_is_in_the_message_or_said_to_be_dropped(self, name: str) -> None:
        provider = str(final(name).provider)
        assert [leaf for leaf in lost_from(name) if not covering(provider, *leaf)] == []

    def test_every_row_of_what_is_dropped_applies(self) -> None:
        applied = {
            row for name in NAMES for leaf in lost_from(name) for row in covering(str(final(name).provider), *leaf)
        }
        assert [row for row in ROWS if row not in applied] == []

    def test_the_rows_say_who_what_and_why(self) -> None:
        assert len(ROWS) > 20
        assert all(row.provider and row.event and row.field and row.why for row in ROWS)
        assert len(set(ROWS)) == len(ROWS)

    @every_recording
    def test_a_leaf_with_another_value_is_missed(self, name: str) -> None:
        """So that the first test sees what is lost: what is not in the message is not found in it."""
        found = shown_in(json.loads(final(name).to_json()))
        for event in events(name)[::5]:
            for path, value in leaves(event):
                other = f"{value}\1" if isinstance(value, str) else 987_654_321.5
                if not path.endswith("createTime"):
                    assert not is_shown((path, other), found)


class TestSaving:
    @every_recording
    def test_every_message_is_read_back_from_its_json(self, name: str) -> None:
        for message in (*(state.message for state in states_of(name)), final(name)):
            text = message.to_json()
            again = Message.from_json(text)
            assert again == message
            assert again.to_json() == text
            assert Message.from_json(json.loads(text)) == message

    @every_recording
    def test_every_message_is_read_back_from_its_pickle(self, name: str) -> None:
        for message in (*(state.message for state in states_of(name)[::5]), final(name)):
            assert pickle.loads(pickle.dumps(message)) == message  # noqa: S301

    @every_recording
    def test_a_saved_state_goes_on_to_the_same_end(self, name: str) -> None:
        told = events(name)
        for at in {0, 1, 2, *Random(name).sample(range(len(told)), min(6, len(told))), len(told)}:
            saved = pickle.loads(pickle.dumps(states_of(name)[at]))  # noqa: S301
            assert stream_message(told[at:], state=saved).final() == final(name)

    @every_recording
    @pytest.mark.parametrize("form", ["data: {}\r\n\r\n", "{}\n"])
    def test_a_saved_state_goes_on_in_the_middle_of_an_event(self, name: str, form: str) -> None:
        data = encoded(events(name), form)
        for at in (Random(f"{name}{form}{seed}").randrange(len(data)) for seed in range(4)):
            saved = pickle.loads(pickle.dumps(reduce_item(start_stream(), data[:at])))  # noqa: S301
            assert stream_message([data[at:]], state=saved).final() == final(name)

    @every_recording
    def test_the_state_of_a_stream_that_is_read_can_be_saved(self, name: str) -> None:
        told = events(name)
        source = iter(told)
        stream = stream_message(source)
        for _ in zip(range(len(told) // 2), stream, strict=False):
            pass
        saved = pickle.loads(pickle.dumps(stream.state))  # noqa: S301
        assert saved.message == stream.message
        assert stream_message(source, state=saved).final() == final(name)


def encoded(told: Iterable[Event], form: str) -> bytes:
    return "".join(form.replace("{}", json.dumps(event, ensure_ascii=False)) for event in told).encode()


class TestWhatDoesNotChange:
    @every_recording
    def test_is_the_same_object_law_3(self, name: str) -> None:
        """A part that is equal after an event is the part that was there before it."""
        told = [state.message for state in states_of(name)]
        for old, new in pairwise(told):
            assert len(new.parts) >= len(old.parts)
            for before, after in zip(old.parts, new.parts, strict=False):
                assert after is before or after != before
            if new.parts == old.parts:
                assert new.parts is old.parts

    @every_recording
    def test_is_the_same_state_after_an_event_that_says_nothing(self, name: str) -> None:
        for old, new in pairwise(states_of(name)):
            assert new.message is old.message or new.message != old.message

    @every_recording
    def test_views_are_the_parts_themselves(self, name: str) -> None:
        message = final(name)
        parts = set(map(id, message.parts))
        assert {id(part) for part in (*message.tool_calls, *message.sources, *message.needs_action)} <= parts
        assert [part.index for part in message.parts] == list(range(len(message.parts)))
        assert not any(part.is_open for part in message.parts)

    @every_recording
    def test_old_messages_stay_as_they_were(self, name: str) -> None:
        state = start_stream()
        held = []
        for event in events(name):
            state = reduce_item(state, event)
            held.append((state.message, state.message.to_json()))
        assert all(message.to_json() == text for message, text in held)


class TestCuts:
    @every_recording
    def test_after_any_event_nothing_can_be_run_before_the_end_is_told_law_9(self, name: str) -> None:
        told = events(name)
        is_told = False
        for event, state in zip(told, states_of(name)[1:], strict=True):
            assert not any(isinstance(part, CompleteCall) for part in state.message.parts)
            is_told = is_told or is_end(event)
            message = finish_stream(state).message
            assert is_told or not any(isinstance(part, CompleteCall) for part in message.parts)
            assert is_told or message.outcome is Outcome.TRUNCATED
            assert not any(part.is_open for part in message.parts)

    @every_recording
    def test_all_that_is_shown_stays_shown_law_2(self, name: str) -> None:
        for old, new in pairwise([*(state.message for state in states_of(name)), final(name)]):
            assert new.content.startswith(old.content)
            assert new.reasoning.startswith(old.reasoning)
            for before, after in zip(old.tool_calls, new.tool_calls, strict=False):
                assert after.arguments.startswith(before.arguments)


class TestDigest:
    @every_recording
    def test_bytes_cut_anywhere_give_the_messages_of_dicts(self, name: str) -> None:
        expected = digest(stream_message(events(name)))
        for at, form in enumerate(("data: {}\n\n", "data: {}\r\n\r\n", "{}\n", "{}\r\n")):
            data = encoded(events(name), form)
            assert digest(stream_message(cut_randomly(data, Random(at), 60))) == expected
        assert digest(stream_message([encoded(events(name), "{}\n")])) == expected
        assert digest(stream_message(encoded(events(name), "data: {}\n\n").decode())) == expected


def digest(messages: Iterable[Message]) -> str:
    found = hashlib.sha256()
    for message in messages:
        found.update(message.to_json().encode() + b"\n")
    return found.hexdigest()


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
