"""A real server on loopback, sources that count what is done to them, and clients that can leave at any time.

Rule: nothing waits for a time; what is awaited is an event. `PATIENCE` only ends what would never end.
Where time itself is under test, `run_in_no_time` runs it on a clock of its own, which jumps instead of waiting.
"""

import asyncio
import json
import selectors
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar
from unittest.mock import patch

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from jsontide import MISSING, Message, astream_message
from jsontide.frontends import CompactValue

PATIENCE = 60
WORDS = ("Take ", "the ", "night ", "train", ".")
TEXT = "".join(WORDS)


def word_events(words: tuple[str, ...] = WORDS) -> list[dict[str, object]]:
    """The events of a provider that says some words."""
    return [*({"message": {"content": word}, "done": False} for word in words), {"message": {}, "done": True}]


class Provider:
    """A stream of events that waits where it is told to, and counts how it ends."""

    def __init__(self, events: list[dict[str, object]] | None = None, *, pause: float = 0.0) -> None:
        self.events = word_events() if events is None else events
        self.pause = pause
        self.gates: dict[int, threading.Event] = {}
        self.raises: dict[int, BaseException] = {}
        self.opened = self.closed = self.cancelled = self.given = 0

    def hold_before(self, at: int) -> threading.Event:
        """Wait before an event until the event that is returned is set."""
        return self.gates.setdefault(at, threading.Event())

    async def stream(self) -> AsyncIterator[dict[str, object]]:
        self.opened += 1
        try:
            for at, event in enumerate(self.events):
                await self._wait(at)
                self.given += 1
                yield event
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            await asyncio.sleep(0)  # closing takes a while
            self.closed += 1

    async def _wait(self, at: int) -> None:
        await asyncio.sleep(self.pause)
        gate = self.gates.get(at)
        if gate is not None:
            await until(gate.is_set)
        if at in self.raises:
            raise self.raises[at]

    def messages(self) -> AsyncIterator[Message[object]]:
        return astream_message(self.stream())

    async def generated(self) -> AsyncIterator[Message[object]]:
        """The same from a generator around it, as people write them."""
        async with astream_message(self.stream()) as messages:
            async for message in messages:
                yield message


class Opened:
    """A response of a provider that is open already, and is closed."""

    def __init__(self, provider: Provider | None = None) -> None:
        self.provider = Provider() if provider is None else provider
        self.closed = 0

    def __aiter__(self) -> AsyncIterator[Message[object]]:
        return self.provider.messages()

    async def aclose(self) -> None:
        self.closed += 1


class Server(uvicorn.Server):
    """Stops as soon as it is told to; uvicorn looks ten times a second, and waits for connections also without any."""

    async def main_loop(self) -> None:
        await self.on_tick(0)
        while not self.should_exit:  # noqa: ASYNC110 - another thread sets it
            await asyncio.sleep(0.005)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)


@contextmanager
def running(application: Any, **options: Any) -> Iterator[uvicorn.Server]:
    """Run an application in a thread."""
    options = {"log_level": "critical", "ws": "none", "lifespan": "off", "port": 0, **options}
    server = Server(uvicorn.Config(application, **options))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    eventually(lambda: server.started or not thread.is_alive())
    assert server.started
    try:
        yield server
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


def wait_for_responses(server: uvicorn.Server, count: int) -> None:
    """Wait until all but some responses of a server are over, because their clients have left."""
    eventually(lambda: len(server.server_state.tasks) == count)


def port_of(server: uvicorn.Server) -> int:
    port: int = server.servers[0].sockets[0].getsockname()[1]
    return port


@contextmanager
def serving(*routes: Route, middleware: Any = (), **options: Any) -> Iterator[int]:
    """Serve some routes; give the port."""
    with running(routed(*routes, middleware=middleware), **options) as server:
        yield port_of(server)


def routed(*routes: Route, middleware: Any = ()) -> Starlette:
    return Starlette(routes=list(routes), middleware=list(middleware))


