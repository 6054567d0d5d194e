"""Turns that survive their reader and their worker: one contract for all logs, and what a store over any of them does.

Several stores over one log stand for several workers; a worker that dies is one whose tasks are cancelled.
"""

import asyncio
import json
import os
import stat
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")

from jsontide import Message, Outcome, astream_message
from jsontide.frontends import CompactEncoder, CompactValue
from jsontide.messages import TextPart
from jsontide.streams import astates
from jsontide.web import (
    Append,
    DurableTurns,
    Entry,
    MemoryLog,
    Orphan,
    StoreUnavailableError,
    TooManyTurnsError,
    TurnLog,
    TurnState,
    TurnStore,
    _durable,
    new_run_id,
    redis_turns,
    resume_response,
    sqlite_turns,
    stop,
)
from jsontide.web._log import inbox_of
from jsontide.web._producer import Producer
from jsontide.web._sqlite import SqliteLog
from tests.frontends.runs import RUNS
from tests.frontends.turns import TURNS
from tests.web.redis_server import serve_redis
from tests.web.serving import TEXT, Provider, until, word_events

PATIENCE = 20
MakeLog = Callable[[], TurnLog]
"""Opens the same log again, as another worker does."""


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with serve_redis() as server:
        yield server.url


@pytest.fixture(params=["memory", "sqlite", "redis"])
def make_log(request: pytest.FixtureRequest, tmp_path: Path) -> MakeLog:
    if request.param == "redis":
        url, prefix = request.getfixturevalue("redis_url"), new_run_id()
        return lambda: redis_turns(url, prefix=prefix)._log
    if request.param == "memory":
        log = MemoryLog()
        return lambda: log
    return lambda: SqliteLog(tmp_path / "turns.sqlite")


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, PATIENCE))


def entry(epoch: int, number: int, kind: Any, data: bytes = b"x") -> Entry:
    return Entry(epoch, number, kind, data)


def one(run_id: str, *parts: Any, worker: str = "w", trims: bool = False, expires: float | None = None) -> Append:
    return Append(run_id, entry(*parts), worker, trims, expires)


