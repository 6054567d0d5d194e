"""Messages that begin with finished blocks: a program written by the model calls tools, one message per call."""

from typing import Any

import pytest

from jsontide.adapters import stream_message
from jsontide.messages import Message, Outcome

Event = dict[str, Any]
CALL = {"type": "tool_use", "id": "t", "name": "roll", "input": {"player": 1}, "caller": {"type": "code_execution"}}


def last(*events: Event) -> Message:
    *_, message = stream_message(events)
    return message


def begun(*blocks: Event, **message: Any) -> Event:
    said = {"id": "msg", "type": "message", "role": "assistant", "content": [*blocks], **message}
    return {"type": "message_start", "message": said}


STOP = {"type": "message_stop"}


def test_a_message_may_begin_with_all_of_it() -> None:
    result = {"type": "code_execution_tool_result", "tool_use_id": "s", "content": {"stdout": "5"}}
    text, thought = {"type": "text", "text": "Rolling."}, {"type": "thinking", "thinking": "Hm."}
    server = {"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {"code": "roll()"}}
    message = last(begun(thought, text, result, server, CALL, stop_reason="tool_use"), STOP)
    assert (message.outcome, message.finish_reason) == (Outcome.COMPLETE, "tool_calls")
    assert (message.content, message.reasoning, message.role) == ("Rolling.", "Hm.", "assistant")
    assert [(call.id, call.name, call.arguments_value) for call in message.tool_calls] == [("t", "roll", {"player": 1})]  # type: ignore[union-attr]


def test_a_finished_call_without_arguments_has_none_whatever_the_end() -> None:
    for reason in ("tool_use", "max_tokens"):
        (call,) = last(begun({**CALL, "input": {}}, stop_reason=reason), STOP).tool_calls
        assert (call.status, call.arguments) == (Outcome.COMPLETE, "{}")


def test_a_message_may_go_on_after_the_blocks_that_it_begins_with() -> None:
    message = last(
        begun(CALL, stop_reason=None),
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "u", "name": "roll"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    )
    assert [(call.id, call.arguments) for call in message.tool_calls] == [("t", '{"player":1}'), ("u", "{}")]
    assert message.outcome is Outcome.COMPLETE


def test_a_message_that_begins_with_a_call_and_does_not_end_cannot_be_run() -> None:
    message = last(begun(CALL), STOP)
    assert (message.outcome, [call.status for call in message.tool_calls]) == (
        Outcome.TRUNCATED,
        [Outcome.TRUNCATED],
    )


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [("pause_turn", Outcome.TRUNCATED), ("refusal", Outcome.REFUSED), ("end_turn", Outcome.COMPLETE)],
)
def test_the_reason_of_a_message_that_begins_with_it_counts(reason: str, outcome: Outcome) -> None:
    message = last(begun(CALL, stop_reason=reason, stop_details={"explanation": "Not that."}), STOP)
    assert message.outcome is outcome
    assert message.refusal == ("Not that." if reason == "refusal" else "")


def test_a_beginning_that_comes_twice_says_its_blocks_once() -> None:
    start = begun({"type": "text", "text": "Rolling."}, CALL, stop_reason="tool_use")
    message = last(start, start, STOP)
    assert (message.content, message.outcome, len(message.tool_calls)) == ("Rolling.", Outcome.COMPLETE, 1)
