"""Turns in the memory of this process.

Rule: memory is bounded. Of each turn one state is kept; one that is over is forgotten after a while, or when there are
too many.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from jsontide._check import check_count
from jsontide.web._check import check_seconds
from jsontide.web._turns import TooManyTurnsError, TurnState


class MemoryTurns:
    """A `TurnStore` in the memory of this process, for one event loop.

    `max_age` is how long a turn can be joined after its end, in seconds; `None` for as long as there is room.
    `max_turns` is how many are kept: to make room for a new one, the one that ended first is forgotten; if all are
    running, `TooManyTurnsError` is raised.
    """

    def __init__(self, *, max_age: float | None = 300.0, max_turns: int = 1000) -> None:
        if max_age is not None:
            check_seconds("max_age", max_age, least=0)
        check_count("max_turns", max_turns)
        self.max_age: Final = max_age
        self.max_turns: Final = max_turns
        self._running: dict[str, _Kept] = {}
        self._over: dict[str, _Kept] = {}  # in the order in which they ended

    def __len__(self) -> int:
        """Return how many turns are kept."""
        self._forget_old()
        return len(self._running) + len(self._over)

    async def start(self, run_id: str, stop: Callable[[], None]) -> None:
        """Begin a turn; see `TurnStore`."""
        self._forget_old()
        if run_id in self._running or run_id in self._over:
            message = f"there is a turn {run_id!r} already: each turn needs a name of its own"
            raise ValueError(message)
        if len(self._running) >= self.max_turns:
            message = f"{self.max_turns} turns are running"
            raise TooManyTurnsError(message)
        if len(self._running) + len(self._over) >= self.max_turns:
            del self._over[next(iter(self._over))]
        self._running[run_id] = _Kept(stop)

    async def put(self, run_id: str, state: TurnState) -> None:
        """Keep a newer state; see `TurnStore`. What is put after the end is dropped."""
        kept = self._running.get(run_id)
        if kept is None:
            return
        if state.is_over:
            self._over[run_id] = self._running.pop(run_id)
            kept.stop = None  # it holds the source
            kept.ended = time.monotonic()
            if self.max_age is not None:
                asyncio.get_running_loop().call_later(self.max_age, self._forget_old)
        kept.put(state)

    async def read(self, run_id: str, seen: int, timeout: float | None) -> TurnState | None:  # noqa: ASYNC109 - not an error
        """Return the newest state; see `TurnStore`."""
        self._forget_old()
        kept = self._running.get(run_id) or self._over.get(run_id)
        if kept is None:
            return None
        if kept.state.version == seen:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await kept.changed.wait()
        return kept.state

    async def stop(self, run_id: str) -> bool:
        """Ask a turn to end; see `TurnStore`."""
        kept = self._running.get(run_id)
        if kept is None:
            return False
        stop, kept.stop = kept.stop, None
        if stop is not None:
            stop()
        return True

    async def forget(self, run_id: str) -> bool:
        """Forget a turn that is over, such as one that you have saved; return whether there was one."""
        return self._over.pop(run_id, None) is not None

    def _forget_old(self) -> None:
        if self.max_age is None:
            return
        oldest = time.monotonic() - self.max_age
        while self._over:
            run_id, kept = next(iter(self._over.items()))
            if kept.ended > oldest:
                break
            del self._over[run_id]


class _Kept:
    """What is kept of a turn."""

    __slots__ = ("changed", "ended", "state", "stop")

    def __init__(self, stop: Callable[[], None]) -> None:
        self.state = TurnState()
        self.stop: Callable[[], None] | None = stop
        self.ended = 0.0
        self.changed = asyncio.Event()

    def put(self, state: TurnState) -> None:
        self.state = state
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()  # all who wait, once
