import importlib.util
import re
from pathlib import Path
from typing import Any

import jsontide
from tests.packages import PUBLIC

DOCS = Path(__file__).parents[1] / "docs"


def load(name: str) -> Any:
    """A script that writes a part of the documentation."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_command_line_reference_says_what_the_program_says() -> None:
    assert (DOCS / "reference/cli.md").read_text(encoding="utf-8") == load("gen_cli").reference(), (
        "docs/reference/cli.md is stale; `make docs` rewrites it"
    )


def test_the_recorded_run_is_the_one_that_its_script_writes() -> None:
    assert (DOCS.parent / "examples/run.ndjson").read_bytes() == load("gen_run").play(), (
        "examples/run.ndjson is stale; `python docs/gen_run.py` rewrites it"
    )


def test_the_site_has_pages_and_what_they_show_and_nothing_else() -> None:
    settings = (DOCS.parent / "mkdocs.yml").read_text("utf-8")
    (listed,) = re.findall(r"^exclude_docs: \|\n((?:  .+\n)+)", settings, re.MULTILINE)
    patterns = listed.split()
    assert "__pycache__/" in patterns
    shown = {".md", ".svg", ".png", ".css"}
    files = [path.relative_to(DOCS) for path in DOCS.rglob("*") if path.is_file() and path.suffix not in shown]
    # What begins with a dot is left out by default.
    seen = [path for path in files if not any(part.startswith((".", "__pycache__")) for part in path.parts)]
    assert [path for path in seen if not any(map(path.match, patterns))] == []


def test_the_command_line_reference_names_the_choices_of_an_option() -> None:
    reference = (DOCS / "reference/cli.md").read_text(encoding="utf-8")
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
    rows = re.findall(
        r"^\| \[.+\.md\) \| (.*) \| .* \|$", (DOCS / "reference/index.md").read_text("utf-8"), re.MULTILINE
    )
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == packages
    _, stack, *_ = (DOCS.parent / "ARCHITECTURE.md").read_text("utf-8").split("```")
    shown = {word for line in stack.splitlines() for word in re.split(r"  +", line)[0].replace("|", "·").split(" · ")}
    assert packages <= {word.strip() for word in shown}


def test_the_figures_of_the_readme_are_those_of_the_last_run() -> None:
    measured = (DOCS / "measured/benchmarks.md").read_text(encoding="utf-8").splitlines()
    first = measured.index("### Records in an object, chunks of 1 to 8 characters")
    table = measured[first : measured.index("### Records in an object, chunks of 48 to 80 characters")]
    whole_way = (DOCS / "measured/whole-way.md").read_text(encoding="utf-8").splitlines()
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    shown = [line for line in readme.splitlines() if line.startswith("|")]
    assert len(shown) > 2
    stale = "README.md is stale; its rows are copied from docs/measured/benchmarks.md and docs/measured/whole-way.md"
    assert set(shown) <= {*table, *whole_way}, stale
