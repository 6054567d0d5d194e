"""Messages, results and tools as chat completions take them, checked against the types of the SDK."""

from typing import Any

import pytest

from jsontide.messages import (
    CompleteCall,
    File,
    Message,
    Outcome,
    PartialCall,
    ReasoningPart,
    Refusal,
    TextPart,
    Tool,
    ToolResult,
)
from jsontide.providers import to_request, tool_definitions
from tests.providers.block_streams import Event, last
from tests.providers.chat_events import chunk
from tests.providers.client_types import adapter_of

CALL = CompleteCall("weather", {"city": "Rome"}, id="call_1", index=1)


def check(item: Event) -> None:
    """An item is what the SDK takes as a message."""
    chat = pytest.importorskip("openai.types.chat", reason="the types of the SDK are needed")
    kinds = {
        "assistant": chat.ChatCompletionAssistantMessageParam,
        "tool": chat.ChatCompletionToolMessageParam,
        "function": chat.ChatCompletionFunctionMessageParam,
    }
    kind = kinds[item["role"]]
    adapter_of(kind).validate_python(item)
    assert set(item) <= set(kind.__annotations__)


def write(*parts: Any, **fields: Any) -> Event:
    item: Event
    (item,) = to_request(Message(parts, **fields), "openai_chat")
    return item


class TestMessages:
    def test_text_and_calls(self) -> None:
        item = write(ReasoningPart("Hm."), TextPart("Let me "), TextPart("look."), CALL, provider="openai_chat")
        check(item)
        assert item == {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"city":"Rome"}'},
                }
            ],
        }

    def test_calls_alone_have_no_content(self) -> None:
        item = write(CALL)
        check(item)
        assert item["content"] is None

    def test_a_refusal_and_nothing_at_all(self) -> None:
        for item in (write(Refusal("No.")), write()):
            check(item)
        assert write(Refusal("No.")) == {"role": "assistant", "content": None, "refusal": "No."}
        assert write() == {"role": "assistant", "content": ""}

    @pytest.mark.parametrize(
        ("written", "sent"),
        [('{"city": "Rome"}', '{"city": "Rome"}'), ('{"city": "Ro', "{}"), ("[1]", "{}"), ("", "{}")],
    )
    def test_a_call_that_cannot_be_run_has_arguments_that_are_json(self, written: str, sent: str) -> None:
        item = write(PartialCall("weather", written, status=Outcome.TRUNCATED, id="call_1"))
        check(item)
        assert item["tool_calls"][0]["function"]["arguments"] == sent

    def test_a_call_without_id_is_named_by_its_place(self) -> None:
        call = CompleteCall("now", {}, index=3)
        item = write(call, provider="ollama")
        check(item)
        (result,) = to_request(ToolResult(call, "noon"), "openai_chat")
        check(result)
        assert item["tool_calls"][0]["id"] == result["tool_call_id"] == "call_3"

    def test_the_audio_of_the_same_server(self) -> None:
        spoken = File("audio/*", "UklG", id="audio_1")
        item = write(spoken, provider="openai_chat")
        check(item)
        assert item == {"role": "assistant", "content": None, "audio": {"id": "audio_1"}}
        assert "audio" not in write(spoken, provider="gemini")

    def test_a_custom_call(self) -> None:
        call = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "sql", "input": 'SELECT "a"'}}
        message = last(chunk(tool_calls=[call]), chunk("tool_calls"))
        (item,) = to_request(message)
        check(item)
        del call["index"]
        assert item["tool_calls"] == [call]
        broken = PartialCall("sql", '"SEL', id="c", extra={"type": "custom"})
        assert write(broken)["tool_calls"][0]["custom"] == {"name": "sql", "input": ""}

    def test_the_old_form_of_a_call(self) -> None:
        message = last(chunk(function_call={"name": "now", "arguments": "{}"}), chunk("function_call"))
        (item,) = to_request(message)
        (result,) = to_request(ToolResult(message.tool_calls[0], "noon"), "openai_chat")
        check(item)
        check(result)
        assert item == {"role": "assistant", "content": None, "function_call": {"name": "now", "arguments": "{}"}}
        assert result == {"role": "function", "name": "now", "content": "noon"}


class TestWhatGoesBack:
    DETAILS = (
        {"type": "reasoning.text", "text": "Hm.", "signature": "sig", "format": "anthropic-claude-v1", "index": 0},
        {"type": "reasoning.summary", "summary": "So.", "id": "rs_1", "format": "openai-v1", "index": 1},
        {"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "format": "openai-v1", "index": 1},
        {"type": "reasoning.new", "x": 1},
    )

    def test_blocks_of_openrouter(self) -> None:
        message = last(chunk(reasoning="Hm.", reasoning_details=list(self.DETAILS)), chunk(content="Hi"), chunk("stop"))
        (item,) = to_request(Message.from_json(message.to_json()))
        assert item == {"role": "assistant", "content": "Hi", "reasoning_details": [*self.DETAILS]}
        assert "reasoning_details" not in to_request(Message(message.parts, provider="anthropic"), "openai_chat")[0]

    def test_thinking_of_mistral(self) -> None:
        thinking = {
            "type": "thinking",
            "thinking": [{"type": "text", "text": "Hm."}],
            "signature": "sig",
            "closed": True,
        }
        message = last(chunk(content=[thinking, {"type": "text", "text": "Hi"}]), chunk("stop"))
        (item,) = to_request(message)
        assert item["content"] == [thinking, {"type": "text", "text": "Hi"}]

    def test_signatures_of_calls(self) -> None:
        signed = {"google": {"thought_signature": "c2ln"}}
        call = {"id": "a", "type": "function", "function": {"name": "now", "arguments": "{}"}, "extra_content": signed}
        message = last(chunk(tool_calls=[{"index": 0, **call}]), chunk("tool_calls"))
        (item,) = to_request(message)
        assert item["tool_calls"] == [call]

    def test_reasoning_content_does_not(self) -> None:
        (item,) = to_request(last(chunk(reasoning_content="Hm."), chunk(content="Hi"), chunk("stop")))
        assert item == {"role": "assistant", "content": "Hi"}


def test_results() -> None:
    results = [ToolResult(CALL, {"c": 21}), ToolResult(CALL, "sunny"), ToolResult(CALL, error="no such city")]
    items = to_request(results, "openai_chat")
    for item in items:
        check(item)
    assert [item["content"] for item in items] == ['{"c":21}', "sunny", "no such city"]
    assert {item["tool_call_id"] for item in items} == {"call_1"}


@pytest.mark.parametrize("strict", [True, False])
def test_tools(strict: bool) -> None:  # noqa: FBT001 - a parameter of the test
    chat = pytest.importorskip("openai.types.chat", reason="the types of the SDK are needed")
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    (item,) = tool_definitions([Tool("weather", schema, description="Today.")], "openai_chat", strict=strict)
    adapter_of(chat.ChatCompletionToolParam).validate_python(item)
    assert item["type"] == "function"
    assert item["function"]["strict"] is strict
    assert (item["function"]["name"], item["function"]["description"]) == ("weather", "Today.")
    assert item["function"]["parameters"].get("required") == (["city"] if strict else None)
