"""The proxy between a real client and a real server, both on loopback."""

import gzip
import http.client
import json
import os
import socket
import stat
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from jsontide.recordings import Recording, RecordingProxy, follow
from tests import http_serving
from tests.recordings.test_moments import SSE

PATIENCE = 60.0
Answer = Callable[["Upstream"], None]


class Upstream(BaseHTTPRequestHandler):
    """A server that answers as the test says, and remembers what it was asked."""

    protocol_version = "HTTP/1.1"
    answer: Answer
    asked: list[tuple[str, str, dict[str, str], bytes]]

    def do_any(self) -> None:
        body = b""
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.asked.append((self.command, self.path, headers, body))
        type(self).answer(self)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_any  # noqa: N815 - their names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        pass

    def begin(self, kind: str = "text/event-stream", *, status: int = 200, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("X-Two", "a")
        self.send_header("X-Two", "b")
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))


class Sinks(list["Kept"]):
    """Recordings in memory."""

    def open(self, about: Mapping[str, object]) -> "Kept":
        self.append(Kept(about))
        return self[-1]


class Kept:
    def __init__(self, about: Mapping[str, object]) -> None:
        self.about = about
        self.pieces: list[bytes] = []
        self.end: tuple[str, str | None] | None = None
        self.is_over = threading.Event()

    def write(self, data: bytes) -> None:
        self.pieces.append(data)

    def finish(self, end: str, error: str | None = None) -> None:
        self.end = (end, error)
        self.is_over.set()

    def wait(self) -> tuple[str, str | None]:
        assert self.is_over.wait(PATIENCE)
        assert self.end is not None
        return self.end


class Setting:
    """A server, a proxy in front of it, and a client of the proxy."""

    def __init__(self, proxy: RecordingProxy, upstream: type[Upstream], sinks: Sinks, errors: list[str]) -> None:
        self.proxy, self.upstream, self.sinks, self.errors = proxy, upstream, sinks, errors

    @contextmanager
    def client(self) -> Iterator[http.client.HTTPConnection]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.proxy.port, timeout=PATIENCE)) as client:
            yield client


@contextmanager
def serving(answer: Answer, path: str = "", **options: Any) -> Iterator[Setting]:
    upstream = type("Answering", (Upstream,), {"answer": answer, "asked": []})
    sinks, errors = Sinks(), list[str]()
    options.setdefault("to", sinks.open)
    with (
        http_serving.serving(upstream) as address,
        RecordingProxy(f"{address}{path}", on_error=errors.append, **options) as proxy,
    ):
        yield Setting(proxy, upstream, sinks, errors)


def answer_events(upstream: Upstream) -> None:
    upstream.begin()
    for event in SSE.splitlines(keepends=True):
        upstream.chunk(event)
    upstream.chunk(b"")


def test_a_stream_passes_through_as_it_arrives() -> None:
    go_on = [threading.Event() for _ in range(3)]

    def answer(upstream: Upstream) -> None:
        upstream.begin()
        for number, event in enumerate(go_on):
            upstream.chunk(b"data: %d\n\n" % number)
            assert event.wait(PATIENCE)
        upstream.chunk(b"")

    with serving(answer) as setting, setting.client() as client:
        client.request("GET", "/stream")
        response = client.getresponse()
        assert response.headers.get_all("X-Two") == ["a", "b"]
        for number, event in enumerate(go_on):  # the server does not go on before the client has it
            assert response.read1() == b"data: %d\n\n" % number
            event.set()
        assert response.read() == b""
        assert setting.sinks[0].wait() == ("over", None)
        assert setting.sinks[0].pieces == [b"data: %d\n\n" % number for number in range(3)]


