"""A server on loopback for the real clients; it needs starlette and uvicorn."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def serving(answer: Callable[[Any], Any], *paths: str) -> Iterator[str]:
    """Serve what a function answers to requests of some paths; give the address."""
    import uvicorn  # noqa: PLC0415 - tests without them are skipped before
    from starlette.applications import Starlette  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    application = Starlette(routes=[Route(path, answer, methods=["POST"]) for path in paths])
    config = uvicorn.Config(application, port=0, log_level="critical", ws="none", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.002)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=60)
        assert not thread.is_alive()
