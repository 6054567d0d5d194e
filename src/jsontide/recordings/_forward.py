"""A client's request in, the response of another server out, as it arrives, byte for byte, with a copy for a sink.

Rule: the client gets what it would get without the proxy; a recording that fails never stops a response.
"""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import SplitResult

from jsontide.recordings._file import without_secrets
from jsontide.recordings._piece import End

if TYPE_CHECKING:
    from typing import Self

_HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""What is said to the next machine only: RFC 9110, section 7.6.1."""
_OWN: Final = frozenset({"host", "accept-encoding", "content-length", "expect"})
"""What the proxy says itself."""
_RECORDED: Final = ("text/event-stream", "json", "jsonl", "ndjson")
_BLOCK: Final = 65536
_LONGEST_LINE: Final = 1000
_POLL: Final = 0.2
_LINGER: Final = 2.0
_NO_BODY: Final = (204, 304)


class Sink(Protocol):
    """What takes the pieces of one response, such as a `RecordingWriter`."""

    def write(self, data: bytes, /) -> object:
        """Take a piece as it was received."""

    def finish(self, end: End, error: str | None = None, /) -> object:
        """Take that the response has ended: by itself, because it was lost, or because the client left."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests go, and what becomes of the responses."""

    url: SplitResult
    timeout: float
    open_sink: Callable[[dict[str, object]], Sink | None]
    on_error: Callable[[str], object]

    def connect(self) -> HTTPConnection:
        kind = HTTPSConnection if self.url.scheme == "https" else HTTPConnection
        return kind(self.url.hostname or "", self.url.port, timeout=self.timeout)

    def path_of(self, path: str) -> str:
        return self.url.path.rstrip("/") + path

    def address_of(self, path: str) -> str:
        return without_secrets(f"{self.url.scheme}://{self.url.netloc}{self.path_of(path)}")


class ForwardingHandler(BaseHTTPRequestHandler):
    """Forwards the requests of one connection, one after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    target: Target
    """Set by the proxy, in a subclass."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Say nothing: what goes wrong is reported."""

    def do_forward(self) -> None:
        """Answer a request with what the target answers."""
        if not self._is_local():
            self._refuse(403, "this proxy only takes requests to its own address")
        elif not self.path.startswith("/"):
            self._refuse(400, "this proxy takes paths, not addresses: it forwards to one server")
        else:
            connection = self.target.connect()
            try:
                self._exchange(connection)
            finally:
                connection.close()

    # The names by which requests of each method are looked up.
    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_forward  # noqa: N815

    def _is_local(self) -> bool:
        """Return whether a request names this machine: a page elsewhere that resolves to it does not."""
        name, _, port = self.headers.get("Host", "").rpartition(":")
        return name in {"127.0.0.1", "localhost", "[::1]"} and port == str(self.connection.getsockname()[1])

    def _exchange(self, connection: HTTPConnection) -> None:
        began = time.monotonic()
        try:
            self._send_request(connection)
            upstream = connection.sock
            response = connection.getresponse()
        except (OSError, HTTPException, ValueError) as error:
            self._refuse(502, f"{self.target.address_of(self.path)} cannot be reached: {_describe(error)}")
            return
        with _Watch(self.connection, upstream) as watch:
            self._pass_on(response, watch, time.monotonic() - began)

    def _send_request(self, connection: HTTPConnection) -> None:
        connection.putrequest(self.command, self.target.path_of(self.path), skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", self.target.url.netloc.rpartition("@")[2])
        connection.putheader("Accept-Encoding", "identity")  # a recording is to be read
        for name, value in self._kept_headers(self.headers.items(), self.headers.get("Connection", "")):
            if name.lower() not in _OWN:
                connection.putheader(name, value)
        is_chunked = "chunked" in self.headers.get("Transfer-Encoding", "").lower()
        length = self.headers.get("Content-Length")
        if is_chunked:
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders(self._read_chunks(), encode_chunked=True)
        elif length is not None:
            connection.putheader("Content-Length", str(int(length)))
            connection.endheaders(self._read_body(int(length)))
        else:
            connection.endheaders()

    def _read_body(self, length: int) -> Iterator[bytes]:
        while length > 0:
            data = self.rfile.read(min(length, _BLOCK))
            if not data:
                message = "the client left in the middle of its request"
                raise ConnectionError(message)
            length -= len(data)
            yield data

    def _read_chunks(self) -> Iterator[bytes]:
        """Yield the data of a body that comes in chunks, without their lengths: RFC 9112, section 7.1."""
        while size := int(self.rfile.readline(_LONGEST_LINE).partition(b";")[0], 16):
            yield from self._read_body(size)
            self.rfile.readline(_LONGEST_LINE)
        while self.rfile.readline(_LONGEST_LINE).strip():  # trailers
            pass

    def _kept_headers(self, headers: list[tuple[str, str]], named: str) -> Iterator[tuple[str, str]]:
        """Yield the headers that go on to the next machine."""
        dropped = {name.strip().lower() for name in named.split(",")} | _HOP_BY_HOP
        for name, value in headers:
            if name.lower() not in dropped:
                yield name, " ".join(value.splitlines())

    def _pass_on(self, response: HTTPResponse, watch: _Watch, waited: float) -> None:
        has_body = self.command != "HEAD" and response.status not in _NO_BODY
        length = response.headers.get("Content-Length")
        is_sized = length is not None and not response.chunked
        is_chunked = has_body and not is_sized and self.request_version == "HTTP/1.1"
        recorder = _Recorder(self._open_sink(response, waited) if has_body else None, self.target.on_error)
        try:
            self.send_response_only(response.status, response.reason)
            for name, value in self._kept_headers(response.getheaders(), response.headers.get("Connection", "")):
                if is_sized or name.lower() != "content-length":  # which a body in chunks must not have
                    self.send_header(name, value)
            if is_chunked:
                self.send_header("Transfer-Encoding", "chunked")
            elif has_body and not is_sized:
                self.send_header("Connection", "close")
                self.close_connection = True
            self.end_headers()
            if has_body:
                self._pass_body(_Body(response, watch), recorder, is_chunked=is_chunked)
        except (OSError, ClientLeftError) as error:
            self.close_connection = True
            recorder.finish("stopped", _describe(error))

    def _pass_body(self, body: _Body, recorder: _Recorder, *, is_chunked: bool) -> None:
        while not body.is_over:
            try:
                data = body.read()
            except (OSError, HTTPException) as error:
                # Nothing more is said, so the client sees that the body is not whole.
                self.close_connection = True
                recorder.finish("lost", _describe(error))
                self.target.on_error(f"{self.target.address_of(self.path)} was lost: {_describe(error)}")
                return
            recorder.write(data)
            if body.is_over:
                recorder.finish("over")  # before the client sees the end, and may look for the recording
            # An empty chunk is the last one.
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if is_chunked else data)

    def _open_sink(self, response: HTTPResponse, waited: float) -> Sink | None:
        kind = response.headers.get_content_type()
        if not kind.endswith(_RECORDED):
            return None
        about: dict[str, object] = {
            "source": "proxy",
            "method": self.command,
            "url": self.target.address_of(self.path),
            "status": response.status,
            "content_type": kind,
            "waited": round(waited, 6),
        }
        encoding = response.headers.get("Content-Encoding", "identity")
        if encoding != "identity":
            about["content_encoding"] = encoding
        try:
            return self.target.open_sink(about)
        except OSError as error:
            self.target.on_error(f"nothing is recorded: {_describe(error)}")
            return None

    def _refuse(self, status: int, why: str) -> None:
        """Answer in the proxy's own name, and close the connection when the client has read it.

        Closing it while something of the request is not read would take the answer away from the client.
        """
        self.close_connection = True
        self.target.on_error(why)
        body = f"jsontide: {why}\n".encode()
        with suppress(OSError):
            self.send_response_only(status)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(_LINGER)
            while self.rfile.read1(_BLOCK):
                pass