def test_requests_are_forwarded_as_they_are_and_nothing_of_them_is_recorded(tmp_path: Path) -> None:
    with serving(answer_events, to=tmp_path / "made" / "here") as setting, setting.client() as client:
        headers = {"Authorization": "Bearer s3cret", "X-Own": "yes", "Connection": "keep-alive, x-hop", "X-Hop": "1"}
        client.request("POST", "/v1/chat?key=s3cret", b'{"prompt": "s3cret"}', {**headers, "Accept-Encoding": "gzip"})
        assert client.getresponse().read() == SSE
    ((method, path, sent, body),) = setting.upstream.asked
    assert (method, path, body) == ("POST", "/v1/chat?key=s3cret", b'{"prompt": "s3cret"}')
    assert (sent["authorization"], sent["x-own"], sent["accept-encoding"]) == ("Bearer s3cret", "yes", "identity")
    assert "x-hop" not in sent
    assert sent["host"] != f"127.0.0.1:{setting.proxy.port}"
    (file,) = (tmp_path / "made" / "here").iterdir()
    assert file.name == "0001-v1-chat.ndjson"
    assert b"s3cret" not in file.read_bytes()
    recording = Recording.load(file)
    assert (recording.encode(), recording.end) == (SSE, "over")
    about = {name: recording.about[name] for name in ("source", "method", "status", "content_type")}
    assert about == {"source": "proxy", "method": "POST", "status": 200, "content_type": "text/event-stream"}
    assert str(recording.about["url"]).endswith("/v1/chat")
    *_, last = follow(recording)
    assert last.message is not None


def test_times_begin_at_the_request(tmp_path: Path) -> None:
    def answer(upstream: Upstream) -> None:
        time.sleep(0.05)  # a model that thinks
        answer_events(upstream)

    with serving(answer, to=tmp_path) as setting, setting.client() as client:
        client.request("GET", "/")
        client.getresponse().read()
    recording = Recording.load(tmp_path / "0001.ndjson")
    assert recording.pieces[0].at >= float(str(recording.about["waited"])) >= 0.05


def test_a_connection_is_used_again() -> None:
    def answer(upstream: Upstream) -> None:
        upstream.begin("application/json", length=2)
        upstream.wfile.write(b"{}")

    with serving(answer) as setting, setting.client() as client:
        client.connect()
        sock = client.sock
        for _ in range(3):
            client.request("POST", "/", b"{}")
            assert client.getresponse().read() == b"{}"
            assert client.sock is sock
    assert [sink.wait() for sink in setting.sinks] == [("over", None)] * 3


def test_a_body_in_chunks_is_forwarded() -> None:
    body = [b"one, ", b"two, " * 30_000, b"three"]
    with serving(answer_events) as setting, setting.client() as client:
        client.request("POST", "/", iter(body))
        assert client.getresponse().read() == SSE
    assert setting.upstream.asked[0][3] == b"".join(body)


def test_a_path_of_the_address_stands_before_those_of_requests() -> None:
    with serving(answer_events, path="/v1/") as setting, setting.client() as client:
        client.request("GET", "/models")
        client.getresponse().read()
    assert setting.upstream.asked[0][1] == "/v1/models"


@pytest.mark.parametrize("status", [400, 429, 500])
def test_errors_of_the_server_pass_through_and_are_recorded(status: int) -> None:
    def answer(upstream: Upstream) -> None:
        upstream.begin("application/json; charset=utf-8", status=status, length=9)
        upstream.wfile.write(b'{"no": 1}')

    with serving(answer) as setting, setting.client() as client:
        client.request("GET", "/")
        response = client.getresponse()
        assert (response.status, response.read()) == (status, b'{"no": 1}')
        setting.sinks[0].wait()
    assert (setting.sinks[0].about["status"], setting.sinks[0].about["content_type"]) == (status, "application/json")


def test_a_response_that_is_compressed_nevertheless_says_so() -> None:
    payload = gzip.compress(b'{"a": 1}')

    def answer(upstream: Upstream) -> None:
        upstream.send_response(200)
        upstream.send_header("Content-Type", "application/json")
        upstream.send_header("Content-Encoding", "gzip")
        upstream.send_header("Content-Length", str(len(payload)))
        upstream.end_headers()
        upstream.wfile.write(payload)

    with serving(answer) as setting, setting.client() as client:
        client.request("GET", "/")
        assert client.getresponse().read() == payload
    assert setting.sinks[0].about["content_encoding"] == "gzip"
    assert b"".join(setting.sinks[0].pieces) == payload


