"""What the process around the library may do: watch it.

Each test is a program of its own, because these things stay with a process.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FEWEST = 100
"""Values; fewer would mean that a program no longer does what it says."""


def lines(*command: str) -> list[str]:
    # Coverage would be one more who watches, and needs memory of its own.
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run([sys.executable, *command], cwd=ROOT, env=env, capture_output=True, check=True, text=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("meddling", "when"),
    [
        ("names", "import"),
        ("names", "use"),
        ("names", "always"),
        ("objects", "import"),
        ("objects", "always"),
        ("leaks", "import"),
        ("uncounted", "always"),
    ],
)
def test_held_values_never_change_whoever_watches(meddling: str, when: str) -> None:
    *changed, held = lines("-m", "tests.traced", meddling, when)
    assert not changed
    assert int(held) >= FEWEST
