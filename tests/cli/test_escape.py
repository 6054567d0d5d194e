import json
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from jsontide._values import escape_unsafe
from jsontide.cli._output import LineWriter, escape_lines, escape_unsafe_json, quote_safely
from tests.cli.running import run

HOSTILE = "a\x9b2J\x7f\x85\u202e\u2066\u200f\u061cz"
STEERING = re.compile("[\x1b\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def test_nothing_printed_can_steer_a_terminal() -> None:
    hostile = "a\x1b[2J\x9b\x7f\u2028\u202e\ud800\tz"
    assert escape_unsafe(hostile) == r"a\u001b[2J\u009b\u007f\u2028\u202e\ud800\u0009z"
    assert quote_safely(hostile).isprintable()
    assert quote_safely("Zoë 健二 👩‍👩‍👧") == '"Zoë 健二 👩‍👩‍👧"'
    text = '{"\x9b2J": "\u202e\x7f\u2028 é🌊",\n\t"b": 1}'
    safe = escape_unsafe_json(text)
    assert safe == '{"\\u009b2J": "\\u202e\\u007f\\u2028 é🌊",\n\t"b": 1}'
    assert json.loads(safe) == json.loads(text)


@pytest.mark.parametrize("escape", [escape_unsafe, escape_lines, escape_unsafe_json])
def test_what_is_escaped_stays_as_it_is(escape: Callable[[str], str]) -> None:
    once = escape(f"{HOSTILE}\\u009b")
    assert not STEERING.search(once)
    assert escape(once) == once


def written(chunk: str, *, is_raw: bool, is_terminal: bool) -> str:
    out = BytesIO()
    writer = LineWriter(out, is_terminal)
    if is_raw:
        writer.write_json_text(chunk, end="")
    else:
        writer.write_json(chunk)
    return out.getvalue().decode()


@pytest.mark.parametrize("is_raw", [False, True])
def test_chunks_are_safe_on_a_terminal_and_as_they_are_elsewhere(is_raw: bool) -> None:  # noqa: FBT001
    chunk = json.dumps([HOSTILE], ensure_ascii=False)
    safe, plain = (written(chunk, is_raw=is_raw, is_terminal=is_terminal) for is_terminal in (True, False))
    assert not STEERING.search(safe)
    assert json.loads(safe) == json.loads(plain) == ([HOSTILE] if is_raw else chunk)
    assert HOSTILE in plain


@pytest.mark.parametrize(
    "schema",
    [
        f'{{"{HOSTILE}": {HOSTILE}',
        json.dumps({"type": HOSTILE}, ensure_ascii=False),
        json.dumps({"$ref": f"http://{HOSTILE}"}, ensure_ascii=False),
        json.dumps({"properties": {HOSTILE: 5}}, ensure_ascii=False),
        json.dumps({"minLength": HOSTILE}, ensure_ascii=False),
    ],
)
def test_errors_of_schema_files_are_safe(tmp_path: Path, schema: str) -> None:
    (tmp_path / f"{HOSTILE}.json").write_text(schema, encoding="utf-8")
    (tmp_path / "document").write_text("[1]")
    result = run("check", tmp_path / "document", "--schema", tmp_path / f"{HOSTILE}.json")
    assert result.exit_code == 2
    assert not STEERING.search(result.stderr), ascii(result.stderr)


@pytest.mark.parametrize("words", [["watch", HOSTILE], ["get", f"--{HOSTILE}"], [HOSTILE], ["chunk", "-", HOSTILE]])
def test_errors_of_the_command_line_are_safe(words: list[str]) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert not STEERING.search(result.stderr), ascii(result.stderr)
