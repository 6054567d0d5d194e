"""Anthropic Messages: what a stream says, and the next request."""

from typing import Any

import pytest

from jsontide.messages import (
    Citation,
    CompleteCall,
    Message,
    Other,
    Outcome,
    ReasoningPart,
    ServerCall,
    TextPart,
    ToolResult,
    Usage,
)
from jsontide.providers.anthropic import AnthropicForm
from tests.providers.block_streams import Event, last, only, runnable, states
from tests.providers.dialects import block as start
from tests.providers.dialects import block_delta as delta

FORM = AnthropicForm()
STOP = {"type": "message_stop"}
CALL = {"type": "tool_use", "id": "t", "name": "roll", "input": {"player": 1}, "caller": {"type": "code_execution"}}


def begun(*blocks: Event, **message: Any) -> Event:
    said = {"id": "msg", "type": "message", "role": "assistant", "content": [*blocks], **message}
    return {"type": "message_start", "message": said}


def piece(index: int, text: str) -> Event:
    return delta(index, "input_json_delta", partial_json=text)


def stop(index: int) -> Event:
    return {"type": "content_block_stop", "index": index}


def end(reason: str, **details: Any) -> Event:
    return {"type": "message_delta", "delta": {"stop_reason": reason, **details}}


class TestBlocks:
    def test_a_citation_may_come_before_its_text(self) -> None:
        message = last(delta(0, "citations_delta", citation={"type": "x", "url": 5}), end("end_turn"))
        assert only(message) == TextPart("", (Citation(type="x", raw={"type": "x", "url": 5}),))

    def test_thinking_with_a_signature_and_without_text(self) -> None:
        message = last(
            start(0, type="thinking", thinking="", signature=""),
            delta(0, "thinking_delta", thinking="", estimated_tokens=50),
            delta(0, "signature_delta", signature="abc"),
            stop(0),
            start(1, type="redacted_thinking", data="Zm9v"),
            stop(1),
            start(2, type="text", text="Hi"),
            end("end_turn"),
        )
        assert message.parts[:2] == (
            ReasoningPart("", signature="abc"),
            ReasoningPart("", redacted=True, encrypted="Zm9v", index=1),
        )
        (sent,) = FORM.write_message(message)
        assert sent["content"] == [
            {"type": "thinking", "thinking": "", "signature": "abc"},
            {"type": "redacted_thinking", "data": "Zm9v"},
            {"type": "text", "text": "Hi"},
        ]

    def test_thinking_that_broke_off_is_not_sent_back(self) -> None:
        message = last(start(0, type="thinking", thinking="Hm"), start(1, type="text", text="Hi"), end("max_tokens"))
        assert FORM.write_message(message) == [{"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}]

    def test_a_blank_text_is_not_sent_back(self) -> None:
        blocks = [{"type": "text", "text": text} for text in ("Hi", "\n", "you")]
        message = last(*(start(at, **block) for at, block in enumerate(blocks)), end("end_turn"))
        assert message.content == "Hi\nyou"
        assert FORM.write_message(message)[0]["content"] == [blocks[0], blocks[2]]

    def test_a_result_names_the_toolset_of_its_call(self) -> None:
        message = last(start(0, **CALL, toolset_name="bank"), end("tool_use"))
        ((result,),) = [item["content"] for item in FORM.write_results([ToolResult(message.tool_calls[0], error="no")])]
        assert (result["tool_use_id"], result["toolset_name"], result["is_error"]) == ("t", "bank", True)

    def test_blocks_may_be_counted_from_any_number(self) -> None:
        blocks: list[Event] = [
            {"type": "server_tool_use", "id": "a", "name": "x", "input": {}},
            {"type": "server_tool_use", "id": "b", "name": "x", "input": {}},
            {"type": "x_tool_result", "tool_use_id": "b", "content": "1"},
            {"type": "x_tool_result", "tool_use_id": "a", "content": "2"},
            {"type": "text", "text": "Hi"},
        ]
        for first in (0, 1, 7):
            message = last(*(start(first + at, **block) for at, block in enumerate(blocks)), end("end_turn"))
            assert FORM.write_message(message)[0]["content"] == blocks

    def test_a_second_result_of_a_call_is_kept_beside_it(self) -> None:
        call = {"type": "server_tool_use", "id": "a", "name": "x", "input": {}}
        results = [{"type": "x_tool_result", "tool_use_id": "a", "content": text} for text in ("1", "2")]
        message = last(start(0, **call), start(1, **results[0]), start(2, **results[1]), end("end_turn"))
        assert [type(part) for part in message.parts] == [ServerCall, Other]
        assert FORM.write_message(message)[0]["content"] == [call, *results]

    def test_deltas_of_a_kind_that_nobody_knows_are_kept(self) -> None:
        new = start(0, type="new", text="", parts=[1])
        deltas = [delta(0, "new_delta", parts=[2]), delta(0, "text_delta", text="a"), delta(0, "text_delta", text="b")]
        assert only(last(new, *deltas, end("end_turn"))) == Other("new", {"type": "new", "text": "ab", "parts": [1, 2]})
        message = last(start(0, type="text", text="Hi"), delta(0, "mood_delta", mood="glad"), end("end_turn"))
        assert (message.content, only(message).extra) == ("Hi", {"deltas": [{"type": "mood_delta", "mood": "glad"}]})
        assert FORM.write_message(message)[0]["content"] == [{"type": "text", "text": "Hi"}]
        message = last(delta(3, "mood_delta", mood="glad"), end("end_turn"))
        assert only(message) == Other("mood_delta", {"type": "mood_delta", "mood": "glad"})

    def test_fields_of_a_kind_that_nobody_knows_are_kept(self) -> None:
        message = last(
            {**start(0, type="text", text="Hi", tone="dry"), "trace": "t"},
            {**delta(0, "text_delta", text="!", confidence=0.5), "span": 7},
            {"type": "status", "queue": 3},
            {**end("end_turn"), "context_management": {"applied_edits": []}},
            {**STOP, "amazon-bedrock-invocationMetrics": {"latency": 1}},
        )
        assert only(message).extra == {"tone": "dry", "confidence": 0.5}
        assert message.metadata == {
            "trace": "t",
            "span": 7,
            "status": {"queue": 3},
            "context_management": {"applied_edits": []},
            "amazon-bedrock-invocationMetrics": {"latency": 1},
        }

    def test_json_for_a_block_that_nobody_knows_is_kept_and_is_no_call(self) -> None:
        message = last(start(0, type="new"), piece(0, '{"a": '), piece(0, "1}"), stop(0), end("end_turn"))
        assert message.tool_calls == ()
        assert only(message) == Other("new", {"type": "new", "partial_json": '{"a": 1}'})

    def test_a_block_without_an_index_begins_a_part(self) -> None:
        first, second = ({"type": "content_block_start", "content_block": {"type": "text", "text": t}} for t in "ab")
        more = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "c"}}
        message = last(first, second, more, end("end_turn"))
        assert [part.text for part in message.parts if isinstance(part, TextPart)] == ["a", "bc"]

    @pytest.mark.long
    @pytest.mark.untraced
    def test_too_many_parts_end_the_stream(self) -> None:
        kinds: list[Event] = [
            {"type": "text", "text": "x", "tone": 1},
            {"type": "thinking", "thinking": "x", "signature": "s"},
            {"type": "redacted_thinking", "data": "s"},
            {**CALL, "id": None},
            {"type": "server_tool_use", "id": "s", "name": "s", "input": {}},
            {"type": "new", "a": 1},
        ]
        for kind in kinds:
            many = [start(at, **(kind if "name" not in kind else {**kind, "id": str(at)})) for at in range(1002)]
            message = last(*many, end("end_turn"))
            assert (message.outcome, len(message.parts)) == (Outcome.TRUNCATED, 1000)


