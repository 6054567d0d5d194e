"""The page that compares what becomes of tool calls; other libraries are not needed for this."""

from benchmarks.tool_accumulators import jsontide_calls
from benchmarks.tool_matrix import PAGE
from benchmarks.tool_shapes import SHAPES


def test_every_shape_ends_in_the_calls_that_were_meant() -> None:
    for shape in SHAPES:
        assert jsontide_calls(shape.chunks) == shape.calls, shape.name


def test_the_page_has_every_shape() -> None:
    rows = [line.split("|")[1].strip() for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    assert rows[2:] == [shape.name for shape in SHAPES], "the page is stale; `make peers` rewrites it"
