"""What holds for the streams of every provider, whatever they say.

Each stream of `tests.generated_streams` is written from a description, which says what the message must be. The
recordings beside the repository go through the same tests in `make test-long`; what they say is checked in
`test_recordings`.
"""

import json
import pickle
from collections.abc import Callable, Iterable
from functools import cache
from itertools import accumulate, pairwise, product
from random import Random
from types import ModuleType
from typing import Any

import pytest

from jsontide.messages import CompleteCall, Message, Outcome
from jsontide.providers import PROVIDERS, StreamState, detect, feed_stream, finish_stream, start_stream, to_request
from jsontide.streams import stream_message
from tests.cuts import cut_randomly
from tests.generated_streams import STREAMS, WRITERS, compare
from tests.leaves import TABLE, Dropped, is_shown, leaves, lost, read_table, shown_in
from tests.provider_streams import ALL, NAMES, RECORDED, Event, end_of, events, every_stream, reading
from tests.providers.block_streams import as_object
from tests.relations import same

every_own_stream = pytest.mark.parametrize("name", ALL)
by_provider = pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.PROVIDER)
SSE, SSE_WITH_MORE, NDJSON = "data: {}\n\n", ": keep-alive\n\nevent: {}\r\ndata: {}\r\n\r\ndata:\n\n", "{}\n"


@cache
def states_of(name: str) -> list[StreamState]:
    """The state before the first event, and after each."""
    return list(accumulate(events(name), feed_stream, initial=start_stream()))


@cache
def final(name: str) -> Any:
    return finish_stream(states_of(name)[-1]).message


def encoded(told: Iterable[Event], form: str) -> bytes:
    *_, before, after = form.split("{}")
    named = form.count("{}") > 1
    lines = []
    for event in told:
        kind = event.get("type") or event.get("event_type") or "message"
        head = form.split("{}", maxsplit=1)[0] + kind + before if named else before
        lines.append(f"{head}{json.dumps(event, ensure_ascii=False)}{after}")
    return "".join(lines).encode()


class TestWhatItSays:
    @every_own_stream
    def test_is_what_its_description_says(self, name: str) -> None:
        stream = STREAMS[name]
        compare.check(final(name), stream.said, stream.provider)

    @pytest.mark.parametrize("name", [name for name in ALL if STREAMS[name].second])
    def test_of_the_second_answer_too(self, name: str) -> None:
        stream, message = STREAMS[name], stream_message(events(name), choice=1).final()
        assert stream.second is not None
        for part, meant in zip(message.parts, stream.second.parts, strict=True):
            compare.check_part(part, meant, stream.provider)
        assert (message.finish_reason, message.outcome.value) == (stream.second.finish_reason, stream.second.outcome)

    @by_provider
    def test_ends_for_the_reason_that_the_provider_gives(self, writer: ModuleType) -> None:
        for word, reason in writer.REASONS.items():
            message = stream_message(writer.ending(word)).final()
            assert (message.finish_reason, message.raw_finish_reason) == (reason, word)
            assert message.outcome.value == OUTCOMES.get(reason, "truncated"), word

    @every_stream
    def test_is_the_same_from_bytes_however_they_are_cut(self, name: str) -> None:
        expected = [message.to_json() for message in stream_message(events(name))]
        for at, form in enumerate((SSE, SSE_WITH_MORE, NDJSON)):
            data = encoded(events(name), form)
            assert [message.to_json() for message in stream_message(cut_randomly(data, Random(at), 60))] == expected
        array = json.dumps(events(name), ensure_ascii=False, indent=1).encode()
        assert [message.to_json() for message in stream_message(cut_randomly(array, Random(3), 60))] == expected
        text = encoded(events(name), NDJSON).decode()
        assert [message.to_json() for message in stream_message(text)] == expected

    @every_stream
    def test_is_of_one_provider(self, name: str) -> None:
        assert {found for found in map(detect, events(name)) if found} <= {final(name).provider, *AMBIGUOUS}


OUTCOMES = {
    "stop": "complete",
    "stop_sequence": "complete",
    "content_filter": "filtered",
    "refusal": "refused",
    "malformed": "invalid",
}
"""As `docs/concepts/outcomes.md` says."""
AMBIGUOUS = ("ollama", "openai_chat", "anthropic", "openai_responses")
"""An error alone looks the same from some providers."""


