"""Whole completions, from servers that ignore the request to stream, are read as one event."""

import asyncio
import json
from collections.abc import AsyncIterator
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from jsontide.adapters import astream_message, stream_message
from jsontide.messages import ErrorKind, Message, Outcome, Tool
from tests.cuts import cut_randomly, halves, singles

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


def as_object(value: Any) -> Any:
    """The same as objects with attributes, as SDKs have them; arguments stay plain."""
    if isinstance(value, list):
        return [as_object(item) for item in value]
    if not isinstance(value, dict):
        return value
    plain = ("input", "args", "arguments")
    return SimpleNamespace(**{key: item if key in plain else as_object(item) for key, item in value.items()})


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


def test_as_text_at_every_cut() -> None:
    text = json.dumps(chat(), indent=1, ensure_ascii=False)
    for chunks in halves(text.encode()):
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
    """As a client gives it that was not asked to stream; Gemini and Ollama write it like a part of a stream."""
    whole = WHOLES[name]
    if name in {"gemini", "ollama"}:
        with pytest.raises(TypeError, match="a single one"):
            stream_message(whole)
    else:
        check(last_of(whole))
        check(last_of(as_object(whole)))


def test_an_array_of_events_as_gemini_writes_it() -> None:
    def part(**said: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": [said]}}]}

    events = [part(text="Take the "), part(text="night train"), {"candidates": [{"finishReason": "STOP"}]}]
    text = ",\r\n".join(json.dumps(event, indent=2) for event in events)
    for chunks in (singles(f"[{text}\n]"), [f"[{text}]".encode()]):
        message = last_of(chunks)
        assert (message.content, message.outcome) == ("Take the night train", Outcome.COMPLETE)
    message = last_of([f"[{text}, 7]"])
    assert (message.content, message.outcome) == ("Take the night train", Outcome.TRUNCATED)


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


def test_as_the_objects_of_real_clients() -> None:
    openai = pytest.importorskip("openai", reason="the openai client is not installed")
    anthropic = pytest.importorskip("anthropic", reason="the anthropic client is not installed")
    check(last_of([openai.types.chat.ChatCompletion.model_validate(chat())]))
    check(last_of([openai.types.responses.Response.model_validate(RESPONSE)]))
    check(last_of([anthropic.types.Message.model_validate(ANTHROPIC)]))
    check(last_of(openai.types.chat.ChatCompletion.model_validate(chat())))
