"""Serves examples/fake_server.py to the pages whose examples talk to a provider: no key, no network.

In: what the client of a provider reads from the environment. Out: the same client, answered on this machine.
"""

import runpy
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pytest import MonkeyPatch  # noqa: PT013 - used as a plain class

SERVER = Path(__file__).parents[1] / "examples/fake_server.py"


class FakeProvider:
    """A server from its creation to `close`, and the environment variables that lead a client to it."""

    def __init__(self, **environment: str) -> None:
        """Replace URL in each variable by the address of the server."""
        handler: type[BaseHTTPRequestHandler] = runpy.run_path(str(SERVER))["Handler"]
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.01], daemon=True)
        self._thread.start()
        self._environment = MonkeyPatch()
        for name, value in environment.items():
            self._environment.setenv(name, value.replace("URL", f"http://127.0.0.1:{self._server.server_port}"))

    def close(self) -> None:
        """Stop serving, and leave the environment as it was."""
        self._environment.undo()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
