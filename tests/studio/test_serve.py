"""The studio as it is started: on this machine only, with an address to open, and beside a proxy."""

import http.client
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from jsontide.recordings import RecordingError, RecordingProxy
from jsontide.studio import serve
from tests.studio.serving import TOKEN, Studio, wait_for, write_recording
from tests.web.serving import port_of, running, serving

START = (
    "import sys, pathlib; from jsontide.studio import serve; serve(pathlib.Path(sys.argv[1]), open_browser=False, {})"
)


@contextmanager
def started(path: Path, options: str = "") -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", START.format(options), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8") as process:
        try:
            yield process
        finally:
            process.kill()


def read_line(process: "subprocess.Popen[str]", name: str) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith(f"{name}: "), process.stderr and process.stderr.read()
    return line.removeprefix(f"{name}: ").strip()


def test_it_says_what_to_open_and_serves_this_machine_only(tmp_path: Path) -> None:
    with started(write_recording(tmp_path / "r.ndjson", "[1]"), "listen=True, proxy='http://127.0.0.1:9'") as process:
        address = read_line(process, "studio")
        assert "/listen?token=" in read_line(process, "listening")
        assert read_line(process, "proxy").endswith("-> http://127.0.0.1:9")
        with urllib.request.urlopen(address) as response:  # noqa: S310 - it says http
            assert b"studio.js" in response.read()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address[:-1])  # noqa: S310
        port = int(address.split(":")[2].split("/")[0])
        with socket.socket() as elsewhere, pytest.raises(ConnectionRefusedError):
            elsewhere.connect(("127.0.0.2", port))
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in {0, -signal.SIGINT}  # 0 where the signal was ignored when this process began


def test_its_address_can_be_opened_as_soon_as_it_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class OpenedError(Exception):
        """The browser has connected."""

    def open_now(address: str) -> None:
        socket.create_connection(("127.0.0.1", urlsplit(address).port or 0)).close()
        raise OpenedError

    monkeypatch.setattr("webbrowser.open", open_now)
    with pytest.raises(OpenedError):
        serve(write_recording(tmp_path / "r.ndjson", "[1]"))


def test_a_port_that_is_taken_is_an_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        path = write_recording(tmp_path / "r.ndjson", "[1]")
        with started(path, f"port={taken.getsockname()[1]}") as process:
            assert "Address already in use" in process.communicate(timeout=60)[1]


def test_a_recording_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "r.ndjson", "[1]", "]")
    path.write_text(path.read_text("utf-8").replace('"at": 0.1', '"at": -1'), encoding="utf-8")
    with pytest.raises(RecordingError, match="line 2"):
        serve(path)


def test_streams_that_pass_the_proxy_are_sessions() -> None:
    def answer(_: Request) -> Any:
        return StreamingResponse(iter(['data: {"a": 1}\n\n', 'data: {"a": 2}\n\n']), media_type="text/event-stream")

    studio = Studio(max_bytes=20)
    with serving(Route("/v1/stream", answer)) as port:
        with RecordingProxy(f"http://127.0.0.1:{port}", studio.app.state.studio.open_sink) as proxy:
            connection = http.client.HTTPConnection("127.0.0.1", proxy.port)
            connection.request("GET", "/v1/stream?key=secret")
            body = connection.getresponse().read()
            connection.close()
        session = studio.wait()
    assert body == b'data: {"a": 1}\n\ndata: {"a": 2}\n\n'  # all of it passes, though the studio takes less
    assert "secret" not in session.name
    assert session.name.endswith("/v1/stream")
    assert session.end == "stopped"


def test_what_is_posted_is_a_session_while_it_comes_and_when_its_sender_leaves() -> None:
    studio = Studio(listen=True)
    with running(studio.app) as server:
        connection = http.client.HTTPConnection("127.0.0.1", port_of(server))
        connection.putrequest("PUT", f"/listen?token={TOKEN}")
        connection.putheader("transfer-encoding", "chunked")
        connection.endheaders()
        connection.send(b"5\r\n[1, 2\r\n")
        wait_for(lambda: bool(studio.app.state.studio.sessions) and studio.newest.count == 1)
        assert studio.newest.state == "live"
        connection.close()
        session = studio.wait()
    assert (session.end, session.problem) == ("lost", "the sender left before the end")
    assert session.moments[1].value == [1]


def test_the_page_is_told_what_grows() -> None:
    studio = Studio()
    live = studio.app.state.studio.start_live("live")
    with running(studio.app) as server:
        address = f"http://127.0.0.1:{port_of(server)}/follow?session={live.session.id}&token={TOKEN}"
        with urllib.request.urlopen(address, timeout=60) as response:
            assert b'"state":"live"' in response.readline()
            live.write(b"[1]")
            told = b""
            while b'["count",1]' not in told:
                told = response.readline()
            assert b'"name"' not in told  # only what is new
            assert response.headers["content-type"].startswith("text/event-stream")


def test_the_extra_is_named_where_it_is_missing() -> None:
    program = "import sys; sys.modules['uvicorn'] = None; import jsontide.studio"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, text=True)
    assert 'pip install "jsontide[studio]"' in done.stderr
