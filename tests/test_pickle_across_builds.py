"""A state that one build pickled continues in the other, with the same results."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jsontide import COMPILED

ROOT = Path(__file__).parents[1]
OTHER = os.environ.get("JSONTIDE_OTHER_PYTHON")
FEWEST = 5_000
"""States; fewer would mean that the program no longer does what it says."""

if OTHER is None:
    pytest.skip(
        "JSONTIDE_OTHER_PYTHON is not set: `make test-compiled` names a Python with the other build",
        allow_module_level=True,
    )


def program(python: str, verb: str, file: Path) -> str:
    command = [python, "-m", "tests.across_builds", verb, str(file)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout


@pytest.mark.long
@pytest.mark.parametrize(
    ("dumper", "loader", "build"),
    [
        pytest.param(OTHER, sys.executable, COMPILED, id="from the other build to this one"),
        pytest.param(sys.executable, OTHER, not COMPILED, id="from this build to the other one"),
    ],
)
def test_a_state_goes_on_in_the_other_build(dumper: str, loader: str, build: bool, tmp_path: Path) -> None:  # noqa: FBT001
    file = tmp_path / "states"
    program(dumper, "dump", file)
    *differences, summary = program(loader, "load", file).splitlines()
    assert not differences
    count, _, name = summary.split()
    assert name == ("compiled" if build else "pure")
    assert int(count) >= FEWEST
