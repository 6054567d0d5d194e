"""The page that compares tools on the corpus of bad JSON; the tools are not needed for this."""

from benchmarks.builds import ROOT
from benchmarks.mend_peers.__main__ import PAGE
from benchmarks.mend_peers.kinds import Answer
from benchmarks.mend_peers.peers import PEERS
from benchmarks.mend_peers.report import content
from benchmarks.mend_peers.score import judge
from tests.mend.cases import read_corpus

CASES = {case.name: case for case in read_corpus()}
STALE = "docs/measured/mend-peers.md is stale; `make mend-peers` rewrites it"


def test_the_page_is_about_the_cases_of_today_and_has_every_tool() -> None:
    page = (ROOT / "docs" / "measured" / PAGE).read_text("utf-8")
    for has_schema in (False, True):
        assert content([case for case in CASES.values() if (case.schema is not None) is has_schema]) in page, STALE
    assert all(f"| {peer.name} |" in page or f"Missing: {peer.name} (" in page for peer in PEERS), STALE


def test_a_value_is_right_or_wrong_and_an_error_is_right_where_nothing_can_be_read() -> None:
    assert judge(CASES["prose-before-an-array-of-numbers"], Answer([], [[2, 3, 5.0, 7]])) == "right"
    assert judge(CASES["prose-before-an-array-of-numbers"], Answer([], [[2, 3]])) == "wrong"
    assert judge(CASES["prose-before-an-array-of-numbers"], Answer([], [""])) == "error"
    assert judge(CASES["unquoted-value"], Answer([], [], "ValueError")) == "right"
    assert judge(CASES["unquoted-value"], Answer([], [{"name": "Alice", "age": 30}])) == "wrong"
    assert judge(CASES["prose-and-nothing-else"], Answer([], [""])) == "right"
    assert judge(CASES["cut-in-a-word"], Answer([], [{"open": False, "paid": True}])) == "right"
    assert judge(CASES["cut-in-a-number"], Answer([], [{"year": 1987, "budget": 12}])) == "wrong"
