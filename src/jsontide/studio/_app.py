"""The server of the studio: requests of the page in, views of sessions out.

    GET  /                  the page
    GET  /follow            the sessions and the lanes of one, while they grow, as server-sent events
    GET  /moment            one moment of a session; by number, or by time
    GET  /node              when each part of a value arrived
    GET  /chunks /schema    the chunks that a moment turns back into; its value through a schema
    GET  /recording         the session as a recording, to keep
    POST /sessions          a recording, as it was dropped onto the page
    POST /paste             a text and where it is cut
    POST /reading           the same session, read with mending or a schema
    POST /listen            a stream, shown while it is posted (PUT too, as `curl -T -` does)

Everything needs the token; see `Guard`.

Growing values are sent as server-sent events for `jsontide.js`, a few times a second. Parts that did not change are
not sent, so that they stay the same objects in the page.
"""

from __future__ import annotations

import json
import pathlib
import re
import socket
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from secrets import compare_digest, token_urlsafe
from typing import Any, Final, NoReturn, cast

import anyio
import uvicorn
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.status import (
    HTTP_201_CREATED,
    HTTP_400_BAD_REQUEST,
    HTTP_403_FORBIDDEN,
    HTTP_404_NOT_FOUND,
    HTTP_409_CONFLICT,
    HTTP_413_CONTENT_TOO_LARGE,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jsontide._path import Path
from jsontide._values import MISSING, JsonValue
from jsontide.frontends import Change, CompactEncoder, CompactWriter, SetValue, write_json
from jsontide.frontends.base import sse
from jsontide.recordings import Piece, Recording, RecordingProxy
from jsontide.schema import UnsupportedSchemaError, from_json_ast
from jsontide.studio._history import Unfolded
from jsontide.studio._sessions import ReadOptions, Session, Studio, TooLargeError, describe_limit
from jsontide.studio._views import view_chunks, view_moment, view_node, view_schema
from jsontide.tree import create_parser_state
from jsontide.web import client_route

ASSETS: Final = "/static/"
TOKEN_HEADER: Final = "x-studio-token"  # noqa: S105 - the name of a header
_HERE: Final = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]{1,5})?", re.IGNORECASE)
"""A name of this machine, with or without a port; a tunnel to the studio may begin at another port than its own."""
_HEADERS: Final = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


class Guard:
    """Refuses requests that do not come from this machine or have no token, and limits what the page may do."""

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
        app = self._app if problem is None else PlainTextResponse(f"{problem}\n", HTTP_403_FORBIDDEN)
        await app(scope, receive, send_with_headers)

    def _find_problem(self, request: HTTPConnection) -> str | None:
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not _HERE.fullmatch(hosts[0]):
            return "this studio is for its own machine only: open it as 127.0.0.1"
        if request.scope["path"].startswith(ASSETS):
            return None
        shown = request.query_params.get("token") or request.headers.get(TOKEN_HEADER, "")
        if not compare_digest(shown.encode(), self._token.encode()):
            return "the token is missing or wrong: open the address that the studio printed"
        return None


def refuse(problem: str, status: int = HTTP_400_BAD_REQUEST) -> NoReturn:
    raise HTTPException(status, problem)


def find_session(studio: Studio, session_id: object) -> Session:
    session = studio.sessions.get(session_id) if isinstance(session_id, str) else None
    if session is None:
        refuse("there is no such session; it may have made room for newer ones", HTTP_404_NOT_FOUND)
    return session


def find_number(request: Request, session: Session) -> int:
    """Return which moment is asked for, by `n` or by `at`; one after the end is the last."""
    at = request.query_params.get("at")
    if at is not None:
        try:
            return session.find(float(at))
        except ValueError:
            refuse("at must be a number of seconds")
    number = read_number(request, "n")
    return session.count if number is None else min(number, session.count)


def read_number(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 12):  # noqa: PLR2004 - no moment has more digits
        refuse(f"{name} must be the number of a moment")
    return int(text)


def read_path(request: Request) -> Path:
    return check_path(_parse(request.query_params.get("path", "[]"), "path"))


def read_unfolded(request: Request) -> Unfolded:
    """Return the paths that the reader opened and closed: `[[path, first item or null], ...]`."""
    given = _parse(request.query_params.get("unfolded", "[]"), "unfolded")
    unfolded: dict[Path, int | None] = {}
    for each in given if isinstance(given, list) else [given]:
        match each:
            case [path, None | int() as first] if not isinstance(first, bool):
                unfolded[check_path(path)] = first
            case _:
                refuse("unfolded must be pairs of a path and a number or null")
    return unfolded


def check_path(value: object) -> Path:
    if not isinstance(value, list) or not all(isinstance(each, str) or type(each) is int for each in value):
        refuse("a path must be an array of keys and indices")
    return tuple(value)


