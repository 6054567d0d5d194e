"""Requests in; those that may see the studio pass, all others get 403.

A request must name this machine as its host, which a page that was rebound by DNS cannot do, and show the token, which
only the address that the studio printed has. The assets of the page are no secret and need no token.
"""

from __future__ import annotations

from secrets import compare_digest
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ASSETS: Final = "/static/"
TOKEN_HEADER: Final = "x-studio-token"  # noqa: S105 - the name of a header
_HOSTS: Final = frozenset({"127.0.0.1", "localhost"})
_HEADERS: Final = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
_FORBIDDEN: Final = 403


class Guard:
    """Refuses what does not come from this machine or has no token, and limits what the page may do."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app: Final = app
        self._token: Final = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        problem = self._find_problem(HTTPConnection(scope))
        app = self._app if problem is None else PlainTextResponse(f"{problem}\n", _FORBIDDEN)
        await app(scope, receive, send_with_headers)

    def _find_problem(self, request: HTTPConnection) -> str | None:
        if not _is_here(request.headers.get("host", "")):
            return "this studio is for its own machine only: open it as 127.0.0.1"
        if request.url.path.startswith(ASSETS):
            return None
        shown = request.query_params.get("token") or request.headers.get(TOKEN_HEADER, "")
        if not compare_digest(shown.encode(), self._token.encode()):
            return "the token is missing or wrong: open the address that the studio printed"
        return None


def _is_here(host: str) -> bool:
    try:
        return urlsplit(f"//{host}").hostname in _HOSTS
    except ValueError:
        return False
