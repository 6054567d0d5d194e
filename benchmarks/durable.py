"""`python -m benchmarks.durable`: what durable turns cost in Redis and in a file, and what many would take, as a page.

In: a redis-server of its own, processes that run turns, and others that read them.
Out: commands, bytes and processor time for each delta, delays, memory, joins; and a plan for a million turns.
Rule: each delta carries the time at which it was given, and every process here has the same clock. The compiled build
is measured, which `builds.installed` makes once for each state of the sources.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from math import nan
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, quantiles
from typing import Any

from benchmarks.builds import ROOT, installed, machine
from benchmarks.pages import Command, Figure, Target, table, target_table
from benchmarks.whole_way.streams import prose_text
from jsontide import COMPILED, __version__, astream_message, stream_message
from jsontide.frontends import CompactEncoder
from jsontide.web import DurableTurns, TurnState, redis_turns, resume_response, sqlite_turns
from jsontide.web._producer import Producer
from tests.web.redis_server import serve_redis

RATE = 50
"""Deltas a second of a turn."""
FLUSHES = (0.05, 0.2, 1.0)
SIZES = (10_000, 100_000, 1_000_000)
AT_ONCE = (13, 90)
"""Characters of a flush: three short deltas, and twenty."""
MOST_FLUSHES = 20_000
JOINS = 5
MANY, TEXT = 1_000_000, 10_000
LOGS = ("Redis", "SQLite")
HEAD = """# Durable turns

