"""`jsontide events` and `jsontide get`."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from typer.testing import Result

from jsontide import JsonFragmentAccumulator
from tests.cli.running import ITINERARY, run


def run_on(tmp_path: Path, data: bytes, *arguments: str) -> Result:
    path = tmp_path / "text.json"
    path.write_bytes(data)
    return run(*arguments, path)


def test_events_are_lines_of_kind_path_and_text(tmp_path: Path) -> None:
    result = run_on(tmp_path, b'{"a": [1.50, "x\\ny"]}', "events")
    assert result.exit_code == 0
    assert [line.split(maxsplit=2) for line in result.stdout.splitlines()] == [
        ["StartObject", "root", "{"],
        ["Key", "root", '"a"'],
        ["StartArray", "root.a", "["],
        ["CompleteNumber", "root.a[0]", "1.50"],
        ["StartString", "root.a[1]", '"'],
        ["PartialString", "root.a[1]", '"x\\ny"'],
        ["CompleteString", "root.a[1]", '"x\\ny"'],
        ["EndArray", "root.a", "]"],
        ["EndObject", "root", "}"],
        ["JsonComplete", "root"],
    ]


def test_events_as_json_are_those_of_an_accumulator() -> None:
    result = run("events", ITINERARY, "--json")
    updates = JsonFragmentAccumulator().add_fragment(ITINERARY.read_bytes())
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"kind": each.kind, "path": each.path, "text": each.text, "start": each.start, "end": each.end}
        for each in updates
    ]


def test_events_of_some_paths(tmp_path: Path) -> None:
    result = run_on(tmp_path, b'{"a": {"id": 1}, "b": [{"id": 2}]} {"id": 3}', "events", "--path", "**.id")
    assert [line.split()[1:] for line in result.stdout.splitlines()] == [
        ["root.a.id", "1"],
        ["root.b[0].id", "2"],
        ["root.id", "3"],
    ]


def test_values_are_lines_of_json_as_they_were_written(tmp_path: Path) -> None:
    data = b'{"days": [{"n": 1.10, "title": "Z\\u00eb"}, {"n": 1e999}]}\n{"days": [{"n": -0}]}'
    result = run_on(tmp_path, data, "get", "days[*]")
    assert result.exit_code == 0
    assert [json.loads(line, parse_float=Decimal) for line in result.stdout.splitlines()] == [
        {"n": Decimal("1.10"), "title": "Zë"},
        {"n": Decimal("1e999")},
        {"n": 0},
    ]


def test_strings_can_be_written_without_quotes(tmp_path: Path) -> None:
    result = run_on(tmp_path, b'["a\\nb", 1, "\\ud800"]', "get", "[*]", "--raw")
    assert result.stdout == "a\nb\n1\n\\ud800\n"


def test_values_can_be_written_with_their_paths(tmp_path: Path) -> None:
    result = run_on(tmp_path, b'{"a.b": [null]}', "get", "*[*]", "--paths")
    assert json.loads(result.stdout) == {"path": 'root["a.b"][0]', "value": None}


def test_the_root_is_a_value_too(tmp_path: Path) -> None:
    assert run_on(tmp_path, b" 12 ", "get", "root").stdout == "12\n"


@pytest.mark.parametrize("command", [["events"], ["get", "root"]])
@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (b'{"a": [1,]}', 1, "1 | "),
        (b'["\xff"]', 1, "byte"),
        (b'{"a": ', 3, "line 1, column 7"),
        (b"", 3, "line 1, column 1"),
    ],
)
def test_bad_text_has_a_caret_and_a_code(
    tmp_path: Path, command: list[str], data: bytes, code: int, place: str
) -> None:
    result = run_on(tmp_path, data, *command)
    assert result.exit_code == code
    assert place in result.stderr
    assert result.stderr.rstrip().endswith("^")


def test_what_came_before_an_error_is_written(tmp_path: Path) -> None:
    result = run_on(tmp_path, b"[1, 2, x", "get", "[*]")
    assert (result.exit_code, result.stdout) == (1, "1\n2\n")


@pytest.mark.parametrize(
    "arguments", [["get", "days[", "-"], ["get"], ["events", "--path", "a..b"], ["get", "a", "no"]]
)
def test_what_is_not_usable_ends_with_2(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
