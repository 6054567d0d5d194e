"""End to end: the real clients of openai and anthropic against a server on loopback that streams like a provider."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from typing import Any

import pytest

from jsontide.messages import ErrorKind, Message, Outcome
from jsontide.streams import astream_message, stream_message
from tests.provider_streams import Reading, events, reading
from tests.streams.serving import serving

openai = pytest.importorskip("openai", reason="the openai client is not installed")
anthropic = pytest.importorskip("anthropic", reason="the anthropic client is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
responses = pytest.importorskip("starlette.responses", reason="starlette is not installed")

pytestmark = pytest.mark.untraced

CHAT = ("openai_chat/text and calls", "openai_chat/groq", "openai_chat/azure")
RESPONSES = ("openai_responses/reasoning, text and calls", "openai_responses/without deltas")
MESSAGES = ("anthropic/thinking, text and calls", "anthropic/no arguments", "anthropic/web search")
DROP = "drop:"
"""Before the name of a model, which is that of a stream: the connection is dropped before its last events."""

OPTIONS = {"api_key": "none", "max_retries": 0}

known = cache(reading)


async def served(request: Any) -> Any:
    """Stream what the request names as its model, in small pieces."""
    name = (await request.json())["model"]
    told = events(name.removeprefix(DROP))
    data = "".join(f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n" for event in told).encode()
    if "choices" in told[0]:
        data = data.replace(b"event: message\n", b"") + b"data: [DONE]\n\n"

    async def body() -> AsyncIterator[bytes]:
        left = data[: len(data) // 2] if name.startswith(DROP) else data
        for start in range(0, len(left), 333):
            yield left[start : start + 333]
        if name.startswith(DROP):
            raise ConnectionAbortedError

    return responses.StreamingResponse(body(), media_type="text/event-stream")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(served, "/chat/completions", "/responses", "/v1/messages") as address:
        yield address


def ask(client: Any, name: str) -> Any:
    """What opens a stream, for either kind of client."""
    model = name.removeprefix(DROP)
    if model in CHAT:
        return client.chat.completions.create(model=name, messages=[], stream=True)
    if model in RESPONSES:
        return client.responses.create(model=name, input="", stream=True)
    return client.messages.create(model=name, messages=[], max_tokens=1, stream=True)


def synchronously(name: str, url: str) -> list[Message]:
    kind = anthropic.Anthropic if "anthropic" in name else openai.OpenAI
    with kind(base_url=url, **OPTIONS) as client:
        return list(stream_message(ask(client, name)))


def asynchronously(name: str, url: str) -> list[Message]:
    async def run() -> list[Message]:
        kind = anthropic.AsyncAnthropic if "anthropic" in name else openai.AsyncOpenAI
        async with kind(base_url=url, **OPTIONS) as client:
            return [message async for message in astream_message(await ask(client, name))]

    return asyncio.run(run())


Run = Callable[[str, str], list[Message]]
both = pytest.mark.parametrize("run", [synchronously, asynchronously])


def check(message: Message, expected: Reading) -> None:
    assert (message.content, message.reasoning) == (expected.text, expected.reasoning)
    assert (message.finish_reason, message.outcome) == (expected.reason, Outcome.COMPLETE)
    assert [
        (call.id, call.name, call.arguments_value) for call in message.tool_calls if call.status is Outcome.COMPLETE
    ] == [(call.id, call.name, call.value) for call in expected.calls]


@both
@pytest.mark.parametrize("name", [*CHAT, *RESPONSES, *MESSAGES])
def test_a_client_streams_what_was_sent(run: Run, name: str, url: str) -> None:
    messages = run(name, url)
    check(messages[-1], known(name))
    assert all(message.outcome is Outcome.STREAMING for message in messages[:-1])


@both
@pytest.mark.parametrize("name", [*CHAT, *RESPONSES, *MESSAGES])
def test_a_connection_dropped_midway_keeps_the_partial_message(run: Run, name: str, url: str) -> None:
    last = run(DROP + name, url)[-1]
    assert last.outcome is Outcome.TRUNCATED
    assert last.errors[0].kind is ErrorKind.TRANSPORT
    assert isinstance(last.errors[0].cause, Exception)
    assert known(name).text.startswith(last.content)
    assert known(name).reasoning.startswith(last.reasoning)
    assert all(call.status is Outcome.TRUNCATED for call in last.tool_calls)


@pytest.mark.parametrize("name", [*CHAT, *RESPONSES, *MESSAGES])
def test_stopping_closes_the_response(name: str, url: str) -> None:
    kind = anthropic.Anthropic if "anthropic" in name else openai.OpenAI
    with kind(base_url=url, **OPTIONS) as client:
        response = ask(client, name)
        with stream_message(response) as stream:
            next(stream)
        assert response.response.is_closed
        assert stream.message.outcome is Outcome.CANCELLED


def helped(client: Any, name: str) -> Any:
    """The helpers of the SDKs, which put events of their own between those of the stream."""
    if name in CHAT:
        return client.chat.completions.stream(model=name, messages=[])
    if name in RESPONSES:
        return client.responses.stream(model=name, input="")
    return client.messages.stream(model=name, messages=[], max_tokens=1)


@pytest.mark.parametrize("name", [CHAT[0], CHAT[2], RESPONSES[0], *MESSAGES])
def test_the_helpers_of_the_clients_stream_the_same(name: str, url: str) -> None:
    kind = anthropic.Anthropic if "anthropic" in name else openai.OpenAI
    with kind(base_url=url, **OPTIONS) as client, helped(client, name) as stream:
        *_, last = stream_message(stream)
    check(last, known(name))
