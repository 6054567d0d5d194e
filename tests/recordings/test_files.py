"""The file of a recording: what is written is read again, and a file that is wrong says where."""

import io
import json
import os
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import JsontideError, testing
from jsontide.recordings import Piece, Recording, RecordingError, RecordingWriter, follow

TEXT = "data: Zoë ☃ 𝄞\n\n".encode()
times = st.lists(st.integers(0, 10**9).map(lambda micros: micros / 10**6), max_size=8).map(sorted)
names = st.text(max_size=5).filter(lambda name: name not in {"jsontide", "version", "url"})
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(names, json_values, max_size=3)


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    data: Any = draw(st.sampled_from([st.binary(max_size=9), objects]))
    pieces = tuple(Piece(at, draw(data)) for at in draw(times))
    end: Any = draw(st.sampled_from(["over", "lost", "stopped", None]))
    error = None if end is None else draw(st.none() | st.text(max_size=9))
    last = pieces[-1].at if pieces else 0.0
    duration = last if end is None else last + draw(st.integers(0, 1000)) / 8
    return Recording(pieces, about=draw(objects), end=end, error=error, duration=round(duration, 6))


@given(recordings())
def test_what_is_saved_is_loaded(recording: Recording) -> None:
    data = recording.dumps()
    assert Recording.loads(data) == recording
    *lines, rest = data.decode("utf-8").split("\n")
    assert all(isinstance(json.loads(line), dict) for line in lines)
    assert not rest


def test_files_are_saved_and_loaded(tmp_path: Path) -> None:
    recording = Recording((Piece(0.5, b"[1"), Piece(1.5, b"]")), about={"source": "curl"}, end="over", duration=2.0)
    recording.save(tmp_path / "one.ndjson")
    assert Recording.load(tmp_path / "one.ndjson") == recording == Recording.load(str(tmp_path / "one.ndjson"))
    assert testing.Recording is Recording


def test_the_format_is_the_one_that_is_documented() -> None:
    recording = Recording(
        (Piece(0.25, TEXT[:9]), Piece(0.5, TEXT[9:10]), Piece(0.75, TEXT[10:])), about={"status": 200}
    )
    assert [json.loads(line) for line in recording.dumps().splitlines()] == [
        {"jsontide": "recording", "version": 1, "status": 200},
        {"at": 0.25, "base64": b64encode(TEXT[:9]).decode()},
        {"at": 0.5, "base64": b64encode(TEXT[9:10]).decode()},
        {"at": 0.75, "text": TEXT[10:].decode()},
    ]
    lost = Recording((), end="lost", error="reset", duration=3)
    assert json.loads(lost.dumps().splitlines()[-1]) == {"at": 3, "end": "lost", "error": "reset"}
    assert json.loads(Recording.of_events([{"a": 1}]).dumps().splitlines()[1]) == {"at": 0.0, "event": {"a": 1}}


def test_a_character_may_be_cut_anywhere() -> None:
    for at in range(len(TEXT) + 1):
        recording = Recording((Piece(0, TEXT[:at]), Piece(1, TEXT[at:])))
        assert Recording.loads(recording.dumps()).encode() == TEXT


def test_a_url_is_kept_without_what_may_be_secret() -> None:
    about = {"url": "https://me:pass@api.example.com:8080/v1/chat?key=secret#part", "source": "proxy"}
    data = Recording((), about=about).dumps()
    assert json.loads(data)["url"] == "https://api.example.com:8080/v1/chat"
    file = io.BytesIO()
    RecordingWriter(file, about)
    assert b"secret" not in file.getvalue()
    assert b"pass" not in file.getvalue()
    odd = Recording((), about={"url": "http://[odd?key=secret"}).dumps()
    assert json.loads(odd)["url"] == ""


