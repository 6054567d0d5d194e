"""Ollama's own chat endpoint: streams, whole answers, and the next request."""

import base64
from typing import Any

import pytest

from jsontide.messages import (
    CompleteCall,
    File,
    Message,
    Outcome,
    PartialCall,
    ReasoningPart,
    TextPart,
    Tool,
    ToolResult,
    Usage,
)
from jsontide.providers import detect, reduce_item, start_stream, to_request, tool_definitions
from jsontide.streams import stream_message
from tests.providers.block_streams import (
    Event,
    check_law_nine_at_every_cut,
    check_law_three,
    check_saved,
    last,
    missing_leaves,
    only,
    runnable,
)
from tests.providers.chat_events import failure, kinds


def line(*, done: bool = False, **message: Any) -> Event:
    return {"model": "m", "message": {"role": "assistant", **message}, "done": done}


COUNTS = {"prompt_eval_count": 26, "eval_count": 298}
TIMES = {"total_duration": 5191566416, "load_duration": 2154458, "prompt_eval_duration": 1, "eval_duration": 4799921000}
END: Event = {**line(content="", done=True), "done_reason": "stop", **TIMES, **COUNTS}
CALLS = [
    {"id": f"call_{city}", "function": {"index": at, "name": "weather", "arguments": {"city": city}}}
    for at, city in enumerate(("Rome", "Oslo"))
]
STREAM: list[Event] = [
    {**event, "created_at": f"2026-01-02T03:04:05.00000000{at}Z"}
    for at, event in enumerate(
        [
            line(content="", thinking="They want "),
            line(content="", thinking="the weather."),
            line(content="Let me "),
            line(content="look."),
            line(content="", tool_calls=CALLS[:1]),
            line(content="", tool_calls=CALLS[1:]),
            END,
        ]
    )
]
DROPPED = [("line", "created_at"), ("line", "done")]


class TestAStream:
    def test_is_read(self) -> None:
        message = last(*STREAM)
        assert kinds(message) == ["ReasoningPart", "TextPart", "CompleteCall", "CompleteCall"]
        assert (message.reasoning, message.content) == ("They want the weather.", "Let me look.")
        assert runnable(message) == [(f"call_{city}", "weather", {"city": city}) for city in ("Rome", "Oslo")]
        assert (message.model, message.provider, message.created) == ("m", "ollama", 1767323045)
        assert message.usage == Usage(input_tokens=26, output_tokens=298, total_tokens=324, raw=COUNTS)
        assert message.metadata == TIMES
        assert (message.finish_reason, message.raw_finish_reason) == ("tool_calls", "stop")
        assert [call.extra for call in message.tool_calls] == [{"index": 0}, {"index": 1}]

    def test_loses_nothing_and_can_be_saved_anywhere(self) -> None:
        assert missing_leaves(STREAM, last(*STREAM), lambda _: "line", DROPPED) == []
        check_saved(STREAM)
        check_law_three(STREAM)
        check_law_nine_at_every_cut(STREAM, lambda event: event["done"])

    def test_is_also_read_as_a_whole(self) -> None:
        whole = {**END, "message": {"role": "assistant", "content": "Hi", "thinking": "Hm.", "tool_calls": CALLS}}
        message = last(whole)
        assert kinds(message) == ["ReasoningPart", "TextPart", "CompleteCall", "CompleteCall"]
        assert (message.usage, message.outcome) == (last(*STREAM).usage, Outcome.COMPLETE)

    def test_of_objects_of_the_sdk(self) -> None:
        ollama = pytest.importorskip("ollama", reason="the objects of the SDK are needed")
        # They have no ids, and leave out what they do not know.
        objects = [ollama.ChatResponse(**event) for event in STREAM]
        message = last(*objects)
        assert (message.content, message.usage, message.metadata) == ("Let me look.", last(*STREAM).usage, TIMES)
        assert [call.arguments for call in message.tool_calls] == [call.arguments for call in last(*STREAM).tool_calls]


