"""Whole conversations of the real clients with a server on loopback: call, result, answer, cut at every event."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import pytest

from jsontide.messages import CompleteCall, Message, Outcome, Tool, ToolResult
from jsontide.providers import to_request, tool_definitions
from jsontide.runs import Request, Run, RunOutcome, arun_agent, run_agent
from jsontide.streams import arun_tools, astream_message, run_tools, stream_message
from tests.providers.client_types import adapter_of
from tests.streams import client_scripts as scripts
from tests.streams.client_scripts import ANSWER, ARGUMENTS, RESULT, SAID, SECRET, SIGNATURE, THOUGHT, Event
from tests.streams.serving import serving

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
responses = pytest.importorskip("starlette.responses", reason="starlette is not installed")

QUESTION = "What is the weather in Kyoto?"
DROP, END = "drop", "end"
"""How a stream is cut: the connection breaks, or the response ends as if all had been sent."""


def get_weather(city: str) -> str:
    """Return the weather in a city."""
    assert city == ARGUMENTS["city"]
    return RESULT


TOOLS = [Tool.from_function(get_weather)]


@dataclass
class Server:
    """What is to be sent, and what was received."""

    url: str = ""
    kept: int | None = None
    """How many events are sent; all if it is not said."""
    cut: str = END
    bodies: list[Event] = field(default_factory=list)


SCRIPTS: dict[str, Callable[..., list[Event]]] = {
    "/chat/completions": scripts.chat,
    "/responses": scripts.responses,
    "/v1/messages": scripts.anthropic,
}


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    server = Server()

    async def answer(request: Any) -> Any:
        body = await request.json()
        server.bodies.append(body)
        script = SCRIPTS.get(request.url.path, scripts.gemini)
        told = script(is_answer=RESULT in json.dumps(body))
        return responses.StreamingResponse(stream(script, told, server), media_type="text/event-stream")

    with serving(answer, *SCRIPTS, "/{version}/models/{model}") as url:
        server.url = url
        yield server


async def stream(script: Callable[..., list[Event]], told: list[Event], server: Server) -> AsyncIterator[bytes]:
    kept, cut = server.kept, server.cut
    for event in told[:kept]:
        name = f"event: {event['type']}\n" if "type" in event else ""
        yield f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
    if kept is None:
        yield b"data: [DONE]\n\n" if script is scripts.chat else b""
    elif cut == DROP:
        raise ConnectionAbortedError


@pytest.fixture
def server(shared: Server) -> Iterator[Server]:
    shared.bodies.clear()
    yield shared
    shared.kept, shared.cut = None, END


class Chat:
    """The chat completions of the openai client."""

    provider = "openai_chat"
    script = staticmethod(scripts.chat)
    question: ClassVar[Event] = {"role": "user", "content": QUESTION}

    def __init__(self, url: str) -> None:
        openai = pytest.importorskip("openai", reason="the openai client is not installed")
        options = {"api_key": "none", "max_retries": 0, "base_url": url}
        self.sync, self.open_later = openai.OpenAI(**options), partial(openai.AsyncOpenAI, **options)

    def ask(self, client: Any, conversation: list[Event]) -> Any:
        tools = tool_definitions(TOOLS, self.provider)
        return client.chat.completions.create(model="m", messages=conversation, tools=tools, stream=True)

    def conversation(self, body: Event) -> list[Event]:
        types = pytest.importorskip("openai.types.chat")
        for tool in body["tools"]:
            adapter_of(types.ChatCompletionToolParam).validate_python(tool)
        for message in body["messages"]:
            adapter_of(types.ChatCompletionMessageParam).validate_python(message)
        return list(body["messages"])

    def check(self, body: Event) -> None:
        """What the second request must say."""
        _, said, result = self.conversation(body)
        (call,) = said["tool_calls"]
        assert (said["role"], said["content"]) == ("assistant", SAID)
        assert (call["id"], call["function"]["name"]) == ("call_1", "get_weather")
        assert json.loads(call["function"]["arguments"]) == ARGUMENTS
        assert (result["role"], result["tool_call_id"], result["content"]) == ("tool", "call_1", RESULT)


class Responses(Chat):
    """The responses of the openai client."""

    provider = "openai_responses"
    script = staticmethod(scripts.responses)

    def ask(self, client: Any, conversation: list[Event]) -> Any:
        tools = tool_definitions(TOOLS, self.provider)
        include = ["reasoning.encrypted_content"]
        return client.responses.create(model="m", input=conversation, tools=tools, include=include, stream=True)

    def conversation(self, body: Event) -> list[Event]:
        types = pytest.importorskip("openai.types.responses")
        for tool in body["tools"]:
            adapter_of(types.FunctionToolParam).validate_python(tool)
        for item in body["input"]:
            adapter_of(types.ResponseInputItemParam).validate_python(item)
        return list(body["input"])

    def check(self, body: Event) -> None:
        _, thought, call, result = self.conversation(body)
        assert (thought["type"], thought["id"], thought["encrypted_content"]) == ("reasoning", "rs_1", SECRET)
        assert thought["summary"] == [{"type": "summary_text", "text": THOUGHT}]
        assert (call["type"], call["id"], call["call_id"]) == ("function_call", "fc_1", "call_1")
        assert json.loads(call["arguments"]) == ARGUMENTS
        assert (result["type"], result["call_id"]) == ("function_call_output", "call_1")
        assert result["output"] == RESULT


class Anthropic:
    """The messages of the anthropic client."""

    provider = "anthropic"
    script = staticmethod(scripts.anthropic)
    question: ClassVar[Event] = {"role": "user", "content": QUESTION}

    def __init__(self, url: str) -> None:
        anthropic = pytest.importorskip("anthropic", reason="the anthropic client is not installed")
        options = {"api_key": "none", "max_retries": 0, "base_url": url}
        self.sync, self.open_later = anthropic.Anthropic(**options), partial(anthropic.AsyncAnthropic, **options)

    def ask(self, client: Any, conversation: list[Event]) -> Any:
        tools = tool_definitions(TOOLS, self.provider)
        return client.messages.create(model="m", messages=conversation, tools=tools, max_tokens=99, stream=True)

    def conversation(self, body: Event) -> list[Event]:
        types = pytest.importorskip("anthropic.types")
        for tool in body["tools"]:
            adapter_of(types.ToolParam).validate_python(tool)
        for message in body["messages"]:
            adapter_of(types.MessageParam).validate_python(message)
        return list(body["messages"])

    def check(self, body: Event) -> None:
        _, said, result = self.conversation(body)
        thought, redacted, text, use = said["content"]
        assert thought == {"type": "thinking", "thinking": THOUGHT, "signature": SIGNATURE}
        assert redacted == {"type": "redacted_thinking", "data": SECRET}
        assert (text["type"], text["text"]) == ("text", SAID)
        assert (use["type"], use["id"], use["input"]) == ("tool_use", "toolu_1", ARGUMENTS)
        (given,) = result["content"]
        assert (result["role"], given["type"], given["tool_use_id"]) == ("user", "tool_result", "toolu_1")
        assert RESULT in json.dumps(given["content"])


class Gemini:
    """The google-genai client."""

    provider = "gemini"
    script = staticmethod(scripts.gemini)
    question: ClassVar[Event] = {"role": "user", "parts": [{"text": QUESTION}]}

    def __init__(self, url: str) -> None:
        genai = pytest.importorskip("google.genai", reason="the google-genai client is not installed")
        self.types = genai.types
        options = {"api_key": "none", "http_options": self.types.HttpOptions(base_url=url)}
        self.sync, self.open_later = genai.Client(**options), lambda: genai.Client(**options).aio

    def ask(self, client: Any, conversation: list[Event]) -> Any:
        tools = [{"function_declarations": tool_definitions(TOOLS, self.provider)}]
        return client.models.generate_content_stream(model="m", contents=conversation, config={"tools": tools})

    def conversation(self, body: Event) -> list[Event]:
        for tool in body["tools"]:
            self.types.Tool.model_validate_json(json.dumps(tool))
        for content in body["contents"]:
            self.types.Content.model_validate_json(json.dumps(content))
        return list(body["contents"])

    def check(self, body: Event) -> None:
        _, said, result = self.conversation(body)
        (call,) = (part for part in said["parts"] if "functionCall" in part)
        assert (call["functionCall"]["name"], call["functionCall"]["args"]) == ("get_weather", ARGUMENTS)
        assert call["thoughtSignature"] == SIGNATURE
        assert SAID in [part.get("text") for part in said["parts"]]
        (given,) = result["parts"]
        assert (result["role"], given["functionResponse"]["name"]) == ("user", "get_weather")
        assert RESULT in json.dumps(given["functionResponse"]["response"])


KINDS = (Chat, Responses, Anthropic, Gemini)


@pytest.fixture(params=KINDS, ids=[kind.provider for kind in KINDS])
def client(request: pytest.FixtureRequest, server: Server) -> Iterator[Any]:
    made = request.param(server.url)
    yield made
    made.sync.close()


Streams = Callable[[list[Event]], list[Message[Any]]]
"""What gives all messages of the answer to a conversation."""


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest, client: Any) -> Iterator[Streams]:
    if request.param == "sync":
        yield lambda conversation: list(stream_message(client.ask(client.sync, conversation), tools=TOOLS))
        return
    with asyncio.Runner() as runner:
        later = client.open_later()

        async def run(conversation: list[Event]) -> list[Message[Any]]:
            opened = await client.ask(later, conversation)
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
        client.check(server.bodies[1])
        assert (second.content, second.outcome) == ("".join(ANSWER), Outcome.COMPLETE)

    def test_a_message_that_was_saved_is_sent_back_the_same(self, client: Any, ask: Streams, server: Server) -> None:
        (*_, first) = ask([client.question])
        loaded = Message.from_json(first.to_json())
        results = asyncio.run(arun_tools(loaded, TOOLS))
        ask([client.question, *to_request(loaded), *to_request(results, client.provider)])
        client.check(server.bodies[1])

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
        plain = stream_message(client.script(is_answer=False), tools=TOOLS).final()
        assert [described(part) for part in asked.parts] == [described(part) for part in plain.parts]
        for name in ("outcome", "finish_reason", "raw_finish_reason", "id", "model", "created", "errors"):
            assert getattr(asked, name) == getattr(plain, name)


Agent = Callable[[list[Tool[Any]]], Run[Any]]
"""What runs an agent with these tools to its end."""


@pytest.fixture(params=["sync", "async"])
def agent(request: pytest.FixtureRequest, client: Any) -> Iterator[Agent]:
    if request.param == "sync":

        def ask(asked: Request) -> Any:
            return client.ask(client.sync, asked.messages(client.provider))

        yield lambda tools: run_agent(ask, QUESTION, tools=tools).final()
        return
    with asyncio.Runner() as runner:
        later = client.open_later()

        async def aask(asked: Request) -> Any:
            return await client.ask(later, asked.messages(client.provider))

        async def run(tools: list[Tool[Any]]) -> Run[Any]:
            return await arun_agent(aask, QUESTION, tools=tools).final()

        yield lambda tools: runner.run(run(tools))
        runner.run((later.aclose if hasattr(later, "aclose") else later.close)())


class TestAnAgent:
    def test_sends_back_what_must_be_sent_back_and_ends_with_the_answer(
        self, client: Any, agent: Agent, server: Server
    ) -> None:
        run = agent(TOOLS)
        assert (run.outcome, run.content) == (RunOutcome.COMPLETE, "".join(ANSWER))
        assert len(server.bodies) == 2
        assert client.conversation(server.bodies[0]) == [client.question]
        client.check(server.bodies[1])
        assert Run.from_json(run.to_json()).to_json() == run.to_json()

    @pytest.mark.long
    @pytest.mark.untraced
    @pytest.mark.parametrize("cut", [DROP, END])
    def test_runs_nothing_of_a_stream_that_is_cut_before_its_end(
        self, client: Any, agent: Agent, cut: str, server: Server
    ) -> None:
        ran: list[str] = []

        def get_weather(city: str) -> str:
            ran.append(city)
            return RESULT

        for kept in range(1, len(client.script(is_answer=False))):
            if cut == END and is_told(client, kept):
                continue
            server.kept, server.cut = kept, cut
            run = agent([Tool.from_function(get_weather)])
            assert run.outcome is RunOutcome.TRUNCATED
            assert ran == []
            assert all(isinstance(one, ToolResult) and one.ran == "no" for one in run.results)
            assert Run.from_json(run.to_json()).to_json() == run.to_json()


def described(part: Any) -> tuple[Any, ...]:
    return type(part), *(getattr(part, name) for name in type(part).FIELDS if name != "extra")


def is_told(client: Any, kept: int) -> bool:
    """Whether the events that were sent say how the message ends."""
    words = ('"finish_reason": "', "response.completed", '"stop_reason": "', "finishReason")
    return any(word in json.dumps(event) for event in client.script(is_answer=False)[:kept] for word in words)


@pytest.mark.long
@pytest.mark.untraced
@pytest.mark.parametrize("cut", [DROP, END])
def test_cut_at_every_event_nothing_can_be_run_before_the_end_is_told(
    client: Any, ask: Streams, cut: str, server: Server
) -> None:
    count = len(client.script(is_answer=False))
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
