"""Messages, results and tools as input items of OpenAI Responses, checked by the client's own parameter types."""

import json
from typing import Any

import pytest

from jsontide.messages import (
    Citation,
    CompleteCall,
    File,
    Message,
    Other,
    Outcome,
    PartialCall,
    ReasoningPart,
    Refusal,
    ServerCall,
    Source,
    TextPart,
    ToolResult,
)
from jsontide.providers.openai_responses import ResponsesForm
from jsontide.streams import stream_message
from tests.providers.client_types import adapter_of

FORM = ResponsesForm()
Event = dict[str, Any]
OWN = "openai_responses"


def check(items: list[Event], kind: str = "ResponseInputItemParam") -> list[Event]:
    """The same, if the client takes them."""
    responses = pytest.importorskip("openai.types.responses", reason="the openai client is not installed")
    taker = adapter_of(getattr(responses, kind))
    for item in items:
        taker.validate_python(item)
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

    def test_a_call_without_a_name_is_left_out_with_its_result(self) -> None:
        call = PartialCall(None, "{}", status=Outcome.INVALID, id="call_1")
        assert write(call) == FORM.write_results([ToolResult(call, error="no")]) == []

    def test_of_another_provider_what_this_one_understands(self) -> None:
        parts = (
            ReasoningPart("Hm.", signature="s"),
            TextPart("Hi", index=1, item_id="x", extra={"block": 1}),
            TextPart("", index=2),
            Refusal("No.", index=3),
            CompleteCall("pay", {"a": 1}, id="toolu_1", index=4, item_id="toolu_1", extra={"cache": 1}),
            CompleteCall("now", {}, index=5),
            ServerCall("web_search", index=6),
            Source("u", index=7),
            File("image/png", "QQ==", index=8),
            Other("x", {}, index=9),
        )
        assert write(*parts, provider="anthropic") == [
            {"type": "message", "role": "assistant", "content": "Hi"},
            {"type": "message", "role": "assistant", "content": "No."},
            {"type": "function_call", "call_id": "toolu_1", "name": "pay", "arguments": '{"a":1}'},
            {"type": "function_call", "call_id": "call_5", "name": "now", "arguments": "{}"},
        ]

    @pytest.mark.parametrize(
        "item",
        [
            {
                "type": "web_search_call",
                "action": {"type": "search", "query": "a", "sources": [{"type": "url", "url": "u"}]},
            },
            {"type": "file_search_call", "queries": ["a"], "results": [{"text": "b"}]},
            {
                "type": "code_interpreter_call",
                "code": "1",
                "outputs": [{"type": "logs", "logs": "1"}],
                "container_id": "c",
            },
            {"type": "mcp_call", "name": "echo", "arguments": '{"a": 1}', "output": "1", "server_label": "s"},
            {
                "type": "mcp_call",
                "name": "echo",
                "arguments": "",
                "output": None,
                "error": {"type": "http_error", "code": 500, "message": "e"},
                "server_label": "s",
            },
            {"type": "mcp_list_tools", "tools": [{"name": "echo", "input_schema": {}}], "server_label": "s"},
            {"type": "mcp_approval_request", "name": "echo", "arguments": "{}", "server_label": "s"},
            {"type": "apply_patch_call", "call_id": "c", "operation": {"type": "delete_file", "path": "p"}},
            {"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["ls"], "env": {}}},
            {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}},
            {"type": "shell_call_output", "call_id": "c", "output": []},
            {"type": "tool_search_call", "call_id": "c", "arguments": {"goal": "g"}, "execution": "client"},
            {"type": "program", "call_id": "c", "code": "1", "fingerprint": "f"},
            {"type": "image_generation_call", "result": "QQ=="},
            {"type": "compaction", "encrypted_content": "x"},
            {"type": "computer_call", "call_id": "c", "pending_safety_checks": [], "action": {"type": "screenshot"}},
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


def test_a_tool_is_a_function() -> None:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = FORM.write_tool("weather", "The weather.", parameters, strict=True)
    assert check([tool], "ToolParam") == [
        {"type": "function", "name": "weather", "description": "The weather.", "parameters": parameters, "strict": True}
    ]
    assert json.loads(json.dumps(tool)) == tool
