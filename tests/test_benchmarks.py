"""The benchmark without its clock: documents, audits, estimates, checks and the page."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import jsontide
import jsontide.adapters
import jsontide.messages
import jsontide.schema
from benchmarks import builds, one_more
from benchmarks.__main__ import choose_extent, choose_peers, load, parse_options
from benchmarks.audit import (
    LOST,
    RENUMBERED,
    RETYPED,
    REWRITTEN,
    Finding,
    audit,
    audit_events,
    audit_snapshots,
    audit_values,
    moments,
)
from benchmarks.checks import Check, Figure, checks
from benchmarks.documents import CUTS, DEPTH, SHAPES, SIZES, document
from benchmarks.jsontide_sides import COMPILED, PURE, jsontide_offers
from benchmarks.kinds import KINDS, Event, Events, Feed, Offers, Reparse, Snapshots, Stream, Writer
from benchmarks.measure import Case, Extent, Run, extrapolate, measure
from benchmarks.memory import Memory
from benchmarks.one_more import COUNTS, case_of, grow, measure_one_more, ways
from benchmarks.peers import IJSON_C, IJSON_PYTHON, INSTRUCTOR, JITER, LOADS, PARTIAL_VALIDATION, PEERS, reparse_text
from benchmarks.readers import PatchReader, TextReader
from benchmarks.report import cost_cell, one_more_rows, page
from benchmarks.rewriters import common_prefix
from benchmarks.snapshots import LONGEST, history, window_starts
from benchmarks.tables import table
from benchmarks.timing import Cost, Course, Stretch, plan, plan_stream, spread
from benchmarks.whole_way import works as whole_way
from benchmarks.whole_way.clients import CREATE
from benchmarks.whole_way.measure import Extent as WholeExtent
from benchmarks.whole_way.measure import measure as measure_whole_way
from benchmarks.whole_way.report import page as whole_way_page
from benchmarks.whole_way.sides import BY_HAND, FLOOR, fast_openers, floor, plain_openers
from benchmarks.whole_way.streams import cut_reads, pieces_of, respond
from benchmarks.whole_way.targets import case_of as whole_case
from benchmarks.whole_way.targets import target_table
from benchmarks.whole_way.works import is_right, read_all

pytestmark = [pytest.mark.untraced, pytest.mark.once]  # the benchmark is under test, and not the library

CHUNKS = ['{"a": 1', '2, "b": "x', "y", 'z"', "}"]
END = {"a": 12, "b": "xyz"}


@pytest.fixture(scope="module")
def own() -> Offers:
    return jsontide_offers(jsontide)


def offer_of(offers: Offers, kind: str) -> Any:
    return offers[kind]


def peer(name: str) -> Offers:
    (side,) = [side for side in PEERS if side.name == name]
    try:
        return side.load()
    except ImportError as error:
        pytest.skip(str(error))


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


def test_documents_hold_what_the_page_says() -> None:
    text = document("records", 10_000, "tokens").text
    assert all(part in text for part in ("\\n", "\\u", "\\ud83", "é"))
    text = document("deep", 1_000, "tokens").text
    assert max(text[:at].count("[") + text[:at].count("{") for at in range(len(text))) == DEPTH
    assert len(json.loads(document("flat", 100_000, "tokens").text)) == pytest.approx(5_000, rel=0.2)


def test_the_audits_find_nothing_wrong_with_jsontide(own: Offers) -> None:
    found = dict(audit(own, KINDS))
    for name in ("values", "schema"):
        assert found[name]["growing strings"] == found[name]["chunks right"] == 1
        assert not any(found[name][column] for column in (LOST, RETYPED, RENUMBERED, REWRITTEN, "raised"))
        assert found[name]["final value right"]
    for name in ("events", "snapshots"):
        assert all(found[name].values())
    assert found["events"]["growing strings"] == 1
    assert found["snapshots"]["all sent at once"] == found["snapshots"]["characters sent"] == 1


def test_only_what_is_measured_is_audited(own: Offers) -> None:
    assert [name for name, _ in audit(own, ("events",))] == ["events"]
    assert not [*audit({"final": own["final"]}, KINDS)]


def show(*values: object) -> Finding:
    """What the audit finds on a side that shows these values, whatever the text is."""
    rest = iter(values)
    return audit_values(Stream(lambda: lambda _: next(rest)), [moments(CHUNKS)])


@pytest.mark.parametrize(
    ("values", "column"),
    [
        (({"a": 1}, {"a": 12, "b": "x"}, {"a": 12, "b": "xy"}, END, END), RENUMBERED),
        (({}, {"a": 12, "b": "x"}, {"a": 12}, END, END), LOST),
        (({}, {"a": 12, "b": "x"}, {"a": 12, "b": "qy"}, {"a": 12, "b": "qyz"}, END), REWRITTEN),
        (({}, {"a": 12, "b": None}, {"a": 12, "b": "xy"}, END, END), RETYPED),
    ],
)
def test_the_audit_names_what_was_taken_back(values: tuple[object, ...], column: str) -> None:
    found = show(*values)
    assert found[column]
    assert found["chunks right"] < 1
    assert found["final value right"]


def test_the_audit_sees_a_string_that_stops_and_a_wrong_end() -> None:
    first = {"a": 12, "b": "x"}
    assert show({}, first, first, END, END)["growing strings"] == 1 / 2
    assert not show({}, END, END, END, {"a": 12.0, "b": "xyz"})["final value right"]


def fail(_: object) -> object:
    raise ValueError


def test_a_side_that_raises_is_audited_and_measured_all_the_same() -> None:
    offer = Reparse(lambda _: fail)
    assert audit_values(offer, [moments(CHUNKS)])["raised"] == len(CHUNKS)
    course = plan(KINDS["schema"], offer, document("records", 1_000, "lines"))
    course.run_round()
    assert course.cost().seconds >= 0


def emit(*found: Sequence[Event]) -> Finding:
    """What the audit finds on a side with these events, chunk by chunk, whatever the text is."""

    def start() -> Callable[[str], Sequence[Event]]:
        rest = iter(found)
        return lambda _: next(rest)

    return audit_events(Events(start, lambda event: event), [moments(CHUNKS)])


NUMBER, STRING = Event("value", "a", 12), Event("value", "b", "xyz")
BRACKET, FINISH = Event("other", "", None), Event("end", "", None)
X, Y, Z = (Event("piece", "b", text) for text in "xyz")


@pytest.mark.parametrize(("pieces", "strings"), [((X, Y, Z), 1), ((X, X, Z), 1 / 2), ((BRACKET, BRACKET, BRACKET), 0)])
def test_pieces_of_a_string_count_when_they_join_to_what_has_come(pieces: Sequence[Event], strings: float) -> None:
    x, y, z = pieces
    found = emit([BRACKET], [NUMBER, BRACKET, x], [y], [z, STRING], [BRACKET])
    assert found["growing strings"] == strings
    assert found["values right"]
    assert not found["end of document"]


@pytest.mark.parametrize("number", [Event("value", "a", 12.0), Event("value", "a", 1), BRACKET])
def test_a_value_that_is_wrong_or_missing_among_the_events_is_noticed(number: Event) -> None:
    found = emit([BRACKET], [number], [], [STRING], [FINISH])
    assert not found["values right"]
    assert found["end of document"]


@pytest.mark.parametrize("name", [IJSON_C, IJSON_PYTHON])
def test_the_audit_names_what_events_of_ijson_do_not_show(name: str) -> None:
    found = audit_events(offer_of(peer(name), "events"), [moments(CHUNKS)])
    assert found["events"] == 6  # two brackets, two keys, two values
    assert found["values right"]
    assert not any(found[column] for column in ("growing strings", "end of document", "elements apart", "dots apart"))


def test_events_are_the_same_whether_they_are_looked_at_or_not(own: Offers) -> None:
    for offers, chunks in ((own, ("[1", "", "]")), (peer(IJSON_PYTHON), ('{"groß": [', "1", "]}"))):
        looked, unread = (
            [[offer.classify(event) for event in feed(chunk)] for chunk in chunks]
            for offer, feed in ((offers[kind], offer_of(offers, kind).start()) for kind in ("events", "unread_events"))
            if isinstance(offer, Events)
        )
        assert looked == unread
        assert any(looked)


HISTORY = [{"a": "x"}, {"a": "x"}, {"a": "xy", "b": 12}, {"a": "xy", "b": 12, "c": ["é", {}]}]


@pytest.mark.parametrize("name", ["json.dumps, common prefix", "orjson.dumps, common prefix"])
def test_a_common_prefix_is_one_snapshot_behind_and_needs_the_order_of_keys(name: str) -> None:
    offer: Snapshots = offer_of(peer(name), "snapshots")
    found = audit_snapshots(offer, [HISTORY] * 9)  # nine times shuffled: some of them must differ
    assert (found["all sent at once"], found["characters sent"]) == (0, 1)
    assert (found["last snapshot right"], found["right with keys reordered"]) == (True, False)
    writer: Any = offer.start("kept")
    reader = TextReader()
    for value in HISTORY[:3]:
        reader.receive(writer.write(value))
    assert reader.text == '{"a":"x'  # no bracket that moves
    with pytest.raises(ValueError, match="beginning"):
        writer.write({"b": 12, "a": "xy"})


def test_patches_are_right_in_any_order_and_send_a_growing_string_again() -> None:
    found = audit_snapshots(offer_of(peer("jsonpatch.make_patch"), "snapshots"), [HISTORY] * 9)
    assert all(found.values())
    assert found["all sent at once"] == 1
    assert found["characters sent"] > 1


@pytest.mark.parametrize(
    "chunks", [('{"a":', "1", "}"), ('{"a":', "1.0", "}"), ('{"a":', "1", ""), ("{}", "", ""), ('{"a":', "1", "}}")]
)
def test_chunks_count_when_they_join_to_the_last_snapshot(chunks: tuple[str, str, str]) -> None:
    def start(_: str) -> Writer:
        rest = iter(chunks)
        return Writer(lambda _: next(rest), lambda: next(rest))

    found = audit_snapshots(Snapshots(start, TextReader), [[{}, {"a": 1}]])
    assert found["last snapshot right"] == ("".join(chunks) == '{"a":1}')
    found = audit_snapshots(Snapshots(lambda _: Writer(fail, str), TextReader), [HISTORY])
    assert not any(found[column] for column in ("last snapshot right", "all sent at once", "characters sent"))


def test_a_reader_reads_numbers_at_the_end_and_bytes_that_are_cut_in_a_character() -> None:
    assert TextReader().receive("[1, 23") == [1, 23]
    reader = TextReader()
    start, end = b'["' + "é".encode()[:1], "é".encode()[1:] + b"!"
    assert [reader.receive(start), reader.receive(end)] == [[""], ["é!"]]


def test_a_patch_is_received_as_text_and_changes_no_snapshot() -> None:
    module = pytest.importorskip("jsonpatch")
    reader, value = PatchReader(), {"a": ["x"]}
    reader.receive(module.make_patch(None, value))
    reader.receive(module.make_patch(value, {"a": ["x", "y"]}))
    assert reader.finish() == {"a": ["x", "y"]}
    assert value == {"a": ["x"]}


@pytest.mark.parametrize("same", ["", "a", "abc", "abcd" * 5])
@pytest.mark.parametrize(("one", "other"), [("", ""), ("", "x"), ("x", "y"), ("xab", "yab")])
def test_the_common_prefix_is_found_by_bisection(same: str, one: str, other: str) -> None:
    assert common_prefix(same + one, same + other) == len(same)
    assert common_prefix((same + other).encode(), (same + one).encode()) == len(same)


@pytest.mark.parametrize("name", [PARTIAL_VALIDATION, "pydantic, optional fields, validated again", INSTRUCTOR])
def test_peers_with_a_schema_end_right_and_are_audited_on_the_way(name: str) -> None:
    chunks = document("records", 1_000, "tokens").chunks
    found = audit_values(offer_of(peer(name), "schema"), [moments(chunks)])
    assert found["final value right"]
    assert found["chunks right"] < 1
    assert (found["raised"] > len(chunks) / 2) is (name == PARTIAL_VALIDATION)


def parts(value: object) -> Iterator[object]:
    """All parts of a value that could be shared and need not be; the shortest strings always are."""
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from parts(inner)
    elif isinstance(value, str) and len(value) > 1:
        yield value


def test_short_histories_are_measured_whole_and_in_order() -> None:
    values = list(jsontide.values(document("records", 1_000, "tokens").chunks))
    count, windows = history("records", 1_000, "tokens", is_anew=False)
    assert count == len(values)
    assert [value for window in windows for value in window.snapshots] == values
    assert [window.before for window in windows] == [[], *(window.snapshots[-1:] for window in windows[:-1])]


def test_long_histories_are_measured_at_places_around_their_middle() -> None:
    assert window_starts(LONGEST)[:3] == [0, 64, 128]
    starts = window_starts(LONGEST + 1)
    assert len(starts) == 8
    assert sum(start + 32 for start in starts) / 8 == pytest.approx(LONGEST / 2, rel=0.01)


def test_values_built_anew_are_equal_and_share_nothing() -> None:
    (_, shared), (_, anew) = (history("records", 1_000, "tokens", is_anew=is_anew) for is_anew in (False, True))
    assert [window.snapshots for window in shared] == [window.snapshots for window in anew]
    before, after = anew[-1].snapshots[-2:]
    assert not {id(each) for each in parts(before)} & {id(each) for each in parts(after)}


def test_from_one_snapshot_to_the_next_one_string_grows_by_a_character() -> None:
    values: Any = grow(5, 4)
    assert [len(value["items"]) for value in values] == [5] * 4
    for before, after in pairwise(values):
        assert before["items"][:-1] == after["items"][:-1]
        assert before["items"][0] is after["items"][0]
        assert after["items"][-1]["note"].startswith(before["items"][-1]["note"])
        assert len(after["items"][-1]["note"]) == len(before["items"][-1]["note"]) + 1
        assert list(after["items"][-1])[-1] == "note"


def test_every_way_to_take_one_more_character_writes_that_character() -> None:
    values = grow(3, 6)
    texts = [json.dumps(value, ensure_ascii=False) for value in values]
    note: Any = values[-1]
    for way, start, snapshots in ways(jsontide, values, texts):
        if way != one_more.PARSING:
            assert [*map(start(), snapshots)][one_more.FIRST :] == [*note["items"][-1]["note"][-4:]]


def test_one_more_character_is_measured_in_every_way_for_every_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_more, "COUNTS", (2, 3))
    run = Run()
    measure_one_more(run, {PURE: jsontide}, 1)
    assert len(run.costs) == 2 * 7
    assert all(cost.seconds > 0 for cost in run.costs.values())


def test_a_reparse_that_starts_late_sees_all_text() -> None:
    feed = reparse_text(lambda text: text).start("one ")
    feed("two ")
    assert feed("drei ß") == "one two drei ß"


@pytest.mark.parametrize(("most", "places"), [(0, [50]), (2, [50]), (3, [25, 50, 75]), (6, [25, 50, 75])])
def test_places_are_spread_evenly_around_the_middle(most: int, places: list[int]) -> None:
    assert spread(100, most) == places


def test_a_stream_that_was_cut_off_is_continued_by_a_straight_line() -> None:
    course = plan_stream(lambda: str, ["x"] * 100, smallest=10)
    course.best = [10 * (1 + at) for at in range(4)]  # a chunk costs 1, 2, 3, 4 ... in the stretches
    cost = course.cost()
    assert cost.seconds == pytest.approx(5.5)
    assert (cost.is_extrapolated, cost.mark) == (True, "~")
    course.best = [10 * (1 + at) for at in range(10)]
    assert course.cost() == Cost(5.5, 100, 100)


def test_rounds_keep_the_least_of_each_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("benchmarks.timing.process_time", lambda: now)

    def pass_time(seconds: float) -> None:
        nonlocal now
        now += seconds

    def start(_: Feed | None) -> Feed:
        pass_time(0.5)  # outside of the clock
        return pass_time

    course = Course(2, [])
    for times in ([0.3, 0.1], [0.2, 0.2]):
        course.stretches = [Stretch([seconds], 1, 1 / 2, start) for seconds in times]
        course.run_round()
    assert course.best == pytest.approx([0.2, 0.1])


def test_windows_of_snapshots_start_with_the_snapshot_before() -> None:
    fed: list[object] = []
    course = plan(
        KINDS["snapshots"],
        Snapshots(lambda _: Writer(fed.append, str), TextReader),
        document("records", 1_000, "tokens"),
    )
    course.run_pass()
    _, windows = history("records", 1_000, "tokens", is_anew=False)
    assert fed == [value for window in windows for value in (*window.before, *window.snapshots)]
    assert course.chunks == sum(stretch.chunks for stretch in course.stretches)


def test_what_took_too_long_is_not_tried_again_but_grows_on() -> None:
    run = Run()
    for size, seconds in ((1_000, 0.004), (10_000, 0.4)):
        run.costs[Case("records", size, "tokens", "dropped", "slow")] = Cost(seconds, 1, 1)
    far = extrapolate(run, Case("records", 100_000, "tokens", "dropped", "slow"), 5)
    assert far is not None
    assert far.seconds == pytest.approx(40)
    assert (far.chunks, far.mark) == (5, "≈")
    assert extrapolate(run, Case("records", 10_000, "tokens", "dropped", "slow"), 5) is None


def test_only_what_was_chosen_and_offered_is_measured(own: Offers) -> None:
    run = Run()
    sides = {"own": own, "none": {}, "bad": {"events": Stream(lambda: fail)}}
    measure(run, sides, Extent(1, ("list",), (1_000,), ("lines",), ("events", "snapshots")))
    assert list(run.costs) == [Case("list", 1_000, "lines", "events", "own")]
    assert run.failures == {Case("list", 1_000, "lines", "events", "bad"): "ValueError"}
    assert Extent(1, kinds=("snapshots",)).documents() == [
        (shape, size, "tokens") for shape in ("records", "string") for size in SIZES[:3]
    ]


def test_words_choose_kinds_shapes_and_peers() -> None:
    extent = choose_extent(parse_options(["--quick", "--only", "events", "--only", "ijson"]))
    assert (extent.kinds, extent.sizes, extent.shapes) == (("events",), SIZES[:2], (*SHAPES,))
    assert choose_peers(["events"]) == list(PEERS)
    assert [side.name for side in choose_peers(["events", "ijson"])] == [IJSON_C, IJSON_PYTHON]
    with pytest.raises(SystemExit, match="nothing is called snail"):
        choose_peers(["snail"])


def test_a_library_that_is_not_installed_is_reported_as_missing() -> None:
    def missing() -> Offers:
        raise ImportError("no snail")

    assert load({"snail": missing, "tortoise": dict}) == ({"tortoise": {}}, {"snail": "no snail"})


def test_a_copy_of_a_package_leaves_the_imported_one_alone(tmp_path: Path) -> None:
    (tmp_path / "jsontide").mkdir()
    (tmp_path / "jsontide" / "__init__.py").write_text("COMPILED = False", encoding="utf-8")
    before = sys.modules["jsontide"]
    copy = builds.imported_from(tmp_path, "jsontide")
    assert copy is not before
    assert sys.modules["jsontide"] is before
    with pytest.raises(ImportError, match="pure build"):
        builds.compiled(tmp_path)


@pytest.mark.parametrize(
    ("dropped", "held", "reached"),
    [(5, 5, "yes"), (5, 4, "only when dropped"), (4, 5, "only when held"), (4, 4, "no"), (None, 5, "not measured")],
)
def test_a_demand_is_reached_in_both_ways_or_says_in_which(dropped: int | None, held: int, reached: str) -> None:
    assert Check("", "≥ 5", [Figure(dropped) if dropped else None, Figure(held)]).reached == reached


def costs_of(kind: str, side: str, *costs: float) -> dict[Case, Cost]:
    """At the sizes from the smallest on, each of ten chunks."""
    return {
        Case("records", size, "tokens", kind, side): Cost(cost, 10, 10)
        for size, cost in zip(SIZES, costs, strict=False)
    }


def figures_of(run: Run) -> dict[str, tuple[float, ...]]:
    """By demand, what was measured."""
    return {
        check.demand: tuple(figure.value for figure in check.figures if figure is not None)
        for check in checks(run)
        if check.reached != "not measured"
    }


def test_checks_come_from_the_results_and_what_has_none_says_so() -> None:
    values = costs_of("dropped", COMPILED, 1) | costs_of("held", COMPILED, 2) | costs_of("dropped", JITER, 5)
    assert figures_of(Run([COMPILED, JITER], values)) == {"compiled against jiter, records, 1 KB": (5, 2.5)}
    assert {check.reached for check in checks(Run())} == {"not measured"}


def test_events_are_checked_against_the_back_end_of_the_same_kind_and_for_flatness() -> None:
    costs = costs_of("events", COMPILED, 1, 2, 1.5, 2.5) | costs_of("events", IJSON_C, 1.5)
    costs |= costs_of("events", PURE, 2) | costs_of("events", IJSON_PYTHON, 4)
    assert figures_of(Run([COMPILED, PURE, IJSON_C, IJSON_PYTHON], costs)) == {
        f"events, compiled against {IJSON_C}, records, 1 KB": (1.5,),
        f"events, pure Python against {IJSON_PYTHON}, records, 1 KB": (2,),
        "events, compiled, 1 KB to 1 MB, records": (2.5,),
        "events, compiled, 10 KB to 1 MB, records": (2.5 / 1.5,),
    }


def test_the_worst_of_several_peers_is_named_and_a_side_that_shows_no_strings_left_out() -> None:
    costs = costs_of("dropped", COMPILED, 1) | costs_of("held", COMPILED, 1)
    costs |= costs_of("dropped", "slow", 9) | costs_of("dropped", "fast", 6) | costs_of("dropped", "coarse", 2)
    shares = {"slow": 1.0, "fast": 0.96, "coarse": 0.5}
    audits: dict[str, dict[str, Finding]] = {
        "values": {side: {"growing strings": share} for side, share in shares.items()}
    }
    (check,) = [check for check in checks(Run([COMPILED, *shares], costs, audits=audits)) if check.reached == "yes"]
    assert "any peer" in check.demand
    assert check.figures == [Figure(6, "fast, records, 1 KB, tokens")] * 2


def test_memory_is_checked_where_it_was_measured() -> None:
    run = Run(memory={PURE: Memory(500, 200, 1, 2)})
    assert figures_of(run) == {f"memory of a finished 1 MB document and its state, {PURE}": (2.5,)}


def test_a_cell_shows_the_cost_the_ratio_and_what_was_raised() -> None:
    first = Case("records", 1_000, "tokens", "dropped", COMPILED)
    costs = {first: Cost(1e-6, 10, 10), **costs_of("dropped", "other", 1)}
    part, bad = (Case("records", 1_000, "tokens", "dropped", side) for side in ("part", "bad"))
    run = Run(costs=costs | {part: Cost(25e-6, 10, 3)}, failures={bad: "ValueError"})
    assert [cost_cell(run, case) for case in (first, part, bad)] == ["1.00 (x1.00)", "~25.0 (x25)", "ValueError"]
    assert not cost_cell(run, Case("records", 1_000, "tokens", "held", COMPILED))


def test_a_table_becomes_markdown_and_without_rows_nothing() -> None:
    found = table("Title", ["side", "1 KB"], [["a|b", "1.00"]], ["A note."])
    assert found == "### Title\n\nA note.\n\n| side | 1 KB |\n| --- | ---: |\n| a\\|b | 1.00 |\n"
    assert not table("Title", ["side"], [])


def test_the_share_of_parsing_stands_below_what_is_shared() -> None:
    seconds = {one_more.TEXT: 4e-6, one_more.PARSING: 3e-6, "values in": 1e-6}
    costs = {
        case_of(records, way, COMPILED): Cost(each * records, 1, 1)
        for records in COUNTS
        for way, each in seconds.items()
    }
    costs |= {case_of(records, one_more.WHOLE, LOADS): Cost(2e-6, 1, 1) for records in COUNTS}
    assert [*one_more_rows(Run(costs=costs))] == [
        [f"{COMPILED}, text in", "200", "3,200", "12,800", "x64"],
        [f"{COMPILED}, text in, parsing alone", "150", "2,400", "9,600", "x64"],
        [f"{COMPILED}, share of parsing", "75%", "75%", "75%", ""],
        [f"{COMPILED}, values in", "50.0", "800", "3,200", "x64"],
        ["json.loads of the whole text", "2.00", "2.00", "2.00", "x1.00"],
    ]


def test_the_page_has_a_section_for_all_that_was_measured(own: Offers) -> None:
    seconds = {COMPILED: 2e-6, "peer": 3e-6, LOADS: 1e-6}
    costs = {
        key: cost
        for kind in KINDS
        for side, each in seconds.items()
        for key, cost in costs_of(kind, side, each).items()
    }
    audits = {name: {COMPILED: found} for name, found in audit(own, KINDS)}
    run = Run([COMPILED, "peer", LOADS], costs, audits=audits, memory={COMPILED: Memory(5_000_000, 2_000_000, 1, 2)})
    written = page(run, Extent(1, ("records",), SIZES[:1], ("tokens",)), ["A machine."], "chart.svg")
    method, results = written.split("## Results\n")
    assert "A machine.  " in method
    values, rest = results.split("## Events\n")
    events, rest = rest.split("## Snapshots\n")
    snapshots, schemas = rest.split("## Schemas\n")
    assert "| memory of a finished 1 MB document and its state, jsontide, compiled | ≤ 3 | 2.50 |  | yes |" in values
    assert f"| {COMPILED} | yes | 100% | 0 | 0 | 0 | 0 | 0 | yes |" in values
    assert f"| {COMPILED}, last value held | 2.00 (x1.00) |" in values
    assert "| peer, tokens | 0.0300 (x3.00) |" in values
    assert f"| {COMPILED} | 5.00 MB | 2.00 MB | 2.50 | 1 B | 2 B |" in values
    for section, first, row in (
        (events, "What the events of each side show", "| peer, events unread | 3.00 (x1.50) |"),
        (snapshots, "What each side sends", "| peer, values built anew | 3.00 (x1.50) |"),
        (schemas, "What each side shows through a schema", "| peer | 3.00 (x1.50) |"),
    ):
        assert section.startswith(f"\n### {first}\n")
        assert row in section
    assert "##" not in page(Run(), Extent(1), [], "").split("20 characters per member.")[1]


def small(work: whole_way.Work, *pieces: str) -> Sequence[Any]:
    return work.delivered(respond(work.form, pieces or pieces_of(work.form, work.text(300))))


@pytest.mark.parametrize("work", whole_way.WORKS, ids=lambda work: work.name)
def test_a_generated_response_ends_with_what_was_sent(work: whole_way.Work) -> None:
    assert small(work) == small(work)
    openers = plain_openers(jsontide)
    if work.name not in openers:
        pytest.skip("pydantic is not installed")
    assert is_right(read_all(openers[work.name], small(work)), work.expected(300))


@pytest.mark.parametrize(
    ("values", "right"), [(["{", '{"a": 1}'], False), ([{"a": 1}], True), (['{"a":', " 1}"], True)]
)
def test_a_side_is_right_by_its_last_value_or_by_its_pieces(values: list[object], right: bool) -> None:  # noqa: FBT001
    assert is_right(values, {"a": 1}) is right
    assert not is_right([], {"a": 1})


def test_bytes_cut_anywhere_are_the_same_bytes() -> None:
    reads = small(whole_way.TOOL_CALL)
    cut = cut_reads(reads, 7)
    assert b"".join(cut) == b"".join(reads)
    assert {len(read) for read in cut[:-1]} == {7}


def test_a_stream_that_takes_long_is_timed_at_places_after_the_text_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_way, "STREAM_BUDGET", 0)
    seen: list[bytes] = []

    def opener(source: Iterator[bytes]) -> Iterator[object]:
        for read in source:
            seen.append(read)
            yield read

    course = whole_way.plan(whole_way.TOOL_CALL, opener, 10_000)
    assert len(course.stretches) > 1
    seen.clear()
    course.run_round()
    assert course.cost().mark == "~"
    before = max(seen, key=len)
    assert len(before) > 1_000
    starts = [at for at, read in enumerate(seen) if b'"role"' in read]
    assert {end - start for start, end in pairwise(starts)} == {2 + whole_way.WARM + whole_way.WINDOW}


def test_a_side_that_ends_wrong_is_reported_and_not_timed() -> None:
    work = whole_way.TOOL_CALL
    sides = {"wrong": {work.name: lambda source: source}, "fails": {work.name: lambda source: map(fail, source)}}
    found = measure_whole_way(sides, WholeExtent(1, [work], (1_000,), 0))
    assert found.missing == {f"wrong, {work.name}": "wrong in the end", f"fails, {work.name}": "ValueError"}
    assert not found.run.costs


def test_the_whole_way_runs_and_every_figure_is_on_its_page() -> None:
    sides = {PURE: plain_openers(jsontide), FLOOR: floor(json.loads)}
    extent = WholeExtent(1, [whole_way.TOOL_CALL, whole_way.CUT_READS, whole_way.ASYNCHRONOUS], (1_000,), 3)
    found = measure_whole_way(sides, extent)
    assert not found.missing
    assert found.memory[PURE] > 5_000
    written = whole_way_page(found, extent, ["A machine."])
    assert "A machine.  " in written
    for title in (
        "A tool call of OpenAI Chat Completions",
        "All streams, 1 KB",
        "3 streams on one loop",
        "Memory of an",
    ):
        assert f"### {title}" in written
    assert f"| {FLOOR} |" in written


def test_targets_of_the_whole_way_come_from_the_run() -> None:
    work = whole_way.TOOL_CALL.name
    seconds = {COMPILED: 6e-6, BY_HAND: 4e-6, CREATE: 60e-6}
    run = Run(costs={whole_case(work, 1_000, side): Cost(each, 1, 1) for side, each in seconds.items()})
    written = target_table(run)
    assert f"| {work}, 1 KB: cost / by hand | ≤ 1.6 | 1.50 | reached | ≤ 1.2 |  | not measured |" in written
    assert f"times faster than {CREATE} | ≥ 13 | 10.0 | not reached | ≥ 18 |  | not measured |" in written


def test_a_build_without_a_choice_of_decoders_has_no_fast_side() -> None:
    with pytest.raises(ImportError, match="one parser"):
        fast_openers(builds)
    assert plain_openers(jsontide)