class TestEveryLog:
    def test_is_a_log(self, make_log: MakeLog) -> None:
        log = make_log()
        assert isinstance(log, TurnLog)
        run(log.close())

    def test_keeps_entries_in_their_order_for_all_who_join(self, make_log: MakeLog) -> None:
        async def work() -> None:
            log, other = make_log(), make_log()
            assert await log.join("a") == []
            assert await log.append([one("a", 1, 0, "whole"), one("b", 1, 0, "whole", b"y")]) == ["stored", "stored"]
            assert await log.append([one("a", 1, 1, "delta", b"\x00\xff")]) == ["stored"]
            assert await other.join("a") == [entry(1, 0, "whole"), entry(1, 1, "delta", b"\x00\xff")]
            assert await other.join("b") == [entry(1, 0, "whole", b"y")]
            await log.close()
            await other.close()

        run(work())

    def test_refuses_what_does_not_come_after_all_others(self, make_log: MakeLog) -> None:
        async def work() -> None:
            log = make_log()
            await log.append([one("a", 1, 0, "whole"), one("a", 1, 1, "delta")])
            again = [one("a", 1, 0, "whole"), one("a", 1, 1, "delta"), one("a", 1, 1, "whole")]
            assert await log.append(again) == ["refused"] * 3
            assert await log.append([one("a", 2, 2, "claim")]) == ["stored"]
            assert await log.append([one("a", 1, 9, "delta"), one("a", 1, 9, "end")]) == ["refused", "refused"]
            assert await log.append([one("a", 2, 3, "end")]) == ["stored"]
            assert await log.append([one("a", 2, 4, "delta"), one("a", 3, 4, "claim")]) == ["refused", "refused"]
            assert [found.kind for found in await log.join("a")] == ["end"]
            await log.close()

        run(work())

    def test_keeps_the_end_of_the_owner_when_who_buries_the_turn_comes_later(self, make_log: MakeLog) -> None:
        async def work() -> None:
            log, other = make_log(), make_log()
            await log.append([one("a", 1, 0, "whole")])
            assert await log.append([one("a", 1, 1, "end", b"own", trims=True)]) == ["stored"]
            assert await other.append([one("a", 2, 1, "end", b"late", trims=True)]) == ["refused"]
            assert await log.join("a") == [entry(1, 1, "end", b"own")]
            await log.close()
            await other.close()

        run(work())

    def test_knows_what_is_gone(self, make_log: MakeLog) -> None:
        async def work() -> None:
            log = make_log()
            lost = [one("a", 1, 4, "delta"), one("a", 2, 5, "claim"), one("a", 1, 5, "whole"), one("a", 1, 6, "delta")]
            assert await log.append(lost) == ["gone", "gone", "stored", "stored"]
            await log.close()

        run(work())

    def test_one_of_two_claims_is_stored(self, make_log: MakeLog) -> None:
        async def work() -> None:
            logs = make_log(), make_log()
            await logs[0].append([one("a", 1, 0, "whole")])
            found = await asyncio.gather(*[log.append([one("a", 2, 1, "claim")]) for log in logs])
            assert sorted(found) == [["refused"], ["stored"]]
            for log in logs:
                await log.close()

        run(work())

    def test_begins_with_the_last_entry_that_has_everything(self, make_log: MakeLog) -> None:
        async def work() -> None:
            log = make_log()
            await log.append([one("a", 1, 0, "whole"), one("a", 1, 1, "delta"), one("a", 1, 2, "whole", trims=True)])
            await log.append([one("a", 1, 3, "delta")])
            assert [found.number for found in await log.join("a")] == [2, 3]
            big = b"x" * 10_000_000
            await log.append([one("a", 1, 4, "whole", big, trims=True)])
            assert await log.join("a") == [entry(1, 4, "whole", big)]
            await log.close()

        run(work())

    def test_tells_what_is_new_as_soon_as_it_is_there(self, make_log: MakeLog) -> None:
        async def work() -> None:
            log, other = make_log(), make_log()
            await log.append([one("a", 1, 0, "whole")])
            assert await other.read({"a": (1, 0), "b": (0, 0)}, 0.01) == {}
            reading = asyncio.create_task(other.read({"a": (1, 0), inbox_of("w"): (0, 0)}, PATIENCE))
            await asyncio.sleep(0)
            await log.append([one("a", 1, 1, "delta")])
            assert await reading == {"a": [entry(1, 1, "delta")]}
            await log.tell("w", b"first")
            await log.tell("w", b"second")
            notes = (await other.read({inbox_of("w"): (0, 0)}, PATIENCE))[inbox_of("w")]
            assert [note.data for note in notes] == [b"first", b"second"]
            assert await other.read({inbox_of("w"): notes[-1].place}, 0.01) == {}
            await log.close()
            await other.close()

        run(work())

    def test_knows_which_turns_have_dead_workers(self, make_log: MakeLog) -> None:
        async def work() -> None:
            log, other = make_log(), make_log()
            await log.beat("w", PATIENCE)
            await log.append([one("a", 1, 0, "whole"), one("b", 1, 0, "whole", worker="dead")])
            await log.append([one("c", 1, 0, "whole", worker="dead"), one("c", 1, 1, "end", worker="dead")])
            assert await other.orphans() == {"b"}
            assert await other.orphans({"a": "w", "x": "y", "z": ""}) == {"x", "z"}
            await log.beat("w", 0)
            assert await other.orphans() == {"a", "b"}
            await log.close()
            await other.close()

        run(work())

    def test_forgets_turns_that_have_expired(self, make_log: MakeLog) -> None:
        async def work() -> None:
            log = make_log()
            await log.append([one("a", 1, 0, "end", expires=0.0), one("b", 1, 0, "whole", expires=PATIENCE)])
            assert await log.join("a") == []
            assert len(await log.join("b")) == 1
            await log.close()

        run(work())

    def test_knows_the_newest_turn_of_a_thread(self, make_log: MakeLog) -> None:
        async def work() -> None:
            log, other = make_log(), make_log()
            assert await log.name("chat 7") is None
            assert await log.name("chat 7", "a") == "a"
            await log.name("chat 7", "b")
            assert await other.name("chat 7") == "b"
            await log.close()
            await other.close()

        run(work())


