"""The events of a message, over the streams of all providers: what starts ends, and all of it joins to the message."""

import asyncio
import json
import pickle
from random import Random
from typing import Any

import pytest

from jsontide.messages import (
    CallFailed,
    CallFinished,
    Finished,
    MessageConfig,
    Outcome,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    TextFinished,
    TextStarted,
)
from jsontide.messages.progress import Progress
from jsontide.providers import start_stream
from jsontide.streams import MessageStream, astream_message, stream_message
from tests.generated_streams import STREAMS
from tests.generated_streams.said import Call, Refusal, Text, Thought
from tests.messages.folding import Known
from tests.streams.arriving import arriving

every_stream = pytest.mark.parametrize("name", STREAMS)
KINDS: dict[type[Text | Thought | Refusal], type] = {Text: TextDelta, Thought: ReasoningDelta, Refusal: RefusalDelta}


def events_of(messages: list[Any]) -> list[Any]:
    progress, found = Progress("part"), []
    for message in messages:
        progress, events = progress.advance_all(message)
        found += events
    return found


@every_stream
def test_deltas_join_to_what_the_model_said(name: str) -> None:
    stream = STREAMS[name]
    known = Known().take(stream_message(stream.events).events())
    for kind, delta in KINDS.items():
        assert known.joined(delta) == "".join(part.text for part in stream.said.parts if isinstance(part, kind))
    said = [(one.name, one.value) for one in stream.said.parts if isinstance(one, Call) and one.status == "complete"]
    finished = [one for one in known.calls.values() if one[2] == "CallFinished"]
    assert [(one, json.loads(arguments)) for one, arguments, _ in finished] == said
    assert [one.value for one in known.ends] == [stream.said.outcome]
    assert (known.usage is None) == (stream.said.usage is None)


@every_stream
def test_whoever_joins_late_or_looks_rarely_knows_the_same_at_the_end(name: str) -> None:
    messages = list(stream_message(STREAMS[name].events))
    expected = Known().take(events_of(messages))
    random = Random(name)
    for _ in range(3):
        seen = [one for one in messages[:-1] if random.random() < 0.4]
        assert Known().take(events_of([*seen, messages[-1]])) == expected


@every_stream
def test_events_and_texts_are_those_of_the_messages_in_both_forms(name: str) -> None:
    given = STREAMS[name].events

    async def collect() -> tuple[list[Any], list[str]]:
        events = [event async for event in astream_message(arriving(given)).events()]
        return events, [text async for text in astream_message(arriving(given)).text_deltas()]

    expected = events_of(list(stream_message(given)))
    texts = list(stream_message(given).text_deltas())
    assert list(stream_message(given).events()) == expected
    assert texts == [event.text for event in expected if isinstance(event, TextDelta)]
    assert "".join(texts) == stream_message(given).final().content
    assert asyncio.run(collect()) == (expected, texts)


@every_stream
def test_events_after_those_that_were_saved_are_the_rest(name: str) -> None:
    given = STREAMS[name].events
    cut = Random(name).randrange(len(given) + 1)
    first: MessageStream[Any] = MessageStream(given[:cut], start_stream(MessageConfig()))
    begun = []
    for message in first:
        if message.outcome is not Outcome.STREAMING:  # it broke off here
            break
        begun.append((message, first.state))
    if not begun:
        return
    seen, state = begun[-1]
    rest = stream_message(given[cut:], state=pickle.loads(pickle.dumps(state)))  # noqa: S301 - our own
    known = Known().take([*events_of([message for message, _ in begun]), *rest.events()])
    assert known == Known().take(stream_message(given).events())
    assert seen.outcome is Outcome.STREAMING


@pytest.mark.parametrize("read", [0, 1, 2, 3])
def test_what_was_read_before_comes_with_the_next_event(read: int) -> None:
    lines = [{"message": {"content": one}, "done": False} for one in ("a", "b", "c")]
    stream = stream_message([*lines, {"message": {}, "done": True}])
    for _ in range(read):
        next(stream)
    texts = list(stream.text_deltas())
    assert "".join(texts) == "abc"
    assert len(texts) == max(3 - read, 1)


def test_a_stream_that_is_stopped_says_so_once() -> None:
    stream = stream_message([{"message": {"content": one}, "done": False} for one in ("a", "b", "c")])
    events = stream.events()
    assert isinstance(next(events), TextStarted)
    stream.stop()
    last = list(events)
    assert [type(one) for one in last] == [TextDelta, TextFinished, Finished]
    assert isinstance(last[-1], Finished)
    assert (last[-1].outcome, last[-1].error) == (Outcome.CANCELLED, "the message is cancelled")
    assert list(stream.events()) != []
    assert [type(one) for one in stream.events()][-1] is Finished


def test_a_call_that_was_cut_off_is_failed_and_never_finished() -> None:
    entry = {"index": 0, "id": "c", "function": {"name": "pay", "arguments": '{"amount": 1'}}
    known = stream_message([{"choices": [{"index": 0, "delta": {"tool_calls": [entry]}}]}]).events()
    kinds = [type(one) for one in known]
    assert CallFailed in kinds
    assert CallFinished not in kinds


def test_events_can_be_pickled_and_compared() -> None:
    events = list(stream_message([{"message": {"content": "Hi"}, "done": True}]).events())
    assert pickle.loads(pickle.dumps(events)) == events  # noqa: S301 - our own


def test_leaving_the_events_leaves_the_stream_where_it_stands() -> None:
    stream = stream_message([{"message": {"content": one}, "done": False} for one in ("a", "b")])
    for text in stream.text_deltas():
        assert text == "a"
        break
    assert next(stream).content == "ab"
