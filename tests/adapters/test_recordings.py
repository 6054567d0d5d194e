"""Every recording through its reader, compared with an independent reading."""

import json
from functools import cache, reduce
from random import Random

import pytest

from jsontide.adapters import (
    SseState,
    StreamState,
    decode_sse,
    detect,
    finish_stream,
    reduce_item,
    start_stream,
    stream_message,
)
from jsontide.messages import Outcome
from tests.cuts import cut_randomly
from tests.provider_streams import NAMES, TURNS, Event, Reading, all_events, events, is_end, needs_recordings, reading
from tests.relations import same

pytestmark = [needs_recordings, pytest.mark.untraced]

OUTCOMES = {
    "stop": Outcome.COMPLETE,
    "tool_calls": Outcome.COMPLETE,
    "length": Outcome.TRUNCATED,
    "refusal": Outcome.REFUSED,
}

known = cache(reading)


def message_of(told: list[Event]) -> StreamState:
    return finish_stream(reduce(reduce_item, told, start_stream()))


def check(state: StreamState, expected: Reading) -> None:
    message = state.message
    assert message.content == expected.text
    assert message.reasoning == expected.reasoning
    assert message.finish_reason == expected.reason
    assert [(call.id, call.name) for call in message.tool_calls] == [(call.id, call.name) for call in expected.calls]
    for call, other in zip(message.tool_calls, expected.calls, strict=True):
        assert call.status is Outcome.COMPLETE
        assert same(call.arguments_value, other.value)
        assert same(json.loads(call.arguments), other.value)
    is_empty = not (expected.text or expected.calls or expected.has_items) and expected.reason == "stop"
    assert message.outcome is (Outcome.EMPTY if is_empty else OUTCOMES[str(expected.reason)])
    assert not message.errors


@pytest.mark.parametrize("name", NAMES)
class TestEveryRecording:
    def test_says_what_a_person_reads_off_it(self, name: str) -> None:
        check(message_of(events(name)), known(name))

    def test_says_the_same_as_server_sent_events_cut_at_random(self, name: str) -> None:
        data = "".join(f"data: {json.dumps(event, ensure_ascii=False)}\r\n\r\n" for event in events(name)).encode()
        for seed in range(2):
            state, told = SseState(), list[Event]()
            for chunk in cut_randomly(data, Random(seed), 60):
                state, found = decode_sse(state, chunk)
                told += [json.loads(event.data) for event in found]
            check(message_of(told), known(name))

    @pytest.mark.parametrize("form", ["data: {}\n\n", ": keep-alive\n\ndata: {}\r\n\r\ndata:\n\n", "{}\n"])
    def test_says_the_same_as_a_raw_response(self, name: str, form: str) -> None:
        data = "".join(form.replace("{}", json.dumps(event, ensure_ascii=False)) for event in events(name)).encode()
        for chunks in ([data], cut_randomly(data, Random(7), 60), data.splitlines()):
            stream = stream_message(chunks)
            assert list(stream)
            check(stream.state, known(name))

    def test_every_event_is_of_the_same_provider_or_tells_nothing(self, name: str) -> None:
        names = {provider for provider in map(detect, events(name)) if provider}
        assert names == {message_of(events(name)).message.provider}

    def test_without_its_end_nothing_can_be_run(self, name: str) -> None:
        told = events(name)
        ends = [at for at, event in enumerate(told) if is_end(event)]
        state = message_of(told[: ends[0]])
        assert all(call.status is not Outcome.COMPLETE for call in state.message.tool_calls)
        assert state.outcome is Outcome.TRUNCATED


@pytest.mark.parametrize("file", [file for file, turns in TURNS.items() if len(turns) > 1])
def test_turns_in_one_stream_are_not_one_message(file: str) -> None:
    state = message_of(all_events(file))
    first = message_of(TURNS[file][0])
    assert state.message.content == first.message.content
    assert [call.arguments for call in state.message.tool_calls] == [
        call.arguments for call in first.message.tool_calls
    ]
    assert all(call.status is not Outcome.COMPLETE for call in state.message.tool_calls)
    assert (state.outcome, state.errors[0].source) == (Outcome.TRUNCATED, "stream")
