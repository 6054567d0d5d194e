"""Messages as chat completions take them where the contract has none: refusals, audio, and other forms of calls."""

from typing import Any

import pytest

from jsontide.messages import File, Message, Outcome, PartialCall, Refusal, ToolResult
from jsontide.providers import to_request
from tests.providers.block_streams import Event, last
from tests.providers.chat_events import chunk
from tests.providers.client_types import check_chat


def sent(message: Message) -> Event:
    """The one item of a message, which the client takes."""
    items: list[Event] = to_request(message, "openai_chat")
    check_chat(items)
    (item,) = items
    return item


def write(*parts: Any, **fields: Any) -> Event:
    return sent(Message(parts, **fields))


class TestMessages:
    def test_a_refusal(self) -> None:
        assert write(Refusal("No.")) == {"role": "assistant", "content": None, "refusal": "No."}

    @pytest.mark.parametrize(
        ("written", "sent"),
        [('{"city": "Rome"}', '{"city": "Rome"}'), ('{"city": "Ro', "{}"), ("[1]", "{}"), ("", "{}")],
    )
    def test_a_call_that_cannot_be_run_has_arguments_that_are_json(self, written: str, sent: str) -> None:
        item = write(PartialCall("weather", written, status=Outcome.TRUNCATED, id="call_1"))
        assert item["tool_calls"][0]["function"]["arguments"] == sent

    def test_the_audio_of_the_same_server(self) -> None:
        spoken = File("audio/*", "UklG", id="audio_1")
        item = write(spoken, provider="openai_chat")
        assert item == {"role": "assistant", "content": None, "audio": {"id": "audio_1"}}
        assert "audio" not in write(spoken, provider="gemini")

    def test_a_custom_call(self) -> None:
        call = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "sql", "input": 'SELECT "a"'}}
        item = sent(last(chunk(tool_calls=[call]), chunk("tool_calls")))
        del call["index"]
        assert item["tool_calls"] == [call]
        broken = PartialCall("sql", '"SEL', id="c", extra={"type": "custom"})
        assert write(broken)["tool_calls"][0]["custom"] == {"name": "sql", "input": ""}

    def test_the_old_form_of_a_call(self) -> None:
        message = last(chunk(function_call={"name": "now", "arguments": "{}"}), chunk("function_call"))
        called = {"role": "assistant", "content": None, "function_call": {"name": "now", "arguments": "{}"}}
        assert sent(message) == called
        results = to_request(ToolResult(message.tool_calls[0], "noon"), "openai_chat")
        check_chat(results)
        assert results == [{"role": "function", "name": "now", "content": "noon"}]


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
