"""Programs as type checkers see them: which of their lines mypy and pyright refuse.

A line that must be refused ends in `# refused`; every other line must be accepted.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
# What mypy finds in the library and in other packages is kept for the next program, for each process of tests.
CACHE = ROOT / ".mypy_cache" / f"programs{os.environ.get('PYTEST_XDIST_WORKER', '')}"
COMMANDS = {
    "mypy": ["mypy", "--strict", "--cache-dir", str(CACHE)],
    "basedpyright": [
        "basedpyright",
        "--level",
        "error",
        "--pythonpath",
        sys.executable,
    ],  # pyright's checker, with the Node that it needs
}

checkers = pytest.mark.parametrize("checker", COMMANDS)


def check_program(checker: str, program: str, place: Path) -> None:
    """Fail unless a checker refuses just the lines that must be refused."""
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed here; `make test-long` installs it")
    path = place / "program.py"
    path.write_text(program, "utf-8")
    settings = f'{{"extraPaths": ["{SOURCE.as_posix()}"], "typeCheckingMode": "standard"}}'
    (place / "pyrightconfig.json").write_text(settings, "utf-8")
    untraced = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, "-m", *COMMANDS[checker], str(path)],
        capture_output=True,
        check=False,
        cwd=place,
        env={**untraced, "MYPYPATH": str(SOURCE)},
        text=True,
    )
    found = {int(line) for line in re.findall(r"program\.py:(\d+):(?:\d+ -)? error", done.stdout)}
    expected = {at for at, line in enumerate(program.splitlines(), 1) if line.endswith("# refused")}
    assert found == expected, done.stdout + done.stderr
