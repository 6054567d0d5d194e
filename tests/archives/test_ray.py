"""The same tables by tasks of Ray, in a network of its own that has nothing but loopback."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from jsontide.archives import BatchError, RayEngine, RecordingJob, map_recordings
from tests.archives.made import POISON, pack, recordings, write_files
from tests.archives.test_batch import InOrder, as_written

ROOT = Path(__file__).parents[2]
PROGRAM = """\
import fcntl, socket, struct, sys
with socket.socket() as any_socket:  # switch loopback on
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x49))
from jsontide.archives import RayEngine, map_recordings
from tests.archives.made import HarmfulJob
result = map_recordings(sys.argv[1], HarmfulJob("stats"), sys.argv[2], engine=RayEngine(workers=2))
print(result.recordings)
"""


def in_a_network_of_its_own(*command: str) -> "subprocess.CompletedProcess[str]":
    alone = [shutil.which("unshare") or "unshare", "--map-root-user", "--net"]
    return subprocess.run([*alone, *command], cwd=ROOT, capture_output=True, check=False, text=True)


pytestmark = [pytest.mark.long, pytest.mark.untraced]


@pytest.fixture(scope="module")
def _ray() -> None:
    if find_spec("ray") is None:
        pytest.skip("ray is not installed: `make test-long` does it")
    if shutil.which("unshare") is None or in_a_network_of_its_own("true").returncode:
        pytest.skip("this system does not allow networks of their own")


@pytest.mark.usefixtures("_ray")
def test_tasks_of_ray_write_the_same_as_a_loop_and_survive_what_kills_them(tmp_path: Path) -> None:
    files = recordings(30, seed=2)
    folder = write_files(tmp_path / "in", {"a.tar.gz": pack(files), "b.tar.gz": pack(recordings(10, seed=3)), **files})
    map_recordings(folder, RecordingJob("stats"), tmp_path / "loop", engine=InOrder())
    ended = in_a_network_of_its_own(sys.executable, "-c", PROGRAM, str(folder), str(tmp_path / "ray"))
    assert ended.stdout.split()[-1:] == ["70"], ended.stderr
    assert as_written(tmp_path / "ray") == as_written(tmp_path / "loop")
    write_files(folder, {"poison.ndjson": POISON})
    ended = in_a_network_of_its_own(sys.executable, "-c", PROGRAM, str(folder), str(tmp_path / "poison"))
    assert ended.stdout.split()[-1:] == ["71"], ended.stderr


def test_without_ray_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    folder = write_files(tmp_path / "in", {"a.json": b"1"})
    with pytest.raises(BatchError, match=r"pip install .jsontide\[ray\]"):
        map_recordings(folder, RecordingJob("stats"), tmp_path / "out", engine=RayEngine())
