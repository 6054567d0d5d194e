"""Durable turns in a file: a log in SQLite, for all processes of one machine.

Rule: one thread owns the connection, so nothing blocks the event loop; each call is one transaction. Who can read the
file can read what was said, so nobody but its owner can.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from jsontide._private_file import open_private
from jsontide.web._log import Append, Entry, Place, Stored, from_last_whole, inbox_of, is_next

_Found = TypeVar("_Found")
_TICK: Final = 0.02
"""Seconds between two looks at the file."""
_NOTES: Final = 1000
_TABLES: Final = """
create table if not exists log(
    run text, epoch int, number int, kind text, data blob, primary key(run, epoch, number)
) without rowid;
create table if not exists turns(run text primary key, worker text, running int, expires real) without rowid;
create table if not exists leases(worker text primary key, begun real, until real) without rowid;
create table if not exists threads(thread text primary key, run text) without rowid;
"""
_FORGET: Final = (
    "delete from log where run in (select run from turns where expires <= ?)",
    "delete from threads where run in (select run from turns where expires <= ?)",
    "delete from turns where expires <= ?",
)
_FORGET_LEASES: Final = (
    "delete from log where run in (select 'in ' || worker from leases where until <= ?1 - 60 or begun > ?1)",
    "delete from leases where until <= ?1 - 60 or begun > ?1",
)


class SqliteLog:
    """A `TurnLog` in a file of SQLite."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path: Final = Path(path)
        self._thread: Final = ThreadPoolExecutor(1, thread_name_prefix="jsontide-turns")
        self._connection: sqlite3.Connection | None = None
        self._swept = 0.0

    async def append(self, entries: Sequence[Append]) -> list[Stored]:
        return await self._call(self._append, entries)

    async def join(self, run_id: str) -> list[Entry]:
        return from_last_whole(await self._call(self._entries, run_id, (0, -1)))

    async def read(self, after: Mapping[str, Place], wait: float) -> dict[str, list[Entry]]:
        until = time.monotonic() + wait
        while True:
            found = await self._call(self._find, after)
            if found or time.monotonic() >= until:
                return found
            await asyncio.sleep(_TICK)

    async def beat(self, worker: str, seconds: float) -> None:
        now = time.monotonic()  # the same in all processes, and no jump of the clock ends a lease
        await self._call(self._write, "insert or replace into leases values (?, ?, ?)", (worker, now, now + seconds))

    async def orphans(self, turns: Mapping[str, str] | None = None) -> set[str]:
        return await self._call(self._orphans, turns)

    async def tell(self, worker: str, note: bytes) -> None:
        await self._call(self._tell, inbox_of(worker), note)

    async def name(self, thread: str, run_id: str | None = None) -> str | None:
        return await self._call(self._name, thread, run_id)

    async def close(self) -> None:
        await self._call(self._close)
        self._thread.shutdown(wait=False)

    async def _call(self, work: Callable[..., _Found], *arguments: object) -> _Found:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    # What follows runs in the thread.

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            if not self._path.exists():
                open_private(self._path, "wb").close()
            # Transactions are begun by hand: those of Python begin with their first write.
            connection = sqlite3.connect(self._path, timeout=5, isolation_level=None, check_same_thread=True)
            connection.executescript(f"pragma journal_mode=wal; pragma synchronous=normal; {_TABLES}")
            self._connection = connection
        return self._connection

    def _write(self, sql: str, values: tuple[object, ...]) -> None:
        self._open().execute(sql, values)

    def _append(self, entries: Sequence[Append]) -> list[Stored]:
        connection = self._open()
        connection.execute("begin immediate")
        try:
            self._forget_old(connection)
            stored = [self._append_one(connection, one) for one in entries]
            connection.execute("commit")
        except BaseException:
            connection.execute("rollback")
            raise
        return stored

    def _forget_old(self, connection: sqlite3.Connection) -> None:
        now = time.time()
        if now < self._swept + 1:
            return
        self._swept = now
        for sql in _FORGET:
            connection.execute(sql, (now,))
        for sql in _FORGET_LEASES:
            connection.execute(sql, (time.monotonic(),))

    def _append_one(self, connection: sqlite3.Connection, one: Append) -> Stored:
        run_id, entry, now = one.run_id, one.entry, time.time()
        rows = connection.execute(
            "select epoch, number, kind, data from log where run = ? order by epoch desc, number desc limit 1",
            (run_id,),
        )
        last = rows.fetchone()
        found = is_next(entry, None if last is None else Entry(*last))
        if found != "stored":
            return found
        if one.trims:
            connection.execute("delete from log where run = ?", (run_id,))
        connection.execute("insert into log values (?, ?, ?, ?, ?)", (run_id, *entry))
        expires = None if one.expires is None else now + one.expires
        is_running = entry.kind != "end"
        connection.execute(
            "insert or replace into turns values (?, ?, ?, ?)", (run_id, one.worker, is_running, expires)
        )
        return found

    def _entries(self, run_id: str, after: Place) -> list[Entry]:
        rows = self._open().execute(
            "select epoch, number, kind, data from log where run = ? and (epoch, number) > (?, ?)"
            " and not exists (select 1 from turns where run = log.run and expires <= ?) order by epoch, number",
            (run_id, *after, time.time()),
        )
        return [Entry(*row) for row in rows]

    def _find(self, after: Mapping[str, Place]) -> dict[str, list[Entry]]:
        found = {run_id: self._entries(run_id, place) for run_id, place in after.items()}
        return {run_id: entries for run_id, entries in found.items() if entries}

    def _orphans(self, turns: Mapping[str, str] | None) -> set[str]:
        connection = self._open()
        if turns is None:
            turns = dict(connection.execute("select run, worker from turns where running").fetchall())
        # One that begins in the future is from before the machine was started again.
        alive_now = "select worker from leases where begun <= ?1 and until > ?1"
        rows = connection.execute(alive_now, (time.monotonic(),)).fetchall()
        alive = {row[0] for row in rows}
        return {run_id for run_id, worker in turns.items() if worker not in alive}

    def _tell(self, inbox: str, note: bytes) -> None:
        self._write(
            "insert into log select ?, 1, coalesce(max(number), 0) + 1, 'note', ? from log where run = ?",
            (inbox, note, inbox),
        )
        self._write(
            "delete from log where run = ? and number <= (select max(number) from log where run = ?) - ?",
            (inbox, inbox, _NOTES),
        )

    def _name(self, thread: str, run_id: str | None) -> str | None:
        if run_id is not None:
            self._write("insert or replace into threads values (?, ?)", (thread, run_id))
        row: Any = self._open().execute("select run from threads where thread = ?", (thread,)).fetchone()
        return None if row is None else cast("str", row[0])

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
