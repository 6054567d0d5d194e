"""The benchmark without its clock: documents, audits, estimates, checks and the page."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import pytest

import jsontide
import jsontide.messages
import jsontide.schema
import jsontide.streams
from benchmarks import one_more
from benchmarks.audit import (
    LOST,
    RENUMBERED,
    RETYPED,
    REWRITTEN,
    Finding,
    audit,
    audit_events,
    audit_values,
    moments,
)
from benchmarks.documents import CUTS, SHAPES, document
from benchmarks.jsontide_sides import PURE, jsontide_offers
from benchmarks.kinds import KINDS, Event, Events, Feed, Offers, Snapshots, Stream, Writer
from benchmarks.one_more import grow, ways
from benchmarks.readers import TextReader
from benchmarks.snapshots import history
from benchmarks.timing import Cost, Course, Stretch, plan, plan_stream
from benchmarks.whole_way import works as whole_way
from benchmarks.whole_way.measure import Extent as WholeExtent
from benchmarks.whole_way.measure import measure as measure_whole_way
from benchmarks.whole_way.report import page as whole_way_page
from benchmarks.whole_way.sides import FLOOR, floor, jsontide_openers
from benchmarks.whole_way.streams import pieces_of, respond
from benchmarks.whole_way.works import is_right, read_all

pytestmark = [pytest.mark.untraced, pytest.mark.once]  # the benchmark is under test, and not the library

CHUNKS = ['{"a": 1', '2, "b": "x', "y", 'z"', "}"]
END = {"a": 12, "b": "xyz"}


@pytest.fixture(scope="module")
def own() -> Offers:
    return jsontide_offers(jsontide)


def offer_of(offers: Offers, kind: str) -> Any:
    return offers[kind]


def test_documents_are_valid_near_their_size_and_always_the_same() -> None:
    for shape, (cut, (least, most)) in product(SHAPES, CUTS.items()):
        made = document(shape, 10_000, cut)
        assert made == document(shape, 10_000, cut)
        assert json.loads(made.text)
        assert abs(len(made.text) - 10_000) < 500
        assert "".join(made.chunks) == made.text
        assert all(least <= len(chunk) <= most for chunk in made.chunks[:-1]), (shape, cut)


@pytest.mark.long
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


def test_events_are_the_same_whether_they_are_looked_at_or_not(own: Offers) -> None:
    looked, unread = (
        [[offer.classify(event) for event in feed(chunk)] for chunk in ("[1", "", "]")]
        for offer, feed in ((own[kind], offer_of(own, kind).start()) for kind in ("events", "unread_events"))
        if isinstance(offer, Events)
    )
    assert looked == unread
    assert any(looked)


def parts(value: object) -> Iterator[object]:
    """All parts of a value that could be shared and need not be; the shortest strings always are."""
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from parts(inner)
    elif isinstance(value, str) and len(value) > 1:
        yield value


def test_values_built_anew_are_equal_and_share_nothing() -> None:
    (_, shared), (_, anew) = (history("records", 1_000, "tokens", is_anew=is_anew) for is_anew in (False, True))
    assert [window.snapshots for window in shared] == [window.snapshots for window in anew]
    before, after = anew[-1].snapshots[-2:]
    assert not {id(each) for each in parts(before)} & {id(each) for each in parts(after)}


def test_every_way_to_take_one_more_character_writes_that_character() -> None:
    values = grow(3, 6)
    texts = [json.dumps(value, ensure_ascii=False) for value in values]
    note: Any = values[-1]
    for way, start, snapshots in ways(jsontide, values, texts):
        if way != one_more.PARSING:
            assert [*map(start(), snapshots)][one_more.FIRST :] == [*note["items"][-1]["note"][-4:]]


def test_a_stream_that_was_cut_off_is_continued_by_a_straight_line() -> None:
    course = plan_stream(lambda: str, ["x"] * 100, smallest=10)
    course.best = [10 * (1 + at) for at in range(4)]  # a chunk costs 1, 2, 3, 4 ... in the stretches
    cost = course.cost()
    assert cost.seconds == pytest.approx(5.5)
    assert (cost.is_extrapolated, cost.mark) == (True, "~")
    course.best = [10 * (1 + at) for at in range(10)]
    assert course.cost() == Cost(5.5, 100, 100)


@pytest.mark.long
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


def small(work: whole_way.Work, *pieces: str) -> Sequence[Any]:
    return work.delivered(respond(work.form, pieces or pieces_of(work.form, work.text(300))))


def test_a_generated_response_ends_with_what_was_sent() -> None:
    openers = jsontide_openers(jsontide)
    for work in whole_way.WORKS:
        assert small(work) == small(work)
        assert is_right(read_all(openers[work.name], small(work)), work.expected(300)), work.name


@pytest.mark.parametrize(
    ("values", "right"), [(["{", '{"a": 1}'], False), ([{"a": 1}], True), (['{"a":', " 1}"], True)]
)
def test_a_side_is_right_by_its_last_value_or_by_its_pieces(values: list[object], right: bool) -> None:  # noqa: FBT001
    assert is_right(values, {"a": 1}) is right
    assert not is_right([], {"a": 1})


@pytest.mark.long
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


@pytest.mark.long
def test_the_whole_way_runs_and_every_figure_is_on_its_page() -> None:
    sides = {PURE: jsontide_openers(jsontide), FLOOR: floor(json.loads)}
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
