"""The tables of a batch against a plain loop, whatever happens to those who make them."""

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

from jsontide.archives import (
    BatchError,
    BatchProgress,
    LocalEngine,
    Part,
    RecordingJob,
    Shard,
    map_recordings,
    plan,
    run_shard,
)
from jsontide.archives import batch as batch_module
from jsontide.archives.rows import COLUMNS
from tests.archives.made import POISON, HarmfulJob, pack, recordings, rows_by_hand, rows_of, wait_until, write_files

STATS = RecordingJob("stats")
FILES = recordings(24)


class InOrder:
    """An engine that runs shards in this process, and stops after some."""

    def __init__(self, most: int = 1_000_000) -> None:
        self.most = most
        self.ran: list[str] = []

    def map(self, run: Any, shards: Sequence[Shard]) -> Iterator[Part]:
        for shard in shards[: self.most]:
            self.ran.append(shard.id)
            yield run(shard)
        if len(shards) > self.most:
            raise KeyboardInterrupt


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """24 recordings: loose ones, and an archive of others."""
    names = [*FILES]
    loose = {name: FILES[name] for name in names[:12]}
    return write_files(tmp_path / "in", {**loose, "more.tar.gz": pack({name: FILES[name] for name in names[12:]})})


def named(folder: Path) -> list[tuple[str, bytes]]:
    names = [*FILES]
    loose = [(f"{folder}/{name}", FILES[name]) for name in names[:12]]
    return loose + [(f"{folder}/more.tar.gz!{name}", FILES[name]) for name in names[12:]]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of a few files."""
    monkeypatch.setattr(batch_module, "plan", lambda sources, **options: plan(sources, at_most=3, **options))


def as_written(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file() and path.name != "job.json"}


@pytest.mark.parametrize(
    "job", [STATS, RecordingJob("check", schema={"type": "object"}), RecordingJob("get", pattern="**.text")]
)
def test_the_rows_are_those_of_a_plain_loop(folder: Path, tmp_path: Path, job: RecordingJob) -> None:
    map_recordings(folder, job, tmp_path / "out", engine=InOrder())
    found, expected = rows_of(tmp_path / "out"), rows_by_hand(named(folder), job)
    assert {table: list(map(json.loads, rows)) for table, rows in found.items()} == {
        table: list(map(json.loads, rows)) for table, rows in expected.items()
    }


def test_processes_write_the_same_files_as_a_loop(folder: Path, tmp_path: Path, small: None) -> None:  # noqa: ARG001
    result = map_recordings(folder, STATS, tmp_path / "a", engine=InOrder())
    assert result.recordings == len(FILES)
    assert result.unreadable + sum(result.outcomes.values()) == len(FILES)
    map_recordings(folder, STATS, tmp_path / "b", workers=2)
    assert as_written(tmp_path / "a") == as_written(tmp_path / "b")


def test_what_is_done_is_not_done_again(folder: Path, tmp_path: Path, small: None) -> None:  # noqa: ARG001
    whole, first, second = InOrder(), InOrder(2), InOrder()
    map_recordings(folder, STATS, tmp_path / "whole", engine=whole)
    with pytest.raises(KeyboardInterrupt):
        map_recordings(folder, STATS, tmp_path / "out", engine=first)
    assert json.loads((tmp_path / "out/job.json").read_text())["state"] == "running"
    told: list[BatchProgress] = []
    map_recordings(folder, STATS, tmp_path / "out", engine=second, on_progress=told.append)
    assert first.ran + second.ran == whole.ran
    assert as_written(tmp_path / "out") == as_written(tmp_path / "whole")
    assert json.loads((tmp_path / "out/job.json").read_text())["state"] == "done"
    assert [each.shards for each in told] == [*range(2, len(whole.ran) + 1)]
    assert told[0].reused == told[0].bytes < told[-1].bytes == told[-1].total
    again = InOrder()
    map_recordings(folder, STATS, tmp_path / "out", engine=again)
    assert again.ran == []


def test_recordings_that_are_added_are_all_that_is_read(folder: Path, tmp_path: Path, small: None) -> None:  # noqa: ARG001
    map_recordings(folder, STATS, tmp_path / "out", engine=InOrder())
    write_files(folder, {"z.ndjson": FILES["turn-000000.ndjson"]})
    more = InOrder()
    assert map_recordings(folder, STATS, tmp_path / "out", engine=more).recordings == len(FILES) + 1
    assert len(more.ran) == 1


def test_duckdb_polars_and_pyarrow_read_the_tables(folder: Path, tmp_path: Path) -> None:
    tables = map_recordings(folder, STATS, tmp_path / "out", engine=InOrder()).tables
    assert set(tables) == {"recordings", "paths", "problems", "calls"}
    duckdb = pytest.importorskip("duckdb")  # held by a module until Python ends, it reports leaks
    for name, rows in rows_of(tmp_path / "out").items():
        expected = sorted(map(write_row, map(json.loads, rows)))
        table = pq.read_table(tables[name])
        assert sorted(map(write_row, table.to_pylist())) == expected
        assert table.column_names == pl.read_parquet(tables[name]).columns == [*COLUMNS[name]]
        assert pl.read_parquet(tables[name]).height == len(expected)
        with duckdb.connect() as database:
            counted = database.execute("SELECT count(*) FROM read_parquet(?)", [str(tables[name])]).fetchall()
        assert counted == [(len(expected),)]


def write_row(row: dict[str, Any]) -> str:
    """The row as JSON; pyarrow gives a map as pairs."""
    return json.dumps({**row, "labels": dict(row.get("labels") or ())}, sort_keys=True)


class TestTheFolder:
    def test_another_job_is_refused_and_says_what_differs(self, folder: Path, tmp_path: Path) -> None:
        map_recordings(folder, STATS, tmp_path / "out", engine=InOrder())
        other = RecordingJob("check", schema={"type": "object"})
        with pytest.raises(BatchError, match="job was 'stats', and is 'check', schema was '', and is '"):
            map_recordings(folder, other, tmp_path / "out", engine=InOrder())
        assert map_recordings(folder, other, tmp_path / "out", engine=InOrder(), fresh=True).recordings == len(FILES)
        assert not (tmp_path / "out/report.txt").exists()

    def test_a_folder_with_something_else_in_it_is_refused(self, folder: Path, tmp_path: Path) -> None:
        write_files(tmp_path / "out", {"mine.txt": b"keep"})
        for fresh in (False, True):
            with pytest.raises(BatchError, match=r"has something else in it: mine\.txt"):
                map_recordings(folder, STATS, tmp_path / "out", engine=InOrder(), fresh=fresh)
        assert (tmp_path / "out/mine.txt").read_bytes() == b"keep"

    def test_a_state_that_cannot_be_read_is_refused(self, folder: Path, tmp_path: Path) -> None:
        write_files(tmp_path / "out", {"job.json": b"{"})
        with pytest.raises(BatchError, match="cannot be read"):
            map_recordings(folder, STATS, tmp_path / "out", engine=InOrder())

    def test_two_at_once_are_refused_but_one_that_died_is_not_in_the_way(self, folder: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        write_files(out, {"lock": f"{os.getppid()} {socket.gethostname()}".encode()})
        with pytest.raises(BatchError, match=f"process {os.getppid()} on "):
            map_recordings(folder, STATS, out, engine=InOrder())
        gone = subprocess.Popen([sys.executable, "-c", ""])
        gone.wait()
        write_files(out, {"lock": f"{gone.pid} {socket.gethostname()}".encode()})
        assert map_recordings(folder, STATS, out, engine=InOrder()).recordings == len(FILES)
        assert not (out / "lock").exists()

    def test_nobody_else_can_read_what_is_written(self, folder: Path, tmp_path: Path) -> None:
        map_recordings(folder, STATS, tmp_path / "out", engine=InOrder())
        for path in [tmp_path / "out", *(tmp_path / "out").rglob("*")]:
            assert path.stat().st_mode & 0o077 == 0, path

    def test_the_output_among_the_sources_is_not_read(self, folder: Path) -> None:
        for _ in range(2):
            assert map_recordings(folder, STATS, folder / "out", engine=InOrder()).recordings == len(FILES)

    def test_half_of_a_part_is_no_part(self, folder: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        map_recordings(folder, STATS, out, engine=InOrder())
        before = as_written(out)
        for part in (out / "parts").iterdir():
            part.rename(part.with_name(f"{part.name}.host.1.tmp"))
        map_recordings(folder, STATS, out, engine=InOrder())
        assert as_written(out) == before
        assert not [*(out / "parts").glob("*.tmp")]


@pytest.mark.parametrize("engine", ["dask", "", None, 5])
def test_an_engine_has_a_name_or_maps(engine: Any, folder: Path, tmp_path: Path) -> None:
    with pytest.raises((ValueError, TypeError), match="engine must be"):
        map_recordings(folder, STATS, tmp_path / "out", engine=engine)


def test_without_duckdb_the_tables_are_ndjson(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    result = map_recordings(folder, STATS, tmp_path / "out", engine=InOrder())
    rows = [json.loads(line) for line in (tmp_path / "out/recordings.ndjson").read_text().splitlines()]
    assert [row["recording"] for row in rows] == [name for name, _ in named(folder)]
    counted = Counter(row["outcome"] for row in rows)
    assert result.unreadable == counted.pop(None)
    assert result.outcomes == counted
    text = (tmp_path / "out/report.txt").read_text()
    assert text.split()[:2] == [str(len(FILES)), "recordings"]


class TestWhatKills:
    def test_a_recording_that_kills_who_reads_it_is_a_row(self, tmp_path: Path) -> None:
        names = [*FILES][:8]
        files = {**{name: FILES[name] for name in names}, names[2]: POISON, names[5]: POISON}
        folder = write_files(tmp_path / "in", files)
        result = map_recordings(folder, HarmfulJob("check", schema={}), tmp_path / "out", workers=2)
        rows = {row["recording"]: row for row in map(json.loads, rows_of(tmp_path / "out")["recordings"])}
        assert sorted(rows) == [f"{folder}/{name}" for name in names]
        died = [name for name in names if rows[f"{folder}/{name}"]["error"] == "the worker that read it died"]
        assert died == [names[2], names[5]]
        assert result.recordings == len(names)

    @pytest.mark.long
    def test_workers_that_die_at_every_recording_lose_nothing(self, tmp_path: Path) -> None:
        folder = write_files(tmp_path / "in", {name: FILES[name] for name in [*FILES][:10]})
        (tmp_path / "died").mkdir()
        job = HarmfulJob("check", schema={}, dies_once=str(tmp_path / "died"))
        map_recordings(folder, job, tmp_path / "out", workers=2)
        names = [(f"{folder}/{name}", FILES[name]) for name in [*FILES][:10]]
        expected = rows_by_hand(names, RecordingJob("check", schema={}))
        assert {table: len(rows) for table, rows in rows_of(tmp_path / "out").items()} == {
            table: len(rows) for table, rows in expected.items()
        }

    def test_one_that_takes_too_long_is_a_row(self, tmp_path: Path) -> None:
        folder = write_files(tmp_path / "in", {"a.json": b"1"})
        job = HarmfulJob("check", schema={}, takes=60, max_seconds=0.05)
        assert map_recordings(folder, job, tmp_path / "out", engine=InOrder()).unreadable == 1
        (row,) = rows_of(tmp_path / "out")["recordings"]
        assert json.loads(row)["error"] == "_TooSlowError: it takes longer than 0.05 s to read"

    def test_a_disk_that_cannot_be_written_ends_the_work_with_the_reason(self, tmp_path: Path) -> None:
        folder = write_files(tmp_path / "in", {"a.json": b"1"})
        write_files(tmp_path / "out", {"job.json": batch_state(STATS), "parts": b"a file in the place of a folder"})
        with pytest.raises(BatchError, match=r"the work stopped: .*File exists"):
            map_recordings(folder, STATS, tmp_path / "out", workers=1)


def batch_state(job: RecordingJob) -> bytes:
    return json.dumps({"fingerprint": job.fingerprint()}).encode()


PROGRAM = """\
import sys
from jsontide.archives import map_recordings
from tests.archives.made import HarmfulJob
if __name__ == "__main__":
    job = HarmfulJob("check", schema={}, takes=float(sys.argv[3]))
    map_recordings(sys.argv[1], job, sys.argv[2], workers=2)
