"""One stream is one message: a second one in it is not joined to the first."""

from typing import Any

import pytest

from jsontide.messages import Message, Outcome
from jsontide.streams import stream_message

Event = dict[str, Any]


def last(events: list[Event]) -> Message:
    *_, message = stream_message(events)
    return message


def responses(message_id: str | None) -> list[Event]:
    item = {"type": "function_call", "call_id": f"call_{message_id}", "name": "pay", "arguments": '{"to":"Zoe"}'}
    return [
        {"type": "response.created", "response": {"id": message_id}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi."},
        {"type": "response.output_item.done", "output_index": 1, "item": item},
        {"type": "response.completed", "response": {"id": message_id}},
    ]


def anthropic(message_id: str | None) -> list[Event]:
    block = {"type": "tool_use", "id": f"toolu_{message_id}", "name": "pay", "input": {"to": "Zoe"}}
    return [
        {"type": "message_start", "message": {"id": message_id, "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi."}},
        {"type": "content_block_start", "index": 1, "content_block": block},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]


def interactions(message_id: str | None) -> list[Event]:
    step = {"type": "function_call", "id": f"call_{message_id}", "name": "pay", "arguments": {"to": "Zoe"}}
    return [
        {"event_type": "interaction.created", "interaction": {"id": message_id}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "Hi."}},
        {"event_type": "step.start", "index": 1, "step": step},
        {"event_type": "interaction.completed", "interaction": {"id": message_id, "status": "requires_action"}},
    ]


def cohere(message_id: str | None) -> list[Event]:
    call = {"id": f"call_{message_id}", "function": {"name": "pay", "arguments": '{"to":"Zoe"}'}}
    return [
        {"type": "message-start", "id": message_id, "delta": {"message": {"role": "assistant"}}},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Hi."}}}},
        {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
    ]


def bedrock(message_id: str | None) -> list[Event]:
    tool = {"toolUseId": f"call_{message_id}", "name": "pay"}
    return [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hi."}}},
        {"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolUse": tool}}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"to":"Zoe"}'}}}},
        {"messageStop": {"stopReason": "tool_use"}},
    ]


def chat(message_id: str | None) -> list[Event]:
    call = {"index": 0, "id": f"call_{message_id}", "function": {"name": "pay", "arguments": '{"to":"Zoe"}'}}
    deltas: list[Event] = [{"role": "assistant", "content": "Hi."}, {"tool_calls": [call]}]
    told = [{"id": message_id, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    return [*told, {"id": message_id, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]


def gemini(message_id: str | None) -> list[Event]:
    parts = [{"text": "Hi."}, {"functionCall": {"name": "pay", "args": {"to": "Zoe"}}}]
    told = [{"responseId": message_id, "candidates": [{"content": {"parts": [part]}}]} for part in parts]
    return [*told, {"responseId": message_id, "candidates": [{"finishReason": "STOP"}]}]


BY_START = [responses, anthropic, interactions, cohere, bedrock]
BY_ID = [chat, gemini]


@pytest.mark.parametrize("told", [*BY_START, *BY_ID])
class TestEveryProvider:
    def test_a_message_alone_can_be_run(self, told: Any) -> None:
        for message_id in ("one", None):
            message = last(told(message_id))
            assert (message.outcome, message.content) == (Outcome.COMPLETE, "Hi.")
            assert [call.status for call in message.tool_calls] == [Outcome.COMPLETE]

    def test_of_two_messages_nothing_can_be_run(self, told: Any) -> None:
        message = last([*told("one"), *told("two")])
        assert (message.outcome, message.content) == (Outcome.TRUNCATED, "Hi.")
        assert [call.status for call in message.tool_calls] == [Outcome.TRUNCATED]
        assert message.errors[0].source == "stream"
        assert "another message" in message.errors[0].message


@pytest.mark.parametrize("told", BY_START)
@pytest.mark.parametrize("ids", [("one", "two"), ("one", None), (None, "two"), (None, None)])
def test_a_message_that_breaks_off_before_another_begins_cannot_be_run(told: Any, ids: tuple[str, str]) -> None:
    first, second = ids
    whole = told(first)
    for count in range(2, len(whole)):
        message = last([*whole[:count], *told(second)])
        assert message.outcome is Outcome.TRUNCATED
        assert all(call.status is Outcome.TRUNCATED for call in message.tool_calls)
        assert len(message.tool_calls) <= 1


@pytest.mark.parametrize("told", BY_START)
@pytest.mark.parametrize("message_id", ["one", None])
def test_a_message_may_begin_twice(told: Any, message_id: str | None) -> None:
    begun, *more = told(message_id)
    message = last([begun, begun, *more])
    assert (message.outcome, message.content) == (Outcome.COMPLETE, "Hi.")


@pytest.mark.parametrize("told", [responses, anthropic, interactions, cohere])
def test_a_beginning_that_is_repeated_later_says_nothing(told: Any) -> None:
    begun, *more = told("one")
    for at in range(len(more) + 1):
        message = last([begun, *more[:at], begun, *more[at:]])
        assert (message.outcome, message.content) == (Outcome.COMPLETE, "Hi.")
        assert [call.status for call in message.tool_calls] == [Outcome.COMPLETE]


@pytest.mark.parametrize("told", BY_ID)
@pytest.mark.parametrize("ids", [("", "a"), ("a", "b"), (None, "a"), ("a", "")])
def test_servers_may_give_each_chunk_an_id_of_its_own_or_none(told: Any, ids: tuple[str | None, str]) -> None:
    name = "id" if told is chat else "responseId"
    events = [{**event, name: ids[at % 2]} for at, event in enumerate(told("one"))]
    usage = {name: "c", **({"choices": []} if told is chat else {"usageMetadata": {}})}
    message = last([*events, usage])
    assert (message.outcome, message.content) == (Outcome.COMPLETE, "Hi.")
    assert [call.status for call in message.tool_calls] == [Outcome.COMPLETE]