class TestCalls:
    def test_a_limit_in_the_middle_of_arguments(self) -> None:
        call = start(1, type="tool_use", id="t", name="weather", input={})
        message = last(call, piece(1, ""), piece(1, '{"city": "Ro'), end("max_tokens"))
        assert message.tool_calls[0].status is Outcome.TRUNCATED
        assert message.tool_calls[0].partial == {"city": "Ro"}
        assert Message.from_json(message.to_json()) == message
        (block,) = FORM.write_message(message)[0]["content"]
        assert block == {"type": "tool_use", "id": "t", "name": "weather", "input": {}}

    def test_a_stop_sequence_where_arguments_would_begin(self) -> None:
        call = start(1, type="tool_use", id="t", name="weather", input={})
        message = last(call, piece(1, ""), end("stop_sequence", stop_sequence="END"))
        assert (message.tool_calls[0].status, message.finish_reason) == (Outcome.TRUNCATED, "stop_sequence")
        assert message.metadata["stop_sequence"] == "END"

    def test_a_turn_that_is_paused_leaves_nothing_to_run(self) -> None:
        call = start(1, type="tool_use", id="t", name="weather", input={"city": "Rome"})
        message = last(call, end("pause_turn"))
        assert (message.outcome, runnable(message)) == (Outcome.TRUNCATED, [])
        assert (message.finish_reason, message.raw_finish_reason) == ("pause_turn", "pause_turn")

    def test_blocks_of_a_kind_that_nobody_knows_are_nobody_elses_to_run(self) -> None:
        block = start(0, type="advisor_call", id="x", name="ask", input={})
        message = last(block, piece(0, '{"a": '), piece(0, "1}"), delta(1, "text_delta", text="Hi"), end("end_turn"))
        assert (message.content, message.tool_calls, message.outcome) == ("Hi", (), Outcome.COMPLETE)
        assert FORM.write_message(message)[0]["content"][0] == {**block["content_block"], "input": {"a": 1}}

    def test_the_calls_of_a_model_that_declined_are_not_run_and_not_sent_back(self) -> None:
        blocks: list[Event] = [
            {"type": "thinking", "thinking": "Hm.", "signature": "x"},
            {"type": "text", "text": "Let me"},
            {"type": "server_tool_use", "id": "a", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "a", "content": []},
            {"type": "server_tool_use", "id": "b", "name": "web_search", "input": {}},
            {"type": "tool_use", "id": "t", "name": "pay", "input": {}},
            {"type": "fallback", "from": {"model": "one"}, "to": {"model": "two"}},
            {"type": "thinking", "thinking": "Well.", "signature": "y"},
            {"type": "tool_use", "id": "u", "name": "look", "input": {"at": 1}},
        ]
        message = last(begun(model="one"), *(start(at, **block) for at, block in enumerate(blocks)), end("tool_use"))
        assert (message.outcome, runnable(message), message.model) == (
            Outcome.COMPLETE,
            [("u", "look", {"at": 1})],
            "two",
        )
        declined = message.parts[4]
        assert isinstance(declined, Other)
        assert declined.raw == {"type": "tool_use", "id": "t", "name": "pay", "input": ""}
        kept = [*blocks[1:4], *blocks[6:]]
        assert FORM.write_message(message) == [{"role": "assistant", "content": kept}]


