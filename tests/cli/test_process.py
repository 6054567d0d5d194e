"""The command as a real process: pipes, signals, terminals, a missing extra."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

ITINERARY = Path(__file__).parents[2] / "examples" / "itinerary.json"
COMMAND = (sys.executable, "-c", "from jsontide.cli import main; main()")
PATIENCE = 60

pytestmark = pytest.mark.once  # what the command says is shown for both builds by the other tests


def start(*arguments: str | Path, stdout: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )


def feed(chunks: Iterable[bytes], *, wait: float = 0.0) -> tuple[int, bytes, bytes]:
    with start("watch", "-") as process:
        assert process.stdin is not None
        for chunk in chunks:
            process.stdin.write(chunk)
            process.stdin.flush()
            time.sleep(wait)
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out, err


def test_standard_input_may_be_cut_anywhere() -> None:
    data = '{"name": "Zoë 健二 🌊", "n": [1.5e3, null]}'.encode()
    code, out, err = feed([data[i : i + 1] for i in range(len(data))], wait=0.001)
    assert (code, err) == (0, b"")
    assert json.loads(out.splitlines()[-1]) == json.loads(data)


def test_a_value_is_printed_before_the_text_ends() -> None:
    with start("watch", "-") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"a": "x')
        process.stdin.flush()
        assert process.stdout.readline() == b'{"a":"x"}\n'
        process.stdin.write('ë"}'.encode())
        process.stdin.close()
        assert process.stdout.readline() == '{"a":"xë"}\n'.encode()
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


def test_text_that_cannot_be_mended_is_left_at_once() -> None:
    with start("mend") as process:
        assert process.stdin is not None
        process.stdin.write(b'{"a": [1, spread()')
        process.stdin.flush()
        assert process.wait(PATIENCE) == 1


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


def test_a_report_that_cannot_be_written_ends_with_2() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, "mend"], input=b"[1,]", stdout=subprocess.PIPE, stderr=full, check=False)
    assert done.returncode == 2


def test_without_standard_error_the_value_is_written_all_the_same() -> None:
    command = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *COMMAND, "mend"]
    done = subprocess.run(command, input=b"[1,]", stdout=subprocess.PIPE, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (0, b"[1]")


def test_a_stream_that_is_cut_off_ends_with_1() -> None:
    code, out, err = feed([b'{"a": "\xc3'])
    assert code == 1
    assert out == b'{"a":""}\n'
    assert err.startswith(b"jsontide: ")


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


@pytest.mark.parametrize("command", ["watch", "chunk", "mend"])
@pytest.mark.parametrize(("output", "words"), [(">&-", b"it is closed"), (">/dev/full", b"No space left on device")])
def test_an_output_that_cannot_be_written_is_named(command: str, output: str, words: bytes) -> None:
    if output == ">/dev/full" and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    result = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {output}', "sh", *COMMAND, command, "-"],
        input=b"[1]\n",
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert result.returncode == 2
    assert b"cannot write standard output: " + words in result.stderr
    assert b"Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["watch", "chunk", "mend"])
def test_a_closed_standard_input_is_named(command: str) -> None:
    result = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *COMMAND, command, "-"],
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert result.returncode == 2
    assert b"cannot read standard input" in result.stderr


@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
    reason="interrupts are ignored here, and so by every process started from here",
)
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


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_one_line_says_what_to_install(missing: str) -> None:
    hide = f"import sys; sys.modules[{missing!r}] = None; "
    result = subprocess.run([sys.executable, "-c", hide + COMMAND[2]], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr == 'jsontide: the command needs extra packages: pip install "jsontide[cli]"\n'
    assert result.stdout == ""


def test_another_missing_module_is_not_hidden() -> None:
    hide = "import sys; sys.modules['jsontide.cli._watch'] = None; "
    result = subprocess.run([sys.executable, "-c", hide + COMMAND[2]], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "jsontide.cli._watch" in result.stderr


def on_terminal(
    arguments: Sequence[str | Path], *, columns: int, lines: int, term: str = "xterm", stdout: int | None = None
) -> tuple[int, str]:
    """Exit code and all that a terminal of this size was sent; standard output may go elsewhere."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    clean = {k: v for k, v in os.environ.items() if k not in {"COLUMNS", "LINES"}}
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs if stdout is None else stdout,
        stderr=theirs,
        env=clean | {"TERM": term},
    )
    os.close(theirs)
    sent = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return process.wait(PATIENCE), sent.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # Linux says so, instead of an empty read, when the other side is closed
        return b""


def test_on_a_terminal_the_value_is_drawn_in_place() -> None:
    code, sent = on_terminal(["watch", ITINERARY, "--delay", "0"], columns=60, lines=20)
    assert code == 0
    assert "▌" in sent
    assert "complete" in sent.splitlines()[-2:][0] + sent.splitlines()[-1]
    assert "100 %" in sent


def test_a_dumb_terminal_gets_lines() -> None:
    code, sent = on_terminal(["watch", ITINERARY], columns=60, lines=20, term="dumb")
    assert code == 0
    assert json.loads(sent.splitlines()[-1]) == json.loads(ITINERARY.read_bytes())


def test_on_a_terminal_bad_text_is_pointed_at(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("[1, 2 3]")
    code, sent = on_terminal(["watch", tmp_path / "bad.json"], columns=60, lines=20)
    assert code == 1
    assert "1 | [1, 2 3" in sent
    assert sent.rstrip().endswith("^")


def test_a_missing_file_draws_nothing() -> None:
    code, sent = on_terminal(["watch", "no-such-file.json"], columns=60, lines=20)
    assert code == 2
    assert sent.lstrip().startswith("Usage:")


def test_the_progress_of_a_long_file_is_shown_where_it_disturbs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text("".join(f'["{"a" * n}"]\n' for n in range(1_000, 2_000)))
    code, sent = on_terminal(["chunk", path], columns=60, lines=20, stdout=subprocess.DEVNULL)
    assert code == 0
    assert "long.jsonl" in sent
    assert "100%" in sent
    code, sent = on_terminal(["chunk", path, "--raw"], columns=60, lines=20)
    assert code == 0
    assert json.loads(sent) == ["a" * 1_999]


def test_on_a_terminal_repairs_follow_the_value(tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_text('Here you are: {"a": [1, 2,],\n"b": "\u009b2J健二", }', encoding="utf-8")
    code, sent = on_terminal(["mend", path], columns=40, lines=20)
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


def test_mending_a_long_file_shows_progress_where_it_disturbs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("[" + f'"{"a" * 995}",\n' * 1_100 + "1, 2, 3,\n]")
    code, sent = on_terminal(["mend", path], columns=60, lines=20, stdout=subprocess.DEVNULL)
    assert code == 0
    assert "long.txt" in sent
    assert "100%" in sent
    report = sent[sent.index("jsontide: trailing comma") :]
    assert report.splitlines() == [
        "jsontide: trailing comma: removed ',' (line 1101, column 8)",
        "1101 | 1, 2, 3,",
        "              ^",
    ]
    code, sent = on_terminal(["mend", path, "--check"], columns=60, lines=20)
    assert code == 4
    assert "long.txt" in sent
    assert "jsontide:" not in sent
