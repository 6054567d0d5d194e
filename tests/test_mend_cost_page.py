"""The page about the cost of mending: what it says of the texts that are measured."""

from pathlib import Path

import pytest

from benchmarks.mend_cost import DIRTY, HEAD, METHOD, text_of
from jsontide.mend import MODELS, RepairKind, finish_mend, mend_chunk, start_mend

pytestmark = [pytest.mark.untraced, pytest.mark.once]  # the benchmark is under test, and not the library

DOCS = Path(__file__).parents[1] / "docs"


def test_the_dirty_text_has_the_repairs_that_the_page_names() -> None:
    state, _, _ = mend_chunk(start_mend(MODELS), text_of(DIRTY, 10_000).text)
    state, _, _ = finish_mend(state)
    kinds = {repair.kind for repair in state.repairs}
    assert (state.error, kinds) == (
        None,
        {RepairKind.PROSE, RepairKind.FENCE, RepairKind.LITERAL, RepairKind.TRAILING_COMMA},
    )


def test_the_page_has_the_text_of_the_benchmark() -> None:
    written = (DOCS / "measured" / "mend-cost.md").read_text("utf-8")
    assert written.startswith(HEAD)
    assert written.endswith(METHOD.read_text("utf-8"))
