"""The benchmark without its clock: documents, audit, estimates, checks and tables."""

import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import jsontide
from benchmarks import audit, builds, coroutines, event_audit, increments, ours, rewriters, schemas, snapshot_audit
from benchmarks.__main__ import chosen, peers_of
from benchmarks.cells import cost_cell
from benchmarks.checks import Check, Figure, Run, checks
from benchmarks.documents import CUTS, DEPTH, SHAPES, SIZES, document
from benchmarks.histories import LONGEST, Window, grown, history, reordered, window_starts
from benchmarks.increments import COUNTS, WHOLE, Increment
from benchmarks.measure import Case, Extent, Results, foreseen, measured
from benchmarks.peers import IJSON_C, IJSON_PYTHON, JITER, LOADS, PEERS, bytes_again, text_again
from benchmarks.report import Circumstances, page, report
from benchmarks.schemas import AGAIN, INSTRUCTOR, PARTIAL_VALIDATION
from benchmarks.sinks import PatchSink, TextSink
from benchmarks.snapshot_tables import increment_rows
from benchmarks.tables import Table, for_terminal, markdown
from benchmarks.timing import Cost, Course, course, spread, window_course
from benchmarks.works import WORKS, Chunker, Chunking, Feed, Sort, Telling, Told, Works


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("cut", CUTS)
def test_documents_are_valid_near_their_size_and_always_the_same(shape: str, cut: str) -> None:
    made = document(shape, 10_000, cut)
    assert made == document(shape, 10_000, cut)
    assert json.loads(made.text)
    assert abs(len(made.text) - 10_000) < 500
    assert "".join(made.chunks) == made.text
    least, most = CUTS[cut]
    assert all(least <= len(chunk) <= most for chunk in made.chunks[:-1])


def test_records_hold_escapes_surrogate_pairs_and_text_outside_of_ascii() -> None:
    text = document("records", 10_000, "tokens").text
    assert all(part in text for part in ("\\n", "\\u", "\\ud83", "é"))


def test_the_deep_document_is_as_deep_as_it_says() -> None:
    text = document("deep", 1_000, "tokens").text
    assert max(text[:at].count("[") + text[:at].count("{") for at in range(len(text))) == DEPTH


def test_the_flat_object_has_5000_keys_at_100_kb() -> None:
    assert len(json.loads(document("flat", 100_000, "tokens").text)) == pytest.approx(5_000, rel=0.2)


def shown_by(feed: Feed, chunks: list[str]) -> audit.Finding:
    return audit.compared(feed, audit.moments(chunks))


CHUNKS = ['{"a": 1', '2, "b": "x', "y", 'z"', "}"]


def own_works() -> Works:
    return ours.works(builds.imported_from(builds.SOURCE.parent, "jsontide"))


def test_the_audit_finds_nothing_wrong_with_jsontide() -> None:
    found = audit.audited(own_works(), [audit.moments(CHUNKS)])
    assert found is not None
    assert (found.right, found.strings, found.raised, found.is_final_right) == (len(CHUNKS), 1, 0, True)
    assert not any(found.flicker.values())


def scripted(*values: object) -> Feed:
    """A feed that shows what it was told to, whatever the text is."""
    rest = iter(values)
    return lambda _: next(rest)


END = {"a": 12, "b": "xyz"}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (({"a": 1}, {"a": 12, "b": "x"}, {"a": 12, "b": "xy"}, END, END), audit.RENUMBERED),
        (({}, {"a": 12, "b": "x"}, {"a": 12}, END, END), audit.LOST),
        (({}, {"a": 12, "b": "x"}, {"a": 12, "b": "qy"}, {"a": 12, "b": "qyz"}, END), audit.REWRITTEN),
        (({}, {"a": 12, "b": None}, {"a": 12, "b": "xy"}, END, END), audit.RETYPED),
    ],
)
def test_the_audit_names_what_was_taken_back(values: tuple[object, ...], kind: str) -> None:
    found = shown_by(scripted(*values), CHUNKS)
    assert found.flicker[kind]
    assert found.right < len(CHUNKS)
    assert found.is_final_right


