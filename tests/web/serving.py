"""A real server on loopback, sources that count what is done to them, and clients that can leave at any time."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from jsontide import MISSING, Message, astream_message
from jsontide.deltas import CompactValue

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


@contextmanager
def running(application: Any, **options: Any) -> Iterator[uvicorn.Server]:
    """Run an application in a thread."""
    options = {"log_level": "critical", "ws": "none", "lifespan": "off", "port": 0, **options}
    server = uvicorn.Server(uvicorn.Config(application, **options))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield server
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join(timeout=5)
        assert not thread.is_alive()


def port_of(server: uvicorn.Server) -> int:
    port: int = server.servers[0].sockets[0].getsockname()[1]
    return port


@contextmanager
def serving(*routes: Route, middleware: Any = (), **options: Any) -> Iterator[int]:
    """Serve some routes; give the port."""
    with running(Starlette(routes=list(routes), middleware=list(middleware)), **options) as server:
        yield port_of(server)


class Client:
    """A connection that reads as much as it is asked to, and can be cut."""

    def __init__(
        self, port: int, path: str = "/", *, method: str = "GET", receive_buffer: int = 0, **headers: Any
    ) -> None:
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(5)
        self.socket.connect(("127.0.0.1", port))
        lines = [f"{method} {path} HTTP/1.1", "host: x", "connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.raw = b""

    def read_until(self, wanted: bytes, timeout: float = 5) -> bytes:
        """Read until something has come; return all so far."""
        ends = time.monotonic() + timeout
        while wanted not in self.raw:
            self.socket.settimeout(max(0.001, ends - time.monotonic()))
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


def read_compact(body: bytes) -> CompactValue:
    """Read the compact form out of server-sent events, or lines."""
    value = CompactValue()
    for line in body.decode().split("\n")[:-1]:
        if line.startswith("data: "):
            value = value.read(json.loads(line.removeprefix("data: ")))
        elif line[:1] in {"{", "[", '"'}:
            value = value.read(json.loads(line))
    return value


def text_in(body: bytes) -> Any:
    """Return the text of the message that a body tells of."""
    value: Any = read_compact(body).value
    return MISSING if value is MISSING else "".join(part["text"] for part in value["parts"])


def eventually(holds: Callable[[], bool], within: float = 1.0) -> float:
    """Wait until something holds; return how long it took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < within, "it did not come about in time"
        time.sleep(0.005)
    return time.monotonic() - began


async def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    while not holds():  # noqa: ASYNC110 - another thread may bring it about
        await asyncio.sleep(0.002)