class TestBrokenFiles:
    WHOLE = Recording(
        tuple(Piece(at / 4, piece) for at, piece in enumerate([b"data: ", TEXT[:9], TEXT[9:], b"x"])),
        about={"source": "é"},
        end="over",
    )

    def test_a_file_that_breaks_off_anywhere_is_read_up_to_there(self) -> None:
        data = self.WHOLE.dumps()
        lines = data.splitlines(keepends=True)
        ends = [sum(map(len, lines[: at + 1])) for at in range(len(lines))]
        for cut in range(len(b'{"jsontide":'), len(data) + 1):
            read = Recording.loads(data[:cut])
            whole = sum(cut >= end - 1 for end in ends)  # a line is there when all but its line end is
            assert read.pieces == self.WHOLE.pieces[: max(whole - 1, 0)]
            if cut in ends or cut + 1 in ends:
                assert read.end == ("over" if whole == len(lines) else None)
            else:
                assert (read.end, read.error) == ("lost", f"the recording breaks off in line {whole + 1}")

    def test_any_byte_may_be_wrong(self) -> None:
        data = self.WHOLE.dumps()
        for at in range(len(data)):
            for wrong in (b"\xff", b'"', b"\n", b"{"):
                broken = data[:at] + wrong + data[at + 1 :]
                try:
                    read = Recording.loads(broken)
                except RecordingError as error:
                    assert str(error).startswith("line ")  # noqa: PT017 - either is right
                else:
                    assert Recording.loads(read.dumps()).pieces == read.pieces

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("[1]", "not an object"),
            ("oops", "not JSON"),
            ("[" * 100_000, "not JSON"),
            ("{}", "must have one of text, base64, event, end"),
            ('{"at": 1, "text": "a", "base64": ""}', "must have one of"),
            ('{"text": "a"}', '"at" must be seconds'),
            ('{"at": "1", "text": "a"}', '"at" must be seconds'),
            ('{"at": true, "text": "a"}', '"at" must be seconds'),
            ('{"at": -1, "text": "a"}', '"at" must be seconds'),
            ('{"at": NaN, "text": "a"}', '"at" must be seconds'),
            ('{"at": 1e999, "text": "a"}', '"at" must be seconds'),
            ('{"at": 0.1, "text": "a"}', "must not go back"),
            ('{"at": 1, "text": 5}', '"text" must be a string'),
            ('{"at": 1, "text": "\\ud800"}', '"text" cannot be decoded'),
            ('{"at": 1, "base64": "a"}', '"base64" cannot be decoded'),
            ('{"at": 1, "base64": "ü==="}', '"base64" cannot be decoded'),
            ('{"at": 1, "event": [1]}', '"event" must be an object'),
            ('{"at": 1, "event": {}}', "bytes or events, not both"),
            ('{"at": 1, "end": "done"}', '"end" must be one of'),
            ('{"at": 1, "end": ["over"]}', '"end" must be one of'),
            ('{"at": 1, "end": "lost", "error": 5}', '"error" must be a string'),
            ('{"at": 1, "end": "over"}\n{"at": 1, "text": ""}', "nothing follows the end"),
        ],
    )
    def test_a_wrong_line_is_named(self, tmp_path: Path, line: str, said: str) -> None:
        path = tmp_path / "wrong.ndjson"
        path.write_text(f'{{"jsontide": "recording", "version": 1}}\n\n{{"at": 0.5, "text": "a"}}\n{line}\n', "utf-8")
        number = 4 + line.count("\n")
        with pytest.raises(RecordingError, match=f"wrong.ndjson, line {number}: .*{said}") as caught:
            Recording.load(path)
        assert isinstance(caught.value, JsontideError)

    @pytest.mark.parametrize(
        ("header", "said"),
        [
            ('{"jsontide": "recording", "version": 3}', "version 3 is not known"),
            ('{"jsontide": "recording"}', "version None is not known"),
            ('{"jsontide": "something"}', "not a recording"),
            ('{"jsontide": oops}', "not JSON"),
        ],
    )
    def test_a_wrong_header_is_named(self, header: str, said: str) -> None:
        with pytest.raises(RecordingError, match=f"line 1: {said}"):
            Recording.loads(f"{header}\n".encode())

    def test_unknown_members_line_ends_and_a_byte_order_mark_are_no_mistakes(self) -> None:
        text = '\ufeff{"jsontide": "recording", "version": 1, "new": [1]}\r\n\r\n{"at": 1, "text": "a", "new": 2}\r\n'
        read = Recording.loads(text.encode())
        assert (dict(read.about), read.pieces) == ({"new": [1]}, (Piece(1, b"a"),))

    def test_a_file_that_is_not_there_is_an_ordinary_error(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            Recording.load(tmp_path / "none")


class TestRawResponses:
    @pytest.mark.parametrize(
        ("data", "count"),
        [
            (b'data: {"a": 1}\n\ndata: [DONE]\n\n', 2),
            (b'data: {"a": 1}\r\n\r\n: x\r\n\r\ndata: 1', 3),
            (b'{"a": 1}\n{"b": 2}', 2),
            (b'{\n  "a": 1\n}', 3),
            (b"", 0),
        ],
    )
    def test_a_response_is_one_piece_for_each_event_or_line(self, data: bytes, count: int) -> None:
        recording = Recording.loads(data)
        assert (recording.encode(), len(recording.pieces), recording.duration, recording.end) == (
            data,
            count,
            0,
            "over",
        )

    @given(st.binary(max_size=60))
    def test_any_bytes_are_a_recording_of_themselves(self, data: bytes) -> None:
        assert Recording.of_bytes(data).encode() == data

    def test_events_are_read_from_bytes(self) -> None:
        events: list[dict[str, object]] = [{"a": "Zoë"}, {"b": [1]}]
        for form in ("sse", "ndjson"):
            data = Recording.of_events(events).encode(form)
            assert list(Recording.of_bytes(data).events) == events
            assert Recording.of_bytes(data).encode("ndjson") == Recording.of_events(events).encode("ndjson")
        assert Recording.of_bytes(b'{\n "a": 1\n}').events == ({"a": 1},)

    @pytest.mark.parametrize("data", [b'{"a": 1}\n{oops', b"data: {oops}\n\n", b"[" * 100_000])
    def test_events_that_are_not_json_are_an_error(self, data: bytes) -> None:
        with pytest.raises(RecordingError, match="the events cannot be read"):
            _ = Recording.of_bytes(data).events


class TestRecut:
    RECORDING = Recording((Piece(1.0, b"abcd"), Piece(2.0, b"efgh"), Piece(4.0, b"ij")), end="over", duration=5.0)

    @given(st.one_of(st.integers(1, 12), st.lists(st.integers(1, 5), max_size=6)))
    def test_sizes_are_kept(self, sizes: Any) -> None:
        cut = self.RECORDING.recut(sizes)
        assert cut.encode() == b"abcdefghij"
        found = [len(piece.data) for piece in cut.pieces if isinstance(piece.data, bytes)]
        wanted = [sizes] * 10 if isinstance(sizes, int) else sizes
        assert found[:-1] == wanted[: len(found) - 1]
        assert (cut.end, cut.duration) == ("over", 5.0)

    @given(st.integers())
    def test_a_seed_gives_one_cut(self, seed: int) -> None:
        cut = self.RECORDING.recut(seed=seed)
        assert cut == self.RECORDING.recut(seed=seed)
        assert cut.encode() == b"abcdefghij"
        at = [piece.at for piece in cut.pieces]
        assert at == sorted(at)
        assert at[0] >= 1.0
        assert at[-1] == 4.0

    def test_times_are_interpolated(self) -> None:
        at = [piece.at for piece in self.RECORDING.recut(1).pieces]
        assert at == [1.0, 1.0, 1.0, 1.0, 1.25, 1.5, 1.75, 2.0, 3.0, 4.0]

    def test_events_are_cut_as_server_sent_events(self) -> None:
        recording = Recording.of_events([{"a": 1}])
        assert recording.recut(5).encode() == b'data: {"a": 1}\n\n'
        assert Recording(()).recut(1).pieces == ()

    def test_wrong_arguments_are_refused(self) -> None:
        for wrong in ({}, {"sizes": 1, "seed": 1}):
            with pytest.raises(TypeError, match="sizes or a seed"):
                self.RECORDING.recut(**wrong)
        with pytest.raises(ValueError, match="sizes must be at least 1"):
            self.RECORDING.recut(0)
        with pytest.raises(ValueError, match="a size must be at least 1"):
            self.RECORDING.recut([3, 0])


class TestMaking:
    def test_what_is_no_recording_is_refused(self) -> None:
        with pytest.raises(TypeError, match=r"pieces must be of type Piece, not dict; see Recording\.of_events"):
            Recording([{"a": 1}])  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="must not go back"):
            Recording((Piece(2, b"a"), Piece(1, b"b")))
        with pytest.raises(ValueError, match="bytes or events, not both"):
            Recording((Piece(1, b"a"), Piece(1, {})))
        with pytest.raises(ValueError, match="duration must not be less"):
            Recording((Piece(2, b"a"),), duration=1.0)
        with pytest.raises(ValueError, match="end must be one of"):
            Recording((), end="done")  # type: ignore[arg-type]

    @pytest.mark.parametrize("at", [-1, float("nan"), float("inf")])
    def test_a_time_is_seconds_since_the_start(self, at: float) -> None:
        with pytest.raises(ValueError, match="at must be at least 0 seconds"):
            Piece(at, b"")

    def test_a_piece_is_bytes_or_an_event(self) -> None:
        for wrong in ("text", [1], None):
            with pytest.raises(TypeError, match="a piece must be bytes, an event as a dict, or a RunNote"):
                Piece(0, wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="at must be a number"):
            Piece("0", b"")  # type: ignore[arg-type]