def test_the_audit_sees_a_string_that_stops_at_its_first_fragment() -> None:
    first = {"a": 12, "b": "x"}
    found = shown_by(scripted({}, first, first, END, END), CHUNKS)
    assert (found.growing, found.growing_right) == (2, 1)
    assert not found.shows_strings


def test_the_audit_tells_one_from_one_point_zero_at_the_end() -> None:
    assert not shown_by(scripted({}, END, END, END, {"a": 12.0, "b": "xyz"}), CHUNKS).is_final_right


def test_the_audit_counts_what_a_side_raises() -> None:
    def feed(_: str) -> object:
        raise ValueError

    assert shown_by(feed, CHUNKS).raised == len(CHUNKS)


def heard_from(telling: Telling[Any] | None, chunks: Sequence[str] = CHUNKS) -> event_audit.Hearing:
    assert telling is not None
    return event_audit.hearing(telling, [audit.moments(chunks)])


def test_the_audit_of_events_finds_nothing_wrong_with_jsontide() -> None:
    found = heard_from(own_works().events)
    assert (found.chunks, found.growing, found.strings) == (len(CHUNKS), 2, 1)
    assert found.are_values_right
    assert found.tells_end
    assert found.tells_elements_apart
    assert found.tells_dots_apart


@pytest.mark.parametrize("backend", ["yajl2_c", "python"])
def test_the_audit_of_events_names_what_ijson_does_not_tell(backend: str) -> None:
    module = pytest.importorskip(f"ijson.backends.{backend}", exc_type=ImportError)
    found = heard_from(coroutines.triples(module))
    assert found.events == 6  # two brackets, two keys, two values
    assert found.are_values_right
    assert not found.strings
    assert not found.tells_end
    assert not found.tells_elements_apart
    assert not found.tells_dots_apart


def scripted_telling(*told: Sequence[Told]) -> Telling[Told]:
    """It tells what it was told to, chunk by chunk, whatever the text is."""

    def start() -> Callable[[str], Sequence[Told]]:
        rest = iter(told)
        return lambda _: next(rest)

    return Telling(start=start, start_looking=start, told=lambda event: event)


NUMBER = Told(Sort.VALUE, "a", 12)
STRING = Told(Sort.VALUE, "b", "xyz")
BRACKET = Told(Sort.OTHER, "", None)
PIECES = [Told(Sort.PIECE, "b", text) for text in "xyz"]


@pytest.mark.parametrize(
    ("pieces", "strings"), [(PIECES, 1), ([PIECES[0], PIECES[0], PIECES[2]], 1 / 2), ([BRACKET] * 3, 0)]
)
def test_pieces_of_a_string_count_when_they_join_to_what_has_come(pieces: Sequence[Told], strings: float) -> None:
    x, y, z = pieces
    found = heard_from(scripted_telling([BRACKET], [NUMBER, BRACKET, x], [y], [z, STRING], [BRACKET]))
    assert found.strings == strings
    assert found.are_values_right


@pytest.mark.parametrize("number", [Told(Sort.VALUE, "a", 12.0), Told(Sort.VALUE, "a", 1), BRACKET])
def test_a_value_that_is_told_wrong_or_not_at_all_is_noticed(number: Told) -> None:
    telling = scripted_telling([BRACKET], [number], [], [STRING], [Told(Sort.END, "", None)])
    found = heard_from(telling)
    assert not found.are_values_right
    assert found.tells_end


def test_every_event_of_a_chunk_is_returned_by_what_is_measured() -> None:
    telling = own_works().events
    assert telling is not None
    for start in (telling.start, telling.start_looking):
        feed = start()
        assert [[str(event.kind) for event in feed(chunk)] for chunk in ("[1", "", "]")] == [
            ["StartArray"],
            [],
            ["CompleteNumber", "EndArray", "JsonComplete"],
        ]


