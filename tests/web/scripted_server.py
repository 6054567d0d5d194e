"""A server that answers each request as a script says, down to how the connection ends; it remembers the requests.

An answer is a status, or 0 for none, and steps: bytes to send, or one of

    SEEN   wait until the client has the value that was sent so far
    CLOSE  end the response as it should end
    RESET  break the connection off, when the client has what was sent: a reset takes back what it has not read
    HANG   send nothing more, until the client leaves

The last step says how the connection ends: one that just ends may or may not take back what was sent.

A client tells what it has by posting each value to `/seen`; `/asked` answers when a request has come.
"""

import json
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from jsontide import MISSING
from tests.http_serving import serving
from tests.web.serving import PATIENCE, eventually, read_compact

SEEN, CLOSE, RESET, HANG = "seen", "close", "reset", "hang"


@dataclass
class Answer:
    steps: Sequence[bytes | str] = ()
    status: int = 200
    media_type: str = "text/event-stream"
    run_id: str | None = None

    def __post_init__(self) -> None:
        assert not self.steps or self.steps[-1] in (CLOSE, RESET, HANG), "say how the connection ends"


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    was_left: threading.Event = field(default_factory=threading.Event)
    sent: bytes = b""


class Script:
    """The answers that are left, and the requests that came; without an answer left, it is 503."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []
        self.seen: list[object] = []
        self.url = ""

    def told(self) -> list[tuple[str, str, str | None]]:
        """Method, path and last event id of all requests."""
        return [(each.method, each.path, each.headers.get("last-event-id")) for each in self.requests]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script

    def do_GET(self) -> None:
        length = int(self.headers.get("content-length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, self.rfile.read(length))
        if self.path in {"/seen", "/asked"}:
            self._take_note(request)
            return
        self.script.requests.append(request)
        answer = self.script.answers.pop(0) if self.script.answers else Answer(status=503)
        self.close_connection = True
        if not answer.status:
            self._do(HANG, request)
            return
        self.send_response(answer.status)
        self.send_header("connection", "close")
        self.send_header("access-control-allow-origin", "*")
        if answer.status == 204:
            self.end_headers()
            return
        self.send_header("content-type", answer.media_type)
        if answer.run_id:
            self.send_header("x-run-id", answer.run_id)
            self.send_header("access-control-expose-headers", "x-run-id")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for step in answer.steps or (CLOSE,):
                self._do(step, request)
        except ConnectionError:
            request.was_left.set()

    def do_POST(self) -> None:
        self.do_GET()

    def do_OPTIONS(self) -> None:
        """Allow a page of another address to ask."""
        self.close_connection = True
        self.send_response(204)
        self.send_header("access-control-allow-origin", "*")
        self.send_header("access-control-allow-headers", "last-event-id, content-type, authorization")
        self.end_headers()

    def _take_note(self, request: Request) -> None:
        if self.path == "/seen":
            self.script.seen.append(json.loads(request.body))
        else:
            eventually(lambda: self.script.requests)
        self.close_connection = True
        self.send_response(204)
        self.send_header("connection", "close")
        self.send_header("access-control-allow-origin", "*")
        self.end_headers()

    def _do(self, step: bytes | str, request: Request) -> None:
        if isinstance(step, bytes):
            request.sent += step
            self.wfile.write(b"%x\r\n%s\r\n" % (len(step), step) if step else b"")
        elif step == SEEN:
            separator = b"\n\n" if b"data: " in request.sent else b"\n"
            whole = request.sent[: request.sent.rfind(separator) + len(separator)]
            value = read_compact(whole).value
            eventually(lambda: value is MISSING or value in self.script.seen)
        elif step == CLOSE:
            self.wfile.write(b"0\r\n\r\n")
        elif step == RESET:
            self._do(SEEN, request)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.shutdown(socket.SHUT_RD)
            self.connection.close()
        else:
            self.connection.settimeout(PATIENCE)
            if not self.connection.recv(1):
                request.was_left.set()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def finish(self) -> None:
        if self.connection.fileno() != -1:
            super().finish()


@contextmanager
def serve(*answers: Answer) -> Iterator[Script]:
    script = Script(answers)
    with serving(type("Handler", (_Handler,), {"script": script})) as address:
        script.url = f"{address}/answer"
        yield script
