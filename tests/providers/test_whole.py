"""Whole completions, from servers that ignore the request to stream, are read as one event."""

import asyncio
import json
import pickle
from collections.abc import AsyncIterator, Iterator
from random import Random
from typing import Any

import pytest

from jsontide.messages import ErrorKind, Message, Outcome, Tool
from jsontide.providers import feed_stream, start_stream
from jsontide.streams import astream_message, stream_message
from tests.cuts import cut_randomly, singles
from tests.providers.block_streams import as_object

ARGUMENTS = {"city": "Kyōto 𝄞", "days": [1, 2]}
SAID = "Let me look."
THOUGHT = "They want the weather."


def chat(**said: Any) -> dict[str, Any]:
    function = {"name": "weather", "arguments": json.dumps(ARGUMENTS)}
    message = {
        "role": "assistant",
        "content": SAID,
        "refusal": None,
        "reasoning_content": THOUGHT,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": function},
            {"id": "call_2", "type": "function", "function": {"name": "now", "arguments": ""}},
        ],
        **said,
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "model": "m",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": THOUGHT}]},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": SAID, "annotations": []}],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "weather",
            "arguments": json.dumps(ARGUMENTS),
            "status": "completed",
        },
        {
            "type": "function_call",
            "id": "fc_2",
            "call_id": "call_2",
            "name": "now",
            "arguments": "{}",
            "status": "completed",
        },
    ],
}
ANTHROPIC = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [
        {"type": "thinking", "thinking": THOUGHT, "signature": "x"},
        {"type": "text", "text": SAID},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
        {"type": "tool_use", "id": "call_1", "name": "weather", "input": ARGUMENTS},
        {"type": "tool_use", "id": "call_2", "name": "now", "input": {}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
GEMINI = {
    "candidates": [
        {
            "index": 0,
            "content": {
                "role": "model",
                "parts": [
                    {"text": THOUGHT, "thought": True},
                    {"text": SAID},
                    {"functionCall": {"id": "call_1", "name": "weather", "args": ARGUMENTS}},
                    {"functionCall": {"id": "call_2", "name": "now"}},
                ],
            },
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {},
}
INTERACTION = {
    "id": "v1_1",
    "object": "interaction",
    "status": "requires_action",
    "steps": [
        {"type": "thought", "summary": [{"type": "text", "text": THOUGHT}], "signature": "x"},
        {"type": "model_output", "content": [{"type": "text", "text": SAID}]},
        {"type": "google_search_call", "id": "s", "arguments": {"queries": ["x"]}},
        {"type": "function_call", "id": "call_1", "name": "weather", "arguments": ARGUMENTS},
        {"type": "function_call", "id": "call_2", "name": "now", "arguments": {}},
    ],
}
OUTPUTS = {
    "id": "v1_1",
    "status": "requires_action",
    "outputs": [
        {"type": "thought", "summary": [{"type": "text", "text": THOUGHT}]},
        {"type": "text", "text": SAID},
        *INTERACTION["steps"][2:],
    ],
}
CONVERSE = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": THOUGHT, "signature": "x"}}},
                {"text": SAID},
                {"toolUse": {"toolUseId": "call_1", "name": "weather", "input": ARGUMENTS}},
                {"toolUse": {"toolUseId": "call_2", "name": "now", "input": {}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 1},
}
OLLAMA = {
    "model": "m",
    "message": {
        "role": "assistant",
        "content": SAID,
        "thinking": THOUGHT,
        "tool_calls": [
            {"id": "call_1", "function": {"name": "weather", "arguments": ARGUMENTS}},
            {"id": "call_2", "function": {"name": "now", "arguments": {}}},
        ],
    },
    "done": True,
    "done_reason": "stop",
}
COHERE = {
    "id": "1",
    "finish_reason": "TOOL_CALL",
    "message": {
        "role": "assistant",
        "tool_plan": THOUGHT,
        "content": [{"type": "text", "text": SAID}],
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": json.dumps(ARGUMENTS)}},
            {"id": "call_2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
        ],
    },
}
WHOLES: dict[str, Any] = {
    "chat": chat(),
    "responses": RESPONSE,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "interactions": INTERACTION,
    "interactions, with outputs": OUTPUTS,
    "bedrock": CONVERSE,
    "ollama": OLLAMA,
    "cohere": COHERE,
}

every_whole = pytest.mark.parametrize("name", WHOLES)


def check(message: Message) -> None:
    assert (message.role, message.content, message.reasoning) == ("assistant", SAID, THOUGHT)
    assert (message.outcome, message.errors) == (Outcome.COMPLETE, ())
    assert [(call.id, call.name, call.arguments_value) for call in message.tool_calls] == [  # type: ignore[union-attr]
        ("call_1", "weather", ARGUMENTS),
        ("call_2", "now", {}),
    ]


def last_of(events: Any, **options: Any) -> Message:
    *_, last = stream_message(events, **options)
    return last


@every_whole
def test_as_a_dict_and_as_an_object(name: str) -> None:
    async def source() -> AsyncIterator[object]:
        yield WHOLES[name]

    async def later() -> list[Message]:
        return [message async for message in astream_message(source())]

    whole = WHOLES[name]
    check(last_of([whole]))
    check(last_of([as_object(whole)]))
    check(asyncio.run(later())[-1])


@every_whole
def test_as_one_event(name: str) -> None:
    first, *_, last = stream_message([WHOLES[name]])
    assert (first.content, first.outcome, len(first.tool_calls)) == (SAID, Outcome.STREAMING, 2)
    check(last)


@every_whole
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("form", ["{}", "\n{}\n", "data: {}\n\n", "data: {}\n\ndata: [DONE]\n\n"])
@pytest.mark.untraced
def test_as_text_cut_anywhere(name: str, indent: int | None, form: str) -> None:
    written = json.dumps(WHOLES[name], indent=indent, ensure_ascii=False)
    text = form.replace("{}", written.replace("\n", "\ndata: ") if form.startswith("data: ") else written)
    for chunks in (
        singles(text),
        [text],
        [text.encode()],
        *(cut_randomly(text.encode(), Random(seed)) for seed in range(5)),
    ):
        check(last_of(chunks))


def test_as_text_that_is_cut_off_nothing_can_be_run() -> None:
    for indent in (None, 1):
        sent = json.dumps(chat(), indent=indent).encode()
        for place in range(1, len(sent), 7):
            message = last_of([sent[:place]])
            assert (message.outcome, message.tool_calls) == (Outcome.TRUNCATED, ())
            assert message.errors[0].kind is ErrorKind.TRANSPORT


def test_as_text_that_is_not_utf8_nothing_can_be_run() -> None:
    sent = json.dumps(chat(content="Zo~"), indent=1).encode().replace(b"~", b"\xff")
    assert (last_of([sent]).outcome, last_of([sent]).tool_calls) == (Outcome.TRUNCATED, ())


@every_whole
def test_given_alone(name: str) -> None:
    """As a client gives it that was not asked to stream."""
    check(last_of(WHOLES[name]))
    check(last_of(as_object(WHOLES[name])))


@pytest.mark.parametrize(
    "event",
    [
        {"choices": [{"index": 0, "delta": {"content": "Hi"}}]},
        {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]},
        {"candidates": [{"finishReason": "STOP"}, {"index": 1, "content": {"parts": [{"text": "Hi"}]}}]},
        {"message": {"content": "Hi"}, "done": False},
        {"response": "Hi", "done": False},
        {"response": "Hi"},
        {"content": "Hi", "stop": False},
        {"token": {"text": "Hi"}, "generated_text": None},
        {"type": "message_start", "message": {}},
    ],
)
def test_one_event_of_a_stream_alone_is_refused(event: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="a single one"):
        stream_message(event)


NATIVE: dict[str, Any] = {
    "ollama, generate": {"model": "m", "response": SAID, "done": True, "done_reason": "stop"},
    "llama.cpp": {"content": SAID, "stop": True, "stop_type": "eos"},
    "text generation inference": {"generated_text": SAID},
    "workers ai": {"result": {"response": SAID}, "success": True, "errors": [], "messages": []},
}


@pytest.mark.parametrize("name", NATIVE)
def test_of_native_forms_given_in_any_way(name: str) -> None:
    whole = NATIVE[name]
    text = json.dumps(whole, indent=1)
    for source in (whole, as_object(whole), [whole], [as_object(whole)], text, singles(text), [f"[{text}]"]):
        message = last_of(source)
        assert (message.content, message.outcome, message.errors) == (SAID, Outcome.COMPLETE, ())


def test_blocked_prompts_are_whole() -> None:
    for whole in ({"promptFeedback": {"blockReason": "SAFETY"}}, {"promptFeedback": {"blockReason": 1}}):
        assert last_of(whole).outcome is Outcome.FILTERED
        assert last_of(as_object(whole)).outcome is Outcome.FILTERED


def test_that_workers_ai_could_not_make_says_why() -> None:
    whole = {"result": None, "success": False, "errors": [{"code": 7009, "message": "no such model"}]}
    message = last_of([whole])
    assert (message.outcome, message.errors[0].message) == (Outcome.TRUNCATED, "no such model")


class TestArrays:
    """As Gemini streams without `alt=sse`."""

    events = ({"candidates": [{"content": {"parts": [{"text": piece}]}}]} for piece in ('a"]}', "\\", '{[\\"é𝄞', "}"))
    items = (*events, {"candidates": [{"finishReason": "STOP"}]})

    def test_each_item_is_shown_as_it_closes(self) -> None:
        received: list[str] = []

        def one_by_one() -> Iterator[str]:
            for character in json.dumps(self.items, indent=2, ensure_ascii=False):
                received.append(character)
                yield character

        for message in list(self.shown_with(one_by_one(), received))[:4]:
            content, so_far = message
            items = json.loads(f"{so_far}]")
            assert content == "".join(item["candidates"][0]["content"]["parts"][0]["text"] for item in items)

    @staticmethod
    def shown_with(source: Iterator[str], received: list[str]) -> Iterator[tuple[str, str]]:
        """Yield what every message shows, and all that was received until then."""
        for message in stream_message(source):
            yield message.content, "".join(received)

    def test_a_cut_keeps_the_items_before_it(self) -> None:
        text = json.dumps(self.items, ensure_ascii=False)
        full = 'a"]}\\{[\\"é𝄞}'
        for place in range(1, len(text)):
            message = last_of([text[:place]])
            assert message.outcome is Outcome.TRUNCATED
            assert full.startswith(message.content)
        assert last_of([text[:-1]]).content == full

    @pytest.mark.parametrize("bad", ["[{}{}]", "[{},]", "[,{}]", "[{}]]", "[{}] x", "[{},5]", "[[{}]]", '["a"]', "[{}"])
    def test_what_is_no_array_of_objects_is_damage(self, bad: str) -> None:
        text = bad.replace("{}", json.dumps(self.items[0]))
        for chunks in (singles(text), [text]):
            message = last_of(chunks)
            assert (message.outcome, message.errors[0].kind) == (Outcome.TRUNCATED, ErrorKind.TRANSPORT)

    def test_a_saved_state_goes_on_anywhere(self) -> None:
        text = json.dumps(self.items, ensure_ascii=False)
        for place in range(0, len(text), 5):
            saved = pickle.loads(pickle.dumps(feed_stream(start_stream(), text[:place])))  # noqa: S301 - our own
            assert last_of([text[place:]], state=saved) == last_of([text])

    def test_the_error_of_a_request_in_an_array(self) -> None:
        message = last_of('[{"error": {"code": 429, "message": "Slow down", "status": "RESOURCE_EXHAUSTED"}}]')
        assert (message.outcome, message.errors[0].message) == (Outcome.TRUNCATED, "Slow down")


def test_calls_without_an_id_are_told_apart_by_their_place() -> None:
    calls = [{"function": {"name": "weather", "arguments": json.dumps({"city": city})}} for city in ("Kyoto", "Nara")]
    for plain in (chat(tool_calls=calls), as_object(chat(tool_calls=calls))):
        message = last_of([plain])
        assert [call.arguments_value for call in message.tool_calls] == [{"city": "Kyoto"}, {"city": "Nara"}]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("whole", "outcome"),
    [
        ({**chat(), "choices": [{**chat()["choices"][0], "finish_reason": "content_filter"}]}, Outcome.FILTERED),
        ({**chat(), "choices": [{**chat()["choices"][0], "finish_reason": None}]}, Outcome.TRUNCATED),
        (chat(content=None, tool_calls=None, refusal="No."), Outcome.REFUSED),
        ({**RESPONSE, "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, Outcome.FILTERED),
        ({**RESPONSE, "status": "failed", "error": {"message": "no"}}, Outcome.TRUNCATED),
        ({**ANTHROPIC, "stop_reason": "refusal"}, Outcome.REFUSED),
        ({**ANTHROPIC, "stop_reason": None}, Outcome.TRUNCATED),
        ({**INTERACTION, "status": "failed"}, Outcome.TRUNCATED),
        ({**CONVERSE, "stopReason": "guardrail_intervened"}, Outcome.FILTERED),
        ({**COHERE, "finish_reason": "ERROR"}, Outcome.TRUNCATED),
    ],
)
def test_that_ended_otherwise_cannot_be_run(whole: object, outcome: Outcome) -> None:
    message = last_of([whole])
    assert message.outcome is outcome
    assert all(call.status is not Outcome.COMPLETE for call in message.tool_calls)


def test_arguments_are_checked_by_the_schema_of_their_tool() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "integer"}}}
    message = last_of([chat()], tools=[Tool("weather", schema), Tool("now", {})])
    assert [call.status for call in message.tool_calls] == [Outcome.INVALID, Outcome.COMPLETE]


def test_structured_output_is_read() -> None:
    message = last_of([chat(content='{"a": 1}', tool_calls=None)], response_schema=dict[str, int])
    assert (message.answer, message.outcome) == ({"a": 1}, Outcome.COMPLETE)


def test_a_stream_whose_chunks_repeat_all_so_far_is_no_whole() -> None:
    """As some servers write them: the message beside the delta."""
    events = [
        {
            "choices": [
                {"index": 0, "delta": {"content": piece}, "message": {"content": so_far}, "finish_reason": reason}
            ]
        }
        for piece, so_far, reason in (("Take ", "Take ", None), ("it", "Take it", "stop"))
    ]
    message = last_of(events)
    assert (message.content, message.outcome) == ("Take it", Outcome.COMPLETE)
