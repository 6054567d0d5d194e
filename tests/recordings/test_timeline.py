"""When what came: lanes by path, silences and rates, against times that were written down by hand."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide.recordings import Lane, Piece, Recording, Timeline, follow, measure
from tests.providers.test_one_message import told
from tests.recordings.test_moments import CHAT, MESSAGES
from tests.recordings.test_runs import AGENT

RUN = Path(__file__).parents[2] / "examples/run.ndjson"

TRIP = Recording(
    (
        Piece(1.0, b'{"city": "'),
        Piece(2.0, b"Kyo"),
        Piece(5.0, b'to", "days": [{"title": "Arr'),
        Piece(6.0, b'ival"}, {"title": "'),
        Piece(6.5, b'Temples"}]'),
        Piece(8.0, b', "n": 12, "ok": true}'),
    ),
    end="over",
    duration=9.0,
)


def lanes_of(recording: Recording, **options: int) -> dict[str, Lane]:
    timeline, told = Timeline(**options), Timeline(**options)
    for moment in follow(recording):
        timeline.add(moment)
        told.add(moment, moment.changes)
    assert told.lanes == timeline.lanes
    assert len({lane.path for lane in timeline.lanes}) == len(timeline.lanes)
    return {lane.path: lane for lane in timeline.lanes}


def test_every_path_has_a_lane_with_its_times() -> None:
    lanes = lanes_of(TRIP)
    assert lanes == {
        "root": Lane("root", opened=1.0, first=1.0, done=8.0, silence=3.0, silence_from=2.0, updates=6, size=25),
        "city": Lane("city", opened=1.0, first=2.0, done=5.0, silence=3.0, silence_from=2.0, updates=3, size=5),
        "days": Lane("days", opened=5.0, first=5.0, done=6.5, silence=1.0, silence_from=5.0, updates=3, size=14),
        "days[0]": Lane("days[0]", opened=5.0, first=5.0, done=6.0, silence=1.0, silence_from=5.0, updates=2, size=7),
        "days[0].title": Lane(
            "days[0].title", opened=5.0, first=5.0, done=6.0, silence=1.0, silence_from=5.0, updates=2, size=7
        ),
        "days[1]": Lane("days[1]", opened=6.0, first=6.0, done=6.5, silence=0.5, silence_from=6.0, updates=2, size=7),
        "days[1].title": Lane(
            "days[1].title", opened=6.0, first=6.5, done=6.5, silence=0.5, silence_from=6.0, updates=2, size=7
        ),
        "n": Lane("n", opened=8.0, first=8.0, done=8.0, silence=0.0, silence_from=8.0, updates=1, size=2),
        "ok": Lane("ok", opened=8.0, first=8.0, done=8.0, silence=0.0, silence_from=8.0, updates=1, size=4),
    }


def test_a_recording_in_numbers() -> None:
    found = measure(TRIP)
    assert (found.kind, found.outcome.value, found.pieces, found.bytes) == ("json", "complete", 6, len(TRIP.encode()))
    assert (found.arrived, found.first, found.last, found.duration) == (1.0, 1.0, 8.0, 9.0)
    assert (found.silence, found.silence_from) == (3.0, 2.0)
    assert (found.characters, found.characters_per_second) == (25, 25 / 7)
    plain = found.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert [lane["share"] for lane in plain["lanes"] if lane["path"] == "city"] == [5 / 25]  # type: ignore[union-attr, call-overload, index]


def test_of_a_message_the_first_value_is_the_first_thing_that_it_says() -> None:
    start: dict[str, object] = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}], "model": "m"}
    usage: dict[str, object] = {
        "choices": [],
        "usage": {"prompt_tokens": 1, "completion_tokens": 12, "total_tokens": 13},
    }
    pieces = [Piece(float(at), event) for at, event in enumerate([start, *CHAT, usage], 1)]
    found = measure(Recording(tuple(pieces), end="over"))
    assert (found.kind, found.arrived, found.first, found.last) == ("message", 1.0, 2.0, 3.0)
    assert (found.model, found.output_tokens, found.tokens_per_second) == ("m", 12, 12.0)


@pytest.mark.parametrize("data", [b"", b"   ", *MESSAGES.values()])
def test_anything_can_be_measured(data: bytes) -> None:
    found = measure(Recording.of_bytes(data))
    assert found.characters_per_second is None  # all came at once
    assert json.dumps(found.to_dict())


def test_names_and_counts_of_a_message_are_not_its_content() -> None:
    message, document = measure(Recording.of_events(CHAT)), measure(Recording.of_bytes(b'{"status": "x", "id": 1}'))
    paths = {lane.path for lane in message.content_lanes}
    assert {"root", "parts", "parts[0]", "parts[0].text"} <= paths
    assert not {"role", "status", "model", "parts[0].type"} & paths
    assert document.content_lanes == document.lanes
    timeline = Timeline()
    for moment in follow(Recording.of_events(CHAT)):
        timeline.add(moment)
    assert timeline.content_lanes == message.content_lanes


def test_many_items_share_a_lane() -> None:
    rows = [{"id": number, "text": "abc"} for number in range(100)]
    recording = Recording.of_bytes(json.dumps(rows).encode()).recut(7)
    lanes = lanes_of(recording, max_items=2)
    assert set(lanes) == {
        *("root", "[0]", "[0].id", "[0].text", "[1]", "[1].id", "[1].text", "[*]", "[*].id", "[*].text")
    }
    assert lanes["[*].text"].size == 98 * 3
    assert lanes["root"].size == sum(len(str(row["id"])) + 3 for row in rows)
    assert all(lane.done is not None for lane in lanes.values())


def test_many_members_share_a_lane() -> None:
    recording = Recording.of_bytes(json.dumps({f"key {number}": "x" for number in range(100)}).encode())
    lanes = lanes_of(recording, max_members=3)
    assert set(lanes) == {"root", '["key 0"]', '["key 1"]', '["key 2"]', "*"}
    assert lanes["*"].size == 97


def deep(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": [value]}
    return value


@given(st.integers(1, 9), st.integers(1, 30))
def test_the_number_of_lanes_is_bounded_and_nothing_is_lost(most: int, size: int) -> None:
    data = json.dumps([deep(20), {"b": deep(3)}, "end"]).encode()
    lanes = lanes_of(Recording.of_bytes(data).recut(size), max_lanes=most)
    assert len(lanes) == most
    assert lanes["root"].size == len("xxend")


def test_a_lane_around_others_without_lanes_stays_open_until_it_closes() -> None:
    recording = Recording((Piece(1, b'[{"a": "x"}'), Piece(2, b', {"b": "y"}'), Piece(3, b"]")))
    assert [lane.done for lane in lanes_of(recording, max_lanes=1).values()] == [3]


def test_what_breaks_off_is_not_done() -> None:
    lanes = lanes_of(Recording((Piece(1, b'{"a": "x", "b": "y'),)))
    assert [(lane.path, lane.done) for lane in lanes.values()] == [("root", None), ("a", 1), ("b", None)]


def test_lanes_are_those_of_what_the_stream_turned_out_to_be() -> None:
    lanes = lanes_of(Recording.of_bytes(MESSAGES["ndjson"]).recut(9))
    assert "choices" not in lanes
    assert lanes["parts[0].text"].size == len("Zoë 𝄞 says hi")


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="max_lanes must be at least 1"):
        Timeline(max_lanes=0)


class TestARun:
    def test_has_a_lane_for_each_message_and_each_call(self) -> None:
        found = measure(Recording.load(RUN))
        shown = {lane.path: (lane.name, lane.opened, lane.done) for lane in found.content_lanes}
        assert list(shown) == [
            "steps[0].message",
            *[f"steps[0].results[{at}]" for at in range(3)],
            "steps[1].message",
            *[f"steps[1].results[{at}]" for at in range(2)],
            "steps[2].message",
        ]
        times = {str(name): (opened, done) for name, opened, done in shown.values() if name != "message"}
        # By hand, from docs/gen_run.py: what each tool takes after the end of its message.
        took = {name: round(done - opened, 2) for name, (opened, done) in times.items() if done is not None}
        assert took == {
            "get_weather": 0.43,
            "find_train": 0.71,
            "find_rooms": 1.18,
            "book_room": 2.85,
            "find_route": 0.4,
        }
        opened, done = shown["steps[1].message"][1:]
        assert done is not None
        assert round(opened, 2) == round(times["find_rooms"][1] or 0, 2)  # it begins with its request
        assert (found.output_tokens, found.model) == (180, "claude-sonnet-4-5")

    def test_that_began_as_a_message_keeps_its_times(self) -> None:
        one, two = told("anthropic", "one"), told("anthropic", "two")
        pieces = [Piece(float(at), event) for at, event in enumerate([*one, *two])]
        found = measure(Recording(tuple(pieces), end="over"))
        alone = {lane.path: lane for lane in measure(Recording(tuple(pieces[: len(one)]), end="over")).lanes}
        lanes = {lane.path.removeprefix("steps[0].message."): lane for lane in found.lanes}
        assert (found.kind, lanes["steps[1].message"].opened) == ("run", float(len(one)))
        assert lanes["steps[0].message"].opened == alone["root"].opened
        for path in ("parts", "parts[0]", "parts[0].text"):
            assert (lanes[path].opened, lanes[path].first) == (alone[path].opened, alone[path].first)
        assert lanes["parts[0].text"].size == alone["parts[0].text"].size

    def test_inside_a_tool_has_lanes_too(self) -> None:
        names = {lane.path: lane.name for lane in measure(Recording.of_events(AGENT)).content_lanes}
        assert names["steps[0].results[0]"] == "Task"
        assert names["steps[0].results[0].run.steps[0].message"] == "message"

    def test_of_many_steps_keeps_a_lane_for_each(self) -> None:
        steps = [event for at in range(60) for event in told("ollama", f"m{at}")]
        found = measure(Recording.of_events(steps))
        assert sum(lane.name == "message" for lane in found.lanes) == 60
