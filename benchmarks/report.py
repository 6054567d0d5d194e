"""From a run to tables and to docs/benchmarks.md.

In: a run and what it ran on. Out: tables; the page that holds all of them, generated and never edited by hand.
Rule: no figure without version, machine and command.
"""

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.audit import FLICKER, Finding
from benchmarks.cells import answer, cost_cell, figures, share, times
from benchmarks.checks import Check, Figure, Run, checks
from benchmarks.documents import SHAPE_NAMES, SIZE_NAMES
from benchmarks.event_audit import DOTTED, ELEMENTS, Hearing
from benchmarks.measure import Case, Extent
from benchmarks.memory import KEPT
from benchmarks.peers import LOADS
from benchmarks.snapshot_tables import snapshot_tables
from benchmarks.tables import Table, markdown
from benchmarks.works import Side

CUT_NAMES = {"tokens": "chunks of 1 to 8 characters", "lines": "chunks of 48 to 80 characters"}
WAYS = {"dropped": "", "held": ", last value held", "unread": ", value unread"}
METHOD = Path(__file__).with_name("method.md")


@dataclass(frozen=True)
class Circumstances:
    """What the figures were made with; `missing` says why a side has none."""

    sides: Sequence[Side]
    missing: dict[str, str]
    ours: str
    command: str
    extent: Extent

    def lines(self) -> list[str]:
        return [
            f"`{self.command}`: jsontide {self.ours}, least of up to {self.extent.rounds} rounds.",
            f"{platform.python_implementation()} {platform.python_version()}.",
            f"{platform.system()}, {platform.machine()}, {os.cpu_count()} processors.",
            f"Peers: {', '.join(self.versions())}.",
            *(f"Missing: {name} ({reason})." for name, reason in self.missing.items()),
        ]

    def versions(self) -> Iterable[str]:
        for name in sorted({name for side in self.sides for name in side.distributions}):
            try:
                yield f"{name} {version(name)}"
            except PackageNotFoundError:
                continue


@dataclass(frozen=True)
class Report:
    """All tables: of values, events, snapshots and values through a schema, and whether they reach their targets."""

    values: Sequence[Table]
    events: Sequence[Table]
    snapshots: Sequence[Table]
    typed: Sequence[Table]
    targets: Table


def audit_table(findings: dict[str, Finding]) -> Table:
    rows = [
        [
            side,
            share(found.strings),
            f"{found.right / found.chunks:.0%}",
            *(str(found.flicker[kind]) for kind in FLICKER),
            str(found.raised),
            answer(found.is_final_right),
        ]
        for side, found in findings.items()
    ]
    chunks = next(iter(findings.values())).chunks if findings else 0
    return Table(
        "What each side shows",
        ["", "growing strings", "chunks right", *FLICKER, "raised", "final value right"],
        rows,
        [
            f"{chunks:,} token-sized chunks of five small documents, compared after every chunk with a model.",
            "Growing strings: of the chunks that end inside a string, those after which it is shown as far as it came.",
            "Chunks right: the whole value is what the text shows; numbers count from their end on.",
            "The next four columns count what was shown and then taken back.",
        ],
    )


def typing_table(typings: dict[str, Finding]) -> Table:
    """The same audit of what is seen through a schema."""
    table = audit_table(typings)
    chunks = next(iter(typings.values())).chunks if typings else 0
    notes = [
        f"{chunks:,} token-sized chunks of records, compared after every chunk with a model of what the text shows.",
        "Raised: the chunks after which a side showed nothing but an exception.",
    ]
    return replace(table, title="What each side shows through a schema", notes=notes)


def hearing_table(hearings: dict[str, Hearing]) -> Table:
    rows = [
        [
            side,
            f"{found.events:,}",
            share(found.strings),
            answer(found.are_values_right),
            answer(found.tells_end),
            answer(found.tells_elements_apart),
            answer(found.tells_dots_apart),
        ]
        for side, found in hearings.items()
    ]
    chunks = next(iter(hearings.values())).chunks if hearings else 0
    return Table(
        "What each side tells",
        ["", "events", "growing strings", "values right", "end of document", "elements apart", "dots apart"],
        rows,
        [
            f"{chunks:,} token-sized chunks of five small documents.",
            "Growing strings: of the chunks that end inside a string, those after which all of it so far was told.",
            "Values right: all whole strings, numbers, booleans and nulls were told, in the order of the text.",
            f"Apart: the two values of `{ELEMENTS}`, and those of `{DOTTED}`, have different paths.",
        ],
    )


def check_table(found: Sequence[Check]) -> Table:
    measured = [one for one in found if one.is_measured]
    rows = [[one.demand, one.target, cell(one.dropped), second(one), one.reached] for one in measured]
    left = len(found) - len(measured)
    return Table(
        "Targets",
        ["demand", "target", "value dropped", "last value held", "reached"],
        rows,
        [
            "Against a peer: its cost divided by ours; otherwise the greater figure divided by the smaller.",
            "A place in brackets is where the worst of several figures was found.",
            "What has no value to hold, as events and memory, has one figure.",
            *([f"{left} more were not measured in this run."] if left else []),
        ],
        figures=False,
    )


def second(check: Check) -> str:
    """What is not read, events, and memory have one figure for both ways."""
    return "" if check.held is check.dropped else cell(check.held)


