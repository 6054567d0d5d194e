"""What the process around the library may do: run out of memory, watch it, or run several interpreters.

Each test is a program of its own, because these things stay with a process.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from jsontide import COMPILED
from jsontide._mypyc import is_main
from tests.interpreters import NAME

ROOT = Path(__file__).parents[1]
FEWEST = 100
"""Failures and values; fewer would mean that a program no longer does what it says."""
SCENES = ("tree", "held", "wrong", "events", "subscriptions", "snapshots", "levels", "schema")
READ = "{'a': [1, 2, 'te']} <JsonComplete root value=[1, True] [0:9]>"


def lines(*command: str) -> list[str]:
    # Coverage would trace too, and needs memory of its own.
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run([sys.executable, *command], cwd=ROOT, env=env, capture_output=True, check=True, text=True)
    return done.stdout.splitlines()


@pytest.mark.long
@pytest.mark.skipif(find_spec("_testcapi") is None, reason="this Python has no _testcapi, which lets memory run out")
@pytest.mark.parametrize("scene", SCENES)
def test_where_memory_ends_a_call_raises_and_can_be_made_again(scene: str) -> None:
    *others, raised = lines("-m", "tests.starved", scene)
    assert not others
    assert int(raised) >= FEWEST


@pytest.mark.long
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


def test_the_tests_run_in_the_main_interpreter() -> None:
    assert is_main()


@pytest.mark.long
@pytest.mark.skipif(not NAME, reason="this Python cannot make interpreters")
@pytest.mark.parametrize("first", ["main", "other"])
def test_the_main_interpreter_goes_on_whatever_another_one_imports(first: str) -> None:
    said = lines("-m", "tests.interpreters", first)
    other = said.pop(1 if first == "main" else 0)
    assert said == [READ] * (3 if first == "main" else 2)
    if COMPILED:
        assert other.startswith("compiled, jsontide runs in the main interpreter only")
    else:
        assert other == READ
