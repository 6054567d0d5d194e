"""A source in, its newest state in a store, until the end: the side of a turn that nobody needs to listen to.

Rule: a turn always ends in its store, on every way out: finished, failed, stopped, or left off by its source.

One task opens, reads and closes a source, however it ends, so that a source may use a timeout or anything else that
belongs to its task. Nothing in a cancelled message can be run (law 9).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, TypeAlias, cast

from jsontide._errors import JsontideError
from jsontide.frontends import DescribeError, Streamed, describe_error
from jsontide.frontends.base import SERVER_FAILED
from jsontide.messages import ErrorKind, Message, Outcome
from jsontide.runs.agent import AsyncAgentStream
from jsontide.runs.run import Run, cancel_message, cancel_run
from jsontide.streams import AsyncMessageStream
from jsontide.tree import ParserState
from jsontide.web._turns import TurnState, TurnStore

Items: TypeAlias = AsyncIterable[Message[Any]] | AsyncIterable[Run[Any]] | AsyncIterable[ParserState]
TurnSource: TypeAlias = Items | Awaitable[Items] | Callable[[], Items | Awaitable[Items]]
"""An asynchronous iterable of messages, runs or parser states, an awaitable of one, or a function that returns one."""


def check_source(source: object) -> None:
    """Refuse anything that cannot be a source; the result of a function is checked when it is called."""
    if not isinstance(source, AsyncIterable | Awaitable) and not callable(source):
        raise TypeError(_describe("source", source))


def _describe(name: str, found: object) -> str:
    expected = f"{name} must be an asynchronous iterable of messages, runs or parser states"
    hint = (
        "; a plain one would block the server: use astream_message, arun_agent or astates"
        if isinstance(found, Iterable)
        else ""
    )
    return f"{expected}, not {type(found).__name__}{hint}"


@asynccontextmanager
async def opened(source: TurnSource) -> AsyncGenerator[AsyncIterator[Streamed]]:
    """Open a source to read from; all of it is closed at the end."""
    found: object = source
    if not isinstance(found, AsyncIterable | Awaitable):
        found = cast("Callable[[], object]", found)()
    if isinstance(found, Awaitable):
        found = await found
    if not isinstance(found, AsyncIterable):
        raise TypeError(_describe("the source's result", found))
    async with AsyncExitStack() as last_first:
        last_first.push_async_callback(_close, found)
        items = aiter(found)
        if items is not found:
            last_first.push_async_callback(_close, items)
        yield items


async def discard(source: TurnSource) -> None:
    """Close a source that nobody will read."""
    if isinstance(source, Coroutine):
        source.close()
    else:
        await _close(source)


async def _close(found: object) -> None:
    if isinstance(found, AsyncMessageStream | AsyncAgentStream):
        await found.stop()
        return
    close = getattr(found, "aclose", None)
    if close is not None:
        await close()


STOPPED: Final = "the turn was stopped"
UNFINISHED: Final = "the stream ended before the message did"

_LOG: Final = logging.getLogger("jsontide.web")
_RUNNING: Final[set[asyncio.Task[None]]] = set()
"""Tasks that nothing else refers to; the event loop alone would let them be collected."""


class Producer:
    """Reads a source as a task of its own."""

    def __init__(
        self,
        source: TurnSource,
        store: TurnStore,
        run_id: str,
        describe: DescribeError = describe_error,
        thread: str | None = None,
    ) -> None:
        self._source: Final = source
        self._store: Final = store
        self._run_id: Final = run_id
        self._describe: Final = describe
        self._thread: Final = thread
        self._state = TurnState()
        self._items: AsyncIterator[Streamed] | None = None
        self._task: asyncio.Task[None] | None = None
        self._has_begun = False
        self._is_stopped = False
        self._count = 1
        """How many messages the source has given."""
        self._dropped: Streamed | None = None
        """The newest state of a message after the end of the turn, until a warning names it."""

    async def start(self) -> None:
        """Begin the turn in its store, and read."""
        await self._store.start(self._run_id, self.stop)
        try:
            if self._thread is not None:
                await self._store.name(self._thread, self._run_id)
        except BaseException:
            self._spawn(self._end(SERVER_FAILED))
            raise
        self._spawn(self._run())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.create_task(work, name=f"turn {self._run_id}")
        _RUNNING.add(self._task)
        self._task.add_done_callback(_RUNNING.discard)

    def stop(self) -> None:
        """Cancel the source, unless the message has ended: a source may do more after that, undisturbed."""
        if self._is_stopped or self._state.is_over:
            return
        self._is_stopped = True
        # A task that is cancelled before it begins would not close its source.
        if self._has_begun and self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        self._has_begun = True
        failure = SERVER_FAILED
        try:
            await self._read()
            failure = STOPPED if self._is_stopped else UNFINISHED
        except asyncio.CancelledError:
            failure = STOPPED
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, readers get an end
            if not isinstance(error, JsontideError):
                _LOG.exception("the source of turn %s failed", self._run_id)
            failure = STOPPED if self._is_stopped else self._describe(error)
        finally:
            await self._end(failure)

    async def _read(self) -> None:
        async with opened(self._source) as items:
            self._items = items
            if self._is_stopped:
                raise asyncio.CancelledError
            try:
                await self._put_all(items)
            except asyncio.CancelledError:
                await self._end(STOPPED)  # at once: closing may take a while
                raise

    async def _put_all(self, items: AsyncIterator[Streamed]) -> None:
        before: Streamed | None = None
        try:
            async for growing in items:
                if not isinstance(growing, Message | Run | ParserState):
                    message = f"a source must give messages, runs or parser states, not {type(growing).__name__}"
                    raise TypeError(message)
                if not self._state.is_over:
                    await self._put(growing, is_over=has_ended(growing))
                    _log_failure(self._run_id, growing)
                elif growing is not before:
                    self._dropped = growing
                    if has_ended(growing):
                        self._warn_of_dropped()
                before = growing
                await asyncio.sleep(0)  # a source that has much at once must not keep others waiting
        finally:
            self._warn_of_dropped()

    def _warn_of_dropped(self) -> None:
        """Name a message that the source gave after the end of the turn, once."""
        dropped, self._dropped = self._dropped, None
        if dropped is not None:
            self._count += 1
            kind = "run" if isinstance(dropped, Run) else "message"
            found = "document" if isinstance(dropped, ParserState) else f"{kind} (id {dropped.id!r})"
            why = "is not sent: a turn ends with its first one"
            _LOG.warning("turn %s: %s number %d of the source %s", self._run_id, found, self._count, why)

    async def _end(self, failure: str) -> None:
        if not self._state.is_over:
            growing = self._cancelled() if failure is STOPPED else self._state.growing
            await self._put(growing, failure, is_over=True)

    async def _put(self, growing: Streamed | None, failure: str = "", *, is_over: bool) -> None:
        self._state = TurnState(self._state.version + 1, growing, is_over, failure)
        await self._store.put(self._run_id, self._state)

    def _cancelled(self) -> Streamed | None:
        """Return the last state of a turn that was stopped."""
        items, growing = self._items, self._state.growing
        if isinstance(items, AsyncMessageStream):
            growing = items.message
        elif isinstance(items, AsyncAgentStream):
            growing = items.run
        return None if growing is None else cancel(growing)


def cancel(growing: Streamed) -> Streamed:
    """Return a message or a run as it is after a stop; one that has ended stays as it is."""
    if isinstance(growing, ParserState):
        return growing
    return cancel_run(growing) if isinstance(growing, Run) else cancel_message(growing)


def _log_failure(run_id: str, growing: Streamed) -> None:
    """Log a failure between the provider and here: readers do not get its words."""
    if isinstance(growing, ParserState) or not has_ended(growing):
        return
    if isinstance(growing, Run) and growing.error is not None:
        _LOG.warning("the run of turn %s failed: %r", run_id, growing.error)
    message = growing.message if isinstance(growing, Run) else growing
    for error in () if message is None else message.errors[:1]:
        if error.kind is ErrorKind.TRANSPORT:
            cause = error.cause if isinstance(error.cause, BaseException) else None
            _LOG.warning("the message of turn %s failed: %r", run_id, error.message, exc_info=cause)


def has_ended(growing: Streamed) -> bool:
    """Return whether nothing more follows."""
    if isinstance(growing, ParserState):
        return growing.is_complete or growing.error is not None
    if isinstance(growing, Run):
        return growing.is_over
    return growing.outcome is not Outcome.STREAMING