def cell(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    value = f"{figure.value:,.0f}" if figure.value >= 100 else f"{figure.value:.2f}"  # noqa: PLR2004
    return f"{value} ({figure.where})" if figure.where else value


def cost_tables(run: Run, extent: Extent, sides: Sequence[str]) -> list[Table]:
    return [cost_table(run, extent, sides, shape, cut) for shape in extent.shapes for cut in extent.cuts]


def cost_table(run: Run, extent: Extent, sides: Sequence[str], shape: str, cut: str) -> Table:
    rows = []
    for side in sides:
        for work, way in WAYS.items():
            costs = [cost_cell(run, Case(shape, size, cut, work, side)) for size in extent.sizes]
            if any(costs):
                rows.append([side + way, *costs])
    return Table(
        f"{SHAPE_NAMES[shape][0].upper()}{SHAPE_NAMES[shape][1:]}, {CUT_NAMES[cut]}",
        ["µs per chunk (times jsontide)", *(SIZE_NAMES[size] for size in extent.sizes)],
        rows,
    )


def event_tables(run: Run, extent: Extent, sides: Sequence[str]) -> list[Table]:
    return [event_table(run, extent, sides, shape, cut) for shape in extent.shapes for cut in extent.cuts]


def event_table(run: Run, extent: Extent, sides: Sequence[str], shape: str, cut: str) -> Table:
    rows = []
    for work, looked in (("events", ""), ("told", ", nobody looks")):
        for side in sides:
            costs = [cost_cell(run, Case(shape, size, cut, work, side)) for size in extent.sizes]
            if any(costs):
                rows.append([f"{side}{looked}", *costs])
    return Table(
        f"Events of {SHAPE_NAMES[shape]}, {CUT_NAMES[cut]}",
        ["µs per chunk (times jsontide)", *(SIZE_NAMES[size] for size in extent.sizes)],
        rows,
    )


def typed_table(run: Run, extent: Extent, sides: Sequence[str], cut: str) -> Table:
    rows = []
    for side in sides:
        costs = [cost_cell(run, Case("records", size, cut, "schema", side)) for size in extent.sizes]
        if any(costs):
            rows.append([side, *costs])
    return Table(
        f"Records through a schema, {CUT_NAMES[cut]}",
        ["µs per chunk (times jsontide)", *(SIZE_NAMES[size] for size in extent.sizes)],
        rows,
    )


def final_table(run: Run, extent: Extent, sides: Sequence[str]) -> Table:
    rows = []
    for side in sides:
        for cut in extent.cuts:
            costs = [final_cell(run, Case("records", size, cut, "final", side)) for size in extent.sizes]
            if any(costs):
                rows.append([f"{side}, {cut}", *costs])
    return Table(
        "Final value only, records",
        ["ms per document (times json.loads)", *(SIZE_NAMES[size] for size in extent.sizes)],
        rows,
        ["All chunks are fed, or joined where a library takes whole texts only, and the value is read once."],
    )


def final_cell(run: Run, case: Case) -> str:
    cost = run.results.costs.get(case)
    if cost is None:
        return run.results.failures.get(case, "")
    floor = run.results.seconds(Case(case.shape, case.size, case.cut, case.work, LOADS))
    # A cost is per chunk, of the same number of chunks for all; the table speaks of documents.
    ratio = f" ({times(cost.seconds / floor)})" if floor else ""
    return f"{cost.mark}{figures(cost.seconds * cost.chunks * 1e3)}{ratio}"


def memory_table(run: Run) -> Table:
    rows = [
        [
            side,
            f"{found.finished / 1e6:.2f} MB",
            f"{found.loads / 1e6:.2f} MB",
            f"{found.ratio:.2f}",
            f"{found.kept_unread:,.0f} B",
            f"{found.kept_read:,.0f} B",
        ]
        for side, found in run.memory.items()
    ]
    header = ["", "document and state", "json.loads", "ratio", "a kept state, unread", "a kept state, read"]
    return Table(
        "Memory",
        header,
        rows,
        [
            "A finished records document of 1 MB, every value read on the way, and its last state, by tracemalloc.",
            f"A kept state: {KEPT:,} states of one stream, less the last one alone, divided by their number.",
        ],
    )


def report(run: Run, extent: Extent, sides: Sequence[str]) -> Report:
    """What was not measured has no table; what was not reached has its row."""
    values = [
        audit_table(dict(run.findings)),
        *cost_tables(run, extent, sides),
        final_table(run, extent, sides),
        memory_table(run),
    ]
    events = [hearing_table(dict(run.hearings)), *event_tables(run, extent, sides)]
    typed = [typing_table(dict(run.typings)), *(typed_table(run, extent, sides, cut) for cut in extent.cuts)]
    return Report(
        [table for table in values if table.rows],
        [table for table in events if table.rows],
        [table for table in snapshot_tables(run, extent, sides) if table.rows],
        [table for table in typed if table.rows],
        check_table(checks(run)),
    )


def page(found: Report, circumstances: Circumstances, picture: str) -> str:
    return "\n".join(
        [
            "# Benchmarks",
            "",
            "This page is written by `make bench`; all its figures are from one run.",
            "",
            *(f"{line}  " for line in circumstances.lines()),
            "",
            f"![Cost per chunk over document size]({picture})",
            "",
            METHOD.read_text(encoding="utf-8"),
            *(markdown(table) for table in (found.targets, *found.values)),
            *section("Events", found.events),
            *section("Snapshots", found.snapshots),
            *section("Schemas", found.typed),
        ]
    )


def section(title: str, tables: Sequence[Table]) -> list[str]:
    """A part of the page, where it has tables."""
    return [f"## {title}", "", *(markdown(table) for table in tables)] if tables else []