What it costs to keep turns where they survive their worker; [the how-to](../how-to/resume.md) shows how.
"""


@dataclass(frozen=True)
class Extent:
    """How much is measured."""

    turns: int = 200
    seconds: float = 12.0
    sizes: Sequence[int] = SIZES
    short: Sequence[int] = (1_000, 10_000)
    pace: float = 33.0
    """How many short turns begin in a second."""


QUICK = Extent(5, 1.0, SIZES[:1], (10, 40), 100.0)


@dataclass(frozen=True)
class Load:
    """Many turns at once: what a delta costs, and how late readers saw it, in seconds; of Redis also what it did."""

    log: str
    flush: float
    produced: float
    read: float
    median: float
    late: float
    commands: float
    received: float
    sent: float
    server: float


@dataclass(frozen=True)
class Kept:
    """One long turn: memory of Redis in times of its text, and seconds until a reader has all of it."""

    size: int
    ratios: Mapping[int, Sequence[float]]
    joins: Sequence[float]


@dataclass(frozen=True)
class Found:
    """All of it; `memory` is the most of a process before the first turn, after some, and after many."""

    loads: Sequence[Load]
    kept: Sequence[Kept]
    memory: Sequence[Sequence[int]]


def opened(log: str, **options: Any) -> DurableTurns:  # noqa: ANN401 - those of DurableTurns
    return redis_turns(log, **options) if "://" in log else sqlite_turns(log, **options)


async def words(count: int, pause: float) -> AsyncIterator[dict[str, Any]]:
    """Give words at fixed times, each of which says when it was given."""
    began = time.monotonic()
    for at in range(count):
        await asyncio.sleep(max(0.0, began + at * pause - time.monotonic()))
        yield {"message": {"content": f"{time.monotonic():010.4f} "}, "done": False}
    yield {"message": {}, "done": True}


async def read(turns: DurableTurns, name: str, delays: list[float]) -> None:
    """Read a turn to its end; what was said before it was joined is late for another reason."""
    seen, length, joined = -1, 0, 0.0
    while True:
        state = await turns.read(name, seen, None)
        if state is None:
            raise LookupError(name)
        now, content = time.monotonic(), getattr(state.growing, "content", "")
        joined = joined or now
        given = [float(word) for word in content[length:].split()]
        delays += [now - at for at in given if at > joined]
        seen, length = state.version, len(content)
        if state.is_over:
            return


def produce(log: str, flush: float, turns: int, count: int) -> float:
    """Run turns, until all have ended; return the processor seconds."""

    async def work() -> float:
        store = opened(log, flush=flush)
        while await store.name("reader") is None:  # noqa: ASYNC110 - another process sets it
            await asyncio.sleep(0.1)
        began = time.process_time()
        for at in range(turns):
            await Producer(astream_message(words(count, 1 / RATE)), store, str(at)).start()
        for at in range(turns):
            await read(store, str(at), [])
        spent = time.process_time() - began
        await store.close()
        return spent

    return asyncio.run(work())


def consume(log: str, turns: int) -> tuple[float, list[float]]:
    """Read turns to their ends; return the processor seconds and the delays."""

    async def work() -> tuple[float, list[float]]:
        delays: list[float] = []
        store = opened(log)
        await store.name("reader", "ready")
        began = time.process_time()
        while await store.read(str(turns - 1), -1, 0) is None:  # noqa: ASYNC110 - another process begins it
            await asyncio.sleep(0.1)
        await asyncio.gather(*[read(store, str(at), delays) for at in range(turns)])
        spent = time.process_time() - began
        await store.close()
        return spent, delays

    return asyncio.run(work())


def processes() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


def load(log: str, flush: float, extent: Extent, client: Any) -> Load:  # noqa: ANN401 - of the package redis
    client.flushall()
    client.config_resetstat()
    before, count = used(client), int(extent.seconds * RATE)
    with processes() as pool:
        reader = pool.submit(consume, log, extent.turns)
        produced = pool.submit(produce, log, flush, extent.turns, count).result()
        spent, delays = reader.result()
    stats, cuts = client.info("stats"), quantiles(delays if len(delays) > 1 else [nan, nan], n=100)
    commands = sum(one["calls"] for one in client.info("commandstats").values())
    done = [commands, stats["total_net_input_bytes"], stats["total_net_output_bytes"], used(client) - before]
    commands, received, sent, server, produced, spent = (
        one / (extent.turns * count) for one in [*done, produced, spent]
    )
    kind = LOGS["://" not in log]
    return Load(kind, flush, produced, spent, cuts[49], cuts[98], commands, received, sent, server)


def used(client: Any) -> float:  # noqa: ANN401 - of the package redis
    """Return the processor seconds of the server so far."""
    info = client.info("cpu")
    return float(info["used_cpu_sys"] + info["used_cpu_user"])


async def grow(turns: DurableTurns, name: str, text: str, at_once: int, look: Callable[[int], None]) -> None:
    """Store a turn flush by flush, and leave it running."""
    pieces = [text[at : at + at_once] for at in range(0, len(text), at_once)]
    events = ({"message": {"content": piece}, "done": False} for piece in pieces)
    await turns.start(name, lambda: None)
    seen = -1
    for version, message in enumerate(islice(stream_message(events), len(pieces)), 1):
        await turns.put(name, TurnState(version, message))
        while (state := await turns.read(name, seen, None)) is not None and state.growing is not message:
            seen = state.version
        look(version * at_once)


async def keep(logs: Sequence[str], client: Any, size: int) -> Kept:  # noqa: ANN401 - of the package redis
    text, found = prose_text(size), dict[int, list[float]]()
    redis, sqlite = (opened(log, flush=0.001) for log in logs)
    for at_once in AT_ONCE:
        if size / at_once > MOST_FLUSHES:
            continue
        name, ratios = f"{size} {at_once}", found.setdefault(at_once, [])

        def look(length: int, name: str = name, ratios: list[float] = ratios) -> None:
            if length / size > 0.5 + len(ratios) / 200:  # a hundred times in the second half
                ratios.append(client.memory_usage(f"jsontide:{{{name}}}", samples=0) / length)

        await grow(redis, name, text, at_once, look)
    name = f"{size} {AT_ONCE[-1]}"
    await grow(sqlite, name, text, AT_ONCE[-1], lambda _: None)
    joins = [min([await join(log, name, size) for _ in range(JOINS)]) for log in logs]
    await redis.close()
    await sqlite.close()
    return Kept(size, found, joins)


async def join(log: str, name: str, size: int) -> float:
    """Return the seconds until a worker that knows nothing of a turn has sent all of it."""
    turns, began, length = opened(log), time.perf_counter(), 0
    response: Any = await resume_response(turns, name, CompactEncoder())
    while length < size:
        length += len(await anext(response.body_iterator))
    spent = time.perf_counter() - began
    await response.body_iterator.aclose()
    await turns.close()
    return spent


def run_short_turns(log: str, marks: Sequence[int], pace: float) -> list[int]:
    """Return the most memory of a process that runs and reads turns: before the first, and after some numbers."""

    async def work() -> list[int]:
        turns, began, found = opened(log, max_age=5.0), time.monotonic(), [most_memory()]
        running: set[asyncio.Task[None]] = set()
        for at in range(1, marks[-1] + 1):
            await asyncio.sleep(max(0.0, began + at / pace - time.monotonic()))
            await Producer(astream_message(words(60, 0.002)), turns, f"short {at}").start()
            running.add(task := asyncio.create_task(read(turns, f"short {at}", [])))
            task.add_done_callback(running.discard)
            if at in marks:
                found.append(most_memory())
        await asyncio.gather(*running)
        await turns.close()
        return found

    return asyncio.run(work())


def most_memory() -> int:
    """Return the most bytes of this process; `getrusage` would count those of the one that started it."""
    status = Path("/proc/self/status").read_text("utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def measure(extent: Extent) -> Found:
    with tempfile.TemporaryDirectory() as folder, serve_redis() as server:
        logs = [server.url, str(Path(folder, "turns.sqlite"))]
        ways = [*((logs[0], flush) for flush in FLUSHES), (logs[1], FLUSHES[0])]
        loads = [load(log, flush, extent, server.client) for log, flush in ways]
        kept = [asyncio.run(keep(logs, server.client, size)) for size in extent.sizes]
        with processes() as pool:
            jobs = [pool.submit(run_short_turns, log, extent.short, extent.pace) for log in logs]
            return Found(loads, kept, [job.result() for job in jobs])


def load_table(found: Found) -> str:
    def row(one: Load) -> list[str]:
        own = [f"{one.commands:.2f}", f"{one.received:.0f} / {one.sent:.0f}", f"{1e6 * one.server:.1f}"]
        return [
            f"{one.log}, flush {1000 * one.flush:.0f} ms",
            *(own if one.log == "Redis" else ["", "", ""]),
            f"{1e6 * one.produced:.0f} / {1e6 * one.read:.0f}",
            f"{1000 * one.median:.0f} / {1000 * one.late:.0f}",
        ]

    header = ("", "commands", "bytes to / from Redis", "Redis, us", "producer / reader, us", "delay p50 / p99, ms")
    notes = [
        "One process runs all turns, another one reads all, and the server of Redis shares the processors with both.",
        f"A delta is what one event of a provider brings: here a word of 11 characters, {RATE} a second in each turn.",
        "The figures are for each delta, all in: beginning, joining and ending turns, leases, and readers.",
        "Microseconds are processor time; a delay is from the event to the reader.",
        "With a flush of 50 ms, 50 deltas are 20 entries at most, and fewer where the processors are busy.",
    ]
    return table("Many turns at once", header, [row(one) for one in found.loads], notes)


def kept_table(found: Found) -> str:
    header = ["text", *(f"{at_once} characters a flush" for at_once in AT_ONCE), *(f"join, {log}, ms" for log in LOGS)]
    rows = [
        [
            f"{one.size // 1000:,} KB",
            *(f"{mean(of):.2f} (most {max(of):.2f})" if (of := one.ratios.get(n)) else "" for n in AT_ONCE),
            *(f"{1000 * seconds:.1f}" for seconds in one.joins),
        ]
        for one in found.kept
    ]
    notes = [
        "Memory of Redis in times of the text, while its second half comes; 13 characters are three short deltas.",
        "A join is by a worker that has no connection yet and knows nothing of the turn, until all of it is sent.",
        "It reads the last entry that has everything, and each delta since: of a long text, thousands.",
    ]
    return table("One long turn", header, rows, notes)


def memory_table(found: Found, extent: Extent) -> str:
    header = ("", "before", *(f"{count:,} turns" for count in extent.short))
    rows = [[log, *(f"{most / 1e6:.1f}" for most in memory)] for log, memory in zip(LOGS, found.memory, strict=True)]
    notes = [
        f"The most MB of a process that begins {extent.pace:.0f} turns a second, of 60 deltas each, and reads them.",
        "It forgets a turn half a minute after its last reader.",
    ]
    return table("Memory of a worker", header, rows, notes)


def targets(found: Found) -> str:
    kept = {one.size: one for one in found.kept}
    middle, largest = kept.get(SIZES[1]), kept.get(SIZES[2])
    growth = max((memory[-1] / memory[1], log) for log, memory in zip(LOGS, found.memory, strict=True))
    listed = [
        Target("commands of Redis for a delta, flush 50 ms", "≤ 0.35", Figure(found.loads[0].commands)),
        Target(
            "memory of Redis / text, 100 KB", "≤ 2", Figure(max(map(max, middle.ratios.values()))) if middle else None
        ),
        Target("join of 1 MB", "≤ 50 ms", Figure(1000 * max(largest.joins)) if largest else None),
        Target("memory of a worker, many turns / some", "≤ 1.1", Figure(*growth)),
    ]
    return target_table(listed, ["Of memory and joins, the worst."])


def plan(found: Found) -> str:
    loads, deltas = [one for one in found.loads if one.log == "Redis"], MANY * RATE
    rows = [
        [
            f"{1000 * one.flush:.0f} ms",
            f"{deltas * one.commands / 1e6:.1f}",
            f"{deltas * (one.received + one.sent) * 8 / 1e9:.0f}",
            *(f"{deltas * seconds:,.0f}" for seconds in (one.server, one.produced, one.read)),
            f"{1000 * one.median:,.0f}",
        ]
        for one in loads
    ]
    header = ("flush", "million commands/s", "Gbit/s", "Redis", "running turns", "reading turns", "delay p50, ms")
    text = [
        f"Calculated from the tables, for {MANY:,} turns at the same time, each with {TEXT // 1000} KB of text,",
        f"{RATE} deltas a second and a reader in another process. Nothing of this size was run.",
        "The three columns before the delay are processors that are busy.",
    ]
    slow, gigabytes = loads[-1], MANY * TEXT * mean(found.kept[0].ratios[AT_ONCE[0]]) / 1e9
    servers = max(1, round(2 * deltas * slow.server))
    notes = [
        f"- Memory: {gigabytes:,.0f} GB in all servers of Redis together.",
        f"- A server of Redis uses one processor. With a flush of {1000 * slow.flush:,.0f} ms, {servers:,} would be",
        f"  half busy, each with {MANY / servers:,.0f} turns and {1000 * gigabytes / servers:,.0f} MB.",
        "- The only command that names several turns is the one that reads what a worker follows: give each group of",
        "  workers a server, and send all requests for a turn to its group.",
        "- Most of the work is reading what providers send, which no store changes. A longer flush makes less work for",
        "  Redis and for readers, and a longer delay.",
        "- A lease is a few commands for each process and third of a lease, whatever its turns.",
    ]
    return "\n".join([table("A million turns", header, rows, text), *notes, ""])


def tables(found: Found, extent: Extent) -> list[str]:
    return [targets(found), load_table(found), kept_table(found), memory_table(found, extent), plan(found)]


def page(found: Found, extent: Extent) -> str:
    build = "compiled" if COMPILED else "pure Python"
    made = f"{extent.turns} turns for {extent.seconds:.0f} s, the least of {JOINS} joins"
    lines = [f"`make durable`: jsontide {__version__}, {build}, {made}.  ", *machine(), ""]
    return "\n".join([HEAD, *tables(found, extent), *lines])


def main(arguments: list[str]) -> int:
    command = Command("benchmarks.durable", "durable.md", __doc__, "nothing: all is measured")
    command.parser.add_argument("--quick", action="store_true", help="a few turns, no page")
    options = command.parse(arguments)
    if not COMPILED and not options.quick:
        environment = {**os.environ, "PYTHONPATH": f"{installed()}{os.pathsep}{ROOT}"}
        again = [sys.executable, "-m", "benchmarks.durable", *arguments]
        # The command is ours, word for word.
        return subprocess.run(again, env=environment, check=False).returncode  # noqa: S603
    extent = QUICK if options.quick else Extent()
    found = measure(extent)
    command.publish(tables(found, extent), lambda: page(found, extent))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
