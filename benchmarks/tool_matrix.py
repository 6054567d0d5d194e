"""`python -m benchmarks.tool_matrix`: feed every shape of tool calls to every library, and write its page."""

import logging
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.tool_accumulators import PEERS, Accumulator, jsontide_calls
from benchmarks.tool_shapes import SHAPES, Shape

PAGE = Path(__file__).parent.parent / "docs" / "measured" / "tool-calls.md"
HEAD = """# Tool calls of many shapes

Servers that speak Chat Completions do not all stream tool calls as the specification says.
Each row is one shape, fed unchanged to each library; a cell shows what came out.

- *right*: the calls that can be run are the intended ones, with their ids, names and arguments.
- *wrong*: other calls, or a truncated call that is returned as if it were complete.
- an exception: what was raised, while chunks arrived or when the arguments were read.
  For a truncated call, this is correct as well: it is not run.
"""
TAIL = """
The chunks of each shape are in `benchmarks/tool_shapes.py`.
How each library is fed, and how its result is read, is in `benchmarks/tool_accumulators.py`.
`make peers` rewrites this page.
"""


def compare(accumulator: Accumulator, shape: Shape) -> str:
    try:
        calls = accumulator(shape.chunks)
    except Exception as error:  # noqa: BLE001 - that is what is asked
        return f"`{type(error).__name__}`"
    return "right" if calls == shape.calls else "wrong"


def page() -> str:
    titles = ["jsontide", *(f"{name} {version(distribution)}" for name, (distribution, _) in PEERS.items())]
    accumulators = [jsontide_calls, *(accumulator for _, accumulator in PEERS.values())]
    rows = [f"| shape | {' | '.join(titles)} |", f"|{' --- |' * (len(titles) + 1)}"]
    for shape in SHAPES:
        cells = [compare(accumulator, shape) for accumulator in accumulators]
        rows.append(f"| {shape.name} | {' | '.join(cells)} |")
    return "\n".join([HEAD, *rows, TAIL])


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    try:
        text = page()
    except PackageNotFoundError as error:
        sys.exit(f"error: {error.name} is not installed; `make peers` does it")
    PAGE.write_text(text, "utf-8")
    print(f"written: {PAGE}")