async def read_body(request: Request, limit: int) -> bytes:
    """Return a body, unless it is too large: then nothing more of it is read."""
    length = request.headers.get("content-length", "")
    data = bytearray()
    if not (length.isdecimal() and int(length) > limit):
        async for chunk in request.stream():
            data += chunk
            if len(data) > limit:
                break
        else:
            return bytes(data)
    refuse(describe_limit(limit), HTTP_413_CONTENT_TOO_LARGE)


async def read_json(request: Request, limit: int) -> dict[str, Any]:
    value = _parse(await read_body(request, limit), "the body")
    if not isinstance(value, dict):
        refuse("the body must be an object")
    return value


def read_pieces(given: dict[str, Any]) -> tuple[Piece, ...]:
    """Return the pieces of a pasted text, some time apart from each other."""
    texts, interval = given.get("pieces"), given.get("interval", 0.05)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        refuse("pieces must be an array of texts")
    if not isinstance(interval, int | float) or not 0 <= interval <= 60:  # noqa: PLR2004 - a minute
        refuse("interval must be from 0 to 60 seconds")
    try:
        return tuple(Piece(interval * number, text.encode()) for number, text in enumerate(texts, 1) if text)
    except UnicodeEncodeError:
        refuse("a piece has half a character: cut before or after it")


