"""`jsontide chunk`: snapshots by line in, chunks by line out."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jsontide.cli import _app
from jsontide.cli.commands.chunk import Summary

SNAPSHOTS = Path(__file__).parents[2] / "examples" / "snapshots.jsonl"


def chunk(source: str | Path, *options: str, text: str | None = None) -> Result:
    return CliRunner().invoke(_app.app, ["chunk", str(source), *options], input=text)


def test_each_line_is_a_chunk_and_joined_they_are_the_last_snapshot() -> None:
    result = chunk(SNAPSHOTS, "--check")
    lines = SNAPSHOTS.read_text("utf-8").splitlines()
    chunks = [json.loads(line) for line in result.stdout.splitlines()]
    assert json.loads("".join(chunks)) == json.loads(lines[-1])
    assert all(chunks)
    assert result.exit_code == 0
    assert (
        result.stderr
        == f"jsontide: {len(lines)} snapshots, {len(chunks)} chunks: joined, they equal the last snapshot\n"
    )


def test_raw_output_is_the_text_itself() -> None:
    joined = "".join(map(json.loads, chunk(SNAPSHOTS).stdout.splitlines()))
    assert chunk(SNAPSHOTS, "--raw").stdout == joined


def test_standard_input_and_blank_lines() -> None:
    result = chunk("-", text='\n["a"]\n\n["ab", 1]')
    assert list(map(json.loads, result.stdout.splitlines())) == ['["a', 'b",1', "]"]


def test_nothing_in_nothing_out_and_a_check_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    result = chunk("-", "--check", text="\n")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "jsontide: no snapshots, no chunks: joined, they equal the last snapshot\n"
    monkeypatch.setattr(Summary, "is_equal", lambda _: False)
    result = chunk("-", "--check", text="\n")
    assert (result.exit_code, result.stderr) == (
        1,
        "jsontide: no snapshots, no chunks: joined, they differ from the last snapshot\n",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('["a"]\n["b"]\n', 'line 2: root[0] is written as "a and cannot become "b"'),
        ('["a"]\n\n["a"\n', "line 3: not JSON: expected ',' or ']', found the end of the text"),
        ("\ufffe\n", "line 1: not JSON: expected a value, found U+FFFE"),
        ("  [1,]\n", "line 1: not JSON: expected a value, found ']' (line 1, column 6)"),
    ],
)
def test_a_bad_line_ends_it_after_what_was_written(text: str, message: str) -> None:
    result = chunk("-", "--check", text=text)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"jsontide: {message}")
    assert result.stdout == (json.dumps('["a') + "\n") * text.startswith('["a"]')


def test_a_conflict_does_not_steer_the_terminal() -> None:
    result = chunk("-", text='{"\u009b": "\u202ex"}\n{"\u009b": "\u2028"}\n')
    assert result.stderr == r'jsontide: line 2: root["\u009b"] is written as "\u202ex and cannot become "\u2028"' + "\n"


@pytest.mark.parametrize(
    ("options", "snapshots", "text"),
    [
        (["--on-conflict", "repair"], ['{"a": "x"}', '{"a": "y"}'], '{"a":"x","a":"y"}'),
        (["--key-order", "kept"], ['{"b": "x", "a": "y"}'], '{"b":"x","a":"y"}'),
        (["--numbers", "grow"], ["[1]", "[12]"], "[12]"),
        (["--nulls", "late"], ['{"a": null, "b": "x"}', '{"a": "y", "b": "x"}'], '{"b":"x","a":"y"}'),
        (["--empty", "late"], ['{"a": "", "b": "x"}', '{"a": "y", "b": "x"}'], '{"b":"x","a":"y"}'),
        (["--max-wait", "1"], ['{"a": "x", "b": "y"}'] * 2, '{"a":"x","b":"y"}'),
        (["--ensure-ascii"], ['"é"'], r'"\u00e9"'),
    ],
)
def test_the_options_of_the_chunker(options: list[str], snapshots: list[str], text: str) -> None:
    assert chunk("-", "--raw", *options, text="\n".join(snapshots)).stdout == text


@pytest.mark.parametrize(
    ("text", "last", "is_equal"),
    [
        *(('{"a":1}', last, False) for last in ('{"a": true}', '{"a": "1"}', '{"a": 1.0}', '{"a": {"digits": "1"}}')),
        ('{"a":"x"}', '{"a": "y", "b": "x"}', False),
        ('{"a":1,"b":[]}', '{"b": [], "a": 1}', True),
    ],
)
def test_the_check_compares_types_and_not_the_order_of_keys(text: str, last: str, *, is_equal: bool) -> None:
    assert Summary(1, 1, text, last.encode()).is_equal() is is_equal


def test_the_check_reads_integers_of_any_length() -> None:
    text = f"[{'7' * 10_000}]"
    result = chunk("-", "--raw", "--check", text=text)
    assert (result.exit_code, result.stdout) == (0, text)


def test_a_value_too_deep_for_the_check_is_written_and_said_to_be_unchecked() -> None:
    text = "[" * 9_000 + "]" * 9_000
    result = chunk("-", "--raw", "--check", text=text)
    assert (result.exit_code, result.stdout) == (1, text)
    assert "not checked: too deeply nested for Python's json" in result.stderr
