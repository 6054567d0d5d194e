"""Cohere Chat, version 2: recordings, other shapes, whole answers, and the next request."""

from typing import Any

import pytest

from jsontide.messages import (
    CompleteCall,
    Message,
    Other,
    Outcome,
    PartialCall,
    ReasoningPart,
    TextPart,
    Tool,
    ToolResult,
)
from jsontide.providers import to_request, tool_definitions
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
    saved,
    states,
)
from tests.providers.chat_events import failure, kinds

KINDS = (
    "message-start",
    "content-start",
    "content-delta",
    "content-end",
    "tool-plan-delta",
    "tool-call-start",
    "tool-call-delta",
    "tool-call-end",
    "citation-start",
    "citation-end",
    "message-end",
)
DROPPED = [(kind, field) for kind in KINDS for field in ("type", "index")] + [
    ("content-start", "delta.message.content.type"),
    ("tool-call-start", "delta.message.tool_calls.type"),
]


def content(kind: str, index: int | None, **said: Any) -> Event:
    return {"type": kind, "index": index, "delta": {"message": {"content": said}}}


def call(kind: str, index: Any, **said: Any) -> Event:
    return {"type": kind, "index": index, "delta": {"message": {"tool_calls": said}}}


def plan(piece: str) -> Event:
    return {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": piece}}}


def cited(index: int, **citation: Any) -> Event:
    return {"type": "citation-start", "index": index, "delta": {"message": {"citations": citation}}}


def end(reason: Any = "COMPLETE", **more: Any) -> Event:
    return {"type": "message-end", "delta": {"finish_reason": reason, **more}}


BEGUN: Event = {
    "id": "m-1",
    "type": "message-start",
    "delta": {"message": {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}},
}
SOURCE = {"type": "document", "id": "d:0", "document": {"id": "d:0", "title": "Penguins", "url": "https://p.org"}}
CITATION = {"start": 4, "end": 12, "text": "penguins", "type": "TEXT_CONTENT", "content_index": 1, "sources": [SOURCE]}
STREAM: list[Event] = [
    BEGUN,
    content("content-start", 0, type="thinking", thinking=""),
    content("content-delta", 0, thinking="They ask "),
    content("content-delta", 0, thinking="of birds."),
    {"type": "content-end", "index": 0},
    content("content-start", 1, type="text", text=""),
    content("content-delta", 1, text="The penguins"),
    cited(0, **CITATION),
    {"type": "citation-end", "index": 0},
    content("content-delta", 1, text=" swim."),
    {"type": "content-end", "index": 1},
    call("tool-call-start", 0, id="c0", type="function", function={"name": "weather", "arguments": ""}),
    call("tool-call-delta", 0, function={"arguments": '{"city": '}),
    call("tool-call-delta", 0, function={"arguments": '"Rome"}'}),
    {"type": "tool-call-end", "index": 0},
    end(
        "TOOL_CALL", usage={"billed_units": {"input_tokens": 1}, "tokens": {"input_tokens": 9.0, "output_tokens": 4.0}}
    ),
]


class TestAStream:
    def test_is_read(self) -> None:
        message = last(*STREAM)
        reasoning, text, tool = message.parts
        assert isinstance(reasoning, ReasoningPart)
        assert (reasoning.text, reasoning.extra) == ("They ask of birds.", {})
        assert isinstance(text, TextPart)
        assert text.text == "The penguins swim."
        (citation,) = text.citations
        assert (citation.start, citation.end, citation.url, citation.title) == (4, 12, "https://p.org", "Penguins")
        assert citation.raw == CITATION
        assert runnable(message) == [("c0", "weather", {"city": "Rome"})]
        assert tool.index == 2
        assert message.usage is not None
        assert (message.usage.input_tokens, message.usage.output_tokens) == (9, 4)
        assert (message.id, message.provider, message.raw_finish_reason) == ("m-1", "cohere", "TOOL_CALL")

    def test_loses_nothing_and_can_be_saved_anywhere(self) -> None:
        assert missing_leaves(STREAM, last(*STREAM), lambda event: event["type"], DROPPED) == []
        check_saved(STREAM)
        check_law_three(STREAM)
        check_law_nine_at_every_cut(STREAM, lambda event: event["type"] == "message-end")

    def test_parts_are_open_until_the_provider_ends_them(self) -> None:
        found = [[part.is_open for part in state.message.parts] for state in states(STREAM)]
        assert found[3:6] == [[True], [True], [False]]
        assert found[10:15] == [
            [False, True],
            [False, False],
            [False, False, True],
            [False, False, True],
            [False, False, True],
        ]
        assert found[15] == [False, False, False]

    def test_of_objects_of_the_sdk(self) -> None:
        v2 = pytest.importorskip("cohere.v2.types.v2chat_stream_response", reason="the objects of the SDK are needed")
        models = pytest.importorskip("cohere.core.unchecked_base_model", reason="as above")
        objects = [models.construct_type(type_=v2.V2ChatStreamResponse, object_=event) for event in STREAM]
        assert last(*objects) == last(*STREAM)


class TestShapes:
    def test_a_call_without_arguments(self) -> None:
        message = last(call("tool-call-start", 0, id="c", function={"name": "now"}), end("TOOL_CALL"))
        assert runnable(message) == [("c", "now", {})]

    def test_other_ends(self) -> None:
        assert last(BEGUN, end("MAX_TOKENS")).outcome is Outcome.TRUNCATED
        assert last(BEGUN, end("ERROR_TOXIC")).outcome is Outcome.FILTERED
        assert last(BEGUN, end("ERROR_LIMIT")).outcome is Outcome.TRUNCATED
        assert last(BEGUN, content("content-delta", 0, text="Hi"), end("STOP_SEQUENCE")).outcome is Outcome.COMPLETE
        for reason in ("ERROR", "TIMEOUT", "USER_CANCEL"):
            assert failure(last(BEGUN, end(reason))) == reason

    def test_an_error_at_the_end_counts_whatever_the_reason_is(self) -> None:
        begun = call("tool-call-start", 0, id="c", function={"name": "now", "arguments": "{}"})
        message = last(begun, end("TOOL_CALL", error="Out of memory"))
        assert (failure(message), runnable(message)) == ("Out of memory", [])
        assert failure(last(begun, {"error": {"message": "Sorry"}})) == "Sorry"

    @pytest.mark.parametrize("said", [{}, {"finish_reason": None}, {"finish_reason": 7}])
    def test_an_end_that_does_not_say_why_leaves_nothing_to_run(self, said: Event) -> None:
        begun = call("tool-call-start", 0, id="c", function={"name": "now", "arguments": ""})
        message = last(begun, {"type": "message-end", "delta": said})
        assert (message.outcome, runnable(message)) == (Outcome.TRUNCATED, [])

    @pytest.mark.parametrize("index", [0, None, "0", "x"])
    def test_thinking_and_text_in_one_block_are_two_parts(self, index: Any) -> None:
        message = last(
            content("content-delta", index, thinking="Hm."), content("content-delta", index, text="Hi"), end()
        )
        assert kinds(message) == ["ReasoningPart", "TextPart"]

    def test_a_plan_is_one_part_though_a_call_comes_between(self) -> None:
        tool = call("tool-call-start", 0, id="c", function={"name": "now", "arguments": "{}"})
        message = last(plan("I will "), plan("look"), tool, plan(" now."), end("TOOL_CALL"))
        assert kinds(message) == ["ReasoningPart", "CompleteCall"]
        assert message.reasoning == "I will look now."
        assert message.parts[0].extra == {"type": "tool_plan"}

    def test_content_of_another_kind_is_kept(self) -> None:
        message = last(content("content-start", 0, type="image", image="x"), end())
        part = only(message)
        assert isinstance(part, Other)
        assert (part.type, part.raw) == ("image", {"type": "image", "image": "x"})

    def test_citations_of_plans_and_of_no_text(self) -> None:
        planned = {"start": 0, "end": 1, "type": "PLAN", "sources": []}
        message = last(plan("I will."), cited(0, **planned), cited(1, **{**planned, "type": "THINKING_CONTENT"}), end())
        assert message.parts[0].extra == {"type": "tool_plan", "citations": [planned]}
        assert message.metadata == {"citations": [{**planned, "type": "THINKING_CONTENT"}]}
        alone = only(last(cited(0, start=0), content("content-delta", None, text="Hi"), end()))
        assert isinstance(alone, TextPart)
        assert (alone.text, len(alone.citations)) == ("Hi", 1)

    def test_fields_and_events_that_nobody_knows_are_kept(self) -> None:
        probabilities = {"text": "Hi", "token_ids": [1], "logprobs": [-0.5]}
        message = last(
            {**BEGUN, "model": "command"},
            {**content("content-delta", 0, text="Hi"), "logprobs": probabilities},
            {"type": "debug", "prompt": "<s>"},
            {"type": "ping"},
            {"type": "content-new", "x": 1},
            end("COMPLETE", took=5),
        )
        assert message.metadata == {
            "model": "command",
            "logprobs": [probabilities],
            "prompt": "<s>",
            "events": [{"type": "content-new", "x": 1}],
            "took": 5,
        }

    def test_a_message_that_begins_twice_or_another_one(self) -> None:
        assert last(BEGUN, BEGUN, *STREAM[1:]) == last(*STREAM)
        message = last(*STREAM, {**BEGUN, "id": "m-2"}, *STREAM[1:])
        assert "another message" in failure(message)
        assert runnable(message) == []

    def test_a_whole_answer_says_the_same(self) -> None:
        blocks = [
            {"type": "thinking", "thinking": "They ask of birds."},
            {"type": "text", "text": "The penguins swim."},
        ]
        tool = {"id": "c0", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
        whole = {
            "id": "m-1",
            "finish_reason": "TOOL_CALL",
            "message": {"role": "assistant", "content": blocks, "tool_calls": [tool], "citations": [CITATION]},
            "usage": STREAM[-1]["delta"]["usage"],
        }
        assert last(whole) == last(*STREAM)
        more = {**whole, "logprobs": [{"text": "a"}], "x": 1}
        planned = last({**more, "message": {**whole["message"], "tool_plan": "I will."}})
        assert planned.metadata == {"logprobs": [{"text": "a"}], "x": 1}
        assert planned.reasoning == "I will.They ask of birds."


def check(item: Event) -> None:
    """An item is what the SDK takes as a message."""
    types = pytest.importorskip("cohere.types", reason="the types of the SDK are needed")
    kinds = {"assistant": types.AssistantChatMessageV2, "tool": types.ToolChatMessageV2}
    kind = kinds[item["role"]]
    kind.model_validate(item)
    assert set(item) <= set(kind.model_fields)


class TestRequests:
    def test_a_message_goes_back_as_it_came(self) -> None:
        message = saved(last(*STREAM))
        (item,) = to_request(message)
        assert item == {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "They ask of birds."},
                {"type": "text", "text": "The penguins swim."},
            ],
            "tool_calls": [
                {"id": "c0", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
            ],
            "citations": [CITATION],
        }
        check(item)

    def test_a_message_of_another_provider(self) -> None:
        parts = (
            ReasoningPart("Hm."),
            TextPart("Hi"),
            CompleteCall("now", {}, index=2),
            PartialCall("now", "{", id="d"),
        )
        (item,) = to_request(Message(parts, provider="anthropic"), "cohere")
        function = {"name": "now", "arguments": "{}"}
        assert item == {
            "role": "assistant",
            "content": [{"type": "text", "text": "Hi"}],
            "tool_calls": [
                {"id": "call_2", "type": "function", "function": function},
                {"id": "d", "type": "function", "function": function},
            ],
        }
        check(item)
        (empty,) = to_request(Message(()), "cohere")
        assert empty == {"role": "assistant", "content": ""}
        check(empty)

    def test_results_are_documents(self) -> None:
        asked = CompleteCall("now", {}, id="c")
        results = [ToolResult(asked, {"h": 12}), ToolResult(asked, "noon"), ToolResult(asked, error="no")]
        items = to_request(results, "cohere")
        for item in items:
            check(item)
        assert [item["content"][0]["document"]["data"] for item in items] == [
            {"h": 12},
            {"result": "noon"},
            {"error": "no"},
        ]
        assert {item["tool_call_id"] for item in items} == {"c"}

    def test_tools(self) -> None:
        schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        (item,) = tool_definitions([Tool("weather", schema, description="Today.")], "cohere")
        assert item == {
            "type": "function",
            "function": {"name": "weather", "description": "Today.", "parameters": schema},
        }
        types = pytest.importorskip("cohere.types", reason="the types of the SDK are needed")
        assert types.ToolV2.model_validate(item).function.name == "weather"


@pytest.mark.parametrize("error", [{"type": "error"}, {"message": "internal server error"}])
def test_an_error_after_the_end_leaves_nothing_to_run(error: dict[str, str]) -> None:
    call = {"id": "x", "function": {"name": "pay", "arguments": "{}"}}
    events: list[dict[str, Any]] = [
        {"type": "message-start", "id": "m"},
        {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
    ]
    assert stream_message(events).final().outcome is Outcome.COMPLETE
    assert stream_message([*events, error]).final().outcome is Outcome.TRUNCATED
