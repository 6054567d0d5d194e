"""The tables of snapshots: what each side sends, what a snapshot costs, and what one more character costs."""

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.cells import answer, cost_cell, figures, share, times
from benchmarks.checks import Run
from benchmarks.documents import SHAPE_NAMES, SIZE_NAMES
from benchmarks.increments import ANEW, BEYOND, COUNTS, PARSING, REWRITTEN, SHARED, TEXT, WHOLE, Increment
from benchmarks.measure import Case, Extent
from benchmarks.ours import COMPILED, PURE
from benchmarks.peers import LOADS
from benchmarks.snapshot_audit import Sending
from benchmarks.tables import Table
from benchmarks.works import WORKS

WAYS = {"snapshots": "", "anew": ", values built anew"}


def snapshot_tables(run: Run, extent: Extent, sides: Sequence[str]) -> list[Table]:
    shapes = [shape for shape in extent.shapes if shape in WORKS["snapshots"].shapes]
    return [
        sending_table(run.sendings),
        *(cost_table(run, extent, sides, shape) for shape in shapes),
        increment_table(run.increments),
    ]


def sending_table(sendings: Mapping[str, Sending]) -> Table:
    rows = [
        [
            side,
            answer(found.is_last_right),
            answer(found.is_last_right_reordered),
            share(found.at_once / found.snapshots),
            times(found.length),
        ]
        for side, found in sendings.items()
    ]
    snapshots = next(iter(sendings.values())).snapshots if sendings else 0
    return Table(
        "What each side sends",
        ["", "last snapshot right", "right with keys reordered", "all sent at once", "characters sent"],
        rows,
        [
            f"{snapshots:,} snapshots of four small documents, one after each token-sized chunk that showed more.",
            "Right: all chunks joined are the last snapshot, or all patches applied give it.",
            "Reordered: the keys of each object are shuffled in each snapshot; jsontide is told that they may be.",
            "Sent at once: of the snapshots, those after which all that they hold was sent.",
            "Characters sent: against the last snapshot as compact text.",
        ],
    )


def cost_table(run: Run, extent: Extent, sides: Sequence[str], shape: str) -> Table:
    sizes = [size for size in extent.sizes if size in WORKS["snapshots"].sizes]
    rows = []
    for side in sides:
        for work, way in WAYS.items():
            costs = [cost_cell(run, Case(shape, size, "tokens", work, side)) for size in sizes]
            if any(costs):
                rows.append([side + way, *costs])
    return Table(
        f"Snapshots of {SHAPE_NAMES[shape]}, one after each chunk of 1 to 8 characters",
        ["µs per snapshot (times jsontide)", *(SIZE_NAMES[size] for size in sizes)],
        rows,
        ["Values in, key order kept: what it takes to turn a snapshot into what is sent."],
    )


def increment_table(increments: Mapping[Increment, float]) -> Table:
    return Table(
        "One character more in the last of many records",
        ["µs per snapshot", *(f"{records:,} records" for records in COUNTS), "last to first"],
        list(increment_rows(increments)) if increments else [],
        [
            "A snapshot of so many records is taken, keys in any order, in which one string is a character longer.",
            "A text goes on where the last one ended, and only what is new of it is parsed; the rest is compared.",
            "Beyond parsing: the same step with values that were parsed before the clock started.",
            "Never going on: every other text begins with white space, so that each is parsed whole.",
        ],
    )


def increment_rows(increments: Mapping[Increment, float]) -> Iterator[list[str]]:
    for side in (COMPILED, PURE):
        costs = {way: costs_of(increments, way, side) for way in (TEXT, PARSING, BEYOND, REWRITTEN, SHARED, ANEW)}
        if not all(costs.values()):
            continue
        for way, found in costs.items():
            yield increment_row(f"{side}, {way}", found)
            if way == PARSING:
                shares = [parsing / whole for parsing, whole in zip(found, costs[TEXT], strict=True)]
                yield [f"{side}, share of parsing", *(f"{part:.0%}" for part in shares), ""]
    yield increment_row(f"{LOADS} {WHOLE}", costs_of(increments, WHOLE, LOADS))


def costs_of(increments: Mapping[Increment, float], way: str, side: str) -> list[float]:
    found = (increments.get(Increment(records, way, side)) for records in COUNTS)
    return [cost for cost in found if cost is not None]


def increment_row(name: str, costs: Sequence[float]) -> list[str]:
    return [name, *(figures(cost * 1e6) for cost in costs), times(costs[-1] / costs[0])]
