"""A source in, its newest state in a store, until the end: the side of a turn that nobody needs to listen to.

Rule: a turn always ends in its store, on every way out: finished, failed, stopped, or left off by its source.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Final

from jsontide._errors import JsontideError
from jsontide.adapters import AsyncMessageStream
from jsontide.encoders import Growing
from jsontide.messages import Message, Outcome
from jsontide.tree import ParserState
from jsontide.web._cancelled import cancel
from jsontide.web._sources import Source, check_growing, opened
from jsontide.web._turns import TurnState, TurnStore

FAILED: Final = "the server failed"
STOPPED: Final = "the turn was stopped"
UNFINISHED: Final = "the stream ended before the message did"

_LOG: Final = logging.getLogger("jsontide.web")
_RUNNING: Final[set[asyncio.Task[None]]] = set()
"""Tasks that nothing else refers to; the event loop alone would let them be collected."""


def describe_error(error: Exception) -> str:
    """Return what a browser may know of an exception: what is wrong with JSON, but not how this server failed."""
    return str(error) if isinstance(error, JsontideError) else FAILED


class Producer:
    """Reads a source as a task of its own."""

    def __init__(
        self, source: Source, store: TurnStore, run_id: str, describe: Callable[[Exception], str] = describe_error
    ) -> None:
        self._source: Final = source
        self._store: Final = store
        self._run_id: Final = run_id
        self._describe: Final = describe
        self._state = TurnState()
        self._items: AsyncIterator[Growing] | None = None
        self._task: asyncio.Task[None] | None = None
        self._has_begun = False
        self._is_stopped = False

    async def start(self) -> None:
        """Begin the turn in its store, and read."""
        await self._store.start(self._run_id, self.stop)
        self._task = asyncio.create_task(self._run(), name=f"turn {self._run_id}")
        _RUNNING.add(self._task)
        self._task.add_done_callback(_RUNNING.discard)

    def stop(self) -> None:
        """Cancel the source, unless the message has ended: what the source does after that is not disturbed."""
        if self._is_stopped or self._state.is_over:
            return
        self._is_stopped = True
        # A task that is cancelled before it begins would not close its source.
        if self._has_begun and self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        self._has_begun = True
        failure = FAILED
        try:
            await self._read()
            failure = STOPPED if self._is_stopped else UNFINISHED
        except asyncio.CancelledError:
            failure = STOPPED
            raise
        except Exception as error:  # noqa: BLE001 - readers are told of it, whatever it is
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

    async def _put_all(self, items: AsyncIterator[Growing]) -> None:
        async for growing in items:
            if not self._state.is_over:
                check_growing(growing)
                await self._put(growing, is_over=has_ended(growing))
            await asyncio.sleep(0)  # a source that has much at once must not keep others waiting

    async def _end(self, failure: str) -> None:
        if not self._state.is_over:
            growing = self._cancelled() if failure is STOPPED else self._state.growing
            await self._put(growing, failure, is_over=True)

    async def _put(self, growing: Growing | None, failure: str = "", *, is_over: bool) -> None:
        self._state = TurnState(self._state.version + 1, growing, is_over, failure)
        await self._store.put(self._run_id, self._state)

    def _cancelled(self) -> Growing | None:
        """Return what is to be shown of a turn that was stopped."""
        growing = self._items.message if isinstance(self._items, AsyncMessageStream) else self._state.growing
        return cancel(growing) if isinstance(growing, Message) else growing


def has_ended(growing: Growing) -> bool:
    """Return whether nothing more follows."""
    if isinstance(growing, ParserState):
        return growing.is_complete or growing.error is not None
    return growing.outcome is not Outcome.STREAMING
