"""What every provider is sent of messages that another one wrote, of results, and of tools.

How a message goes back to the provider that wrote it is said by `tests.generated_streams`, and checked by
`test_contract`.
"""

from typing import Any, NamedTuple

import pytest

from jsontide.messages import (
    Citation,
    CompleteCall,
    File,
    Message,
    Other,
    PartialCall,
    ReasoningPart,
    Refusal,
    ServerCall,
    Source,
    TextPart,
    Tool,
    ToolResult,
)
from jsontide.providers import PROVIDERS, to_request, tool_definitions
from tests.providers.client_types import CHECK_MESSAGES, Event, check_tool

PARTS = (
    ReasoningPart("Hm.", signature="x"),
    TextPart("Hi", (Citation(type="x"),), 1, extra={"mood": "dry"}),
    TextPart("", index=2),
    Refusal("No.", 3),
    CompleteCall("pay", {"to": 1}, id="functions.pay:0", index=4, item_id="fc", extra={"caller": {}}),
    CompleteCall("now", {}, index=5),
    PartialCall("now", "{", index=6, id="d"),
    PartialCall(None, "{", index=7),
    ServerCall("search", "{}", "found", index=8),
    Source("https://a.example", index=9),
    File("image/png", "eA==", index=10),
    Other("x", {"type": "x"}, index=11),
)
PAY, NOW, BROKEN, UNNAMED = PARTS[4:8]
RESULTS = [ToolResult(PAY, {"h": 12}), ToolResult(NOW, "noon"), ToolResult(BROKEN, error="no"), ToolResult(UNNAMED, 5)]
SCHEMA: Event = {"type": "object", "properties": {"city": {"type": "string"}}}


class Sent(NamedTuple):
    parts: list[Event]
    results: list[Event]
    tool: Event
    nothing: list[Event]


def functions(*calls: tuple[str | None, str, Any]) -> list[Event]:
    return [
        {
            **({} if call_id is None else {"id": call_id, "type": "function"}),
            "function": {"name": name, "arguments": said},
        }
        for call_id, name, said in calls
    ]


def documents(*data: tuple[str, Event]) -> list[Event]:
    return [
        {"role": "tool", "tool_call_id": call_id, "content": [{"type": "document", "document": {"data": said}}]}
        for call_id, said in data
    ]


