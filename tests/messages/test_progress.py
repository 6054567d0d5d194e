"""What is new in a message: the steps that all encoders tell."""

import json

from jsontide import stream_message
from jsontide.mend import MODELS
from jsontide.messages import Message, MessageConfig
from jsontide.messages.progress import (
    ArgumentsDelta,
    CallFailed,
    CallFinished,
    CallStarted,
    MessageEvent,
    Progress,
    ServerCallFinished,
)
from tests.messages.telling import call, end, finished, trail
from tests.providers.dialects import block, block_delta

SEARCH = [
    {"type": "message_start", "message": {"id": "m", "content": []}},
    block(0, type="server_tool_use", id="s", name="web_search", input={}),
    block_delta(0, "input_json_delta", partial_json='{"query":"a"}'),
    {"type": "content_block_stop", "index": 0},
    block(1, type="web_search_tool_result", tool_use_id="s", content=[{"title": "A"}]),
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    {"type": "message_stop"},
]


def steps_of(messages: list[Message]) -> list[MessageEvent]:
    progress, found = Progress("m"), []
    for message in messages:
        progress, steps = progress.advance_all(message)
        found += steps
    return found


def test_the_result_of_a_provider_s_tool_is_told_though_it_comes_after_the_call_is_closed() -> None:
    (ended,) = [step for step in steps_of(list(stream_message(SEARCH))) if isinstance(step, ServerCallFinished)]
    assert ended.call.result == [{"title": "A"}]


def test_the_arguments_of_a_provider_s_tool_are_told_once() -> None:
    messages = list(stream_message(SEARCH))
    for late in range(len(messages)):
        told = [step.text for step in steps_of(messages[late:]) if isinstance(step, ArgumentsDelta)]
        assert told == ['{"query":"a"}']


def test_a_provider_s_tool_ends_with_the_message_if_no_result_comes() -> None:
    messages = list(stream_message(SEARCH[:4]))
    (ended,) = [step for step in steps_of(messages) if isinstance(step, ServerCallFinished)]
    assert not [step for step in steps_of(messages[:-1]) if isinstance(step, ServerCallFinished)]
    assert ended.call.partial == {"query": "a"}


def test_arguments_that_stand_for_later_ones_are_not_told() -> None:
    item = {"type": "file_search_call", "id": "f", "status": "in_progress", "queries": []}
    done = {**item, "status": "completed", "queries": ["a"]}
    events = [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [done]}},
    ]
    steps = steps_of(list(stream_message(events)))
    assert [step.text for step in steps if isinstance(step, ArgumentsDelta)] == ['{"queries":["a"]}']


def test_who_joins_late_gets_the_json_that_was_made_of_bad_arguments() -> None:
    chunks = [call("{a: 1,", index=0, id="c", name="f"), call("'b': 2,}", index=0), end()]
    config = MessageConfig(mend=MODELS)
    messages = [*(state.message for state in trail(chunks, config)), finished(chunks, config).message]
    for late in range(len(messages)):
        told = [step.text for step in steps_of(messages[late:]) if isinstance(step, ArgumentsDelta)]
        assert json.loads("".join(told)) == {"a": 1, "b": 2}


def test_calls_that_share_an_id_are_told_with_ids_of_their_own_and_not_run() -> None:
    chunks = [call("{}", index=0, id="same", name="a"), call("{}", index=1, id="same", name="b"), end()]
    messages = [*(state.message for state in trail(chunks)), finished(chunks).message]
    for late in range(len(messages)):
        steps = steps_of(messages[late:])
        begun = {step.id: step.name for step in steps if isinstance(step, CallStarted)}
        assert begun == {"same": "a", "m-1": "b"}
        assert {step.id: step.name for step in steps if isinstance(step, CallFailed)} == begun
        assert not any(isinstance(step, CallFinished) for step in steps)
