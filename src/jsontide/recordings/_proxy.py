"""The address of a server in, a proxy on this machine out, which records the streams that pass.

Rule: no header, key, query or request body is ever written: only what the server answers, and where it was asked.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from http.server import ThreadingHTTPServer
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Final
from urllib.parse import urlsplit

from jsontide.recordings._forward import ForwardingHandler, Sink, Target
from jsontide.recordings._piece import End
from jsontide.recordings._writer import RecordingWriter

if TYPE_CHECKING:
    from typing import Self

_HOST: Final = "127.0.0.1"
_ODD: Final = re.compile(r"[^A-Za-z0-9]+")


class RecordingProxy:
    """Stands between a program and a server, passes everything through as it arrives, and records the streams.

    `to` is a folder, in which each response becomes a recording, or a function that is called with what is known of a
    response, the header of its recording, and returns what takes its pieces, or `None`; it is called in many threads.
    Server-sent events, NDJSON and JSON are recorded.
    `on_error` is called with what goes wrong, as text for people.

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
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            message = f"url must be that of a server, such as https://api.openai.com, not {url!r}"
            raise ValueError(message)
        open_sink = to if callable(to) else _Folder(Path(to)).open
        target = Target(parts, timeout, open_sink, on_error or (lambda _: None))
        handler = type("Handler", (ForwardingHandler,), {"target": target})
        self._server: Final = _Server((_HOST, port), handler)
        self._thread: Final = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        """What programs use in place of the address of the server."""
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

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._path: Final = path
        self._numbers: Final = count(1)
        self._lock: Final = threading.Lock()

    def open(self, about: Mapping[str, object]) -> Sink:
        address = _ODD.sub("-", urlsplit(str(about["url"])).path).strip("-")[:60]
        with self._lock:
            number = next(number for number in self._numbers if not any(self._path.glob(f"{number:04}*")))
        path = self._path / f"{number:04}{address and '-'}{address}.ndjson"
        return _FileSink(path.open("xb"), about)


class _FileSink:
    """A recording in a file that is closed at its end."""

    def __init__(self, file: BinaryIO, about: Mapping[str, object]) -> None:
        self._file: Final = file
        began = time.monotonic() - float(str(about["waited"]))
        self._writer: Final = RecordingWriter(file, about, began=began)

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    def finish(self, end: End, error: str | None = None) -> None:
        self._writer.finish(end, error)
        self._file.close()
