"""Values of many levels in messages: states and messages with them can be pickled and copied as any other."""

import copy
import json
import pickle
from typing import Any

import pytest

from jsontide.messages import Citation, Message, MessageConfig, Other, Outcome, ServerCall, TextPart, Tool, Usage
from jsontide.providers import feed_stream, finish_stream, start_stream

LEVELS = 500
TEXT = "[" * LEVELS + "]" * LEVELS
DEEP = json.loads(TEXT)
OBJECT = json.loads('{"a":' * LEVELS + "1" + "}" * LEVELS)

CHAT = {"index": 0, "id": "a", "function": {"name": "look", "arguments": f'{{"deep": {TEXT}}}'}}
STREAMS: dict[str, list[dict[str, Any]]] = {
    "answer": [{"message": {"content": TEXT}, "done": False}, {"message": {}, "done": True, "done_reason": "stop"}],
    "half an answer": [{"message": {"content": TEXT[:LEVELS]}, "done": False}],
    "arguments as text": [{"choices": [{"delta": {"tool_calls": [CHAT]}, "finish_reason": "tool_calls"}]}],
    "arguments as an object": [
        {"message": {"tool_calls": [{"function": {"name": "look", "arguments": {"deep": DEEP}}}]}, "done": False},
        {"message": {}, "done": True, "done_reason": "stop"},
    ],
    "what Gemini adds": [
        {
            "candidates": [
                {
                    "content": {"parts": [{"functionCall": {"name": "look", "args": {"deep": DEEP}}}]},
                    "groundingMetadata": {"more": OBJECT, "searchEntryPoint": DEEP},
                    "finishReason": "STOP",
                }
            ]
        }
    ],
    "an error": [
        {"message": {"content": "Hi"}, "done": False},
        {"error": {"message": "no", "type": "server_error", "more": OBJECT}},
    ],
    "what a provider adds": [
        {"type": "message_start", "message": {"role": "assistant", "usage": {"input_tokens": 1, "more": OBJECT}}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "web_search_tool_result", "tool_use_id": "t", "content": [OBJECT]},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "odd", "more": DEEP}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ],
}


@pytest.mark.parametrize("schema", [None, {"type": "array"}, list], ids=["no schema", "a JSON Schema", "a type"])
@pytest.mark.parametrize("name", STREAMS)
def test_every_state_of_a_stream_can_be_pickled(name: str, schema: Any) -> None:
    state = start_stream(MessageConfig(response_schema=schema, tools=[Tool("look", stream_arguments=True)]))
    for event in STREAMS[name]:
        state = pickle.loads(pickle.dumps(feed_stream(state, event)))  # noqa: S301
    ended = finish_stream(state)
    again = pickle.loads(pickle.dumps(ended))  # noqa: S301
    assert again.message == ended.message
    assert pickle.loads(pickle.dumps(ended.message)) == ended.message  # noqa: S301


def test_the_value_itself_comes_back() -> None:
    state = start_stream(MessageConfig(response_schema={"type": "array"}))
    for event in STREAMS["answer"]:
        state = feed_stream(state, event)
    message = finish_stream(state).message
    assert (message.outcome, message.answer) == (Outcome.COMPLETE, DEEP)
    assert pickle.loads(pickle.dumps(message)).answer == DEEP  # noqa: S301


@pytest.mark.parametrize("value", [DEEP, OBJECT, {"a": [1, {"b": ()}]}, [1, ("a",)], {1: "a"}], ids=range(5))
def test_messages_built_by_hand_come_back_as_they_were(value: Any) -> None:
    holder = {"deep": value}
    message: Message[Any] = Message(
        (
            TextPart("a", (Citation(raw=holder),), extra=holder),
            ServerCall("look", result=value, extra=holder),
            Other("odd", value, extra=holder),
        ),
        Outcome.COMPLETE,
        usage=Usage(input_tokens=1, raw=holder),
        metadata=holder,
        answer=value,
    )
    for again in (pickle.loads(pickle.dumps(message)), copy.copy(message), copy.deepcopy(message)):  # noqa: S301
        assert again == message
        assert again.answer == value


def test_a_value_that_holds_itself_or_shares_parts_is_left_to_pickle() -> None:
    shared: list[Any] = []
    for _ in range(80):
        shared = [shared, shared]
    circle: list[Any] = []
    circle.append(circle)
    assert len(pickle.dumps(Other("odd", shared))) < 10_000
    assert pickle.loads(pickle.dumps(Other("odd", circle))).raw[0][0][0]  # noqa: S301
