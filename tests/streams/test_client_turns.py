"""Whole conversations of the real clients with a server on loopback: call, result, answer, cut at every event."""

import asyncio
import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jsontide.messages import CompleteCall, ErrorKind, Message, Outcome, Tool
from jsontide.providers import to_request
from jsontide.streams import arun_tools, astream_message, run_tools, stream_message
from tests.streams.client_scripts import ANSWER, ARGUMENTS, CALL, RESULT, SAID, SECRET, SIGNATURE, THOUGHT, Event
from tests.streams.real_clients import CLIENTS, DROP, END, Server, answering


def get_weather(city: str) -> str:
    """Return the weather in a city."""
    assert city == ARGUMENTS["city"]
    return RESULT


TOOLS = [Tool.from_function(get_weather)]


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    with answering() as server:
        yield server


@pytest.fixture
def server(shared: Server) -> Server:
    shared.reset()
    return shared


def check_chat(conversation: list[Event]) -> None:
    _, said, result = conversation
    (call,) = said["tool_calls"]
    assert (said["role"], said["content"]) == ("assistant", SAID)
    assert (call["id"], call["function"]["name"]) == ("call_1", "get_weather")
    assert json.loads(call["function"]["arguments"]) == ARGUMENTS
    assert (result["role"], result["tool_call_id"], result["content"]) == ("tool", "call_1", RESULT)


def check_responses(conversation: list[Event]) -> None:
    _, thought, call, result = conversation
    assert (thought["type"], thought["id"], thought["encrypted_content"]) == ("reasoning", "rs_1", SECRET)
    assert thought["summary"] == [{"type": "summary_text", "text": THOUGHT}]
    assert (call["type"], call["id"], call["call_id"]) == ("function_call", "fc_1", "call_1")
    assert json.loads(call["arguments"]) == ARGUMENTS
    assert (result["type"], result["call_id"]) == ("function_call_output", "call_1")
    assert result["output"] == RESULT


def check_anthropic(conversation: list[Event]) -> None:
    _, said, result = conversation
    thought, redacted, text, use = said["content"]
    assert thought == {"type": "thinking", "thinking": THOUGHT, "signature": SIGNATURE}
    assert redacted == {"type": "redacted_thinking", "data": SECRET}
    assert (text["type"], text["text"]) == ("text", SAID)
    assert (use["type"], use["id"], use["input"]) == ("tool_use", "toolu_1", ARGUMENTS)
    (given,) = result["content"]
    assert (result["role"], given["type"], given["tool_use_id"]) == ("user", "tool_result", "toolu_1")
    assert RESULT in json.dumps(given["content"])


def check_gemini(conversation: list[Event]) -> None:
    _, said, result = conversation
    (call,) = (part for part in said["parts"] if "functionCall" in part)
    assert (call["functionCall"]["name"], call["functionCall"]["args"]) == ("get_weather", ARGUMENTS)
    assert call["thoughtSignature"] == SIGNATURE
    assert SAID in [part.get("text") for part in said["parts"]]
    (given,) = result["parts"]
    assert (result["role"], given["functionResponse"]["name"]) == ("user", "get_weather")
    assert RESULT in json.dumps(given["functionResponse"]["response"])


SECOND_REQUESTS: dict[str, Callable[[list[Event]], None]] = {
    "openai_chat": check_chat,
    "openai_responses": check_responses,
    "anthropic": check_anthropic,
    "gemini": check_gemini,
}
"""What the conversation of the second request must be."""


def check_second(client: Any, body: Event) -> None:
    SECOND_REQUESTS[client.provider](client.conversation(body))


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, server: Server) -> Iterator[Any]:
    made = CLIENTS[request.param](server.url)
    yield made
    made.sync.close()


Streams = Callable[[list[Event]], list[Message[Any]]]
"""What gives all messages of the answer to a conversation."""


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest, client: Any) -> Iterator[Streams]:
    if request.param == "sync":
        yield lambda conversation: list(stream_message(client.ask(client.sync, conversation, TOOLS), tools=TOOLS))
        return
    with asyncio.Runner() as runner:
        later = client.open_later()

        async def run(conversation: list[Event]) -> list[Message[Any]]:
            opened = await client.ask(later, conversation, TOOLS)
            return [message async for message in astream_message(opened, tools=TOOLS)]

        yield lambda conversation: runner.run(run(conversation))
        runner.run((later.aclose if hasattr(later, "aclose") else later.close)())


