"""`python .ci/check_release.py [TAG]`: whether the version, CHANGELOG.md and the tag of a release agree.

In: src/jsontide/_version.py, CHANGELOG.md, and the tag that is to be published, if there is one.
Out: a line for each thing that does not agree, and status 1 if there is any.
"""

from __future__ import annotations

import re
import sys
from datetime import date
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNRELEASED = "[Unreleased]"
HEADING = re.compile(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)")


def find_problems(version: str, changelog: str, tag: str | None = None) -> list[str]:
    """Return what does not agree, each in a sentence that says what to change."""
    sections = read_sections(changelog)
    releases = [match[1] for heading in sections if (match := HEADING.fullmatch(heading))]
    problems = [*malformed(sections), *disordered(releases)]
    if version not in releases and UNRELEASED not in sections:
        problems.append(f"CHANGELOG.md has no section {UNRELEASED}, and none for version {version}")
    if releases and key(releases[0]) > key(version):
        problems.append(f"CHANGELOG.md begins with {releases[0]}, but _version.py says {version}")
    if tag is not None:
        problems += find_problems_of_tag(tag, version, sections, releases)
    return problems


def find_problems_of_tag(tag: str, version: str, sections: dict[str, str], releases: list[str]) -> list[str]:
    problems = []
    if tag != f"v{version}":
        problems.append(f"the tag is {tag}, but _version.py says {version}: the tag must be v{version}")
    if version not in releases:
        problems.append(f"CHANGELOG.md has no section '## [{version}] - YYYY-MM-DD'")
    if sections.get(UNRELEASED):
        problems.append(f"CHANGELOG.md has changes under {UNRELEASED}: move them to the section of version {version}")
    return problems


def read_sections(changelog: str) -> dict[str, str]:
    """Return what stands under each heading of the second level, in order."""
    _, *parts = re.split(r"^## +(.*?) *$", changelog, flags=re.MULTILINE)
    return {heading: content.strip() for heading, content in zip(parts[::2], parts[1::2], strict=True)}


def malformed(sections: dict[str, str]) -> list[str]:
    problems = []
    for heading, content in sections.items():
        match = HEADING.fullmatch(heading)
        if heading != UNRELEASED and not (match and is_date(match[2])):
            problems.append(f"'## {heading}' in CHANGELOG.md is neither {UNRELEASED} nor '[1.2.3] - YYYY-MM-DD'")
        elif heading != UNRELEASED and not content:
            problems.append(f"'## {heading}' in CHANGELOG.md is empty")
    if UNRELEASED in list(sections)[1:]:
        problems.append(f"{UNRELEASED} is not the first section of CHANGELOG.md")
    return problems


def disordered(releases: list[str]) -> list[str]:
    return [
        f"CHANGELOG.md has {newer} before {older}: the newest comes first"
        for newer, older in pairwise(releases)
        if key(newer) <= key(older)
    ]


def is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def key(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def read_version(source: str) -> str:
    found = re.search(r'^__version__ = "(\d+\.\d+\.\d+)"$', source, re.MULTILINE)
    if found is None:
        sys.exit("error: _version.py has no line '__version__ = \"1.2.3\"'")
    return found[1]


def main() -> None:
    version = read_version((ROOT / "src/jsontide/_version.py").read_text("utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    tag = sys.argv[1] if len(sys.argv) > 1 else None
    problems = find_problems(version, changelog, tag)
    if problems:
        sys.exit("\n".join(f"error: {problem}" for problem in problems))


if __name__ == "__main__":
    main()
