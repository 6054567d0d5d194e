"""Events in envelopes, as objects and bytes, and events of others: what they are is said."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from jsontide.messages import CompleteCall, Message, Outcome
from jsontide.providers import detect, feed_stream, start_stream
from jsontide.streams import stream_message
from tests.generated_streams import STREAMS, compare
from tests.provider_streams import events
from tests.providers.block_streams import as_object


def last(told: Any) -> Message:
    return stream_message(told).final()


# Mistral.


class Unset:
    """What the client of Mistral has for fields that are not there."""


def as_model(value: Any) -> Any:
    """The same as that client has it: an object, with a value for what is missing."""
    if isinstance(value, list):
        return [as_model(item) for item in value]
    if not isinstance(value, dict):
        return value
    fields = {name: as_model(item) for name, item in value.items()}
    if "index" in fields and "delta" in fields:
        missing = {name: Unset() for name in ("content", "role", "tool_calls") if name not in value["delta"]}
        fields["delta"] = SimpleNamespace(**missing, **vars(fields["delta"]))
    return SimpleNamespace(**fields)


def test_objects_of_mistralai_say_the_same() -> None:
    stream = STREAMS["openai_chat/mistralai"]
    compare.check(last([as_model(event) for event in events("openai_chat/mistralai")]), stream.said, stream.provider)


# Bedrock.

INVOKED = "anthropic/invoke model of Bedrock"


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_chunks_of_bedrock_as_bytes_say_the_same(kind: Callable[[bytes], Any]) -> None:
    plain = [json.loads(b64decoded(event)) for event in events(INVOKED)]
    told = [{"chunk": {"bytes": kind(json.dumps(event).encode())}} for event in plain]
    compare.check(last(told), STREAMS[INVOKED].said, "anthropic")
    compare.check(last([as_object(event) for event in told]), STREAMS[INVOKED].said, "anthropic")


def b64decoded(event: Any) -> bytes:
    return b64decode(event["chunk"]["bytes"])


@pytest.mark.parametrize("given", [b"{", b"\xff", "?", "", 5, [], b64encode(b"[]").decode()])
def test_a_chunk_that_holds_no_event_is_damage(given: object) -> None:
    told = events(INVOKED)
    for at in (0, 3, len(told) - 1):
        message = last([*told[:at], {"chunk": {"bytes": given}}, *told[at:]])
        assert message.outcome is Outcome.TRUNCATED
        assert not any(isinstance(call, CompleteCall) for call in message.tool_calls)
        assert message.errors[0].message == "a chunk of Bedrock's stream does not hold JSON"


def test_an_exception_beside_chunks_is_the_error() -> None:
    told = events(INVOKED)
    message = last([*told[:-1], {"throttlingException": {"message": "Too many requests"}}])
    assert (message.outcome, message.errors[0].message) == (Outcome.TRUNCATED, "Too many requests")


def test_chunks_may_hold_events_of_another_provider() -> None:
    inside = events("bedrock/text")
    told = [{"chunk": {"bytes": json.dumps(event).encode()}} for event in inside]
    compare.check(last(told), STREAMS["bedrock/text"].said, "bedrock")


# Agents.


@dataclass
class StreamEvent:
    """These five as the SDK has them: what they are is their class."""

    uuid: str
    session_id: str
    event: dict[str, Any]
    parent_tool_use_id: str | None = None


@dataclass
class TextBlock:
    text: str


@dataclass
class ThinkingBlock:
    thinking: str
    signature: str


@dataclass
class AssistantMessage:
    content: list[Any]
    model: str
    parent_tool_use_id: str | None = None


@dataclass
class SystemMessage:
    subtype: str
    data: dict[str, Any]


@dataclass
class UserMessage:
    content: Any
    uuid: str | None = None
    parent_tool_use_id: str | None = None


@dataclass
class ResultMessage:
    subtype: str
    session_id: str
    is_error: bool
    result: str | None = None
    usage: dict[str, Any] | None = None


AGENT = "anthropic/an agent with the events of its message"


def agent_object(event: dict[str, Any]) -> Any:
    if event["type"] == "system":
        return SystemMessage(event["subtype"], event)
    if event["type"] == "stream_event":
        return StreamEvent("u", "s", event["event"])
    if event["type"] == "result":
        return ResultMessage(event["subtype"], "s", is_error=False, result=event["result"])
    blocks = [
        TextBlock(block["text"]) if block["type"] == "text" else ThinkingBlock(block["thinking"], block["signature"])
        for block in event["message"]["content"]
    ]
    return AssistantMessage(blocks, event["message"]["model"])


@pytest.mark.parametrize("name", [AGENT, "anthropic/an agent"])
def test_objects_of_the_agent_sdk_say_the_same(name: str) -> None:
    message, plain = last([agent_object(event) for event in events(name)]), last(events(name))
    assert message.parts == plain.parts
    assert (message.outcome, message.finish_reason, message.model) == (plain.outcome, "stop", "claude-9")


def test_a_run_that_failed_says_why() -> None:
    told = events(AGENT)[:-1]
    failed = {"type": "result", "subtype": "error_max_turns", "is_error": True, "session_id": "8b1c"}
    message = last([*told, failed])
    assert (message.outcome, message.errors[0].message) == (Outcome.TRUNCATED, "error_max_turns")


@pytest.mark.parametrize("name", [AGENT, "anthropic/an agent"])
def test_a_second_message_of_an_agent_is_not_joined_to_the_first(name: str) -> None:
    first = events(name)[:-1]
    text = json.dumps(first[1:]).replace("msg_1", "msg_2")
    returned = {"type": "user", "message": {"role": "user", "content": []}, "session_id": "8b1c"}
    message = last([*first, returned, *json.loads(text)])
    assert message.outcome is Outcome.TRUNCATED
    assert message.content == last(events(name)).content
    assert message.errors[0].message.startswith("another message begins")


def test_what_an_agent_of_the_agent_says_is_not_joined() -> None:
    told = events(AGENT)
    inner = [{**event, "parent_tool_use_id": "toolu_1"} for event in told if event["type"] == "stream_event"]
    both = [*told[:3], *inner, *told[3:]]
    message = last(both)
    assert (message.content, message.outcome) == (last(told).content, Outcome.COMPLETE)
    assert message.metadata["events"] == [told[0], *inner]


# What may hold arguments and cannot be read is not passed over.

WORKERS: dict[str, Any] = {"response": "", "tool_calls": [{"name": "wipe", "arguments": {"path": "/"}}]}


def whole(**changed: Any) -> dict[str, Any]:
    return {"result": {**WORKERS, **changed}, "success": True, "errors": []}


def test_calls_of_workers_ai_are_run_if_they_can_be_read() -> None:
    (call,) = last(whole()).tool_calls
    assert (call.name, call.arguments_value) == ("wipe", {"path": "/"})  # type: ignore[union-attr]
    for odd in ({"name": "x"}, "x", [WORKERS["tool_calls"][0], "x"], [{"name": "wipe", "parameters": {"path": "/"}}]):
        assert not any(isinstance(one, CompleteCall) for one in last([whole(tool_calls=odd)]).tool_calls)


def test_an_envelope_that_cannot_be_opened_leaves_nothing_to_run() -> None:
    for name, odd in (
        ("openai_chat/mistralai", {"data": "x"}),
        ("openai_chat/mistralai", {"data": [1]}),
        (AGENT_CALL, {"type": "stream_event", "event": "x", "session_id": "8b1c"}),
        (AGENT_CALL, {"type": "stream_event", "event": ["x"], "session_id": "8b1c"}),
    ):
        told = agent_call() if name == AGENT_CALL else events(name)
        assert any(isinstance(call, CompleteCall) for call in last(told).tool_calls)
        at = len(told) - 3
        message = last([*told[:at], odd, *told[at:]])
        assert not any(isinstance(call, CompleteCall) for call in message.tool_calls)


AGENT_CALL = "agent"


def agent_call() -> list[dict[str, Any]]:
    inside = [json.loads(b64decoded(event)) for event in events(INVOKED)]
    return [{"type": "stream_event", "event": event, "session_id": "8b1c"} for event in inside]


# Events that are no provider's.


def of_module(name: str, **fields: Any) -> Any:
    made = type("Event", (), {"__module__": name})()
    vars(made).update(fields)
    return made


CHUNK = of_module("langchain_core.messages.ai", content="Hi", type="AIMessageChunk", usage_metadata=None)
FOREIGN = [
    ("LangChain", CHUNK),
    ("LangChain", (CHUNK, {"langgraph_node": "agent"})),
    ("LangChain", {"type": "AIMessageChunk", "content": "Hi", "usage_metadata": {"input_tokens": 1}}),
    ("LlamaIndex", of_module("llama_index.core.base.llms.types", delta="Hi")),
    ("OpenAI Agents", of_module("agents.stream_events", data={"type": "response.created"}, type="raw_response_event")),
    ("OpenAI Agents", {"type": "raw_response_event", "data": {"type": "response.created"}}),
    ("pydantic-ai", of_module("pydantic_ai.messages", index=0, delta=None, event_kind="part_delta")),
    ("pydantic-ai", {"index": 0, "delta": {"content_delta": "Hi"}, "event_kind": "part_delta"}),
    ("Realtime", {"type": "session.created", "event_id": "event_1", "session": {}}),
    ("Realtime", {"type": "response.output_audio.delta", "event_id": "event_2", "delta": "AAAA"}),
    ("Realtime", {"type": "response.created", "response": {"object": "realtime.response"}}),
    ("Live", {"serverContent": {"modelTurn": {"parts": [{"text": "Hi"}]}}}),
    ("Live", {"setupComplete": {}}),
    ("Live", {"toolCall": {"functionCalls": [{"id": "a", "name": "now", "args": {}}]}}),
    ("Live", of_module("google.genai.types", server_content=None, usage_metadata=None, tool_call=None)),
]


@pytest.mark.parametrize(("name", "event"), FOREIGN)
def test_an_event_of_a_framework_or_a_session_is_named_and_says_what_to_pass(name: str, event: Any) -> None:
    assert detect(event) is None
    state = feed_stream(start_stream(), event)
    assert state.is_over
    (error,) = state.message.errors
    assert name in error.message
    assert ": pass " in error.message
    assert (state.outcome, state.message.parts) == (Outcome.TRUNCATED, ())


def test_the_events_that_they_hold_are_read() -> None:
    name = "openai_responses/text"
    told = [of_module("agents.stream_events", data=event, type="raw_response_event") for event in events(name)]
    assert last([event.data for event in told]).content == last(events(name)).content