class TestEnds:
    def test_a_refusal_says_why_once(self) -> None:
        refused = end("refusal", stop_details={"explanation": "Not that.", "category": "cyber"})
        message = last(start(0, type="text", text="Sure"), refused, refused)
        assert (message.outcome, message.refusal, message.content) == (Outcome.REFUSED, "Not that.", "Sure")
        assert message.metadata["stop_details"]["category"] == "cyber"  # type: ignore[index,call-overload]
        assert FORM.write_message(message)[0]["content"] == [{"type": "text", "text": "Sure"}]

    def test_an_error_that_says_nothing_is_one_too(self) -> None:
        assert last({"type": "error"}).errors[0].message == "error"

    @pytest.mark.parametrize("event", [{}, {"type": "ping"}, STOP, {"type": "new"}, stop(0), {"type": "message_delta"}])
    def test_an_error_beside_an_event_that_says_nothing(self, event: Event) -> None:
        call = start(0, type="tool_use", id="t", name="now", input={})
        message = last(call, end("tool_use"), {**event, "error": {"message": "Broke"}})
        assert (message.errors[0].message, runnable(message)) == ("Broke", [])

    def test_events_of_a_beta_or_of_the_helper_are_passed_over(self) -> None:
        odd = [{"type": "compaction_delta"}, {"type": "text", "text": "Hi", "snapshot": "Hi"}, {"type": "ping"}]
        text, compaction = delta(0, "text_delta", text="Hi"), delta(0, "compaction_delta", content="x")
        message = last({"type": "ping"}, *odd, text, *odd, compaction, end("end_turn"))
        assert (message.content, message.metadata) == ("Hi", {})

    def test_an_event_that_says_nothing_new_gives_the_same_state(self) -> None:
        told = [begun(), start(0, type="text", text="Hi"), delta(0, "text_delta", text="!")]
        for event in ({"type": "ping"}, delta(0, "text_delta", text=""), begun(), STOP, delta(0, "x_delta")):
            before, after = states([*told, event])[-2:]
            assert after.message is before.message


class TestUsage:
    def test_odd_figures_are_not_counted(self) -> None:
        message = last({**end("end_turn"), "usage": {"input_tokens": "many", "output_tokens": 2}})
        assert message.usage == Usage(output_tokens=2, raw={"input_tokens": "many", "output_tokens": 2})
        assert last({**end("end_turn"), "usage": 5}).usage is None


