"""Shapes that the recordings do not contain, from the documentation of each provider."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest

from jsontide.messages import ErrorKind, Message, Outcome
from jsontide.providers import detect
from jsontide.streams import stream_message
from jsontide.testing import Recording

Event = dict[str, Any]


def last(*events: Event) -> Message:
    *_, message = stream_message(events)
    return message


def runnable(message: Message) -> list[tuple[str | None, str | None, object]]:
    return [
        (call.id, call.name, call.arguments_value) for call in message.tool_calls if call.status is Outcome.COMPLETE
    ]


def failure(message: Message) -> str:
    (error,) = (error for error in message.errors if error.source == "stream")
    assert error.kind is ErrorKind.TRANSPORT
    assert message.outcome is Outcome.TRUNCATED
    return error.message


class TestOpenAIChat:
    @staticmethod
    def chunk(reason: str | None = None, **delta: Any) -> Event:
        return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    @pytest.mark.parametrize("index", [1, 1.0, "1"])
    def test_only_the_first_choice_counts_however_its_index_is_written(self, index: object) -> None:
        def choice(index: object, content: str) -> Event:
            return {"index": index, "delta": {"content": content}, "finish_reason": None}

        other, own = choice(index, "other"), choice(type(index)(0), "own")  # type: ignore[call-arg]
        events = [{"choices": [other]}, {"choices": [own]}, {"choices": [other, own]}, self.chunk("stop")]
        assert last(*events).content == "ownown"
        without = [{"delta": {"content": content}} for content in ("own", "other")]
        assert last({"choices": without}, self.chunk("stop")).content == "own"

    @pytest.mark.parametrize("strange", ["", " 0", "-1", "0x1", "²", "٣", "1" * 5_000, 0.5, 1e300, True, [0]])
    def test_an_index_that_is_no_number_is_none(self, strange: object) -> None:
        calls = [{"index": strange, "id": "a", "function": {"name": "now", "arguments": piece}} for piece in ("{", "}")]
        (call,) = last(self.chunk(tool_calls=calls), self.chunk("tool_calls")).tool_calls
        assert (call.index, call.arguments, call.status) == (0, "{}", Outcome.COMPLETE)

    @pytest.mark.parametrize(
        ("said", "reason"),
        [
            ("eos", "tool_calls"),
            ("eos_token", "tool_calls"),
            ("end_turn", "tool_calls"),
            ("STOP", "tool_calls"),
            ("TOOL_CALLS", "tool_calls"),
            ("tool_use", "tool_calls"),
            ("MAX_TOKENS", "length"),
            ("content_filter: SAFETY", "content_filter"),
            ("RECITATION", "content_filter"),
            ("stop_sequence", "stop_sequence"),
            ("repetition", "repetition"),
            ("Paused", "Paused"),
            ("stop: maybe", "stop: maybe"),
        ],
    )
    def test_words_of_other_providers_for_the_end(self, said: str, reason: str) -> None:
        call = {"index": 0, "id": "a", "function": {"name": "now", "arguments": ""}}
        message = last(self.chunk(tool_calls=[call]), self.chunk(said))
        assert message.finish_reason == reason
        assert runnable(message) == ([("a", "now", {})] if reason == "tool_calls" else [])
        if reason == "tool_calls":
            assert last(self.chunk(content="Hi"), self.chunk(said)).finish_reason == "stop"

    @pytest.mark.parametrize("nothing", ["", None, {}])
    def test_an_empty_error_beside_an_answer_is_none(self, nothing: object) -> None:
        message = last({**self.chunk(content="Hi"), "error": nothing}, self.chunk("stop"))
        assert (message.content, message.outcome) == ("Hi", Outcome.COMPLETE)


ADDED: Event = {
    "type": "response.output_item.added",
    "output_index": 1,
    "item": {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": ""},
}


class TestAnthropic:
    @staticmethod
    def block(index: int, **block: Any) -> Event:
        return {"type": "content_block_start", "index": index, "content_block": block}

    @staticmethod
    def json(index: int, piece: str) -> Event:
        delta = {"type": "input_json_delta", "partial_json": piece}
        return {"type": "content_block_delta", "index": index, "delta": delta}

    @staticmethod
    def end(reason: str, **details: Any) -> Event:
        return {"type": "message_delta", "delta": {"stop_reason": reason, **details}}

    def test_tools_that_the_server_runs_are_not_shown(self) -> None:
        message = last(
            self.block(0, type="server_tool_use", id="s", name="web_search", input={}),
            self.json(0, '{"query": "Rome"}'),
            self.block(1, type="mcp_tool_use", id="m", name="echo", input={}),
            self.json(1, "{}"),
            self.block(2, type="tool_use", id="t", name="weather", input={}),
            self.json(2, '{"city": "Rome"}'),
            self.end("tool_use"),
        )
        assert runnable(message) == [("t", "weather", {"city": "Rome"})]
        assert len(message.tool_calls) == 1

    def test_a_refusal_says_why(self) -> None:
        message = last(self.end("refusal", stop_details={"explanation": "Not that."}))
        assert (message.outcome, message.refusal) == (Outcome.REFUSED, "Not that.")


class TestGeminiInteractions:
    def test_a_function_call_in_deltas(self) -> None:
        start = {
            "event_type": "step.start",
            "index": 2,
            "step": {"type": "function_call", "id": "f", "name": "weather"},
        }
        deltas = [
            {"event_type": "step.delta", "index": 2, "delta": {"type": "arguments_delta", "arguments": piece}}
            for piece in ('{"city": ', '"Rome"}')
        ]
        end = {"event_type": "interaction.completed", "interaction": {"status": "requires_action"}}
        assert runnable(last(start, *deltas, {"event_type": "step.stop", "index": 2}, end)) == [
            ("f", "weather", {"city": "Rome"})
        ]

    def test_a_function_call_that_comes_whole(self) -> None:
        step = {"type": "function_call", "id": "f", "name": "weather", "arguments": {"city": "Rome"}}
        end = {"event_type": "interaction.completed", "interaction": {"status": "completed"}}
        assert runnable(last({"event_type": "step.start", "index": 0, "step": step}, end)) == [
            ("f", "weather", {"city": "Rome"})
        ]

    def test_a_search_that_the_server_runs_is_not_shown(self) -> None:
        start = {"event_type": "step.start", "index": 0, "step": {"type": "google_search_call", "id": "g"}}
        delta = {"event_type": "step.delta", "index": 0, "delta": {"type": "arguments_delta", "arguments": "{}"}}
        end = {"event_type": "interaction.completed", "interaction": {"status": "completed"}}
        assert last(start, delta, end).tool_calls == ()

    def test_a_summary_of_thoughts(self) -> None:
        summary = {"type": "thought_summary", "content": {"type": "text", "text": "Hm."}}
        assert last({"event_type": "step.delta", "index": 0, "delta": summary}).reasoning == "Hm."


class TestBedrock:
    @staticmethod
    def call(index: int, **tool: Any) -> Event:
        return {"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": tool}}}

    @staticmethod
    def more(index: int, piece: str) -> Event:
        return {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"toolUse": {"input": piece}}}}

    @staticmethod
    def end(reason: str) -> Event:
        return {"messageStop": {"stopReason": reason}}

    def test_tools_that_the_server_runs_are_not_shown(self) -> None:
        server = self.call(0, toolUseId="s", name="search", type="server_tool_use")
        assert last(server, self.more(0, "{}"), self.end("end_turn")).tool_calls == ()


class TestOllama:
    @staticmethod
    def line(*, done: bool = False, **message: Any) -> Event:
        return {"model": "m", "message": {"role": "assistant", **message}, "done": done}

    @pytest.mark.parametrize("reason", [5, ["stop"], {"stop": True}])
    def test_a_reason_that_is_no_text_leaves_nothing_to_run(self, reason: object) -> None:
        calls = [{"function": {"name": "now", "arguments": {}}}]
        assert runnable(last(self.line(tool_calls=calls), {**self.line(done=True), "done_reason": reason})) == []


class TestCohere:
    @staticmethod
    def call(kind: str, index: int, **call: Any) -> Event:
        return {"type": kind, "index": index, "delta": {"message": {"tool_calls": call}}}

    @staticmethod
    def end(reason: str) -> Event:
        return {"type": "message-end", "delta": {"finish_reason": reason}}

    def test_a_call_in_deltas(self) -> None:
        message = last(
            self.call("tool-call-start", 0, id="c", function={"name": "weather", "arguments": ""}),
            self.call("tool-call-delta", 0, function={"arguments": '{"city": '}),
            self.call("tool-call-delta", 0, function={"arguments": '"Rome"}'}),
            {"type": "tool-call-end", "index": 0},
            self.end("TOOL_CALL"),
        )
        assert runnable(message) == [("c", "weather", {"city": "Rome"})]

    def test_thinking(self) -> None:
        content = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"thinking": "Hm."}}}}
        assert last(content).reasoning == "Hm."


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ({"choices": []}, "openai_chat"),
        ({"error": {"message": "x"}}, "openai_chat"),
        ({"type": "response.new_event"}, "openai_responses"),
        ({"type": "message_start"}, "anthropic"),
        ({"candidates": [{}]}, "gemini"),
        ({"usageMetadata": {}}, "gemini"),
        ({"event_type": "step.stop"}, "gemini_interactions"),
        ({"contentBlockStop": {}}, "bedrock"),
        ({"message": {}, "done": False}, "ollama"),
        ({"error": "x"}, "ollama"),
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
    chat, anthropic, bedrock, cohere = TestOpenAIChat, TestAnthropic, TestBedrock, TestCohere
    item = {**ADDED["item"], "arguments": arguments}
    completed = {"type": "response.completed", "response": {}}
    begun = anthropic.block(0, type="tool_use", id="t", name="pay", input={})
    step = {"type": "function_call", "id": "f", "name": "pay", "arguments": arguments}
    part = {"functionCall": {"name": "pay", "args": arguments}}
    return {
        "chat": [chat.chunk(tool_calls=[{"index": 0, "id": "a", "function": function}]), chat.chunk("tool_calls")],
        "chat, the old form": [chat.chunk(function_call=function), chat.chunk("function_call")],
        "responses, item": [{"type": "response.output_item.done", "output_index": 0, "item": item}, completed],
        "responses, delta": [
            ADDED,
            {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": arguments},
            completed,
        ],
        "anthropic, block": [
            anthropic.block(0, type="tool_use", id="t", name="pay", input=arguments),
            anthropic.end("tool_use"),
        ],
        "anthropic, delta": [begun, anthropic.json(0, arguments), anthropic.end("tool_use")],  # type: ignore[arg-type]
        "bedrock": [
            bedrock.call(0, toolUseId="t", name="pay"),
            bedrock.more(0, arguments),  # type: ignore[arg-type]
            bedrock.end("tool_use"),
        ],
        "cohere": [cohere.call("tool-call-start", 0, id="c", function=function), cohere.end("TOOL_CALL")],
        "interactions": [
            {"event_type": "step.start", "index": 0, "step": step},
            {"event_type": "interaction.completed", "interaction": {"status": "completed"}},
        ],
        "gemini": [{"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}],
        "ollama": [TestOllama.line(tool_calls=[{"function": function}]), TestOllama.line(done=True)],
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


def test_a_piece_of_arguments_of_another_type_does_not_go_missing_unnoticed() -> None:
    for pieces in (['{"to": "Z', 5, 'oe"}'], ['{"to": "Z', ["o"], 'e"}']):
        calls = [{"index": 0, "id": "a", "function": {"name": "pay", "arguments": piece}} for piece in pieces]
        chunks = [TestOpenAIChat.chunk(tool_calls=[call]) for call in calls]
        assert runnable(last(*chunks, TestOpenAIChat.chunk("tool_calls"))) == []
    item = {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": ""}
    message = last(
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": ["DROP"]},
        {"type": "response.output_item.done", "output_index": 0, "item": {**item, "input": 7}},
        {"type": "response.completed", "response": {}},
    )
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
        "chat": TestOpenAIChat.chunk(said("length")),
        "responses": {"type": "response.completed", "response": {"status": said("incomplete")}},
        "anthropic": TestAnthropic.end(said("max_tokens")),
        "bedrock": TestBedrock.end(said("max_tokens")),
        "cohere": TestCohere.end(said("MAX_TOKENS")),
        "interactions": {"event_type": "interaction.completed", "interaction": {"status": said("incomplete")}},
        "ollama": {**TestOllama.line(done=True), "done_reason": said("length")},
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
    chat, anthropic, bedrock, cohere = TestOpenAIChat, TestAnthropic, TestBedrock, TestCohere
    zero, one = index(0), index(1)
    first, second = ('{"city": ', '"Rome"}'), ('{"to": ', '"Zoe"}')
    turns = [(zero, first[0]), (one, second[0]), (zero, first[1]), (one, second[1])]
    names = [(zero, "weather"), (one, "pay")]
    return {
        "chat": [
            *(chat.chunk(tool_calls=[{"index": at, "id": name, "function": {"name": name}}]) for at, name in names),
            *(chat.chunk(tool_calls=[{"index": at, "function": {"arguments": piece}}]) for at, piece in turns),
            chat.chunk("tool_calls"),
        ],
        "responses": [
            *(
                {**ADDED, "output_index": at, "item": {**ADDED["item"], "call_id": name, "name": name}}
                for at, name in names
            ),
            *(
                {"type": "response.function_call_arguments.delta", "output_index": at, "delta": piece}
                for at, piece in turns
            ),
            {"type": "response.completed", "response": {}},
        ],
        "anthropic": [
            *(anthropic.block(at, type="tool_use", id=name, name=name, input={}) for at, name in names),  # type: ignore[arg-type]
            *(anthropic.json(at, piece) for at, piece in turns),  # type: ignore[arg-type]
            anthropic.end("tool_use"),
        ],
        "bedrock": [
            *(bedrock.call(at, toolUseId=name, name=name) for at, name in names),  # type: ignore[arg-type]
            *(bedrock.more(at, piece) for at, piece in turns),  # type: ignore[arg-type]
            bedrock.end("tool_use"),
        ],
        "cohere": [
            *(cohere.call("tool-call-start", at, id=name, function={"name": name}) for at, name in names),  # type: ignore[arg-type]
            *(cohere.call("tool-call-delta", at, function={"arguments": piece}) for at, piece in turns),  # type: ignore[arg-type]
            cohere.end("TOOL_CALL"),
        ],
        "interactions": [
            *(
                {"event_type": "step.start", "index": at, "step": {"type": "function_call", "id": name, "name": name}}
                for at, name in names
            ),
            *(
                {"event_type": "step.delta", "index": at, "delta": {"type": "arguments_delta", "arguments": piece}}
                for at, piece in turns
            ),
            {"event_type": "interaction.completed", "interaction": {"status": "requires_action"}},
        ],
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
