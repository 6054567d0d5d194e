"""The documentation: what its scripts write is up to date, what a copy button copies runs, links lead somewhere."""

import doctest
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jsontide
from tests.packages import PUBLIC

pytestmark = pytest.mark.once  # the pages are under test

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {
    page.relative_to(ROOT).as_posix(): page.read_text("utf-8") for page in [*DOCS.rglob("*.md"), ROOT / "README.md"]
}
FENCE = re.compile(r"^```(?P<language>\w*)(?P<info>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)(?P<target>[^)#\s]*)(?:#(?P<anchor>[^)\s]*))?\)")


def load(name: str) -> Any:
    """A script that writes a part of the documentation."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_what_scripts_write_is_up_to_date() -> None:
    stale = "is stale; `make docs` writes it"
    assert PAGES["docs/reference/cli.md"] == load("gen_cli").reference(), f"docs/reference/cli.md {stale}"
    drawn = {f"{name}.svg": draw() for name, draw in load("gen_pictures").PICTURES.items()}
    assert drawn == {path.name: path.read_text("utf-8") for path in (DOCS / "pictures").glob("*.svg")}, stale
    recorded = ROOT / "examples/run.ndjson"
    assert recorded.read_bytes() == load("gen_run").play(), f"{recorded} is stale; `python docs/gen_run.py` writes it"


def test_the_site_has_pages_and_what_they_show_and_nothing_else() -> None:
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    (listed,) = re.findall(r"^exclude_docs: \|\n((?:  .+\n)+)", settings, re.MULTILINE)
    patterns = listed.split()
    assert "__pycache__/" in patterns
    shown = {".md", ".svg", ".png", ".css"}
    files = [path.relative_to(DOCS) for path in DOCS.rglob("*") if path.is_file() and path.suffix not in shown]
    # What begins with a dot is left out by default.
    seen = [path for path in files if not any(part.startswith((".", "__pycache__")) for part in path.parts)]
    assert [path for path in seen if not any(map(path.match, patterns))] == []


def test_the_command_line_reference_names_the_choices_of_an_option() -> None:
    reference = PAGES["docs/reference/cli.md"]
    assert "`--on-conflict raise|repair`" in reference
    assert re.search(r"`--seed N`: .* Default: `0`\.", reference)


def test_the_reference_lists_every_public_name_once() -> None:
    pages = "\n".join(page.read_text("utf-8") for page in (DOCS / "reference").glob("*.md"))
    listed = re.findall(r"^::: (.+)$", pages, re.MULTILINE)
    offered = {f"jsontide.{name}" for name in jsontide.__all__}
    for package in PUBLIC:
        names = [name for name in package.__all__ if getattr(jsontide, name, None) is not getattr(package, name)]
        offered |= {f"{package.__name__}.{name}" for name in names}
    offered.remove("jsontide.testing.Recording")  # the one of `recordings`
    assert sorted(listed) == sorted(offered)


def test_help_the_reference_and_the_architecture_list_the_same_packages() -> None:
    packages = {package.__name__.removeprefix("jsontide.") for package in PUBLIC}
    assert jsontide.__doc__ is not None
    _, _, listed = jsontide.__doc__.partition("in the packages")
    assert set(re.findall(r"`(\w+)`", listed)) == packages
    rows = re.findall(r"^\| \[.+\.md\) \| (.*) \| .* \|$", PAGES["docs/reference/index.md"], re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == packages
    _, stack, *_ = (ROOT / "ARCHITECTURE.md").read_text("utf-8").split("```")
    shown = {word for line in stack.splitlines() for word in re.split(r"  +", line)[0].replace("|", "·").split(" · ")}
    assert packages <= {word.strip() for word in shown}


def test_the_figures_of_the_readme_are_those_of_the_last_run() -> None:
    measured = PAGES["docs/measured/benchmarks.md"].splitlines()
    first = measured.index("### Records in an object, chunks of 1 to 8 characters")
    table = measured[first : measured.index("### Records in an object, chunks of 48 to 80 characters")]
    shown = [line for line in PAGES["README.md"].splitlines() if line.startswith("|")]
    assert len(shown) > 2
    stale = "README.md is stale; its rows are copied from docs/measured/benchmarks.md and docs/measured/whole-way.md"
    assert set(shown) <= {*table, *PAGES["docs/measured/whole-way.md"].splitlines()}, stale


def blocks(language: str) -> Iterator[tuple[str, str]]:
    for name, text in PAGES.items():
        yield from ((name, block["code"]) for block in FENCE.finditer(text) if block["language"] == language)


def test_prompts_are_in_sessions_only() -> None:
    """A block of Python is copied as it is."""
    assert [name for name, code in blocks("python") if re.search(r"^(>>>|\.\.\.) ", code, re.MULTILINE)] == []


def copied_of(session: str) -> str:
    """What docs/assets/extra.css leaves of a session: lines with a prompt, as Pygments finds them, without it."""
    lexers = pytest.importorskip("pygments.lexers", reason="pygments is not installed")
    prompt = pytest.importorskip("pygments.token").Token.Generic.Prompt
    lines: list[list[tuple[object, str]]] = [[]]
    for kind, text in lexers.PythonConsoleLexer().get_tokens(session):
        for part in text.splitlines(keepends=True):
            lines[-1].append((kind, part))
            if part.endswith("\n"):
                lines.append([])
    kept = [line for line in lines if any(kind is prompt for kind, _ in line)]
    return "".join(text for line in kept for kind, text in line if kind is not prompt)


@pytest.mark.long
def test_of_a_session_the_code_is_copied_and_nothing_else() -> None:
    for name, session in blocks("pycon"):
        wanted = [example.source for example in doctest.DocTestParser().get_examples(session)]
        assert "".join(copied_of(session).split()) == "".join("".join(wanted).split()), name


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as the site makes them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def test_links_lead_somewhere() -> None:
    for name, text in PAGES.items():
        for link in LINK.finditer(FENCE.sub("", text)):
            target = (ROOT / name).parent.joinpath(link["target"]).resolve() if link["target"] else ROOT / name
            assert target.exists(), (name, link[0])
            if link["anchor"] and target.suffix == ".md":
                assert link["anchor"] in anchors(target.read_text("utf-8")), (name, link[0])


def test_every_page_is_in_the_navigation() -> None:
    navigation = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(navigation) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_the_readme_stays_short() -> None:
    assert len(PAGES["README.md"].splitlines()) <= 125
