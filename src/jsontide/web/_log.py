"""What durable turns are stored in: logs that know nothing of messages, and one in memory.

A log keeps entries of each turn in the order of (epoch, number). Whoever appends the next epoch owns the turn, and an
entry of an earlier epoch is refused from then on: the log is its own lock.

Rule: an entry is stored only if it comes after all others of its turn, and nothing comes after the end. What needs the
entries before it, a delta or a claim, is not stored where these were lost.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

Kind: TypeAlias = Literal["whole", "delta", "claim", "end", "note"]
Stored: TypeAlias = Literal["stored", "refused", "gone"]
"""`refused`: another worker owns the turn, or it is over; `gone`: the log has lost what an entry needs."""
Place: TypeAlias = tuple[int, int]
"""An epoch and a number."""
NOWHERE: Final[Place] = (0, 0)


class Entry(NamedTuple):
    """One entry of a turn."""

    epoch: int
    number: int
    kind: Kind
    data: bytes

    @property
    def place(self) -> Place:
        return self.epoch, self.number


class Append(NamedTuple):
    """An entry to be stored, and what becomes of those before it."""

    run_id: str
    entry: Entry
    worker: str
    """Who owns the turn; nobody if it is empty."""
    trims: bool = False
    """Whether the entries before it are not needed any more."""
    expires: float | None = None
    """After how many seconds the turn may be forgotten."""


@runtime_checkable
class TurnLog(Protocol):
    """Where durable turns are stored."""

    async def append(self, entries: Sequence[Append]) -> list[Stored]:
        """Store entries, all at once where that is possible; the first of a turn is whole, with the place (1, 0)."""
        ...

    async def join(self, run_id: str) -> list[Entry]:
        """Return the entries of a turn from the last one on that has everything; none if there is no such turn."""
        ...

    async def read(self, after: Mapping[str, Place], wait: float) -> dict[str, list[Entry]]:
        """Return what came after places in turns, or in the inbox of a worker, as soon as there is anything."""
        ...

    async def beat(self, worker: str, seconds: float) -> None:
        """Keep a worker alive for some seconds; with 0, it is dead at once."""
        ...

    async def orphans(self, turns: Mapping[str, str] | None = None) -> set[str]:
        """Return which of these turns, or of all that are running, have a worker that is dead."""
        ...

    async def tell(self, worker: str, note: bytes) -> None:
        """Put a note into the inbox of a worker, which `read` knows as `inbox_of(worker)`."""
        ...

    async def name(self, thread: str, run_id: str | None = None) -> str | None:
        """Return the newest turn of a thread, after setting it if one is given."""
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...


def inbox_of(worker: str) -> str:
    """Return the name of an inbox, which no turn can have."""
    return f"in {worker}"


def is_next(entry: Entry, last: Entry | None) -> Stored:
    """Return whether an entry may be stored after the last one of its turn, by the rules of all logs."""
    if last is None:
        return "stored" if entry.kind in {"whole", "end"} else "gone"
    is_later = last.kind != "end" and entry.place > last.place and (entry.epoch, entry.number) != (1, 0)
    return "stored" if is_later else "refused"


def from_last_whole(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries without those that the last whole one makes needless; nothing counts after the first end."""
    for entry in entries:
        if entry.kind == "end":
            return [entry]
    start = max([at for at, entry in enumerate(entries) if entry.kind == "whole"], default=0)
    return list(entries[start:])


@dataclass(slots=True)
class _Turn:
    entries: list[Entry] = field(default_factory=list)
    worker: str = ""
    expires: float = float("inf")


class MemoryLog:
    """A log in the memory of this process, for tests and for several stores in one event loop."""

    def __init__(self) -> None:
        self._turns: dict[str, _Turn] = {}
        self._workers: dict[str, float] = {}
        self._threads: dict[str, str] = {}
        self._changed = asyncio.Event()

    async def append(self, entries: Sequence[Append]) -> list[Stored]:
        self._forget_old()
        stored = [self._append(one) for one in entries]
        self._wake()
        return stored

    def _append(self, one: Append) -> Stored:
        known = self._turns.get(one.run_id)
        found = is_next(one.entry, known.entries[-1] if known is not None else None)
        if found != "stored":
            return found
        turn = self._turns.setdefault(one.run_id, _Turn())
        if one.trims:
            turn.entries.clear()
        turn.entries.append(one.entry)
        turn.worker = one.worker
        turn.expires = float("inf") if one.expires is None else time.monotonic() + one.expires
        return found

    async def join(self, run_id: str) -> list[Entry]:
        self._forget_old()
        turn = self._turns.get(run_id)
        return [] if turn is None else from_last_whole(turn.entries)

    async def read(self, after: Mapping[str, Place], wait: float) -> dict[str, list[Entry]]:
        found = self._find(after)
        if not found:
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._changed.wait()
            found = self._find(after)
        return found

    def _find(self, after: Mapping[str, Place]) -> dict[str, list[Entry]]:
        known = ((run_id, self._turns.get(run_id), place) for run_id, place in after.items())
        found = {run_id: newer(turn.entries, place) for run_id, turn, place in known if turn is not None}
        return {run_id: entries for run_id, entries in found.items() if entries}

    async def beat(self, worker: str, seconds: float) -> None:
        self._workers[worker] = time.monotonic() + seconds

    async def orphans(self, turns: Mapping[str, str] | None = None) -> set[str]:
        now = time.monotonic()
        if turns is None:
            running = ((run_id, turn) for run_id, turn in self._turns.items() if turn.entries[-1].kind != "end")
            turns = {run_id: turn.worker for run_id, turn in running if " " not in run_id}
        return {run_id for run_id, worker in turns.items() if self._workers.get(worker, 0.0) <= now}

    async def tell(self, worker: str, note: bytes) -> None:
        inbox = self._turns.setdefault(inbox_of(worker), _Turn())
        number = inbox.entries[-1].number + 1 if inbox.entries else 1
        inbox.entries = [*inbox.entries[-999:], Entry(1, number, "note", note)]
        self._wake()

    async def name(self, thread: str, run_id: str | None = None) -> str | None:
        if run_id is not None:
            self._threads[thread] = run_id
        return self._threads.get(thread)

    async def close(self) -> None:
        pass

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _forget_old(self) -> None:
        now = time.monotonic()
        for run_id in [run_id for run_id, turn in self._turns.items() if turn.expires <= now]:
            del self._turns[run_id]
            self._threads = {thread: newest for thread, newest in self._threads.items() if newest != run_id}


def newer(entries: Iterable[Entry], place: Place) -> list[Entry]:
    """Return the entries after a place."""
    return [entry for entry in entries if entry.place > place]
