"""Turns that survive their reader, their worker and their machine: a store over a log.

    put ── newest ──▶ flusher ── one delta for each turn ──▶ log ──▶ hub ── one replica for each turn ──▶ read

- Nothing is shown before it is stored, also to readers in the same process, so no reader sees a text shrink.
- A turn belongs to the worker of the highest epoch; one whose entry is refused stops its source.
- A worker keeps one lease for all of its turns. A turn whose worker is dead is taken over, if its source can be read
  again from the start, or ended, by the first who notices: a reader, or the sweeper.
- Everything that runs in the background is supervised: what fails is logged and begins again.

Rule: every turn ends: by its producer, by who finds it dead, or because it expires.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from jsontide._check import check_count, check_seconds
from jsontide._values import MISSING, find_value, write_json
from jsontide.frontends import (
    DeltaState,
    Replica,
    SetValue,
    Streamed,
    compare_values,
    feed_delta,
    feed_replica,
    start_replica,
    whole_delta,
)
from jsontide.frontends.base import SERVER_FAILED
from jsontide.messages import Message, Outcome
from jsontide.messages.calls import BaseCall
from jsontide.messages.parts import GrowingPart
from jsontide.runs.run import Run, cancel_message, cancel_run
from jsontide.tree import ParserState, create_parser_state, finalize, parse_chunk
from jsontide.web._log import NOWHERE, Append, Entry, Place, Stored, TurnLog, inbox_of
from jsontide.web._producer import Producer, TurnSource
from jsontide.web._sqlite import SqliteLog
from jsontide.web._turns import StoreUnavailableError, TooManyTurnsError, TurnState, new_run_id

if TYPE_CHECKING:
    import os

_LOG: Final = logging.getLogger("jsontide.web")
_VERSION: Final = 1
_LEAST_TAIL: Final = 4096
"""Bytes of deltas after which everything is written again, if it is not longer."""
_LONGEST_WAIT: Final = 0.25
"""Seconds after which the hub looks whether it follows other turns by now."""
_UNREAD: Final = 30.0
"""Seconds after which a turn that nobody reads is not followed any more."""
DIED: Final = "the server that ran the turn is gone"
UNSTORED: Final = "the turn could not be stored"


@dataclass(frozen=True)
class Orphan:
    """A turn whose worker is dead."""

    run_id: str
    growing: Streamed | None
    """As far as it was stored; the id of a message finds the response again where a provider keeps it."""
    epoch: int
    """How many workers it had."""


Resume: TypeAlias = Callable[[Orphan], TurnSource | None]
"""Returns a source that gives the same turn again, from its start; `None` if there is none."""


_NOTHING: Final = TurnState()


@dataclass
class _Shown:
    """What readers in this process get of a turn."""

    state: TurnState = _NOTHING
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    read_at: float = field(default_factory=time.monotonic)

    def show(self, version: int, growing: Streamed | None, failure: str = "", *, is_over: bool) -> None:
        self.state = TurnState(version, growing, is_over, failure)
        self.wake()

    def wake(self) -> None:
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


@dataclass
class _Produced(_Shown):
    """A turn whose source is read here."""

    stop: Callable[[], None] | None = None
    place: Place = (1, 0)
    newest: TurnState = _NOTHING
    """What its producer has put."""
    is_new: bool = False
    """Whether that is not stored yet."""
    written: DeltaState = field(default_factory=DeltaState)
    whole: int = 0
    """How many bytes the last entry had that has everything."""
    tail: int = 0
    """How many there were since."""
    needs_whole: bool = False
    """Whether others know nothing of it that this worker could continue."""
    failing_since: float | None = None

    def doubt(self, number: int) -> None:
        """Write everything next, because it is not known whether entries up to a number were stored.

        A number is left out, so that nobody takes it for a copy of what was there before.
        """
        self.place = (self.place[0], number + 1)
        self.needs_whole = self.is_new = True


@dataclass
class _Followed(_Shown):
    """A turn that is read from the log."""

    replica: Replica = field(default_factory=start_replica)
    place: Place = NOWHERE
    worker: str = ""
    heard_at: float = field(default_factory=time.monotonic)
    waits: bool = False
    """Whether entries are missing, so that only one with everything can be read."""
    lost_at: float | None = None
    """When the log was first found to have nothing of it any more."""


class DurableTurns:
    """A `TurnStore` over a `TurnLog`, for one event loop: turns that can be joined, stopped and taken over anywhere.

    `flush` is how often changes are stored, in seconds. `lease` is how long a worker may be silent before its turns are
    taken over, or ended. `max_age` is how long a turn can be joined after its end, `max_idle` how long one is kept that
    never ends, `max_turns` how many may run in this process.
    `resume` is called with each `Orphan` and returns a source that gives the same turn again from its start, or `None`.
    What it gives must begin with what was stored; a turn for which it gives something else is ended.

    Call `close` when the application shuts down: other workers take over what runs, at once.
    """

    def __init__(  # noqa: PLR0913 - options, by name
        self,
        log: TurnLog,
        *,
        flush: float = 0.05,
        lease: float = 10.0,
        max_age: float | None = 300.0,
        max_idle: float = 6 * 3600.0,
        max_turns: int = 1000,
        resume: Resume | None = None,
    ) -> None:
        if isinstance(log, type) or not isinstance(log, TurnLog):
            message = f"log must be a TurnLog, not {type(log).__name__}"
            raise TypeError(message)
        for name, value, least in (("flush", flush, 0.001), ("lease", lease, 0.1), ("max_idle", max_idle, 1.0)):
            check_seconds(name, value, least)
        if max_age is not None:
            check_seconds("max_age", max_age)
        check_count("max_turns", max_turns)
        if resume is not None and not callable(resume):
            message = f"resume must be callable, not {type(resume).__name__}"
            raise TypeError(message)
        self._log: Final = log
        self._flush: Final = flush
        self._lease: Final = lease
        self._max_age: Final = max_age
        self._max_idle: Final = max_idle
        self._max_turns: Final = max_turns
        self._resume: Final = resume
        self.worker: Final = new_run_id()
        """Names this process in the log."""
        self._versions: Final = count(1)  # one count for all, so that a reader never takes a new state for an old one
        self._produced: Final[dict[str, _Produced]] = {}
        self._followed: Final[dict[str, _Followed]] = {}
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        self._dirty: Final = asyncio.Event()
        self._follows: Final = asyncio.Event()
        self._inbox: Place = NOWHERE
        self._checked = 0.0
        self._burying: Final[set[str]] = set()
        self._unburied: Final[set[str]] = set()
        """Turns of dead workers that could not be taken over; the claim may be stored all the same."""
        self._has_begun = self._is_closed = False

    # A TurnStore

    async def start(self, run_id: str, stop: Callable[[], None]) -> None:
        """Begin a turn; see `TurnStore`."""
        await self._begin_work()
        if len(self._produced) >= self._max_turns:
            message = f"{self._max_turns} turns are running"
            raise TooManyTurnsError(message)
        entry = Entry(1, 0, "whole", self._pack([]))
        (found,) = await self._reach(self._log.append([self._append(run_id, entry)]))
        if found != "stored":
            message = f"there is a turn {run_id!r} already: each turn needs a name of its own"
            raise ValueError(message)
        self._produced[run_id] = _Produced(TurnState(next(self._versions)), stop=stop)
        self._follows.set()

    async def put(self, run_id: str, state: TurnState) -> None:
        """Keep a newer state; see `TurnStore`. It is stored soon, with all that is put until then; the end at once."""
        turn = self._produced.get(run_id)
        if turn is None:  # another worker has it
            return
        turn.newest, turn.is_new = state, True
        self._dirty.set()
        while state.is_over and run_id in self._produced:
            await turn.changed.wait()

    async def read(self, run_id: str, seen: int, timeout: float | None) -> TurnState | None:  # noqa: ASYNC109 - not an error
        """Return the newest stored state; see `TurnStore`."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            await self._begin_work()  # each time: it may be closed by now
            turn = self._produced.get(run_id) or self._followed.get(run_id) or await self._follow(run_id)
            if turn is None:
                return None
            turn.read_at = time.monotonic()
            left = None if until is None else until - turn.read_at
            if turn.state.version != seen or (left is not None and left <= 0):
                return turn.state
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await turn.changed.wait()

    async def stop(self, run_id: str) -> bool:
        """Ask a turn to end, wherever it runs; see `TurnStore`."""
        await self._begin_work()
        turn = self._produced.get(run_id)
        if turn is not None:
            if turn.newest.is_over:  # only its end is not stored yet
                return False
            stop, turn.stop = turn.stop, None
            if stop is not None:
                stop()
            return True
        followed = self._followed.get(run_id) or await self._follow(run_id)
        if followed is None or followed.state.is_over:
            return False
        if await self._reach(self._log.orphans({run_id: followed.worker})):
            await self._bury(run_id)
        else:
            await self._reach(self._log.tell(followed.worker, f"stop {run_id}".encode()))
        return True

    async def name(self, thread: str, run_id: str | None = None) -> str | None:
        """Return the newest turn of a thread; see `TurnStore`."""
        found: str | None = await self._reach(self._log.name(thread, run_id))
        return found

    async def close(self) -> None:
        """Hand over all turns that run here, and let go of the log; for the shutdown of an application."""
        if self._is_closed:
            return
        self._is_closed = True
        await self._cancel_work()
        try:
            with suppress(StoreUnavailableError):
                await self._reach(self._hand_over())
        finally:
            await self._log.close()

    async def _cancel_work(self) -> None:
        """End what runs in the background; again and again, because a client of a log may lose a cancellation."""
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks, timeout=0.2)

    async def _hand_over(self) -> None:
        """Say that nobody owns the turns that run here, so that nobody waits for the lease; and stop them."""
        produced: dict[str, _Produced] = {}
        try:
            await self._flush_all()
            produced = dict(self._produced)
            self._produced.clear()
            data = self._pack_claim("")
            claims = {run_id: Entry(one.place[0], one.place[1] + 1, "claim", data) for run_id, one in produced.items()}
            await self._log.append([self._append(run_id, entry, "") for run_id, entry in claims.items()])
            await self._log.beat(self.worker, 0)
        finally:
            produced |= self._produced
            self._produced.clear()
            for turn in produced.values():
                turn.wake()
                if turn.stop is not None:
                    turn.stop()

    # What runs in the background

    async def _begin_work(self) -> None:
        if self._is_closed:
            message = "the store of turns is closed"
            raise StoreUnavailableError(message)
        if self._has_begun:
            return
        self._has_begun = True
        for work in (self._flush_for_ever, self._read_for_ever, self._sweep_for_ever):
            self._spawn(self._supervise(work))
        await self._reach(self._log.beat(self.worker, self._lease))

    def _spawn(self, work: Any) -> None:  # noqa: ANN401 - a coroutine
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _supervise(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something for ever; what fails is logged, and begins again."""
        pause = self._flush
        while True:
            try:
                await work()
            except Exception:  # noqa: BLE001 - whatever fails, readers and producers wait for this
                if pause == self._flush:  # the first time, not each
                    _LOG.warning("the store of turns failed, and tries again", exc_info=True)
                pause = min(2 * pause, 1.0)
            else:
                pause = self._flush
            await asyncio.sleep(pause)

    async def _flush_for_ever(self) -> None:
        await self._dirty.wait()
        self._dirty.clear()
        await self._flush_all()

    async def _flush_all(self) -> None:
        """Store what is new, in one append."""
        turns = [(run_id, turn) for run_id, turn in self._produced.items() if turn.is_new]
        plans = [plan for run_id, turn in turns if (plan := self._plan_or_end(run_id, turn)) is not None]
        if not plans:
            return
        try:
            found = await self._log.append([one for plan in plans for one in plan.entries])
        except Exception:
            self._dirty.set()
            for plan in plans:
                self._note_failure(plan)
            raise
        at = 0
        for plan in plans:
            await self._settle(plan, found[at : at + len(plan.entries)])
            at += len(plan.entries)

    def _plan_or_end(self, run_id: str, turn: _Produced) -> _Plan | None:
        """Plan what to store of a turn; one that cannot be written ends, and keeps no other waiting."""
        try:
            return self._plan(run_id, turn)
        except Exception:  # noqa: BLE001 - whatever it is, others go on
            _LOG.exception("turn %s cannot be stored, and ends", run_id)
        if turn.stop is not None:
            turn.stop()
        turn.newest = TurnState(turn.newest.version, turn.written.growing, is_over=True, failure=SERVER_FAILED)
        return self._plan(run_id, turn)

    def _plan(self, run_id: str, turn: _Produced) -> _Plan | None:
        """Return the entries that store the newest state of a turn."""
        newest = turn.newest
        written = turn.written
        delta: list[Any] = []
        if newest.growing is not None:
            written, delta = feed_delta(written, newest.growing)
        epoch, number = turn.place
        plan = _Plan(run_id, turn, newest, written, turn.whole, turn.tail)
        if delta and not turn.needs_whole:
            number += 1
            data = write_json(delta).encode()
            plan.tail += len(data)
            plan.entries.append(self._append(run_id, Entry(epoch, number, "delta", data)))
        if newest.is_over or turn.needs_whole or plan.tail > max(_LEAST_TAIL, turn.whole):
            failure = newest.failure if newest.is_over else None
            data = self._pack(whole_delta(written), failure)
            plan.whole, plan.tail = len(data), 0
            entry = Entry(epoch, number + 1, "end" if newest.is_over else "whole", data)
            plan.entries.append(self._append(run_id, entry, trims=True))
        if plan.entries:
            return plan
        turn.is_new = False
        return None

    async def _settle(self, plan: _Plan, found: Sequence[Stored]) -> None:
        """Show what is stored now, or give the turn up."""
        turn = plan.turn
        if self._produced.get(plan.run_id) is not turn:
            return
        if "refused" in found:
            await self._look_who_owns(plan.run_id, turn)
        elif "gone" in found and found[-1] == "gone":
            await self._heal_after_loss(turn)
        else:
            last = plan.entries[-1].entry
            turn.place, turn.written, turn.whole, turn.tail = last.place, plan.written, plan.whole, plan.tail
            turn.is_new, turn.needs_whole, turn.failing_since = turn.newest is not plan.state, False, None
            state = plan.state
            if state.is_over:
                self._end_here(plan.run_id, turn, state)
            elif state.version:
                turn.show(next(self._versions), state.growing, is_over=False)

    def _end_here(self, run_id: str, turn: _Produced, end: TurnState) -> None:
        """Keep the end of a turn for those who read it here."""
        del self._produced[run_id]
        self._followed[run_id] = ended = _Followed()
        ended.show(next(self._versions), end.growing, end.failure, is_over=True)
        turn.wake()

    async def _look_who_owns(self, run_id: str, turn: _Produced) -> None:
        """Go on after a refusal if the last entry is our own, and only its answer was lost; else give the turn up."""
        entries = await self._log.join(run_id)
        last = entries[-1] if entries else None
        if last is None and not turn.needs_whole:  # it was lost since
            await self._heal_after_loss(turn)
            return
        if last is not None and last.epoch == turn.place[0] and last.kind != "claim":
            if last.kind == "end":
                self._end_here(run_id, turn, turn.newest)
            else:
                turn.doubt(last.number)
                self._dirty.set()
            return
        del self._produced[run_id]
        turn.wake()  # readers go on from the log
        if turn.stop is not None:
            _LOG.warning("turn %s belongs to another worker now: its source is stopped", run_id)
            turn.stop()

    async def _heal_after_loss(self, turn: _Produced) -> None:
        """Store everything anew; the lease before it, which is lost too: others bury turns without one."""
        await self._log.beat(self.worker, self._lease)
        self._heal(turn)

    def _heal(self, turn: _Produced) -> None:
        """Store everything anew, after what was stored is lost."""
        turn.doubt(turn.place[1])
        self._dirty.set()

    def _note_failure(self, plan: _Plan) -> None:
        """Give readers of an ended turn that cannot be stored an end, after a while."""
        turn, now = plan.turn, time.monotonic()
        turn.doubt(plan.entries[-1].entry.number)
        turn.failing_since = turn.failing_since or now
        if turn.newest.is_over and now - turn.failing_since > self._lease:
            self._end_here(plan.run_id, turn, TurnState(0, turn.state.growing, is_over=True, failure=UNSTORED))
            self._unburied.add(plan.run_id)  # readers elsewhere get an end when the log is back

    async def _read_for_ever(self) -> None:
        """Read what is new in all turns that are followed, and in the inbox."""
        self._forget_unread()
        await self._check_silent()
        places = {run_id: turn.place for run_id, turn in self._followed.items() if not turn.state.is_over}
        if not places and not self._produced:
            self._follows.clear()
            await self._follows.wait()
            return
        inbox = inbox_of(self.worker)
        for run_id, entries in (await self._log.read({**places, inbox: self._inbox}, _LONGEST_WAIT)).items():
            if run_id == inbox:
                self._inbox = entries[-1].place
                for entry in entries:
                    await self._take_note(entry.data.decode())
            elif run_id in self._followed:
                try:
                    await self._apply(run_id, self._followed[run_id], entries)
                except Exception:  # noqa: BLE001 - other turns go on, and who reads this one joins again
                    _LOG.warning("turn %s cannot be followed", run_id, exc_info=True)
                    self._unfollow(run_id)

    async def _check_silent(self) -> None:
        """Look whether the workers of turns are dead that were silent for most of a lease."""
        now = time.monotonic()
        if now < self._checked + _LONGEST_WAIT:
            return
        self._checked, oldest = now, now - self._lease * 2 / 3
        turns = self._followed.items()
        silent = {run_id: one.worker for run_id, one in turns if one.heard_at < oldest and not one.state.is_over}
        for run_id in await self._log.orphans(silent) if silent else ():
            self._spawn(self._bury(run_id))

    def _forget_unread(self) -> None:
        oldest = time.monotonic() - _UNREAD
        for run_id in [run_id for run_id, turn in self._followed.items() if turn.read_at < oldest]:
            self._unfollow(run_id)

    def _unfollow(self, run_id: str) -> None:
        """Forget a turn; who waits for it all the same joins again."""
        turn = self._followed.pop(run_id, None)
        if turn is not None:
            turn.wake()

    async def _take_note(self, note: str) -> None:
        what, _, run_id = note.partition(" ")
        turn = self._produced.get(run_id)
        if turn is None:
            return
        if what == "resync":
            self._heal(turn)
        elif what == "stop":
            await self.stop(run_id)

    async def _sweep_for_ever(self) -> None:
        """Keep the lease of this worker, and look for turns whose worker has lost its own."""
        has_lost = await self._log.orphans({"": self.worker})  # its own lease, so perhaps the log has lost everything
        await self._log.beat(self.worker, self._lease)
        for turn in self._produced.values() if has_lost else ():
            self._heal(turn)
        found = await self._log.orphans()
        for run_id in (found | self._unburied) - self._produced.keys():
            self._spawn(self._bury(run_id))
        await asyncio.sleep(self._lease / 3)

    # Turns of other workers

    async def _follow(self, run_id: str) -> _Followed | None:
        """Begin to read a turn from the log."""
        entries = await self._reach(self._log.join(run_id))
        if not entries:
            return None
        known = self._followed.get(run_id)
        if known is not None:  # another reader was faster
            return known
        turn = self._followed[run_id] = _Followed()
        try:
            await self._reach(self._apply(run_id, turn, entries))
        except StoreUnavailableError:
            self._unfollow(run_id)
            raise
        if turn.state.version == 0:
            turn.state = TurnState(next(self._versions), turn.replica.growing)
        if not turn.state.is_over and await self._reach(self._log.orphans({run_id: turn.worker})):
            self._spawn(self._bury(run_id))
        self._follows.set()
        return turn

    async def _apply(self, run_id: str, turn: _Followed, entries: Sequence[Entry]) -> None:
        """Read entries of a turn; nothing counts after its end."""
        before = turn.replica
        turn.heard_at = time.monotonic()
        turn.lost_at = None
        for entry in entries:
            if turn.state.is_over or entry.place <= turn.place:
                continue
            is_next = entry.place == (turn.place[0], turn.place[1] + 1)
            turn.place = entry.place
            if entry.kind == "delta" and is_next and not turn.waits:
                try:
                    turn.replica = feed_replica(turn.replica, _load(entry.data))
                except ValueError:
                    _LOG.warning("an entry of turn %s cannot be read", run_id, exc_info=True)
                    await self._ask_for_everything(run_id, turn)
            elif entry.kind == "delta":
                await self._ask_for_everything(run_id, turn)
            else:
                self._apply_packed(turn, entry, is_next=is_next)
        if turn.replica is not before and not turn.state.is_over:
            turn.show(next(self._versions), turn.replica.growing, is_over=False)
        if turn.worker == "" and not turn.state.is_over:
            self._spawn(self._bury(run_id))

    def _apply_packed(self, turn: _Followed, entry: Entry, *, is_next: bool) -> None:
        packed = _load(entry.data)
        if not isinstance(packed, dict) or packed.get("jsontide") != _VERSION:
            message = "the turn was stored by another version of jsontide"
            raise StoreUnavailableError(message)
        turn.worker = str(packed.get("w", ""))
        if entry.kind == "claim":
            turn.waits = turn.worker != ""  # its next entry has everything
            return
        if not is_next or turn.waits:
            turn.replica = feed_replica(start_replica(), packed.get("m"))
            turn.waits = False
        if entry.kind == "end":
            turn.show(next(self._versions), turn.replica.growing, str(packed.get("end") or ""), is_over=True)

    async def _ask_for_everything(self, run_id: str, turn: _Followed) -> None:
        if not turn.waits:
            turn.waits = True
            await self._log.tell(turn.worker, f"resync {run_id}".encode())

    async def _bury(self, run_id: str) -> None:
        """Take over a turn whose worker is dead, or end it; only one of all who try does."""
        if run_id in self._burying:
            return
        self._burying.add(run_id)
        self._unburied.discard(run_id)
        try:
            await self._take_over(run_id)
        except Exception:  # noqa: BLE001 - the sweeper tries again
            _LOG.warning("turn %s could not be taken over", run_id, exc_info=True)
            self._unburied.add(run_id)
        finally:
            self._burying.discard(run_id)

    async def _take_over(self, run_id: str) -> None:
        if run_id in self._produced:
            return
        turn = _Followed()
        entries = await self._log.join(run_id)
        await self._apply_quietly(turn, entries)
        if not entries:
            self._tell_of_loss(run_id)
        is_here = turn.worker == self.worker  # of a claim whose answer was lost, or a turn that could not be stored
        if not entries or turn.state.is_over or not (is_here or await self._log.orphans({run_id: turn.worker})):
            return
        epoch, number = turn.place[0] + 1, turn.place[1] + 1
        orphan = Orphan(run_id, turn.replica.growing, turn.place[0])
        source = None if self._resume is None else self._resume(orphan)
        if source is None:
            data = self._pack(_whole(break_off(orphan.growing)), DIED)
            await self._log.append([self._append(run_id, Entry(epoch, number, "end", data), trims=True)])
            return
        claim = Entry(epoch, number, "claim", self._pack_claim(self.worker))
        (found,) = await self._log.append([self._append(run_id, claim)])
        if found == "stored":
            await Producer(source, _Takeover(self, orphan, claim.place), run_id).start()

    def _tell_of_loss(self, run_id: str) -> None:
        """End a turn for its readers here if the log has nothing of it for a lease: its worker would have healed it."""
        turn, now = self._followed.get(run_id), time.monotonic()
        if turn is None or turn.state.is_over:
            return
        turn.lost_at = turn.lost_at or now
        if now - turn.lost_at > self._lease:
            turn.show(next(self._versions), break_off(turn.replica.growing), DIED, is_over=True)

    async def _apply_quietly(self, turn: _Followed, entries: Sequence[Entry]) -> None:
        for entry in entries:
            turn.place = entry.place
            if entry.kind == "delta":
                turn.replica = feed_replica(turn.replica, _load(entry.data))
            else:
                self._apply_packed(turn, entry, is_next=False)
                turn.waits = False

    def produce(self, run_id: str, stop: Callable[[], None], orphan: Orphan, place: Place) -> None:
        """Go on with a turn that was taken over."""
        turn = _Produced(stop=stop, place=place)
        turn.state = TurnState(next(self._versions), orphan.growing)
        turn.needs_whole = True
        self._produced[run_id] = turn
        self._unfollow(run_id)
        self._follows.set()

    # Small things

    def _append(self, run_id: str, entry: Entry, worker: str | None = None, *, trims: bool = False) -> Append:
        expires = self._max_age if entry.kind == "end" else self._max_idle
        return Append(run_id, entry, self.worker if worker is None else worker, trims, expires)

    def _pack(self, delta: object, end: str | None = None) -> bytes:
        packed = {"jsontide": _VERSION, "w": self.worker, "m": delta}
        return write_json(packed if end is None else {**packed, "end": end}).encode()

    def _pack_claim(self, worker: str) -> bytes:
        return write_json({"jsontide": _VERSION, "w": worker}).encode()

    async def _reach(self, call: Awaitable[Any]) -> Any:  # noqa: ANN401 - whatever the log returns
        try:
            return await call
        except StoreUnavailableError:
            raise
        except Exception as error:
            message = "the log of turns is out of reach"
            raise StoreUnavailableError(message) from error


@dataclass
class _Plan:
    """What is about to be stored of a turn, and how it stands then."""

    run_id: str
    turn: _Produced
    state: TurnState
    written: DeltaState
    whole: int
    tail: int
    entries: list[Append] = field(default_factory=list)


class _Takeover:
    """The store of a producer that reads a source again: nothing is put before it has all that was stored."""

    def __init__(self, turns: DurableTurns, orphan: Orphan, place: Place) -> None:
        self._turns: Final = turns
        self._orphan: Final = orphan
        self._place: Final = place
        self._has_all = orphan.growing is None
        self._next_look = 0 if orphan.growing is None else _length(orphan.growing)
        """How long it must be to be compared next: each comparison looks at all of it."""
        self._stop: Callable[[], None] | None = None

    async def start(self, run_id: str, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._turns.produce(run_id, stop, self._orphan, self._place)

    async def put(self, run_id: str, state: TurnState) -> None:
        growing, stored = state.growing, self._orphan.growing
        if not self._has_all and stored is not None:
            length = 0 if growing is None else _length(growing)
            if length < self._next_look and not state.is_over:
                return
            self._next_look = length + length // 4 + 1
            self._has_all = growing is not None and has_all(growing, stored)
            is_other = growing is not None and not self._has_all and not is_part(growing, stored)
            if is_other or (state.is_over and not self._has_all):
                why = "gave another answer" if is_other else "ended before what was stored"
                _LOG.warning("turn %s is not resumed: its source %s", run_id, why)
                await self._turns.put(run_id, TurnState(state.version, break_off(stored), is_over=True, failure=DIED))
                if self._stop is not None:
                    self._stop()
                return
        if self._has_all:
            await self._turns.put(run_id, state)

    async def read(self, run_id: str, seen: int, timeout: float | None) -> TurnState | None:  # noqa: ASYNC109 - as in the protocol
        return await self._turns.read(run_id, seen, timeout)

    async def stop(self, run_id: str) -> bool:
        return await self._turns.stop(run_id)

    async def name(self, thread: str, run_id: str | None = None) -> str | None:
        return await self._turns.name(thread, run_id)


def break_off(growing: Streamed | None) -> Streamed | None:
    """Return a turn as it is when nobody goes on with it: what is not complete is truncated."""
    if isinstance(growing, Run):
        return cancel_run(growing, Outcome.TRUNCATED)
    return cancel_message(growing, Outcome.TRUNCATED) if isinstance(growing, Message) else growing


def has_all(growing: Streamed, stored: Streamed) -> bool:
    """Return whether a value continues another one: all that was there still is, and stands at the same place."""
    one, two = _texts(growing), _texts(stored)
    is_longer = len(one) >= len(two) and all(a.startswith(b) for a, b in zip(one, two, strict=False))
    return is_longer and _value_goes_on(stored, growing)


def is_part(growing: Streamed, stored: Streamed) -> bool:
    """Return whether a value may still become one that continues the other."""
    pairs = zip(_texts(growing), _texts(stored), strict=False)
    return all(a.startswith(b) or b.startswith(a) for a, b in pairs) and (
        _value_goes_on(growing, stored) or _value_goes_on(stored, growing)
    )


def _value_goes_on(before: Streamed, after: Streamed) -> bool:
    """Return whether JSON alone only grew."""
    if not isinstance(before, ParserState) or not isinstance(after, ParserState):
        return type(before) is type(after)
    changes = compare_values(before.value, after.value, is_complete=False)
    replaced = [
        one for one in changes if isinstance(one, SetValue) and find_value(before.value, one.path) is not MISSING
    ]
    return before.value is MISSING or (after.value is not MISSING and not replaced)


def _length(growing: Streamed) -> int:
    """Return how much there is of a turn, without joining any text."""
    if isinstance(growing, ParserState):
        return growing.index
    messages: list[Any] = [step.message for step in growing.steps] if isinstance(growing, Run) else [growing]
    parts = [part for message in messages for part in message.parts]
    return sum(1 + part.growing_text.length for part in parts if isinstance(part, BaseCall | GrowingPart))


def _texts(growing: Streamed) -> list[str]:
    """Return the texts of a turn in their order, each with its kind."""
    messages: list[Any] = [step.message for step in growing.steps] if isinstance(growing, Run) else [growing]
    return [_text_of(part) for message in messages if isinstance(message, Message) for part in message.parts]


def _text_of(part: object) -> str:
    if isinstance(part, BaseCall):
        return f"call {part.name}: {part.arguments}"
    return f"{type(part).__name__}: {part.text}" if isinstance(part, GrowingPart) else type(part).__name__


def _whole(growing: Streamed | None) -> object:
    return [] if growing is None else feed_delta(DeltaState(), growing)[1]


def _load(data: bytes) -> Any:  # noqa: ANN401 - JSON
    text = data.decode()
    try:
        return json.loads(text)
    except RecursionError:
        return finalize(parse_chunk(create_parser_state(), text)).value


def sqlite_turns(path: str | os.PathLike[str], **options: Any) -> DurableTurns:  # noqa: ANN401 - those of DurableTurns
    """Return durable turns in a file of SQLite, for all processes of one machine.

    `options` are those of `DurableTurns`.
    """
    return DurableTurns(SqliteLog(path), **options)
