"""Sources and a job in, a folder of tables out.

    OUT/job.json                  what was asked, and how far it is
    OUT/parts/SHARD.ndjson.gz     the rows of a shard; each appears when it is whole
    OUT/recordings.parquet ...    the tables, made of all parts; NDJSON where DuckDB is not installed
    OUT/report.html, report.txt   what they say

Rule: what is done is what is there. A part appears whole or not at all, and has the same bytes whoever writes it, and
however often; so a run that was stopped goes on where it was when the same is asked again. For anything else the folder
is refused.

A recording that kills whoever reads it is found: which one is read stands in a file beside the part, and where several
attempts in a row died at the same one, it becomes a row that says so, and is passed over.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from secrets import token_hex
from types import FrameType
from typing import BinaryIO, Final

from jsontide._private_file import open_private
from jsontide.archives.engines import BatchError, Engine, choose_engine
from jsontide.archives.report import Database, draw_report
from jsontide.archives.rows import COLUMNS, Job, Row, Table, clip, unreadable
from jsontide.archives.shards import Part, Shard, Unreadable, plan, read_shard
from jsontide.frontends import write_json

DEATHS: Final = 3
"""So many attempts that died at one recording are because of it."""


def part_path(out: Path, shard: Shard) -> Path:
    return out / "parts" / f"{shard.id}.ndjson.gz"


def run_shard(job: Job, shard: Shard, out: str | Path) -> Part:
    """Write the part of a shard into a folder, unless it is there; any process on any machine may call it."""
    path = part_path(Path(out), shard)
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        attempt = _Attempt(path.with_suffix(".at"), shard.deaths)
        _write_whole(path, _lines(job, shard, attempt))
        attempt.forget()
    return Part(shard.id, shard.bytes)


def _write_whole(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file that appears when all of it is there."""
    temporary = path.with_name(f"{path.name}.{token_hex(8)}.tmp")
    try:
        with open_private(temporary, "wb") as file:
            # Without a name and a time in it, the same lines are the same bytes.
            with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                packed.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _lines(job: Job, shard: Shard, attempt: _Attempt) -> Iterator[bytes]:
    for index, (name, data) in enumerate(read_shard(shard, job.max_bytes)):
        for table, row in _rows(job, clip(name), data, is_deadly=attempt.is_deadly(index)):
            yield f"{table}\t{write_json(row)}\n".encode()


def _rows(job: Job, name: str, data: bytes | Unreadable, *, is_deadly: bool) -> Iterable[tuple[Table, Row]]:
    if isinstance(data, Unreadable):
        return [unreadable(name, data.reason)]
    if is_deadly:
        return [unreadable(name, "the worker that read it died", data)]
    try:
        with _at_most(job.max_seconds):
            return list(job.rows(name, data))
    except Exception as error:  # noqa: BLE001 - one recording must not end the work on a million others
        return [unreadable(name, f"{type(error).__name__}: {error}", data)]


