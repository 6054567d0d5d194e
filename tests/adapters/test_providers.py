"""Shapes that the recordings do not have, from the documentation of each provider."""

from typing import Any

import pytest

from jsontide.adapters import detect, stream_message
from jsontide.messages import ErrorKind, Message, Outcome

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

    def test_the_old_function_call(self) -> None:
        pieces = [{"name": "weather", "arguments": ""}, {"arguments": '{"city": '}, {"arguments": '"Rome"}'}]
        chunks = [self.chunk(function_call=piece) for piece in pieces]
        message = last(*chunks, self.chunk("function_call"))
        assert runnable(message) == [(None, "weather", {"city": "Rome"})]
        assert message.finish_reason == "tool_calls"

    def test_content_in_parts_with_thinking(self) -> None:
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
        message = last(self.chunk(content=[thinking, {"type": "text", "text": "Hi"}]), self.chunk("stop"))
        assert (message.content, message.reasoning) == ("Hi", "Hm.")

    def test_a_refusal(self) -> None:
        message = last(self.chunk(refusal="I can"), self.chunk(refusal="not."), self.chunk("stop"))
        assert (message.refusal, message.outcome) == ("I cannot.", Outcome.REFUSED)

    def test_an_error_in_the_stream(self) -> None:
        assert failure(last(self.chunk(content="Hi"), {"error": {"message": "Server had an error"}})) == (
            "Server had an error"
        )

    def test_the_index_is_zero_for_all_calls_as_ollama_sends_it(self) -> None:
        calls = [
            {"index": 0, "id": f"call_{city}", "function": {"name": "weather", "arguments": f'{{"city":"{city}"}}'}}
            for city in ("Rome", "Oslo")
        ]
        message = last(*(self.chunk(tool_calls=[call]) for call in calls), self.chunk("stop"))
        assert runnable(message) == [
            ("call_Rome", "weather", {"city": "Rome"}),
            ("call_Oslo", "weather", {"city": "Oslo"}),
        ]

    def test_arguments_as_an_object(self) -> None:
        call = {"index": 0, "id": "a", "function": {"name": "weather", "arguments": {"city": "Rome"}}}
        assert runnable(last(self.chunk(tool_calls=[call]), self.chunk("tool_calls"))) == [
            ("a", "weather", {"city": "Rome"})
        ]

    def test_the_events_that_the_helper_of_the_sdk_makes_of_chunks(self) -> None:
        events: list[Event] = [
            {"type": "chunk", "chunk": self.chunk(content="Hi"), "snapshot": {}},
            {"type": "content.delta", "delta": "Hi", "snapshot": "Hi"},
            {"type": "chunk", "chunk": self.chunk("stop"), "snapshot": {}},
        ]
        message = last(*events)
        assert (message.content, message.outcome) == ("Hi", Outcome.COMPLETE)