class Workers:
    """Several stores over one log."""

    def __init__(self, make_log: MakeLog) -> None:
        self.make_log = make_log
        self.stores: list[DurableTurns] = []

    def add(self, **options: Any) -> DurableTurns:
        store = DurableTurns(self.make_log(), **{"flush": 0.001, "lease": 1000.0, **options})
        self.stores.append(store)
        return store


@asynccontextmanager
async def workers(make_log: MakeLog) -> AsyncIterator[Workers]:
    found = Workers(make_log)
    try:
        yield found
    finally:
        for store in found.stores:
            await store.close()


async def die(store: DurableTurns) -> None:
    """End all that a worker does in the background, as if it was killed."""
    await store._cancel_work()
    store._produced.clear()


async def read_to_end(store: TurnStore, run_id: str) -> list[TurnState]:
    """All states that a reader sees; texts only grow."""
    states: list[TurnState] = []
    while not states or not states[-1].is_over:
        state = await store.read(run_id, states[-1].version if states else -1, PATIENCE)
        assert state is not None
        states.append(state)
    texts = [text_of(state) for state in states]
    assert all(after.startswith(before) for before, after in pairwise(texts))
    return states


async def until_text(store: TurnStore, text: str, run_id: str = "a") -> None:
    """Read until there is this text."""
    seen, found = -1, None
    while found != text:
        state = await store.read(run_id, seen, PATIENCE)
        assert state is not None
        assert not state.is_over
        seen, found = state.version, text_of(state)


def text_of(state: TurnState) -> str:
    return state.growing.content if isinstance(state.growing, Message) else ""


async def playing(turn: list[Any]) -> AsyncIterator[Any]:
    for growing in turn:
        yield growing