class TestCuts:
    @every_stream
    def test_before_its_end_is_told_nothing_can_be_run_law_9(self, name: str) -> None:
        end = end_of(name)
        for at, state in enumerate(states_of(name)):
            assert not any(isinstance(part, CompleteCall) for part in state.message.parts)
            if at <= end:
                message = finish_stream(state).message
                assert not any(isinstance(part, CompleteCall) for part in message.parts)
                assert message.outcome is (Outcome.REFUSED if message.refusal else Outcome.TRUNCATED)
                assert not any(part.is_open for part in message.parts)

    @every_stream
    def test_all_that_is_shown_stays_shown_law_2(self, name: str) -> None:
        for old, new in pairwise([*(state.message for state in states_of(name)), final(name)]):
            assert new.content.startswith(old.content)
            assert new.reasoning.startswith(old.reasoning)
            assert new.refusal.startswith(old.refusal)
            for before, after in zip(old.tool_calls, new.tool_calls, strict=False):
                assert after.arguments.startswith(before.arguments)

    @every_stream
    def test_what_an_event_does_not_change_is_the_same_object_law_3(self, name: str) -> None:
        for old, new in pairwise([*(state.message for state in states_of(name)), final(name)]):
            assert len(new.parts) >= len(old.parts)
            assert all(after is before or after != before for before, after in zip(old.parts, new.parts, strict=False))
            assert new.parts is old.parts or new.parts != old.parts
            assert new is old or new != old


class TestSaving:
    @every_stream
    def test_every_message_is_read_back_and_stays_as_it_was(self, name: str) -> None:
        messages = [*(state.message for state in states_of(name)), final(name)]
        for message, text in [(message, message.to_json()) for message in messages]:
            again = Message.from_json(text)
            assert again == message == pickle.loads(pickle.dumps(message))  # noqa: S301 - our own
            assert again.to_json() == text == message.to_json()

    @every_stream
    def test_a_saved_state_goes_on_to_the_same_end(self, name: str) -> None:
        told = events(name)
        for at in {1, *Random(name).sample(range(len(told)), min(2, len(told))), len(told)}:
            saved = pickle.loads(pickle.dumps(states_of(name)[at]))  # noqa: S301
            assert stream_message(told[at:], state=saved).final() == final(name)

    @every_stream
    def test_a_saved_state_goes_on_in_the_middle_of_an_event(self, name: str) -> None:
        for form in ("data: {}\r\n\r\n", NDJSON):
            data = encoded(events(name), form)
            at = Random(f"{name}{form}").randrange(len(data))
            saved = pickle.loads(pickle.dumps(feed_stream(start_stream(), data[:at])))  # noqa: S301
            assert stream_message([data[at:]], state=saved).final() == final(name)


# What is dropped.

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
    @pytest.mark.parametrize("name", [*(name for name in ALL if not STREAMS[name].second), *RECORDED])
    def test_every_leaf_is_in_the_message_or_said_to_be_dropped(self, name: str) -> None:
        provider = str(final(name).provider)
        assert [leaf for leaf in lost_from(name) if not covering(provider, *leaf)] == []

    def test_every_row_of_what_is_dropped_applies(self) -> None:
        applied = {row for name in ALL for leaf in lost_from(name) for row in covering(STREAMS[name].provider, *leaf)}
        assert [row for row in ROWS if row not in applied] == []

    def test_the_rows_say_who_what_and_why(self) -> None:
        assert len(ROWS) > 20
        assert all(row.provider and row.event and row.field and row.why for row in ROWS)
        assert len(set(ROWS)) == len(ROWS)

    @pytest.mark.long
    @every_stream
    def test_a_leaf_with_another_value_is_missed(self, name: str) -> None:
        """So that the first test sees what is lost: what is not in the message is not found in it."""
        found = shown_in(json.loads(final(name).to_json()))
        for event in events(name)[::5]:
            for path, value in leaves(event):
                other = f"{value}\1" if isinstance(value, str) else 987_654_321.5
                if not path.endswith(("createTime", "created_at", "created")):
                    assert not is_shown((path, other), found)


# Objects; those of the clients are in `test_clients`.


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def lean(message: Message) -> Any:
    """A message as JSON without what is `null`: objects have all fields that there could be."""

    def strip(value: Any) -> Any:
        if isinstance(value, list):
            return [strip(item) for item in value]
        if not isinstance(value, dict):
            return value.replace("+00:00", "Z") if isinstance(value, str) else value  # as SDKs write times
        parsed = {name: json.loads(item) for name, item in value.items() if name == "arguments" and is_json(item)}
        return {name: strip(item) for name, item in {**value, **parsed}.items() if item is not None}

    return strip(json.loads(message.to_json()))


