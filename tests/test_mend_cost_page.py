"""The benchmark of mending without its clock: its texts, its sides and its page."""

import ast
import json
from pathlib import Path

import pytest

import jsontide
import jsontide.mend
from benchmarks.documents import SIZES
from benchmarks.jsontide_sides import PURE
from benchmarks.measure import Case
from benchmarks.mend_cost import (
    CLEAN,
    CUT,
    DIRTY,
    HEAD,
    MEND,
    METHOD,
    PEERS,
    STRICT,
    measure,
    page,
    ratios,
    text_of,
    ways_of,
)
from benchmarks.peers import reparse_text
from jsontide.mend import MODELS, RepairKind, finish_mend, mend_chunk, start_mend

pytestmark = [pytest.mark.untraced, pytest.mark.once]  # the benchmark is under test, and not the library

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("size", [1_000, 10_000])
def test_the_dirty_text_means_what_python_reads_in_it(size: int) -> None:
    text = text_of(DIRTY, size)
    inside = text.text[text.text.index("{") : text.text.rindex("}") + 1]
    assert ways_of(jsontide)[MEND](text.chunks) == ast.literal_eval(inside.replace("null", "None"))
    assert abs(len(text.text) - size) < 500


def test_the_dirty_text_has_the_repairs_that_the_page_names() -> None:
    state, _, _ = mend_chunk(start_mend(MODELS), text_of(DIRTY, 10_000).text)
    state, _, _ = finish_mend(state)
    kinds = {repair.kind for repair in state.repairs}
    assert kinds == {RepairKind.PROSE, RepairKind.FENCE, RepairKind.LITERAL, RepairKind.TRAILING_COMMA}


def test_the_largest_dirty_text_has_no_more_repairs_than_are_allowed() -> None:
    state, _, _ = mend_chunk(start_mend(MODELS), text_of(DIRTY, SIZES[-1]).text)
    assert state.error is None


@pytest.mark.parametrize("shape", CLEAN)
def test_on_clean_text_both_ways_read_the_same(shape: str) -> None:
    text = text_of(shape, 10_000)
    read = ways_of(jsontide)
    assert read[STRICT](text.chunks) == read[MEND](text.chunks) == json.loads(text.text)


def test_every_side_is_measured_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PEERS, "json_repair", lambda: reparse_text(json.loads))
    run = measure({PURE: jsontide}, ["json_repair"], [1_000], 1)
    assert {(case.shape, case.kind) for case in run.costs if case.side == PURE} == {
        *((shape, way) for shape in CLEAN for way in (STRICT, MEND)),
        (DIRTY, MEND),
    }
    assert Case(DIRTY, 1_000, CUT, MEND, "json_repair") in run.costs
    assert len(ratios(run, "records", PURE, [1_000])) == 1
    shown = page(run, [1_000], ["a machine"])
    assert shown.count(f"| {PURE}, mend | ") == 2
    assert f"| records in an object: {PURE} | x" in shown
    assert "| json_repair | " in shown


def test_the_page_has_the_text_of_the_benchmark() -> None:
    written = (DOCS / "measured" / "mend-cost.md").read_text("utf-8")
    assert written.startswith(HEAD)
    assert written.endswith(METHOD.read_text("utf-8"))