class TestDurableTurns:
    def test_are_a_store(self) -> None:
        assert isinstance(DurableTurns(MemoryLog()), TurnStore)

    @pytest.mark.parametrize("name", ["complete with two calls", "cut off inside a call", "run: two steps"])
    def test_give_every_worker_what_the_source_gave(self, make_log: MakeLog, name: str) -> None:
        turn: list[Any] = RUNS[name.removeprefix("run: ")] if name.startswith("run: ") else TURNS[name]

        async def work() -> None:
            async with workers(make_log) as found:
                one, two = found.add(), found.add()
                await Producer(playing(turn), one, "a").start()
                for store in (one, two, found.add()):
                    end: Any = (await read_to_end(store, "a"))[-1]
                    assert end.growing.to_json() == turn[-1].to_json()

        run(work())

    def test_show_a_turn_while_it_grows_in_another_worker(self, make_log: MakeLog) -> None:
        async def work() -> None:
            provider = Provider()
            rest = provider.hold_before(2)
            async with workers(make_log) as found:
                one, two = found.add(), found.add()
                await Producer(provider.messages(), one, "a").start()
                await until_text(two, "Take the ")
                rest.set()
                states = await read_to_end(two, "a")
                assert text_of(states[-1]) == TEXT

        run(work())

    def test_show_json_alone(self, make_log: MakeLog) -> None:
        async def pieces() -> AsyncIterator[str]:
            yield '{"a": [1, "x'
            yield 'y"], "b": '

        async def work() -> None:
            async with workers(make_log) as found:
                await Producer(astates(pieces()), found.add(), "a").start()
                end: Any = (await read_to_end(found.add(), "a"))[-1]
                assert end.growing.value == {"a": [1, "xy"]}
                assert end.growing.error.reason.name == "UNEXPECTED_END"

        run(work())

    def test_write_one_delta_for_all_that_came_at_once(self) -> None:
        async def work() -> None:
            log = MemoryLog()
            async with workers(lambda: log) as found:
                store = found.add(flush=0.01)
                await store.start("a", lambda: None)
                for count in range(1, 200):
                    await store.put("a", TurnState(count, Message((TextPart("x" * count, is_open=True),))))
                reader = found.add()
                await until_text(reader, "x" * 199)
                assert len(await log.join("a")) < 10

        run(work())

    def test_write_everything_again_when_the_changes_are_longer(self, make_log: MakeLog) -> None:
        async def work() -> None:
            async with workers(make_log) as found:
                store, text = found.add(), ""
                await store.start("a", lambda: None)
                for version in range(1, 30):
                    text += f"{version} " * 300
                    await store.put("a", TurnState(version, Message((TextPart(text, is_open=True),))))
                    await until_text(store, text)
                log = make_log()
                stored = sum(len(entry.data) for entry in await log.join("a"))
                await log.close()
                assert len(text) < stored < 2.2 * len(text) + 5000

        run(work())

    def test_are_stopped_from_any_worker(self, make_log: MakeLog) -> None:
        async def work() -> None:
            provider = Provider()
            provider.hold_before(2)
            async with workers(make_log) as found:
                one, two = found.add(), found.add()
                await Producer(provider.messages(), one, "a", thread="chat").start()
                await until(lambda: provider.given == 2)
                assert await stop(two, thread="chat") is True
                end = (await read_to_end(two, "a"))[-1]
                assert isinstance(end.growing, Message)
                assert end.growing.outcome is Outcome.CANCELLED
                assert await stop(two, "a") is await stop(one, "a") is await stop(one, "b") is False

        run(work())

    def test_are_ended_when_their_worker_dies(self, make_log: MakeLog) -> None:
        async def work() -> None:
            provider = Provider()
            provider.hold_before(2)
            async with workers(make_log) as found:
                one, two, three = found.add(lease=0.2), found.add(lease=0.2), found.add(lease=0.2)
                await Producer(provider.messages(), one, "a").start()
                await until(lambda: provider.given == 2)
                await until_text(two, "Take the ")
                await die(one)
                for store in (two, three):
                    end = (await read_to_end(store, "a"))[-1]
                    assert isinstance(end.growing, Message)
                    assert (end.growing.outcome, text_of(end)) == (Outcome.TRUNCATED, "Take the ")

        run(work())

    def test_are_ended_by_the_sweeper_though_nobody_reads_them(self, make_log: MakeLog) -> None:
        async def work() -> None:
            provider = Provider()
            provider.hold_before(2)
            async with workers(make_log) as found:
                one, two = found.add(lease=0.2), found.add(lease=0.2)
                await Producer(provider.messages(), one, "a").start()
                await until(lambda: provider.given == 2)
                await die(one)
                await two.read("b", -1, 0)
                log = make_log()
                ends: list[Entry] = []
                while not ends or ends[-1].kind != "end":
                    ends = (await log.read({"a": ends[-1].place if ends else (1, 0)}, PATIENCE)).get("a", ends)
                await log.close()

        run(work())

    def test_go_on_in_another_worker_that_reads_the_source_again(self, make_log: MakeLog) -> None:
        async def work() -> None:
            provider = Provider()
            provider.hold_before(3)
            orphans: list[Orphan] = []

            def resume(orphan: Orphan) -> Any:
                orphans.append(orphan)
                return Provider().messages()

            async with workers(make_log) as found:
                one, two, three = found.add(lease=0.2), found.add(lease=0.2, resume=resume), found.add(lease=0.2)
                await Producer(provider.messages(), one, "a").start()
                reading = asyncio.create_task(read_to_end(three, "a"))
                await until(lambda: provider.given == 3)
                await until_text(two, "Take the night ")
                await die(one)
                three._resume = resume  # type: ignore[misc] # whoever is first
                end = (await reading)[-1]
                assert isinstance(end.growing, Message)
                assert (end.growing.outcome, text_of(end)) == (Outcome.COMPLETE, TEXT)
                assert [(orphan.run_id, orphan.epoch) for orphan in orphans[:1]] == [("a", 1)]

        run(work())

    def test_are_left_to_a_worker_that_is_alive(self, make_log: MakeLog) -> None:
        async def work() -> None:
            provider = Provider()
            rest = provider.hold_before(2)
            async with workers(make_log) as found:
                one, two = found.add(), found.add()
                await Producer(provider.messages(), one, "a").start()
                await until_text(two, "Take the ")
                await two._take_over("a")
                rest.set()
                assert text_of((await read_to_end(two, "a"))[-1]) == TEXT

        run(work())

    def test_compare_a_source_that_is_read_again_only_a_few_times(self, monkeypatch: pytest.MonkeyPatch) -> None:
        looks: list[object] = []
        compare = _durable.has_all

        def look(growing: Any, stored: Any) -> bool:
            looks.append(growing)
            return compare(growing, stored)

        monkeypatch.setattr(_durable, "has_all", look)
        events = word_events(("word ",) * 300)

        async def work() -> None:
            log = MemoryLog()
            first, again = Provider(events), Provider(events)
            first.hold_before(250)
            async with workers(lambda: log) as found:
                one = found.add()
                await Producer(first.messages(), one, "a").start()
                await until_text(one, "word " * 250)
                two = found.add(resume=lambda _: again.messages())
                await die(one)
                await log.beat(one.worker, 0)
                assert text_of((await read_to_end(two, "a"))[-1]) == "word " * 300

        run(work())
        assert len(looks) < 5

    def test_never_join_two_answers(self, make_log: MakeLog) -> None:
        async def work() -> None:
            provider = Provider()
            provider.hold_before(2)
            other = Provider(word_events(("Take ", "a ", "plane")))
            async with workers(make_log) as found:
                one, two = found.add(lease=0.2), found.add(lease=0.2, resume=lambda _: other.messages())
                await Producer(provider.messages(), one, "a").start()
                await until_text(two, "Take the ")
                await die(one)
                end = (await read_to_end(two, "a"))[-1]
                assert isinstance(end.growing, Message)
                assert (end.growing.outcome, text_of(end)) == (Outcome.TRUNCATED, "Take the ")
                await until(lambda: other.closed == 1)

        run(work())

    def test_are_handed_over_at_once_when_the_application_shuts_down(self, make_log: MakeLog) -> None:
        async def work() -> None:
            provider = Provider()
            provider.hold_before(2)
            async with workers(make_log) as found:
                one = found.add()
                two = found.add(resume=lambda _: Provider().messages())
                await Producer(provider.messages(), one, "a").start()
                await until_text(two, "Take the ")
                await one.close()
                assert text_of((await read_to_end(two, "a"))[-1]) == TEXT
                await until(lambda: provider.cancelled == provider.closed == 1)
                with pytest.raises(StoreUnavailableError):
                    await one.read("a", -1, 0)

        run(work())

    def test_stop_their_source_when_another_worker_has_taken_them(self, make_log: MakeLog) -> None:
        """As after a pause that was longer than the lease."""

        async def work() -> None:
            provider = Provider()
            rest = provider.hold_before(2)
            async with workers(make_log) as found:
                one, two = found.add(lease=0.2), found.add(lease=0.2)
                await Producer(provider.messages(), one, "a").start()
                await until_text(two, "Take the ")
                await two._log.beat(one.worker, 0)
                await two._bury("a")
                rest.set()
                for store in (one, two):
                    end = (await read_to_end(store, "a"))[-1]
                    assert isinstance(end.growing, Message)
                    assert (end.growing.outcome, text_of(end)) == (Outcome.TRUNCATED, "Take the ")
                await until(lambda: provider.closed == 1)

        run(work())

    def test_can_be_as_many_as_are_allowed_each_with_a_name_of_its_own(self, make_log: MakeLog) -> None:
        async def work() -> None:
            async with workers(make_log) as found:
                one, two = found.add(max_turns=1), found.add()
                await one.start("a", lambda: None)
                with pytest.raises(TooManyTurnsError):
                    await one.start("b", lambda: None)
                with pytest.raises(ValueError, match="there is a turn 'a' already"):
                    await two.start("a", lambda: None)
                assert await two.read("c", -1, 0) is None

        run(work())