@pytest.mark.parametrize("backend", ["yajl2_c", "python"])
def test_ijson_tells_the_same_whether_anybody_looks_or_not(backend: str) -> None:
    module = pytest.importorskip(f"ijson.backends.{backend}", exc_type=ImportError)
    telling = coroutines.triples(module)
    chunks = ('{"groß": [', "1", "]}")
    assert [list(events) for events in map(telling.start(), chunks)] == [
        list(events) for events in map(telling.start_looking(), chunks)
    ]


def test_a_side_without_events_is_not_measured_for_them() -> None:
    text = document("records", 1_000, "tokens")
    assert course(WORKS["events"], Works(whole=len), text) is None
    found = course(WORKS["events"], own_works(), text)
    assert found is not None
    assert found.chunks == len(text.chunks)


def test_only_the_chosen_works_are_measured() -> None:
    extent = Extent(("list",), (1_000,), ("lines",), 1, ("events",))
    results = measured({"ours": own_works()}, extent, lambda _: None)
    assert list(results.costs) == [Case("list", 1_000, "lines", "events", "ours")]


def test_a_kind_of_work_is_chosen_by_its_name_and_leaves_all_peers() -> None:
    assert chosen(["events", "ijson"], tuple(WORKS)) == ("events",)
    assert peers_of(["events"]) == list(PEERS)
    assert [side.name for side in peers_of(["events", "ijson"])] == [IJSON_C, IJSON_PYTHON]


@pytest.mark.parametrize("again", [bytes_again, text_again])
def test_a_reparse_that_starts_late_sees_all_text(again: Callable[[Callable[[object], object], str], Feed]) -> None:
    feed = again(lambda text: text, "one ")
    feed("two ")
    assert feed("drei ß") in {"one two drei ß", "one two drei ß".encode()}


@pytest.mark.parametrize(("most", "places"), [(0, [50]), (2, [50]), (3, [25, 50, 75]), (6, [25, 50, 75])])
def test_places_are_spread_evenly_around_the_middle(most: int, places: list[int]) -> None:
    assert spread(100, most) == places


def test_a_stream_that_was_cut_off_is_continued_by_a_straight_line() -> None:
    course = Course(100, [10] * 10, [(at + 0.5) / 10 for at in range(10)], lambda _: [], 1.0)
    course.best = [10 * (1 + at) for at in range(4)]  # a chunk costs 1, 2, 3, 4 ... in the stretches
    cost = course.cost()
    assert cost.seconds == pytest.approx(5.5)
    assert cost.is_extrapolated
    course.best = [10 * (1 + at) for at in range(10)]
    assert course.cost() == Cost(5.5, 100, 100)


def test_rounds_keep_the_least_of_each_stretch() -> None:
    rounds = iter([[3.0, 1.0], [2.0, 2.0]] * 20)
    course = Course(2, [1, 1], [0.25, 0.75], lambda _: next(rounds), 1.0)
    course.round()
    assert course.best == [2.0, 1.0]


def test_what_took_too_long_is_not_tried_again_but_grows_on() -> None:
    results = Results()
    for size, seconds in ((1_000, 0.004), (10_000, 0.4)):
        results.costs[Case("records", size, "tokens", "dropped", "slow")] = Cost(seconds, 1, 1)
    far = foreseen(Case("records", 100_000, "tokens", "dropped", "slow"), results, 5)
    assert far is not None
    assert far.seconds == pytest.approx(40)
    assert (far.chunks, far.measured) == (5, 0)
    assert foreseen(Case("records", 10_000, "tokens", "dropped", "slow"), results, 5) is None


@pytest.mark.parametrize(
    ("dropped", "held", "reached"),
    [(5, 5, "yes"), (5, 4, "only when dropped"), (4, 5, "only when held"), (4, 4, "no"), (None, 5, "not measured")],
)
def test_a_demand_is_reached_in_both_ways_or_says_in_which(dropped: int | None, held: int, reached: str) -> None:
    assert Check("", 5.0, None, Figure(dropped) if dropped else None, Figure(held)).reached == reached