class _TooSlowError(Exception):
    """Reading a recording takes longer than is allowed."""


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise after some seconds, where there are signals: in the main thread of a process on POSIX."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        message = f"it takes longer than {seconds:g} s to read"
        raise _TooSlowError(message)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class _Attempt:
    """Which recording of a shard is read now, in a file that survives who reads it."""

    def __init__(self, path: Path, number: int) -> None:
        self._path = path
        self._number = number
        self._at, self._deaths, self._deadly = -1, 0, set[int]()
        try:
            last = json.loads(path.read_bytes())
            self._deadly |= set(map(int, last["deadly"]))
            if number:  # of this run: what an earlier one left says nothing, as it may have ended in any way
                self._at = int(last["at"])
                self._deaths = int(last["deaths"]) + (int(last["attempt"]) == number - 1)  # or it died before it began
        except (OSError, ValueError, KeyError, TypeError):
            pass
        if self._deaths >= DEATHS:
            self._deadly.add(self._at)

    def is_deadly(self, index: int) -> bool:
        """Return whether a recording killed those who read it; if not, it is read next."""
        deaths = self._deaths if index == self._at and index not in self._deadly else 0
        state: Row = {"attempt": self._number, "at": index, "deaths": deaths, "deadly": [*sorted(self._deadly)]}
        with open_private(self._path, "wb") as file:
            file.write(write_json(state).encode())
        return index in self._deadly

    def forget(self) -> None:
        self._path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a batch is, in bytes of recordings whose rows are kept."""

    bytes: int
    total: int
    shards: int
    total_shards: int
    reused: int
    """Of the bytes, those that an earlier run has done."""


@dataclass(frozen=True)
class BatchResult:
    """What a batch has done."""

    out: Path
    tables: dict[Table, Path]
    recordings: int
    unreadable: int
    """Recordings of which the row has nothing but an error."""
    outcomes: dict[str, int] = field(default_factory=dict)


def map_recordings(  # noqa: PLR0913 - as many options
    sources: str | Path | Iterable[str | Path],
    job: Job,
    out: str | Path,
    *,
    engine: str | Engine = "local",
    workers: int | None = None,
    fresh: bool = False,
    on_progress: Callable[[BatchProgress], None] = lambda _: None,
) -> BatchResult:
    """Ask a job of all recordings in `sources`, and write tables and a report into the folder `out`.

    `engine` is "local", "ray" or an `Engine`; all write the same. `fresh` forgets what an earlier run left in `out`.
    Raises `BatchError` if `out` has something else in it, or the work cannot go on, and `SourceError` for a source that
    is not there.
    """
    folder = Path(out)
    chosen = choose_engine(engine, workers)
    shards = plan(sources, leave_out=str(folder))
    with _open_folder(folder, job, fresh=fresh):
        _run(shards, job, folder, chosen, on_progress)
        counts = Counter[str]()
        tables = write_tables(folder, shards, counts)
        result = BatchResult(
            folder, tables, sum(counts.values()), counts.pop("unreadable", 0), dict(sorted(counts.items()))
        )
        _write_state(folder, job, "done", recordings=result.recordings, unreadable=result.unreadable)
    return result


def _run(
    shards: Sequence[Shard], job: Job, folder: Path, engine: Engine, on_progress: Callable[[BatchProgress], None]
) -> None:
    total = sum(shard.bytes for shard in shards)
    todo = [shard for shard in shards if not part_path(folder, shard).exists()]
    reused = done = total - sum(shard.bytes for shard in todo)
    finished = len(shards) - len(todo)
    on_progress(BatchProgress(done, total, finished, len(shards), reused))
    for part in engine.map(partial(run_shard, job, out=str(folder)), todo):
        done, finished = done + part.bytes, finished + 1
        on_progress(BatchProgress(done, total, finished, len(shards), reused))


@contextmanager
def _open_folder(folder: Path, job: Job, *, fresh: bool) -> Iterator[None]:
    """Make or check the folder of a batch, and keep others out of it meanwhile."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _lock(folder / "lock"):
        if fresh:
            _remove(folder)
        _check_state(folder, job)
        _write_state(folder, job, "running")
        for left in (folder / "parts").glob("*.tmp"):  # of workers that are gone, as nobody else is here
            left.unlink(missing_ok=True)
        yield


def _remove(folder: Path) -> None:
    """Remove what batches write, and nothing else."""
    names = [*(f"{table}.{end}" for table in COLUMNS for end in ("parquet", "ndjson")), "report.html", "report.txt"]
    for path in [*(folder / "parts").glob("*"), *(folder / name for name in names), folder / "job.json"]:
        path.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        (folder / "parts").rmdir()


def _check_state(folder: Path, job: Job) -> None:
    path = folder / "job.json"
    others = [] if path.exists() else [found.name for found in folder.iterdir() if found.name != "lock"]
    if others:
        message = f"{folder} has something else in it: {', '.join(sorted(others)[:3])}; name an empty or a new folder"
        raise BatchError(message)
    if not path.exists():
        return
    try:
        before, now = json.loads(json.loads(path.read_bytes())["fingerprint"]), json.loads(job.fingerprint())
    except (ValueError, KeyError, TypeError) as error:
        message = f"{path} cannot be read ({error}); --fresh begins anew"
        raise BatchError(message) from error
    differing = [name for name in now | before if before.get(name) != now.get(name)]
    if differing:
        said = ", ".join(f"{name} was {before.get(name)!r}, and is {now.get(name)!r}" for name in differing)
        message = f"{folder} is of another batch: {said}; name another folder, or begin anew with --fresh"
        raise BatchError(message)


