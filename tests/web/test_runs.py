"""Runs of an agent as sources of responses: shown while they grow, stopped in a tool, joined again."""

import asyncio
import threading
import urllib.request
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from jsontide import Tool
from jsontide.frontends import AgUiEncoder, AssistantTransportEncoder, CompactEncoder, VercelEncoder
from jsontide.runs import Run, arun_agent
from jsontide.testing import check_ag_ui, check_assistant_transport, check_vercel
from jsontide.web import MemoryTurns, resume_response, stop, stream_response
from tests.frontends.test_run_streams import read_compact
from tests.web.serving import eventually, port_of, running, until

pytestmark = pytest.mark.untraced

ENCODERS: dict[str, tuple[Callable[[], Any], Callable[[bytes], Any]]] = {
    "vercel": (lambda: VercelEncoder(message_id="m"), check_vercel),
    "ag-ui": (lambda: AgUiEncoder(thread_id="t", run_id="r"), check_ag_ui),
    "assistant": (lambda: AssistantTransportEncoder(message_id="m"), check_assistant_transport),
    "compact": (CompactEncoder, read_compact),
}


class Tools:
    """A tool that waits until it is let go, and notes how it ends."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.started = self.cancelled = self.finished = 0

    async def look(self, place: str) -> AsyncIterator[str]:
        """Look somewhere."""
        self.started += 1
        try:
            yield f"on the way to {place}"
            await until(self.gate.is_set)
            self.finished += 1
            yield f"seen {place}"
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


async def respond(*events: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    for event in events:
        yield event


def ask(request: Any) -> AsyncIterator[dict[str, Any]]:
    if request.run.steps:
        return respond({"message": {"content": "Seen."}, "done": True, "done_reason": "stop"})
    call = {"function": {"name": "look", "arguments": {"place": "Porto"}}}
    return respond({"message": {"content": "", "tool_calls": [call]}, "done": True, "done_reason": "stop"})


def make_app(tools: Tools, name: str, *, is_wrapped: bool = False) -> Starlette:
    turns = MemoryTurns()
    make = ENCODERS[name][0]

    async def wrapped(runs: Any) -> AsyncIterator[Run[Any]]:
        async for run in runs:
            yield run

    async def begin(_: Request) -> Response:
        runs: Any = arun_agent(ask, "Where?", tools=[Tool.from_function(tools.look)])
        source = wrapped(runs) if is_wrapped else runs
        return stream_response(source, make(), store=turns, on_leave="continue", run_id="turn")

    async def join(_: Request) -> Response:
        return await resume_response(turns, "turn", make())

    async def halt(_: Request) -> Response:
        return Response(str(await stop(turns, "turn")))

    return Starlette(routes=[Route("/", begin), Route("/join", join), Route("/stop", halt)])


def get(port: int, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as response:
        return bytes(response.read())


@pytest.mark.parametrize("name", ENCODERS)
def test_a_run_is_shown_to_its_end_and_joined(name: str) -> None:
    tools = Tools()
    tools.gate.set()
    with running(make_app(tools, name)) as server:
        check = ENCODERS[name][1]
        check(get(port_of(server), "/"))
        again = get(port_of(server), "/join")
        check(again)
        assert b"seen Porto" in again
        assert b"Seen." in again


@pytest.mark.parametrize("is_wrapped", [False, True])
@pytest.mark.parametrize("name", ENCODERS)
def test_stop_works_in_the_middle_of_a_tool(name: str, is_wrapped: bool) -> None:  # noqa: FBT001 - drawn
    tools = Tools()
    with running(make_app(tools, name, is_wrapped=is_wrapped)) as server:
        port = port_of(server)
        bodies: list[bytes] = []
        reader = threading.Thread(target=lambda: bodies.append(get(port, "/")))
        reader.start()
        eventually(lambda: tools.started == 1)
        assert get(port, "/stop") == b"True"
        reader.join(20)
        eventually(lambda: tools.cancelled == 1)
        check = ENCODERS[name][1]
        found = check(bodies[0])
        assert b"not known whether it finished" in bodies[0]
        assert tools.finished == 0
        if name == "compact":
            assert found.value["status"] == "cancelled"
            assert found.value["steps"][0]["results"][0]["status"] == "unknown"
        if name == "vercel":
            assert (found.end, found.calls[0].state) == ("abort", "output-error")
        if name == "ag-ui":
            assert found.end["outcome"] == {"type": "cancelled"}
