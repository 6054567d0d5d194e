"""A source and an encoder in, a response out; and the same for a turn that is running or kept.

Rule: nothing of a source is awaited before the response has begun, a client that leaves is noticed at once, whatever
the server says that it can do, and no response ends without telling an end.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import anyio
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from jsontide._check import check_choice
from jsontide.encoders import CompactEncoder, Encoder
from jsontide.web._check import check_encoder, check_keep_alive, check_seconds
from jsontide.web._follow import follow
from jsontide.web._memory import MemoryTurns
from jsontide.web._producer import Producer, describe_error
from jsontide.web._sources import Source, check_source, discard
from jsontide.web._turns import TooManyTurnsError, TurnStore, check_run_id, check_store, new_run_id

if TYPE_CHECKING:
    from starlette.background import BackgroundTask
    from starlette.types import Receive, Scope, Send

OnLeave: TypeAlias = Literal["cancel", "continue"]
"""What becomes of a turn whose client leaves."""

_KEEP_ALIVE: Final = 15.0
_NO_CONTENT: Final = 204
_UNAVAILABLE: Final = 503


def stream_response(  # noqa: PLR0913 - options, by name
    source: Source,
    encoder: Encoder[Any],
    *,
    keep_alive: float | None = _KEEP_ALIVE,
    on_leave: OnLeave = "cancel",
    store: TurnStore | None = None,
    run_id: str | None = None,
    min_interval: float = 0.0,
    describe_error: Callable[[Exception], str] = describe_error,
    status_code: int = 200,
    headers: Mapping[str, str] | None = None,
    background: BackgroundTask | None = None,
) -> TurnResponse:
    """Return a response that tells what grows in a source, in the protocol of an encoder.

    `source` is an asynchronous iterable of messages, such as `astream_message(...)`, or of parser states, such as
    `astates(...)`; or a function or coroutine that gives one, which runs when the response has begun.
    `keep_alive` is after how many seconds of silence something is sent that means nothing; `None` for never.
    `on_leave="cancel"` cancels and closes the source when the client leaves; with `"continue"` the turn goes on, and
    `resume_response` joins it again, from `store`, by `run_id`, which is made up unless you pass one.
    `min_interval` joins what comes within so many seconds.
    `describe_error` says what the client is told of an exception of the source; by default only what is wrong with
    JSON, and the rest is logged.
    """
    check_source(source)
    check_choice("on_leave", on_leave, ("cancel", "continue"))
    if on_leave == "continue" and store is None:
        raise ValueError("on_leave='continue' needs a store, such as MemoryTurns(), to join the turn again")
    if not callable(describe_error):
        message = f"describe_error must be callable, not {type(describe_error).__name__}"
        raise TypeError(message)
    check_reading(encoder, keep_alive, min_interval)
    run_id = _choose_run_id(encoder, run_id)
    headers = dict(headers or {})
    if store is not None:
        encoder = _with_run_id(encoder, run_id)
        headers["x-run-id"] = run_id
    turns = MemoryTurns(max_age=None, max_turns=1) if store is None else check_store(store)
    return TurnResponse(
        follow(turns, run_id, encoder, keep_alive, min_interval),
        encoder,
        run_id,
        beginning=_Beginning(source, Producer(source, turns, run_id, describe_error), on_leave),
        status_code=status_code,
        headers=headers,
        background=background,
    )


async def resume_response(  # noqa: PLR0913 - options, by name
    store: TurnStore,
    run_id: str | None,
    encoder: Encoder[Any],
    *,
    finished: Literal["replay", "nothing"] = "replay",
    keep_alive: float | None = _KEEP_ALIVE,
    min_interval: float = 0.0,
    headers: Mapping[str, str] | None = None,
    background: BackgroundTask | None = None,
) -> Response:
    """Return a response that joins a turn: all that there is of it, then what follows; 204 if there is none to join.

    `run_id` may be what a browser sends as `Last-Event-ID`, or nothing.
    A turn that is over is told whole while the store keeps it, unless `finished="nothing"`.
    """
    check_store(store)
    check_choice("finished", finished, ("replay", "nothing"))
    check_reading(encoder, keep_alive, min_interval)
    state = await store.read(run_id, -1, 0) if run_id else None
    if not run_id or state is None or (state.is_over and finished == "nothing"):
        return Response(None, _NO_CONTENT, {"cache-control": "no-store"}, background=background)
    encoder = _with_run_id(encoder, run_id)
    chunks = follow(store, run_id, encoder, keep_alive, min_interval)
    headers = {**(headers or {}), "x-run-id": run_id}
    return TurnResponse(chunks, encoder, run_id, headers=headers, background=background)


def check_reading(encoder: object, keep_alive: object, min_interval: object) -> None:
    """Check what both kinds of responses take."""
    check_encoder(encoder)
    check_keep_alive(keep_alive)
    check_seconds("min_interval", min_interval, least=0)


def _choose_run_id(encoder: Encoder[Any], run_id: str | None) -> str:
    named = encoder.run_id if isinstance(encoder, CompactEncoder) else None
    if run_id is None:
        return new_run_id() if named is None else check_run_id(named)
    if named not in {None, run_id}:
        message = f"run_id is {run_id!r}, but that of the encoder is {named!r}"
        raise ValueError(message)
    return check_run_id(run_id)


def _with_run_id(encoder: Encoder[Any], run_id: str) -> Encoder[Any]:
    """Return an encoder that tells the name of the turn, where its protocol has a place for it."""
    if type(encoder) is CompactEncoder and encoder.run_id != run_id:
        return CompactEncoder(form=encoder.form, arguments=encoder.arguments, run_id=run_id)
    return encoder


class _Beginning:
    """How a response begins its turn, and what it does when its client leaves."""

    def __init__(self, source: Source, producer: Producer, on_leave: OnLeave) -> None:
        self.source: Final = source
        self.producer: Final = producer
        self.on_leave: Final = on_leave

    def leave(self) -> None:
        if self.on_leave == "cancel":
            self.producer.stop()  # nothing, if it is over


class TurnResponse(StreamingResponse):
    """A response that tells a turn while it grows; made by `stream_response` and `resume_response`."""

    def __init__(  # noqa: PLR0913 - as those of Starlette's responses
        self,
        chunks: AsyncGenerator[bytes],
        encoder: Encoder[Any],
        run_id: str,
        *,
        beginning: _Beginning | None = None,
        status_code: int = 200,
        headers: Mapping[str, str] | None = None,
        background: BackgroundTask | None = None,
    ) -> None:
        media_type = encoder.media_type
        told = {**encoder.headers, **(headers or {})}
        if media_type != "text/event-stream":
            # Middleware that compresses leaves out event streams by their type, others by this: it would hold back.
            told.setdefault("content-encoding", "identity")
        super().__init__(chunks, status_code, told, media_type, background)
        self.run_id: Final = run_id
        """Names the turn, for `resume_response` and `stop`."""
        self._chunks: Final = chunks
        self._beginning: Final = beginning

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") == "HEAD":
            await self._send_head(send)
        elif await self._begin(scope, receive, send):
            try:
                await self._serve(receive, send)
            finally:
                if self._beginning is not None:
                    self._beginning.leave()
        if self.background is not None:
            await self.background()

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Begin the turn; return whether there is one to tell of."""
        if self._beginning is None:
            return True
        try:
            await self._beginning.producer.start()
        except TooManyTurnsError as error:
            await discard(self._beginning.source)
            full = PlainTextResponse(str(error), _UNAVAILABLE, {"retry-after": "1"})
            await full(scope, receive, send)
            return False
        except Exception:
            await discard(self._beginning.source)
            raise
        return True

    async def _serve(self, receive: Receive, send: Send) -> None:
        """Send until the end, or until the client has left."""
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:

            async def listen() -> None:
                await self.listen_for_disconnect(receive)
                tasks.cancel_scope.cancel()

            tasks.start_soon(listen)
            try:
                await self.stream_response(send)
            except OSError:  # what a server may raise when the client has left
                pass
            except Exception as error:  # noqa: BLE001 - raised below: the group would wrap it
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self._chunks):
            await super().stream_response(send)

    async def _send_head(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": b""})
        if self._beginning is not None:
            await discard(self._beginning.source)
