"""The real clients of four providers, and a server on loopback that answers them with scripted turns."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import pytest

from jsontide.messages import Tool
from jsontide.providers import tool_definitions
from tests.providers.client_types import adapter_of
from tests.streams import client_scripts as scripts
from tests.streams.client_scripts import ANSWER, CALL, Event, Turn
from tests.streams.serving import serving

QUESTION = "What is the weather in Kyoto?"
DROP, END = "drop", "end"
"""How a stream is cut: the connection breaks, or the response ends as if all had been sent."""
Tools = Sequence[Tool[Any]]


@dataclass
class Server:
    """What is to be sent, and what was received."""

    url: str = ""
    turns: tuple[Turn, ...] = (CALL, ANSWER)
    """What the model says: the last of those that come after what the request holds."""
    cut_turn: int = 1
    """The number of the turn that is cut."""
    kept: int | None = None
    """How many of its events are sent; all if it is not said."""
    cut: str = END
    bodies: list[Event] = field(default_factory=list)

    def reset(self) -> None:
        self.turns, self.cut_turn, self.kept, self.cut = (CALL, ANSWER), 1, None, END
        self.bodies.clear()

    def choose(self, body: Event) -> Turn:
        request = json.dumps(body, ensure_ascii=False)
        return next(turn for turn in reversed(self.turns) if turn.after in request)


SCRIPTS: dict[str, Callable[[Turn], list[Event]]] = {
    "/chat/completions": scripts.chat,
    "/responses": scripts.responses,
    "/v1/messages": scripts.anthropic,
}


@contextmanager
def answering() -> Iterator[Server]:
    """Serve the turns of a server."""
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    responses = pytest.importorskip("starlette.responses", reason="starlette is not installed")
    server = Server()

    async def answer(request: Any) -> Any:
        body = await request.json()
        server.bodies.append(body)
        told = write(SCRIPTS.get(request.url.path, scripts.gemini), server.choose(body), server)
        return responses.StreamingResponse(told, media_type="text/event-stream")

    with serving(answer, *SCRIPTS, "/{version}/models/{model}") as url:
        server.url = url
        yield server


async def write(script: Callable[[Turn], list[Event]], turn: Turn, server: Server) -> AsyncIterator[bytes]:
    kept, cut = (server.kept if turn.number == server.cut_turn else None), server.cut
    for event in script(turn)[:kept]:
        name = f"event: {event['type']}\n" if "type" in event else ""
        yield f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
    if kept is None:
        yield b"data: [DONE]\n\n" if script is scripts.chat else b""
    elif cut == DROP:
        raise ConnectionAbortedError


class Chat:
    """The chat completions of the openai client."""

    provider = "openai_chat"
    script = staticmethod(scripts.chat)
    question: ClassVar[Event] = {"role": "user", "content": QUESTION}

    def __init__(self, url: str) -> None:
        openai = pytest.importorskip("openai", reason="the openai client is not installed")
        options = {"api_key": "none", "max_retries": 0, "base_url": url}
        self.sync, self.open_later = openai.OpenAI(**options), partial(openai.AsyncOpenAI, **options)

    def ask(self, client: Any, conversation: list[Event], tools: Tools) -> Any:
        definitions = tool_definitions(tools, self.provider)
        return client.chat.completions.create(model="m", messages=conversation, tools=definitions, stream=True)

    def help(self, client: Any, conversation: list[Event], tools: Tools) -> Any:
        definitions = tool_definitions(tools, self.provider)
        return client.chat.completions.stream(model="m", messages=conversation, tools=definitions)

    def check_items(self, items: list[Event]) -> list[Event]:
        """Return the items of a conversation, which the client's types must accept."""
        types = pytest.importorskip("openai.types.chat")
        for message in items:
            adapter_of(types.ChatCompletionMessageParam).validate_python(message)
        return items

    def conversation(self, body: Event) -> list[Event]:
        """Return the conversation of a request, all of which the client's types must accept."""
        types = pytest.importorskip("openai.types.chat")
        for tool in body["tools"]:
            adapter_of(types.ChatCompletionToolParam).validate_python(tool)
        return self.check_items(list(body["messages"]))


class Responses(Chat):
    """The responses of the openai client."""

    provider = "openai_responses"
    script = staticmethod(scripts.responses)

    def ask(self, client: Any, conversation: list[Event], tools: Tools) -> Any:
        definitions = tool_definitions(tools, self.provider)
        include = ["reasoning.encrypted_content"]
        return client.responses.create(model="m", input=conversation, tools=definitions, include=include, stream=True)

    def help(self, client: Any, conversation: list[Event], tools: Tools) -> Any:
        return client.responses.stream(model="m", input=conversation, tools=tool_definitions(tools, self.provider))

    def check_items(self, items: list[Event]) -> list[Event]:
        types = pytest.importorskip("openai.types.responses")
        for item in items:
            adapter_of(types.ResponseInputItemParam).validate_python(item)
        return items

    def conversation(self, body: Event) -> list[Event]:
        types = pytest.importorskip("openai.types.responses")
        for tool in body["tools"]:
            adapter_of(types.FunctionToolParam).validate_python(tool)
        return self.check_items(list(body["input"]))


class Anthropic:
    """The messages of the anthropic client."""

    provider = "anthropic"
    script = staticmethod(scripts.anthropic)
    question: ClassVar[Event] = {"role": "user", "content": QUESTION}

    def __init__(self, url: str) -> None:
        anthropic = pytest.importorskip("anthropic", reason="the anthropic client is not installed")
        options = {"api_key": "none", "max_retries": 0, "base_url": url}
        self.sync, self.open_later = anthropic.Anthropic(**options), partial(anthropic.AsyncAnthropic, **options)

    def ask(self, client: Any, conversation: list[Event], tools: Tools) -> Any:
        definitions = tool_definitions(tools, self.provider)
        return client.messages.create(model="m", messages=conversation, tools=definitions, max_tokens=99, stream=True)

    def help(self, client: Any, conversation: list[Event], tools: Tools) -> Any:
        definitions = tool_definitions(tools, self.provider)
        return client.messages.stream(model="m", messages=conversation, tools=definitions, max_tokens=99)

    def check_items(self, items: list[Event]) -> list[Event]:
        types = pytest.importorskip("anthropic.types")
        for message in items:
            adapter_of(types.MessageParam).validate_python(message)
        return items

    def conversation(self, body: Event) -> list[Event]:
        types = pytest.importorskip("anthropic.types")
        for tool in body["tools"]:
            adapter_of(types.ToolParam).validate_python(tool)
        return self.check_items(list(body["messages"]))


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

    def ask(self, client: Any, conversation: list[Event], tools: Tools) -> Any:
        declared = [{"function_declarations": tool_definitions(tools, self.provider)}]
        return client.models.generate_content_stream(model="m", contents=conversation, config={"tools": declared})

    def check_items(self, items: list[Event]) -> list[Event]:
        for content in items:
            self.types.Content.model_validate_json(json.dumps(content))
        return items

    def conversation(self, body: Event) -> list[Event]:
        for tool in body["tools"]:
            self.types.Tool.model_validate_json(json.dumps(tool))
        return self.check_items(list(body["contents"]))


CLIENTS: dict[str, Any] = {kind.provider: kind for kind in (Chat, Responses, Anthropic, Gemini)}
