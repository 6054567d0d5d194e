"""What the page is told of a moment: bounded, and true."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from jsontide.recordings import Piece, Recording, RunNote
from jsontide.studio._history import MAX_ROWS, WINDOW
from jsontide.studio._sessions import ReadOptions, Session, fill
from jsontide.studio._views import count_marks, view_chunks, view_moment, view_node, view_schema
from tests.cuts import sized
from tests.recordings.test_runs import AGENT

EVENTS = [json.loads(line) for line in Path("examples/chat/recording.ndjson").read_text("utf-8").splitlines()]


def make_session(
    *pieces: bytes | str | dict[str, Any], options: ReadOptions | None = None, step: float = 0.5
) -> Session:
    session = Session("id", "a stream", "live", options or ReadOptions())
    for number, piece in enumerate(pieces, 1):
        session.add(Piece(step * number, piece.encode() if isinstance(piece, str) else piece))
    session.finish(at=step * len(pieces))
    return session


def make_trip() -> Session:
    session = Session("id", "a trip", "live", ReadOptions())
    for line in EVENTS:
        if "event" in line:
            session.add(Piece(max(line["at"], session.times[-1]), line["event"]))
    session.finish()
    return session


def rows_of(view: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(row["depth"], row.get("key"), row.get("text", row.get("count"))) for row in view["rows"]]


class TestTree:
    def test_has_a_row_for_every_value_with_what_is_new_and_what_is_open(self) -> None:
        view = view_moment(make_session('{"city": "Kyo', 'to", "stops": [1, tr', "ue]}"), 2)
        assert rows_of(view) == [(0, 0, 2), (1, "city", "Kyoto"), (1, "stops", 1), (2, 0, "1")]
        root, city, stops, one = view["rows"]
        assert (root["open"], city["open"], stops["open"], one["open"]) == (True, False, True, False)
        assert (city["fresh"], city["done"], one["fresh"], root["fresh"]) == (2, True, 1, 0)
        assert view["touched"] == ["stops"]

    def test_before_the_first_piece_there_is_nothing(self) -> None:
        view = view_moment(make_session("[1]"), 0)
        assert (view["rows"], view["values"], view["kind"], view["touched"], view["events"]) == (
            [],
            0,
            "unknown",
            None,
            [],
        )

    def test_of_many_items_a_window_is_shown_and_the_reader_can_move_it(self) -> None:
        session = make_session(json.dumps([{"id": number} for number in range(1000)])[:-1], ', {"id": 1000')
        rows = view_moment(session, 2)["rows"]
        assert len(rows) <= MAX_ROWS + 2
        assert rows[0]["before"] == 1001 - WINDOW
        shown = [row["key"] for row in rows if row["depth"] == 1]
        assert shown == [*range(1001 - WINDOW, 1001)]
        rows = view_moment(session, 2, unfolded={(): 20})["rows"]
        assert [row.get("key") for row in rows if row["depth"] == 1] == [*range(20, 20 + WINDOW), None]
        assert rows[-1] == {"depth": 1, "kind": "more", "from": 20 + WINDOW, "count": 1001 - 20 - WINDOW}

    def test_what_the_reader_closed_is_closed(self) -> None:
        rows = view_moment(make_session('{"a": [1], "b": {"c": 2}}'), 1, unfolded={("a",): None})["rows"]
        assert [(row["key"], row.get("shown")) for row in rows] == [(0, True), ("a", False), ("b", True), ("c", None)]

    def test_far_inside_only_the_levels_around_the_change_are_shown(self) -> None:
        view = view_moment(make_session("[" * 300, "1"), 1)
        assert len(view["base"]) == 260
        assert [row["depth"] for row in view["rows"]] == [*range(40)]

    def test_of_a_long_string_the_end_is_shown_while_it_grows_and_then_its_beginning(self) -> None:
        session = make_session('["' + "a" * 400, "b" * 400, '"]')
        growing, finished = (view_moment(session, number)["rows"][1] for number in (2, 3))
        assert (growing["text"], growing["length"], growing["cut"]) == ("b" * 240, 800, "start")
        assert (finished["text"], finished["cut"], finished["fresh"]) == ("a" * 240, "end", 0)

    @pytest.mark.parametrize(
        "text", ['{"a\\ud800": "\\udc00"}', '{"__proto__": {"": 1e999}}', "[-0, 1E400, 12345678901234567890123]"]
    )
    def test_odd_values_can_be_told(self, text: str) -> None:
        assert json.loads(json.dumps(view_moment(make_session(text), 1)))["rows"]


class TestRaw:
    def test_tells_each_piece_with_its_number_around_the_caret(self) -> None:
        raw = view_moment(make_session("[1,", " 2", "]"), 2)["raw"]
        assert raw == {"start": 0, "caret": 5, "total": 6, "pieces": [(1, "[1,"), (2, " 2"), (3, "]")]}

    def test_a_character_in_two_pieces_belongs_to_the_second(self) -> None:
        euro = "€".encode()
        raw = view_moment(make_session(b'"' + euro[:1], euro[1:] + b'"'), 1)["raw"]
        assert raw["pieces"] == [(1, '"'), (2, '€"')]

    def test_what_is_not_utf8_is_shown_as_such(self) -> None:
        assert view_moment(make_session(b'"\xff"'), 1)["raw"]["pieces"] == [(1, '"\ufffd"')]

    def test_is_bounded_and_begins_at_a_whole_character(self) -> None:
        session = make_session("[" + "€" * 20_000, *["x"] * 5000)
        for number in (1, 3000):
            raw = view_moment(session, number)["raw"]
            text = "".join(text for _, text in raw["pieces"])
            assert len(text) < 4000
            assert "\ufffd" not in text
            assert all(later == earlier + 1 for (earlier, _), (later, _) in pairwise(raw["pieces"]))

    def test_an_event_is_a_line_of_json(self) -> None:
        assert view_moment(make_session({"type": "ping"}), 1)["raw"]["pieces"] == [(1, '{"type":"ping"}\n')]


class TestEvents:
    def test_of_json_are_its_changes_up_to_this_moment(self) -> None:
        events = view_moment(make_session('{"a": "x', 'y"', "}"), 2)["events"]
        assert [(event["n"], event["what"], event["path"], event["text"]) for event in events] == [
            (1, "set", "root", '{"a":"x"}'),
            (2, "append", "root.a", "y"),
            (2, "finish", "root.a", ""),
        ]

    def test_far_into_a_stream_are_the_last_ones(self) -> None:
        session = make_session("[", *["1, "] * 1000)
        for number in (1, 127, 128, 129, 700, 1001):
            events = view_moment(session, number)["events"]
            assert events[-1]["n"] == number
            assert len(events) == min(40, number)

    def test_of_a_message_are_its_changes(self) -> None:
        session = make_trip()
        events = view_moment(session, 180)["events"]
        assert {event["what"] for event in events} == {"set", "append", "finish"}
        assert events[-1]["path"].startswith("root.parts")
        assert all(earlier["n"] <= later["n"] for earlier, later in pairwise(events))

    def test_an_error_is_told(self) -> None:
        session = make_session("[1, x")
        view = view_moment(session, 1)
        assert [event["text"] for event in view["events"]] == ["[1]"]
        assert view["error"].startswith("expected")


class TestMessage:
    def test_is_told_with_its_parts(self) -> None:
        session = make_trip()
        message = view_moment(session, session.count)["message"]
        assert [part["type"] for part in message["parts"]] == ["reasoning", "text", "call", "call", "call"]
        assert message["parts"][2]["name"] == "hold_train"
        assert message["parts"][2]["status"] == message["outcome"] == "complete"
        assert json.loads(message["parts"][2]["partial"])["seats"] == 2
        assert message["usage"]["output tokens"] == 1007

    def test_in_the_middle_has_open_parts(self) -> None:
        parts = view_moment(make_trip(), 60)["message"]["parts"]
        assert [part["open"] for part in parts] == [False] * (len(parts) - 1) + [True]

    def test_other_streams_have_none(self) -> None:
        assert view_moment(make_session("[1]"), 1)["message"] is None

    def test_refusals_sources_and_errors_can_be_told(self) -> None:
        citation = {"type": "web_search_result_location", "url": "https://example.com", "title": "A page"}
        session = make_session(
            {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": {}}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "unheard_of", "x": citation}},
            {"type": "error", "error": {"type": "overloaded_error", "message": "too much"}},
        )
        message = view_moment(session, session.count)["message"]
        assert message["parts"][0]["type"] == "other"
        assert message["errors"]


class TestComparing:
    def test_marks_what_is_the_same_object_and_what_is_new(self) -> None:
        session = make_session('{"old": ["a"], "open": ["b"', ', "c"', "]}")
        view = view_moment(session, 2, compared=1)
        assert [(row["key"], row["mark"]) for row in view["rows"]] == [
            *((0, "changed"), ("old", "same"), (0, "same"), ("open", "changed"), (0, "same"), (1, "new"))
        ]
        assert view["compare"] == {"n": 1, "at": 0.5, "same": 2, "changed": 2, "new": 1}

    def test_works_backwards_too(self) -> None:
        session = make_session('{"old": ["a"], "open": ["b"', ', "c"', "]}")
        assert view_moment(session, 1, compared=2)["compare"]["changed"] == 2

    def test_of_a_message_what_is_finished_is_the_same_object(self) -> None:
        session = make_trip()
        view = view_moment(session, 192, compared=164)
        marks = {(row["depth"], row["key"]): row["mark"] for row in view["rows"]}
        assert (marks[1, "usage"], marks[1, "parts"], marks[2, 4]) == ("same", "changed", "changed")

    def test_the_same_moment_is_the_same_object(self) -> None:
        session = make_session('{"a": [1, 2', "]}")
        assert view_moment(session, 1, compared=1)["compare"] | {"at": 0} == {
            "n": 1,
            "at": 0,
            "same": 1,
            "changed": 0,
            "new": 0,
        }

    def test_values_of_other_kinds_are_compared(self) -> None:
        assert count_marks([1], {"a": 1}) == {"same": 0, "changed": 1, "new": 1}
        assert count_marks({"a": 1}, [1, 2]) == {"same": 0, "changed": 1, "new": 2}


class TestNode:
    def test_tells_when_each_part_arrived_and_where_it_was_silent(self) -> None:
        session = Session("id", "s", "live", ReadOptions())
        for at, text in [(0.1, '{"a": "x'), (0.2, "y"), (1.2, "z"), (1.3, '"}')]:
            session.add(Piece(at, text.encode()))
        node = view_node(session, 2, ("a",))
        assert node is not None
        assert (node["name"], node["kind"], node["text"], node["total"]) == ("root.a", "string", "xy", 3)
        assert node["born"] == {"n": 1, "at": 0.1}
        assert node["finished"] == {"n": 4, "at": 1.3}
        assert [(part["n"], part["text"]) for part in node["parts"]] == [(1, "x"), (2, "y"), (3, "z")]
        assert node["silence"] == {"seconds": 1.0, "from": 2, "to": 3}

    def test_of_a_container_tells_when_its_members_arrived(self) -> None:
        node = view_node(make_session('{"a": [1,', "2]", "}"), 3, ("a",))
        assert node is not None
        assert [(part["n"], part["text"]) for part in node["parts"]] == [(1, "[0]: number"), (2, "[1]: number")]
        assert node["count"] == 2

    def test_is_bounded(self) -> None:
        session = make_session('["', *["x"] * 1000)
        node = view_node(session, 500, (0,))
        assert node is not None
        assert len(node["parts"]) == 120
        assert node["parts"][0]["n"] < 500 < node["parts"][-1]["n"]

    def test_there_is_none_at_other_paths(self) -> None:
        assert view_node(make_session("[1]"), 1, ("a",)) is None


class TestChunks:
    @pytest.mark.parametrize("size", [1, 3, 7])
    def test_join_to_the_value(self, size: int) -> None:
        text = '{"city": "Kyoto", "stops": ["a", {"b": [true, null]}]}'
        session = make_session(*sized(text[:20], size))
        view = view_chunks(session, session.count)
        joined = "".join(chunk["text"] for chunk in view["chunks"])
        assert joined.startswith('{"city":"Kyo')

    def test_begin_later_in_a_long_stream(self) -> None:
        session = make_session('{"a": "', *["x"] * 100)
        view = view_chunks(session, 60)
        assert view["from"] == 36
        assert [chunk["text"] for chunk in view["chunks"]] == ["x"] * 24

    def test_nothing_is_written_before_there_is_a_value(self) -> None:
        assert view_chunks(make_session("  ", "[1]"), 1)["chunks"][-1]["text"] == ""

    def test_a_conflict_is_told(self) -> None:
        session = make_session('{"a": "x", "b": 1', ', "a": "y"', "}")
        assert "conflict" in view_chunks(session, 2)["chunks"][-1]


SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}


class TestSchema:
    def test_shows_status_value_and_mismatches(self) -> None:
        session = make_session('{"s": "a', '", "n": 1', ".5}", options=ReadOptions(schema=SCHEMA))
        first = view_schema(session, 1)
        assert first == {"status": "partial", "value": '{"s":"a"}', "errors": []}
        last = view_schema(session, 3)
        assert last is not None
        assert last["status"] == "mismatch"
        assert "root.n" in last["errors"][0]

    def test_without_one_there_is_nothing(self) -> None:
        assert view_schema(make_session("{}"), 1) is None
        assert view_schema(make_session("plain", options=ReadOptions(schema=SCHEMA)), 1) is None

    def test_of_a_message_the_answer_is_seen_through_it(self) -> None:
        options = ReadOptions(schema=SCHEMA, is_message=True)
        deltas = [{"message": {"content": text}, "done": False} for text in ('{"s": "a', '", "n": 1}')]
        session = make_session(*deltas, {"message": {"content": ""}, "done": True}, options=options)
        assert view_schema(session, 1) == {"status": "partial", "value": '{"s":"a"}', "errors": []}
        last = view_schema(session, session.count)
        assert last is not None
        assert (last["status"], last["value"]) == ("final", '{"s":"a","n":1}')


class TestSession:
    def test_repairs_are_told_if_bad_json_is_mended(self) -> None:
        session = make_session("{'a': 1,", "}", options=ReadOptions(mend=True))
        repairs = view_moment(session, session.count)["repairs"]
        assert [repair["kind"] for repair in repairs] == ["quotes", "quotes", "trailing comma"]
        assert view_moment(session, session.count)["complete"]

    def test_lanes_tell_when_each_path_came(self) -> None:
        lanes = make_session('{"a": "x', 'y", "b"', ": [1", "]}").lanes()
        assert [lane["path"] for lane in lanes] == ["root", "a", "b", "b[0]"]
        assert (lanes[1]["first"]["n"], lanes[1]["done"]["n"], lanes[2]["opened"]["n"]) == (1, 2, 3)

    def test_a_lane_tells_where_it_was_silent_for_long(self) -> None:
        session = Session("id", "s", "live", ReadOptions())
        for at, text in [(0.1, '["a'), (0.2, "b"), (0.3, "c"), (2.3, "d"), (2.4, "e"), (2.5, '", "f'), (2.6, '"]')]:
            session.add(Piece(at, text.encode()))
        silences = [lane.get("silence") for lane in session.lanes()]
        gap = {"from": {"n": 3, "at": 0.3}, "to": {"n": 4, "at": 2.3}}
        assert silences == [gap, gap, None]

    def test_lanes_of_a_message_leave_out_what_it_is_called(self) -> None:
        paths = [lane["path"] for lane in make_trip().lanes()]
        assert "parts[0].text" in paths
        assert not {"id", "model", "usage", "parts[0].type", "parts[2].status"} & {*paths}

    def test_pieces_without_times_are_shown_one_by_one_and_kept_as_they_came(self) -> None:
        session = Session("id", "s", "loading", ReadOptions())
        session.is_timed = False
        for text in ("[1", ", 2", "]"):
            session.add(Piece(0.0, text.encode()))
        session.finish(at=0.0)
        assert [*session.times][:3] == [0.0, 0.02, 0.04]
        assert session.find(0.03) == 1
        assert [piece.at for piece in session.to_recording().pieces] == [0.0, 0.0, 0.0]
        assert session.to_recording().duration == 0

    def test_the_pulse_counts_all_bytes(self) -> None:
        session = make_session("[1, ", "2, ", "3]")
        assert sum(session.pulse()) == len("[1, 2, 3]")

    def test_nothing_follows_the_end(self) -> None:
        session = make_session("[1]")
        count = session.count
        session.finish()
        assert session.count == count

    def test_a_piece_that_cannot_be_read_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Session, "add", lambda session, piece: session.pieces.append(piece) or 1 / 0)
        session = Session("id", "s", "loading", ReadOptions())
        with pytest.raises(ZeroDivisionError):
            fill(session, Recording((Piece(0.0, b"[1]"),)))
        assert session.state == "broken"
        assert str(session.problem).startswith("piece 1 cannot be read")

    def test_as_a_recording_it_is_the_same_again(self) -> None:
        session = make_session("[1", "]")
        again = Recording.loads(session.to_recording().dumps())
        assert [piece.data for piece in again.pieces] == [b"[1", b"]"]
        assert again.end == "over"


class TestRuns:
    RECORDING = Recording.load("examples/run.ndjson")

    @pytest.fixture
    def played(self) -> Session:
        session = Session("id", "a run", "loading", ReadOptions())
        fill(session, self.RECORDING)
        return session

    def test_are_told_step_by_step_with_what_became_of_each_call(self, played: Session) -> None:
        view = view_moment(played, played.count)
        run = view["run"]
        assert (view["kind"], view["message"], run["outcome"], run["hidden"]) == ("run", None, "complete", 0)
        assert [step["message"]["outcome"] for step in run["steps"]] == ["complete"] * 3
        told = [(one["name"], one["status"], one["tone"]) for step in run["steps"] for one in step["results"]]
        assert told == [
            ("get_weather", "done", "good"),
            ("find_train", "error", "bad"),
            ("find_rooms", "done", "good"),
            ("book_room", "done", "good"),
            ("find_route", "done", "good"),
        ]
        assert run["steps"][0]["results"][1]["text"].startswith("TimeoutError: the timetable")

    def test_show_at_each_moment_what_runs_and_what_waits(self, played: Session) -> None:
        seen: dict[str, list[str]] = {}
        for number in range(played.count + 1):
            run = view_moment(played, number)["run"]
            for step in run["steps"] if run else []:
                for one in step["results"]:
                    known = seen.setdefault(one["name"], [])
                    known += [one["status"]] if known[-1:] != [one["status"]] else []
        assert seen["book_room"] == ["queued", "waiting", "running", "done"]
        assert seen["find_rooms"] == ["queued", "running", "done"]

    def test_have_a_lane_for_each_message_and_each_tool(self, played: Session) -> None:
        tools = [["get_weather", "find_train", "find_rooms"], ["book_room", "find_route"], []]
        wanted = [name for names in tools for name in ("message", *names)]
        assert [lane["name"] for lane in played.lanes()] == wanted

    def test_keep_their_finished_steps_as_the_same_objects(self, played: Session) -> None:
        view = view_moment(played, played.count - 3, compared=played.count - 10)
        marks = {row["key"]: row["mark"] for row in view["rows"] if row["depth"] == 2 and isinstance(row["key"], int)}
        assert marks == {0: "same", 1: "same", 2: "changed"}

    def test_can_be_saved_as_they_came(self, played: Session) -> None:
        assert played.to_recording().dumps().splitlines()[1:] == self.RECORDING.dumps().splitlines()[1:]

    def test_are_bounded_however_long_they_are(self) -> None:
        session = Session("id", "a long run", "live", ReadOptions())
        calls = [{"function": {"name": f"tool{at}", "arguments": {"q": "w" * 3000}}} for at in range(40)]
        message = {"content": "long " * 2000, "tool_calls": calls}
        for number in range(20):
            session.add(Piece(number, RunNote({"step": "started"})))
            session.add(Piece(number, {"message": message, "done": True, "done_reason": "stop"}))
            session.add(Piece(number, RunNote({"step": "over"})))
            run = session.moments[-1].run
            assert run is not None
            for result in run.results:
                note: dict[str, Any] = {"call": result.call.id, "status": "running"}
                session.add(Piece(number, RunNote({"result": note})))
                session.add(Piece(number, RunNote({"result": {**note, "status": "done", "output": "o" * 5000}})))
        session.finish()
        sizes = [len(json.dumps(view_moment(session, number))) for number in range(0, session.count + 1, 97)]
        assert max(sizes) < 100_000
        view = view_moment(session, session.count)
        assert (len(view["run"]["steps"]), view["run"]["hidden"]) == (12, 8)
        assert len(session.lanes()) == 120

    def test_of_an_agent_in_a_stream_are_told_too(self) -> None:
        session = make_session(*AGENT)
        (first, second) = view_moment(session, session.count)["run"]["steps"]
        assert [(one["name"], one["status"], one["steps"]) for one in first["results"]] == [("Task", "done", 1)]
        assert second["message"]["parts"][0]["text"] == "Tea, green."