class ClientLeftError(Exception):
    """The client closed its connection before the response ended."""


class _Recorder:
    """A sink, if there is one, that cannot fail."""

    def __init__(self, sink: Sink | None, on_error: Callable[[str], object]) -> None:
        self._sink = sink
        self._on_error = on_error

    def write(self, data: bytes) -> None:
        if self._sink is not None and data:
            self._try(lambda sink: sink.write(data))

    def finish(self, end: End, error: str | None = None) -> None:
        if self._sink is not None:
            self._try(lambda sink: sink.finish(end, error))
        self._sink = None

    def _try(self, step: Callable[[Sink], object]) -> None:
        try:
            if self._sink is not None:
                step(self._sink)
        except OSError as error:
            self._sink = None
            self._on_error(f"the recording breaks off: {_describe(error)}")


class _Watch:
    """Cuts the connection to the server when the client leaves, so that the server does not go on for nothing."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self._client = client
        self._server = server
        self._is_over = threading.Event()
        self._client_left = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._is_over.set()
        self._thread.join()

    def check(self) -> None:
        """Raise if the client has left."""
        if self._client_left:
            message = "the client left"
            raise ClientLeftError(message)

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector, suppress(OSError, ValueError):
            selector.register(self._client, selectors.EVENT_READ)
            while not self._is_over.is_set():
                if selector.select(_POLL):
                    if not self._client.recv(1, socket.MSG_PEEK):
                        self._client_left = True
                        self._server.shutdown(socket.SHUT_RDWR)
                    return  # or the next request is there already


class _Body:
    """The body of a response, as it arrives."""

    def __init__(self, response: HTTPResponse, watch: _Watch) -> None:
        self._response = response
        self._watch = watch
        self._left = None if response.chunked else response.length
        """How many bytes are to come, if that is known."""
        self.is_over = False

    def read(self) -> bytes:
        """Return what is there now, nothing at the end; raise if the body breaks off, or the client left."""
        left = self._left
        try:
            data = self._response.read1(_BLOCK if left is None else min(left, _BLOCK))
        finally:
            self._watch.check()
        if left is None:
            self.is_over = not data
        elif left > 0 and not data:
            message = f"{left} bytes are missing"
            raise ConnectionError(message)
        else:
            self._left = left - len(data)
            self.is_over = self._left == 0
        return data


def _describe(error: Exception) -> str:
    return str(error) or type(error).__name__
