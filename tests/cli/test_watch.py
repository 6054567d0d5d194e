"""`jsontide watch` where its output is not a terminal: a short line for each change."""

import json
import re
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from jsontide._pattern import read_path
from tests.cli.running import EXAMPLES, ITINERARY, run
from tests.cli.streams import anthropic_answer, ollama, openai, sse

RECORDING = EXAMPLES / "chat" / "recording.ndjson"
LINE = re.compile(r"(.+?) (\+?=) (.+)")


def watch(tmp_path: Path, data: bytes, *options: str | Path) -> Result:
    path = tmp_path / "text.json"
    path.write_bytes(data)
    return run("watch", path, *options)


def apply(lines: list[str]) -> Any:
    """Do what each line says; an independent reading of them."""
    holder: dict[str, Any] = {}
    for line in lines:
        match = LINE.fullmatch(line)
        assert match is not None, line
        path: list[Any] = ["it", *read_path(match[1])]
        place: Any = holder
        for segment, following in pairwise(path):
            enter(place, segment, [] if isinstance(following, int) else {})
            place = place[segment]
        added = json.loads(match[3])
        if match[2] == "+=":
            place[path[-1]] += added
        elif not enter(place, path[-1], added):
            place[path[-1]] = added
    return holder["it"]


def enter(place: Any, segment: Any, value: Any) -> bool:
    """Put a value where there is none yet."""
    is_new = segment not in place if isinstance(place, dict) else segment == len(place)
    if is_new and isinstance(place, dict):
        place[segment] = value
    elif is_new:
        place.append(value)
    return is_new


@pytest.mark.parametrize("size", ["1", "1-8", "3-40", "100"])
def test_the_lines_joined_are_the_value(size: str) -> None:
    result = run("watch", ITINERARY, "--size", size)
    assert (result.exit_code, result.stderr) == (0, "")
    assert apply(result.stdout.splitlines()) == json.loads(ITINERARY.read_bytes())


def test_each_change_is_one_line(tmp_path: Path) -> None:
    result = watch(tmp_path, b'{"a": [10, "x\\ny"], "b c": true, "root": {}}', "--size", "1")
    assert result.stdout.splitlines() == [
        "root = {}",
        "a = []",
        "a[0] = 10",
        'a[1] = ""',
        'a[1] += "x"',
        'a[1] += "\\n"',
        'a[1] += "y"',
        '["b c"] = true',
        "root.root = {}",
    ]


def test_a_value_is_not_written_again_however_long_it_is(tmp_path: Path) -> None:
    def written(entries: int) -> int:
        return len(watch(tmp_path, json.dumps({"list": ["some words"] * entries}).encode()).stdout)

    assert written(400) < 2.2 * written(200)


def test_a_line_is_short(tmp_path: Path) -> None:
    result = watch(tmp_path, json.dumps(["x" * 10_000]).encode(), "--size", "20000")
    (line,) = result.stdout.splitlines()
    assert line.startswith('[0] = "xxx')
    assert line.endswith("more characters)")
    assert len(line) < 200


def test_the_final_value_can_be_written_to_a_file(tmp_path: Path) -> None:
    result = run("watch", ITINERARY, "-o", tmp_path / "out.json")
    assert result.exit_code == 0
    assert result.stdout.startswith("root = {}\n")
    written = (tmp_path / "out.json").read_text("utf-8")
    assert json.loads(written, parse_float=Decimal) == json.loads(ITINERARY.read_bytes(), parse_float=Decimal)
    assert len(written.splitlines()) > 100


def test_the_final_value_can_be_all_that_is_written() -> None:
    result = run("watch", ITINERARY, "-o", "-")
    assert json.loads(result.stdout) == json.loads(ITINERARY.read_bytes())


@pytest.mark.parametrize(
    "data", [openai("Hel", "lo"), ollama("Hel", "lo"), anthropic_answer("Hello")], ids=["sse", "ndjson", "whole"]
)
@pytest.mark.parametrize("size", [None, "1-8"])
def test_a_message_of_any_provider_is_recognised(tmp_path: Path, data: bytes, size: str | None) -> None:
    result = watch(tmp_path, data, "-o", "-", *([] if size is None else ["--size", size]))
    message = json.loads(result.stdout)
    assert (result.exit_code, message["status"], message["model"]) == (0, "complete", "m1")
    assert [part["text"] for part in message["parts"]] == ["Hello"]


def test_the_lines_of_a_message_are_its_parts_and_usage(tmp_path: Path) -> None:
    result = watch(tmp_path, openai("Hel", "lo", call='{"q": "tide"}', reason="tool_calls"))
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    message = apply(lines)
    assert 'parts[0].text += "lo"' in lines
    assert message["parts"][1]["name"] == "search"
    assert message["parts"][1]["arguments"] == {"q": "tide"}
    assert message["usage"]["output_tokens"] == 2


