"""`jsontide events` and `jsontide get`."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from typer.testing import Result

from jsontide import JsonFragmentAccumulator
from tests.cli.running import EXAMPLES, ITINERARY, run
from tests.cli.streams import ollama, openai

RECORDING = EXAMPLES / "chat" / "recording.ndjson"


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
        ["StartArray", "a", "["],
        ["CompleteNumber", "a[0]", "1.50"],
        ["StartString", "a[1]", '"'],
        ["PartialString", "a[1]", '"x\\ny"'],
        ["CompleteString", "a[1]", '"x\\ny"'],
        ["EndArray", "a", "]"],
        ["EndObject", "root", "}"],
        ["JsonComplete", "root"],
    ]


def test_events_as_json_are_those_of_an_accumulator() -> None:
    result = run("events", ITINERARY, "--json")
    updates = JsonFragmentAccumulator().add_fragment(ITINERARY.read_bytes())
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {
            "kind": each.kind,
            "path": each.path.removeprefix("root").removeprefix(".") or "root",
            "text": each.text,
            "start": each.start,
            "end": each.end,
        }
        for each in updates
    ]


def test_events_of_some_paths(tmp_path: Path) -> None:
    result = run_on(tmp_path, b'{"a": {"id": 1}, "b": [{"id": 2}]} {"id": 3}', "events", "--path", "**.id")
    assert [line.split()[1:] for line in result.stdout.splitlines()] == [
        ["a.id", "1"],
        ["b[0].id", "2"],
        ["id", "3"],
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
    assert json.loads(result.stdout) == {"path": '["a.b"][0]', "value": None}


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


SSE = openai('{"days": [{"n": 1}, ', '{"n": 2}]}', call='{"q": "tide"}', reason="tool_calls")


def test_values_of_a_message_are_found_by_the_paths_that_watch_writes(tmp_path: Path) -> None:
    assert run_on(tmp_path, SSE, "get", "parts[*].arguments").stdout == '{"q":"tide"}\n'
    assert run_on(tmp_path, SSE, "get", "usage.output_tokens").stdout == "2\n"
    assert run_on(tmp_path, ollama("Hel", "lo"), "get", "parts[*].text", "-r").stdout == "Hello\n"
    assert run_on(tmp_path, SSE, "get", "parts[0].text", "-r").stdout == '{"days": [{"n": 1}, {"n": 2}]}\n'


def test_values_of_an_answer_are_found_through_a_schema(tmp_path: Path) -> None:
    result = run_on(tmp_path, SSE, "get", "answer.days[*]", "--schema", "any", "--paths")
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"path": "answer.days[0]", "value": {"n": 1}},
        {"path": "answer.days[1]", "value": {"n": 2}},
    ]


def test_values_of_a_recording_are_those_of_what_was_recorded(tmp_path: Path) -> None:
    recorded = RECORDING.read_bytes()
    assert run_on(tmp_path, recorded, "get", "parts[*].arguments.days[*].title", "-r").stdout.splitlines() == [
        "Friday: the upper town",
        "Saturday: the river",
    ]
    piece = json.dumps({"at": 0, "text": '{"a": [1, 2]}'})
    document = f'{{"jsontide": "recording", "version": 1}}\n{piece}\n'.encode()
    assert run_on(tmp_path, document, "get", "a[*]").stdout == "1\n2\n"


def test_every_value_of_a_message_comes_once_and_as_it_is_at_the_end(tmp_path: Path) -> None:
    result = run_on(tmp_path, RECORDING.read_bytes(), "get", "**", "--paths")
    final = json.loads(run("watch", RECORDING, "-o", "-").stdout)
    last = {row["path"]: row["value"] for row in map(json.loads, result.stdout.splitlines())}
    assert last["root"] == final
    assert last["parts[4].arguments.days[1].stops[3].place"] == "Banco de Materiais"
    assert last["parts"] == final["parts"]


def test_events_of_a_message_are_its_changes(tmp_path: Path) -> None:
    result = run_on(tmp_path, openai("Hel", "lo"), "events", "--path", "parts[0].**")
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["SetValue", "parts[0]", '{"type":"text","text":"Hel"}'],
        ["AppendText", "parts[0].text", '"lo"'],
        ["Finish", "parts[0].text"],
    ]
    rows = map(json.loads, run_on(tmp_path, openai("Hel", "lo"), "events", "--json").stdout.splitlines())
    assert {"kind": "AppendText", "path": "parts[0].text", "text": "lo"} in rows


def test_a_message_that_is_cut_off_has_a_code(tmp_path: Path) -> None:
    for command in (["events"], ["get", "root"]):
        result = run_on(tmp_path, openai("Hel", reason="length"), *command)
        assert (result.exit_code, result.stderr) == (3, "jsontide: truncated\n")
