"""`jsontide stats`: the table, the JSON, and the picture."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from jsontide.cli.commands.stats import shorten, ticks
from tests.cli.running import EXAMPLES, ITINERARY, run
from tests.cli.terminals import on_terminal

RECORDING = EXAMPLES / "chat" / "recording.ndjson"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.ndjson"
    lines = [
        {"jsontide": "recording", "version": 1},
        {"at": 0.5, "text": '{"a<b": "x'},
        {"at": 2.5, "text": 'yz", "n": '},
        {"at": 3.0, "text": "12, "},
        {"at": 4.0, "end": "lost", "error": "reset"},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_the_table_says_when_each_path_came(small: Path) -> None:
    result = run("stats", small)
    assert result.exit_code == 0
    rows = [row.split() for row in result.stdout.splitlines()]
    assert rows[0] == [str(small)]
    assert ["first", "value", "0.500", "s"] in rows
    assert ["longest", "silence", "2.000", "s,", "from", "0.500", "s"] in rows
    assert ['["a<b"]', "0.500", "s", "2.500", "s", "2.000", "s", "2", "60.0", "%"] in rows
    assert ["n", "3.000", "s", "3.000", "s", "0.000", "s", "1", "40.0", "%"] in rows
    assert ["root", "0.500", "s", "-", "2.000", "s", "3", "100.0", "%"] in rows


def test_a_message_has_its_tokens_and_not_how_its_parts_are_called() -> None:
    said = run("stats", RECORDING).stdout
    assert "1,007, 82.3 in a second" in said
    assert "parts[0].text " in said
    assert "parts[0].type" not in said
    assert "paths" in said.splitlines()[-1]
    everything = run("stats", RECORDING, "--all").stdout
    assert "parts[0].type" in everything
    assert "usage.total_tokens" in everything


def test_each_recording_is_an_object_for_programs(small: Path) -> None:
    result = run("stats", small, RECORDING, "--json")
    first, second = map(json.loads, result.stdout.splitlines())
    assert (first["file"], first["silence"], first["outcome"]) == (str(small), 2.0, "truncated")
    assert {lane["path"]: lane["share"] for lane in first["lanes"]} == {"root": 1.0, '["a<b"]': 0.6, "n": 0.4}
    assert second["model"] == "bundled-recording"


def test_the_picture_has_a_bar_for_each_path(small: Path, tmp_path: Path) -> None:
    picture = tmp_path / "g.svg"
    assert run("stats", small, RECORDING, "--plot", picture).exit_code == 0
    svg = ET.parse(picture).getroot()  # noqa: S314 - our own
    groups = {str(group.findtext(f"{SVG}title")).partition(": ")[0]: group for group in svg.iter(f"{SVG}g")}
    bar = groups['["a<b"]'].find(f"{SVG}rect")
    whole = groups["n"].find(f"{SVG}rect")
    assert bar is not None
    assert whole is not None
    seconds = (float(whole.attrib["x"]) - float(bar.attrib["x"])) / 2.5
    assert float(bar.attrib["width"]) == pytest.approx(2 * seconds, rel=0.01)
    assert bar.attrib["class"] == "value"
    assert "parts[0].text" in groups
    assert "http" not in picture.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")


def test_a_stream_without_times_can_be_measured(tmp_path: Path) -> None:
    result = run("stats", ITINERARY, "--plot", tmp_path / "g.svg")
    assert result.exit_code == 0
    assert "title" in result.stdout
    ET.parse(tmp_path / "g.svg")  # noqa: S314 - our own


@pytest.mark.long
def test_a_narrow_terminal_has_fewer_figures(small: Path) -> None:
    code, sent = on_terminal("stats", small, columns=40, lines=24)
    assert code == 0
    assert all(len(row) <= 40 for row in sent.replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines())
    assert "updates" not in sent
    assert '["a<b"]' in sent


@pytest.mark.parametrize("duration", [0.0, 0.0004, 0.1, 1.0, 12.883, 700.0, 1e6])
def test_ticks_are_few_round_and_inside(duration: float) -> None:
    found = ticks(duration)
    assert found[0] == 0
    assert len(found) <= 9
    assert all(tick <= duration for tick in found)


def test_the_end_of_a_long_path_is_kept() -> None:
    assert shorten("days[0].title", 8) == "…].title"
    assert shorten("title", 8) == "title"


@pytest.mark.long
def test_long_recordings_show_progress(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text(json.dumps(["x" * 1_000] * 1_100))
    code, sent = on_terminal("stats", path)
    assert code == 0
    assert "recordings" in sent
    assert "\x1b[2K" in sent
