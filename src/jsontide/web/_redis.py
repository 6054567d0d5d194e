"""Durable turns in Redis or Valkey, for several machines: a log with a stream for each turn.

    PREFIX:{run}        the stream; the id of an entry is its epoch and number, so Redis itself refuses what is late
    PREFIX:{in worker}  the inbox of a worker
    PREFIX:w:worker     there while the worker is alive
    PREFIX:running      the worker of each turn that runs
    PREFIX:workers      all workers in it, so that it is read only when one is dead
    PREFIX:t:thread     the newest turn of a thread

Rule: no scripts and no locks. The number of an end is the largest of its epoch, so nothing follows it there, and a
claim or another end that comes after it is taken back.
It needs the package of the extra `redis`, and a server from version 6.2.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from jsontide._check import check_type
from jsontide.web._durable import DurableTurns
from jsontide.web._log import Append, Entry, Place, Stored, from_last_whole, inbox_of

try:
    from redis import asyncio as redis
    from redis.exceptions import ResponseError
except ModuleNotFoundError as error:
    message = 'redis_turns needs the package redis: pip install "jsontide[redis]"'
    raise ModuleNotFoundError(message, name=error.name) from error

_CONNECTIONS: Final = 6
_PATIENCE: Final = 5.0
"""Seconds after which a server that does not answer is taken for unreachable."""
_LAST: Final = 2**63
_NOTES: Final = 1000
_DAY: Final = 24 * 3600
_IS_LATE: Final = "equal or smaller"


class RedisLog:
    """A `TurnLog` in Redis."""

    def __init__(self, url: str, *, prefix: str = "jsontide") -> None:
        check_type("url", url, str, "a str")
        check_type("prefix", prefix, str, "a str")
        timeouts: dict[str, Any] = {"socket_timeout": _PATIENCE, "socket_connect_timeout": _PATIENCE}
        pool = redis.BlockingConnectionPool.from_url(url, max_connections=_CONNECTIONS, timeout=_PATIENCE, **timeouts)
        self._redis: Final[Any] = redis.Redis.from_pool(pool)
        self._prefix: Final = prefix

    def _key(self, run_id: str) -> str:
        return f"{self._prefix}:{{{run_id}}}"

    async def append(self, entries: Sequence[Append]) -> list[Stored]:
        async with self._redis.pipeline(transaction=False) as pipe:
            for one in entries:
                entry = one.entry
                fields = {"k": entry.kind, "d": entry.data, "n": entry.number}
                pipe.xadd(self._key(one.run_id), fields, id=_id_of(entry), nomkstream=entry.kind in {"delta", "claim"})
            answers = await pipe.execute(raise_on_error=False)
        found = [_stored(answer) for answer in answers]
        for at, one in enumerate(entries):
            takes_over = one.entry.epoch > 1 and one.entry.kind in {"claim", "end"}
            if found[at] == "stored" and takes_over and await self._is_over(one):
                found[at] = "refused"
        await self._follow_up([one for one, stored in zip(entries, found, strict=True) if stored == "stored"])
        return found

    async def _is_over(self, late: Append) -> bool:
        """Return whether a turn had ended before an entry of another worker, which is taken back then."""
        key, place = self._key(late.run_id), _id_of(late.entry)
        before = await self._redis.xrevrange(key, f"({place}", "-", count=1)
        is_over = bool(before) and before[0][1][b"k"] == b"end"
        if is_over:
            await self._redis.xdel(key, place)
        return is_over

    async def _follow_up(self, stored: Sequence[Append]) -> None:
        """Forget what entries that are stored make needless, and note who runs what; for deltas there is nothing."""
        running, workers = f"{self._prefix}:running", f"{self._prefix}:workers"
        async with self._redis.pipeline(transaction=False) as pipe:
            for one in stored:
                entry, key = one.entry, self._key(one.run_id)
                if entry.kind == "delta":
                    continue
                if one.trims:
                    pipe.xtrim(key, minid=_id_of(entry), approximate=False)
                if one.expires is not None:
                    pipe.pexpire(key, int(one.expires * 1000))
                if entry.kind == "end":
                    pipe.hdel(running, one.run_id)
                else:
                    pipe.hset(running, one.run_id, one.worker)
                    pipe.sadd(workers, one.worker)
            await pipe.execute()

    async def join(self, run_id: str) -> list[Entry]:
        entries = from_last_whole([_entry(*found) for found in await self._redis.xrange(self._key(run_id))])
        if not entries or entries[-1].kind == "end":  # whoever ended it may have died before it said so
            await self._redis.hdel(f"{self._prefix}:running", run_id)
        return entries

    async def read(self, after: Mapping[str, Place], wait: float) -> dict[str, list[Entry]]:
        names = {self._key(run_id).encode(): run_id for run_id in after}
        places = {self._key(run_id): f"{epoch}-{number}" for run_id, (epoch, number) in after.items()}
        until = time.monotonic() + wait
        found = None
        while not found and wait > 0:
            block = min(wait, _PATIENCE / 2)  # a connection that is silent for longer is given up
            found = await self._redis.xread(places, block=max(1, int(block * 1000)))
            wait = until - time.monotonic()
        return {names[key]: [_entry(*one) for one in entries] for key, entries in found or ()}

    async def beat(self, worker: str, seconds: float) -> None:
        key = f"{self._prefix}:w:{worker}"
        if seconds > 0:
            await self._redis.set(key, 1, px=max(1, int(seconds * 1000)))
        else:
            await self._redis.delete(key)

    async def orphans(self, turns: Mapping[str, str] | None = None) -> set[str]:
        if turns is not None:
            dead = await self._find_dead({*turns.values()})
            return {run_id for run_id, worker in turns.items() if worker in dead}
        all_workers = f"{self._prefix}:workers"
        dead = await self._find_dead({worker.decode() for worker in await self._redis.smembers(all_workers)})
        if not dead:
            return set()
        running = {
            run_id.decode(): worker.decode()
            for run_id, worker in (await self._redis.hgetall(f"{self._prefix}:running")).items()
        }
        idle = dead - {*running.values()}
        if idle:
            await self._redis.srem(all_workers, *idle)
        return {run_id for run_id, worker in running.items() if worker in dead}

    async def _find_dead(self, workers: set[str]) -> set[str]:
        names = sorted(workers)
        async with self._redis.pipeline(transaction=False) as pipe:
            for worker in names:
                pipe.exists(f"{self._prefix}:w:{worker}")
            return {worker for worker, is_alive in zip(names, await pipe.execute(), strict=True) if not is_alive}

    async def tell(self, worker: str, note: bytes) -> None:
        key = self._key(inbox_of(worker))
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.xadd(key, {"k": "note", "d": note}, maxlen=_NOTES)
            pipe.expire(key, 3600)
            await pipe.execute()

    async def name(self, thread: str, run_id: str | None = None) -> str | None:
        key = f"{self._prefix}:t:{thread}"
        if run_id is not None:
            await self._redis.set(key, run_id, ex=_DAY)
            return run_id
        found = await self._redis.get(key)
        return None if found is None else str(found.decode())

    async def close(self) -> None:
        await self._redis.aclose(close_connection_pool=True)


def _id_of(entry: Entry) -> str:
    return f"{entry.epoch}-{_LAST if entry.kind == 'end' else entry.number}"


def _stored(answer: object) -> Stored:
    """Return what an answer to `XADD` means; no answer is an error."""
    if isinstance(answer, ResponseError) and _IS_LATE in str(answer):
        return "refused"
    if isinstance(answer, Exception):
        raise answer
    return "gone" if answer is None else "stored"


def _entry(place: bytes, fields: Mapping[bytes, bytes]) -> Entry:
    epoch, _, number = place.decode().partition("-")
    try:
        kind: Any = fields[b"k"].decode()
        return Entry(int(epoch), int(fields.get(b"n", number)), kind, fields[b"d"])
    except (KeyError, ValueError):  # it is not of ours: this turn cannot be read, and all others can
        return Entry(int(epoch), int(number), "whole", b"")


def redis_turns(url: str, *, prefix: str = "jsontide", **options: Any) -> DurableTurns:  # noqa: ANN401 - those of DurableTurns
    """Return durable turns in Redis or Valkey, for several machines.

    All keys begin with `prefix`; `options` are those of `DurableTurns`.
    """
    return DurableTurns(RedisLog(url, prefix=prefix), **options)