class TestTwoTurns:
    def test_the_second_request_has_all_that_must_be_sent_back(self, client: Any, ask: Streams, server: Server) -> None:
        conversation = [client.question]
        (*_, first) = ask(conversation)
        conversation += to_request(first)
        conversation += to_request(run_tools(first, TOOLS), client.provider)
        (*_, second) = ask(conversation)
        assert len(server.bodies) == 2
        assert len(client.conversation(server.bodies[0])) == 1
        check_second(client, server.bodies[1])
        assert (second.content, second.outcome) == ("".join(ANSWER.said), Outcome.COMPLETE)

    def test_a_message_that_was_saved_is_sent_back_the_same(self, client: Any, ask: Streams, server: Server) -> None:
        (*_, first) = ask([client.question])
        loaded = Message.from_json(first.to_json())
        results = asyncio.run(arun_tools(loaded, TOOLS))
        ask([client.question, *to_request(loaded), *to_request(results, client.provider)])
        check_second(client, server.bodies[1])

    def test_the_first_turn_has_the_thought_the_text_and_the_call(self, client: Any, ask: Streams) -> None:
        *growing, asked = ask([client.question])
        (call,) = asked.tool_calls
        assert isinstance(call, CompleteCall)
        assert call.arguments_model == ARGUMENTS
        assert (asked.outcome, asked.finish_reason) == (Outcome.COMPLETE, "tool_calls")
        assert (asked.reasoning, asked.provider) == (THOUGHT, client.provider)
        assert asked.usage is not None
        assert (asked.usage.input_tokens, asked.usage.output_tokens, asked.usage.total_tokens) == (9, 4, 13)
        assert all(message.outcome is Outcome.STREAMING for message in growing)
        assert all(Message.from_json(message.to_json()) == message for message in (*growing, asked))

    def test_objects_of_the_client_say_what_plain_dicts_say(self, client: Any, ask: Streams) -> None:
        """But what no field holds: there the models of clients have fields of their own."""
        (*_, asked) = ask([client.question])
        plain = stream_message(client.script(CALL), tools=TOOLS).final()
        assert [described(part) for part in asked.parts] == [described(part) for part in plain.parts]
        for name in ("outcome", "finish_reason", "raw_finish_reason", "id", "model", "created", "errors"):
            assert getattr(asked, name) == getattr(plain, name)


def described(part: Any) -> tuple[Any, ...]:
    return type(part), *(getattr(part, name) for name in type(part).FIELDS if name != "extra")


class TestOneTurn:
    def test_a_connection_dropped_midway_keeps_the_partial_message(
        self, client: Any, ask: Streams, server: Server
    ) -> None:
        server.kept, server.cut = len(client.script(CALL)) // 2, DROP
        (*_, message) = ask([client.question])
        assert message.outcome is Outcome.TRUNCATED
        assert message.errors[0].kind is ErrorKind.TRANSPORT
        assert isinstance(message.errors[0].cause, Exception)
        assert THOUGHT.startswith(message.reasoning)
        assert SAID.startswith(message.content)
        assert all(call.status is Outcome.TRUNCATED for call in message.tool_calls)

    def test_stopping_closes_the_response(self, client: Any) -> None:
        opened = client.ask(client.sync, [client.question], TOOLS)
        with stream_message(opened) as stream:
            next(stream)
        response = getattr(opened, "response", None)  # Gemini's is a generator
        assert inspect.getgeneratorstate(opened) == "GEN_CLOSED" if response is None else response.is_closed
        assert stream.message.outcome is Outcome.CANCELLED

    def test_the_helpers_of_the_client_stream_the_same(self, client: Any) -> None:
        """Which put events of their own between those of the stream."""
        if client.provider == "gemini":
            return  # its client has none
        with client.help(client.sync, [client.question], TOOLS) as stream:
            (*_, helped) = stream_message(stream)
        plain = stream_message(client.script(CALL), tools=TOOLS).final()
        assert (helped.content, helped.reasoning, helped.outcome) == (plain.content, THOUGHT, Outcome.COMPLETE)
        assert [described(part) for part in helped.tool_calls] == [described(part) for part in plain.tool_calls]


def is_told(client: Any, kept: int) -> bool:
    """Whether the events that were sent say how the message ends."""
    words = ('"finish_reason": "', "response.completed", '"stop_reason": "', "finishReason")
    return any(word in json.dumps(event) for event in client.script(CALL)[:kept] for word in words)


@pytest.mark.long
@pytest.mark.untraced
@pytest.mark.parametrize("cut", [DROP, END])
def test_cut_at_every_event_nothing_can_be_run_before_the_end_is_told(
    client: Any, ask: Streams, cut: str, server: Server
) -> None:
    count = len(client.script(CALL))
    for kept in range(1, count):
        server.kept, server.cut = kept, cut
        (*_, message) = ask([client.question])
        assert THOUGHT.startswith(message.reasoning)
        assert SAID.startswith(message.content)
        has_calls = any(isinstance(part, CompleteCall) for part in message.parts)
        if cut == DROP or not is_told(client, kept):
            assert message.outcome is Outcome.TRUNCATED
            assert not has_calls
            assert message.errors
        assert has_calls or all("was not run" in str(result.error) for result in run_tools(message, TOOLS))
        assert len(server.bodies) == kept
        assert kept < count - 1 or (message.reasoning, len(message.tool_calls)) == (THOUGHT, 1)