class TestShapes:
    def test_calls_come_whole_without_id_and_index(self) -> None:
        calls = [{"function": {"name": "weather", "arguments": {"city": city}}} for city in ("Rome", "Rome", "Oslo")]
        message = last(
            line(content="", thinking="Hm."),
            line(content="", tool_calls=calls[:2]),
            line(content="", tool_calls=calls[2:]),
            {**line(content="", done=True), "done_reason": "stop"},
        )
        assert message.reasoning == "Hm."
        assert runnable(message) == [(None, "weather", {"city": city}) for city in ("Rome", "Rome", "Oslo")]

    def test_a_call_without_arguments(self) -> None:
        calls = [{"function": {"name": "now", "arguments": {}}}, {"function": {"name": "now"}}]
        assert runnable(last(line(tool_calls=calls), line(done=True))) == [(None, "now", {})] * 2

    @pytest.mark.parametrize("strange", [[{"amount": 5}], 5, True, 0.5])
    def test_arguments_that_are_no_object_cannot_be_run(self, strange: object) -> None:
        message = last(line(tool_calls=[{"function": {"name": "pay", "arguments": strange}}]), line(done=True))
        assert [call.status for call in message.tool_calls] == [Outcome.INVALID]

    def test_one_call_that_is_no_json_does_not_take_the_next_one_with_it(self) -> None:
        calls = [{"function": {"name": "weather", "arguments": {"at": value}}} for value in (float("nan"), 1)]
        message = last(line(tool_calls=calls), line(done=True))
        assert [call.status for call in message.tool_calls] == [Outcome.INVALID, Outcome.COMPLETE]

    def test_a_limit(self) -> None:
        message = last(line(content="Once"), {**line(done=True), "done_reason": "length"})
        assert (message.outcome, message.finish_reason) == (Outcome.TRUNCATED, "length")

    def test_an_old_server_does_not_say_why_it_ends(self) -> None:
        message = last(line(content="Hi"), line(done=True))
        assert (message.outcome, message.finish_reason, message.raw_finish_reason) == (Outcome.COMPLETE, "stop", None)

    @pytest.mark.parametrize("reason", [5, ["stop"], {"stop": True}, "unheard-of"])
    def test_a_reason_that_nobody_knows_leaves_nothing_to_run(self, reason: object) -> None:
        calls = [{"function": {"name": "now", "arguments": {}}}]
        assert runnable(last(line(tool_calls=calls), {**line(done=True), "done_reason": reason})) == []

    def test_an_error_in_the_stream(self) -> None:
        message = last(line(content="Hi", tool_calls=CALLS), {"error": "model runner crashed"})
        assert (failure(message), runnable(message)) == ("model runner crashed", [])
        assert failure(last({**line(content="Hi"), "error": "out of memory"})) == "out of memory"
        assert last({**line(content="Hi"), "error": ""}, END).outcome is Outcome.COMPLETE

    def test_a_line_without_a_message_says_nothing_unless_it_is_the_last(self) -> None:
        begun = reduce_item(start_stream(), line(content="Hi"))
        assert reduce_item(begun, {"model": "m", "done": False}).message is begun.message
        assert last(line(content="Hi"), {"done": True}).outcome is Outcome.COMPLETE

    def test_images(self) -> None:
        message = last(line(content="", images=["iVBO", b"png"]), line(done=True))
        assert [part.data for part in message.parts if isinstance(part, File)] == [
            "iVBO",
            base64.b64encode(b"png").decode(),
        ]

    def test_log_probabilities_and_fields_that_nobody_knows(self) -> None:
        tokens = [{"token": token, "logprob": -0.5, "top_logprobs": []} for token in "ab"]
        events = [{**line(content=token["token"], mood="fine"), "logprobs": [token]} for token in tokens]
        message = last(*events, {**line(done=True), "remote_host": "x"})
        assert message.metadata == {"mood": "fine", "logprobs": tokens, "remote_host": "x"}

    @pytest.mark.parametrize(
        ("event", "name"),
        [
            ({"message": {}, "done": False}, "ollama"),
            ({"error": "x"}, "ollama"),
            ({"message": {}}, None),
            ({"done": True}, None),
        ],
    )
    def test_an_event_says_whose_it_is(self, event: Event, name: str | None) -> None:
        assert detect(event) == name


class TestRequests:
    @staticmethod
    def check(item: Event) -> None:
        ollama = pytest.importorskip("ollama", reason="the types of the SDK are needed")
        known = ollama.Message.model_validate(item)
        assert known.role == item["role"]
        assert {name for name in item if name != "tool_call_id"} <= set(ollama.Message.model_fields)

    def test_a_message_goes_back_as_it_came(self) -> None:
        (item,) = to_request(last(*STREAM))
        assert item == {
            "role": "assistant",
            "content": "Let me look.",
            "thinking": "They want the weather.",
            "tool_calls": CALLS,
        }
        self.check(item)

    def test_a_message_of_another_provider(self) -> None:
        parts = (ReasoningPart("Hm."), TextPart("Hi"), CompleteCall("now", {}, id="c"), PartialCall("now", "{", id="d"))
        (item,) = to_request(Message(parts, provider="anthropic"), "ollama")
        call = {"function": {"name": "now", "arguments": {}}}
        assert item == {"role": "assistant", "content": "Hi", "tool_calls": [call, call]}
        self.check(item)

    def test_images_go_back(self) -> None:
        message = last(line(content="", images=["iVBO"]), line(done=True))
        assert to_request(message)[0]["images"] == ["iVBO"]
        assert isinstance(only(message), File)

    def test_results_and_tools(self) -> None:
        call, other = CompleteCall("now", {}), CompleteCall("weather", {}, id="c")
        items = to_request([ToolResult(call, {"h": 12}), ToolResult(other, error="no")], "ollama")
        assert items == [
            {"role": "tool", "tool_name": "now", "content": '{"h":12}'},
            {"role": "tool", "tool_name": "weather", "content": "no", "tool_call_id": "c"},
        ]
        for item in items:
            self.check(item)

    def test_tools(self) -> None:
        schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        (item,) = tool_definitions([Tool("weather", schema, description="Today.")], "ollama")
        assert item == {
            "type": "function",
            "function": {"name": "weather", "description": "Today.", "parameters": schema},
        }
        ollama = pytest.importorskip("ollama", reason="the types of the SDK are needed")
        assert ollama.Tool.model_validate(item).function.name == "weather"


def test_another_message_after_the_end_fails_the_stream() -> None:
    lines = [
        {"model": "m", "message": {"tool_calls": [{"function": {"name": "pay", "arguments": {}}}]}, "done": False},
        {"model": "m", "message": {"content": ""}, "done": True, "done_reason": "stop"},
    ]
    message = stream_message([*lines, *lines]).final()
    assert message.outcome is Outcome.TRUNCATED
    assert not any(isinstance(call, CompleteCall) for call in message.tool_calls)
