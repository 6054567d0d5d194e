"""What engines do with tasks that die, fail or are interrupted; Ray stands in for itself in `test_ray`."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from jsontide.archives import BatchError, BatchProgress, RayEngine, RecordingJob, map_recordings
from tests.archives.made import HarmfulJob, recordings, wait_until, write_files
from tests.archives.test_batch import InOrder, as_written

STATS = RecordingJob("stats")


class WorkerCrashedError(Exception):
    """As Ray's."""


class RayTaskError(Exception):
    """As Ray's."""


class SmallRay(ModuleType):
    """As much of Ray as the engine calls: tasks run where their results are asked for."""

    exceptions = SimpleNamespace(WorkerCrashedError=WorkerCrashedError, RayError=(RayTaskError, WorkerCrashedError))

    def __init__(self, *failures: Exception, is_running: bool = False) -> None:
        super().__init__("ray")
        self.failures = [*failures]
        self.is_running = is_running
        self.said: list[str] = []
        self.most = 0

    def is_initialized(self) -> bool:
        return self.is_running

    def init(self, address: str | None, *, num_cpus: int | None, log_to_driver: bool) -> None:
        assert not log_to_driver
        self.said.append(f"init {address} {num_cpus}")

    def shutdown(self) -> None:
        self.said.append("shutdown")

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def remote(self, *, max_retries: int) -> Callable[[Callable[..., Any]], SimpleNamespace]:
        assert max_retries == 0
        return lambda function: SimpleNamespace(remote=lambda *given: (function, given))

    def wait(self, running: list[Any], *, num_returns: int) -> tuple[list[Any], list[Any]]:
        self.most = max(self.most, len(running))
        return running[:num_returns], running[num_returns:]

    def get(self, task: Any) -> Any:
        if self.failures:
            raise self.failures.pop(0)
        function, given = task
        return function(*given)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "in", recordings(9, seed=5))


class TestRay:
    def run(self, folder: Path, out: Path, ray: SmallRay, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
        monkeypatch.setitem(sys.modules, "ray", ray)
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
        map_recordings(folder, STATS, out, engine=RayEngine(**options))

    def test_writes_what_a_loop_does_also_after_tasks_died(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        map_recordings(folder, STATS, tmp_path / "loop", engine=InOrder())
        ray = SmallRay(WorkerCrashedError(), WorkerCrashedError())
        self.run(folder, tmp_path / "out", ray, monkeypatch, workers=3)
        assert as_written(tmp_path / "out") == as_written(tmp_path / "loop")
        assert ray.said == ["init None 3", "shutdown"]
        assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"

    def test_a_cluster_that_somebody_uses_stays(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ray = SmallRay(is_running=True)
        self.run(folder, tmp_path / "out", ray, monkeypatch)
        assert ray.said == []

    def test_an_address_is_passed_on_and_any_other_error_ends_the_work(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ray = SmallRay(RayTaskError("the disk is full"))
        with pytest.raises(BatchError, match="the work stopped: the disk is full"):
            self.run(folder, tmp_path / "out", ray, monkeypatch, address="auto", workers=2)
        assert ray.said == ["init auto None", "shutdown"]

    def test_workers_are_counted(self) -> None:
        with pytest.raises(ValueError, match="workers must be"):
            RayEngine(workers=0)


def test_an_interrupt_keeps_what_is_done_meanwhile(folder: Path, tmp_path: Path) -> None:
    """The running shard is finished, and none is begun."""
    out = tmp_path / "out"

    def interrupt() -> None:
        wait_until(lambda: [*(out / "parts").glob("*.at")])
        os.kill(os.getpid(), signal.SIGINT)

    def begin(now: BatchProgress) -> None:
        if not now.bytes:
            Thread(target=interrupt).start()

    job = HarmfulJob("check", takes=0.05)
    with pytest.raises(KeyboardInterrupt):
        map_recordings(folder, job, out, workers=1, on_progress=begin)
    assert [path.suffix for path in (out / "parts").iterdir()] == [".gz"]
    assert not (out / "lock").exists()
    assert map_recordings(folder, job, out, workers=1).recordings == 9