def test_other_responses_pass_through_and_are_not_recorded() -> None:
    payload = bytes(range(256)) * 1000

    def answer(upstream: Upstream) -> None:
        upstream.begin("image/png", length=len(payload))
        upstream.wfile.write(payload)

    with serving(answer) as setting, setting.client() as client:
        client.request("GET", "/")
        assert client.getresponse().read() == payload
    assert not setting.sinks


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204), ("DELETE", 304)])
def test_a_response_without_a_body_has_none(method: str, status: int) -> None:
    def answer(upstream: Upstream) -> None:
        upstream.send_response(status)
        upstream.send_header("Content-Type", "application/json")
        if method == "HEAD":
            upstream.send_header("Content-Length", "50")
        upstream.end_headers()

    with serving(answer) as setting, setting.client() as client:
        for _ in range(2):
            client.request(method, "/")
            response = client.getresponse()
            assert (response.status, response.read()) == (status, b"")
    assert not setting.sinks


@pytest.mark.parametrize("lengths", [("-5",), ("-0",), ("+2",), ("two",), ("2, 2",), ("",), ("2", "3"), ("9" * 20,)])
def test_a_response_of_unclear_length_is_not_passed_on(lengths: tuple[str, ...]) -> None:
    def answer(upstream: Upstream) -> None:
        upstream.send_response(200)
        upstream.send_header("Content-Type", "application/json")
        for length in lengths:
            upstream.send_header("Content-Length", length)
        upstream.end_headers()
        upstream.wfile.write(b"{}")
        upstream.close_connection = True

    with serving(answer) as setting, setting.client() as client:
        client.request("GET", "/")
        response = client.getresponse()
        assert (response.status, b"its Content-Length is not a number" in response.read()) == (502, True)
    assert not setting.sinks


def test_a_body_whose_end_is_that_of_the_connection_passes_through() -> None:
    def answer(upstream: Upstream) -> None:
        upstream.send_response(200)
        upstream.send_header("Content-Type", "application/x-ndjson")
        upstream.send_header("Connection", "close")
        upstream.end_headers()
        upstream.wfile.write(b'{"a": 1}\n')
        upstream.close_connection = True

    with serving(answer) as setting:
        with setting.client() as client:
            client.request("GET", "/")
            assert client.getresponse().read() == b'{"a": 1}\n'
        with closing(socket.create_connection(("127.0.0.1", setting.proxy.port), PATIENCE)) as old:
            old.sendall(b"GET / HTTP/1.0\r\nHost: 127.0.0.1:%d\r\n\r\n" % setting.proxy.port)
            said = b"".join(iter(lambda: old.recv(4096), b""))
            assert said.endswith(b'\r\n\r\n{"a": 1}\n')
            assert b"chunked" not in said
        assert [sink.wait() for sink in setting.sinks] == [("over", None)] * 2


class TestFailures:
    def test_a_server_that_cannot_be_reached_is_502(self) -> None:
        with closing(socket.socket()) as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            errors: list[str] = []
            with RecordingProxy(f"http://127.0.0.1:{port}", Sinks().open, on_error=errors.append) as proxy:
                for body in (None, b"x" * 3_000_000):
                    with closing(http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=PATIENCE)) as client:
                        client.request("POST", "/v1?key=s3cret", body)
                        response = client.getresponse()
                        said = response.read().decode()
                    assert response.status == 502
                    assert f"http://127.0.0.1:{port}/v1 cannot be reached" in said
                    assert "s3cret" not in said
        assert len(errors) == 2

    def test_a_server_that_does_not_speak_http_is_502(self) -> None:
        def answer(upstream: Upstream) -> None:
            upstream.wfile.write(b"oops\r\n\r\n")
            upstream.close_connection = True

        with serving(answer) as setting, setting.client() as client:
            client.request("GET", "/")
            assert client.getresponse().status == 502

    @pytest.mark.parametrize("length", [None, 1000])
    def test_a_stream_that_is_lost_is_lost_for_the_client_too(self, length: int | None) -> None:
        def answer(upstream: Upstream) -> None:
            upstream.begin("application/json", length=length)
            data = b'{"a": 1'
            upstream.wfile.write(data if length else b"%x\r\n%b\r\n" % (len(data), data))
            upstream.close_connection = True

        with serving(answer) as setting, setting.client() as client:
            client.request("GET", "/v1")
            response = client.getresponse()
            with pytest.raises(http.client.IncompleteRead):
                response.read()
            sink = setting.sinks[0]
            assert sink.wait()[0] == "lost"
            assert sink.pieces == [b'{"a": 1']
            assert "was lost" in setting.errors[0]

    def test_a_client_that_leaves_stops_the_server(self) -> None:
        left = threading.Event()

        def answer(upstream: Upstream) -> None:
            upstream.begin()
            upstream.chunk(b"data: 1\n\n")
            if not upstream.rfile.read(1):  # the proxy hangs up although nothing more is sent
                left.set()

        with serving(answer) as setting:
            with setting.client() as client:
                client.request("GET", "/")
                response = client.getresponse()
                assert response.read1() == b"data: 1\n\n"
                response.close()
            assert left.wait(PATIENCE)
            assert setting.sinks[0].wait()[0] == "stopped"
            assert setting.sinks[0].pieces == [b"data: 1\n\n"]
        assert not setting.errors

    def test_a_client_that_leaves_in_its_request_breaks_nothing(self) -> None:
        with serving(answer_events) as setting:
            with closing(socket.create_connection(("127.0.0.1", setting.proxy.port), PATIENCE)) as client:
                head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 100\r\n\r\nonly"
                client.sendall(head % setting.proxy.port)
            with setting.client() as client_after:
                client_after.request("GET", "/")
                assert client_after.getresponse().read() == SSE

    def test_a_recording_that_cannot_be_written_does_not_stop_the_response(self) -> None:
        class Full(Kept):
            def write(self, data: bytes) -> None:  # noqa: ARG002 - as the other one
                raise OSError(28, "No space left on device")

        def refuse(_: Mapping[str, object]) -> Kept:
            raise PermissionError(13, "Permission denied")

        for to, said in ((Full, "the recording breaks off"), (refuse, "nothing is recorded")):
            with serving(answer_events, to=to) as setting, setting.client() as client:
                client.request("GET", "/")
                assert client.getresponse().read() == SSE
            assert said in setting.errors[0]