def _parse(text: str | bytes, name: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        refuse(f"{name} must be JSON")


def find_changes(before: object, after: object) -> list[Change]:
    """Return the changes from one summary, `MISSING` before the first, to the next.

    >>> find_changes({"count": 1, "lanes": [1]}, {"count": 2, "lanes": [1, 5]})
    [SetValue(('count',), 2), SetValue(('lanes', 1), 5)]
    """
    if before is MISSING:
        return [SetValue((), cast("JsonValue", after), ())]
    return [*_differences(before, after, ())]


def _differences(before: object, after: object, path: Path) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() <= after.keys():
        for key, value in after.items():
            yield from _differences(before.get(key, MISSING), value, (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) <= len(after):
        for place, value in enumerate(after):
            old = before[place] if place < len(before) else MISSING
            yield from _differences(old, value, (*path, place))
    elif before != after:
        yield SetValue(path, cast("JsonValue", after))


_INTERVAL: Final = 0.1
_KEEP_ALIVE: Final = 15.0


async def follow(studio: Studio, session_id: str | None) -> AsyncIterator[bytes]:
    """Yield the whole value, then each change of it, until the reader leaves."""
    writer, quiet_since = CompactWriter(), time.monotonic()
    before: object = MISSING
    known: object = None
    while True:
        version = [(each.id, each.count, each.state) for each in studio.list()]
        if version != known:
            known = version
            now: Any = await run_sync(summarize, studio, session_id)
            writer, events = writer.write(find_changes(before, now))
            before = now
            yield sse(*events)
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since > _KEEP_ALIVE:
            yield b":\n\n"
            quiet_since = time.monotonic()
        await anyio.sleep(_INTERVAL)


def summarize(studio: Studio, session_id: str | None) -> dict[str, Any]:
    """Return a summary of all sessions, and one of them in more detail."""
    session = studio.sessions.get(session_id or "")
    sessions = [each.summary() for each in studio.list()]
    value: dict[str, Any] = {"listens": studio.listens, "proxy": studio.proxy, "sessions": sessions}
    value |= {"lanes": [], "pulse": []}
    if session is not None:
        with session.lock:
            value |= {"lanes": session.lanes(), "pulse": session.pulse()}
    return value


MAX_BYTES: Final = 64_000_000
_STATIC: Final = pathlib.Path(__file__).parent / "static"


def create_app(
    path: pathlib.Path | None = None, *, token: str | None = None, listen: bool = False, max_bytes: int = MAX_BYTES
) -> Starlette:
    """Return the studio as an application, with a recording that it begins to load at once.

    `token` is random unless you pass one; `app.state.token` has it.
    With `listen`, streams that are posted to `/listen` are shown while they come.
    `max_bytes` limits each recording and stream.
    """
    if token is not None and not token:
        message = "token must not be empty: without one, every page in the browser could see the studio"
        raise ValueError(message)
    studio = Studio(max_bytes=max_bytes)
    token = token_urlsafe(24) if token is None else token
    studio.listens = listen
    handlers = _Handlers(studio)
    app = Starlette(
        routes=[
            Route("/", handlers.show_page),
            Route("/follow", handlers.follow),
            Route("/moment", handlers.view_moment),
            Route("/node", handlers.view_node),
            Route("/chunks", partial(handlers.view, view_chunks)),
            Route("/schema", partial(handlers.view, view_schema)),
            Route("/recording", handlers.save),
            Route("/sessions", handlers.upload, methods=["POST"]),
            Route("/paste", handlers.paste, methods=["POST"]),
            Route("/reading", handlers.read_again, methods=["POST"]),
            Route("/listen", handlers.listen, methods=["POST", "PUT"]),
            client_route(f"{ASSETS}jsontide.js"),
            Mount(ASSETS, StaticFiles(directory=_STATIC)),
        ],
        middleware=[Middleware(Guard, token=token)],
        exception_handlers={HTTPException: _describe_refusal},
    )
    app.state.studio = studio
    app.state.token = token
    if path is not None:
        studio.open_file(path)
    return app


class _Handlers:
    """A method for each kind of request."""

    def __init__(self, studio: Studio) -> None:
        self._studio: Final = studio

    def show_page(self, _: Request) -> Response:
        return FileResponse(_STATIC / "index.html")

    async def follow(self, request: Request) -> Response:
        values = follow(self._studio, request.query_params.get("session"))
        return StreamingResponse(values, headers=CompactEncoder.headers, media_type=CompactEncoder.media_type)

    def view_moment(self, request: Request) -> Response:
        session = self._find_session(request)
        compared, unfolded = read_number(request, "compare"), read_unfolded(request)
        with session.lock:
            number = find_number(request, session)
            earlier = None if compared is None else min(compared, session.count)
            return _json(view_moment(session, number, earlier, unfolded))

    def view_node(self, request: Request) -> Response:
        session, path = self._find_session(request), read_path(request)
        with session.lock:
            found = view_node(session, find_number(request, session), path)
        if found is None:
            refuse("there is nothing at this path at this moment", HTTP_404_NOT_FOUND)
        return _json(found)

    def view(self, view: Callable[[Session, int], object], request: Request) -> Response:
        session = self._find_session(request)
        with session.lock:
            return _json(view(session, find_number(request, session)))

    def save(self, request: Request) -> Response:
        session = self._find_session(request)
        with session.lock:
            data = session.to_recording().dumps()
        headers = {"content-disposition": f'attachment; filename="{session.id}.ndjson"'}
        return Response(data, media_type="application/x-ndjson", headers=headers)

    async def upload(self, request: Request) -> Response:
        data = await read_body(request, self._studio.max_bytes)
        return _created(self._studio.open_upload(request.query_params.get("name") or "dropped", data))

    async def paste(self, request: Request) -> Response:
        given = await read_json(request, self._studio.max_bytes)
        options = ReadOptions(mend=given.get("mend") is True)
        recording = Recording(read_pieces(given), end="over")
        return _created(self._studio.open_recording("pasted text", recording, options))

    async def read_again(self, request: Request) -> Response:
        given = await read_json(request, self._studio.max_bytes)
        session = find_session(self._studio, given.get("session"))
        if session.state != "over":
            refuse("the stream must be over before it can be read in another way", HTTP_409_CONFLICT)
        schema = await run_sync(_check_schema, given.get("schema"))
        options = ReadOptions(given.get("mend") is True, schema, session.moments[-1].kind in {"message", "run"})
        return _created(self._studio.read_again(session, options))

    async def listen(self, request: Request) -> Response:
        """Show a posted stream while it comes, and how it ended."""
        if not self._studio.listens:
            refuse("this studio does not listen; start it with --listen", HTTP_404_NOT_FOUND)
        live = self._studio.start_live(request.query_params.get("name") or "posted")
        try:
            async for data in request.stream():
                await run_sync(live.write, data)
        except ClientDisconnect:
            live.finish("lost", "the sender left before the end")
            return Response(status_code=HTTP_201_CREATED)
        except TooLargeError as error:
            refuse(str(error), HTTP_413_CONTENT_TOO_LARGE)
        else:
            live.finish()
        finally:
            live.finish("lost", "the stream could not be read")  # unless it has ended
        return PlainTextResponse(
            f"bytes: {len(live.session.raw)}, pieces: {len(live.session.pieces)}\n", HTTP_201_CREATED
        )

    def _find_session(self, request: Request) -> Session:
        return find_session(self._studio, request.query_params.get("session"))


def _check_schema(schema: Any) -> dict[str, Any] | None:  # noqa: ANN401 - JSON
    """Return a JSON Schema that can be used, `None` for none."""
    if schema is None:
        return None
    if not isinstance(schema, dict):
        refuse("a schema must be an object")
    try:
        from_json_ast(schema, create_parser_state())
    except UnsupportedSchemaError as error:
        refuse(f"this schema cannot be used: {error}")
    return schema


def _created(session: Session) -> Response:
    return _json({"session": session.id}, HTTP_201_CREATED)


def _json(value: object, status: int = 200) -> Response:
    return Response(write_json(value), status, media_type="application/json")


async def _describe_refusal(_: Request, error: Exception) -> Response:
    refusal = cast("HTTPException", error)
    return _json({"error": refusal.detail}, refusal.status_code)


_HOST: Final = "127.0.0.1"


def serve(
    path: pathlib.Path | None = None,
    *,
    port: int = 0,
    listen: bool = False,
    proxy: str | None = None,
    open_browser: bool = True,
) -> None:
    """Serve the studio until it is interrupted, on 127.0.0.1 only; print its address, which has its token.

    `path` is a recording to open, which raises `RecordingError` if it cannot be read; `port` is where to serve, 0 for
    any port that is free.
    With `listen`, streams that are posted to `/listen` are shown while they come.
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
        bound.listen()  # who opens the address at once waits for an answer, and is not refused
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