def test_checks_come_from_the_results_and_what_has_none_says_so() -> None:
    results = Results()
    for work, side, seconds in (("dropped", ours.COMPILED, 1), ("held", ours.COMPILED, 2), ("dropped", JITER, 5)):
        results.costs[Case("records", 1_000, "tokens", work, side)] = Cost(seconds, 1, 1)
    found = checks(Run(results, {}, {}, (JITER,)))
    assert found[0].dropped == Figure(5.0)
    assert found[0].held == Figure(2.5)
    assert found[0].reached == "only when dropped"
    assert {check.reached for check in found[1:]} == {"not measured"}


def events_of(side: str, *costs: float, work: str = "events") -> dict[Case, Cost]:
    return {
        Case("records", size, "tokens", work, side): Cost(cost, 1, 1) for size, cost in zip(SIZES, costs, strict=False)
    }


def event_checks(costs: dict[Case, Cost]) -> dict[str, Check]:
    found = checks(Run(Results(costs), {}, {}, ()))
    return {check.demand.removeprefix("events, "): check for check in found if check.demand.startswith("events, ")}


def test_events_are_checked_against_the_back_end_of_the_same_kind() -> None:
    costs = events_of(ours.COMPILED, 1) | events_of(IJSON_C, 1.5) | events_of(ours.PURE, 2) | events_of(IJSON_PYTHON, 4)
    found = event_checks(costs)
    compiled = found[f"compiled against {IJSON_C}, records, 1 KB"]
    pure = found[f"pure Python against {IJSON_PYTHON}, records, 1 KB"]
    assert (compiled.dropped, compiled.reached) == (Figure(1.5), "yes")
    assert (pure.dropped, pure.reached) == (Figure(2.0), "no")


def test_the_cost_of_events_is_flat_when_the_greatest_is_near_the_least() -> None:
    found = event_checks(events_of(ours.COMPILED, 1, 2, 1.5, 2.5))
    assert found["compiled, 1 KB to 1 MB, records"].dropped == Figure(2.5)
    assert found["compiled, 10 KB to 1 MB, records"].dropped == Figure(2.5 / 1.5)


def test_events_that_were_not_measured_are_not_taken_from_values() -> None:
    run = Run(Results({Case("records", 1_000, "tokens", "dropped", JITER): Cost(1, 1, 1)}), {}, {}, (JITER,))
    assert run.cost(JITER, Case("records", 1_000, "tokens", "held", "")) == 1
    assert run.cost(JITER, Case("records", 1_000, "tokens", "events", "")) is None


def test_a_cell_of_events_is_compared_with_our_events() -> None:
    values = {Case("records", 1_000, "tokens", "dropped", ours.COMPILED): Cost(1e-6, 1, 1)}
    costs = values | events_of(ours.COMPILED, 2e-6) | events_of(IJSON_C, 3e-6)
    run = Run(Results(costs), {}, {}, ())
    assert cost_cell(run, Case("records", 1_000, "tokens", "events", IJSON_C)) == "3.00 (x1.50)"


def test_the_page_has_a_section_of_events_where_some_were_measured() -> None:
    extent = Extent(("records",), SIZES[:1], ("tokens",), 1)
    circumstances = Circumstances([], {}, "0", "command", extent)
    heard = {ours.COMPILED: heard_from(own_works().events)}
    sides = [ours.COMPILED, IJSON_C]
    looked_at = events_of(ours.COMPILED, 2e-6) | events_of(IJSON_C, 3e-6)
    unseen = events_of(ours.COMPILED, 1e-6, work="told") | events_of(IJSON_C, 2.5e-6, work="told")
    run = Run(Results(looked_at | unseen), {}, {}, (), heard)
    written = page(report(run, extent, sides), circumstances, "picture.svg")
    _, section = written.split("## Events\n")
    assert f"| {IJSON_C} | 3.00 (x1.50) |" in section
    assert f"| {IJSON_C}, nobody looks | 2.50 (x2.50) |" in section
    assert section.index("What each side tells") < section.index("Events of records in an object")
    empty = report(Run(Results(), {}, {}, ()), extent, sides)
    assert not empty.values
    assert "## Events" not in page(empty, circumstances, "picture.svg")


