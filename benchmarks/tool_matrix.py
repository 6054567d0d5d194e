"""`python -m benchmarks.tool_matrix`: feed every shape of tool calls to every library, and write docs/tool-calls.md."""

import logging
import sys
from pathlib import Path

from benchmarks.tool_accumulators import PEERS, Accumulator, jsontide_calls, version_of
from benchmarks.tool_shapes import SHAPES, Shape

PAGE = Path(__file__).parent.parent / "docs" / "tool-calls.md"
HEAD = """# Tool calls of many shapes

Servers that speak Chat Completions do not all stream tool calls as the specification says.
Each row is one shape, fed as it is to those who put calls together; a cell tells what came out.

- *right*: the calls that can be run are the ones that were meant, with their ids, names and arguments.
- *wrong*: other calls, or a call that was cut off and is handed out all the same.
- an exception: what was raised, while chunks came or when the arguments were read.
  For what was cut off that is a refusal too.
"""
TAIL = """
The chunks of each shape stand in `benchmarks/tool_shapes.py`.
How each library is fed, and what a program does with what it gets, stands in `benchmarks/tool_accumulators.py`.
`make peers` writes this page again.
"""


def verdict(accumulator: Accumulator, shape: Shape) -> str:
    try:
        calls = accumulator(shape.chunks)
    except Exception as error:  # noqa: BLE001 - that is what is asked
        return f"`{type(error).__name__}`"
    return "right" if calls == shape.calls else "wrong"


def page() -> str:
    sides = {"jsontide": jsontide_calls, **{name: accumulator for name, (_, accumulator) in PEERS.items()}}
    titles = ["jsontide", *(f"{name} {version_of(distribution)}" for name, (distribution, _) in PEERS.items())]
    rows = [f"| shape | {' | '.join(titles)} |", f"|{' --- |' * (len(titles) + 1)}"]
    for shape in SHAPES:
        cells = [verdict(accumulator, shape) for accumulator in sides.values()]
        rows.append(f"| {shape.name} | {' | '.join(cells)} |")
    return "\n".join([HEAD, *rows, TAIL])


def main() -> None:
    logging.disable(logging.CRITICAL)
    missing = [distribution for distribution, _ in PEERS.values() if version_of(distribution) is None]
    if missing:
        sys.exit(f"error: {', '.join(missing)} not installed; `make peers` does it")
    PAGE.write_text(page(), "utf-8")
    print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
