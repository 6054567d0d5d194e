"""`python -m benchmarks.archives`: what a batch costs beside a plain loop over the same recordings, as a page.

In: archives of generated recordings of mixed quality. Out: seconds, ratios, memory, and what they mean for many more.
Rule: what is compared runs in the same order, on the same files, several times, and the least counts.
"""

import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.progress import track

from benchmarks.builds import machine
from benchmarks.pages import Command, table
from jsontide import COMPILED, __version__
from jsontide.archives import BatchResult, RecordingJob, map_recordings, plan
from jsontide.archives.shards import read_shard
from tests.archives.made import pack, recordings

COUNT, QUICK_COUNT = 100_000, 2_000
IN_AN_ARCHIVE = 2_000
ROUNDS = 2
MANY = 100_000_000
HEAD = """# Archives of recordings

`jsontide batch` asks all recordings of an archive something; [the how-to](../how-to/archives.md) shows how.
This page has what it costs beside a plain loop that reads the same recordings and keeps nothing.
"""
JOBS = {"stats": RecordingJob("stats"), "check": RecordingJob("check", schema={"type": "object"})}


@dataclass(frozen=True)
class Found:
    """Seconds, and the most memory of a worker."""

    recordings: int
    packed: int
    unpacked: int
    loops: dict[str, float]
    batches: dict[tuple[str, int], float]
    report: float
    memory: int


def make(folder: Path, count: int) -> tuple[int, int]:
    """Write archives, and return their bytes packed and unpacked."""
    packed = unpacked = 0
    for at in track(range(0, count, IN_AN_ARCHIVE), "making recordings"):
        files = recordings(min(IN_AN_ARCHIVE, count - at), seed=at)
        data = pack(files)
        (folder / f"turns-{at:09}.tar.gz").write_bytes(data)
        packed, unpacked = packed + len(data), unpacked + sum(map(len, files.values()))
    return packed, unpacked


def loop(folder: Path, job: RecordingJob) -> None:
    for shard in plan(folder):
        for name, data in read_shard(shard, job.max_bytes):
            if isinstance(data, bytes):
                for _ in job.rows(name, data):
                    pass


def least(call: Callable[[], object], rounds: int) -> float:
    found = []
    for _ in range(rounds):
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return min(found)


def batch(folder: Path, out: Path, job: RecordingJob, workers: int) -> BatchResult:
    shutil.rmtree(out, ignore_errors=True)
    return map_recordings(folder, job, out, workers=workers)


def measure(count: int, rounds: int) -> Found:
    with tempfile.TemporaryDirectory() as directory:
        folder, out = Path(directory, "in"), Path(directory, "out")
        folder.mkdir()
        packed, unpacked = make(folder, count)
        loops, batches = {}, {}
        for name, job in JOBS.items():
            loops[name] = least(lambda job=job: loop(folder, job), rounds)  # type: ignore[misc]
            for workers in (1, 2):
                batches[name, workers] = least(lambda job=job, n=workers: batch(folder, out, job, n), rounds)  # type: ignore[misc]
        batch(folder, out, JOBS["stats"], 2)
        # What is done is not done again: all of this is the tables and the report.
        report = least(lambda: map_recordings(folder, JOBS["stats"], out), rounds)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        return Found(count, packed, unpacked, loops, batches, report, memory)


def rows(found: Found) -> str:
    body = []
    for name, alone in found.loops.items():
        one, two = found.batches[name, 1], found.batches[name, 2]
        each = 1000 * alone / found.recordings
        body.append([name, f"{alone:.1f}", f"{each:.2f}", f"{one / alone:.2f}", f"{alone / two:.2f}"])
    header = ("job", "loop, s", "a recording, ms", "one worker / loop", "loop / two workers")
    return table(f"{found.recordings:,} recordings", header, body)


def plan_for(found: Found, count: int) -> str:
    """Say what many more would take, calculated from what was measured."""
    scale = count / found.recordings
    hours = {name: alone * scale / 3600 for name, alone in found.loops.items()}
    said = ", ".join(f"{value:,.0f} processor hours for {name}" for name, value in hours.items())
    packed, unpacked = (size * scale / 1e9 for size in (found.packed, found.unpacked))
    return "\n".join(
        [
            f"## {count:,} recordings",
            "",
            "Calculated from the table, for recordings of this size:",
            "",
            f"- {said}; on 64 processors {hours['stats'] / 64:,.1f} hours for stats.",
            f"- {packed:,.0f} GB packed, {unpacked:,.0f} GB unpacked, which is never on a disk.",
            f"- Tables and report, by one process: {found.report * scale / 3600:,.1f} hours at the rate measured here.",
            "  From some ten million recordings on, give each month a folder of its own;",
            "  SQL asks all of them at once: `'tables/*/recordings.parquet'`.",
            "",
        ]
    )


def page(found: Found) -> str:
    build = "compiled" if COMPILED else "pure Python"
    size = f"{found.packed / 1e6:,.1f} MB packed, {found.unpacked / 1e6:,.1f} MB unpacked"
    return "\n".join(
        [
            HEAD,
            f"The recordings are generated, of all providers and of mixed quality: {size}.",
            "",
            rows(found),
            f"Tables and report: {found.report:.1f} s.  ",
            f"The most memory of a worker: {found.memory / 1e6:,.0f} MB.",
            "",
            plan_for(found, MANY),
            f"`python -m benchmarks.archives`: jsontide {__version__}, {build}, the least of {ROUNDS} rounds.",
            *machine(),
            "",
        ]
    )


def main(arguments: list[str]) -> int:
    command = Command("benchmarks.archives", "archives.md", __doc__, "nothing: there is one table")
    command.parser.add_argument("--quick", action="store_true", help="a few recordings, no page")
    options = command.parse(arguments)
    found = measure(QUICK_COUNT if options.quick else COUNT, 1 if options.quick else ROUNDS)
    command.publish([rows(found)], lambda: page(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