def test_a_cell_shows_the_cost_the_ratio_and_that_it_was_extrapolated() -> None:
    results = Results()
    ours_case, peer = (Case("records", 1_000, "tokens", "dropped", side) for side in (ours.COMPILED, "peer"))
    results.costs = {ours_case: Cost(1e-6, 10, 10), peer: Cost(25e-6, 10, 3)}
    run = Run(results, {}, {}, ("peer",))
    assert cost_cell(run, ours_case) == "1.00 (x1.00)"
    assert cost_cell(run, peer) == "~25.0 (x25)"


TABLE = Table("Title", ["side", "1 KB"], [["a|b", "1.00"]], ["A note."])


def test_a_table_becomes_markdown() -> None:
    assert markdown(TABLE) == "### Title\n\nA note.\n\n| side | 1 KB |\n| --- | ---: |\n| a\\|b | 1.00 |\n"


def test_a_table_becomes_lines_on_a_terminal() -> None:
    out = StringIO()
    Console(file=out, width=60).print(for_terminal(TABLE))
    assert all(text in out.getvalue() for text in ("Title", "1 KB", "a|b", "A note."))


def test_a_copy_of_a_package_leaves_the_imported_one_alone(tmp_path: Path) -> None:
    (tmp_path / "jsontide.py").write_text("COMPILED = False", encoding="utf-8")
    before = sys.modules["jsontide"]
    copy = builds.imported_from(tmp_path, "jsontide")
    assert copy is not before
    assert sys.modules["jsontide"] is before
    with pytest.raises(ImportError, match="pure build"):
        builds.compiled(tmp_path)


def test_a_side_without_a_stream_is_not_audited() -> None:
    assert audit.audited(Works(whole=len), [audit.moments(CHUNKS)]) is None


def objects_in(value: object) -> Iterator[object]:
    """All parts of a value that could be shared and need not be; the shortest strings always are."""
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from objects_in(inner)
    elif isinstance(value, str) and len(value) > 1:
        yield value


def test_short_histories_are_measured_whole_and_in_order() -> None:
    found = history("records", 1_000, "tokens", is_anew=False)
    values = list(jsontide.values(document("records", 1_000, "tokens").chunks))
    assert found.snapshots == len(values)
    assert [value for window in found.windows for value in window.snapshots] == values
    assert [window.before for window in found.windows[1:]] == [window.snapshots[-1:] for window in found.windows[:-1]]


def test_long_histories_are_measured_at_places_around_their_middle() -> None:
    assert window_starts(LONGEST)[:3] == [0, 64, 128]
    starts = window_starts(LONGEST + 1)
    assert len(starts) == 8
    assert sum(start + 32 for start in starts) / 8 == pytest.approx(LONGEST / 2, rel=0.01)


def test_values_built_anew_are_equal_and_share_nothing() -> None:
    shared, other = (history("records", 1_000, "tokens", is_anew=is_anew) for is_anew in (False, True))
    for one, two in zip(shared.windows, other.windows, strict=True):
        assert one.snapshots == two.snapshots
    before, after = other.windows[-1].snapshots[-2:]
    assert not {id(each) for each in objects_in(before)} & {id(each) for each in objects_in(after)}


def test_reordered_values_are_equal_and_their_keys_stand_elsewhere() -> None:
    value = json.loads(document("flat", 1_000, "tokens").text)
    found = reordered(random.Random(0), [{"inner": value}])
    assert found == [{"inner": value}]
    assert json.dumps(found) != json.dumps([{"inner": value}])


def test_from_one_snapshot_to_the_next_one_string_grows_by_a_character() -> None:
    values: Any = grown(5, 4)
    assert [len(value["items"]) for value in values] == [5] * 4
    for before, after in pairwise(values):
        assert before["items"][:-1] == after["items"][:-1]
        assert before["items"][0] is after["items"][0]
        assert after["items"][-1]["note"].startswith(before["items"][-1]["note"])
        assert len(after["items"][-1]["note"]) == len(before["items"][-1]["note"]) + 1
        assert list(after["items"][-1])[-1] == "note"


