"""The benchmark without its clock: documents, audits, estimates, checks and the page."""

import json
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

import jsontide
import jsontide.messages
import jsontide.schema
import jsontide.streams
from benchmarks import count
from benchmarks.audit import LOST, RENUMBERED, RETYPED, REWRITTEN, Finding, audit, audit_values, moments
from benchmarks.documents import CUTS, SHAPES, document
from benchmarks.jsontide_sides import PURE, jsontide_offers
from benchmarks.kinds import KINDS, Offers, Stream
from benchmarks.timing import Cost, plan_stream
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


def test_a_stream_that_was_cut_off_is_continued_by_a_straight_line() -> None:
    course = plan_stream(lambda: str, ["x"] * 100, smallest=10)
    course.best = [10 * (1 + at) for at in range(4)]  # a chunk costs 1, 2, 3, 4 ... in the stretches
    cost = course.cost()
    assert cost.seconds == pytest.approx(5.5)
    assert (cost.is_extrapolated, cost.mark) == (True, "~")
    course.best = [10 * (1 + at) for at in range(10)]
    assert course.cost() == Cost(5.5, 100, 100)


def small(work: whole_way.Work, *pieces: str) -> Sequence[Any]:
    return work.delivered(respond(work.form, pieces or pieces_of(work.form, work.text(300))))


def test_a_generated_response_ends_with_what_was_sent() -> None:
    openers = jsontide_openers(jsontide)
    for work in whole_way.WORKS:
        assert small(work) == small(work)
        assert is_right(read_all(openers[work.name], small(work)), work.expected(300)), work.name


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
    assert "A machine." in written
    for title in (
        "A tool call of OpenAI Chat Completions",
        "All streams, 1 KB",
        "3 streams on one loop",
        "Memory of an",
    ):
        assert f"### {title}" in written
    assert f"| {FLOOR} |" in written


def test_every_way_that_is_counted_runs_and_is_recorded() -> None:
    record = json.loads(count.RECORD.read_text("utf-8"))
    assert list(record["instructions"]) == list(count.WAYS), "`make count UPDATE=1` rewrites the file"
    for name, prepare in count.WAYS.items():
        assert prepare()() > 100, name


@pytest.mark.parametrize(("counted", "names"), [(1_051, ["event"]), (949, ["event"]), (1_050, []), (950, [])])
def test_a_count_that_changed_by_more_than_a_twentieth_is_named(counted: int, names: list[str]) -> None:
    recorded = dict.fromkeys(count.WAYS, 1_000)
    assert count.changed(recorded, {**recorded, "event": counted}) == names


def test_counting_without_valgrind_is_left_out_unless_nothing_may_be(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(count, "toolchain", lambda: json.loads(count.RECORD.read_text("utf-8"))["toolchain"])
    for complete, status in (("", 0), ("1", 1)):
        monkeypatch.setenv("JSONTIDE_COMPLETE", complete)
        assert count.main([]) == status
        assert capsys.readouterr().out == "left out: counting instructions: valgrind is not installed\n"
