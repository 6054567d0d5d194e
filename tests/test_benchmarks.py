"""The benchmarks without their clocks: each runs on its smallest size, and its page has what it writes today."""

import json
from itertools import product

import pytest

import jsontide
import jsontide.messages
import jsontide.schema
import jsontide.streams
from benchmarks import bridges, count, growth, pages, report, sides, tool_calls
from benchmarks.audit import LOST, RENUMBERED, RETYPED, REWRITTEN, audit
from benchmarks.documents import CUTS, SHAPES, document
from benchmarks.hostile import CASES
from benchmarks.kinds import KINDS
from benchmarks.measure import Extent, measure
from benchmarks.mend_peers import report as mend_peers
from benchmarks.mend_peers.peers import PEERS
from benchmarks.mend_peers.score import judge
from benchmarks.mend_peers.tools import Answer
from benchmarks.pages import PURE
from benchmarks.timing import Run
from benchmarks.whole_way import measure as whole_way
from benchmarks.whole_way import report as whole_way_report
from benchmarks.whole_way.sides import FLOOR, floor, jsontide_openers
from benchmarks.whole_way.works import ASYNCHRONOUS, TOOL_CALL, WORKS, Openers
from tests.mend.cases import read_corpus

pytestmark = [pytest.mark.untraced, pytest.mark.once]  # the benchmarks are under test, and not the library

CORPUS = {case.name: case for case in read_corpus()}


def headings(page: str) -> set[str]:
    return {line for line in page.splitlines() if line.startswith("#")}


def measured(name: str) -> str:
    return (pages.MEASURED / name).read_text("utf-8")


def test_documents_are_valid_near_their_size_and_always_the_same() -> None:
    for shape, (cut, (least, most)) in product(SHAPES, CUTS.items()):
        made = document(shape, 10_000, cut)
        assert made == document(shape, 10_000, cut)
        assert shape == "dirty" or json.loads(made.text)
        assert abs(len(made.text) - 10_000) < 500
        assert "".join(made.chunks) == made.text
        assert all(least <= len(chunk) <= most for chunk in made.chunks[:-1]), (shape, cut)


@pytest.mark.long
def test_every_kind_of_work_runs_and_is_right_on_the_smallest_document() -> None:
    offers = sides.jsontide_offers(jsontide)
    run, extent = Run([PURE]), Extent(1, sizes=(1_000,))
    for name, finding in audit(offers, KINDS):
        run.audits[name] = {PURE: finding}
        assert finding["growing strings"] == finding["chunks right"] == finding["final value right"] == 1
        assert not any(finding[column] for column in (LOST, RETYPED, RENUMBERED, REWRITTEN, "raised"))
    measure(run, {PURE: offers}, extent)
    assert not run.failures
    assert {case.kind for case in run.costs} == {*KINDS}
    written = report.page(run, extent, ["A machine."])
    page = measured("benchmarks.md")
    assert headings(written) - {"### Memory"} <= headings(page), "the page is stale; `make bench` rewrites it"
    assert page.count(report.METHOD.read_text("utf-8")) == 1


@pytest.mark.long
def test_every_stream_of_the_whole_way_ends_with_what_was_sent() -> None:
    own = {PURE: jsontide_openers(jsontide), FLOOR: floor(json.loads)}
    extent = whole_way.Extent(1, WORKS, (1_000,), 3)
    run = whole_way.measure(own, extent)
    assert not run.missing
    assert run.memory[whole_way.OPEN, PURE] > 5_000
    written = whole_way_report.page(run, extent, ["A machine."])
    assert f"| {FLOOR} |" in written
    page = measured("whole-way.md")
    renamed = written.replace("3 streams on one loop", "1,000 streams on one loop")
    assert headings(renamed) <= headings(page), "the page is stale; `make bench` rewrites it"
    assert page.endswith(whole_way_report.METHOD.read_text("utf-8"))


def test_a_side_that_ends_wrong_is_reported_and_not_timed() -> None:
    def fail(_: object) -> object:
        raise ValueError

    works: dict[str, Openers] = {
        "wrong": {TOOL_CALL.name: iter},
        "fails": {TOOL_CALL.name: lambda source: map(fail, source)},
    }
    run = whole_way.measure(works, whole_way.Extent(1, [TOOL_CALL, ASYNCHRONOUS], (1_000,), 0))
    assert run.missing == {f"wrong, {TOOL_CALL.name}": "wrong in the end", f"fails, {TOOL_CALL.name}": "ValueError"}
    assert not run.costs