@pytest.mark.parametrize("same", ["", "a", "abc", "abcd" * 5])
@pytest.mark.parametrize(("one", "other"), [("", ""), ("", "x"), ("x", "y"), ("xab", "yab")])
def test_the_common_prefix_is_found_by_bisection(same: str, one: str, other: str) -> None:
    assert rewriters.common_prefix(same + one, same + other) == len(same)
    assert rewriters.common_prefix((same + other).encode(), (same + one).encode()) == len(same)


HISTORY = [{"a": "x"}, {"a": "x"}, {"a": "xy", "b": 12}, {"a": "xy", "b": 12, "c": ["é", {}]}]


def sent_by(chunking: Chunking | None) -> snapshot_audit.Sending:
    assert chunking is not None
    return snapshot_audit.sending(chunking, [HISTORY] * 9)  # nine times shuffled: some of them must differ


def test_the_audit_of_snapshots_finds_nothing_wrong_with_jsontide() -> None:
    found = sent_by(own_works().chunking)
    assert (found.snapshots, found.at_once, found.length) == (36, 36, 1)
    assert found.is_last_right
    assert found.is_last_right_reordered


def prefix_sides() -> list[Chunking]:
    pytest.importorskip("orjson")
    return [rewriters.json_prefix(), rewriters.orjson_prefix()]


def test_a_common_prefix_is_one_snapshot_behind_and_needs_the_order_of_keys() -> None:
    for chunking in prefix_sides():
        found = sent_by(chunking)
        assert (found.at_once, found.length) == (0, 1)
        assert found.is_last_right
        assert not found.is_last_right_reordered


def test_a_common_prefix_sends_no_bracket_that_moves() -> None:
    chunker = rewriters.json_prefix().start("kept")
    assert [chunker.take(value) for value in HISTORY[:3]] == ["", "", '{"a":"x']
    assert chunker.finish() == 'y","b":12}'
    with pytest.raises(ValueError, match="beginning"):
        chunker.take({"b": 12, "a": "xy"})


def test_patches_are_right_in_any_order_and_send_a_growing_string_again() -> None:
    pytest.importorskip("jsonpatch")
    found = sent_by(rewriters.jsonpatch())
    assert found.at_once == found.snapshots
    assert found.is_last_right
    assert found.is_last_right_reordered
    assert found.length > 1


@pytest.mark.parametrize(
    "chunks", [('{"a":', "1", "}"), ('{"a":', "1.0", "}"), ('{"a":', "1", ""), ("{}", "", ""), ('{"a":', "1", "}}")]
)
def test_chunks_count_when_they_join_to_the_last_snapshot(chunks: tuple[str, str, str]) -> None:
    def start(_: str) -> Chunker:
        rest = iter(chunks)
        return Chunker(lambda _: next(rest), lambda: next(rest))

    found = snapshot_audit.sending(Chunking(start=start, sink=TextSink), [[{}, {"a": 1}]])
    assert found.is_last_right == ("".join(chunks) == '{"a":1}')


def test_a_side_that_raises_has_not_sent_the_last_snapshot() -> None:
    def take(_: object) -> object:
        raise ValueError

    found = snapshot_audit.received(Chunking(start=lambda _: Chunker(take, str), sink=TextSink), HISTORY, "any")
    assert found == snapshot_audit.Receipt(0, 0, is_last_right=False)


def test_a_sink_reads_numbers_at_the_end_and_bytes_that_are_cut_in_a_character() -> None:
    assert TextSink().take("[1, 23") == [1, 23]
    sink = TextSink()
    start, end = b'["' + "é".encode()[:1], "é".encode()[1:] + b"!"
    assert [sink.take(start), sink.take(end)] == [[""], ["é!"]]


