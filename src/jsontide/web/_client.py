"""The client for browsers, `jsontide.js`: where it lies, and a route that serves it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from starlette.responses import FileResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

_FILE: Final = Path(__file__).parent / "static" / "jsontide.js"


def client_file() -> Path:
    """Return where `jsontide.js` lies: one ES module without dependencies, to be served or bundled."""
    return _FILE


def client_route(path: str = "/jsontide.js") -> Route:
    """Return a route that serves `jsontide.js`.

    For FastAPI, append it to `app.router.routes`.
    """
    return Route(path, _serve, name="jsontide.js")


async def _serve(_: Request) -> FileResponse:
    return FileResponse(client_file(), media_type="text/javascript")
