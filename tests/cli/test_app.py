"""The command itself: its version, its help, and what it says of a wrong command line."""

import re
from pathlib import Path

import pytest

import jsontide
from jsontide.recordings import Recording
from tests.cli.running import EXAMPLES, ITINERARY, run
from tests.cli.streams import openai

RECORDING = EXAMPLES / "chat" / "recording.ndjson"
COMMANDS = (
    *("record", "replay", "watch", "events", "get", "chunk", "mend", "check", "stats", "studio", "batch", "compare"),
)


def test_the_version_says_which_speed_it_has() -> None:
    result = run("--version")
    assert result.exit_code == 0
    speed = "compiled" if jsontide.COMPILED else "pure"
    assert result.stdout == f"jsontide {jsontide.__version__} ({speed})\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["watch", "no-such-file.json"], "No such file"),
        (["watch", "."], "Is a directory"),
        (["watch", ITINERARY, "--size", "0"], "1 or more"),
        (["watch", ITINERARY, "--size", "8-1"], "go up"),
        (["watch", ITINERARY, "--size", "few"], "a range such as 1-8"),
        (["watch", ITINERARY, "--delay", "-1"], "--delay"),
        (["watch", ITINERARY, "--delay", "inf"], "--delay"),
        (["watch", ITINERARY, "--delay", "1e300"], "--delay"),
        (["watch", ITINERARY, "--speed", "-1"], "--speed"),
        (["watch", ITINERARY, "--as", "music"], "music"),
        (["watch", ITINERARY, "-o", "no/such/folder"], "cannot write no/such/folder"),
        (["replay"], "Missing argument"),
        (["replay", "no-such-file"], "No such file"),
        (["replay", RECORDING, "--as", "xml"], "xml"),
        (["replay", RECORDING, "--speed", "nan"], "--speed"),
        (["record"], "--output"),
        (["record", "-o", "no/such/folder"], "cannot write no/such/folder"),
        (["record", "-o", "x", "--proxy", "not a url"], "--proxy"),
        (["record", "-o", "x", "--proxy", "http://127.0.0.1", "--", "ls"], "together"),
        (["record", "-o", "x", "--port", "70000"], "--port"),
        (["stats"], "Missing argument"),
        (["stats", "no-such-file"], "No such file"),
        (["stats", RECORDING, "--plot", "no/such/folder"], "cannot write no/such/folder"),
        (["check", ITINERARY], "--schema"),
        (["studio", "no-such-file"], "no such file"),
        (["chunk", "missing.jsonl"], "No such file"),
        (["chunk", "-", "--max-wait", "0"], "--max-wait"),
        (["chunk", "-", "--numbers", "big"], "--numbers"),
        (["get", "days[", "-"], "an index"),
        (["get"], "Missing argument"),
        (["get", "a", "no"], "No such file"),
        (["events", "--path", "a..b"], "--path"),
        (["mend", "no-such-file.txt"], "No such file"),
        (["mend", "."], "Is a directory"),
        (["mend", "-", "--without", "commas"], "there is no kind 'commas'; there are prose, "),
        (["mend", "-", "--without", "enum"], "there is no kind 'enum'"),
        (["dance"], "dance"),
    ],
)
def test_what_is_not_usable_ends_with_2(arguments: list[str | Path], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_help_names_the_commands() -> None:
    result = run("-h")
    assert result.exit_code == 0
    assert all(f"\n  {command} " in result.stdout for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_lists_its_exit_codes(command: str) -> None:
    said = " ".join(run(command, "-h").stdout.split())
    assert "Exit codes: 0 " in said
    assert " 2 invalid command line" in said


def test_a_shell_completes_commands_and_options() -> None:
    def complete(*words: str) -> list[str]:
        asked = {
            "_JSONTIDE_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(words),
            "COMP_CWORD": str(len(words) - 1),
        }
        return run(env=asked, prog_name="jsontide").stdout.split()

    assert complete("jsontide", "wat") == ["watch"]
    assert complete("jsontide", "watch", "--sp") == ["--speed"]
    assert complete("jsontide", "replay", "--as", "s") == ["sse"]


def test_the_demo_takes_less_than_15_seconds() -> None:
    makefile = (EXAMPLES.parent / "Makefile").read_text("utf-8")
    found = re.search(r"watch --speed ([\d.]+) (examples/\S+)", makefile)
    assert found is not None
    assert Recording.load(EXAMPLES.parent / found[2]).duration / float(found[1]) < 12


def test_the_list_of_commands_is_whole_on_a_narrow_terminal() -> None:
    result = run("--help", env={"COLUMNS": "60", "TERMINAL_WIDTH": "60"}, terminal_width=60)
    listed = result.stdout.partition("Commands:")[2].strip().splitlines()
    assert [line.split()[0] for line in listed] == [*COMMANDS]
    assert all(line.endswith(".") and not line.endswith("...") and len(line) <= 60 for line in listed)


def test_an_answer_that_is_json_but_shown_as_text_says_how_to_see_its_values(tmp_path: Path) -> None:
    said = "jsontide: the text of this message is JSON; with --schema any it is an answer, with its own paths\n"
    path = tmp_path / "turn.sse"
    for command in (["get", "answer.**"], ["events"], ["stats"]):
        for text, hint in (('{"title": "Porto"}', said), ("Porto", ""), ('{"title": ', ""), ("12", "")):
            path.write_bytes(openai(text))
            assert run(*command, path).stderr == hint, (command, text)
        path.write_bytes(openai('{"title": "Porto"}'))
        assert run(*command, path, "--schema", "any").stderr == ""