"""


def start(tmp_path: Path, folder: Path, takes: float) -> "subprocess.Popen[bytes]":
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), str(folder), str(tmp_path / "out"), str(takes)]
    return subprocess.Popen(command, cwd=Path(__file__).parents[2], env={**os.environ, "PYTHONPATH": "."}, stderr=-3)


def children(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(path.parent.name))
    return found


def is_read_after_a_death(out: Path) -> bool:
    """Return whether anybody reads a recording now at which somebody has died, or nobody knows."""
    try:
        return any(json.loads(path.read_bytes())["deaths"] for path in out.glob("parts/*.at"))
    except (OSError, ValueError):
        return True


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")
class TestTheParent:
    def test_workers_leave_when_it_is_killed_and_another_run_goes_on(self, tmp_path: Path) -> None:
        folder = write_files(tmp_path / "in", {name: FILES[name] for name in [*FILES][:6]})
        process = start(tmp_path, folder, 30)
        wait_until(lambda: [*(tmp_path / "out/parts").glob("*.at")])
        workers = children(process.pid)
        assert workers
        process.kill()
        process.wait()
        wait_until(lambda: not any(map(is_alive, workers)))
        job = HarmfulJob("check", schema={})
        assert map_recordings(folder, job, tmp_path / "out", workers=2).recordings == 6

    def test_an_interrupt_ends_it_soon_and_leaves_no_process(self, tmp_path: Path) -> None:
        folder = write_files(tmp_path / "in", {name: FILES[name] for name in [*FILES][:6]})
        process = start(tmp_path, folder, 30)
        wait_until(lambda: [*(tmp_path / "out/parts").glob("*.at")])
        workers = children(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) != 0
        wait_until(lambda: not any(map(is_alive, workers)))
        assert not (tmp_path / "out/lock").exists()


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")
@pytest.mark.parametrize("who", ["a worker", "the parent"])
def test_whoever_is_killed_nothing_is_lost_or_there_twice(tmp_path: Path, who: str) -> None:
    """Each of 40 archives takes about a second; workers are killed in the middle of them, or the parent is."""
    packed = {f"{at:02}.tar.gz": pack(recordings(20, seed=at)) for at in range(40)}
    folder, random = write_files(tmp_path / "in", packed), Random(7)
    map_recordings(folder, RecordingJob("check", schema={}), tmp_path / "loop", engine=InOrder())
    kills = 0
    while True:
        process = start(tmp_path, folder, 0.05)
        while process.poll() is None:
            time.sleep(random.uniform(0.3, 1.5))
            victims = [process.pid] if who == "the parent" else children(process.pid)
            if who == "a worker" and is_read_after_a_death(tmp_path / "out"):
                continue  # or the recording is thought to be the reason
            if victims and kills < (5 if who == "the parent" else 20):
                kills += 1
                os.kill(random.choice(victims), signal.SIGKILL)
        if process.wait() == 0:
            break
    assert kills
    assert as_written(tmp_path / "out") == as_written(tmp_path / "loop")


class TestLocalEngine:
    def test_workers_that_never_begin_end_the_work(self, tmp_path: Path) -> None:
        program = tmp_path / "program.py"
        program.write_text(PROGRAM.replace('if __name__ == "__main__":', "if True:"))
        folder = write_files(tmp_path / "in", {"a.json": b"1"})
        command = [sys.executable, str(program), str(folder), str(tmp_path / "out"), "0"]
        environment = {**os.environ, "PYTHONPATH": "."}
        ended = subprocess.run(
            command, cwd=Path(__file__).parents[2], env=environment, capture_output=True, check=False, text=True
        )
        assert ended.returncode
        assert "BatchError: the workers die before they begin" in ended.stderr

    @pytest.mark.parametrize("workers", [0, -1])
    def test_workers_are_counted(self, workers: int) -> None:
        with pytest.raises(ValueError, match="workers must be"):
            LocalEngine(workers)


def test_a_shard_may_be_run_by_anybody_at_the_same_time(folder: Path, tmp_path: Path) -> None:
    (shard, _) = plan(folder)
    outs = [tmp_path / "alone", tmp_path / "shared"]
    assert run_shard(STATS, shard, outs[0]).bytes == shard.bytes
    threads = [threading.Thread(target=run_shard, args=(STATS, shard, outs[1])) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (alone, shared) = ([*(out / "parts").glob("*.gz")] for out in outs)
    assert [path.name for path in alone] == [path.name for path in shared]
    assert gzip.decompress(alone[0].read_bytes()) == gzip.decompress(shared[0].read_bytes())
