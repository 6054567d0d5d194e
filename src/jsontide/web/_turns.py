"""Turns that can be joined: the interface of a store, and what is asked of one.

A turn is one message, or one JSON text, while it grows: its producer puts the newest state into the store, and any
number of readers take it from there.

Rule: a store keeps one state of each turn, the newest. A reader that is late or slow goes on from that one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from jsontide._errors import JsontideError
from jsontide.encoders import Growing


class TooManyTurnsError(JsontideError):
    """A store takes no more turns: as many as it may keep are running."""


@dataclass(frozen=True)
class TurnState:
    """A turn at one moment."""

    version: int = 0
    """Grows with every change; 0 before anything came."""
    growing: Growing | None = None
    """The newest message, or state of a parser."""
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


def new_run_id() -> str:
    """Return a name for a turn: random, so that it never means another turn, also after a restart."""
    return secrets.token_urlsafe(16)


async def stop(store: TurnStore, run_id: str | None) -> bool:
    """Stop a turn: its source is cancelled and closed, and its readers are told that it ended.

    Returns whether it was running. Without a name, there is nothing to stop.
    """
    return False if not run_id else await check_store(store).stop(run_id)


def check_store(store: object) -> TurnStore:
    """Return a store, or raise `TypeError` for anything else."""
    if isinstance(store, type) or not isinstance(store, TurnStore):
        message = f"store must be a TurnStore, such as MemoryTurns(), not {_name(store)}"
        raise TypeError(message)
    return store


def check_run_id(run_id: object) -> str:
    """Return the name of a turn; it must fit into one line, of a header or of a server-sent event."""
    if not isinstance(run_id, str):
        message = f"run_id must be a str, not {type(run_id).__name__}"
        raise TypeError(message)
    if not run_id or not run_id.isascii() or not run_id.isprintable() or " " in run_id:
        message = f"run_id must be ASCII without white space, and not empty: {run_id!r}"
        raise ValueError(message)
    return run_id


def _name(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
