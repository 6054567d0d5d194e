"""From a run to tables and to docs/measured/benchmarks.md.

In: a run and what it ran on. Out: targets and tables; the page that holds all of them, generated and never edited.
Rule: no figure without version, machine and command.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from benchmarks.documents import CLEAN, CUTS, DIRTY, SHAPE_NAMES, SIZE_NAMES, SIZES
from benchmarks.kinds import KINDS
from benchmarks.measure import KEPT, LOADS_MEMORY, READ, STATE, UNREAD, Extent
from benchmarks.pages import (
    BUILDS,
    COMPILED,
    PURE,
    Figure,
    Target,
    answer,
    percent,
    ratio_cell,
    share,
    table,
    target_table,
)
from benchmarks.sides import (
    IJSON_C,
    IJSON_PYTHON,
    INSTRUCTOR,
    JITER,
    JSONMEND,
    LOADS,
    PARTIAL_VALIDATION,
    STREAMING_NATIVE,
    STREAMING_PURE,
    VALIDATION_AGAIN,
)
from benchmarks.timing import Case, Run

METHOD = Path(__file__).with_name("method.md")
CUT_NAMES = {"tokens": "chunks of 1 to 8 characters", "lines": "chunks of 48 to 80 characters"}
# The share of chunks inside a string from which on a side counts as one that shows growing strings.
SHOWS_STRINGS = 0.95
VALUE = ("dropped", "held")
FLAT_SIZES = SIZES[1:]

AUDITS = {
    "values": (
        "What each side shows",
        "{:,} token-sized chunks of five small documents, compared after every chunk with a model.",
        "Growing strings: of the chunks that end inside a string, those after which all received of it is shown.",
        "Chunks right: the whole value is what the text shows; a number counts once it is complete.",
        "The next four columns count what was shown and later retracted.",
    ),
    "schema": (
        "What each side shows through a schema",
        "{:,} token-sized chunks of records, compared after every chunk with a model of what the text shows.",
        "Raised: the chunks after which a side showed nothing but an exception.",
    ),
}
"""By the name of an audit: the title of its table, and its notes, of which the first has how much was compared."""

FORMATS = {"growing strings": share, "chunks right": percent}
"""By column of an audit; in all others a number is a count."""


def targets(run: Run) -> Iterator[Target]:
    peers = [side for side in run.sides if side not in BUILDS]
    values = run.audits.get("values", {})
    showing = [peer for peer in peers if peer in values and values[peer]["growing strings"] >= SHOWS_STRINGS]
    for size, bound in zip(SIZES, ("≥ 4", "≥ 30", "≥ 250"), strict=False):
        yield Target(
            f"compiled against jiter, records, {SIZE_NAMES[size]}",
            bound,
            against(run, COMPILED, [JITER], places(sizes=[size])),
        )
    for peer, sizes, bound in ((STREAMING_PURE, SIZES[:3], "≥ 5"), (STREAMING_NATIVE, SIZES, "≥ 1")):
        yield Target(
            f"compiled against {peer}, records, 1 KB to {SIZE_NAMES[sizes[-1]]}",
            bound,
            against(run, COMPILED, [peer], places(sizes=sizes)),
        )
    others = [peer for peer in showing if peer != JITER]
    yield Target(
        "compiled against any peer but jiter that shows growing strings, records, 1 KB to 100 KB",
        "≥ 5",
        against(run, COMPILED, others, places(sizes=SIZES[:3])),
    )
    for shape in ("string", "deep", "flat"):
        found = against(run, COMPILED, peers, places([shape], cuts=CUTS))
        yield Target(f"compiled against every peer, every cut and size, {shape}", "≥ 1", found)
    found = worst_of(run, VALUE, (SIZES[1], SIZES[-1]), CLEAN, lambda costs: costs[-1] / costs[0])
    yield Target("compiled, value read, 1 MB / 10 KB, every shape", "≤ 2", found)
    yield Target(
        "compiled, value unread, 10 KB to 1 MB, every shape", "≤ 1.5", worst_of(run, ["unread"], FLAT_SIZES, CLEAN)
    )
    for size, bound in zip(SIZES, ("≥ 1", "≥ 9"), strict=False):
        found = against(run, PURE, [JITER], places(sizes=[size]))
        yield Target(f"pure Python against jiter, records, {SIZE_NAMES[size]}", bound, found)
    text = f"pure Python against {STREAMING_PURE}"
    yield Target(f"{text}, records, tokens, every size", "≥ 1", against(run, PURE, [STREAMING_PURE], places()))
    found = against(run, PURE, [STREAMING_PURE], places(CLEAN, cuts=CUTS))
    yield Target(f"{text}, every shape, cut and size", "≥ 1", found)
    yield from event_targets(run)
    yield from schema_targets(run)
    yield from mending_targets(run)
    for side in BUILDS:
        held = run.memory.get((STATE, side))
        ratio = Figure(held / run.memory[LOADS_MEMORY, side]) if held else None
        yield Target(f"memory of a finished 1 MB document and its state / json.loads, {side}", "≤ 3", ratio)


def event_targets(run: Run) -> Iterator[Target]:
    for build, peer, bound in ((COMPILED, IJSON_C, "≥ 1.0"), (PURE, IJSON_PYTHON, "≥ 2.5")):
        found = against(run, build, [peer], places(kinds=["events"]))
        yield Target(f"events, all of it looked at, {BUILDS[build]} against {peer}, records", bound, found)
    yield Target("events, compiled, 1 KB to 1 MB, records", "≤ 1.5", worst_of(run, ["events"], SIZES))


def schema_targets(run: Run) -> Iterator[Target]:
    validating = [PARTIAL_VALIDATION, VALIDATION_AGAIN, INSTRUCTOR]
    for build, name in BUILDS.items():
        found = against(run, build, validating, places(kinds=["schema"]))
        yield Target(f"through a schema, {name} against pydantic and instructor, records", "≥ 1", found)
    yield Target("through a schema, compiled, 10 KB to 1 MB, records", "≤ 1.5", worst_of(run, ["schema"], FLAT_SIZES))


def mending_targets(run: Run) -> Iterator[Target]:
    clean = places(kinds=["mended"])
    for build, name in BUILDS.items():
        found = [
            Figure(cost / strict, where(case))
            for case in clean
            if (cost := run.seconds(replace(case, side=build)))
            and (strict := run.seconds(replace(case, side=build, kind="strict")))
        ]
        yield Target(f"clean text, with mending / strict, {name}, records", "≤ 2", most(found))
    read = [replace(case, side=PURE) for case in places(kinds=["dropped"])]
    found = [Figure(cost * 1e6, SIZE_NAMES[case.size]) for case in read if (cost := run.seconds(case))]
    yield Target("pure Python, strict, value read at each chunk, records", "≤ 2.5 µs", most(found))
    found = [
        Figure(cost / other, where(case))
        for case in places(["records", DIRTY], kinds=["mended"])
        if (cost := run.seconds(replace(case, side=PURE))) and (other := run.seconds(replace(case, side=JSONMEND)))
    ]
    yield Target(f"pure Python, with mending, value read at each chunk / {JSONMEND}", "≤ 1.3", most(found))


def places(
    shapes: Sequence[str] = ("records",),
    sizes: Sequence[int] = SIZES,
    cuts: Sequence[str] | dict[str, tuple[int, int]] = ("tokens",),
    kinds: Sequence[str] = VALUE,
) -> list[Case]:
    """The same work for any side."""
    return [Case(*each, "") for each in product(shapes, sizes, cuts, kinds)]


def where(case: Case) -> str:
    held = ", last value held" if case.kind == "held" else ""
    return f"{case.shape}, {SIZE_NAMES[case.size]}, {case.cut}{held}"


def most(found: Sequence[Figure]) -> Figure | None:
    return max(found, key=lambda figure: figure.value, default=None)


def against(run: Run, ours: str, peers: Sequence[str], cases: Sequence[Case]) -> Figure | None:
    """The least of the peers' costs divided by ours: 5 means that ours takes a fifth of the time."""
    found = [
        Figure(other / own, f"{peer}, {where(case)}")
        for case, peer in product(cases, peers)
        if (own := seconds(run, ours, case)) and (other := seconds(run, peer, case))
    ]
    return min(found, key=lambda figure: figure.value, default=None)


