"""A message that was stopped without its state, against what `stop_message` makes of the state."""

from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")

from jsontide import Outcome
from jsontide.frontends import CompactEncoder, Streamed
from jsontide.messages import Message, MessageConfig, ReasoningPart, TextPart, Tool, stop_message
from jsontide.messages.calls import CompleteCall, PartialCall
from jsontide.providers import feed_stream, start_stream
from jsontide.runs.run import cancel_message as cancel
from tests.providers.dialects import chunk
from tests.web.serving import read_compact


def call(arguments: str, index: int = 0, **known: Any) -> dict[str, Any]:
    name = {"name": "send"} if known else {}
    return chunk(tool_calls=[{"index": index, **known, "function": {"arguments": arguments, **name}}])


STREAMS: dict[str, tuple[MessageConfig, list[dict[str, Any]]]] = {
    "text": (MessageConfig(), [chunk(reasoning_content="Hm"), chunk(content="Take "), chunk(content="the train")]),
    "a call": (
        MessageConfig(tools=[Tool("send", {"type": "object", "properties": {"to": {"type": "string"}}})]),
        [
            chunk(content="Well, "),
            call("", id="c1"),
            call('{"to": "A'),
            call('da"}'),
            call('{"to', 1, id="c2"),
        ],
    ),
    "an answer": (
        MessageConfig(response_schema={"type": "object", "properties": {"city": {"type": "string"}}}),
        [chunk(content='{"city": "Kyo'), chunk(content='to"'), chunk(content="}")],
    ),
}


def told(growing: list[Streamed]) -> tuple[Any, Any]:
    """What a browser has of some messages, and the end that it was told."""
    encoder = CompactEncoder()
    state, sent = encoder.begin()
    for one in growing:
        state, new = encoder.encode(state, one)
        sent += new
    value = read_compact(sent)
    return value.value, value.end


@pytest.mark.parametrize("name", STREAMS)
def test_a_message_is_cancelled_as_its_state_would_be(name: str) -> None:
    config, events = STREAMS[name]
    state = start_stream(config)
    for event in events:
        state = feed_stream(state, event)
        expected = stop_message(state.message_state).message
        cancelled = cancel(state.message)
        assert cancelled == expected
        assert repr(cancelled.answer) == repr(expected.answer)
        assert told([state.message, cancelled]) == told([state.message, expected])
        assert told([cancelled]) == told([expected])


def test_a_message_that_has_ended_stays_as_it_is() -> None:
    for outcome in set(Outcome) - {Outcome.STREAMING}:
        message = Message(parts=(TextPart("Hi"),), outcome=outcome)
        assert cancel(message) is message


def test_nothing_in_a_cancelled_message_can_be_run() -> None:
    message = Message(parts=(CompleteCall("send", {"to": "Ada"}, id="c1"), PartialCall("send", '{"to', is_open=True)))
    cancelled = cancel(message)
    assert [(type(part), part.status, part.is_open) for part in cancelled.tool_calls] == [
        (PartialCall, Outcome.CANCELLED, False),
        (PartialCall, Outcome.CANCELLED, False),
    ]
    assert cancelled.tool_calls[0].id == "c1"
    assert cancelled.tool_calls[0].arguments == '{"to":"Ada"}'


def test_what_was_open_is_closed_and_the_rest_is_the_same_object() -> None:
    whole, begun = ReasoningPart("Hm"), TextPart("Take ", is_open=True)
    cancelled = cancel(Message(parts=(whole, begun)))
    assert cancelled.parts[0] is whole
    assert cancelled.parts[1] == TextPart("Take ")
