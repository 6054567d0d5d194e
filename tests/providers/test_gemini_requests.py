"""The next request to Gemini: checked by the models of its SDK, and read back by a reader of its own."""

from typing import ClassVar

from jsontide.messages import CompleteCall, File, Message, PartialCall, ToolResult
from jsontide.providers.gemini import GeminiForm
from jsontide.providers.gemini_interactions import InteractionsForm
from jsontide.streams import stream_message
from tests.generated_streams.said import Event
from tests.providers.client_types import check_gemini, check_interactions

FORM, STEPS = GeminiForm(), InteractionsForm()
CALL = CompleteCall("pay", {"to": "Zoe"}, id="f1", extra={"thoughtSignature": "c2ln"})
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


class TestGemini:
    def test_every_part_goes_back_as_it_came(self) -> None:
        sent = [{"role": "model", "parts": PARTS}]
        together = read([response(*PARTS), STOP])
        for message in (together, Message.from_json(together.to_json()), read([*map(response, PARTS), STOP])):
            assert FORM.write_message(message) == sent
        check_gemini(sent)

    def test_calls_that_are_not_whole(self) -> None:
        calls = (
            PartialCall("a", '{"b": 1}'),
            PartialCall("a", '{"b": '),
            PartialCall("a", "[1]"),
            PartialCall(None, "{}"),
        )
        (content,) = FORM.write_message(Message(calls, provider="gemini"))
        assert [part["functionCall"]["args"] for part in content["parts"]] == [{"b": 1}, {}, {}]

    def test_a_file_of_another_provider_has_nothing_of_its_own(self) -> None:
        message = Message((File("image/png", "AAEC", extra={"quality": "high"}),), provider="anthropic")
        (content,) = FORM.write_message(message)
        assert content["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "AAEC"}}]

    def test_a_result_that_is_no_object_is_put_into_one(self) -> None:
        (content,) = FORM.write_results([ToolResult(CALL, [1]), ToolResult(CALL)])
        told = [part["functionResponse"]["response"] for part in content["parts"]]
        assert told == [{"output": [1]}, {"output": None}]


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

    def test_is_what_the_sdk_takes(self) -> None:
        check_interactions(INTERACTION[:-1])
        results = STEPS.write_results([ToolResult(CALL, {"a": 1}), ToolResult(CALL, [1]), ToolResult(CALL, error="no")])
        assert [step["result"] for step in results] == [{"a": 1}, "[1]", "no"]
        check_interactions(results)

    def test_a_result_without_its_call(self) -> None:
        steps = [INTERACTION[4]]
        assert STEPS.write_message(read([{**self.WHOLE, "steps": steps}])) == steps
