"""Numbers that JSON's grammar has and nothing can hold: one rule for calls, answers, saved messages and requests."""

import json
from typing import Any

import pytest

from jsontide.mend import MODELS
from jsontide.messages import CompleteCall, Message, Outcome
from jsontide.providers import PROVIDERS, to_request
from jsontide.streams import stream_message
from tests.frontends.protocols import PROTOCOLS
from tests.frontends.turns import encode

TOO_LARGE = ["1e999", "-1e999", "9" * 400 + ".5"]
either = pytest.mark.parametrize("mend", [None, MODELS], ids=["plain", "mended"])
each = pytest.mark.parametrize("number", TOO_LARGE, ids=["large", "negative", "long"])


def called(number: str) -> list[dict[str, Any]]:
    call = {"index": 0, "id": "a", "function": {"name": "pay", "arguments": f'{{"to": [{number}]}}'}}
    return [
        {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ]


def answered(number: str) -> list[dict[str, Any]]:
    return [
        {"choices": [{"index": 0, "delta": {"content": f'{{"a": {number}, "b'}}]},
        {"choices": [{"index": 0, "delta": {"content": '": 1}'}, "finish_reason": "stop"}]},
    ]


def refuse(word: str) -> None:
    pytest.fail(f"{word} is not JSON")


@either
@each
def test_a_call_and_an_answer_with_one_are_invalid(mend: Any, number: str) -> None:
    for message in (
        stream_message(called(number), mend=mend).final(),
        stream_message(answered(number), mend=mend, response_schema=dict[str, float]).final(),
    ):
        assert message.outcome is Outcome.INVALID
        assert "too large" in message.errors[0].message
        assert not any(isinstance(part, CompleteCall) for part in message.parts)
        text = message.to_json()
        assert json.loads(text, parse_constant=refuse)["outcome"] == "invalid"
        assert Message.from_json(text) == message
        for provider in PROVIDERS:
            json.dumps(to_request(message, provider), allow_nan=False)


@either
@each
@pytest.mark.parametrize("name", PROTOCOLS)
def test_no_encoder_raises(name: str, mend: Any, number: str) -> None:
    for turn in (
        stream_message(called(number), mend=mend),
        stream_message(answered(number), mend=mend, response_schema=dict[str, float]),
    ):
        assert b"Infinity" not in encode(PROTOCOLS[name].make(), turn)


def test_what_is_not_a_number_is_null_in_what_is_saved() -> None:
    told = [{"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}], "score": float("nan")}]
    assert json.loads(stream_message(told).final().to_json(), parse_constant=refuse)["metadata"] == {"score": None}


@pytest.mark.parametrize("number", ["1e308", "-1e308", "1" + "0" * 400, "1e-999"])
def test_what_can_be_held_is_complete(number: str) -> None:
    (call,) = stream_message(called(number)).final().tool_calls
    assert call.status is Outcome.COMPLETE


CALLED = {"type": "tool_use", "id": "t", "name": "pay", "input": {"to": float("nan")}}
SEARCHED = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": float("inf")}}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_request_has_one_that_a_client_gave_as_a_number(provider: str) -> None:
    content = [CALLED, SEARCHED, {"type": "odd", "score": float("-inf"), "name": "\ud83d"}]
    told = {"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"}
    message = stream_message([told]).final()
    assert message.outcome is Outcome.INVALID
    json.dumps(to_request(message, provider), allow_nan=False)


def test_what_is_around_one_is_sent_back_as_it_came() -> None:
    odd = {"type": "odd", "score": float("inf"), "at": [1, {"b": True}, {}]}
    message = stream_message([{"type": "message", "content": [odd], "stop_reason": "end_turn"}]).final()
    assert to_request(message) == [{"role": "assistant", "content": [{**odd, "score": None}]}]
