"""Shards in, parts out, in any order: by processes on this machine, or by tasks on a cluster.

Rule: an engine calls `run` for each shard, again if whoever ran it died, and knows nothing else.

The pools of the standard library hang or lose work when a worker is killed, so the local one is watched here: each
worker has a pipe of its own, and one that dies gives its shard back.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread
from time import monotonic
from typing import Any, Final, Protocol, TypeAlias

from jsontide._check import check_choice, check_count
from jsontide._errors import JsontideError
from jsontide.archives.shards import Part, Shard

Run: TypeAlias = Callable[[Shard], Part]
"""`run_shard` with a job and a folder; it can be pickled."""
PATIENCE: Final = 5.0
"""Seconds that workers have to finish their shards when the work is stopped."""
_STILLBORN: Final = 3
_MOST_DEATHS: Final = 1000


class BatchError(JsontideError, RuntimeError):
    """The work cannot go on; what is done stays, and the same call goes on from there."""


def _after_death(shard: Shard) -> Shard:
    if shard.deaths == _MOST_DEATHS:
        raise BatchError(f"everybody who reads {shard.members[0].source} dies")
    return replace(shard, deaths=shard.deaths + 1)


class Engine(Protocol):
    """Something that runs shards, one or many at a time."""

    def map(self, run: Run, shards: Sequence[Shard]) -> Iterator[Part]:
        """Yield the part of each shard when it is done; in any order, each once."""


class LocalEngine:
    """Processes on this machine, as many as it has processors."""

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None:
            check_count("workers", workers)
        self._workers = workers or os.cpu_count() or 1

    def map(self, run: Run, shards: Sequence[Shard]) -> Iterator[Part]:
        pool = _Pool(run, deque(shards), self._workers)
        try:
            yield from pool.work()
        except KeyboardInterrupt:
            yield from pool.finish_running(PATIENCE)
            raise
        finally:
            pool.stop()


class _Worker:
    """A process and the shard that it has."""

    def __init__(self, context: SpawnContext, run: Run) -> None:
        self.pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_serve, args=(theirs, run), daemon=True)
        self.process.start()
        theirs.close()
        self.shard: Shard | None = None
        self.is_ready = False


class _Pool:
    """Workers while they work; a dead one is replaced, and its shard is the next."""

    def __init__(self, run: Run, waiting: deque[Shard], size: int) -> None:
        self._run = run
        self._waiting = waiting
        self._size = size
        self._context = get_context("spawn")
        self._workers: list[_Worker] = []
        self._stillborn = 0

    def work(self) -> Iterator[Part]:
        while self._waiting or self._running():
            self._hand_out()
            yield from self._collect(None)

    def finish_running(self, seconds: float) -> Iterator[Part]:
        """Yield the parts that are done in some seconds, and begin nothing new."""
        self._waiting.clear()
        end = monotonic() + seconds
        while self._running() and (left := end - monotonic()) > 0:
            yield from self._collect(left)

    def stop(self) -> None:
        for worker in self._workers:
            worker.pipe.close()  # idle ones leave
            if worker.shard is not None:
                worker.process.terminate()
        for worker in self._workers:
            worker.process.join(PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()

    def _running(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.shard is not None]

    def _hand_out(self) -> None:
        idle = [worker for worker in self._workers if worker.shard is None]
        while self._waiting and (idle or len(self._workers) < self._size):
            if idle:
                worker = idle.pop()
            else:
                worker = _Worker(self._context, self._run)
                self._workers.append(worker)
            worker.shard = self._waiting.popleft()
            try:
                worker.pipe.send(worker.shard)
            except OSError:  # it is dead, which is seen when it is waited for
                continue

    def _collect(self, seconds: float | None) -> Iterator[Part]:
        """Wait until a worker has something or died; yield the parts that are done."""
        by_pipe: dict[Any, _Worker] = {worker.pipe: worker for worker in self._running()}
        for pipe in wait([*by_pipe], seconds):
            worker = by_pipe[pipe]
            try:
                said = worker.pipe.recv()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            if said is None:
                worker.is_ready, self._stillborn = True, 0
            elif isinstance(said, Part):
                worker.shard = None
                yield said
            else:
                message = f"the work stopped: {said}"
                raise BatchError(message)

    def _bury(self, worker: _Worker) -> None:
        worker.pipe.close()
        worker.process.join()
        self._workers.remove(worker)
        if worker.shard is not None:
            self._waiting.appendleft(_after_death(worker.shard))
        if not worker.is_ready:
            self._stillborn += 1
            if self._stillborn == _STILLBORN:
                message = "the workers die before they begin; does the program do its work below `__name__`?"
                raise BatchError(message)


def _serve(pipe: Connection, run: Run) -> None:
    """Run shards until the pipe is closed; leave as soon as the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    Thread(target=_leave_with_parent, daemon=True).start()
    pipe.send(None)
    while True:
        try:
            shard: Shard = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            said: object = run(shard)
        except (OSError, JsontideError) as error:
            said = str(error)
        pipe.send(said)


def _leave_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class RayEngine:
    """Tasks of Ray: on this machine, or on the cluster at `address` or in `RAY_ADDRESS`.

    The folder of the output must be one that all machines see.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        if workers is not None:
            check_count("workers", workers)
        self._address = address or os.environ.get("RAY_ADDRESS")
        self._workers = workers

    def map(self, run: Run, shards: Sequence[Shard]) -> Iterator[Part]:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray  # noqa: PLC0415 - an optional package, and slow to load
        except ImportError as error:
            message = 'the engine "ray" needs the package ray: pip install "jsontide[ray]"'
            raise BatchError(message) from error
        was_running = ray.is_initialized()
        if not was_running:
            ray.init(self._address, num_cpus=None if self._address else self._workers, log_to_driver=False)
        try:
            yield from self._run_tasks(ray, run, deque(shards))
        finally:
            if not was_running:
                ray.shutdown()

    def _run_tasks(self, ray: Any, run: Run, waiting: deque[Shard]) -> Iterator[Part]:  # noqa: ANN401 - Ray has no types of ours
        task = ray.remote(max_retries=0)(_run_one)
        most = self._workers or 2 * int(ray.cluster_resources().get("CPU", 1))
        running: dict[Any, Shard] = {}
        while waiting or running:
            while waiting and len(running) < most:
                shard = waiting.popleft()
                running[task.remote(run, shard)] = shard
            (done, *_), _ = ray.wait([*running], num_returns=1)
            shard = running.pop(done)
            try:
                yield ray.get(done)
            except ray.exceptions.WorkerCrashedError:
                waiting.appendleft(_after_death(shard))
            except ray.exceptions.RayError as error:
                message = f"the work stopped: {error}"
                raise BatchError(message) from error


def _run_one(run: Run, shard: Shard) -> Part:
    return run(shard)


def choose_engine(engine: str | Engine, workers: int | None) -> Engine:
    """Return the engine of a name."""
    if isinstance(engine, str):
        check_choice("engine", engine, ("local", "ray"))
        return LocalEngine(workers) if engine == "local" else RayEngine(workers=workers)
    if not callable(getattr(engine, "map", None)):
        message = f"engine must be 'local', 'ray' or an Engine, not {type(engine).__name__}"
        raise TypeError(message)
    return engine
