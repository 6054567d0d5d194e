"""What `.ci/check_release.py` refuses to publish, and that this repository agrees with itself."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import jsontide

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / ".ci" / "check_release.py"
find_problems = runpy.run_path(str(SCRIPT))["find_problems"]

NEXT = "# Changelog\n\n## [Unreleased]\n\n- A new thing.\n\n## [1.9.0] - 2026-01-31\n\n- An old thing.\n"
READY = NEXT.replace("[Unreleased]", "[1.10.0] - 2026-02-01")
KEPT = READY.replace("## [1.10.0]", "## [Unreleased]\n\n## [1.10.0]")
"""The same, with an empty section for what comes next."""


@pytest.mark.parametrize(
    ("version", "changelog", "tag"),
    [
        pytest.param("1.10.0", NEXT, None, id="in between, the version raised"),
        pytest.param("1.9.0", NEXT, None, id="in between, the version not raised yet"),
        pytest.param("1.10.0", READY, None, id="before the tag"),
        pytest.param("1.10.0", READY, "v1.10.0", id="the tag"),
        pytest.param("1.10.0", KEPT, "v1.10.0", id="the tag, with an empty section for what comes next"),
        pytest.param("0.1.0", "## [Unreleased]\n", None, id="before the first release"),
    ],
)
def test_what_agrees_is_accepted(version: str, changelog: str, tag: str | None) -> None:
    assert find_problems(version, changelog, tag) == []


@pytest.mark.parametrize(
    ("version", "changelog", "tag", "expected"),
    [
        pytest.param("1.10.0", READY, "v1.9.0", "the tag must be v1.10.0", id="another tag"),
        pytest.param("1.10.0", READY, "1.10.0", "the tag must be v1.10.0", id="a tag without its letter"),
        pytest.param("1.10.0", NEXT, "v1.10.0", "no section '## [1.10.0]", id="no section"),
        pytest.param("1.9.0", NEXT, "v1.9.0", "changes under [Unreleased]", id="changes without a version"),
        pytest.param("1.9.0", READY, None, "begins with 1.10.0, but", id="the version was not raised"),
        pytest.param("1.11.0", READY, None, "none for version 1.11.0", id="the section was not written"),
        pytest.param("1.10.0", READY.replace("02-01", "02-30"), None, "neither", id="no such day"),
        pytest.param("1.10.0", READY.replace(" - 2026-02-01", ""), None, "neither", id="no date"),
        pytest.param("1.10.0", READY.replace("- A new thing.", ""), None, "is empty", id="an empty section"),
        pytest.param("2.0.0", READY.replace("1.9.0", "2.0.0"), None, "newest comes first", id="out of order"),
        pytest.param("1.9.0", READY + "\n## [Unreleased]\n", None, "not the first section", id="unreleased at the end"),
    ],
)
def test_what_does_not_agree_is_named(version: str, changelog: str, tag: str | None, expected: str) -> None:
    problems = find_problems(version, changelog, tag)
    assert any(expected in problem for problem in problems), problems


def run(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, check=False, text=True)
    return done.returncode, done.stderr


def test_version_and_changelog_of_this_repository_agree() -> None:
    assert run() == (0, "")


def test_a_wrong_tag_fails_and_says_what_is_right() -> None:
    status, said = run("v0.0.0")
    assert status == 1
    assert f"error: the tag is v0.0.0, but _version.py says {jsontide.__version__}" in said


def test_every_make_target_that_is_named_exists() -> None:
    """In what runs on other machines, and in what people read."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    files = [*ROOT.glob(".github/**/*"), ROOT / ".ci/run", *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    texts = [file.read_text("utf-8") for file in files if file.is_file()]
    named = {name for text in texts for name in re.findall(r"(?:^|`|run: )make ([a-z-]+)", text, re.MULTILINE)}
    assert {"test", "test-dist", "demo"} <= named <= targets