def seconds(run: Run, side: str, case: Case) -> float | None:
    """A side that makes each value anew is measured once for both ways to read."""
    found = run.seconds(replace(case, side=side))
    if found is None and case.kind == "held":
        return run.seconds(replace(case, side=side, kind="dropped"))
    return found


def spread(costs: Sequence[float]) -> float:
    return max(costs) / min(costs)


def worst_of(
    run: Run,
    kinds: Sequence[str],
    sizes: Sequence[int],
    shapes: Sequence[str] = ("records",),
    compare: Callable[[Sequence[float]], float] = spread,
) -> Figure | None:
    """How the costs of the compiled build at these sizes compare, for the worst shape and kind."""
    found = []
    for shape, kind in product(shapes, kinds):
        costs = [run.seconds(Case(shape, size, "tokens", kind, COMPILED)) for size in sizes]
        known = [cost for cost in costs if cost is not None]
        if len(known) < len(costs):
            return None
        found.append(Figure(compare(known), f"{shape}, {kind}"))
    return most(found)


def report(run: Run, extent: Extent) -> dict[str, list[str]]:
    """All tables by the title of their section; what was not measured has none."""
    values = cost_tables(run, extent, "{shape}, {cut}", [("dropped", "held", "unread")])
    events = cost_tables(run, extent, "Events of {shape}, {cut}", [("events",), ("unread_events",)])
    title = "Snapshots of {shape}, one after each chunk of 1 to 8 characters"
    notes = ["Key order kept: the cost of turning a snapshot into what is sent, or for `json.loads` of reading it."]
    snapshots = cost_tables(run, extent, title, [("snapshots", "anew", "texts")], notes)
    schemas = cost_tables(run, extent, "Records through a schema, {cut}", [("schema",)])
    mending = cost_tables(run, extent, "Mending: {shape}, {cut}", [("mended", "strict")])
    notes = [
        "Against a peer: its cost divided by that of jsontide.",
        "Between sizes: the greatest cost divided by the least, unless two sizes are named.",
        "In brackets: where the worst of several figures was found.",
    ]
    found = {
        "Results": [
            target_table(targets(run), notes),
            audit_table(run, "values"),
            *values,
            final_table(run, extent),
            memory_table(run),
        ],
        "Events": [*events],
        "Snapshots": [*snapshots],
        "Schemas": [audit_table(run, "schema"), *schemas],
        "Mending": [*mending],
    }
    return {title: tables for title, each in found.items() if (tables := [*filter(None, each)])}


