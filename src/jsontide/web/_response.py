"""A source and an encoder in, a response out; and the same for a turn that is running or kept.

Rule: nothing of a source is awaited before the response has begun, a client that leaves is noticed at once, whatever
the server says that it can do, and every response sends an end.

Of a reader only its last state is kept, so a slow one skips to the newest state; and the last thing that it gets is
the end.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast, get_args

import anyio
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.status import (
    HTTP_204_NO_CONTENT,
    HTTP_503_SERVICE_UNAVAILABLE,
)

from jsontide._check import check_choice, check_seconds
from jsontide.frontends import DescribeError, Encoder
from jsontide.frontends import describe_error as describe_by_default
from jsontide.frontends.base import SERVER_FAILED, BaseEncoder, NamesRun, check_describe
from jsontide.web._producer import Producer, TurnSource, check_source, discard
from jsontide.web._turns import (
    MemoryTurns,
    StoreUnavailableError,
    TooManyTurnsError,
    TurnState,
    TurnStore,
    check_run_id,
    check_store,
    check_thread,
    describe_type,
    new_run_id,
)

if TYPE_CHECKING:
    from starlette.background import BackgroundTask
    from starlette.types import Receive, Scope, Send

_LOG: Final = logging.getLogger("jsontide.web")
_State = TypeVar("_State")


async def follow(
    store: TurnStore, run_id: str, encoder: Encoder[Any], keep_alive: float | None, min_interval: float
) -> AsyncGenerator[bytes]:
    """Yield the bytes of a turn, from the first state in the store to its end."""
    sent, first = encoder.begin()
    yield first or encoder.keep_alive  # at once: proxies and browsers wait for the first byte
    seen, sent_at, is_over = -1, time.monotonic(), False
    while not is_over:
        left = None if keep_alive is None else max(0.0, sent_at + keep_alive - time.monotonic())
        state = await store.read(run_id, seen, left)
        is_new = state is None or state.version != seen
        new = encoder.keep_alive
        if is_new:
            sent, new, failure = _encode(encoder, sent, state)
            if failure is not None:
                is_over = True
                sent, end = encoder.fail(sent, failure)  # nothing, if the end was sent
                new += end
        seen = -1 if state is None else state.version
        if new:
            yield new
            sent_at = time.monotonic()
            if not is_over and is_new and min_interval:
                await asyncio.sleep(min_interval)


def _encode(encoder: Encoder[_State], sent: _State, turn: TurnState | None) -> tuple[_State, bytes, str | None]:
    """Return the state of the encoder, the new bytes, and why the turn has ended, if it has."""
    if turn is None:
        return sent, b"", "the turn is not kept any more"
    new = b""
    if turn.growing is not None:
        try:
            sent, new = encoder.encode(sent, turn.growing)
        except Exception:  # noqa: BLE001 - whatever it is, the reader gets an end
            _LOG.exception("%s failed", type(encoder).__name__)
            return sent, b"", SERVER_FAILED
    return sent, new, (turn.failure or SERVER_FAILED) if turn.is_over else None


OnLeave: TypeAlias = Literal["cancel", "continue"]
"""What happens to a turn whose client leaves."""

_STEPS: Final = ("begin", "encode", "fail")
"""The methods of every encoder; see `Encoder`."""
_KEEP_ALIVE: Final = 15.0


def stream_response(  # noqa: PLR0913 - options, by name
    source: TurnSource,
    encoder: Encoder[Any],
    *,
    keep_alive: float | None = _KEEP_ALIVE,
    on_leave: OnLeave = "cancel",
    store: TurnStore | None = None,
    run_id: str | None = None,
    thread: str | None = None,
    min_interval: float = 0.0,
    describe_error: DescribeError | None = None,
    status_code: int = 200,
    headers: Mapping[str, str] | None = None,
    background: BackgroundTask | None = None,
) -> TurnResponse:
    """Return a response that sends a source while it grows, in the protocol of an encoder.

    `source` is an asynchronous iterable of messages, such as `astream_message(...)`, of runs, such as
    `arun_agent(...)`, or of parser states, such as `astates(...)`; or a function or coroutine that gives one, which
    runs when the response has begun.
    After `keep_alive` seconds of silence, bytes without a meaning are sent; `None` for never.
    `on_leave="cancel"` cancels and closes the source when the client leaves; with `"continue"` the turn goes on, and
    `resume_response` joins it again, from `store`, by `run_id`, which is random unless you pass one, or as the newest
    turn of `thread`, such as the id of a chat.
    `min_interval` joins all changes within this many seconds.
    `describe_error` describes exceptions of the source and errors in a message, in place of the encoder's own rule;
    by default a client only learns of errors in JSON, and the rest is logged.
    """
    check_source(source)
    check_choice("on_leave", on_leave, get_args(OnLeave))
    if on_leave == "continue" and store is None:
        raise ValueError("on_leave='continue' needs a store, such as MemoryTurns(), to join the turn again")
    if thread is not None:
        check_thread(thread)
        if store is None:
            raise ValueError("thread needs a store, such as MemoryTurns(), to join the turn again")
    check_reading(encoder, keep_alive, min_interval)
    encoder, describe = _with_rule(encoder, describe_error)
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
        beginning=_Beginning(source, Producer(source, turns, run_id, describe, thread), on_leave),
        status_code=status_code,
        headers=headers,
        background=background,
    )


async def resume_response(  # noqa: PLR0913 - options, by name
    store: TurnStore,
    run_id: str | None = None,
    encoder: Encoder[Any] | None = None,
    *,
    thread: str | None = None,
    finished: Literal["replay", "nothing"] = "replay",
    keep_alive: float | None = _KEEP_ALIVE,
    min_interval: float = 0.0,
    describe_error: DescribeError | None = None,
    headers: Mapping[str, str] | None = None,
    background: BackgroundTask | None = None,
) -> Response:
    """Return a response that joins a turn: all of it so far, then the rest; 204 if there is no such turn.

    `run_id` may be the `Last-Event-ID` of a browser, or nothing; then the newest turn of `thread` is joined.
    A turn that is over is sent whole while the store keeps it, unless `finished="nothing"`.
    `describe_error` describes errors in a message, in place of the encoder's own rule.
    """
    check_store(store)
    check_choice("finished", finished, ("replay", "nothing"))
    check_reading(encoder, keep_alive, min_interval)
    encoder, _ = _with_rule(cast("Encoder[Any]", encoder), describe_error)
    try:
        if not run_id and thread is not None:
            run_id = await store.name(check_thread(thread))
        state = await store.read(run_id, -1, 0) if run_id else None
    except StoreUnavailableError as error:
        return _busy(error, background)
    if not run_id or state is None or (state.is_over and finished == "nothing"):
        return Response(None, HTTP_204_NO_CONTENT, {"cache-control": "no-store"}, background=background)
    encoder = _with_run_id(encoder, run_id)
    chunks = follow(store, run_id, encoder, keep_alive, min_interval)
    headers = {**(headers or {}), "x-run-id": run_id}
    return TurnResponse(chunks, encoder, run_id, headers=headers, background=background)


def _busy(error: Exception, background: BackgroundTask | None = None) -> Response:
    headers = {"retry-after": "1", "cache-control": "no-store"}
    return PlainTextResponse(str(error), HTTP_503_SERVICE_UNAVAILABLE, headers, background=background)


def check_reading(encoder: object, keep_alive: object, min_interval: object) -> None:
    """Refuse wrong arguments of both kinds of responses."""
    if isinstance(encoder, type) or not all(callable(getattr(encoder, name, None)) for name in _STEPS):
        message = f"encoder must be an encoder, such as CompactEncoder(), not {describe_type(encoder)}"
        raise TypeError(message)
    if keep_alive is not None:
        check_seconds("keep_alive", keep_alive, least=0.01)
    check_seconds("min_interval", min_interval)


def _choose_run_id(encoder: Encoder[Any], run_id: str | None) -> str:
    named = encoder.run_id if isinstance(encoder, NamesRun) else None
    if run_id is None:
        return new_run_id() if named is None else check_run_id(named)
    if named not in {None, run_id}:
        message = f"run_id is {run_id!r}, but that of the encoder is {named!r}"
        raise ValueError(message)
    return check_run_id(run_id)


def _with_run_id(encoder: Encoder[Any], run_id: str) -> Encoder[Any]:
    """Return an encoder that sends the name of the turn, where its protocol carries one."""
    return encoder.with_run_id(run_id) if isinstance(encoder, NamesRun) else encoder


def _with_rule(encoder: Encoder[Any], describe: DescribeError | None) -> tuple[Encoder[Any], DescribeError]:
    """Return an encoder that describes errors by a rule, and the rule: without one, the encoder's own."""
    if describe is not None:
        check_describe(describe)
    if isinstance(encoder, BaseEncoder):
        encoder = encoder if describe is None else encoder.with_describe_error(describe)
        return encoder, encoder.describe_error
    return encoder, describe or describe_by_default


@dataclass(frozen=True, slots=True)
class _Beginning:
    """How a response begins its turn, and what it does when its client leaves."""

    source: TurnSource
    producer: Producer
    on_leave: OnLeave


class TurnResponse(StreamingResponse):
    """A response that sends a turn while it grows; made by `stream_response` and `resume_response`."""

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
        sent = {**encoder.headers, **(headers or {})}
        if media_type != "text/event-stream":
            # Middleware that compresses leaves out event streams by their type, others by this: it would hold back.
            sent.setdefault("content-encoding", "identity")
        super().__init__(chunks, status_code, sent, media_type, background)
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
                if self._beginning is not None and self._beginning.on_leave == "cancel":
                    self._beginning.producer.stop()  # nothing, if it is over
        if self.background is not None:
            await self.background()

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Begin the turn; return whether there is one to send."""
        if self._beginning is None:
            return True
        try:
            await self._beginning.producer.start()
        except (TooManyTurnsError, StoreUnavailableError) as error:
            await discard(self._beginning.source)
            await _busy(error)(scope, receive, send)
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
            except OSError:  # some servers raise it when the client has left
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
