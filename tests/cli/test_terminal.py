"""The command at a terminal."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import EXAMPLES, ITINERARY
from tests.cli.streams import openai
from tests.cli.terminals import COMMAND, at_terminal, needs_interrupts, on_terminal

pytestmark = pytest.mark.once  # what terminals show is shown by the command, which is not compiled

RECORDING = EXAMPLES / "chat" / "recording.ndjson"
PLAN = "Tiles, books and the river"


@pytest.mark.long
def test_a_message_is_drawn_side_by_side_and_then_printed_whole() -> None:
    with at_terminal("watch", RECORDING, "--speed", "4", columns=100, lines=30) as terminal:
        drawn = terminal.read_until(lambda screen: PLAN in screen)
        rows = drawn.splitlines()
        assert len(rows) < 30
        first = next(row for row in rows if "reasoning ✓" in row)
        assert "call 2: hold_train" in first
        assert "answer, call 4: output …" in drawn
        assert "▌" in drawn
        assert "streaming  anthropic  bundled-recording" in drawn
        shown = terminal.read_all()
        assert terminal.wait() == 0
    assert "\x1b[1;33m" in terminal.sent.decode()  # what is new
    assert "╭" not in shown
    assert shown.index("── reasoning") < shown.index("── text") < shown.index("── call 2: hold_train")
    assert shown.rstrip().endswith("328 pieces · 35,203 bytes")
    plan = shown[shown.index("── answer, call 4: output") : shown.index("complete  tool_calls")]
    assert json.loads(plan.partition("\n")[2])["title"] == PLAN


@pytest.mark.long
def test_a_narrow_terminal_has_one_column() -> None:
    with at_terminal("watch", RECORDING, "--speed", "0", columns=40, lines=24) as terminal:
        terminal.read_until(lambda screen: "─ reasoning" in screen)
        terminal.read_all()
        assert terminal.wait() == 0
    drawn = terminal.sent.decode().partition("── reasoning")[0]
    assert "╭" not in drawn


def test_a_document_is_drawn_in_place_and_then_printed_whole() -> None:
    with at_terminal("watch", ITINERARY, "--delay", "0", columns=60, lines=20) as terminal:
        shown = terminal.read_all()
        assert terminal.wait() == 0
    assert "▌" in terminal.sent.decode()
    assert " %  " in terminal.sent.decode()  # how much of the file was read
    text = shown[shown.index("{") : shown.rindex("}") + 1]
    assert json.loads(text) == json.loads(ITINERARY.read_bytes())
    assert "complete" in shown.splitlines()[-3:][0] + shown.splitlines()[-2]


@pytest.mark.long
def test_with_a_file_for_the_value_it_is_not_printed(tmp_path: Path) -> None:
    code, sent = on_terminal("watch", ITINERARY, "--delay", "0", "-o", tmp_path / "out", columns=60, lines=12)
    assert code == 0
    assert json.loads((tmp_path / "out").read_bytes()) == json.loads(ITINERARY.read_bytes())
    assert "complete" in sent
    assert len(sent.rpartition("\x1b[2K")[2].splitlines()) < 6


@pytest.mark.long
def test_a_dumb_terminal_gets_lines() -> None:
    code, sent = on_terminal("watch", ITINERARY, columns=60, lines=20, term="dumb")
    assert code == 0
    assert sent.startswith("root = {}\r\ntitle = ")


@pytest.mark.long
def test_bad_text_is_pointed_at(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("[1, 2 3]")
    code, sent = on_terminal("watch", tmp_path / "bad.json", columns=60, lines=20)
    assert code == 1
    assert "1 | [1, 2 3" in sent
    assert sent.rstrip().endswith("^")


@pytest.mark.long
def test_a_missing_file_draws_nothing() -> None:
    code, sent = on_terminal("watch", "no-such-file.json", columns=60, lines=20)
    assert code == 2
    assert sent.lstrip().startswith("Usage:")


@pytest.mark.long
@needs_interrupts
def test_an_interrupt_leaves_the_terminal_as_it_was_and_prints_what_there_is() -> None:
    with at_terminal("watch", columns=60, lines=20) as terminal:
        terminal.press('{"city": "Kyoto"\n')
        terminal.read_until(lambda screen: "1 piece" in screen)
        terminal.process.send_signal(signal.SIGINT)
        shown = terminal.read_all()
        assert terminal.wait() == 130
    assert "\x1b[?25h" in terminal.sent.decode()  # the cursor is there again
    assert "cancelled" in shown
    assert "Traceback" not in shown


@pytest.mark.long
def test_stepping_waits_for_keys_while_the_stream_goes_elsewhere(tmp_path: Path) -> None:
    lines = [{"jsontide": "recording", "version": 1}]
    lines += [{"at": float(at), "text": str(at)} for at in range(6)]
    path = tmp_path / "steps.ndjson"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    reader, writer = os.pipe()
    with at_terminal("replay", path, "--step", stdout=writer) as terminal:
        os.close(writer)
        terminal.read_until(lambda screen: "6 pieces; press a key" in screen)
        terminal.press(" ")
        assert os.read(reader, 10) == b"0"
        terminal.press("n")
        assert os.read(reader, 10) == b"1"
        terminal.press("\x1b[C")
        assert os.read(reader, 10) == b"2"
        terminal.press("q")
        assert os.read(reader, 10) == b""
        assert terminal.wait() == 0
    os.close(reader)


@pytest.mark.long
def test_stepping_can_go_on_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "steps.ndjson"
    lines = [{"jsontide": "recording", "version": 1}, *({"at": 9.0, "text": f"{at}\n"} for at in range(3))]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with at_terminal("replay", path, "--step") as terminal:
        terminal.read_until(lambda screen: "press a key" in screen)
        terminal.press("c")
        assert terminal.read_all().split()[-3:] == ["0", "1", "2"]
        assert terminal.wait() == 0


@pytest.mark.long
def test_stepping_needs_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("[1]")
    command = [*COMMAND, "replay", str(tmp_path / "r"), "--step"]
    done = subprocess.run(command, capture_output=True, check=False, start_new_session=True)
    assert done.returncode == 2
    assert b"there is no terminal" in done.stderr


@pytest.mark.long
def test_what_is_replayed_at_a_terminal_cannot_steer_it(tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes('["\x1b[2J\x9bë"]'.encode())
    code, sent = on_terminal("replay", tmp_path / "r")
    assert code == 0
    assert sent == '["\\u001b[2J\\u009bë"]'


@pytest.mark.long
def test_recording_shows_what_comes(tmp_path: Path) -> None:
    (tmp_path / "stream").write_bytes(openai("Hello"))
    with at_terminal("record", "-o", tmp_path / "r", "--", "cat", tmp_path / "stream", columns=80) as terminal:
        shown = terminal.read_all()
        assert terminal.wait() == 0
    assert "Hello" in terminal.sent.decode()
    assert "complete  stop  openai_chat" in shown
    assert shown.split("jsontide: ")[1].startswith("1 piece, ")


STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\x1b]|\x1b\\[66m")
HOSTILE = "a\x9b2J\x7f\x85\u202e\u2066\u200f\u061cz"
STEERED = json.dumps({HOSTILE: HOSTILE, "b": [HOSTILE]}, ensure_ascii=False)
FILES = {
    "document": STEERED,
    "snapshots": f'{{"a": "{HOSTILE}'[:-1] + f'"}}\n{{"a": "{HOSTILE} more"}}\n',
    "conflict": f'{{"{HOSTILE}": "{HOSTILE}", "b": 1}}\n{{"{HOSTILE}": 1, "b": 1}}\n',
    "broken": f'{{"{HOSTILE}": {HOSTILE}\n',
    "cut": STEERED[:-5],
    "bad": f"{{'{HOSTILE}': '{HOSTILE}',}}",
    "unusable.json": json.dumps({"properties": {HOSTILE: {"$ref": f"http://{HOSTILE}\x1b[66m"}}}, ensure_ascii=False),
    "wrong.json": json.dumps({"type": HOSTILE}, ensure_ascii=False),
    "members.json": json.dumps({"properties": {HOSTILE: {"const": f"{HOSTILE}\x1b[66m"}}}, ensure_ascii=False),
    f"name {HOSTILE}": "[1, x]",
}


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        ["chunk", "snapshots"],
        ["chunk", "snapshots", "--raw"],
        ["chunk", "conflict"],
        ["chunk", "broken"],
        ["watch", "document"],
        ["watch", "document", "-o", "-"],
        ["watch", "broken"],
        ["events", "document"],
        ["get", "**", "document"],
        ["mend", "bad"],
        ["mend", "broken"],
        ["replay", "document"],
        ["stats", "document"],
        ["check", "document", "--schema", "members.json"],
        ["check", "document", "--schema", "unusable.json"],
        ["check", "document", "--schema", "wrong.json"],
        ["check", "document", "--schema", "broken"],
        ["check", "cut"],
        ["check", f"name {HOSTILE}"],
        ["check", f"none {HOSTILE}"],
        ["get", f"--{HOSTILE}"],
        [HOSTILE],
    ],
    ids=lambda command: " ".join(command).replace(HOSTILE, "…"),
)
def test_no_text_of_others_can_steer_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    _, sent = on_terminal(*command)
    assert sent
    assert not STEERING.search(sent), ascii(sent)
