"""The oldest Starlette that the extras allow: it is the one that is named, and the servers work with it."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ("tests/studio/test_server.py", "tests/web/test_response.py", "tests/web/test_turns.py")


def floors() -> set[str]:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    asked = [each for name in ("web", "redis", "studio") for each in extras[name] if each.startswith("starlette")]
    return {version for each in asked for version in re.findall(r"starlette>=([0-9.]+)$", each)}


def test_all_extras_ask_for_one_whose_address_does_not_come_from_the_client() -> None:
    (floor,) = floors()  # up to 1.0.0 a Host header could put another path into `request.url`
    assert tuple(map(int, floor.split("."))) > (1, 0, 0)


@pytest.mark.long
def test_servers_work_with_the_oldest_one(tmp_path: Path) -> None:
    (floor,) = floors()
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path)]
    subprocess.run([*install, f"starlette=={floor}"], check=True)
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    # It uses a name of anyio that has become another since then.
    options = ["-q", "-n0", "-p", "no:cacheprovider", "-W", "ignore::DeprecationWarning"]
    check = f"import starlette; assert starlette.__version__ == {floor!r}"
    subprocess.run([sys.executable, "-c", check], check=True, env={**os.environ, "PYTHONPATH": paths})
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *TESTS],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout
