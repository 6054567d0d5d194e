"""Turns that can be joined: the interface of a store, its checks, and one in memory.

A turn is one message, one run, or one JSON text, while it grows: its producer puts the newest state into the store, and
any number of readers take it from there.

Rule: a store keeps one state of each turn, the newest. A reader that is late or slow goes on from that one.

`MemoryTurns` keeps turns in the memory of this process, which is bounded: of each turn one state is kept; one that is
over is forgotten after a while, or when there are too many.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

from jsontide._check import check_count, check_seconds, check_type
from jsontide._errors import JsontideError
from jsontide.frontends import Streamed


class TooManyTurnsError(JsontideError):
    """A store takes no more turns: as many as it may keep are running."""


class StoreUnavailableError(JsontideError):
    """A turn cannot be read or begun now: its store is out of reach, or was written by a later version."""


@dataclass(frozen=True)
class TurnState:
    """A turn at one moment."""

    version: int = 0
    """Grows with every change; 0 before anything came."""
    growing: Streamed | None = None
    """The newest message, run, or state of a parser."""
    is_over: bool = False
    failure: str = ""
    """Why the turn is over, if `growing` does not say it."""


@runtime_checkable
class TurnStore(Protocol):
    """Where turns are kept, so that they can be joined, in this process or in another."""

    async def start(self, run_id: str, stop: Callable[[], None]) -> None:
        """Begin a turn, with the state `TurnState()`; `stop` is to be called, once, when somebody asks for its end.

        Raises `ValueError` if there is a turn of that name, and `TooManyTurnsError` if there is no room.
        """
        ...

    async def put(self, run_id: str, state: TurnState) -> None:
        """Keep a newer state in place of the last one, and wake those who wait for it."""
        ...

    async def read(self, run_id: str, seen: int, timeout: float | None) -> TurnState | None:  # noqa: ASYNC109 - not an error
        """Return the newest state, as soon as its version is not `seen`, or when the time is up.

        Returns `None` if there is no such turn.
        """
        ...

    async def stop(self, run_id: str) -> bool:
        """Ask a turn to end; return whether it was running."""
        ...

    async def name(self, thread: str, run_id: str | None = None) -> str | None:
        """Return the newest turn of a thread, such as a chat, after setting it if one is given."""
        ...


def new_run_id() -> str:
    """Return a name for a turn: random, so that it never means another turn, also after a restart."""
    return secrets.token_urlsafe(16)


async def stop(store: TurnStore, run_id: str | None = None, *, thread: str | None = None) -> bool:
    """Stop a turn, by its name or as the newest of a thread: its source is closed, and its readers get its end.

    Returns whether it was running. Without a name, there is nothing to stop.
    """
    check_store(store)
    if thread is not None:
        run_id = await store.name(check_thread(thread))
    return False if not run_id else await store.stop(run_id)


def check_thread(thread: object) -> str:
    """Return the name of a thread."""
    return check_type("thread", thread, str, "a str")


def check_store(store: object) -> TurnStore:
    """Return a store, or raise `TypeError` for anything else."""
    if isinstance(store, type) or not isinstance(store, TurnStore):
        message = f"store must be a TurnStore, such as MemoryTurns(), not {describe_type(store)}"
        raise TypeError(message)
    return store


def check_run_id(run_id: object) -> str:
    """Return the name of a turn; it must fit into one line, of a header or of a server-sent event."""
    name = check_type("run_id", run_id, str, "a str")
    if not name or not name.isascii() or not name.isprintable() or " " in name:
        message = f"run_id must be ASCII without white space, and not empty: {name!r}"
        raise ValueError(message)
    return name


def describe_type(value: object) -> str:
    """Return the name of a value's type, or which class the value is."""
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


class MemoryTurns:
    """A `TurnStore` in the memory of this process, for one event loop.

    `max_age` is how long a turn can be joined after its end, in seconds; `None` for as long as there is room.
    `max_turns` is how many are kept: to make room for a new one, the one that ended first is forgotten; if all are
    running, `TooManyTurnsError` is raised.
    """

    def __init__(self, *, max_age: float | None = 300.0, max_turns: int = 1000) -> None:
        if max_age is not None:
            check_seconds("max_age", max_age)
        check_count("max_turns", max_turns)
        self.max_age: Final = max_age
        self.max_turns: Final = max_turns
        self._running: dict[str, _Kept] = {}
        self._over: dict[str, _Kept] = {}  # in the order in which they ended
        self._threads: dict[str, str] = {}

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
        """Keep a newer state; see `TurnStore`. States after the end are dropped."""
        kept = self._running.get(run_id)
        if kept is None:
            return
        if state.is_over:
            self._over[run_id] = self._running.pop(run_id)
            kept.stop = None  # it holds the source
            kept.ended = time.monotonic()
            if self.max_age is not None:
                asyncio.get_running_loop().call_later(self.max_age, self._forget_old)
        kept.state = state
        changed, kept.changed = kept.changed, asyncio.Event()
        changed.set()  # wakes all who wait, once

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

    async def name(self, thread: str, run_id: str | None = None) -> str | None:
        """Return the newest turn of a thread; see `TurnStore`."""
        if run_id is not None:
            self._threads.pop(thread, None)
            self._threads[thread] = run_id
            while len(self._threads) > self.max_turns:
                del self._threads[next(iter(self._threads))]
        return self._threads.get(thread)

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


@dataclass(slots=True)
class _Kept:
    """A turn in memory."""

    stop: Callable[[], None] | None
    state: TurnState = TurnState()
    ended: float = 0.0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