class TestWhoMayAsk:
    @pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "evil.example:{port}", "127.0.0.1:1"])
    def test_a_request_to_another_host_is_refused(self, host: str) -> None:
        with serving(answer_events) as setting, setting.client() as client:
            client.request("GET", "/", headers={"Host": host.format(port=setting.proxy.port)})
            assert client.getresponse().status == 403
        assert not setting.upstream.asked

    @pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://127.0.0.1:8000"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"sec-fetch-site": "Same-Origin", "Origin": ""},
        ],
    )
    def test_requests_of_web_pages_are_refused(self, method: str, headers: dict[str, str]) -> None:
        with serving(answer_events) as setting, setting.client() as client:
            client.request(method, "/", b"{}" if method == "POST" else None, headers=headers)
            response = client.getresponse()
            assert (response.status, response.headers.get("Access-Control-Allow-Origin")) == (403, None)
            assert b"web pages" in response.read()
        assert not setting.upstream.asked

    @pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "none"}, {"sec-fetch-mode": "cors"}])  # typed; of Node
    def test_what_no_page_wanted_passes(self, headers: dict[str, str]) -> None:
        with serving(answer_events) as setting, setting.client() as client:
            client.request("GET", "/", headers=headers)
            assert client.getresponse().read() == SSE

    def test_an_address_instead_of_a_path_is_refused(self) -> None:
        with serving(answer_events) as setting, setting.client() as client:
            client.putrequest("GET", "http://example.com/")
            client.endheaders()
            assert client.getresponse().status in {400, 403}
        assert not setting.upstream.asked

    def test_other_methods_are_refused(self) -> None:
        with serving(answer_events) as setting, setting.client() as client:
            client.request("CONNECT", "example.com:443")
            assert client.getresponse().status == 501


def send_raw(setting: Setting, lines: list[str], body: bytes, version: str = "1.1") -> bytes:
    """Send a request as it is, and return all that is answered."""
    head = [f"POST /v1 HTTP/{version}", f"Host: 127.0.0.1:{setting.proxy.port}", *lines, "Connection: close", "", ""]
    with socket.create_connection(("127.0.0.1", setting.proxy.port), PATIENCE) as client:
        client.sendall("\r\n".join(head).encode() + body)
        client.shutdown(socket.SHUT_WR)
        with client.makefile("rb") as answer:
            return answer.read()


CHUNKED = "Transfer-Encoding: chunked"
HIDDEN = b"0\r\n\r\nGET /hidden HTTP/1.1\r\n\r\n"