ADDED: Event = {
    "type": "response.output_item.added",
    "output_index": 1,
    "item": {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": ""},
}


class TestOpenAIResponses:
    def test_arguments_that_come_only_when_they_are_done(self) -> None:
        done = {"type": "response.function_call_arguments.done", "output_index": 1, "arguments": '{"city":"Rome"}'}
        end = {"type": "response.completed", "response": {"output": [{"type": "function_call"}]}}
        assert runnable(last(ADDED, done, end)) == [("call_1", "weather", {"city": "Rome"})]

    def test_arguments_that_come_only_with_the_item(self) -> None:
        item = {**ADDED["item"], "arguments": '{"city":"Rome"}'}
        done = {"type": "response.output_item.done", "output_index": 1, "item": item}
        end = {"type": "response.completed", "response": {"output": []}}
        assert runnable(last(ADDED, done, end)) == [("call_1", "weather", {"city": "Rome"})]
        assert runnable(last(done, end)) == [("call_1", "weather", {"city": "Rome"})]

    def test_no_terminal_event(self) -> None:
        delta = {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"city":"Rome"}'}
        assert last(ADDED, delta).tool_calls[0].status is Outcome.TRUNCATED

    @pytest.mark.parametrize(
        ("reason", "outcome"),
        [("max_output_tokens", Outcome.TRUNCATED), ("content_filter", Outcome.FILTERED)],
    )
    def test_an_incomplete_response(self, reason: str, outcome: Outcome) -> None:
        text = {"type": "response.output_text.delta", "delta": "Once"}
        end = {"type": "response.incomplete", "response": {"incomplete_details": {"reason": reason}}}
        assert last(text, end).outcome is outcome

    def test_a_failed_response(self) -> None:
        begun = {"type": "response.created", "response": {}}
        failed = {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "Sorry"}}}
        assert failure(last(begun, failed)) == "Sorry"
        error = {"type": "error", "code": "rate_limit", "message": "Slow down", "param": None, "sequence_number": 1}
        assert failure(last(begun, error)) == "Slow down"
        assert failure(last(error)) == "Slow down"

    def test_a_refusal(self) -> None:
        refusal = {"type": "response.refusal.delta", "delta": "No."}
        assert last(refusal, {"type": "response.completed", "response": {}}).outcome is Outcome.REFUSED

    def test_text_for_a_custom_tool_with_quotes_and_newlines(self) -> None:
        item = {"type": "custom_tool_call", "id": "ct", "call_id": "call_1", "name": "sql", "input": ""}
        added = {"type": "response.output_item.added", "output_index": 0, "item": item}
        pieces = ['say "hi"\n', "\\ 𝄞"]
        deltas = [
            {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": piece} for piece in pieces
        ]
        done = {"type": "response.custom_tool_call_input.done", "output_index": 0, "input": "".join(pieces)}
        end = {"type": "response.completed", "response": {"output": [item]}}
        assert runnable(last(added, *deltas, done, end)) == [("call_1", "sql", 'say "hi"\n\\ 𝄞')]
        assert last(added, *deltas, end).tool_calls[0].status is Outcome.TRUNCATED


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

    def test_a_limit_in_the_middle_of_arguments(self) -> None:
        call = self.block(1, type="tool_use", id="t", name="weather", input={})
        message = last(call, self.json(1, ""), self.json(1, '{"city": "Ro'), self.end("max_tokens"))
        assert message.tool_calls[0].status is Outcome.TRUNCATED
        assert message.tool_calls[0].partial == {"city": "Ro"}

    def test_a_full_context_window_is_a_limit_too(self) -> None:
        assert last(self.end("model_context_window_exceeded")).outcome is Outcome.TRUNCATED

    def test_a_refusal_says_why(self) -> None:
        message = last(self.end("refusal", stop_details={"explanation": "Not that."}))
        assert (message.outcome, message.refusal) == (Outcome.REFUSED, "Not that.")

    def test_an_error_in_the_stream(self) -> None:
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        assert failure(last(error)) == "Overloaded"

    def test_events_of_a_beta_or_of_the_helper_are_passed_over(self) -> None:
        odd = [{"type": "compaction_delta"}, {"type": "text", "text": "Hi", "snapshot": "Hi"}, {"type": "ping"}]
        compaction = {"type": "content_block_delta", "index": 0, "delta": {"type": "compaction_delta", "content": "x"}}
        text = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}
        assert last({"type": "ping"}, *odd, text, *odd, compaction, self.end("end_turn")).content == "Hi"


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

    def test_errors(self) -> None:
        begun = {"event_type": "interaction.created"}
        assert failure(last(begun, {"event_type": "error", "error": {"message": "Quota"}})) == "Quota"
        failed = {"event_type": "interaction.completed", "interaction": {"status": "failed"}}
        assert failure(last(begun, failed)) == "the interaction failed"

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

    def test_a_call_without_any_delta_has_no_arguments(self) -> None:
        assert runnable(last(self.call(0, toolUseId="t", name="now"), self.end("tool_use"))) == [("t", "now", {})]

    def test_tools_that_the_server_runs_are_not_shown(self) -> None:
        server = self.call(0, toolUseId="s", name="search", type="server_tool_use")
        assert last(server, self.more(0, "{}"), self.end("end_turn")).tool_calls == ()

    @pytest.mark.parametrize(
        ("reason", "outcome"),
        [
            ("guardrail_intervened", Outcome.FILTERED),
            ("content_filtered", Outcome.FILTERED),
            ("malformed_tool_use", Outcome.INVALID),
            ("max_tokens", Outcome.TRUNCATED),
        ],
    )
    def test_other_ends(self, reason: str, outcome: Outcome) -> None:
        message = last(self.call(0, toolUseId="t", name="now"), self.more(0, '{"a": 1'), self.end(reason))
        assert message.outcome is outcome
        assert runnable(message) == []

    @pytest.mark.parametrize("name", ["throttlingException", "modelStreamErrorException", "validationException"])
    def test_exceptions_in_the_stream(self, name: str) -> None:
        assert failure(last({"messageStart": {"role": "assistant"}}, {name: {"message": "Too many"}})) == "Too many"
        assert failure(last({name: {}})) == name


