"""The next request to Gemini: checked by the models of its SDK, and read back by a reader of its own."""

import base64
from typing import Any, ClassVar

import pytest

from jsontide.messages import (
    CompleteCall,
    File,
    Message,
    Other,
    PartialCall,
    ReasoningPart,
    ServerCall,
    Source,
    TextPart,
    ToolResult,
)
from jsontide.providers.gemini import GeminiForm
from jsontide.providers.gemini_interactions import InteractionsForm
from jsontide.streams import stream_message
from tests.generated_streams.said import Event

FORM, STEPS = GeminiForm(), InteractionsForm()
CALL = CompleteCall("pay", {"to": "Zoe"}, id="f1", extra={"thoughtSignature": "c2ln"})
SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
PARTS: list[Event] = [
    {"text": "Hm.", "thought": True},
    {"text": "Hm!", "thought": True, "thoughtSignature": "c2ln"},
    {"text": "Hi"},
    {"text": "", "thoughtSignature": "ZW5k"},
    {"functionCall": {"id": "f1", "name": "pay", "args": {"to_whom": "Zoe", "n": 1}}, "thoughtSignature": "c2ln"},
    {"functionCall": {"name": "now", "args": {}}},
    {"executableCode": {"id": "x", "language": "PYTHON", "code": "1"}, "thoughtSignature": "c2ln"},
    {"codeExecutionResult": {"id": "x", "outcome": "OUTCOME_OK", "output": "1"}, "thoughtSignature": "cmVz"},
    {"toolCall": {"id": "t", "toolType": "GOOGLE_SEARCH_WEB", "args": {"query_text": "x"}}},
    {"toolResponse": {"id": "t", "toolType": "GOOGLE_SEARCH_WEB", "response": {"a_b": 1}}},
    {"inlineData": {"mimeType": "image/png", "data": "AAEC"}, "thoughtSignature": "c2ln"},
    {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://a/b", "displayName": "b"}},
    {"functionResponse": {"name": "odd", "response": {"a_b": 1}}},
]


def read(told: list[Event]) -> Message:
    *_, message = stream_message(told)
    return message


def response(*parts: Event) -> Event:
    return {"candidates": [{"content": {"role": "model", "parts": [*parts]}}]}


STOP: Event = {"candidates": [{"finishReason": "STOP"}]}


@pytest.fixture
def types() -> Any:
    return pytest.importorskip("google.genai.types", reason="google-genai is not installed")


@pytest.fixture
def interactions() -> Any:
    return pytest.importorskip("google.genai.interactions", reason="google-genai is not installed")


@pytest.fixture
def pydantic() -> Any:
    return pytest.importorskip("pydantic", reason="pydantic is not installed")


class TestGemini:
    def test_every_part_goes_back_as_it_came(self) -> None:
        assert FORM.write_message(read([response(*PARTS), STOP])) == [{"role": "model", "parts": PARTS}]
        assert FORM.write_message(read([*map(response, PARTS), STOP])) == [{"role": "model", "parts": PARTS}]

    def test_from_a_saved_message_too(self) -> None:
        message = read([response(*PARTS), STOP])
        assert FORM.write_message(Message.from_json(message.to_json())) == [{"role": "model", "parts": PARTS}]

    def test_is_what_the_sdk_takes(self, types: Any) -> None:
        (content,) = FORM.write_message(read([response(*PARTS), STOP]))
        parts = types.Content.model_validate(content).parts
        assert parts[1].thought_signature == base64.b64decode("c2ln")
        assert parts[4].function_call.args == {"to_whom": "Zoe", "n": 1}
        (results,) = FORM.write_results([ToolResult(CALL, {"paid": True}), ToolResult(CALL, error="no money")])
        assert [part.function_response.response for part in types.Content.model_validate(results).parts] == [
            {"paid": True},
            {"error": "no money"},
        ]
        declaration = FORM.write_tool("pay", "Pays.", SCHEMA, strict=True)
        tool = types.Tool(function_declarations=[types.FunctionDeclaration.model_validate(declaration)])
        assert tool.function_declarations[0].parameters_json_schema == SCHEMA

    def test_results(self) -> None:
        unnamed = PartialCall(None, "{", id=None)
        results = [
            ToolResult(CALL, {"paid": True}),
            ToolResult(CALL, "done"),
            ToolResult(CALL, [1]),
            ToolResult(CALL),
            ToolResult(unnamed, error="what?"),
        ]
        (content,) = FORM.write_results(results)
        assert content["role"] == "user"
        told = [part["functionResponse"] for part in content["parts"]]
        assert told == [
            {"id": "f1", "name": "pay", "response": {"paid": True}},
            {"id": "f1", "name": "pay", "response": {"output": "done"}},
            {"id": "f1", "name": "pay", "response": {"output": [1]}},
            {"id": "f1", "name": "pay", "response": {"output": None}},
            {"name": "unknown", "response": {"error": "what?"}},
        ]
        assert FORM.write_results([]) == []

    def test_calls_that_are_not_whole(self) -> None:
        calls = (
            PartialCall("a", '{"b": 1}'),
            PartialCall("a", '{"b": '),
            PartialCall("a", "[1]"),
            PartialCall(None, "{}"),
        )
        (content,) = FORM.write_message(Message(calls, provider="gemini"))
        assert [part["functionCall"]["args"] for part in content["parts"]] == [{"b": 1}, {}, {}]

    def test_a_message_of_another_provider(self) -> None:
        parts = (
            ReasoningPart("Hm.", "sig"),
            TextPart("Hi", extra={"phase": "x"}),
            CompleteCall("pay", {"to": "Zoe"}, id="toolu_1", extra={"caller": {}}),
            ServerCall("search", "{}", "found"),
            Source("https://a.example"),
            File("image/png", "AAEC", extra={"quality": "high"}),
            Other("odd", {"type": "odd"}),
        )
        assert FORM.write_message(Message(parts, provider="anthropic")) == [
            {
                "role": "model",
                "parts": [
                    {"text": "Hi"},
                    {
                        "functionCall": {"id": "toolu_1", "name": "pay", "args": {"to": "Zoe"}},
                        "thoughtSignature": "skip_thought_signature_validator",
                    },
                    {"inlineData": {"mimeType": "image/png", "data": "AAEC"}},
                ],
            }
        ]
        assert FORM.write_message(Message()) == []


INTERACTION: list[Event] = [
    {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "Hm."}]},
    {
        "type": "model_output",
        "content": [{"type": "text", "text": "Hi"}, {"type": "image", "mime_type": "image/png", "data": "AAEC"}],
    },
    {"type": "function_call", "id": "f", "name": "pay", "arguments": {"to": "Zoe"}, "signature": "Zg=="},
    {"type": "google_search_call", "id": "g", "arguments": {"queries": ["x"]}, "signature": ""},
    {"type": "google_search_result", "call_id": "g", "result": [{"search_suggestions": "s"}], "is_error": False},
    {"type": "mcp_server_tool_call", "id": "m", "name": "find", "server_name": "s", "arguments": {}},
    {"type": "mcp_server_tool_result", "call_id": "m", "name": "find", "server_name": "s", "result": "found"},
    {"type": "dream", "of": "sheep"},
]


