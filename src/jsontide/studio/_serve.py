"""Serves the studio on this machine, says where, and opens it in a browser."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import uvicorn
from starlette.applications import Starlette

from jsontide.recordings import Recording, RecordingProxy
from jsontide.studio._app import create_app
from jsontide.studio._studio import Studio

_HOST: Final = "127.0.0.1"


def serve(
    path: Path | None = None,
    *,
    port: int = 0,
    listen: bool = False,
    proxy: str | None = None,
    open_browser: bool = True,
) -> None:
    """Serve the studio until it is interrupted, on 127.0.0.1 only; print its address, which has its token.

    `path` is a recording to open, which raises `RecordingError` if it cannot be read; `port` is where to serve, 0 for
    any port that is free.
    With `listen`, what is posted to `/listen` is shown while it comes.
    `proxy` is the address of a provider: requests to the proxy that is started are passed on to it, and the streams
    that come back are shown.
    """
    recording = None if path is None else Recording.load(path)
    app = create_app(listen=listen)
    if path is not None and recording is not None:
        app.state.studio.open_recording(path.name, recording)
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with bound:
        bound.bind((_HOST, port))
        origin = f"http://{_HOST}:{bound.getsockname()[1]}"
        address = f"{origin}/?token={app.state.token}"
        print(f"studio: {address}", flush=True)  # noqa: T201 - this is what it is for
        if listen:
            print(f"listening: curl -N ... | curl -T - '{origin}/listen?token={app.state.token}'", flush=True)  # noqa: T201
        with _start_proxy(app, proxy):
            if open_browser:
                webbrowser.open(address)
            config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
            uvicorn.Server(config).run(sockets=[bound])


@contextmanager
def _start_proxy(app: Starlette, target: str | None) -> Iterator[None]:
    """Pass requests on to a provider, if there is one, and show the streams that come back."""
    if target is None:
        yield
        return
    studio: Studio = app.state.studio
    with RecordingProxy(target, studio.open_sink) as running:
        studio.proxy = running.url
        print(f"proxy: {running.url} -> {target}", flush=True)  # noqa: T201
        yield
