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

# Events of each provider that tell of a call, and of the end.

ADDED: Event = {
    "type": "response.output_item.added",
    "output_index": 1,
    "item": {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": ""},
}
COMPLETED: Event = {"type": "response.completed", "response": {}}


def chunk(reason: str | None = None, **delta: Any) -> Event:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def arguments_delta(index: object, piece: object) -> Event:
    return {"type": "response.function_call_arguments.delta", "output_index": index, "delta": piece}


def block(index: object, **told: Any) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", **told}}


def json_delta(index: object, piece: object) -> Event:
    return {
        "type": "content_block_delta",
        "index": index,
        "delta": {"type": "input_json_delta", "partial_json": piece},
    }


def message_delta(reason: str) -> Event:
    return {"type": "message_delta", "delta": {"stop_reason": reason}}


def tool_use(index: object, **told: Any) -> Event:
    return {"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": told}}}


def tool_delta(index: object, piece: object) -> Event:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"toolUse": {"input": piece}}}}


def message_stop(reason: str) -> Event:
    return {"messageStop": {"stopReason": reason}}


def tool_call(kind: str, index: object, **told: Any) -> Event:
    return {"type": f"tool-call-{kind}", "index": index, "delta": {"message": {"tool_calls": told}}}


def message_end(reason: str) -> Event:
    return {"type": "message-end", "delta": {"finish_reason": reason}}


def step(kind: str, index: object, **told: Any) -> Event:
    return {"event_type": f"step.{kind}", "index": index, **told}


def interaction(status: str) -> Event:
    return {"event_type": "interaction.completed", "interaction": {"status": status}}


def line(*, done: bool = False, **message: Any) -> Event:
    return {"model": "m", "message": {"role": "assistant", **message}, "done": done}


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
    item = {**ADDED["item"], "arguments": arguments}
    call = {"type": "function_call", "id": "f", **function}
    part = {"functionCall": {"name": "pay", "args": arguments}}
    return {
        "chat": [chunk(tool_calls=[{"index": 0, "id": "a", "function": function}]), chunk("tool_calls")],
        "chat, the old form": [chunk(function_call=function), chunk("function_call")],
        "responses, item": [{"type": "response.output_item.done", "output_index": 0, "item": item}, COMPLETED],
        "responses, delta": [ADDED, arguments_delta(1, arguments), COMPLETED],
        "anthropic, block": [block(0, id="t", name="pay", input=arguments), message_delta("tool_use")],
        "anthropic, delta": [
            block(0, id="t", name="pay", input={}),
            json_delta(0, arguments),
            message_delta("tool_use"),
        ],
        "bedrock": [tool_use(0, toolUseId="t", name="pay"), tool_delta(0, arguments), message_stop("tool_use")],
        "cohere": [tool_call("start", 0, id="c", function=function), message_end("TOOL_CALL")],
        "interactions": [step("start", 0, step=call), interaction("completed")],
        "gemini": [{"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}],
        "ollama": [line(tool_calls=[{"function": function}]), line(done=True)],
    }


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

    def said(limit: str) -> str:
        return limit if is_limit else "UNHEARD_OF"

    events = told_with(arguments)[provider]
    if provider == "gemini":
        (candidate,) = events[-1]["candidates"]
        return [{"candidates": [{**candidate, "finishReason": said("MAX_TOKENS")}]}]
    ends: dict[str, Event] = {
        "chat": chunk(said("length")),
        "responses": {**COMPLETED, "response": {"status": said("incomplete")}},
        "anthropic": message_delta(said("max_tokens")),
        "bedrock": message_stop(said("max_tokens")),
        "cohere": message_end(said("MAX_TOKENS")),
        "interactions": interaction(said("incomplete")),
        "ollama": {**line(done=True), "done_reason": said("length")},
    }
    return [*events[:-1], ends[provider.partition(",")[0]]]


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
        later = [with_other_ids(event) for event in (again if provider == "gemini" else again[:-1])]
        if provider == "gemini":
            later[0]["candidates"][0].pop("finishReason")
        message = last(*end, *later)
        # A line of Ollama after the end is of another message, so the first one keeps its reason.
        assert (message.finish_reason, runnable(message)) == ("length" if provider == "ollama" else None, [])

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


def interleaved(index: Callable[[int], object]) -> dict[str, list[Event]]:
    """Two calls of each provider that tells them apart by an index, as `index` writes it, in turns."""
    zero, one = index(0), index(1)
    first, second = ('{"city": ', '"Rome"}'), ('{"to": ', '"Zoe"}')
    turns = [(zero, first[0]), (one, second[0]), (zero, first[1]), (one, second[1])]
    names = [(zero, "weather"), (one, "pay")]

    def told(head: Callable[[Any, str], Event], piece: Callable[[Any, str], Event], end: Event) -> list[Event]:
        return [*(head(*name) for name in names), *(piece(*turn) for turn in turns), end]

    return {
        "chat": told(
            lambda at, name: chunk(tool_calls=[{"index": at, "id": name, "function": {"name": name}}]),
            lambda at, piece: chunk(tool_calls=[{"index": at, "function": {"arguments": piece}}]),
            chunk("tool_calls"),
        ),
        "responses": told(
            lambda at, name: {**ADDED, "output_index": at, "item": {**ADDED["item"], "call_id": name, "name": name}},
            arguments_delta,
            COMPLETED,
        ),
        "anthropic": told(
            lambda at, name: block(at, id=name, name=name, input={}), json_delta, message_delta("tool_use")
        ),
        "bedrock": told(lambda at, name: tool_use(at, toolUseId=name, name=name), tool_delta, message_stop("tool_use")),
        "cohere": told(
            lambda at, name: tool_call("start", at, id=name, function={"name": name}),
            lambda at, piece: tool_call("delta", at, function={"arguments": piece}),
            message_end("TOOL_CALL"),
        ),
        "interactions": told(
            lambda at, name: step("start", at, step={"type": "function_call", "id": name, "name": name}),
            lambda at, piece: step("delta", at, delta={"type": "arguments_delta", "arguments": piece}),
            interaction("requires_action"),
        ),
    }


@pytest.mark.parametrize("provider", interleaved(int))
class TestIndices:
    @pytest.mark.parametrize("index", [int, float, str])
    def test_are_numbers_or_digits(self, provider: str, index: Callable[[int], object]) -> None:
        message = last(*interleaved(index)[provider])
        assert runnable(message) == [("weather", "weather", {"city": "Rome"}), ("pay", "pay", {"to": "Zoe"})]

    @pytest.mark.parametrize("index", [bool, lambda at: at + 0.5, lambda at: [at], lambda at: f"#{at}", lambda _: None])
    def test_that_are_nothing_else_leave_nothing_to_run(self, provider: str, index: Callable[[int], object]) -> None:
        message = last(*interleaved(index)[provider])
        assert [call.status for call in message.tool_calls] == [Outcome.INVALID] * 2
