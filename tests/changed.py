"""`python -m tests.changed`: which tests to run after a change, for `make check`.

In: the files that git says have changed, since the last commit, or in it if nothing has.
Out: the tests of the same package, changed tests, and changed documents, whose examples are tests too.
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
            case ("docs", _) | ("README.md",) if path.suffix == ".md":
                yield path.as_posix()
            case _:
                pass


def main() -> None:
    found = {path for path in find_tests(changed()) if (ROOT / path).exists()} or {*WITHOUT_A_CHANGE}
    print(*sorted({*found, *ALWAYS}))  # noqa: T201 - its output is the product


if __name__ == "__main__":
    main()
