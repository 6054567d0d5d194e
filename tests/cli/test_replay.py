"""`jsontide replay` and `jsontide record`: what goes in comes out."""

import errno
import json
import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.request import urlopen

import pytest

from jsontide.recordings import Recording
from tests.cli.running import EXAMPLES, ITINERARY, run
from tests.cli.streams import openai
from tests.cli.terminals import COMMAND, PATIENCE, needs_interrupts, start
from tests.http_serving import serving

RECORDING = EXAMPLES / "chat" / "recording.ndjson"


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A recording that is cut inside a character."""
    path = tmp_path / "odd.ndjson"
    lines: list[object] = [{"jsontide": "recording", "version": 1}]
    lines += [
        {"at": 1, "text": "["},
        {"at": 2, "text": '"Zo'},
        {"at": 3, "base64": "ww=="},
        {"at": 4, "base64": "qyI="},
    ]
    lines += [{"at": 5, "text": "]"}, {"at": 6, "end": "over"}]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that sleeping sets forward."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("time.sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    return now


@pytest.mark.parametrize(("speed", "took"), [("1", 5.0), ("2", 2.5), ("0", 0.0)])
def test_a_recording_is_played_in_its_time(odd: Path, clock: list[float], speed: str, took: float) -> None:
    result = run("replay", odd, "--speed", speed)
    assert (result.exit_code, result.stdout_bytes) == (0, '["Zoë"]'.encode())
    assert clock[0] == took


def test_pieces_can_be_cut_again(odd: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    monkeypatch.setattr("jsontide.cli._output.RawOutput.write", lambda _, data: written.append(data))
    assert run("replay", odd, "--size", "3").exit_code == 0
    assert b"".join(written) == '["Zoë"]'.encode()
    assert list(map(len, written)) == [3, 3, 2]
    assert clock[0] == 5.0


def test_the_seed_chooses_the_cuts(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(seed: str) -> list[bytes]:
        written: list[bytes] = []
        monkeypatch.setattr("jsontide.cli._output.RawOutput.write", lambda _, data: written.append(data))
        run("replay", odd, "--speed", "0", "--size", "1-4", "--seed", seed)
        return written

    assert cut("1") == cut("1")
    assert len({tuple(cut(str(seed))) for seed in range(9)}) > 1


@pytest.mark.parametrize(("form", "first"), [("sse", b"data: {"), ("ndjson", b"{")])
def test_decoded_events_are_written_in_a_form_that_a_client_reads(form: str, first: bytes) -> None:
    result = run("replay", RECORDING, "--speed", "0", "--as", form)
    assert result.stdout_bytes.startswith(first)
    assert len(Recording.loads(result.stdout_bytes).events) == 328


def test_a_stream_as_received_is_played_as_it_is() -> None:
    assert run("replay", ITINERARY).stdout_bytes == ITINERARY.read_bytes()


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        ('{"at": 9, "end": "lost", "error": "reset by peer"}\n', 3, "the stream was lost: reset by peer"),
        ('{"at": 9, "te', 3, "breaks off in line 2"),
        ('{"at": 9}\n', 1, "line 2: "),
        ('{"at": 9, "base64": "*"}\n', 1, "line 2: "),
        ("[]\n", 1, "line 2: not an object"),
        ("nonsense\n{}\n", 1, "line 2: not JSON"),
    ],
)
def test_a_recording_that_is_lost_or_wrong_says_so(tmp_path: Path, more: str, code: int, said: str) -> None:
    path = tmp_path / "r.ndjson"
    path.write_text(f'{{"jsontide": "recording", "version": 1}}\n{more}')
    result = run("replay", path, "--speed", "0")
    assert result.exit_code == code
    assert said in result.stderr
    assert run("stats", path).exit_code == (1 if code == 1 else 0)


def test_what_a_command_writes_is_recorded_and_passed_on(tmp_path: Path) -> None:
    (tmp_path / "stream").write_bytes(openai("Hello"))
    out = tmp_path / "r.ndjson"
    done = subprocess.run(
        [*COMMAND, "record", "-o", str(out), "--", "cat", str(tmp_path / "stream")], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, openai("Hello"), b"")
    recording = Recording.load(out)
    assert (recording.encode(), recording.end, recording.about["source"]) == (openai("Hello"), "over", "cat")
    assert str(tmp_path) not in out.read_text("utf-8")
    assert os.name == "nt" or stat.S_IMODE(out.stat().st_mode) == 0o600


@pytest.mark.long
def test_standard_input_is_recorded_piece_by_piece(tmp_path: Path) -> None:
    with start("record", "-o", tmp_path / "r") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for piece in (b"[1", b", \xc3", b"2]"):
            process.stdin.write(piece)
            process.stdin.flush()
            assert process.stdout.read(len(piece)) == piece
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
    recording = Recording.load(tmp_path / "r")
    assert [piece.data for piece in recording.pieces] == [b"[1", b", \xc3", b"2]"]
    times = [piece.at for piece in recording.pieces]
    assert times == sorted(times)


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "code", "error"),
    [
        (["sh", "-c", "printf '[1'; exit 7"], 7, "sh ended with exit code 7"),
        (["sh", "-c", "printf '[1'; kill -TERM $$"], 143, "sh ended with exit code 143"),
    ],
)
def test_a_command_that_fails_passes_its_code_on(tmp_path: Path, command: list[str], code: int, error: str) -> None:
    done = subprocess.run([*COMMAND, "record", "-o", str(tmp_path / "r"), *command], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (code, b"[1")
    recording = Recording.load(tmp_path / "r")
    assert (recording.encode(), recording.end, recording.error) == (b"[1", "lost", error)


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = run("record", "-o", tmp_path / "r", "no-such-command")
    assert result.exit_code == 2
    assert "cannot run no-such-command: No such file or directory" in result.stderr


@pytest.mark.long
@needs_interrupts
def test_an_interrupt_keeps_what_came_before(tmp_path: Path) -> None:
    with start("record", "-o", tmp_path / "r", "--", "sh", "-c", "printf '[1'; exec sleep 60") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(2) == b"[1"
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr.read() == b""
    recording = Recording.load(tmp_path / "r")
    assert (recording.encode(), recording.end) == (b"[1", "stopped")


@pytest.mark.long
def test_a_reader_that_leaves_ends_the_recording(tmp_path: Path) -> None:
    with start("record", "-o", tmp_path / "r", "--", "yes") as process:
        assert process.stdout is not None
        process.stdout.read(2)
        process.stdout.close()
        assert process.wait(PATIENCE) == 141
    assert Recording.load(tmp_path / "r").end == "stopped"


class Provider(BaseHTTPRequestHandler):
    """Answers with a stream."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(openai("Hello"))

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def provider() -> Iterator[str]:
    with serving(Provider) as address:
        yield address