class TestOllama:
    @staticmethod
    def line(*, done: bool = False, **message: Any) -> Event:
        return {"model": "m", "message": {"role": "assistant", **message}, "done": done}

    def test_calls_come_whole_without_id_and_index(self) -> None:
        calls = [{"function": {"name": "weather", "arguments": {"city": city}}} for city in ("Rome", "Rome", "Oslo")]
        message = last(
            self.line(content="", thinking="Hm."),
            self.line(content="", tool_calls=calls[:2]),
            self.line(content="", tool_calls=calls[2:]),
            {**self.line(content="", done=True), "done_reason": "stop"},
        )
        assert message.reasoning == "Hm."
        assert runnable(message) == [(None, "weather", {"city": city}) for city in ("Rome", "Rome", "Oslo")]

    def test_a_call_without_arguments(self) -> None:
        calls = [{"function": {"name": "now", "arguments": {}}}, {"function": {"name": "now"}}]
        assert runnable(last(self.line(tool_calls=calls), self.line(done=True))) == [(None, "now", {})] * 2

    def test_a_limit(self) -> None:
        assert last(self.line(content="Once"), {**self.line(done=True), "done_reason": "length"}).outcome is (
            Outcome.TRUNCATED
        )

    def test_an_error_in_the_stream(self) -> None:
        assert failure(last(self.line(content="Hi"), {"error": "model runner crashed"})) == "model runner crashed"


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

    def test_other_ends(self) -> None:
        begun = {"type": "message-start", "delta": {"message": {"role": "assistant"}}}
        assert last(begun, self.end("MAX_TOKENS")).outcome is Outcome.TRUNCATED
        assert last(begun, self.end("ERROR_TOXIC")).outcome is Outcome.FILTERED
        assert failure(last(begun, self.end("ERROR"))) == "ERROR"

    def test_thinking(self) -> None:
        content = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"thinking": "Hm."}}}}
        assert last(content).reasoning == "Hm."


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ({"choices": []}, "openai-chat"),
        ({"error": {"message": "x"}}, "openai-chat"),
        ({"type": "response.new_event"}, "openai-responses"),
        ({"type": "message_start"}, "anthropic"),
        ({"candidates": [{}]}, "gemini"),
        ({"usageMetadata": {}}, "gemini"),
        ({"event_type": "step.stop"}, "gemini-interactions"),
        ({"contentBlockStop": {}}, "bedrock"),
        ({"message": {}, "done": False}, "ollama"),
        ({"error": "x"}, "ollama"),
        ({"type": "content-start"}, "cohere"),
        ({"type": "unheard-of"}, None),
        ({}, None),
        (None, None),
        ("text", None),
    ],
)
def test_an_event_tells_whose_it_is(event: object, name: str | None) -> None:
    found = detect(event)
    assert (found and found.name) == name