class TestWriting:
    def test_every_line_is_there_as_soon_as_it_is_written(self, tmp_path: Path) -> None:
        ticks = iter([10.0, 10.5, 10.25, 12.0])
        with (tmp_path / "live.ndjson").open("wb") as file:
            writer = RecordingWriter(file, {"source": "test", "started": "now"}, ticks.__next__)
            writer.write(b"[1")
            assert Recording.load(file.name).pieces == (Piece(0.5, b"[1"),)
            writer.write(memoryview(b", 2]"))  # type: ignore[arg-type]
            writer.write(b"")
            writer.finish("lost", "reset by peer")
            read = Recording.load(file.name)
        # A clock that is set back stands still.
        assert read.pieces == (Piece(0.5, b"[1"), Piece(0.5, b", 2]"))
        assert (read.end, read.error, read.duration) == ("lost", "reset by peer", 2.0)
        assert dict(read.about) == {"source": "test", "started": "now"}

    def test_events_are_written_too(self) -> None:
        file = io.BytesIO()
        writer = RecordingWriter(file)
        writer.write_event({"half": "\ud834"})
        writer.finish()
        read = Recording.loads(file.getvalue())
        assert read.events == ({"half": "\ud834"},)
        assert str(read.about["started"]).endswith("Z")

    def test_wrong_arguments_are_refused(self) -> None:
        writer = RecordingWriter(io.BytesIO())
        with pytest.raises(TypeError, match="a piece must be bytes"):
            writer.write("text")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="an event must be a dict"):
            writer.write_event([1])  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="end must be one of"):
            writer.finish("done")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="not JSON"):
            writer.write_event({"a": float("nan")})
        writer.finish()
        with pytest.raises(ValueError, match="is finished"):
            writer.write(b"more")

    def test_a_written_recording_shows_what_the_stream_showed(self) -> None:
        file = io.BytesIO()
        writer = RecordingWriter(file)
        for piece in (b'{"a": "Zo', b"\xc3", b'\xab"}'):
            writer.write(piece)
        *_, last = follow(Recording.loads(file.getvalue()))
        assert last.value == {"a": "Zoë"}


def test_a_recorder_that_cannot_write_says_so() -> None:
    with open(os.devnull, "rb") as file, pytest.raises(OSError, match="write"):  # noqa: PTH123 - not opened for it
        RecordingWriter(file)