class TestObjects:
    @every_stream
    def test_of_any_kind_say_the_same(self, name: str) -> None:
        told = [as_object(event) for event in events(name)]
        assert lean(stream_message(told).final()) == lean(final(name))


# Back into a request.


class TestRequests:
    @pytest.mark.parametrize("name", [name for name in ALL if STREAMS[name].request is not None])
    def test_it_goes_back_as_it_came(self, name: str) -> None:
        message = final(name)
        sent = to_request(message)
        assert sent == STREAMS[name].request
        assert to_request(Message.from_json(message.to_json())) == sent


# Damage.

INDICES = ("index", "output_index", "content_index", "summary_index", "contentBlockIndex")
IDS = ("id", "item_id", "call_id", "toolUseId")
WITH_CALLS = [name for name in NAMES if reading(name).calls]


def changed(part: Any, keys: tuple[str, ...], change: Callable[[Event, str], None]) -> Any:
    """A copy of an event in which the fields of some names are changed, however deep they are."""
    if isinstance(part, list):
        return [changed(item, keys, change) for item in part]
    if not isinstance(part, dict):
        return part
    copy = {key: changed(value, keys, change) for key, value in part.items()}
    for key in keys:
        if key in copy:
            change(copy, key)
    return copy


def as_meant(message: Message, name: str) -> bool:
    """Tell whether every call that can be run is one of those that the stream is meant to have."""
    meant = [(call.name, call.value) for call in reading(name).calls]
    return all(
        any(call.name == other and same(call.arguments_value, value) for other, value in meant)
        for call in message.tool_calls
        if isinstance(call, CompleteCall)
    )


@pytest.mark.parametrize("name", [*WITH_CALLS, *RECORDED])
class TestDamagedStreams:
    @pytest.mark.parametrize("written", [float, str])
    def test_say_the_same_with_indices_in_another_form(self, name: str, written: Callable[[int], object]) -> None:
        def write(part: Event, key: str) -> None:
            part[key] = written(part[key]) if type(part[key]) is int else part[key]

        message = stream_message(changed(events(name), INDICES, write)).final()
        # What no field holds is kept as it came, also if it is called an index.
        assert [read_off(call) for call in message.tool_calls] == [read_off(call) for call in final(name).tool_calls]
        assert (message.content, message.reasoning) == (final(name).content, final(name).reasoning)

    def test_run_nothing_else_without_some_of_what_tells_calls_apart(self, name: str) -> None:
        for seed, lost_keys in product(range(3), LOST):
            random = Random(seed)
            share = (0.05, 0.3, 1)[seed]

            def lose(part: Event, key: str, random: Random = random, share: float = share) -> None:
                if random.random() < share:
                    del part[key]

            assert as_meant(stream_message(changed(events(name), lost_keys, lose)).final(), name)

    def test_run_nothing_with_names_in_two_parts(self, name: str) -> None:
        if not all(call.id for call in reading(name).calls):
            return  # every name begins a call
        meant = {call.name for call in reading(name).calls}

        def half(which: slice) -> Callable[[Event, str], None]:
            def cut(part: Event, key: str) -> None:
                part[key] = part[key][which] if part[key] in meant else part[key]

            return cut

        told: list[Event] = []
        for event in events(name):
            parts = [changed(event, ("name",), half(which)) for which in (slice(2), slice(2, None))]
            told += [event] if parts[0] == event else parts
        if told == events(name):
            return  # the names are in envelopes
        message = stream_message(told).final()
        assert not any(isinstance(call, CompleteCall) for call in message.tool_calls)

    @pytest.mark.parametrize("error", [{}, {"message": "Sorry"}, "Sorry"])
    def test_run_nothing_with_an_error_at_the_end(self, name: str, error: object) -> None:
        message = stream_message([*events(name), {"error": error}]).final()
        assert message.outcome is Outcome.TRUNCATED
        assert not any(isinstance(call, CompleteCall) for call in message.tool_calls)


LOST = (INDICES, IDS, (*INDICES, *IDS), (*INDICES, "name"), (*INDICES, *IDS, "name"))


def read_off(call: Any) -> tuple[object, ...]:
    return call.id, call.name, call.arguments, call.status


def test_there_are_streams_of_every_provider() -> None:
    assert {stream.provider for stream in STREAMS.values()} == {*PROVIDERS} == {one.PROVIDER for one in WRITERS}
