"""The pages of the documentation: what a copy button copies runs, links lead somewhere, pictures are up to date."""

import doctest
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.once  # the pages are under test

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {
    page.relative_to(ROOT).as_posix(): page.read_text("utf-8") for page in [*DOCS.rglob("*.md"), ROOT / "README.md"]
}
FENCE = re.compile(r"^```(?P<language>\w*)(?P<info>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)(?P<target>[^)#\s]*)(?:#(?P<anchor>[^)\s]*))?\)")


def blocks(language: str) -> Iterator[tuple[str, str]]:
    for name, text in PAGES.items():
        yield from ((name, block["code"]) for block in FENCE.finditer(text) if block["language"] == language)


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def test_the_pictures_show_what_the_library_does() -> None:
    drawn = {f"{name}.svg": draw() for name, draw in load_script("gen_pictures").PICTURES.items()}
    kept = {path.name: path.read_text("utf-8") for path in (DOCS / "pictures").glob("*.svg")}
    assert drawn == kept, "docs/pictures is stale; `python docs/gen_pictures.py` writes it"


def test_the_readme_stays_short() -> None:
    assert len(PAGES["README.md"].splitlines()) <= 125
