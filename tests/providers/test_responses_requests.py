"""Messages and results as input items of OpenAI Responses, checked by the client's own parameter types."""

from typing import Any

import pytest

from jsontide.messages import (
    Citation,
    CompleteCall,
    Message,
    Outcome,
    PartialCall,
    ReasoningPart,
    Refusal,
    TextPart,
    ToolResult,
)
from jsontide.providers.openai_responses import ResponsesForm
from jsontide.streams import stream_message
from tests.providers.client_types import check_responses

FORM = ResponsesForm()
Event = dict[str, Any]
OWN = "openai_responses"


def check(items: list[Event]) -> list[Event]:
    """The same, if the client takes them."""
    check_responses(items)
    return items


def write(*parts: Any, provider: str | None = OWN) -> list[Event]:
    return check(FORM.write_message(Message(parts, Outcome.COMPLETE, provider=provider)))


class TestMessages:
    def test_parts_of_one_item_are_one_item_again(self) -> None:
        raw: Event = {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}
        extra: Any = {"phase": "final_answer", "status": "completed"}
        cited = (Citation(type="url_citation", raw=raw),)
        (item,) = write(TextPart("a", cited, item_id="msg", extra=extra), Refusal("b", item_id="msg", extra=extra))
        content = [{"type": "output_text", "text": "a", "annotations": [raw]}, {"type": "refusal", "refusal": "b"}]
        assert item == {"type": "message", "id": "msg", "role": "assistant", **extra, "content": content}
        assert [each["id"] for each in write(TextPart("a", item_id="1"), TextPart("b", item_id="2"))] == ["1", "2"]

    def test_reasoning_is_written_with_what_is_encrypted(self) -> None:
        def thought(text: str, kind: str, encrypted: str | None = None) -> ReasoningPart:
            return ReasoningPart(text, encrypted=encrypted, item_id="rs", extra={"type": kind})

        parts = thought("a", "summary_text", "x"), thought("b", "summary_text"), thought("c", "reasoning_text")
        assert write(*parts) == [
            {
                "type": "reasoning",
                "id": "rs",
                "encrypted_content": "x",
                "summary": [{"type": "summary_text", "text": text} for text in "ab"],
                "content": [{"type": "reasoning_text", "text": "c"}],
            }
        ]
        assert write(ReasoningPart(encrypted="x", item_id="rs")) == [
            {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"}
        ]

    def test_calls_have_their_ids_and_callers(self) -> None:
        caller: Any = {"type": "program", "caller_id": "call_0"}
        call = CompleteCall("pay", {"a": 1}, id="call_1", item_id="fc", extra={"caller": caller, "status": "completed"})
        assert write(call) == [
            {
                "type": "function_call",
                "id": "fc",
                "call_id": "call_1",
                "name": "pay",
                "arguments": '{"a":1}',
                "caller": caller,
                "status": "completed",
            }
        ]
        custom = CompleteCall("sql", 'say "hi"', id="call_2", item_id="ct", extra={"type": "custom_tool_call"})
        assert write(custom) == [
            {"type": "custom_tool_call", "id": "ct", "call_id": "call_2", "name": "sql", "input": 'say "hi"'}
        ]

    @pytest.mark.parametrize(
        ("arguments", "written"),
        [
            ('{"a": 1}', '{"a": 1}'),
            ('{"a": 1', "{}"),
            ("[]", "{}"),
            ("", "{}"),
            pytest.param('{"a":' * 100_000, "{}", id="deep"),
        ],
    )
    def test_a_call_that_cannot_be_run_can_be_answered(self, arguments: str, written: str) -> None:
        call = PartialCall("pay", arguments, status=Outcome.INVALID, id="call_1")
        (item,) = write(call)
        assert (item["arguments"], item["call_id"]) == (written, "call_1")

    @pytest.mark.parametrize(
        "item",
        [
            {
                "type": "mcp_call",
                "name": "echo",
                "arguments": "",
                "output": None,
                "server_label": "s",
                "error": {"type": "http_error", "code": 500, "message": "e"},
            },
            {"type": "compaction", "encrypted_content": "x"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_audio", "data": "QQ=="}]},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "", "annotations": [], "x": 1}],
            },
        ],
    )
    def test_items_of_the_provider_go_back_as_they_came(self, item: Event) -> None:
        whole = {**item, "id": "item_1", "status": "completed"}
        *_, message = stream_message(
            [
                {"type": "response.output_item.done", "output_index": 0, "item": whole},
                {"type": "response.completed", "response": {"output": [whole]}},
            ]
        )
        for read in (message, Message.from_json(message.to_json())):
            assert FORM.write_message(read) == [whole]
        if item["type"] != "message":
            check(FORM.write_message(message))


class TestResults:
    def test_are_outputs_of_their_calls(self) -> None:
        caller: Any = {"type": "program", "caller_id": "call_0"}
        calls = [
            CompleteCall("pay", {}, id="call_1"),
            CompleteCall("sql", "x", id="call_2", item_id="ct", extra={"type": "custom_tool_call"}),
            CompleteCall("now", {}, index=3),
            CompleteCall("pay", {}, id="call_3", item_id="fc", extra={"caller": caller}),
        ]
        outputs = [ToolResult(calls[0], {"a": 1}), ToolResult(calls[1], "text"), ToolResult(calls[2], error="no")]
        assert check(FORM.write_results([*outputs, ToolResult(calls[3], "x")])) == [
            {"type": "function_call_output", "call_id": "call_1", "output": '{"a":1}'},
            {"type": "custom_tool_call_output", "call_id": "call_2", "output": "text"},
            {"type": "function_call_output", "call_id": "call_3", "output": "no"},
            {"type": "function_call_output", "call_id": "call_3", "output": "x", "caller": caller},
        ]