class TestInteractions:
    WHOLE: ClassVar[Event] = {"object": "interaction", "id": "v1", "status": "requires_action", "steps": INTERACTION}

    def test_every_step_goes_back_as_it_came(self) -> None:
        assert STEPS.write_message(read([self.WHOLE])) == INTERACTION

    def test_is_what_the_sdk_takes(self, interactions: Any, pydantic: Any) -> None:
        adapter = pydantic.TypeAdapter(list[interactions.Step])
        steps = adapter.validate_python(STEPS.write_message(read([self.WHOLE])))
        known = [step for step in steps if not getattr(step, "is_unknown", False)]
        assert [step.type for step in known] == [step["type"] for step in INTERACTION[:-1]]
        results = STEPS.write_results([ToolResult(CALL, {"a": 1}), ToolResult(CALL, [1]), ToolResult(CALL, error="no")])
        assert [step.result for step in adapter.validate_python(results)][1:] == ["[1]", "no"]
        assert all(type(step).__name__ == "FunctionResultStep" for step in adapter.validate_python(results))
        assert (
            interactions.Function.model_validate(STEPS.write_tool("pay", "Pays.", SCHEMA, strict=False)).name == "pay"
        )

    def test_a_message_of_another_provider(self) -> None:
        parts = (ReasoningPart("Hm.", "sig"), TextPart("Hi"), CALL, ServerCall("search", "{}", "x"), PartialCall(None))
        assert STEPS.write_message(Message(parts, provider="anthropic")) == [
            {"type": "model_output", "content": [{"type": "text", "text": "Hi"}]},
            {"type": "function_call", "id": "f1", "name": "pay", "arguments": {"to": "Zoe"}},
        ]

    def test_a_result_without_its_call(self) -> None:
        steps = [INTERACTION[4]]
        assert STEPS.write_message(read([{**self.WHOLE, "steps": steps}])) == steps
