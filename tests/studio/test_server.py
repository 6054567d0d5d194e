"""The server of the studio: what it answers, whom it refuses, and what it says of bad input."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.testclient import TestClient

from jsontide._values import MISSING
from jsontide.frontends import CompactValue, CompactWriter
from jsontide.recordings import Recording
from jsontide.studio import create_app
from jsontide.studio._app import find_changes, follow, summarize
from jsontide.studio._sessions import LiveStream, TooLargeError
from jsontide.studio._sessions import Studio as Sessions
from tests.studio.serving import BASE, TOKEN, Studio, write_recording

PIECES = ('{"city": "Kyo', 'to", "stops": [1, ', "2]}")


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    studio = Studio(write_recording(tmp_path / "trip.ndjson", *PIECES), listen=True)
    studio.wait()
    return studio


def asked(studio: Studio, path: str, hosts: list[str]) -> int:
    """Send a request with its token as a server would, with any headers; return the status."""
    headers = [(b"host", host.encode()) for host in hosts]
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "headers": headers,
        "query_string": f"token={TOKEN}".encode(),
        "http_version": "1.1",
        "scheme": "http",
        "root_path": "",
        "server": ("127.0.0.1", 8000),
        "client": ("127.0.0.1", 1),
        "asgi": {"version": "3.0"},
    }
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    anyio.run(studio.app, scope, receive, send)
    status: int = sent[0]["status"]
    return status


class TestGuard:
    @pytest.mark.parametrize("path", ["/", "/moment", "/follow", "/node", "/recording", "/nothing"])
    @pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x", "é"])
    def test_a_wrong_token_gets_403(self, studio: Studio, path: str, token: str) -> None:
        client = TestClient(studio.app, base_url=BASE)
        response = client.get(path, params={"token": token} if token else {})
        assert response.status_code == 403
        assert "open the address that the studio printed" in response.text

    @pytest.mark.parametrize("path", ["/sessions", "/paste", "/reading", "/listen"])
    def test_nothing_can_be_posted_without_the_token(self, studio: Studio, path: str) -> None:
        before = len(studio.app.state.studio.sessions)
        assert TestClient(studio.app, base_url=BASE).post(path, content=b"[1]").status_code == 403
        assert len(studio.app.state.studio.sessions) == before

    @pytest.mark.parametrize("host", ["example.com", "127.0.0.1.example.com", "evil:8000", "", "[::1", "0.0.0.0:8000"])
    @pytest.mark.parametrize("path", ["/", "/static/studio.js"])
    def test_a_foreign_host_gets_403(self, studio: Studio, host: str, path: str) -> None:
        response = studio.client.get(path, headers={"host": host})
        assert response.status_code == 403

    @pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "127.0.0.1:8000"])
    @pytest.mark.parametrize(
        "rest", ["/static/x?", "/static/x#", "/static/", "?/static/", "@localhost", ":8000/static/x?"]
    )
    @pytest.mark.parametrize("path", ["/follow", "/", "/recording", "/nothing"])
    def test_a_host_cannot_stand_for_a_path(self, studio: Studio, name: str, rest: str, path: str) -> None:
        response = TestClient(studio.app, base_url=BASE).get(path, headers={"host": name + rest})
        assert response.status_code == 403

    @pytest.mark.parametrize(
        "host",
        [
            *("user@127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:999999", " 127.0.0.1", "127.0.0.1\n"),
            *("[127.0.0.1]", "127.0.0.1,evil", "localhost.", "127.0.0.1:٨"),
        ],
    )
    def test_a_host_is_a_name_and_a_port_and_nothing_else(self, studio: Studio, host: str) -> None:
        assert asked(studio, "/nothing", [host]) == 403

    def test_there_is_one_host(self, studio: Studio) -> None:
        assert asked(studio, "/nothing", ["127.0.0.1"]) == 404
        assert asked(studio, "/nothing", []) == 403
        assert asked(studio, "/nothing", ["127.0.0.1", "evil.example"]) == 403

    @pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST", "127.0.0.1", "localhost:9000"])
    def test_this_machine_is_answered(self, studio: Studio, host: str) -> None:
        assert studio.client.get("/", headers={"host": host}).status_code == 200

    @pytest.mark.parametrize("name", ["studio.js", "jsontide.js", "base.css", "icon.svg"])
    def test_the_assets_of_the_page_need_no_token(self, studio: Studio, name: str) -> None:
        assert TestClient(studio.app, base_url=BASE).get(f"/static/{name}").status_code == 200

    @pytest.mark.parametrize(
        "path", ["/static/../_guard.py", "/static/%2e%2e/_guard.py", "/static//etc/passwd", "/static/"]
    )
    def test_nothing_else_is_an_asset(self, studio: Studio, path: str) -> None:
        assert studio.client.get(path).status_code == 404

    def test_the_token_may_be_in_the_address(self, studio: Studio) -> None:
        assert TestClient(studio.app, base_url=BASE).get("/", params={"token": TOKEN}).status_code == 200

    def test_every_answer_limits_what_a_page_may_do(self, studio: Studio) -> None:
        for path in ("/", "/static/studio.js", "/moment", "/nothing"):
            headers = studio.client.get(path).headers
            assert headers["content-security-policy"].startswith("default-src 'self';")
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"

    def test_an_empty_token_is_refused(self) -> None:
        with pytest.raises(ValueError, match="token must not be empty"):
            create_app(token="")

    def test_tokens_are_made_up_and_differ(self) -> None:
        tokens = {create_app().state.token for _ in range(20)}
        assert len(tokens) == 20
        assert min(map(len, tokens)) >= 32


class TestMoments:
    def test_are_found_by_number_and_by_time(self, studio: Studio) -> None:
        assert studio.ask("/moment", n=1)["rows"][1]["text"] == "Kyo"
        assert studio.ask("/moment", at=0.25)["n"] == 2
        assert studio.ask("/moment", at=-1)["n"] == 0
        assert studio.ask("/moment", n=99)["n"] == studio.ask("/moment", at=1e9)["n"] == studio.ask("/moment")["n"] == 4

    def test_are_compared(self, studio: Studio) -> None:
        assert studio.ask("/moment", n=2, compare=1)["compare"]["n"] == 1
        assert studio.ask("/moment", n=2, compare=999)["compare"]["n"] == 4

    def test_are_unfolded_as_the_reader_wants(self, studio: Studio) -> None:
        rows = studio.ask("/moment", n=3, unfolded='[[["stops"], null]]')["rows"]
        assert [row["key"] for row in rows] == [0, "city", "stops"]

    @pytest.mark.parametrize(
        ("parameters", "said"),
        [
            ({"n": "x"}, "n must be the number of a moment"),
            ({"n": "-1"}, "n must be"),
            ({"n": "1" * 50}, "n must be"),
            ({"n": "²"}, "n must be"),
            ({"at": "soon"}, "at must be a number of seconds"),
            ({"compare": "x"}, "compare must be"),
            ({"unfolded": "{"}, "unfolded must be JSON"),
            ({"unfolded": "5"}, "unfolded must be pairs"),
            ({"unfolded": '[[["a"], "b"]]'}, "unfolded must be pairs"),
            ({"unfolded": '[[["a"], true]]'}, "unfolded must be pairs"),
            ({"unfolded": '[["a", 1]]'}, "a path must be an array"),
            ({"unfolded": "[" * 5000}, "unfolded must be JSON"),
        ],
    )
    def test_a_wrong_question_is_refused_with_what_was_expected(
        self, studio: Studio, parameters: Any, said: str
    ) -> None:
        status, error = studio.refused("/moment", **parameters)
        assert status == 400
        assert said in error

    def test_of_no_session_there_are_none(self, studio: Studio) -> None:
        assert studio.refused("/moment", session="gone")[0] == 404
        assert studio.client.get("/moment").status_code == 404

    def test_a_time_that_is_no_number_is_the_start(self, studio: Studio) -> None:
        assert studio.ask("/moment", at="nan")["n"] in range(5)


class TestOtherViews:
    def test_a_node(self, studio: Studio) -> None:
        assert studio.ask("/node", n=2, path='["city"]')["total"] == 2
        assert studio.refused("/node", n=2, path='["town"]') == (404, "there is nothing at this path at this moment")
        assert studio.refused("/node", n=2, path='["town", 1.5]')[0] == 400
        assert studio.refused("/node", n=2, path='"town"')[0] == 400

    def test_chunks(self, studio: Studio) -> None:
        chunks = studio.ask("/chunks", n=4)["chunks"]
        assert "".join(chunk["text"] for chunk in chunks) == '{"city":"Kyoto","stops":[1,2'

    def test_a_schema(self, studio: Studio) -> None:
        assert studio.ask("/schema", n=4) is None
        schema = {"properties": {"city": {"type": "integer"}}}
        response = studio.client.post("/reading", json={"session": studio.newest.id, "schema": schema})
        assert response.status_code == 201
        studio.wait()
        assert studio.ask("/schema", n=1)["status"] == "mismatch"

    def test_the_recording(self, studio: Studio) -> None:
        response = studio.client.get("/recording", params={"session": studio.newest.id})
        assert response.headers["content-type"] == "application/x-ndjson"
        recording = Recording.loads(response.content)
        assert [piece.data for piece in recording.pieces] == [text.encode() for text in PIECES]
        assert [piece.at for piece in recording.pieces] == [0.1, 0.2, 0.3]


class TestUploads:
    def test_a_recording_is_loaded(self, studio: Studio, tmp_path: Path) -> None:
        data = write_recording(tmp_path / "other.ndjson", "[1", "]").read_bytes()
        answer = studio.client.post("/sessions", params={"name": "other.ndjson"}, content=data).json()
        session = studio.wait()
        assert (answer["session"], session.name, session.count, session.moments[-1].value) == (
            *(session.id, "other.ndjson", 3, [1]),
        )

    @pytest.mark.parametrize("data", [b'data: {"a": 1}\n\ndata: {"a": 2}\n\n', b'{"a": 1}\n{"a": 2}\n'])
    def test_what_was_received_is_loaded_too(self, studio: Studio, data: bytes) -> None:
        studio.client.post("/sessions", content=data)
        session = studio.wait()
        assert session.moments[-1].value == [{"a": 1}, {"a": 2}]
        assert not session.is_timed

    def test_a_broken_recording_says_where(self, studio: Studio) -> None:
        lines = b'{"jsontide": "recording", "version": 1}\n{"at": "soon", "text": "x"}\n'
        studio.client.post("/sessions", content=lines)
        session = studio.wait()
        assert session.state == "broken"
        assert "line 2" in str(session.problem)
        assert studio.ask("/moment")["rows"] == []

    def test_a_recording_that_breaks_off_is_shown_up_to_there(self, studio: Studio, tmp_path: Path) -> None:
        data = write_recording(tmp_path / "cut.ndjson", *PIECES).read_bytes()
        studio.client.post("/sessions", content=data[: data.index(b'"text": "2]}')])
        session = studio.wait()
        assert (session.state, session.end, len(session.pieces)) == ("over", "lost", 2)
        assert session.problem
        assert studio.ask("/moment")["outcome"] == "truncated"

    def test_a_file_that_is_not_there_is_a_broken_session(self, tmp_path: Path) -> None:
        session = Studio(tmp_path / "nothing.ndjson").wait()
        assert session.state == "broken"
        assert "nothing.ndjson" in str(session.problem)

    @pytest.mark.parametrize("data", [b"", b"\x00\xff\xfe", b"plain words", b"\n\n\n"])
    def test_anything_else_is_shown_as_what_it_is(self, studio: Studio, data: bytes) -> None:
        studio.client.post("/sessions", content=data)
        assert studio.wait().state == "over"
        assert studio.ask("/moment")["raw"]["total"] == len(data)

    def test_one_that_is_too_large_is_refused_in_words(self) -> None:
        studio = Studio(max_bytes=1000)
        for content in (b"x" * 1001, iter([b"x" * 600] * 3)):
            response = studio.client.post("/sessions", content=content)
            assert response.status_code == 413
            assert response.json() == {"error": "more than 0.001 MB; the studio takes no more of one stream"}
        assert not studio.app.state.studio.sessions

    def test_the_oldest_make_room(self, studio: Studio) -> None:
        first = studio.newest.id
        for _ in range(20):
            studio.client.post("/sessions", content=b"[1]")
            studio.wait()
        assert len(studio.app.state.studio.sessions) == 16
        assert first not in studio.app.state.studio.sessions


class TestPasting:
    def paste(self, studio: Studio, body: Any) -> tuple[int, Any]:
        content = body if isinstance(body, bytes) else json.dumps(body)
        response = studio.client.post("/paste", content=content)
        return response.status_code, response.json()

    def test_pieces_are_read_as_they_were_cut(self, studio: Studio) -> None:
        status, _ = self.paste(studio, {"pieces": ['["a', "", 'b"]'], "interval": 0.5})
        session = studio.wait()
        assert status == 201
        assert [(piece.at, piece.data) for piece in session.pieces] == [(0.5, b'["a'), (1.5, b'b"]')]
        assert studio.ask("/moment", n=1)["rows"][1]["text"] == "a"

    def test_bad_json_is_mended_if_that_is_wanted(self, studio: Studio) -> None:
        self.paste(studio, {"pieces": ["{'a'", ": 1}"], "mend": True})
        assert studio.wait().moments[-1].value == {"a": 1}
        self.paste(studio, {"pieces": ["{'a'", ": 1}"]})
        assert studio.wait().moments[-1].error is not None

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"\xff",
            b"[]",
            {},
            {"pieces": "text"},
            {"pieces": [1]},
            {"pieces": ["a"], "interval": -1},
            {"pieces": ["a"], "interval": "1"},
            {"pieces": ["\ud83d", "\ude00"]},
        ],
    )
    def test_what_is_wrong_is_refused(self, studio: Studio, body: Any) -> None:
        status, answer = self.paste(studio, body)
        assert status == 400
        assert answer["error"]


class TestReadingAgain:
    def read(self, studio: Studio, **choices: Any) -> Any:
        return studio.client.post("/reading", json={"session": studio.newest.id, **choices})

    def test_mended_it_keeps_its_id_and_reports_repairs(self, studio: Studio) -> None:
        studio.client.post("/paste", json={"pieces": ["{'a': 1", ",}"]})
        before = studio.wait()
        assert self.read(studio, mend=True).json() == {"session": before.id}
        assert studio.wait().options.mend
        assert len(studio.ask("/moment")["repairs"]) == 3

    @pytest.mark.parametrize(
        ("schema", "said"),
        [
            (5, "a schema must be an object"),
            ({"type": "nonsense"}, "this schema cannot be used"),
            ({"$ref": "https://example.com/elsewhere"}, "this schema cannot be used"),
        ],
    )
    def test_a_schema_that_cannot_be_used_is_refused(self, studio: Studio, schema: Any, said: str) -> None:
        response = self.read(studio, schema=schema)
        assert response.status_code == 400
        assert said in response.json()["error"]

    def test_a_session_that_is_not_over_must_end_first(self, studio: Studio) -> None:
        studio.app.state.studio.start_live("live")
        assert self.read(studio, mend=True).status_code == 409

    def test_there_must_be_a_session(self, studio: Studio) -> None:
        assert studio.client.post("/reading", json={"session": ["x"]}).status_code == 404


class TestListening:
    @pytest.mark.parametrize("method", ["POST", "PUT"])
    def test_what_is_posted_is_a_session(self, studio: Studio, method: str) -> None:
        content = iter([b'{"a": "x', b'y"', b"}"])
        response = studio.client.request(method, "/listen", params={"name": "mine"}, content=content)
        assert response.status_code == 201
        session = studio.newest
        assert (session.name, session.state, session.moments[-1].value) == ("mine", "over", {"a": "xy"})
        assert response.text == "bytes: 11, pieces: 1\n"  # the client of the tests joins them

    def test_streams_without_a_name_can_be_told_apart(self, studio: Studio) -> None:
        names = []
        for name in ("", "", "mine", "mine", ""):
            studio.client.post("/listen", params={"name": name} if name else {}, content=b"[1]")
            names.append(studio.newest.name)
        assert names == ["posted", "posted (2)", "mine", "mine (2)", "posted (3)"]

    def test_a_studio_that_does_not_listen_says_how(self, tmp_path: Path) -> None:
        response = Studio(write_recording(tmp_path / "r.ndjson", "[1]")).client.post("/listen", content=b"[1]")
        assert response.status_code == 404
        assert "--listen" in response.json()["error"]

    def test_too_much_ends_it_in_words_and_keeps_what_came(self) -> None:
        studio = Studio(listen=True, max_bytes=10)
        response = studio.client.post("/listen", content=b'["a", "b", "c"]')
        assert response.status_code == 413
        assert studio.newest.end == "stopped"

    def test_times_are_counted_from_its_start(self) -> None:
        times = iter([100.0, 100.5, 101.0, 103.0])
        session = Sessions(max_bytes=5).start_live("x").session
        live = LiveStream(session, 5, times.__next__)
        live.write(b"[1")
        live.write(b"")
        live.write(b", 2")
        with pytest.raises(TooLargeError):
            live.write(b"]")
        assert [*session.times] == [0.0, 0.5, 1.0, 3.0]
        assert session.problem is not None


class TestFollowing:
    def test_what_grows_is_told_as_a_value_that_grows(self) -> None:
        studio = Sessions(max_bytes=1000)
        live = studio.start_live("live")
        live.write(b"[1, ")

        async def read() -> list[bytes]:
            told = follow(studio, live.session.id)
            first = await anext(told)
            live.write(b"2")
            return [first, await anext(told)]

        first, second = anyio.run(read)
        value = CompactValue()
        for line in (first + second).decode().split("\n\n")[:-1]:
            value = value.read(json.loads(line.removeprefix("data: ")))
        assert value.value == summarize(studio, live.session.id)
        assert len(second) < len(first)

    def test_silence_is_kept_alive(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("jsontide.studio._app._KEEP_ALIVE", 0.0)

        async def read() -> list[bytes]:
            told = follow(Sessions(max_bytes=10), None)
            return [await anext(told), await anext(told)]

        first, second = anyio.run(read)
        assert json.loads(first.removeprefix(b"data: "))["value"]["sessions"] == []
        assert second == b":\n\n"

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (MISSING, {"a": 1}),
            ({"a": 1}, {"a": 1}),
            ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}, 4], "c": None}),
            ({"a": [1, 2]}, {"a": [2]}),
            ({"a": {"b": 1}}, {"a": {"c": 1}}),
            ({"a": 1, "b": 2}, {"a": 1}),
        ],
    )
    def test_changes_make_one_summary_into_the_next(self, before: Any, after: Any) -> None:
        writer, value = CompactWriter(), CompactValue()
        for changes in ([] if before is MISSING else find_changes(MISSING, before), find_changes(before, after)):
            writer, events = writer.write(changes)
            for event in events:
                value = value.read(event)
        assert value.value == after

    def test_what_did_not_change_is_not_told(self) -> None:
        lanes = [{"path": "a"}, {"path": "b"}]
        assert find_changes({"lanes": lanes, "n": 1}, {"lanes": lanes, "n": 1}) == []