def test_a_patch_is_received_as_text_and_changes_no_snapshot() -> None:
    module = pytest.importorskip("jsonpatch")
    sink, value = PatchSink(), {"a": ["x"]}
    sink.take(module.make_patch(None, value))
    sink.take(module.make_patch(value, {"a": ["x", "y"]}))
    assert sink.end() == {"a": ["x", "y"]}
    assert value == {"a": ["x"]}


def test_what_comes_before_a_window_is_fed_first_and_not_counted() -> None:
    fed: list[object] = []
    found = window_course(lambda: fed.append, [Window([1], [2, 3], 0.25), Window([5], [6], 0.75)], 6)
    assert len(found.run(None)) == 2
    assert fed == [1, 2, 3, 5, 6]
    assert (found.chunks, found.weights, found.places) == (6, [2, 1], [0.25, 0.75])


def test_snapshots_are_measured_anew_only_where_that_makes_a_difference() -> None:
    text = document("records", 1_000, "tokens")
    peer = Works(chunking=rewriters.json_prefix())
    assert course(WORKS["snapshots"], Works(whole=len), text) is None
    assert course(WORKS["anew"], peer, text) is None
    for work, works in (("snapshots", peer), ("snapshots", own_works()), ("anew", own_works())):
        found = course(WORKS[work], works, text)
        assert found is not None
        assert found.chunks == sum(found.weights)


def test_only_documents_that_suit_a_work_are_made() -> None:
    extent = Extent((*SHAPES,), SIZES, (*CUTS,), 1, ("snapshots",))
    assert list(extent.documents()) == [
        (shape, size, "tokens") for shape in ("records", "string") for size in SIZES[:3]
    ]


def test_the_step_beyond_parsing_writes_what_the_whole_step_writes() -> None:
    module = own_works().module
    assert module is not None
    found = increments.in_all_forms(3, 4)
    process, feed = module.JsonStreamChunker().process, increments.parsed_feed(module)
    chunks = [process(text) for text in found.texts]
    assert list(map(feed, map(increments.parsing(module), found.texts))) == chunks
    assert list(map(module.JsonStreamChunker().process, found.rewritten)) == chunks
    for values in (found.shared, found.anew):
        process_value = module.JsonStreamChunker().process_value
        chunks = [process_value(value) for value in values]
        assert all(len(chunk) == 1 for chunk in chunks[increments.FIRST :])


def test_one_more_character_is_measured_in_every_way_for_every_count(monkeypatch: pytest.MonkeyPatch) -> None:
    module = own_works().module
    assert module is not None
    monkeypatch.setattr(increments, "COUNTS", (2, 3))
    found = increments.incremented({ours.PURE: module}, 1, lambda _: None)
    assert len(found) == 2 * 7
    assert all(seconds > 0 for seconds in found.values())
    assert increments.incremented({}, 1, lambda _: None) == {}


def test_the_share_of_parsing_stands_below_what_is_shared() -> None:
    found = {
        Increment(records, way, ours.COMPILED): seconds * records
        for records in COUNTS
        for way, seconds in (
            (increments.TEXT, 4e-6),
            (increments.PARSING, 3e-6),
            (increments.BEYOND, 1e-6),
            (increments.REWRITTEN, 9e-6),
            (increments.SHARED, 1e-6),
            (increments.ANEW, 1e-6),
        )
    } | {Increment(records, WHOLE, LOADS): 2e-6 for records in COUNTS}
    rows = list(increment_rows(found))
    assert rows[0] == [f"{ours.COMPILED}, text in", "200", "3,200", "12,800", "x64"]
    assert rows[2] == [f"{ours.COMPILED}, share of parsing", "75%", "75%", "75%", ""]
    assert rows[-1] == ["json.loads of the whole text", "2.00", "2.00", "2.00", "x1.00"]
    assert len(rows) == 8