FUNCTION = {"name": "weather", "description": "Today.", "parameters": SCHEMA}
WRITTEN = [
    ("functions.pay:0", "pay", '{"to":1}'),
    ("call_5", "now", "{}"),
    ("d", "now", "{}"),
    ("call_7", "unknown", "{}"),
]
SENT = {
    "openai_chat": Sent(
        parts=[{"role": "assistant", "content": "Hi", "refusal": "No.", "tool_calls": functions(*WRITTEN)}],
        results=[
            {"role": "tool", "tool_call_id": "functions.pay:0", "content": '{"h":12}'},
            {"role": "tool", "tool_call_id": "call_5", "content": "noon"},
            {"role": "tool", "tool_call_id": "d", "content": "no"},
            {"role": "tool", "tool_call_id": "call_7", "content": "5"},
        ],
        tool={"type": "function", "function": {**FUNCTION, "strict": False}},
        nothing=[{"role": "assistant", "content": ""}],
    ),
    "openai_responses": Sent(
        parts=[
            {"type": "message", "role": "assistant", "content": "Hi"},
            {"type": "message", "role": "assistant", "content": "No."},
            {"type": "function_call", "call_id": "functions.pay:0", "name": "pay", "arguments": '{"to":1}'},
            {"type": "function_call", "call_id": "call_5", "name": "now", "arguments": "{}"},
            {"type": "function_call", "call_id": "d", "name": "now", "arguments": "{}"},
        ],
        results=[
            {"type": "function_call_output", "call_id": "functions.pay:0", "output": '{"h":12}'},
            {"type": "function_call_output", "call_id": "call_5", "output": "noon"},
            {"type": "function_call_output", "call_id": "d", "output": "no"},
        ],
        tool={"type": "function", **FUNCTION, "strict": False},
        nothing=[],
    ),
    "anthropic": Sent(
        parts=[
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Hi"},
                    {"type": "text", "text": "No."},
                    {"type": "tool_use", "id": "functions_pay_0", "name": "pay", "input": {"to": 1}},
                    {"type": "tool_use", "id": "call_5", "name": "now", "input": {}},
                    {"type": "tool_use", "id": "d", "name": "now", "input": {}},
                    {"type": "tool_use", "id": "call_7", "name": "unknown", "input": {}},
                ],
            }
        ],
        results=[
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "functions_pay_0", "content": '{"h":12}'},
                    {"type": "tool_result", "tool_use_id": "call_5", "content": "noon"},
                    {"type": "tool_result", "tool_use_id": "d", "content": "no", "is_error": True},
                    {"type": "tool_result", "tool_use_id": "call_7", "content": "5"},
                ],
            }
        ],
        tool={"name": "weather", "description": "Today.", "input_schema": SCHEMA},
        nothing=[],
    ),
    "bedrock": Sent(
        parts=[
            {
                "role": "assistant",
                "content": [
                    {"text": "Hi"},
                    {"text": "No."},
                    {"toolUse": {"toolUseId": "functions_pay_0", "name": "pay", "input": {"to": 1}}},
                    {"toolUse": {"toolUseId": "call_5", "name": "now", "input": {}}},
                    {"toolUse": {"toolUseId": "d", "name": "now", "input": {}}},
                    {"toolUse": {"toolUseId": "call_7", "name": "unknown", "input": {}}},
                ],
            }
        ],
        results=[
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "functions_pay_0", "content": [{"text": '{"h":12}'}]}},
                    {"toolResult": {"toolUseId": "call_5", "content": [{"text": "noon"}]}},
                    {"toolResult": {"toolUseId": "d", "content": [{"text": "no"}], "status": "error"}},
                    {"toolResult": {"toolUseId": "call_7", "content": [{"text": "5"}]}},
                ],
            }
        ],
        tool={"toolSpec": {"name": "weather", "description": "Today.", "inputSchema": {"json": SCHEMA}}},
        nothing=[],
    ),
    "cohere": Sent(
        parts=[{"role": "assistant", "content": [{"type": "text", "text": "Hi"}], "tool_calls": functions(*WRITTEN)}],
        results=documents(
            ("functions.pay:0", {"h": 12}),
            ("call_5", {"result": "noon"}),
            ("d", {"error": "no"}),
            ("call_7", {"result": 5}),
        ),
        tool={"type": "function", "function": FUNCTION},
        nothing=[{"role": "assistant", "content": ""}],
    ),
    "gemini": Sent(
        parts=[
            {
                "role": "model",
                "parts": [
                    {"text": "Hi"},
                    {
                        "functionCall": {"id": "functions.pay:0", "name": "pay", "args": {"to": 1}},
                        "thoughtSignature": "skip_thought_signature_validator",
                    },
                    {"functionCall": {"name": "now", "args": {}}},
                    {"functionCall": {"id": "d", "name": "now", "args": {}}},
                    {"inlineData": {"mimeType": "image/png", "data": "eA=="}},
                ],
            }
        ],
        results=[
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "functions.pay:0", "name": "pay", "response": {"h": 12}}},
                    {"functionResponse": {"name": "now", "response": {"output": "noon"}}},
                    {"functionResponse": {"id": "d", "name": "now", "response": {"error": "no"}}},
                ],
            }
        ],
        tool={"name": "weather", "description": "Today.", "parametersJsonSchema": SCHEMA},
        nothing=[],
    ),
    "gemini_interactions": Sent(
        parts=[
            {"type": "model_output", "content": [{"type": "text", "text": "Hi"}]},
            {"type": "function_call", "id": "functions.pay:0", "name": "pay", "arguments": {"to": 1}},
            {"type": "function_call", "id": "", "name": "now", "arguments": {}},
            {"type": "function_call", "id": "d", "name": "now", "arguments": {}},
            {"type": "model_output", "content": [{"type": "image", "mime_type": "image/png", "data": "eA=="}]},
        ],
        results=[
            {"type": "function_result", "call_id": "functions.pay:0", "name": "pay", "result": {"h": 12}},
            {"type": "function_result", "call_id": "", "name": "now", "result": "noon"},
            {"type": "function_result", "call_id": "d", "name": "now", "result": "no", "is_error": True},
        ],
        tool={"type": "function", **FUNCTION},
        nothing=[],
    ),
    "ollama": Sent(
        parts=[
            {
                "role": "assistant",
                "content": "Hi",
                "tool_calls": functions(
                    *((None, "pay", {"to": 1}), (None, "now", {}), (None, "now", {}), (None, "unknown", {}))
                ),
            }
        ],
        results=[
            {"role": "tool", "tool_name": "pay", "content": '{"h":12}', "tool_call_id": "functions.pay:0"},
            {"role": "tool", "tool_name": "now", "content": "noon"},
            {"role": "tool", "tool_name": "now", "content": "no", "tool_call_id": "d"},
            {"role": "tool", "tool_name": "unknown", "content": "5"},
        ],
        tool={"type": "function", "function": FUNCTION},
        nothing=[{"role": "assistant", "content": ""}],
    ),
}


def test_every_provider_is_in_the_table() -> None:
    assert {*SENT} == {*PROVIDERS}


@pytest.mark.parametrize("provider", SENT)
class TestEveryProvider:
    def test_of_a_message_of_another_provider_takes_what_both_know(self, provider: str) -> None:
        message = Message(PARTS, provider="cohere" if provider != "cohere" else "anthropic")
        assert to_request(message, provider) == SENT[provider].parts
        CHECK_MESSAGES[provider](SENT[provider].parts)

    def test_takes_results_and_errors_under_the_ids_of_their_calls(self, provider: str) -> None:
        assert to_request(RESULTS, provider) == SENT[provider].results
        CHECK_MESSAGES[provider](SENT[provider].results)
        assert to_request([], provider) == []

    def test_takes_nothing_of_an_empty_message_or_says_that_it_is_empty(self, provider: str) -> None:
        assert to_request(Message(()), provider) == SENT[provider].nothing
        CHECK_MESSAGES[provider](SENT[provider].nothing or SENT[provider].parts)

    def test_takes_a_tool_with_its_schema(self, provider: str) -> None:
        tools = tool_definitions([Tool("weather", SCHEMA, description="Today.")], provider, strict=False)
        assert tools == [SENT[provider].tool]
        check_tool(provider, SENT[provider].tool)


@pytest.mark.parametrize("provider", ["openai_chat", "openai_responses", "anthropic", "bedrock"])
def test_a_strict_tool_is_said_to_be_strict(provider: str) -> None:
    (tool,) = tool_definitions([Tool("weather", {**SCHEMA, "required": ["city"]})], provider, strict=True)
    holder = tool.get("function") or tool.get("toolSpec") or tool
    assert holder["strict"] is True
    check_tool(provider, tool)


@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
def test_blank_text_is_refused_and_not_sent(provider: str) -> None:
    assert to_request(Message((TextPart(" \n"),)), provider) == []
