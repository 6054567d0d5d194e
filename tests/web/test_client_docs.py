"""docs/how-to/browser.md: its figures, its code and its example of the wire form are true."""

import json
import re
from functools import reduce
from pathlib import Path

from jsontide.frontends import CompactValue
from tests.node_scripts import needs_node, run
from tests.web.browsers import STATIC

FOLDER = Path(__file__).parents[2] / "docs/how-to"
PAGE = (FOLDER / "browser.md").read_text("utf-8")


@needs_node
def test_the_size_is_that_of_the_file() -> None:
    (told,) = re.findall(r"of ([\d.]+) KB minified", PAGE)
    assert float(told) == round(run("minify.mjs", None)["compressed"] / 1000, 1)


@needs_node
def test_the_examples_are_code() -> None:
    pages = [PAGE, *((FOLDER / name).read_text("utf-8") for name in ("resume.md", "chat.md"))]
    found = [each for page in pages for each in re.findall(r"^```(jsx?)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)]
    assert len(found) > 5
    assert run("parse.mjs", found) == []


def test_the_example_of_the_wire_form_is_one() -> None:
    lines = re.findall(r"^([{\"\[]\S*) {2,}\w", PAGE, re.MULTILINE)
    value = reduce(CompactValue.read, [json.loads(line) for line in lines], CompactValue())
    assert value.value == {"city": "Kyoto", "stops": [3]}
    assert value.end == {"end": "complete"}
    assert not value.growing


def test_every_option_is_in_the_table() -> None:
    types = (STATIC / "jsontide.d.ts").read_text("utf-8")
    (options,) = re.findall(r"interface Options.*?\{(.*?)^\}", types, re.MULTILINE | re.DOTALL)
    table = PAGE[PAGE.index("| option |") : PAGE.index("It returns an object")]
    named = set(re.findall(r"`(\w+)(?:\([^`]*\))?`", table))
    assert set(re.findall(r"^  (\w+)\?:", options, re.MULTILINE)) <= named
