"""What no provider sends: odd shapes, and garbage."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide.messages import CompleteCall, Message, Outcome, ToolResult
from jsontide.providers import PROVIDERS, feed_stream, start_stream, to_request
from jsontide.providers.requests import find_form
from jsontide.streams import stream_message
from tests import strategies
from tests.provider_streams import events, every_stream
from tests.providers.dialects import DIALECTS

STRANGE: tuple[Any, ...] = (
    *(None, "", "{", "{}", 0, -1, 1.5, True, [], {}, [[]], [None], {"type": "x"}, {"message": "x"}),
    *("\ud800", float("nan"), float("inf"), object(), 10**30, {"text": {}}),
)
BEGINNINGS = {name: dialect.says(["Hi"])[0] for name, dialect in DIALECTS.items()}
"""An event of each provider, by which its reader is chosen for whatever comes after it."""


def test_there_is_a_beginning_for_every_reader() -> None:
    assert {name: feed_stream(start_stream(), begun).message.provider for name, begun in BEGINNINGS.items()} == {
        name: name for name in PROVIDERS
    }


def last(items: list[Any]) -> Message:
    *_, message = stream_message(items)
    return message


def mutated(event: Any, random: Random) -> Any:
    """The event with one of its parts left out, exchanged, doubled or nested."""
    if isinstance(event, dict) and event and random.random() < 0.9:
        key = random.choice(list(event))
        return {**event, key: mutated(event[key], random)}
    if isinstance(event, list) and event and random.random() < 0.9:
        at = random.randrange(len(event))
        return [*event[:at], mutated(event[at], random), *event[at + random.randint(0, 1) :]]
    return random.choice((*STRANGE, [event], {"text": event}))


@every_stream
@strategies.examples(0.7)
@given(strategies.randoms)
def test_nothing_raises_on_mutated_streams(name: str, random: Random) -> None:
    told: list[Any] = events(name)
    for _ in range(random.randint(1, 12)):
        at = random.randrange(len(told))
        told[at] = mutated(told[at], random)
    random.shuffle(told) if random.random() < 0.2 else None
    check(last(told))
    begun = random.choice(list(BEGINNINGS.values()))
    check(last([begun, *random.sample(told, min(10, len(told)))]))


def written(message: Message) -> str:
    """The message as JSON without fields that are `null`, which is also what stands for what is no JSON."""

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: strip(item) for name, item in value.items() if item is not None}
        return [strip(item) for item in value] if isinstance(value, list) else value

    return json.dumps(strip(json.loads(message.to_json())))


def check(message: Message) -> None:
    """Whatever came, a message can be saved and sent back, and has no call to run that is not whole."""
    assert written(Message.from_json(message.to_json())) == written(message)
    assert [part.index for part in message.parts] == list(range(len(message.parts)))
    to_request(message, message.provider or "openai_chat")
    for call in message.parts:
        if isinstance(call, CompleteCall):
            assert json.loads(call.arguments) == call.arguments_value or "NaN" in call.arguments
            assert message.finish_reason
            assert call.name


@given(st.lists(strategies.values, max_size=6))
def test_nothing_raises_on_any_json(told: list[Any]) -> None:
    said = [event for event in told if not isinstance(event, str)]
    for begun in BEGINNINGS.values():
        check(last([begun, *said]))
    check(last(said))


@given(st.lists(st.binary(max_size=30), max_size=5))
def test_nothing_raises_on_any_bytes(chunks: list[bytes]) -> None:
    assert last(chunks).outcome is not Outcome.STREAMING


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_has_all_of_a_request_form(provider: str) -> None:
    form, call = find_form(provider), CompleteCall("now", {}, id="c")
    assert form.write_message(Message(parts=(call,)))
    assert form.write_results([ToolResult(call, "noon")])
    assert form.write_tool("now", "The time.", {"type": "object"}, strict=False)
