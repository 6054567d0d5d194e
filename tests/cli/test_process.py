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

FULL = Path("/dev/full")
long = pytest.mark.long


@pytest.mark.parametrize(
    ("command", "first", "shown", "rest", "more"),
    [
        pytest.param(["watch"], '{"a": "x', 'a = "x"\n', 'ë"}', 'a += "ë"\n', marks=long),
        (["chunk", "-"], '["a"]\n', '"[\\"a"\n', "", '"\\"]"\n'),
        pytest.param(["mend"], 'Sure: {"a": "Zoë 健', '{"a": "Zoë 健', '", b: [1,]}', '", "b": [1]}', marks=long),
    ],
)
def test_what_is_certain_is_written_before_the_text_ends(
    command: list[str], first: str, shown: str, rest: str, more: str
) -> None:
    with start(*command) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(first.encode())
        process.stdin.flush()
        assert process.stdout.read(len(shown.encode())) == shown.encode()
        process.stdin.write(rest.encode())
        process.stdin.close()
        assert process.stdout.read() == more.encode()
        assert process.wait(PATIENCE) == 0


@long
def test_a_repair_is_reported_before_the_text_ends() -> None:
    with start("mend", "--json") as process:
        assert process.stdin is not None
        assert process.stderr is not None
        for text, kind in (('Sure: {"a": "x', "prose"), ('", b: [1,', "unquoted-key")):
            process.stdin.write(text.encode())
            process.stdin.flush()
            assert json.loads(process.stderr.readline())["kind"] == kind
        process.stdin.write(b"]}")
        process.stdin.close()
        assert [json.loads(line) for line in process.stderr][1:] == [{"result": "mended", "repairs": 3}]
        assert process.wait(PATIENCE) == 0


@long
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


@long
@pytest.mark.parametrize(("command", "text"), [(["mend"], '{"a": [1, spread()'), (["watch", "-"], "[1 2")])
def test_a_text_that_cannot_be_read_is_left_at_once(command: list[str], text: str) -> None:
    with start(*command) as process:
        assert process.stdin is not None
        process.stdin.write(text.encode())
        process.stdin.flush()
        assert process.wait(PATIENCE) == 1


@long
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


@long
@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("command", "where", "words"),
    [
        (["watch", "-"], ">&-", "cannot write standard output: it is closed"),
        (["mend"], ">/dev/full", "cannot write standard output: No space left on device"),
        (["get", "root"], ">/dev/full", "cannot write standard output: No space left on device"),
        (["record", "-o", os.devnull], ">/dev/full", "cannot write standard output: No space left on device"),
        (["record", "-o", FULL], "", "cannot write /dev/full: No space left on device"),
        (["watch", "-"], "<&-", "cannot read standard input"),
        (["check", "-", "--schema", "any"], "<&-", "cannot read standard input"),
        (["mend"], "2>/dev/full", ""),
    ],
)
def test_what_cannot_be_read_or_written_is_named(command: list[str | Path], where: str, words: str) -> None:
    for sent in (b"", b"[1]\n") if FULL in command else (b"[1,]\n" if command == ["mend"] else b"[1]\n",):
        shell = ["/bin/sh", "-c", f'exec "$@" {where}', "sh", *COMMAND, *map(str, command)]
        done = subprocess.run(shell, input=sent, capture_output=True, check=False, timeout=PATIENCE)
        assert done.returncode == 2
        assert words in done.stderr.decode()
        assert b"Traceback" not in done.stderr


@long
def test_without_standard_error_the_value_is_written_all_the_same() -> None:
    command = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *COMMAND, "mend"]
    done = subprocess.run(command, input=b"[1,]", stdout=subprocess.PIPE, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (0, b"[1]")


@long
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


@long
@pytest.mark.parametrize(
    ("missing", "code", "said"),
    [
        *(
            (name, 2, 'jsontide: the command needs extra packages: pip install "jsontide[cli]"')
            for name in ("typer", "rich")
        ),
        ("jsontide.cli._drawing", 1, "jsontide.cli._drawing"),  # is not hidden
    ],
)
def test_without_the_extra_one_line_says_what_to_install(missing: str, code: int, said: str) -> None:
    hide = f"import sys; sys.modules[{missing!r}] = None; "
    result = subprocess.run([sys.executable, "-c", hide + COMMAND[2]], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (code, "")
    assert said in result.stderr
    assert code == 1 or len(result.stderr.splitlines()) == 1


@long
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


@long
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


@long
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


@long
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
