"""The server of the studio: requests of the page in, views of sessions out.

    GET  /                  the page
    GET  /follow            what grows, as server-sent events: the sessions, the lanes of one
    GET  /moment            one moment of a session; by number, or by time
    GET  /node              when each part of a value arrived
    GET  /chunks /schema    what a moment turns back into; what a schema shows of it
    GET  /recording         the session as a recording, to keep
    POST /sessions          a recording, as it was dropped onto the page
    POST /paste             a text and where it is cut
    POST /reading           the same session, read with mending or a schema
    POST /listen            a stream, shown while it is posted (PUT too, as `curl -T -` does)

Everything needs the token; see `_guard`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, Final

from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from jsontide.encoders import CompactEncoder
from jsontide.recordings import Recording
from jsontide.schema import UnsupportedSchemaError, from_json_ast
from jsontide.studio._follow import follow
from jsontide.studio._guard import ASSETS, Guard
from jsontide.studio._requests import (
    find_number,
    find_session,
    read_body,
    read_json,
    read_number,
    read_path,
    read_pieces,
    read_unfolded,
    refuse,
)
from jsontide.studio._schema_view import view_schema
from jsontide.studio._session import Reading, Session
from jsontide.studio._snapshot_view import view_chunks
from jsontide.studio._studio import Studio, TooLargeError
from jsontide.studio._views import view_moment, view_node
from jsontide.tree import create_parser_state
from jsontide.web import client_route

MAX_BYTES: Final = 64_000_000
_STATIC: Final = Path(__file__).parent / "static"
_CREATED: Final = 201
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_TOO_LARGE: Final = 413


def create_app(
    path: Path | None = None, *, token: str | None = None, listen: bool = False, max_bytes: int = MAX_BYTES
) -> Starlette:
    """Return the studio as an application, with a recording that it begins to load at once.

    `token` is made up unless you pass one; `app.state.token` has it.
    With `listen`, streams that are posted to `/listen` are shown while they come.
    `max_bytes` is the most that is taken of one recording or stream.
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
            Route("/chunks", handlers.view_chunks),
            Route("/schema", handlers.view_schema),
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
    """What each request does."""

    def __init__(self, studio: Studio) -> None:
        self._studio: Final = studio

    def show_page(self, _: Request) -> Response:
        return FileResponse(_STATIC / "index.html")

    async def follow(self, request: Request) -> Response:
        encoder = CompactEncoder()
        values = follow(self._studio, request.query_params.get("session"))
        return StreamingResponse(values, headers=dict(encoder.headers), media_type=encoder.media_type)

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
            refuse("there is nothing at this path at this moment", _NOT_FOUND)
        return _json(found)

    def view_chunks(self, request: Request) -> Response:
        return self._view(request, view_chunks)

    def view_schema(self, request: Request) -> Response:
        return self._view(request, view_schema)

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
        reading = Reading(mend=given.get("mend") is True)
        recording = Recording(read_pieces(given), end="over")
        return _created(self._studio.open_recording("pasted text", recording, reading))

    async def read_again(self, request: Request) -> Response:
        given = await read_json(request, self._studio.max_bytes)
        session = find_session(self._studio, given.get("session"))
        if session.state != "over":
            refuse("the stream must be over before it can be read in another way", _CONFLICT)
        schema = await run_sync(_check_schema, given.get("schema"))
        reading = Reading(given.get("mend") is True, schema, session.moments[-1].kind == "message")
        return _created(self._studio.read_again(session, reading))

    async def listen(self, request: Request) -> Response:
        """Show what is posted while it comes, and how it ended."""
        if not self._studio.listens:
            refuse("this studio does not listen; start it with --listen", _NOT_FOUND)
        live = self._studio.start_live(request.query_params.get("name") or "posted")
        try:
            async for data in request.stream():
                await run_sync(live.write, data)
        except ClientDisconnect:
            live.finish("lost", "the sender left before the end")
            return Response(status_code=_CREATED)
        except TooLargeError as error:
            refuse(str(error), _TOO_LARGE)
        else:
            live.finish()
        finally:
            live.finish("lost", "the stream could not be read")  # unless it has ended
        return PlainTextResponse(f"bytes: {len(live.session.raw)}, pieces: {len(live.session.pieces)}\n", _CREATED)

    def _find_session(self, request: Request) -> Session:
        return find_session(self._studio, request.query_params.get("session"))

    def _view(self, request: Request, view: Callable[[Session, int], object]) -> Response:
        session = self._find_session(request)
        with session.lock:
            return _json(view(session, find_number(request, session)))


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
    return _json({"session": session.id}, _CREATED)


def _json(value: object, status: int = 200) -> Response:
    return Response(json.dumps(value), status, media_type="application/json")  # ASCII: half characters are escaped


async def _describe_refusal(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else ""
    return _json({"error": detail}, status)
