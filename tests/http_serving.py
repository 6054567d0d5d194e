"""A plain server on loopback, which is there as long as a test needs it, and stops at once."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 100

    def handle_error(self, *_: Any) -> None:
        """Say nothing: clients that leave are what tests are about."""


@contextmanager
def serving(handler: Callable[..., Any]) -> Iterator[str]:
    """Let a handler answer requests, each in a thread; give the address."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
