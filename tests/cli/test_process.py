"""The command as a real process: pipes, signals, terminals, a missing extra."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import EXAMPLES
from tests.cli.terminals import COMMAND, PATIENCE, needs_interrupts, on_terminal, start

pytestmark = pytest.mark.once  # what the command says is shown for both builds by the other tests


@pytest.mark.long
def test_a_change_is_printed_before_the_text_ends() -> None:
    with start("watch") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"a": "x')
        process.stdin.flush()
        assert process.stdout.readline() == b'a = "x"\n'
        process.stdin.write('ë"}'.encode())
        process.stdin.close()
        assert process.stdout.readline() == 'a += "ë"\n'.encode()
        assert process.wait(PATIENCE) == 0


def test_a_chunk_is_printed_before_the_next_snapshot_is_there() -> None:
    with start("chunk", "-") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'["a"]\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == '["a'
        process.stdin.close()
        assert json.loads(process.stdout.readline()) == '"]'
        assert process.wait(PATIENCE) == 0


@pytest.mark.long
def test_mended_text_and_repairs_are_written_before_the_text_ends() -> None:
    with start("mend", "--json") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write('Sure: {"a": "Zoë 健'.encode())
        process.stdin.flush()
        shown = '{"a": "Zoë 健'.encode()
        assert process.stdout.read(len(shown)) == shown
        assert json.loads(process.stderr.readline())["kind"] == "prose"
        process.stdin.write(b'", b: [1,')
        process.stdin.flush()
        assert json.loads(process.stderr.readline())["kind"] == "unquoted-key"
        process.stdin.write(b"]}")
        process.stdin.close()
        assert process.stdout.read() == b'", "b": [1]}'
        assert [json.loads(line) for line in process.stderr][1:] == [{"result": "mended", "repairs": 3}]
        assert process.wait(PATIENCE) == 0


@pytest.mark.long
def test_a_named_pipe_is_mended_as_it_arrives(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with start("mend", path) as process, path.open("wb", buffering=0) as pipe:
        assert process.stdout is not None
        pipe.write(b'{"a": "x')
        assert process.stdout.read(8) == b'{"a": "x'
        pipe.write(b'"}')
        pipe.close()
        assert process.stdout.read() == b'"}'
        assert process.wait(PATIENCE) == 0


@pytest.mark.long
def test_text_that_cannot_be_mended_is_left_at_once() -> None:
    with start("mend") as process:
        assert process.stdin is not None
        process.stdin.write(b'{"a": [1, spread()')
        process.stdin.flush()
        assert process.wait(PATIENCE) == 1


@pytest.mark.long
@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_mending_ends_quietly_when_nobody_reads(closed: str) -> None:
    with start("mend", "-") as process:
        assert process.stdin is not None
        stream = getattr(process, closed)
        process.stdin.write(b'{a: "x')
        process.stdin.flush()
        stream.read(1)
        stream.close()
        process.stdin.write(b'y", b: 1,')
        process.stdin.flush()
        assert process.wait(PATIENCE) == 141
        other = process.stderr if closed == "stdout" else process.stdout
        assert other is not None
        assert b"Traceback" not in other.read()


@pytest.mark.long
def test_a_report_that_cannot_be_written_ends_with_2() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, "mend"], input=b"[1,]", stdout=subprocess.PIPE, stderr=full, check=False)
    assert done.returncode == 2


@pytest.mark.long
def test_without_standard_error_the_value_is_written_all_the_same() -> None:
    command = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *COMMAND, "mend"]
    done = subprocess.run(command, input=b"[1,]", stdout=subprocess.PIPE, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (0, b"[1]")


@pytest.mark.long
def test_a_bad_stream_is_left_at_once() -> None:
    with start("watch", "-") as process:
        assert process.stdin is not None
        process.stdin.write(b"[1 2")
        process.stdin.flush()
        assert process.wait(PATIENCE) == 1


def test_a_closed_output_ends_quietly(tmp_path: Path) -> None:
    long = tmp_path / "long.json"
    long.write_text(json.dumps(["x" * 100] * 200))
    with start("watch", long) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == b""


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "output", "words"),
    [
        (["watch", "-"], ">&-", b"it is closed"),
        (["mend"], ">/dev/full", b"No space left on device"),
        (["get", "root"], ">/dev/full", b"No space left on device"),
        (["record", "-o", os.devnull], ">/dev/full", b"No space left on device"),
    ],
)
def test_an_output_that_cannot_be_written_is_named(command: list[str], output: str, words: bytes) -> None:
    if output == ">/dev/full" and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    result = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {output}', "sh", *COMMAND, *command],
        input=b"[1]\n",
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert result.returncode == 2
    assert b"cannot write standard output: " + words in result.stderr
    assert b"Traceback" not in result.stderr


@pytest.mark.long
def test_a_recording_that_cannot_be_written_is_named() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    for sent in (b"", b"[1]\n"):
        command = [*COMMAND, "record", "-o", "/dev/full"]
        result = subprocess.run(command, input=sent, capture_output=True, check=False, timeout=PATIENCE)
        assert result.returncode == 2
        assert b"cannot write /dev/full: No space left on device" in result.stderr
        assert b"Traceback" not in result.stderr


@pytest.mark.long
@pytest.mark.parametrize("command", ["watch", "check"])
def test_a_closed_standard_input_is_named(command: str) -> None:
    result = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *COMMAND, command, "-", *["--schema", "any"] * (command == "check")],
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert result.returncode == 2
    assert b"cannot read standard input" in result.stderr


@pytest.mark.long
@needs_interrupts
@pytest.mark.parametrize("command", ["watch", "mend"])
def test_an_interrupt_ends_with_130(command: str) -> None:
    with start(command, "-") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b'{"a": "x')
        process.stdin.flush()
        process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.long
@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_one_line_says_what_to_install(missing: str) -> None:
    hide = f"import sys; sys.modules[{missing!r}] = None; "
    result = subprocess.run([sys.executable, "-c", hide + COMMAND[2]], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr == 'jsontide: the command needs extra packages: pip install "jsontide[cli]"\n'
    assert result.stdout == ""


@pytest.mark.long
def test_another_missing_module_is_not_hidden() -> None:
    hide = "import sys; sys.modules['jsontide.cli._drawing'] = None; "
    result = subprocess.run([sys.executable, "-c", hide + COMMAND[2]], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "jsontide.cli._drawing" in result.stderr


@pytest.mark.long
def test_the_progress_of_a_long_file_is_shown_where_it_disturbs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text("".join(f'["{"a" * n}"]\n' for n in range(1_000, 2_000)))
    code, sent = on_terminal("chunk", path, columns=60, lines=20, stdout=subprocess.DEVNULL)
    assert code == 0
    assert "long.jsonl" in sent
    assert "100%" in sent
    code, sent = on_terminal("chunk", path, "--raw", columns=60, lines=20)
    assert code == 0
    assert json.loads(sent) == ["a" * 1_999]


@pytest.mark.long
def test_on_a_terminal_repairs_follow_the_value(tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_text('Here you are: {"a": [1, 2,],\n"b": "\u009b2J健二", }', encoding="utf-8")
    code, sent = on_terminal("mend", path, columns=40, lines=20)
    assert code == 0
    assert sent.replace("\r\n", "\n") == (
        '{"a": [1, 2],\n"b": "\\u009b2J健二" }\n'
        "jsontide: prose: dropped 'Here you …' (line 1, column 1)\n"
        '1 | Here you are: {"a": [1, 2,],\n'
        "    ^\n"
        "jsontide: trailing comma: removed ',' (line 1, column 26)\n"
        '1 | Here you are: {"a": [1, 2,],\n'
        "                             ^\n"
        "jsontide: trailing comma: removed ',' (line 2, column 13)\n"
        '2 | "b": "\\u009b2J健二", }\n'
        "                       ^\n"
    )


@pytest.mark.long
def test_mending_a_long_file_shows_progress_where_it_disturbs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("[" + f'"{"a" * 995}",\n' * 1_100 + "1, 2, 3,\n]")
    code, sent = on_terminal("mend", path, columns=60, lines=20, stdout=subprocess.DEVNULL)
    assert code == 0
    assert "long.txt" in sent
    assert "100%" in sent
    report = sent[sent.index("jsontide: trailing comma") :]
    assert report.splitlines() == [
        "jsontide: trailing comma: removed ',' (line 1101, column 8)",
        "1101 | 1, 2, 3,",
        "              ^",
    ]
    code, sent = on_terminal("mend", path, "--check", columns=60, lines=20)
    assert code == 4
    assert "long.txt" in sent
    assert "jsontide:" not in sent


@pytest.mark.long
def test_lines_are_broken_between_words_on_a_narrow_terminal() -> None:
    recording = EXAMPLES / "chat" / "recording.ndjson"
    for command in (["watch", "--speed", "0"], ["stats"]):
        code, sent = on_terminal(*command, recording, columns=60, lines=40)
        assert code == 0
        lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sent).replace("\r", "").split("\n")
        (at,) = [at for at, line in enumerate(lines) if re.search(r"35,203 ?$|35,203 bytes", line)][-1:]
        assert "35,203 bytes" in " ".join(line.strip() for line in lines[at : at + 2])
        assert not any("…" in line for line in lines[at : at + 2])
        assert all(len(line) <= 60 for line in lines[at : at + 2])