@pytest.mark.long
@needs_interrupts
def test_a_proxy_records_each_stream_until_it_is_interrupted(tmp_path: Path, provider: str) -> None:
    with start("record", "-o", tmp_path / "turns", "--proxy", provider) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = process.stdout.readline().split()[0].decode()
        for number in (1, 2):
            with urlopen(f"{address}/v1/chat?key=secret", timeout=PATIENCE) as response:  # noqa: S310 - it is http
                assert response.read() == openai("Hello")
            said = process.stdout.readline().decode()
            assert said.startswith(f"{tmp_path / 'turns'}/000{number}-v1-chat.ndjson: ")
            assert f", {len(openai('Hello')):,} bytes, " in said
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""
    recordings = sorted((tmp_path / "turns").iterdir())
    assert [Recording.load(path).encode() for path in recordings] == [openai("Hello")] * 2
    assert not any(b"secret" in path.read_bytes() for path in recordings)


@pytest.mark.long
def test_a_port_that_is_taken_is_named(tmp_path: Path, provider: str) -> None:
    port = provider.rpartition(":")[2]
    result = run("record", "-o", tmp_path / "turns", "--proxy", provider, "--port", port)
    assert result.exit_code == 2
    assert f"cannot use port {port}: {os.strerror(errno.EADDRINUSE)}" in " ".join(result.stderr.split())