class TestMessagesThatBeginWithFinishedBlocks:
    """A program written by the model calls tools, one message per call."""

    def test_all_of_it(self) -> None:
        result = {"type": "code_execution_tool_result", "tool_use_id": "s", "content": {"stdout": "5"}}
        text, thought = {"type": "text", "text": "Rolling."}, {"type": "thinking", "thinking": "Hm."}
        server = {"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {"code": "roll()"}}
        message = last(begun(thought, text, result, server, CALL, stop_reason="tool_use"), STOP)
        assert (message.outcome, message.finish_reason) == (Outcome.COMPLETE, "tool_calls")
        assert (message.content, message.reasoning, message.role) == ("Rolling.", "Hm.", "assistant")
        assert runnable(message) == [("t", "roll", {"player": 1})]
        kinds = [ReasoningPart, TextPart, Other, ServerCall, CompleteCall]
        assert [type(part) for part in message.parts] == kinds

    def test_a_finished_call_without_arguments_has_none_whatever_the_end(self) -> None:
        for reason in ("tool_use", "max_tokens"):
            (call,) = last(begun({**CALL, "input": {}}, stop_reason=reason), STOP).tool_calls
            assert (call.status, call.arguments) == (Outcome.COMPLETE, "{}")

    def test_it_may_go_on_after_them(self) -> None:
        message = last(
            begun(CALL, stop_reason=None),
            start(1, type="tool_use", id="u", name="roll"),
            piece(1, "{}"),
            end("tool_use"),
        )
        assert [(call.id, call.arguments) for call in message.tool_calls] == [("t", '{"player":1}'), ("u", "{}")]
        assert message.outcome is Outcome.COMPLETE

    def test_one_that_does_not_end_cannot_be_run(self) -> None:
        message = last(begun(CALL), STOP)
        assert message.outcome is Outcome.TRUNCATED
        assert [call.status for call in message.tool_calls] == [Outcome.TRUNCATED]

    @pytest.mark.parametrize(
        ("reason", "outcome"),
        [("pause_turn", Outcome.TRUNCATED), ("refusal", Outcome.REFUSED), ("end_turn", Outcome.COMPLETE)],
    )
    def test_its_reason_to_stop_counts(self, reason: str, outcome: Outcome) -> None:
        message = last(begun(CALL, stop_reason=reason, stop_details={"explanation": "Not that."}), STOP)
        assert message.outcome is outcome
        assert message.refusal == ("Not that." if reason == "refusal" else "")

    def test_a_beginning_that_comes_twice_says_its_blocks_once(self) -> None:
        first = begun({"type": "text", "text": "Rolling."}, CALL, stop_reason="tool_use")
        message = last(first, first, STOP)
        assert (message.content, message.outcome, len(message.tool_calls)) == ("Rolling.", Outcome.COMPLETE, 1)


WHOLE: Event = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "container": {"id": "c"},
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "x"},
        {"type": "text", "text": "Look.", "citations": [{"type": "page_location", "cited_text": "Look"}]},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
        {"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Kyōto"}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 2},
}


class TestWholeMessages:
    def test_they_say_all_and_go_back_as_they_came(self) -> None:
        message = last(WHOLE)
        assert (message.id, message.model, message.raw_finish_reason) == ("msg_1", "m", "tool_use")
        assert message.usage == Usage(
            input_tokens=1, output_tokens=2, total_tokens=3, raw={"input_tokens": 1, "output_tokens": 2}
        )
        assert message.metadata == {"container": {"id": "c"}}
        assert FORM.write_message(message) == [{"role": "assistant", "content": WHOLE["content"]}]

    def test_the_objects_of_the_client_say_the_same(self) -> None:
        types = pytest.importorskip("anthropic.types", reason="the anthropic client is not installed")
        container = {"id": "c", "expires_at": "2026-01-01T00:00:00Z"}
        message = last(types.Message.model_validate({**WHOLE, "content": [], "container": container}))
        assert message.metadata["container"]["id"] == "c"  # type: ignore[index,call-overload]
        whole = {**WHOLE, "content": [block for block in WHOLE["content"] if block["type"] != "text"]}
        expected, message = (
            last({**whole, "container": None}),
            last(types.Message.model_validate(whole | {"container": None})),
        )
        assert message.parts == expected.parts
        assert message.usage == expected.usage
