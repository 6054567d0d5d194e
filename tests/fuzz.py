"""`python -m tests.fuzz`: the property tests with new examples, seed after seed, until the time is up; for `make fuzz`.

MINUTES  how long, 10 unless it is set
SEED     one seed, and then the end: what a failure says to run
TESTS    one part of the tests, such as tests/mend, in place of all of them

A failure ends it, with what reproduces it. Mend the fault, then name the case, so that `make test` knows it: a text for
`mend` in tests/mend/test_found.py, everything else as `@example(...).via("what is special about it")` above the test.
"""

import os
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from random import SystemRandom

ROOT = Path(__file__).parents[1]


def find_parts() -> list[str]:
    """Return each folder and file of tests in which properties are tested."""
    tests = ROOT / "tests"
    files = [path for path in sorted(tests.rglob("test_*.py")) if "from hypothesis import" in path.read_text("utf-8")]
    parts = dict.fromkeys(path.parent if path.parent != tests else path for path in files)
    return [part.relative_to(ROOT).as_posix() for part in parts]


def fuzz(part: str, seed: int) -> int:
    """Run the property tests of a part with the examples of a seed, and return the status of pytest."""
    print(f"{part}, seed {seed}", flush=True)  # noqa: T201 - so that one sees where it is
    options = ["-q", "--no-header", "--numprocesses=auto", "-m", "hypothesis", f"--hypothesis-seed={seed}"]
    command = [sys.executable, "-m", "pytest", *options, part]
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "fuzz"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def main() -> int:
    seed = os.environ.get("SEED")
    parts = [part] if (part := os.environ.get("TESTS")) else find_parts()
    end = time.monotonic() + 60 * float(os.environ.get("MINUTES") or 10)
    draw = SystemRandom()
    tried = 0
    seeds = [int(seed)] if seed else (draw.randrange(2**32) for _ in count())
    for chosen, part in ((chosen, part) for chosen in seeds for part in parts):
        if not seed and time.monotonic() > end:
            break
        if fuzz(part, chosen):
            print(f"\nto see it again: make fuzz SEED={chosen} TESTS={part}")  # noqa: T201 - its output is the product
            return 1
        tried += 1
    print(f"\n{tried} runs of {len(parts)} parts found nothing")  # noqa: T201 - its output is the product
    return 0


if __name__ == "__main__":
    sys.exit(main())
