"""The rows of a recording, against its own figures and streams that are cut at a known place."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import JsonValue
from jsontide.archives import RecordingJob
from jsontide.archives.rows import COLUMNS
from jsontide.mend import MODELS
from jsontide.recordings import Piece, Recording, measure
from tests.generated_streams import STREAMS
from tests.strategies import values

Rows = dict[str, list[dict[str, Any]]]


def rows_of(data: bytes, job: RecordingJob | None = None) -> Rows:
    found: Rows = {}
    for table, row in (job or RecordingJob("stats")).rows("r", data):
        assert list(row) == list(COLUMNS[table])
        json.dumps(row, allow_nan=False)
        found.setdefault(table, []).append(row)
    return found


def whole(text: str, *cuts: int) -> bytes:
    """A recording of a text, cut in pieces a second apart."""
    places = [0, *cuts, len(text)]
    pieces = [Piece(float(at + 1), text[a:b].encode()) for at, (a, b) in enumerate(pairwise(places))]
    return Recording(tuple(pieces), end="over").dumps()


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_of_every_provider_has_the_figures_that_are_measured(name: str) -> None:
    stream = STREAMS[name]
    pieces = tuple(Piece(0.25 * at, event) for at, event in enumerate(stream.events))
    recording = Recording(pieces, end="over")
    rows = rows_of(recording.dumps())
    (row,), found = rows["recordings"], measure(recording)
    for column in (
        "kind",
        "duration",
        "arrived",
        "first",
        "last",
        "silence",
        "silence_from",
        "model",
        "bytes",
        "pieces",
    ):
        assert row[column] == getattr(found, column), column
    assert row["characters"] == found.characters
    assert row["outcome"] == found.outcome.value == stream.said.outcome
    calls = rows.get("calls", [])
    assert row["calls"] == len(calls)
    assert row["calls_complete"] == sum(call["status"] == "complete" for call in calls)
    assert all(path["path"] for path in rows.get("paths", []))
    assert len({path["path"] for path in rows.get("paths", [])}) == len(rows.get("paths", []))


@pytest.mark.parametrize("name", STREAMS)
def test_jobs_without_times_have_the_same_outcome(name: str) -> None:
    data = Recording.of_events(STREAMS[name].events).dumps()
    timed = rows_of(data)["recordings"][0]
    (row,) = rows_of(data, RecordingJob("check", schema=None))["recordings"]
    same = (
        "kind",
        "outcome",
        "finish_reason",
        "error",
        "broke_off_at",
        "calls",
        "calls_complete",
        "value_sha256",
        "sha256",
    )
    assert {key: row[key] for key in same} == {key: timed[key] for key in same}
    assert row["first"] is None


@given(value=values, data=st.data())
def test_a_document_says_where_it_broke_off(value: JsonValue, data: st.DataObject) -> None:
    text = json.dumps({"list": [1, value]})
    cut = data.draw(st.integers(len('{"list": [1, '), len(text) - 1))
    (row,) = rows_of(whole(text[:cut]), RecordingJob("check"))["recordings"]
    assert row["outcome"] == "truncated"
    assert re.match("root$" if cut == len(text) - 1 else r"list(\[\*\]|$)", row["broke_off_at"])


class TestBrokenOff:
    """In calls and answers the path begins with whose it is."""

    CALL = (
        'data: {"choices":[{"index":0,"delta":{"tool_calls":'
        '[{"index":0,"id":"a","function":{"name":"book","arguments":%s}}]}}]}\n\n'
    )
    TEXT = 'data: {"choices":[{"index":0,"delta":{"content":%s}}]}\n\n'

    @pytest.mark.parametrize(
        ("text", "place"),
        [
            (CALL % json.dumps('{"days": [{"title": "Po'), "book.days[*].title"),
            (CALL % json.dumps('{"days'), "book"),
            (TEXT % json.dumps("Hello"), "text"),
        ],
    )
    def test_in_a_message(self, text: str, place: str) -> None:
        (row,) = rows_of(Recording.of_bytes(text.encode()).dumps())["recordings"]
        assert row["broke_off_at"] == place
        assert row["outcome"] == "truncated"

    def test_in_an_answer(self) -> None:
        job = RecordingJob("check", schema={"type": "object"})
        text = self.TEXT % json.dumps('{"days": [1, 2')
        (row,) = rows_of(Recording.of_bytes(text.encode()).dumps(), job)["recordings"]
        assert row["broke_off_at"] == "answer.days[*]"


def test_problems_that_are_alike_are_one_with_their_number() -> None:
    job = RecordingJob("mend", mend=MODELS)
    rows = rows_of(whole("{'a': 1, 'b': 2}"), job)
    found = {(row["kind"], row["name"], row["lossy"]): row["count"] for row in rows["problems"]}
    assert found == {("repair", "quotes", False): rows["recordings"][0]["repairs"]}


def test_mismatches_have_their_path_as_a_pattern() -> None:
    schema = {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    rows = rows_of(whole('[{"n": "x"}, {"n": 1}, {"n": "y"}]'), RecordingJob("check", schema=schema))
    assert {(row["kind"], row["path"]) for row in rows["problems"]} == {("schema", "root[*].n")}
    assert rows["recordings"][0]["mismatches"] == 2


def test_get_gives_values_with_their_paths() -> None:
    rows = rows_of(whole('{"a": [{"b": 1}, {"b": "x"}]}'), RecordingJob("get", pattern="a[*].b"))
    assert [(row["path"], row["value"]) for row in rows["values"]] == [("root.a[0].b", "1"), ("root.a[1].b", '"x"')]


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00", b"\xff\xfe", b'{"jsontide": "recording", "version": 9}', b'{"jsontide": "recording"', b"x" * 5000],
)
def test_anything_is_a_row(data: bytes) -> None:
    (row,) = rows_of(data)["recordings"]
    assert row["recording"] == "r"


def test_labels_and_the_rest_of_the_header_are_kept_and_odd_ones_dropped() -> None:
    about: dict[str, JsonValue] = {
        "started": "2026-01-01T00:00:00Z",
        "source": 5,
        "status": True,
        "labels": {"b": 1, "a": "x" * 999},
    }
    recording = Recording((Piece(0.0, b"1"),), about=about, end="over")
    (row,) = rows_of(recording.dumps())["recordings"]
    assert (row["started"], row["source"], row["status"]) == ("2026-01-01T00:00:00Z", None, None)
    assert row["labels"] == {"a": "x" * 300, "b": "1"}


class TestTimesThatStepBack:
    """Whoever writes times rounds them."""

    @given(steps=st.lists(st.floats(-0.0009, 0.5), max_size=20))
    def test_by_less_than_a_millisecond_stand_still_and_are_counted(self, steps: list[float]) -> None:
        times = [1.0]
        for step in steps:
            times.append(times[-1] + step)
        kept: list[float] = []
        for at in times:
            kept.append(max([*kept, at]))
        late = all(after - before < 0.001 for before, after in zip(times[1:], kept, strict=False))
        lines = [{"jsontide": "recording", "version": 1}, *({"at": at, "text": "1"} for at in times)]
        data = "\n".join(map(json.dumps, lines)).encode()
        if late:
            recording = Recording.loads(data)
            assert [piece.at for piece in recording.pieces] == kept
            assert recording.clamped == sum(at < before for at, before in zip(times[1:], kept, strict=False))

    def test_by_more_are_an_error(self) -> None:
        lines = ['{"jsontide": "recording", "version": 1}', '{"at": 1, "text": "1"}', '{"at": 0.998, "text": "2"}']
        (row,) = rows_of("\n".join(lines).encode())["recordings"]
        assert row["error"] == 'line 3: "at" must not go back, from 1.0 to 0.998'


class TestTheJob:
    def test_get_and_only_get_takes_a_pattern(self) -> None:
        with pytest.raises(TypeError, match="get takes a pattern"):
            RecordingJob("get")
        with pytest.raises(TypeError, match="nothing else does"):
            RecordingJob("stats", pattern="a")

    @pytest.mark.parametrize(
        ("options", "error"),
        [
            ({"name": "x"}, ValueError),
            ({"max_bytes": 0}, ValueError),
            ({"max_seconds": "1"}, TypeError),
            ({"schema": 5}, Exception),
        ],
    )
    def test_refuses_what_cannot_be_used(self, options: dict[str, Any], error: type[Exception]) -> None:
        with pytest.raises(error):
            RecordingJob(**{"name": "check", **options})

    def test_its_fingerprint_says_what_rows_depend_on(self) -> None:
        jobs = [
            RecordingJob("stats"),
            RecordingJob("check"),
            RecordingJob("check", schema={"type": "object"}),
            RecordingJob("check", schema=list[int]),
            RecordingJob("check", mend=MODELS),
            RecordingJob("check", mend=MODELS.without(*[*MODELS.kinds][:1])),
            RecordingJob("get", pattern="a"),
            RecordingJob("get", pattern="b"),
            RecordingJob("stats", max_bytes=5),
        ]
        assert len({job.fingerprint() for job in jobs}) == len(jobs)
        assert RecordingJob("stats").fingerprint() == jobs[0].fingerprint()


def test_the_tables_are_those_of_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/archives.md").read_text("utf-8")
    for table, columns in COLUMNS.items():
        (said,) = re.findall(rf"^\| `{table}` \| (.*) \|$", page, re.MULTILINE)
        assert re.findall(r"`(\w+)`", said) == [*columns]


def test_a_run_has_the_calls_of_all_its_messages_and_the_times_of_its_tools() -> None:
    path = Path(__file__).parents[2] / "examples/run.ndjson"
    rows = rows_of(path.read_bytes())
    (row,) = rows["recordings"]
    sent = re.findall(r'\{\\?"type\\?": ?\\?"tool_use\\?".*?\\?"name\\?": ?\\?"(\w+)', path.read_text("utf-8"))
    assert (row["kind"], row["outcome"], row["calls"]) == ("run", "complete", len(sent))
    assert [call["name"] for call in rows["calls"]] == sent
    paths = {path["path"]: path for path in rows["paths"]}
    for name in sent:
        assert paths[f"{name}.result"]["opened"] >= paths[name]["done"]
    assert not any(path.startswith("steps") for path in paths)