def _write_state(folder: Path, job: Job, state: str, **counts: int) -> None:
    path = folder / "job.json"
    text = json.dumps({"jsontide": "batch", "fingerprint": job.fingerprint(), "state": state, **counts}, indent=2)
    temporary = path.with_name("job.json.tmp")
    _write_text(temporary, f"{text}\n")
    temporary.replace(path)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a file that says who works in the folder; one of a process that is gone is taken over."""
    mine = f"{os.getpid()} {socket.gethostname()}"
    try:
        _create(path, mine)
    except FileExistsError:
        pid, _, host = path.read_text("utf-8").partition(" ")
        if host != socket.gethostname() or _is_alive(pid):
            message = f"process {pid} on {host} works in {path.parent}; if it does not, remove {path}"
            raise BatchError(message) from None
        path.unlink(missing_ok=True)
        _create(path, mine)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _create(path: Path, text: str) -> None:
    with open_private(path, "xb") as file:
        file.write(text.encode())


def _is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except OSError:  # it is somebody else's
        return True
    return True


_LARGEST_ROW: Final = 1 << 28


def write_tables(folder: Path, shards: Iterable[Shard], counts: Counter[str]) -> dict[Table, Path]:
    """Write the tables of all parts, in the order of the plan, and count the outcomes; then the report on them."""
    written = _join_parts(folder, shards, counts)
    database = connect()
    if database is None:
        lines = [f"{count:>9,} {outcome}" for outcome, count in sorted(counts.items())]
        _write_text(folder / "report.txt", "\n".join([f"{sum(counts.values()):>9,} recordings", *lines, ""]))
        return written
    tables = {table: _write_parquet(database, table, path) for table, path in written.items()}
    open_tables(database, tables)
    _write_text(folder / "report.html", draw_report(database))
    return tables


def _write_parquet(database: Database, table: Table, path: Path) -> Path:
    target = path.with_suffix(".parquet")
    temporary = target.with_name(f"{target.name}.tmp")
    typed = ", ".join(f"{quote(name)}: {quote(kind)}" for name, kind in COLUMNS.get(table, {}).items())
    columns = f", columns = {{{typed}}}" if typed else ""  # tables of other jobs have the types that DuckDB finds
    rows = f"read_json({quote(str(path))}, format = 'newline_delimited', maximum_object_size = {_LARGEST_ROW}{columns})"
    database.execute(f"COPY (FROM {rows}) TO {quote(str(temporary))} (FORMAT parquet, COMPRESSION zstd)")
    temporary.chmod(0o600)
    temporary.replace(target)
    path.unlink()
    return target


def connect() -> Database:
    """Return a database in memory, or `None` without DuckDB; of one thread, so that the order of rows is theirs."""
    try:
        import duckdb  # noqa: PLC0415 - an optional package
    except ImportError:
        return None
    return duckdb.connect(config={"threads": 1})


def open_tables(database: Database, tables: Mapping[Table, Path], schema: str = "main") -> None:
    """Make the tables of a batch known to a database."""
    database.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    for table, path in tables.items():
        read = "read_parquet" if path.suffix == ".parquet" else "read_json"
        database.execute(f'CREATE OR REPLACE VIEW {schema}."{table}" AS FROM {read}({quote(str(path))})')


def quote(text: str) -> str:
    """Write a text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def _write_text(path: Path, text: str) -> None:
    with open_private(path, "wb") as file:
        file.write(text.encode(errors="replace"))


def _join_parts(folder: Path, shards: Iterable[Shard], counts: Counter[str]) -> dict[Table, Path]:
    """Write the rows of each table into a file of their own."""
    paths: dict[Table, Path] = {}
    files: dict[Table, BinaryIO] = {}
    with ExitStack() as stack:
        for name in ("recordings", "paths", "problems", "calls"):
            paths[name] = folder / f"{name}.ndjson"
            files[name] = stack.enter_context(open_private(paths[name], "wb"))
        for shard in shards:
            with gzip.open(part_path(folder, shard)) as part:
                for line in part:
                    table, _, row = line.partition(b"\t")
                    name = table.decode()
                    if name not in files:
                        paths[name] = folder / f"{name}.ndjson"
                        files[name] = stack.enter_context(open_private(paths[name], "wb"))
                    files[name].write(row)
                    if name == "recordings":
                        counts[_outcome(row)] += 1
    return paths


def _outcome(row: bytes) -> str:
    return json.loads(row)["outcome"] or "unreadable"
