"""`python -m tests.web.durable_server LOG LEASE [resume]`: a worker that shares durable turns with others.

`POST /turns/NAME` begins a turn of many words, `GET` joins it, and `POST /turns/NAME/stop` stops it.
It prints its port. LOG is a file of SQLite, or the URL of a Redis; with `resume`, turns of dead workers are read again
from their start.
"""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from jsontide import Message, astream_message
from jsontide.frontends import CompactEncoder
from jsontide.web import Orphan, redis_turns, resume_response, sqlite_turns, stop, stream_response

WORDS = 120


def text_of(name: str) -> str:
    """What the turn of this name says."""
    return "".join(f"{name} says {at}. " for at in range(WORDS))


def messages(name: str) -> AsyncIterator[Message[object]]:
    async def events() -> AsyncIterator[dict[str, Any]]:
        for at in range(WORDS):
            yield {"message": {"content": f"{name} says {at}. "}, "done": False}
            await asyncio.sleep(0.02)
        yield {"message": {}, "done": True}

    return astream_message(events())


def create_app(log: str, lease: float, *, resumes: bool) -> Starlette:
    def resume(orphan: Orphan) -> Any:
        return messages(orphan.run_id)

    open_turns = redis_turns if "://" in log else sqlite_turns
    turns = open_turns(log, lease=lease, resume=resume if resumes else None)

    async def begin(request: Request) -> Response:
        name = request.path_params["name"]
        return stream_response(messages(name), CompactEncoder(), store=turns, run_id=name, on_leave="continue")

    async def join(request: Request) -> Response:
        return await resume_response(turns, request.path_params["name"], CompactEncoder(), keep_alive=0.5)

    async def halt(request: Request) -> Response:
        return JSONResponse(await stop(turns, request.path_params["name"]))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await turns.close()

    path = "/turns/{name}"
    routes = [Route(path, begin, methods=["POST"]), Route(path, join), Route(f"{path}/stop", halt, methods=["POST"])]
    return Starlette(routes=routes, lifespan=lifespan)


def main(log: str, lease: str, *options: str) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)  # noqa: T201 - the test reads it
    app = create_app(log, float(lease), resumes="resume" in options)
    config = uvicorn.Config(app, log_level="critical", ws="none", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run([listening])


if __name__ == "__main__":
    main(*sys.argv[1:])