def test_a_recording_is_played_at_once_where_nobody_watches() -> None:
    result = run("watch", RECORDING, "-o", "-")
    message = json.loads(result.stdout)
    assert [part["type"] for part in message["parts"]] == ["reasoning", "text", "call", "call", "call"]
    assert message["parts"][4]["arguments"]["title"] == "Tiles, books and the river"


def test_an_answer_grows_through_its_schema(tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object", "properties": {"n": {"type": "integer"}}}')
    good = watch(tmp_path, openai('{"n": ', "7}"), "--schema", schema)
    assert good.exit_code == 0
    assert "answer.n = 7" in good.stdout.splitlines()
    bad = watch(tmp_path, openai('{"n": ', '"x"}'), "--schema", schema)
    assert bad.exit_code == 1
    assert "invalid: " in bad.stderr
    assert "expected an integer" in bad.stderr


def test_bad_json_is_mended_if_asked(tmp_path: Path) -> None:
    result = watch(tmp_path, b"{a: 1,}", "--mend", "-o", "-")
    assert json.loads(result.stdout) == {"a": 1}
    assert watch(tmp_path, b"{a: 1,}").exit_code == 1


def test_what_a_stream_is_can_be_said(tmp_path: Path) -> None:
    assert watch(tmp_path, b"12", "--as", "json").stdout == "root = 12\n"
    assert watch(tmp_path, b"[1]", "--as", "text", "--size", "9").stdout == 'root = "[1]"\n'
    assert watch(tmp_path, b"1 2", "--as", "documents", "-o", "-").stdout == "[\n  1,\n  2\n]\n"


def test_events_of_nobody_known_are_documents(tmp_path: Path) -> None:
    result = watch(tmp_path, sse({"a": 1}, {"a": 2}), "-o", "-")
    assert (result.exit_code, json.loads(result.stdout)) == (0, [{"a": 1}, {"a": 2}])


@pytest.mark.parametrize("number", ["1e999", "-1E+400", "0.1000000000000000055", "1.10", "-0", "7" * 4_300])
def test_a_number_is_written_as_json_whatever_a_float_holds(tmp_path: Path, number: str) -> None:
    result = watch(tmp_path, f'[{number}, "x"]'.encode(), "-o", "-")
    written = json.loads(result.stdout, parse_int=Decimal, parse_float=Decimal, parse_constant=str)
    assert (result.exit_code, written) == (0, [Decimal(number), "x"])


def test_half_a_surrogate_pair_stays_an_escape(tmp_path: Path) -> None:
    assert watch(tmp_path, rb'["\ud800\u00eb"]', "--size", "99").stdout == '[0] = "\\ud800ë"\n'


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (b'{"a": [1,]}', 1, ["1 | "]),
        (b'{"a": ', 3, ["line 1, column 7", "1 | "]),
        (b'["\xff"]', 1, ["byte"]),
        (b"[1] x", 1, ["line 1, column 5"]),
    ],
)
def test_bad_text_has_a_caret_and_a_code(tmp_path: Path, data: bytes, code: int, place: list[str]) -> None:
    result = watch(tmp_path, data)
    assert result.exit_code == code
    message, _, caret = result.stderr.rstrip("\n").split("\n")
    assert message.startswith("jsontide: ")
    assert caret.strip() == "^"
    assert all(part in result.stderr for part in place)


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (b"", 1, "empty"),
        (openai("Hel")[:-100], 3, "truncated"),
        (openai("Hel", reason="length"), 3, "truncated"),
        (openai("Hel", reason="content_filter"), 1, "filtered"),
        (b'{"a": 1}\n{"a": 2}\n{"a" 3}\n', 1, "invalid: "),
    ],
)
def test_how_a_stream_ended_is_said_and_a_code(tmp_path: Path, data: bytes, code: int, said: str) -> None:
    result = watch(tmp_path, data)
    assert result.exit_code == code
    assert result.stderr.startswith(f"jsontide: {said}")


def test_what_was_visible_before_an_error_was_printed(tmp_path: Path) -> None:
    result = watch(tmp_path, b"[1,2,x", "--size", "1")
    assert result.stdout == "root = []\n[0] = 1\n[1] = 2\n"


def test_a_recording_that_is_wrong_is_named_with_its_line(tmp_path: Path) -> None:
    result = watch(tmp_path, b'{"jsontide": "recording", "version": 1}\n{"at": 0, "text": 7}\n')
    assert result.exit_code == 1
    assert "line 2: " in result.stderr


def test_a_delay_is_waited_after_each_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    watch(tmp_path, b"[1]", "--size", "1", "--delay", "0.5")
    assert waits == [0.5, 0.5, 0.5]


def test_a_recording_is_played_in_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("time.sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    pieces = [{"at": 1.0, "text": "[1"}, {"at": 5.0, "text": ", 2]"}]
    lines = [{"jsontide": "recording", "version": 1}, *pieces]
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    assert watch(tmp_path, data, "--speed", "2").exit_code == 0
    assert now[0] == 2.5