class Client:
    """A connection that reads as much as it is asked to, and can be cut."""

    def __init__(
        self, port: int, path: str = "/", *, method: str = "GET", receive_buffer: int = 0, **headers: Any
    ) -> None:
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        lines = [f"{method} {path} HTTP/1.1", "host: x", "connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.raw = b""

    def read_until(self, wanted: bytes) -> bytes:
        """Read until something has come; return all so far."""
        while wanted not in self.raw:
            more = self.socket.recv(65536)
            assert more, f"the connection ended before {wanted!r}: {self.raw!r}"
            self.raw += more
        return self.raw

    def read_text(self, wanted: str) -> None:
        """Read until the message that is told has a text; several of its pieces may come as one."""
        while (found := text_in(self.body)) != wanted:
            assert found is MISSING or wanted.startswith(found)
            self.raw += self.socket.recv(65536)

    def read_all(self) -> bytes:
        """Read to the end of the connection."""
        with self.socket:
            while more := self.socket.recv(65536):
                self.raw += more
        return self.raw

    def leave(self) -> None:
        self.socket.close()

    @property
    def head(self) -> str:
        return self.raw.partition(b"\r\n\r\n")[0].decode().lower()

    @property
    def status(self) -> int:
        return int(self.head.split()[1])

    @property
    def is_complete(self) -> bool:
        """Whether the response has ended as it should, and was not cut."""
        return self.raw.endswith(b"\r\n0\r\n\r\n") or "transfer-encoding: chunked" not in self.head

    @property
    def body(self) -> bytes:
        """The body so far, out of its chunks."""
        at = self.raw.find(b"\r\n\r\n") + 4
        if "transfer-encoding: chunked" not in self.head:
            return self.raw[at:]
        pieces: list[bytes] = []
        while (line := self.raw.find(b"\r\n", at)) >= 0:
            ends = line + 2 + int(self.raw[at:line], 16)
            pieces.append(self.raw[line + 2 : ends])
            at = ends + 2
        return b"".join(pieces)


def compact_values(body: bytes) -> Iterator[CompactValue]:
    """Read the compact form out of server-sent events, or lines: as it is after each of them."""
    value = CompactValue()
    yield value
    for line in body.decode().split("\n")[:-1]:
        data = line.removeprefix("data: ")
        if data != line or line[:1] in {"{", "[", '"'}:
            value = value.read(json.loads(data))
            yield value


def read_compact(body: bytes) -> CompactValue:
    """Read the compact form to its end."""
    *_, last = compact_values(body)
    return last


def text_in(body: bytes) -> Any:
    """Return the text of the message that a body tells of."""
    return text_of_value(read_compact(body).value)


def text_of_value(value: Any) -> Any:
    return MISSING if value is MISSING else "".join(part["text"] for part in value["parts"])


def eventually(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    ends = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < ends, "it did not come about in time"
        time.sleep(0.002)


async def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    while not holds():  # noqa: ASYNC110 - another thread may bring it about
        await asyncio.sleep(0.002)


async def never() -> Any:
    await asyncio.Event().wait()


class _Jumping(selectors.DefaultSelector):
    """Goes on at the time of the next timer instead of waiting for it."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        assert ready or timeout is not None, "everybody waits, and no timer is set"
        self.now += timeout or 0.0
        return ready


_Result = TypeVar("_Result")


def run_in_no_time(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run what waits for timers, and for nothing outside of this thread, at once and in the same order each time."""
    selector = _Jumping()

    def loop() -> asyncio.AbstractEventLoop:
        made = asyncio.SelectorEventLoop(selector)
        made.time = lambda: selector.now  # type: ignore[method-assign]
        return made

    with patch("time.monotonic", lambda: selector.now), asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(work)


async def serve(response: Any) -> bytes:
    """Serve a response to a client that stays; return the body."""
    sent: list[bytes] = []

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message.get("body", b""))

    await response({"type": "http", "method": "GET"}, never, send)
    return b"".join(sent)