def test_the_page_has_a_section_of_snapshots_where_some_were_measured() -> None:
    extent = Extent(("records", "deep"), SIZES, ("tokens",), 1)
    costs = {
        Case("records", 1_000, "tokens", work, side): Cost(seconds, 1, 1)
        for work, side, seconds in (
            ("snapshots", ours.COMPILED, 2e-6),
            ("anew", ours.COMPILED, 4e-6),
            ("snapshots", "peer", 3e-6),
        )
    }
    run = Run(Results(costs), {}, {}, (), sendings={"peer": sent_by(rewriters.json_prefix())})
    written = page(report(run, extent, [ours.COMPILED, "peer"]), Circumstances([], {}, "0", "", extent), "picture.svg")
    _, section = written.split("## Snapshots\n")
    assert "| peer | yes | no | no | x1.00 |" in section
    assert f"| {ours.COMPILED}, values built anew | 4.00 (x2.00) |  |  |" in section
    assert "| peer | 3.00 (x1.50) |  |  |" in section
    assert "One character more" not in section


SCHEMA_PEERS = (PARTIAL_VALIDATION, AGAIN, INSTRUCTOR)


def seen_through_schema(works: Works, size: int = 1_000) -> audit.Finding:
    feed = schemas.audited_feed(works)
    assert feed is not None
    return audit.compared(feed, audit.moments(document("records", size, "tokens").chunks))


def test_the_audit_finds_nothing_wrong_with_what_jsontide_shows_through_a_schema() -> None:
    found = seen_through_schema(own_works())
    assert (found.right, found.strings, found.raised, found.is_final_right) == (found.chunks, 1, 0, True)
    assert not any(found.flicker.values())


@pytest.mark.parametrize("name", SCHEMA_PEERS)
def test_peers_that_see_through_schemas_end_right_and_are_audited_on_the_way(name: str) -> None:
    (side,) = [side for side in PEERS if side.name == name]
    try:
        works = side.load()
    except ImportError:
        pytest.skip(f"{name} is not installed")
    found = seen_through_schema(works)
    assert found.is_final_right
    assert found.right < found.chunks
    assert (found.raised > found.chunks / 2) is (name == PARTIAL_VALIDATION)


def test_a_side_that_raises_is_measured_all_the_same() -> None:
    def start(_: str) -> Feed:
        def feed(_: str) -> object:
            raise ValueError

        return feed

    one = course(WORKS["schema"], Works(typed_again=start), document("records", 1_000, "lines"))
    assert one is not None
    one.round()
    assert one.cost().seconds >= 0
    assert course(WORKS["schema"], Works(whole=len), document("records", 1_000, "lines")) is None


def test_schemas_are_checked_against_each_peer_at_every_size() -> None:
    def costs(side: str, cost: float) -> dict[Case, Cost]:
        return {Case("records", size, "tokens", "schema", side): Cost(cost, 1, 1) for size in SIZES}

    figures = costs(ours.COMPILED, 1) | costs(ours.PURE, 3)
    for number, peer in enumerate(SCHEMA_PEERS):
        figures |= costs(peer, 2 + number)
    found = [
        check for check in checks(Run(Results(figures), {}, {}, ())) if check.demand.startswith("through a schema")
    ]
    assert len(found) == 2 * len(SCHEMA_PEERS) * len(SIZES) + 1
    missed = {check.demand for check in found if check.reached == "no"}
    assert all("pure Python" in demand and PARTIAL_VALIDATION in demand for demand in missed)
    assert len(missed) == len(SIZES)


def test_the_page_has_a_section_of_schemas_where_some_were_measured() -> None:
    extent = Extent(("records",), (1_000,), ("tokens",), 1)
    case = Case("records", 1_000, "tokens", "schema", ours.COMPILED)
    typings = {ours.COMPILED: seen_through_schema(own_works())}
    run = Run(Results({case: Cost(2e-6, 1, 1)}), {}, {}, (), typings=typings)
    found = report(run, extent, [ours.COMPILED])
    assert [table.title for table in found.typed] == [
        "What each side shows through a schema",
        "Records through a schema, chunks of 1 to 8 characters",
    ]
    assert "## Schemas" in page(found, Circumstances([], {}, "0", "command", extent), "picture.svg")
