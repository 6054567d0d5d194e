"""`python -m tests.changed`: which tests to run after a change, for `make check`.

In: the files that git says have changed, since the last commit, or in it if nothing has.
Out: the tests of the same package, changed tests, and changed documents, whose examples are tests too; and to be
ignored, the cost tests of these packages, unless they have changed themselves: each of them takes long.
"""

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALWAYS = ("tests/test_architecture.py",)
WITHOUT_A_CHANGE = ("tests/text", "tests/tree")


def changed() -> list[str]:
    return git("diff", "--name-only", "HEAD") + git("ls-files", "--others", "--exclude-standard") or git(
        "diff", "--name-only", "HEAD~1", "HEAD"
    )


def git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    return done.stdout.splitlines()


def find_tests(paths: Iterable[str]) -> Iterator[str]:
    """Yield where the tests of each file are, whether there is such a place or not."""
    for path in map(Path, paths):
        match path.parts:
            case ("src", "jsontide", package, *_, _):
                yield f"tests/{package}"
            case ("src", "jsontide", module):
                yield f"tests/test_{module.strip('_')}"
            case ("tests", *_, name) if name.startswith("test_"):
                yield path.as_posix()
            case ("benchmarks", *_):
                yield "tests/test_benchmarks.py"
            case ("docs", *_) | ("README.md",) if path.suffix == ".md":
                yield path.as_posix()
            case _:
                pass


def find_costly(found: Iterable[str]) -> Iterator[str]:
    """Yield the cost tests in folders of tests, but those that were found by their own names."""
    chosen = {*found}
    for path in sorted(path for folder in chosen for path in (ROOT / folder).glob("test_*_cost.py")):
        name = path.relative_to(ROOT).as_posix()
        if name not in chosen:
            yield name


def main() -> None:
    found = {path for path in find_tests(changed()) if (ROOT / path).exists()} or {*WITHOUT_A_CHANGE}
    ignored = [f"--ignore={path}" for path in find_costly(found)]
    print(*sorted({*found, *ALWAYS}), *ignored)  # noqa: T201 - its output is the product


if __name__ == "__main__":
    main()
