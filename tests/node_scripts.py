"""Runs the scripts of tests/node: the front ends' own parsers, fed with what the encoders write.

They need Node and the packages that `make node` installs; without one of them a test is skipped with the reason.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "node"
TIMEOUT = 600


def missing() -> str:
    """Return why the scripts cannot run, or nothing."""
    if shutil.which("node") is None:
        return "node is not installed"
    if not (FOLDER / "node_modules").is_dir():
        return "the packages of tests/node are not installed: `make node` does it"
    return ""


needs_node = pytest.mark.skipif(bool(missing()), reason=missing())


def run(script: str, given: object, *arguments: str) -> Any:
    """Return what a script prints as JSON, given a value as JSON on its standard input; what it logs fails the test."""
    done = subprocess.run(
        ["node", str(FOLDER / script), *arguments],  # noqa: S607 - whatever node the machine has
        input=json.dumps(given).encode(),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert not done.stderr, done.stderr.decode()[-2000:]
    return json.loads(done.stdout)
