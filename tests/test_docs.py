import importlib.util
import re
from pathlib import Path

import jsontide

DOCS = Path(__file__).parents[1] / "docs"


def test_the_command_line_reference_says_what_the_program_says() -> None:
    spec = importlib.util.spec_from_file_location("gen_cli", DOCS / "gen_cli.py")
    assert spec is not None
    assert spec.loader is not None
    gen_cli = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gen_cli)
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == gen_cli.reference(), (
        "docs/cli.md is stale; `make docs` rewrites it"
    )


def test_the_reference_lists_every_public_name_once() -> None:
    listed = re.findall(r"^::: jsontide\.(\w+)$", (DOCS / "reference.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(jsontide.__all__)
