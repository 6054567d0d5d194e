"""The address of a server in, a proxy on this machine out, which records the streams that pass.

Rule: no header, key, query or request body is ever written: only the server's response, and the address.

The client gets the same bytes as without the proxy, as they arrive; a recording that fails never stops a response.
"""

from __future__ import annotations

import re
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, Protocol
from urllib.parse import SplitResult, urlsplit

from jsontide._private_file import open_private
from jsontide.recordings._recording import End, RecordingWriter, without_secrets

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
"""Headers for the next machine only: RFC 9110, section 7.6.1."""
_OWN: Final = frozenset({"host", "accept-encoding", "content-length", "expect"})
"""Headers that the proxy sets itself."""
_RECORDED: Final = ("text/event-stream", "json", "jsonl", "ndjson")
_LENGTH: Final = re.compile("[0-9]{1,15}")
_CHUNK_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,12})[ \t]*(?:;[^\r\n]*)?\r\n")
_BLOCK: Final = 65536
_LONGEST_LINE: Final = 1000
_POLL: Final = 0.2
_LINGER: Final = 2.0
_NO_BODY: Final = (204, 304)


class Sink(Protocol):
    """Takes the pieces of one response, as a `RecordingWriter` does."""

    def write(self, data: bytes, /) -> object:
        """Take a piece as it was received."""

    def finish(self, end: End, error: str | None = None, /) -> object:
        """Take that the response has ended: by itself, because it was lost, or because the client left."""


