"""Pages of docs/measured that compare and count: they are about the cases of today; other tools are not needed here."""

from pathlib import Path

import pytest

from benchmarks import mend_cost, tool_matrix
from benchmarks.documents import dirty_document
from benchmarks.mend_peers.__main__ import PAGE
from benchmarks.mend_peers.peers import PEERS
from benchmarks.mend_peers.report import content
from benchmarks.mend_peers.score import judge
from benchmarks.mend_peers.tools import Answer
from benchmarks.tool_accumulators import jsontide_calls
from benchmarks.tool_shapes import SHAPES
from jsontide.mend import MODELS, RepairKind, feed_mend, finish_mend, start_mend
from tests.mend.cases import read_corpus

pytestmark = pytest.mark.untraced  # the benchmarks are under test, and not the library

MEASURED = Path(__file__).parents[1] / "docs" / "measured"
CASES = {case.name: case for case in read_corpus()}


class TestToolCalls:
    def test_every_shape_ends_in_the_calls_that_were_meant(self) -> None:
        for shape in SHAPES:
            assert jsontide_calls(shape.chunks) == shape.calls, shape.name

    def test_the_page_has_every_shape(self) -> None:
        page = tool_matrix.PAGE.read_text("utf-8")
        rows = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")]
        assert rows[2:] == [shape.name for shape in SHAPES], "the page is stale; `make peers` rewrites it"


class TestOtherMenders:
    def test_the_page_is_about_the_cases_of_today_and_has_every_tool(self) -> None:
        page = (MEASURED / PAGE).read_text("utf-8")
        stale = "docs/measured/mend-peers.md is stale; `make mend-peers` rewrites it"
        for has_schema in (False, True):
            assert content([case for case in CASES.values() if (case.schema is not None) is has_schema]) in page, stale
        assert all(f"| {peer.name} |" in page or f"Missing: {peer.name} (" in page for peer in PEERS), stale

    @pytest.mark.parametrize(
        ("name", "answer", "verdict"),
        [
            ("prose-before-an-array-of-numbers", Answer([], [[2, 3, 5.0, 7]]), "right"),
            ("prose-before-an-array-of-numbers", Answer([], [[2, 3]]), "wrong"),
            ("prose-before-an-array-of-numbers", Answer([], [""]), "error"),
            ("unquoted-value", Answer([], [], "ValueError"), "right"),
            ("unquoted-value", Answer([], [{"name": "Alice", "age": 30}]), "wrong"),
            ("prose-and-nothing-else", Answer([], [""]), "right"),
            ("cut-in-a-word", Answer([], [{"open": False, "paid": True}]), "right"),
            ("cut-in-a-number", Answer([], [{"year": 1987, "budget": 12}]), "wrong"),
        ],
    )
    def test_a_value_is_right_or_wrong_and_an_error_is_right_where_nothing_can_be_read(
        self, name: str, answer: Answer, verdict: str
    ) -> None:
        assert judge(CASES[name], answer) == verdict


class TestCostOfMending:
    def test_the_dirty_text_has_the_repairs_that_the_page_names(self) -> None:
        state, _, _ = feed_mend(start_mend(MODELS), dirty_document(10_000).text)
        state, _, _ = finish_mend(state)
        named = {RepairKind.PROSE, RepairKind.FENCE, RepairKind.LITERAL, RepairKind.TRAILING_COMMA}
        assert (state.error, {repair.kind for repair in state.repairs}) == (None, named)

    def test_the_page_has_the_text_of_the_benchmark(self) -> None:
        page = (MEASURED / "mend-cost.md").read_text("utf-8")
        assert page.startswith(mend_cost.HEAD)
        assert page.endswith(mend_cost.METHOD.read_text("utf-8"))
