"""The same in FastAPI: from `async` and plain functions, with middleware and the route of the client."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("fastapi", reason="fastapi is not installed")

from fastapi import FastAPI
from starlette.responses import Response

from jsontide import Message
from jsontide.frontends import CompactEncoder
from jsontide.web import MemoryTurns, client_route, resume_response, stop, stream_response
from tests.web.serving import TEXT, Client, Provider, eventually, port_of, read_compact, running, text_in


def application(provider: Provider, turns: MemoryTurns) -> FastAPI:
    app = FastAPI()

    @app.middleware("http")
    async def pass_on(request: Any, call_next: Any) -> Any:
        return await call_next(request)

    @app.post("/chat")
    async def ask() -> Response:
        return stream_response(provider.messages(), CompactEncoder(), store=turns, run_id="r1", on_leave="continue")

    @app.get("/chat")
    async def join() -> Response:
        return await resume_response(turns, "r1", CompactEncoder())

    @app.delete("/chat")
    async def halt() -> bool:
        return await stop(turns, "r1")

    @app.get("/plain")
    def answer() -> Response:  # in a thread, where no loop runs
        return stream_response(provider.generated, CompactEncoder())

    app.router.routes.append(client_route())
    return app


def test_a_turn_is_begun_left_joined_and_stopped() -> None:
    provider = Provider()
    provider.hold_before(2)
    with running(application(provider, MemoryTurns())) as server:
        port = port_of(server)
        first = Client(port, "/chat", method="POST", content_length="0")
        first.read_text("Take the ")
        first.leave()
        again = Client(port, "/chat")
        again.read_text("Take the ")
        assert provider.closed == 0
        halted = Client(port, "/chat", method="DELETE")
        halted.read_all()
        assert halted.body == b"true"
        again.read_all()
        eventually(lambda: provider.closed == 1)
    end = read_compact(again.body).end
    assert end is not None
    assert end["end"] == "cancelled"


def test_a_plain_function_may_return_a_response() -> None:
    provider = Provider()
    with running(application(provider, MemoryTurns())) as server:
        client = Client(port_of(server), "/plain")
        client.read_all()
    assert text_in(client.body) == TEXT


def test_a_client_that_leaves_cancels_the_source() -> None:
    provider = Provider()
    provider.hold_before(0)
    with running(application(provider, MemoryTurns())) as server:
        client = Client(port_of(server), "/plain")
        client.read_until(b"keep-alive")
        eventually(lambda: provider.opened == 1)
        client.leave()
        eventually(lambda: provider.closed == 1)
    assert provider.cancelled == 1


def test_what_a_source_uses_of_its_task_works() -> None:
    """A timeout is entered, and left, in the task that reads the source."""

    async def answer() -> AsyncIterator[Message[object]]:
        async with asyncio.timeout(0.1):
            async for message in Provider(pause=0.05).messages():
                yield message

    app = FastAPI()

    @app.get("/")
    async def ask() -> Response:
        return stream_response(answer, CompactEncoder(), describe_error=lambda error: type(error).__name__)

    with running(app) as server:
        client = Client(port_of(server))
        client.read_all()
    assert read_compact(client.body).end == {"end": "failed", "reason": "TimeoutError"}
