"""jsontide.js as it is shipped: small, typed, and what its types say."""

import re
import subprocess

import pytest

from jsontide.messages import Outcome
from tests.node_scripts import FOLDER, needs_node, run
from tests.web.browsers import STATIC, needs_plain_node

MOST = 4096
"""Bytes, minified and compressed."""
TSC = FOLDER / "node_modules/typescript/bin/tsc"
OPTIONS = (
    *("--noEmit", "--strict", "--allowJs", "--checkJs", "--target", "es2023", "--types", ""),
    *("--lib", "es2023,dom,dom.iterable,dom.asynciterable", "--module", "nodenext", "--moduleResolution", "nodenext"),
)
TYPES = (STATIC / "jsontide.d.ts").read_text("utf-8")

pytestmark = pytest.mark.once


@needs_node
def test_it_is_small() -> None:
    sizes = run("minify.mjs", None)
    assert sizes["warnings"] == []
    assert sizes["compressed"] < MOST, sizes


@needs_plain_node
@pytest.mark.skipif(not TSC.exists(), reason="typescript is not installed in tests/node: `make node` does it")
@pytest.mark.parametrize("file", [STATIC / "jsontide.js", FOLDER / "client_types.ts"], ids=lambda file: file.name)
def test_the_types_hold(file: object) -> None:
    command = ["node", str(TSC), *OPTIONS, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@needs_plain_node
def test_the_types_name_what_is_there() -> None:
    script = "console.log(Object.keys(await import('./jsontide.js')).sort().join(' '))"
    command = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(command, cwd=STATIC, capture_output=True, text=True, timeout=60, check=True)
    named = re.findall(r"^export (?:const|function|class) (\w+)", TYPES, re.MULTILINE)
    assert done.stdout.split() == sorted(named)


def test_the_types_know_all_outcomes() -> None:
    (words,) = re.findall(r"^export type Outcome =\n((?:  \| \"\w+\";?\n)+)", TYPES, re.MULTILINE)
    assert set(re.findall(r"\w+", words)) == {outcome.value for outcome in Outcome}


def test_it_depends_on_nothing() -> None:
    source = re.sub(r"/\*.*?\*/", "", (STATIC / "jsontide.js").read_text("utf-8"), flags=re.DOTALL)
    assert not re.search(r"\b(import|require)\b", source)
