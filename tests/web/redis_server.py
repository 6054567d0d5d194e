"""A real server of Redis for tests, at a socket of its own: it can be killed and started again."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.web.serving import PATIENCE, eventually


class RedisServer:
    """A process of redis-server; what it keeps in a file is there again after a kill."""

    def __init__(self, program: str, folder: str, *, keeps: bool) -> None:
        redis: Any = pytest.importorskip("redis", reason="redis is not installed")
        path = Path(folder) / "socket"
        file = ["--save", "", "--appendonly", "yes" if keeps else "no", "--dir", folder]
        self._command = [program, "--port", "0", "--unixsocket", str(path), *file]
        self._unreachable = redis.RedisError
        self.url = f"unix://{path}"
        self.client = redis.Redis.from_url(self.url)
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        eventually(self._answers)

    def _answers(self) -> bool:
        assert self.process.poll() is None
        with suppress(self._unreachable):
            return bool(self.client.ping())
        return False

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)


@contextmanager
def serve_redis(*, keeps: bool = False) -> Iterator[RedisServer]:
    """Serve Redis; with `keeps`, it writes all to a file."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    with tempfile.TemporaryDirectory(prefix="redis") as folder:
        server = RedisServer(program, folder, keeps=keeps)
        try:
            yield server
        finally:
            server.client.close()
            server.kill()
