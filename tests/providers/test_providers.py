"""What holds for the calls of every provider: whose an event is, arguments of any type, indices, and law 9."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from jsontide.messages import Outcome
from jsontide.providers import detect
from jsontide.streams import stream_message
from jsontide.testing import Recording
from tests.providers.block_streams import Event, last, runnable
from tests.providers.chat_events import failure
from tests.providers.dialects import (
    DIALECTS,
    IN_PIECES,
    Dialect,
    block,
    chunk,
    cohere,
    function_call,
    line,
    parts,
    response,
    step,
)


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ({"choices": []}, "openai_chat"),
        ({"error": {"message": "x"}}, "openai_chat"),
        ({"type": "response.new_event"}, "openai_responses"),
        ({"type": "error", "param": None}, "openai_responses"),
        (SimpleNamespace(type="response.created", response=None), "openai_responses"),
        ({"type": "message_start"}, "anthropic"),
        ({"candidates": [{}]}, "gemini"),
        ({"usageMetadata": {}}, "gemini"),
        ({"event_type": "step.stop"}, "gemini_interactions"),
        ({"contentBlockStop": {}}, "bedrock"),
        ({"message": {}, "done": False}, "ollama"),
        ({"error": "x"}, "ollama"),
        ({"message": {}}, None),
        ({"done": True}, None),
        ({"type": "content-start"}, "cohere"),
        ({"type": "ping"}, None),
        ({"type": "unheard-of"}, None),
        ({}, None),
        (None, None),
        ("text", None),
    ],
)
def test_an_event_tells_whose_it_is(event: object, name: str | None) -> None:
    assert detect(event) == name


def told_with(arguments: object) -> dict[str, list[Event]]:
    """A call of each provider, with these arguments where they are told, and a normal end."""
    function = {"name": "pay", "arguments": arguments}
    wholes: dict[str, Event] = {
        "openai_chat, whole": chunk(tool_calls=[{"index": 0, "id": "a", "function": function}]),
        "openai_chat, the old form": chunk(function_call=function),
        "openai_responses, item": response(
            "output_item.done", 0, item={**function_call("c", "pay"), "arguments": arguments}
        ),
        "anthropic, block": block(0, type="tool_use", id="t", name="pay", input=arguments),
        "cohere, whole": cohere("tool-call-start", 0, tool_calls={"id": "c", "function": function}),
        "gemini_interactions, step": step("start", 0, step={"type": "function_call", "id": "f", **function}),
        "gemini": parts({"functionCall": {"name": "pay", "args": arguments}}),
        "ollama": line(tool_calls=[{"function": function}]),
    }
    pieces = {name: [DIALECTS[name].head(0, "c", "pay"), DIALECTS[name].piece(0, arguments)] for name in IN_PIECES}
    told = {**pieces, **{name: [whole] for name, whole in wholes.items()}}
    return {name: [*events, dialect_of(name).end(word_for_calls(name))] for name, events in told.items()}


def dialect_of(name: str) -> Dialect:
    return DIALECTS[name.partition(",")[0]]


def word_for_calls(name: str) -> str:
    return "function_call" if name.endswith("the old form") else dialect_of(name).called


@pytest.mark.parametrize("provider", told_with(""))
class TestArgumentsOfAnyType:
    @pytest.mark.parametrize("written", ['{"amount": 5}', {"amount": 5}])
    def test_are_taken_as_text_and_as_an_object(self, provider: str, written: object) -> None:
        (call,) = last(*told_with(written)[provider]).tool_calls
        assert call.status is Outcome.COMPLETE
        assert call.arguments_value == {"amount": 5}

    @pytest.mark.parametrize("strange", [[{"amount": 5}], 5, True, 0.5])
    def test_cannot_be_run_if_they_are_neither(self, provider: str, strange: object) -> None:
        message = last(*told_with(strange)[provider])
        assert [call.status for call in message.tool_calls] == [Outcome.INVALID]


def told_to_end(provider: str, arguments: object, *, is_limit: bool) -> list[Event]:
    """The same with another end: at a limit, or with a word that nobody knows."""
    dialect = dialect_of(provider)
    return [*told_with(arguments)[provider][:-1], dialect.end(dialect.limit if is_limit else "UNHEARD_OF")]


@pytest.mark.parametrize("provider", told_with(""))
class TestLawNineOfEveryProvider:
    def test_a_call_without_arguments_at_a_limit_cannot_be_run(self, provider: str) -> None:
        message = last(*told_to_end(provider, None, is_limit=True))
        assert [call.status is Outcome.COMPLETE for call in message.tool_calls] == [False]

    @pytest.mark.parametrize("written", ["", "{}", '{"amount": 5}', {"amount": 5}])
    def test_nothing_can_be_run_after_a_word_that_nobody_knows(self, provider: str, written: object) -> None:
        message = last(*told_to_end(provider, written, is_limit=False))
        assert (message.finish_reason, message.outcome) == ("UNHEARD_OF", Outcome.TRUNCATED)
        assert (len(message.tool_calls), runnable(message)) == (1, [])

    @pytest.mark.parametrize("word", [5, True, ["stop"], {"stop": True}])
    def test_nothing_can_be_run_after_an_end_that_is_no_word(self, provider: str, word: Any) -> None:
        message = last(*told_with('{"amount": 5}')[provider][:-1], dialect_of(provider).end(word))
        assert (len(message.tool_calls), runnable(message)) == (1, [])

    @pytest.mark.parametrize("form", ["sse", "ndjson"])
    @pytest.mark.untraced
    def test_a_stream_cut_at_any_byte_cannot_be_run(self, provider: str, form: Literal["sse", "ndjson"]) -> None:
        recording = Recording.of_events(told_with('{"to": "Zoë", "amount": 5}')[provider])
        data = recording.encode(form).removesuffix(b"\n")
        for place in range(len(data) - 1):
            *_, message = stream_message([data[:place]])
            assert (runnable(message), message.outcome) == ([], Outcome.TRUNCATED)
        assert len(runnable(list(stream_message([data + b"\n"]))[-1])) == 1

    def test_a_connection_that_breaks_cannot_be_run_even_after_the_end_was_told(self, provider: str) -> None:
        def broken(events: list[Event]) -> Iterator[Event]:
            yield from events
            raise ConnectionResetError

        events = told_with('{"to": "Zoë", "amount": 5}')[provider]
        for count in range(len(events) + 1):
            *_, message = stream_message(broken(events[:count]))
            assert (runnable(message), message.outcome) == ([], Outcome.TRUNCATED)

    def test_a_stream_that_is_stopped_cannot_be_run(self, provider: str) -> None:
        events = told_with('{"to": "Zoë", "amount": 5}')[provider]
        for count in range(len(events) + 1):
            stream = stream_message(events)
            for _ in range(count):
                next(stream)
            assert (runnable(stream.stop()), stream.message.outcome) == ([], Outcome.CANCELLED)

    @pytest.mark.parametrize("error", [{}, "", [], {"message": "Sorry"}, {"code": 500}, "Sorry", True])
    def test_an_error_after_the_end_was_told_leaves_nothing_to_run(self, provider: str, error: object) -> None:
        message = last(*told_with('{"amount": 5}')[provider], {"error": error})
        assert (failure(message), runnable(message)) == ("Sorry" if "Sorry" in str(error) else "error", [])

    @pytest.mark.parametrize("none", [None, False])
    def test_a_field_that_says_that_there_is_no_error_is_none(self, provider: str, none: object) -> None:
        assert len(runnable(last(*told_with('{"amount": 5}')[provider], {"error": none}))) == 1

    def test_a_call_that_begins_after_a_limit_was_told_needs_another_end(self, provider: str) -> None:
        end = told_to_end(provider, '{"amount": 5}', is_limit=True)
        again = told_with('{"amount": 6}')[provider]
        message = last(*end, *(with_other_ids(event) for event in again[:-1]))
        # A line of Ollama after the end is of another message, so the first one keeps its reason.
        assert (message.finish_reason, runnable(message)) == ("length" if provider == "ollama" else None, [])

    def test_a_call_may_be_closed_after_its_message(self, provider: str) -> None:
        closed = dialect_of(provider).closed(0)
        assert len(runnable(last(*told_with('{"amount": 5}')[provider], *closed))) == 1

    def test_calls_end_with_the_same_word(self, provider: str) -> None:
        *_, before, message = stream_message(told_with('{"amount": 5}')[provider])
        assert (before.finish_reason, message.finish_reason) == ("tool_calls", "tool_calls")


def with_other_ids(event: Any) -> Any:
    """The same event of another call."""
    if isinstance(event, dict):
        ids, places = ("id", "call_id", "toolUseId"), ("output_index", "contentBlockIndex")
        changed = {key: f"{event[key]}2" for key in ids if key in event}
        moved = {key: event[key] + 5 for key in (*places, "index") if key in event and "delta" not in event}
        return {key: with_other_ids(value) for key, value in event.items()} | changed | moved
    return [with_other_ids(item) for item in event] if isinstance(event, list) else event


def interleaved(provider: str, index: Callable[[int], object]) -> list[Event]:
    """Two calls of a provider that tells them apart by an index, as `index` writes it, in turns."""
    dialect = DIALECTS[provider]
    names, turns = ("weather", "pay"), (('{"city": ', '{"to": '), ('"Rome"}', '"Zoe"}'))
    heads = [dialect.head(index(at), name, name) for at, name in enumerate(names)]
    pieces = [dialect.piece(index(at), piece) for turn in turns for at, piece in enumerate(turn)]
    return [*heads, *pieces, dialect.end(dialect.called)]


@pytest.mark.parametrize("provider", IN_PIECES)
class TestIndices:
    @pytest.mark.parametrize("index", [int, float, str])
    def test_are_numbers_or_digits(self, provider: str, index: Callable[[int], object]) -> None:
        message = last(*interleaved(provider, index))
        assert runnable(message) == [("weather", "weather", {"city": "Rome"}), ("pay", "pay", {"to": "Zoe"})]

    @pytest.mark.parametrize("index", [bool, lambda at: at + 0.5, lambda at: [at], lambda at: f"#{at}", lambda _: None])
    def test_that_are_nothing_else_leave_nothing_to_run(self, provider: str, index: Callable[[int], object]) -> None:
        message = last(*interleaved(provider, index))
        assert [call.status for call in message.tool_calls] == [Outcome.INVALID] * 2