@pytest.mark.long
def test_every_form_of_a_delta_is_timed_and_has_a_row() -> None:
    page = measured("bridges-cost.md")
    for title in bridges.TITLES:
        written = bridges.cost_table(title, {PURE: jsontide}, {}, 1, bridges.SIZES[:1])
        rows = [line.split("|")[1] for line in written.splitlines() if line.startswith(f"| {PURE}")]
        assert rows
        assert all(f"|{row}|" in page for row in rows), "the page is stale; `make bench` rewrites it"


def test_every_hostile_case_runs_and_the_page_has_only_these() -> None:
    found = [growth.Growth(case, 1, 8, 1, 1, 1) for case in CASES]
    for each in found:
        try:
            each.case.build(8)()
        except Exception as error:
            error.add_note(f"{each.case.entries[0]}: {each.case.given}")
            raise
    page = measured("growth.md")
    assert page.startswith(growth.HEAD)
    known = {" | ".join(growth.row(each, growth.notes_of(found))[:2]) for each in found}
    rows = {" | ".join(line.strip("| ").split(" | ")[:2]) for line in page.splitlines() if line.startswith("| `")}
    assert rows <= known, "the page is stale; `make growth` rewrites it"


def test_every_shape_of_tool_calls_ends_in_the_calls_that_were_meant_and_has_a_row() -> None:
    written = tool_calls.page([("jsontide", tool_calls.jsontide_calls)])
    rows = [line.split(" | ") for line in written.splitlines() if line.startswith("| ")][2:]
    assert {row[1].strip("| ") for row in rows} == {"right"}
    page = measured("tool-calls.md")
    assert [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| ")][2:] == [row[0] for row in rows]
    assert headings(written) == headings(page), "the page is stale; `make peers` rewrites it"


@pytest.mark.long
def test_durable_turns_are_measured_and_every_part_of_the_page_is_there() -> None:
    durable = pytest.importorskip("benchmarks.durable", reason="uvicorn is not installed")
    extent = durable.Extent(2, 0.5, (1_000,), (1, 3), 10.0)
    written = durable.page(durable.measure(extent), extent)
    page = measured("durable.md")
    assert page.startswith(durable.HEAD)
    assert headings(written) == headings(page), "the page is stale; `make durable` rewrites it"


def test_the_page_of_other_menders_is_about_the_cases_of_today_and_has_every_tool() -> None:
    page = measured("mend-peers.md")
    stale = "docs/measured/mend-peers.md is stale; `make mend-peers` rewrites it"
    for has_schema in (False, True):
        cases = [case for case in CORPUS.values() if (case.schema is not None) is has_schema]
        assert mend_peers.content(cases) in page, stale
    assert all(f"| {peer.name} |" in page or f"Missing: {peer.name} (" in page for peer in PEERS), stale
    assert page.startswith(mend_peers.HEAD)
    assert page.endswith(mend_peers.METHOD.read_text("utf-8"))


@pytest.mark.parametrize(
    ("name", "end", "verdict"),
    [
        ("prose-before-an-array-of-numbers", [[2, 3, 5.0, 7]], "right"),
        ("prose-before-an-array-of-numbers", [[2, 3]], "wrong"),
        ("unquoted-value", [], "right"),
        ("unquoted-value", [{"name": "Alice", "age": 30}], "wrong"),
    ],
)
def test_a_value_is_right_or_wrong_and_none_is_right_where_nothing_can_be_read(
    name: str, end: list[object], verdict: str
) -> None:
    assert judge(CORPUS[name], Answer([], end)) == verdict


def test_every_way_that_is_counted_runs_and_is_recorded() -> None:
    record = json.loads(count.RECORD.read_text("utf-8"))
    assert list(record["instructions"]) == list(count.WAYS), "`make count UPDATE=1` rewrites the file"
    for name, prepare in count.WAYS.items():
        assert prepare()() > 100, name


def test_counting_without_valgrind_is_left_out_unless_nothing_may_be(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(count, "toolchain", lambda: json.loads(count.RECORD.read_text("utf-8"))["toolchain"])
    for complete, status in (("", 0), ("1", 1)):
        monkeypatch.setenv("JSONTIDE_COMPLETE", complete)
        assert count.main([]) == status
        assert capsys.readouterr().out == "left out: counting instructions: valgrind is not installed\n"