def audit_table(run: Run, name: str) -> str:
    findings = run.audits.get(name)
    if not findings:
        return ""
    title, first, *notes = AUDITS[name]
    (_, compared), *columns = next(iter(findings.values())).items()
    rows = [[side, *(finding_cell(column, found[column]) for column, _ in columns)] for side, found in findings.items()]
    return table(title, ["", *(column for column, _ in columns)], rows, [first.format(compared), *notes])


def finding_cell(column: str, found: float) -> str:
    return answer(found) if isinstance(found, bool) else FORMATS.get(column, "{:,}".format)(found)


def cost_tables(
    run: Run, extent: Extent, title: str, groups: Sequence[Sequence[str]], notes: Sequence[str] = ()
) -> Iterator[str]:
    """A table for each shape and cut: of each group of kinds, a row for each side and kind, with its costs by size."""
    first = KINDS[groups[0][0]]
    sizes = [size for size in extent.sizes if size in first.sizes]
    lines = [(side, kind) for group in groups for side, kind in product(run.sides, group)]
    for shape, cut in product(extent.shapes, extent.cuts):
        rows = [
            [f"{side}{KINDS[kind].label}", *(cost_cell(run, Case(shape, size, cut, kind, side)) for size in sizes)]
            for side, kind in lines
        ]
        name = title.format(shape=SHAPE_NAMES[shape], cut=CUT_NAMES[cut])
        header = [f"µs per {first.unit} (times jsontide)", *(SIZE_NAMES[size] for size in sizes)]
        yield table(name[0].upper() + name[1:], header, [row for row in rows if any(row[1:])], notes)


def cost_cell(run: Run, case: Case) -> str:
    """Microseconds, and how many times those of jsontide."""
    baseline = KINDS[case.kind].baseline or case.kind
    ours = (run.seconds(replace(case, kind=baseline, side=side)) for side in BUILDS)
    return ratio_cell(run, case, 1e6, next(filter(None, ours), None))


def final_table(run: Run, extent: Extent) -> str:
    rows = []
    for side, cut in product(run.sides, extent.cuts):
        cases = [Case("records", size, cut, "final", side) for size in extent.sizes]
        # A cost is per chunk, of the same number of chunks for all; the table speaks of documents.
        units = [run.costs[case].chunks * 1e3 if case in run.costs else 0 for case in cases]
        floors = [run.seconds(replace(case, side=LOADS)) for case in cases]
        rows.append([f"{side}, {cut}", *(ratio_cell(run, *each) for each in zip(cases, units, floors, strict=True))])
    return table(
        "Final value only, records",
        ["ms per document (times json.loads)", *(SIZE_NAMES[size] for size in extent.sizes)],
        [row for row in rows if any(row[1:])],
        ["All chunks are fed, or joined for a library that accepts only whole texts, and the value is read once."],
    )


def memory_table(run: Run) -> str:
    rows = [
        [
            side,
            f"{run.memory[STATE, side] / 1e6:.2f} MB",
            f"{run.memory[LOADS_MEMORY, side] / 1e6:.2f} MB",
            f"{run.memory[STATE, side] / run.memory[LOADS_MEMORY, side]:.2f}",
            f"{run.memory[UNREAD, side]:,.0f} B",
            f"{run.memory[READ, side]:,.0f} B",
        ]
        for name, side in run.memory
        if name == STATE
    ]
    notes = [
        "A finished 1 MB records document, every value read on the way, and its last state, measured with tracemalloc.",
        f"A kept state: {KEPT:,} states of one stream, minus the last one alone, divided by their number.",
    ]
    return table("Memory", ["", STATE, LOADS_MEMORY, "ratio", UNREAD, READ], rows, notes)


def page(run: Run, extent: Extent, circumstances: Sequence[str]) -> str:
    head = [
        "# Benchmarks",
        "",
        "This page is written by `make bench`; all its figures are from one run.",
        "",
        *circumstances,
        "",
        "![Cost per chunk over document size](benchmarks.svg)",
        "",
        METHOD.read_text(encoding="utf-8"),
    ]
    return "\n".join([*head, *sections(run, extent)])


def sections(run: Run, extent: Extent) -> Iterator[str]:
    for title, tables in report(run, extent).items():
        yield f"## {title}\n"
        yield from tables