class Broken(MemoryLog):
    """A log that fails when it is told to, also after it has stored something."""

    fails = False
    stores = False

    async def append(self, entries: Any) -> Any:
        if self.fails and not self.stores:
            raise ConnectionError("no log")
        found = await super().append(entries)
        if self.fails:
            raise ConnectionError("no answer")
        return found

    async def join(self, run_id: str) -> list[Entry]:
        if self.fails:
            raise ConnectionError("no log")
        return await super().join(run_id)

    def lose(self) -> None:
        self._turns.clear()
        self._workers.clear()


class TestALogThatFails:
    @pytest.mark.parametrize("stores", [False, True])
    def test_for_a_while_loses_nothing(self, stores: bool) -> None:  # noqa: FBT001 - drawn
        async def work() -> None:
            log, provider = Broken(), Provider()
            holds = provider.hold_before(2)
            rest = provider.hold_before(4)
            async with workers(lambda: log) as found:
                one, two = found.add(), found.add()
                await Producer(provider.messages(), one, "a").start()
                reading = asyncio.create_task(read_to_end(two, "a"))
                await until_text(two, "Take the ")
                log.stores, log.fails = stores, True
                holds.set()
                await until(lambda: provider.given == 4)
                await asyncio.sleep(0.02)
                log.fails = False
                rest.set()
                for state in ((await reading)[-1], (await read_to_end(one, "a"))[-1]):
                    assert (text_of(state), state.is_over) == (TEXT, True)

        run(work())

    def test_by_losing_everything_is_healed(self) -> None:
        async def work() -> None:
            log, provider = Broken(), Provider()
            rest = provider.hold_before(2)
            async with workers(lambda: log) as found:
                one, two = found.add(), found.add()
                await Producer(provider.messages(), one, "a").start()
                reading = asyncio.create_task(read_to_end(two, "a"))
                await until_text(two, "Take the ")
                log.lose()
                rest.set()
                assert text_of((await reading)[-1]) == TEXT
                assert text_of((await read_to_end(found.add(), "a"))[-1]) == TEXT

        run(work())

    def test_by_losing_everything_leaves_no_turn_without_a_lease(self) -> None:
        async def work() -> None:
            log, provider = Broken(), Provider()
            more, rest = provider.hold_before(2), provider.hold_before(3)
            async with workers(lambda: log) as found:
                one = found.add(lease=1000.0)
                await Producer(provider.messages(), one, "a").start()
                await until_text(one, "Take the ")
                log.lose()
                more.set()
                await until(lambda: bool(log._turns))
                assert await log.orphans() == set()
                rest.set()
                assert text_of((await read_to_end(found.add(), "a"))[-1]) == TEXT

        run(work())

    def test_with_a_gap_asks_for_everything(self) -> None:
        async def work() -> None:
            log, provider = Broken(), Provider()
            rest = provider.hold_before(3)
            async with workers(lambda: log) as found:
                one, two = found.add(), found.add()
                await Producer(provider.messages(), one, "a").start()
                await until_text(one, "Take the night ")
                entries = log._turns["a"].entries
                del entries[1:]  # what a server forgets that failed over
                entries.append(Entry(1, one._produced["a"].place[1] + 1, "delta", b'[["t",0,"lost"]]'))
                one._produced["a"].place = entries[-1].place
                reading = asyncio.create_task(read_to_end(two, "a"))
                await until_text(two, "Take the night ")
                rest.set()
                assert text_of((await reading)[-1]) == TEXT

        run(work())

    def test_for_ever_ends_the_turn_for_who_reads_it_here(self) -> None:
        async def work() -> None:
            log, provider = Broken(), Provider()
            rest = provider.hold_before(2)
            async with workers(lambda: log) as found:
                one = found.add(lease=0.2)
                await Producer(provider.messages(), one, "a").start()
                await until_text(one, "Take the ")
                log.fails = True
                rest.set()
                end = (await read_to_end(one, "a"))[-1]
                assert (text_of(end), end.failure) == ("Take the ", "the turn could not be stored")
                response = await resume_response(found.add(lease=0.2), "a", CompactEncoder())
                assert (response.status_code, response.headers["retry-after"]) == (503, "1")
                log.fails = False

        run(work())

    def test_by_losing_everything_is_healed_though_nothing_new_comes(self) -> None:
        async def work() -> None:
            log, provider = Broken(), Provider()
            rest = provider.hold_before(2)
            async with workers(lambda: log) as found:
                one = found.add(lease=0.2)
                await Producer(provider.messages(), one, "a").start()
                await until_text(one, "Take the ")
                log.lose()
                await until(lambda: bool(log._turns))
                await until_text(found.add(), "Take the ")
                rest.set()
                assert text_of((await read_to_end(found.add(), "a"))[-1]) == TEXT

        run(work())

    def test_by_losing_everything_together_with_the_worker_ends_the_turn(self) -> None:
        async def work() -> None:
            log, provider = Broken(), Provider()
            rest = provider.hold_before(2)
            async with workers(lambda: log) as found:
                one, two = found.add(lease=0.2), found.add(lease=0.2)
                await Producer(provider.messages(), one, "a").start()
                reading = asyncio.create_task(read_to_end(two, "a"))
                await until_text(two, "Take the ")
                await die(one)
                log.lose()
                end = (await reading)[-1]
                assert isinstance(end.growing, Message)
                assert (text_of(end), end.growing.outcome) == ("Take the ", Outcome.TRUNCATED)
                rest.set()

        run(work())

    def test_between_a_refusal_and_the_question_whose_the_turn_is_does_not_end_it(self) -> None:
        async def work() -> None:
            log, provider = Broken(), Provider()
            rest = provider.hold_before(2)
            async with workers(lambda: log) as found:
                one = found.add()
                await Producer(provider.messages(), one, "a").start()
                await until_text(one, "Take the ")
                log.lose()
                await one._look_who_owns("a", one._produced["a"])
                rest.set()
                assert text_of((await read_to_end(one, "a"))[-1]) == TEXT

        run(work())

    def test_at_shutdown_stops_the_sources_all_the_same(self) -> None:
        async def work() -> None:
            log, provider = Broken(), Provider()
            provider.hold_before(2)
            async with workers(lambda: log) as found:
                one = found.add()
                await Producer(provider.messages(), one, "a").start()
                await until_text(one, "Take the ")
                one._produced["a"].is_new = log.fails = True
                await one.close()
                await until(lambda: provider.closed == 1)

        run(work())

    @pytest.mark.parametrize("name", ["orphans", "tell"])
    def test_when_a_turn_is_stopped_is_out_of_reach(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        async def fail(*_: object) -> None:
            raise ConnectionError("no log")

        async def work() -> None:
            log, provider = MemoryLog(), Provider()
            rest = provider.hold_before(2)
            async with workers(lambda: log) as found:
                one, two = found.add(), found.add()
                await Producer(provider.messages(), one, "a").start()
                await until_text(two, "Take the ")
                monkeypatch.setattr(log, name, fail)
                with pytest.raises(StoreUnavailableError):
                    await two.stop("a")
                monkeypatch.undo()
                rest.set()

        run(work())

    def test_to_name_a_turn_ends_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def fail(*_: object) -> None:
            raise ConnectionError("no log")

        async def work() -> None:
            log, provider = MemoryLog(), Provider()
            monkeypatch.setattr(log, "name", fail)
            async with workers(lambda: log) as found:
                one = found.add(max_turns=1)
                with pytest.raises(StoreUnavailableError):
                    await Producer(provider.messages(), one, "a", thread="chat").start()
                await until(lambda: not one._produced)
                assert (await read_to_end(one, "a"))[-1].failure

        run(work())

    def test_and_goes_on_in_a_later_form_is_not_shown_as_it_was(self) -> None:
        async def work() -> None:
            log, provider = MemoryLog(), Provider()
            rest = provider.hold_before(2)
            async with workers(lambda: log) as found:
                one, two = found.add(), found.add()
                await Producer(provider.messages(), one, "a").start()
                reading = asyncio.create_task(read_to_end(two, "a"))
                await until_text(two, "Take the ")
                later = json.dumps({"jsontide": 2, "w": one.worker, "m": []}).encode()
                log._turns["a"].entries.append(Entry(2, 50, "whole", later))
                log._wake()
                with pytest.raises(StoreUnavailableError, match="another version"):
                    await reading
                rest.set()

        run(work())

    def test_and_holds_a_later_form_is_not_guessed_at(self) -> None:
        async def work() -> None:
            log = MemoryLog()
            await log.append([one("a", 1, 0, "whole", json.dumps({"jsontide": 2, "w": "w", "m": []}).encode())])
            async with workers(lambda: log) as found:
                response = await resume_response(found.add(), "a", CompactEncoder())
                assert response.status_code == 503

        run(work())


async def body_of(response: Any) -> CompactValue:
    value, sent = CompactValue(), b""
    with suppress(StopAsyncIteration):
        async for chunk in response.body_iterator:
            sent += chunk
    for line in sent.decode().split("\n"):
        if line.startswith("data: "):
            value = value.read(json.loads(line.removeprefix("data: ")))
    return value


class TestThreads:
    def test_are_joined_by_their_newest_turn(self, make_log: MakeLog) -> None:
        async def work() -> None:
            async with workers(make_log) as found:
                one, two = found.add(), found.add()
                for words in (("Old",), ("Take ", "it")):
                    source = Provider(word_events(words)).messages()
                    run_id = new_run_id()
                    await Producer(source, one, run_id, thread="chat 7").start()
                    await read_to_end(one, run_id)
                value: Any = await body_of(await resume_response(two, thread="chat 7", encoder=CompactEncoder()))
                assert value.value["parts"] == [{"type": "text", "text": "Take it"}]
                none = await resume_response(two, thread="chat 8", encoder=CompactEncoder())
                again = await resume_response(two, thread="chat 7", encoder=CompactEncoder(), finished="nothing")
                assert none.status_code == again.status_code == 204

        run(work())


def test_no_jump_of_the_clock_ends_a_lease_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        log, now = SqliteLog(tmp_path / "turns.sqlite"), time.time()
        await log.beat("w", 10)
        for jump in (1e6, -1e6):
            monkeypatch.setattr(time, "time", lambda jump=jump: now + jump)
            assert await log.orphans({"a": "w", "b": "v"}) == {"b"}
        started, _ = time.monotonic, monkeypatch.setattr(time, "monotonic", lambda: 1.0)
        assert await log.orphans({"a": "w"}) == {"a"}, "a lease from before the machine was started again"
        monkeypatch.setattr(time, "monotonic", started)
        await log.close()

    run(work())


def test_redis_is_asked_for_all_turns_only_when_a_worker_is_dead(redis_url: str) -> None:
    async def work() -> None:
        log: Any = redis_turns(redis_url, prefix=new_run_id())._log

        async def count() -> int:
            stats = await log._redis.info("commandstats")
            return int(stats.get("cmdstat_hgetall", {"calls": 0})["calls"])

        await log.beat("w", 10)
        await log.append([one("a", 1, 0, "whole")])
        before = await count()
        assert await log.orphans() == set()
        assert await count() == before
        await log.beat("w", 0)
        assert await log.orphans() == {"a"}
        assert await count() == before + 1
        await log.append([one("a", 2, 1, "end")])
        assert (await log.orphans(), await log.orphans(), await count()) == (set(), set(), before + 2)
        await log.close()

    run(work())


@pytest.mark.parametrize("odd", [{"x": 1}, {"k": b"\xff", "d": "{}"}, {"k": "delta", "d": "[", "n": "x"}])
def test_an_entry_in_redis_that_is_none_keeps_no_other_turn_from_being_read(redis_url: str, odd: Any) -> None:
    async def work() -> None:
        log: Any = redis_turns(redis_url, prefix=new_run_id())._log
        await log.append([one("a", 1, 0, "whole"), one("b", 1, 0, "whole")])
        await log._redis.xadd(log._key("a"), odd, id="1-9")
        await log.append([one("b", 1, 1, "delta")])
        found = await log.read({"a": (1, 0), "b": (1, 0)}, 1)
        assert [entry.number for entry in found["b"]] == [1]
        assert [entry.data for entry in found["a"]] == [b""]
        await log.close()

    run(work())


def test_a_file_of_turns_survives_its_processes_and_belongs_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "turns.sqlite"

    async def ask() -> None:
        turns = sqlite_turns(path, flush=0.001)
        await Producer(astream_message(Provider().stream()), turns, "a").start()
        await read_to_end(turns, "a")
        await turns.close()

    async def join() -> None:
        turns = sqlite_turns(path)
        assert text_of((await read_to_end(turns, "a"))[-1]) == TEXT
        await turns.close()

    run(ask())
    run(join())
    if os.name == "posix":
        files = [path, *tmp_path.glob("turns.sqlite-*")]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"log": "redis"}, TypeError),
        ({"log": MemoryLog}, TypeError),
        ({"flush": 0}, ValueError),
        ({"lease": "10"}, TypeError),
        ({"max_turns": 0}, ValueError),
        ({"max_age": -1}, ValueError),
        ({"resume": 7}, TypeError),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        DurableTurns(**{"log": MemoryLog(), **options})
