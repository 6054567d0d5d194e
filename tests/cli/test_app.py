"""The command as typer runs it, in this process, with its output not on a terminal."""

import json
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import jsontide
from jsontide.cli import _app

ITINERARY = Path(__file__).parents[2] / "examples" / "itinerary.json"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(_app.app, [str(argument) for argument in arguments])


def watch(tmp_path: Path, data: bytes, *options: str) -> Result:
    path = tmp_path / "text.json"
    path.write_bytes(data)
    return run("watch", path, *options)


def test_the_version_says_which_speed_it_has() -> None:
    result = run("--version")
    assert result.exit_code == 0
    speed = "compiled" if jsontide.COMPILED else "pure"
    assert result.stdout == f"jsontide {jsontide.__version__} ({speed})\n"


def test_each_line_is_a_value_and_the_last_one_is_final() -> None:
    result = run("watch", ITINERARY)
    assert result.exit_code == 0
    values = [json.loads(line) for line in result.stdout.splitlines()]
    assert values[0] == {}
    assert values[-1] == json.loads(ITINERARY.read_bytes())
    assert all(old != new for old, new in pairwise(values))


def test_each_change_is_one_line(tmp_path: Path) -> None:
    result = watch(tmp_path, b'{"a": [10, "x\\ny"], "b": true}', "--size", "1")
    assert result.stdout.splitlines() == [
        "{}",
        '{"a":[]}',
        '{"a":[10]}',
        '{"a":[10,""]}',
        '{"a":[10,"x"]}',
        '{"a":[10,"x\\n"]}',
        '{"a":[10,"x\\ny"]}',
        '{"a":[10,"x\\ny"],"b":true}',
    ]


def test_a_root_number_shows_at_the_end(tmp_path: Path) -> None:
    assert watch(tmp_path, b"12").stdout == "12\n"


def test_lines_are_utf8_and_escape_only_what_utf8_cannot_hold(tmp_path: Path) -> None:
    assert watch(tmp_path, '"Zoë"'.encode(), "--size", "99").stdout_bytes == '"Zoë"\n'.encode()
    assert watch(tmp_path, rb'"\ud800\u00eb"', "--size", "99").stdout == '"\\ud800ë"\n'


@pytest.mark.parametrize("number", ["1e999", "-1E+400", "0.1000000000000000055", "1.10", "-0", "7" * 4_300])
def test_a_number_is_written_as_json_whatever_a_float_holds(tmp_path: Path, number: str) -> None:
    result = watch(tmp_path, f'[{number}, "x"]'.encode())
    written = json.loads(result.stdout.splitlines()[-1], parse_int=Decimal, parse_float=Decimal, parse_constant=str)
    assert (result.exit_code, written) == (0, [Decimal(number), "x"])


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b'{"a": [1,]}', ["1 | "]),
        (b'{"a": ', ["line 1, column 7", "1 | "]),
        (b"", ["line 1, column 1"]),
        (b'["\xff"]', ["byte"]),
        (b"[1] x", ["line 1, column 5"]),
    ],
)
def test_bad_text_ends_with_1_and_says_where(tmp_path: Path, data: bytes, place: list[str]) -> None:
    result = watch(tmp_path, data)
    assert result.exit_code == 1
    message, _, caret = result.stderr.rstrip("\n").split("\n")
    assert message.startswith("jsontide: ")
    assert caret.strip() == "^"
    assert all(part in result.stderr for part in place)


def test_what_was_visible_before_an_error_was_printed(tmp_path: Path) -> None:
    result = watch(tmp_path, b"[1,2,x", "--size", "1")
    assert result.stdout == "[]\n[1]\n[1,2]\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["watch"], "Missing argument"),
        (["watch", "no-such-file.json"], "No such file"),
        (["watch", "."], "Is a directory"),
        (["watch", ITINERARY, "--size", "0"], "1 or more"),
        (["watch", ITINERARY, "--size", "8-1"], "go up"),
        (["watch", ITINERARY, "--size", "few"], "a range such as 1-8"),
        (["watch", ITINERARY, "--delay", "-1"], "--delay"),
        (["watch", ITINERARY, "--delay", "inf"], "--delay"),
        (["watch", ITINERARY, "--delay", "1e300"], "--delay"),
        (["dance"], "dance"),
    ],
)
def test_what_is_not_usable_ends_with_2(arguments: list[str | Path], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_help_names_the_command() -> None:
    result = run("-h")
    assert result.exit_code == 0
    assert "watch" in result.stdout


def test_a_delay_is_waited_after_each_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    watch(tmp_path, b"[1]", "--size", "1", "--delay", "0.5")
    assert waits == [0.5, 0.5, 0.5]