@pytest.mark.parametrize(
    ("lines", "body"),
    [
        *((["Content-Length: " + length], b"{}") for length in ("-1", "-2", "+2", "2_0", "0x2", "2,2", "", "٢", "1.0")),
        (["Content-Length: " + "9" * 5_000], b"{}"),
        (["Content-Length: 2", "Content-Length: 3"], b"{} "),
        (["Content-Length: 2", "Content-Length: 2"], b"{}"),
        (["Content-Length: 2", CHUNKED], HIDDEN),
        ([CHUNKED, CHUNKED], HIDDEN),
        (["Transfer-Encoding: gzip, chunked"], HIDDEN),
        (["Transfer-Encoding: xchunked"], HIDDEN),
        (["Transfer-Encoding: chunked, identity"], HIDDEN),
        (["Transfer-Encoding: identity", "Content-Length: 2"], b"{}"),
        (["Transfer-Encoding : chunked"], HIDDEN),
        (["Content-Length : 2"], b"{}"),
        *(
            ([CHUNKED], size + b"\r\n{}\r\n0\r\n\r\n")
            for size in (b"-2", b"+2", b"0x2", b"2_0", b"", b" ", b"2 2", b"x")
        ),
        ([CHUNKED], b"1\r\n{}\r\n0\r\n\r\n"),
        ([CHUNKED], b"2\n{}\n0\n\n"),
        ([CHUNKED], b"2;" + b"x" * 2_000 + b"\r\n{}\r\n0\r\n\r\n"),
    ],
)
def test_a_body_of_unclear_length_is_refused(lines: list[str], body: bytes) -> None:
    with serving(answer_events) as setting:
        assert send_raw(setting, lines, body).startswith(b"HTTP/1.1 400 ")
    assert not setting.upstream.asked


def test_a_body_in_chunks_is_not_of_the_old_http() -> None:
    with serving(answer_events) as setting:
        assert b" 400 " in send_raw(setting, [CHUNKED], b"2\r\n{}\r\n0\r\n\r\n", version="1.0").splitlines()[0]
    assert not setting.upstream.asked


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps files apart by other means")
def test_recordings_are_for_their_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "streams"
    with serving(answer_events, to=folder) as setting, setting.client() as client:
        client.request("GET", "/")
        client.getresponse().read()
    (file,) = folder.iterdir()
    Recording.load(file).save(folder / "copy.ndjson")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps files apart by other means")
def test_a_file_that_is_there_keeps_who_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "shared.ndjson"
    path.touch()
    path.chmod(0o640)
    Recording.loads(b"[1]").save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def read(url: str) -> None:
    with urllib.request.urlopen(url) as response:  # noqa: S310 - this machine
        response.read()


def test_many_at_once_are_kept_apart(tmp_path: Path) -> None:
    barrier = threading.Barrier(6, timeout=PATIENCE)

    def answer(upstream: Upstream) -> None:
        upstream.begin("application/x-ndjson")
        barrier.wait()
        for at in range(5):
            upstream.chunk(json.dumps({"path": upstream.path, "at": at}).encode() + b"\n")
        upstream.chunk(b"")

    with serving(answer, to=tmp_path) as setting:
        urls = [f"{setting.proxy.url}/{number}" for number in range(6)]
        threads = [threading.Thread(target=read, args=(url,)) for url in urls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        found = {tuple(event["path"] for event in Recording.load(file).events) for file in tmp_path.iterdir()}  # type: ignore[index]
    assert found == {(f"/{number}",) * 5 for number in range(6)}


def test_files_that_are_there_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "0001-old.ndjson").write_bytes(b"")
    with serving(answer_events, to=tmp_path) as setting, setting.client() as client:
        client.request("GET", "/")
        client.getresponse().read()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["0001-old.ndjson", "0002.ndjson"]


def test_wrong_addresses_are_refused() -> None:
    for url in ("api.openai.com", "ftp://example.com", "https://", ""):
        with pytest.raises(ValueError, match="url must be an http or https address"):
            RecordingProxy(url, Sinks().open)


def test_a_proxy_that_never_started_can_be_closed() -> None:
    proxy = RecordingProxy("http://127.0.0.1:1", Sinks().open)
    proxy.close()
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", proxy.port), PATIENCE)