@dataclass(frozen=True, slots=True)
class Target:
    """The server that requests go to, and the callbacks for its responses."""

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
        """Print nothing: errors go to `on_error`."""

    def do_forward(self) -> None:
        """Answer a request with the response of the target."""
        if not self._is_local():
            self._refuse(403, "this proxy only takes requests to its own address")
        elif self._is_of_page():
            self._refuse(403, "this proxy takes no requests of web pages")
        elif not self.path.startswith("/"):
            self._refuse(400, "this proxy takes paths, not addresses: it forwards to one server")
        else:
            try:
                length = self._find_length()
            except BadRequestError as error:
                self._refuse(400, str(error))
                return
            connection = self.target.connect()
            try:
                self._exchange(connection, length)
            finally:
                connection.close()

    # The names by which requests of each method are looked up.
    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_forward  # noqa: N815

    def _is_local(self) -> bool:
        """Return whether a request names this machine: a page elsewhere that resolves to it does not."""
        hosts = self.headers.get_all("Host", [])
        name, _, port = hosts[0].rpartition(":") if len(hosts) == 1 else ("", "", "")
        return name in {"127.0.0.1", "localhost", "[::1]"} and port == str(self.connection.getsockname()[1])

    def _is_of_page(self) -> bool:
        """Return whether a browser sends a request because a page wants it; programs send neither of these headers."""
        sites = self.headers.get_all("Sec-Fetch-Site", [])
        return "Origin" in self.headers or any(site.strip().lower() != "none" for site in sites)

    def _find_length(self) -> int | Literal["chunked"] | None:
        """Return how long the body of a request is; refuse headers that servers read in different ways.

        RFC 9112, sections 6.1 to 6.3: a body whose length is said in two ways, or not clearly, may hide a request.
        """
        lengths = self.headers.get_all("Content-Length", [])
        codings = self.headers.get_all("Transfer-Encoding", [])
        if self.headers.defects:
            raise BadRequestError("the headers of the request cannot be read")
        if not codings and not lengths:
            return None
        if not codings and len(lengths) == 1 and _LENGTH.fullmatch(lengths[0].strip()):
            return int(lengths[0])
        if not lengths and [each.strip().lower() for each in codings] == ["chunked"] and self._is_new():
            return "chunked"
        raise BadRequestError("a request must have one Content-Length, a number, or the Transfer-Encoding 'chunked'")

    def _is_new(self) -> bool:
        return self.request_version == self.protocol_version

    def _exchange(self, connection: HTTPConnection, length: int | Literal["chunked"] | None) -> None:
        began = time.monotonic()
        try:
            self._send_request(connection, length)
            upstream = connection.sock
            response = connection.getresponse()
            _check_length(response)
        except BadRequestError as error:
            self._refuse(400, str(error))
            return
        except BadResponseError as error:
            self._refuse(502, f"{self.target.address_of(self.path)} gave no answer that can be passed on: {error}")
            return
        except (OSError, HTTPException, ValueError) as error:
            self._refuse(502, f"{self.target.address_of(self.path)} cannot be reached: {_describe(error)}")
            return
        with _Watch(self.connection, upstream) as watch:
            self._pass_on(response, watch, time.monotonic() - began)

    def _send_request(self, connection: HTTPConnection, length: int | Literal["chunked"] | None) -> None:
        connection.putrequest(self.command, self.target.path_of(self.path), skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", self.target.url.netloc.rpartition("@")[2])
        connection.putheader("Accept-Encoding", "identity")  # a recording is to be read
        for name, value in self._kept_headers(self.headers.items(), self.headers.get("Connection", "")):
            if name.lower() not in _OWN:
                connection.putheader(name, value)
        if length == "chunked":
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders(self._read_chunks(), encode_chunked=True)
        elif length is not None:
            connection.putheader("Content-Length", str(length))
            connection.endheaders(self._read_body(length))
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
        while size := self._read_size():
            yield from self._read_body(size)
            if self.rfile.read(2) != b"\r\n":
                raise BadRequestError("a chunk of the request is longer than it says")
        while self.rfile.readline(_LONGEST_LINE).strip():  # trailers
            pass

    def _read_size(self) -> int:
        line = self.rfile.readline(_LONGEST_LINE)
        found = _CHUNK_SIZE.fullmatch(line)
        if found is None:
            raise BadRequestError("a chunk of the request does not say its length")
        return int(found[1], 16)

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
        is_chunked = has_body and not is_sized and self._is_new()
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
                # Nothing more is sent, so the client sees that the body is not whole.
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


def _check_length(response: HTTPResponse) -> None:
    """Refuse a response that does not say clearly how long it is, for the client may take its end for another one."""
    lengths = set(response.headers.get_all("Content-Length", []))
    if lengths and not response.chunked and not (len(lengths) == 1 and _LENGTH.fullmatch(lengths.pop())):
        raise BadResponseError("its Content-Length is not a number")


class BadResponseError(Exception):
    """What the server sends is not HTTP that everybody reads in the same way."""


class BadRequestError(Exception):
    """The request is not HTTP that every server reads in the same way."""


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
        """Return the bytes that have arrived, none at the end; raise if the body breaks off, or the client left."""
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


_HOST: Final = "127.0.0.1"
_ODD: Final = re.compile(r"[^A-Za-z0-9]+")


class RecordingProxy:
    """Stands between a program and a server, passes everything through as it arrives, and records the streams.

    `to` is a folder, in which each response becomes a recording that only you can read, or a function that gets the
    header of a recording and returns a `Sink` for its pieces, or `None`; it is called in many threads.
    Server-sent events, NDJSON and JSON are recorded.
    `on_error` is called with each error, as text for people, and `on_recorded` with the path of each recording in a
    folder that is whole.
    Requests of web pages are refused: any page in a browser could send them.

        with RecordingProxy("https://api.openai.com", to="recordings") as proxy:
            client = OpenAI(base_url=f"{proxy.url}/v1")
    """

    def __init__(
        self,
        url: str,
        to: str | Path | Callable[[Mapping[str, object]], Sink | None],
        *,
        port: int = 0,
        timeout: float = 600.0,
        on_error: Callable[[str], object] | None = None,
        on_recorded: Callable[[Path], object] | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            message = f"url must be an http or https address of a server, such as https://api.openai.com, not {url!r}"
            raise ValueError(message)
        open_sink = to if callable(to) else _Folder(Path(to), on_recorded or (lambda _: None)).open
        target = Target(parts, timeout, open_sink, on_error or (lambda _: None))
        handler = type("Handler", (ForwardingHandler,), {"target": target})
        self._server: Final = _Server((_HOST, port), handler)
        self._thread: Final = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        """The address that programs use in place of the server's."""
        return f"http://{_HOST}:{self.port}"

    def start(self) -> Self:
        """Take requests, in threads, until `close`."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Take no more requests; responses that are under way go on."""
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that leaves between requests."""


class _Folder:
    """Gives each response a file of its own, in the order in which they began."""

    def __init__(self, path: Path, on_recorded: Callable[[Path], object]) -> None:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path: Final = path
        self._on_recorded: Final = on_recorded
        self._numbers: Final = count(1)
        self._lock: Final = threading.Lock()

    def open(self, about: Mapping[str, object]) -> Sink:
        address = _ODD.sub("-", urlsplit(str(about["url"])).path).strip("-")[:60]
        with self._lock:
            number = next(number for number in self._numbers if not any(self._path.glob(f"{number:04}*")))
        path = self._path / f"{number:04}{address and '-'}{address}.ndjson"
        return _FileSink(open_private(path, "xb"), about, partial(self._on_recorded, path))


class _FileSink:
    """A recording in a file that is closed at its end."""

    def __init__(self, file: BinaryIO, about: Mapping[str, object], on_end: Callable[[], object]) -> None:
        self._file: Final = file
        self._on_end: Final = on_end
        began = time.monotonic() - float(str(about["waited"]))
        self._writer: Final = RecordingWriter(file, about, began=began)

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    def finish(self, end: End, error: str | None = None) -> None:
        self._writer.finish(end, error)
        self._file.close()
        self._on_end()
