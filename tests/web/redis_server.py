"""A real server of Redis for tests: it keeps nothing, and listens at a socket of its own."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.web.serving import PATIENCE, eventually


@contextmanager
def serve_redis() -> Iterator[str]:
    """Serve Redis; give its URL."""
    pytest.importorskip("redis", reason="redis is not installed")
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    with tempfile.TemporaryDirectory(prefix="redis") as folder:
        path = Path(folder) / "socket"
        options = ["--port", "0", "--unixsocket", str(path), "--save", "", "--appendonly", "no", "--dir", folder]
        with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL) as server:
            eventually(lambda: path.exists() or server.poll() is not None)
            assert server.poll() is None
            yield f"unix://{path}"
            server.terminate()
            server.wait(PATIENCE)
