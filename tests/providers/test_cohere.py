"""Cohere Chat, version 2: shapes that the streams of the contract do not have, and whole answers."""

from typing import Any

import pytest

from jsontide.messages import Outcome, TextPart
from tests.providers.block_streams import Event, last, only, runnable, states
from tests.providers.chat_events import failure, kinds


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


class TestShapes:
    def test_parts_are_open_until_the_provider_ends_them(self) -> None:
        found = [[part.is_open for part in state.message.parts] for state in states(STREAM)]
        assert found[3:6] == [[True], [True], [False]]
        assert found[10:12] == [[False, True], [False, False]]
        assert found[12:16] == [[False, False, True]] * 3 + [[False] * 3]

    @pytest.mark.parametrize("reason", ["ERROR", "TIMEOUT", "USER_CANCEL"])
    def test_an_end_that_is_a_failure(self, reason: str) -> None:
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

    def test_citations_of_plans_and_of_no_text(self) -> None:
        planned = {"start": 0, "end": 1, "type": "PLAN", "sources": []}
        message = last(plan("I will."), cited(0, **planned), cited(1, **{**planned, "type": "THINKING_CONTENT"}), end())
        assert message.parts[0].extra == {"type": "tool_plan", "citations": [planned]}
        assert message.metadata == {"citations": [{**planned, "type": "THINKING_CONTENT"}]}
        alone = only(last(cited(0, start=0), content("content-delta", None, text="Hi"), end()))
        assert isinstance(alone, TextPart)
        assert (alone.text, len(alone.citations)) == ("Hi", 1)

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


@pytest.mark.parametrize("error", [{"type": "error"}, {"message": "internal server error"}])
def test_an_error_after_the_end_leaves_nothing_to_run(error: dict[str, str]) -> None:
    assert last(*STREAM).outcome is Outcome.COMPLETE
    assert last(*STREAM, error).outcome is Outcome.TRUNCATED
