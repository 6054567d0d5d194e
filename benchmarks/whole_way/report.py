"""From what was found to tables and to docs/measured/whole-way.md.

In: what was found and what it ran on. Out: the page, generated and never edited by hand.
Rule: no figure without version, machine and command.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.documents import SIZE_NAMES
from benchmarks.measure import Run
from benchmarks.report import ratio_cell
from benchmarks.tables import table, times
from benchmarks.whole_way.clients import ANTHROPIC, CREATE, GENAI
from benchmarks.whole_way.crowd import CROWD, OPEN_SIZE
from benchmarks.whole_way.measure import Extent, Found
from benchmarks.whole_way.sides import BY_HAND, OWN
from benchmarks.whole_way.targets import case_of, target_table
from benchmarks.whole_way.works import TOOL_CALL

METHOD = Path(__file__).with_name("method.md")
CLIENTS = (CREATE, ANTHROPIC, GENAI)


def page(found: Found, extent: Extent, circumstances: Sequence[str]) -> str:
    return "\n".join(
        [
            "# The whole way",
            "",
            "What an event costs on its way from the bytes of a response to the message and its partial arguments.",
            "This page is written by `make bench`; all its figures are from one run.",
            "",
            *(f"{line}  " for line in circumstances),
            "",
            "## Results",
            "",
            *sections(found, extent),
            METHOD.read_text(encoding="utf-8"),
        ]
    )


def sections(found: Found, extent: Extent) -> Iterator[str]:
    run = found.run
    tables = [
        tool_call_table(run, extent),
        target_table(run),
        *(streams_table(run, extent, size) for size in extent.sizes),
        crowd_table(run, extent),
        memory_table(found),
    ]
    return filter(None, tables)


def tool_call_table(run: Run, extent: Extent) -> str:
    """All sides; the ratio is to the first build of jsontide that was measured."""
    own = next((side for side in run.sides if side in OWN), "")
    rows = []
    for side in run.sides:
        cases = [case_of(TOOL_CALL.name, size, side) for size in extent.sizes]
        baselines = [run.seconds(case_of(TOOL_CALL.name, size, own)) for size in extent.sizes]
        rows.append([side, *(ratio_cell(run, case, 1e6, base) for case, base in zip(cases, baselines, strict=True))])
    header = ["µs per event (times jsontide)", *(SIZE_NAMES[size] for size in extent.sizes)]
    return table(
        "A tool call of OpenAI Chat Completions",
        header,
        [row for row in rows if any(row[1:])],
        ["From bytes, one event a read; partial arguments are read at each event, unless only objects are made."],
    )


def streams_table(run: Run, extent: Extent, size: int) -> str:
    own = [side for side in run.sides if side in OWN]
    rows = []
    for work in extent.works:
        hand = run.seconds(case_of(work.name, size, BY_HAND))
        cells = [ratio_cell(run, case_of(work.name, size, side), 1e6, hand) for side in (BY_HAND, *own)]
        clients = (ratio_cell(run, case_of(work.name, size, side), 1e6, hand) for side in CLIENTS)
        rows.append([work.name, *cells, next(filter(None, clients), "")])
    return table(
        f"All streams, {SIZE_NAMES[size]}",
        ["µs per event (times by hand)", "by hand", *own, "client"],
        [row for row in rows if any(row[1:])],
        [f"Client: {', '.join(CLIENTS)}; the one whose stream it is."],
    )


def crowd_table(run: Run, extent: Extent) -> str:
    seconds = {side: run.seconds(case_of(CROWD, extent.streams, side)) for side in run.sides}
    hand = seconds.get(BY_HAND)
    rows = [[side, f"{1 / each:,.0f}", times(hand / each) if hand else ""] for side, each in seconds.items() if each]
    return table(f"{extent.streams:,} {CROWD}", ["", "events per second", "times by hand"], rows)


def memory_table(found: Found) -> str:
    hand = found.memory.get(BY_HAND)
    rows = [[side, f"{held / 1e3:,.1f} KB", times(held / hand) if hand else ""] for side, held in found.memory.items()]
    title = f"Memory of an open stream with {OPEN_SIZE // 1000} KB of arguments"
    return table(title, ["", "memory", "times by hand"], rows)
