"""From a run to tables and to docs/measured/benchmarks.md.

In: a run and what it ran on. Out: tables; the page that holds all of them, generated and never edited by hand.
Rule: no figure without version, machine and command.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from benchmarks.audit import DOTTED, ELEMENTS
from benchmarks.checks import BUILDS, Figure, checks
from benchmarks.documents import SHAPE_NAMES, SIZE_NAMES
from benchmarks.kinds import KINDS
from benchmarks.measure import Case, Extent, Run
from benchmarks.memory import KEPT
from benchmarks.one_more import COUNTS, PARSING, TEXT, case_of
from benchmarks.peers import LOADS
from benchmarks.tables import answer, digits, percent, share, table, times

METHOD = Path(__file__).with_name("method.md")
CUT_NAMES = {"tokens": "chunks of 1 to 8 characters", "lines": "chunks of 48 to 80 characters"}

AUDITS = {
    "values": (
        "What each side shows",
        "{:,} token-sized chunks of five small documents, compared after every chunk with a model.",
        "Growing strings: of the chunks that end inside a string, those after which all received of it is shown.",
        "Chunks right: the whole value is what the text shows; a number counts once it is complete.",
        "The next four columns count what was shown and later retracted.",
    ),
    "events": (
        "What the events of each side show",
        "{:,} token-sized chunks of five small documents.",
        "Growing strings: of the chunks that end inside a string, those after which all of it had been emitted.",
        "Values right: all whole strings, numbers, booleans and nulls were emitted, in the order of the text.",
        f"Apart: the two values of `{ELEMENTS}`, and those of `{DOTTED}`, have different paths.",
    ),
    "snapshots": (
        "What each side sends",
        "{:,} snapshots of four small documents, one after each token-sized chunk that showed more.",
        "Right: all chunks joined are the last snapshot, or all patches applied give it.",
        'Reordered: the keys of each object are shuffled in each snapshot; jsontide runs with `key_order="any"`.',
        "Sent at once: of the snapshots, those after which everything in them had been sent.",
        "Characters sent: compared with the last snapshot as compact text.",
    ),
    "schema": (
        "What each side shows through a schema",
        "{:,} token-sized chunks of records, compared after every chunk with a model of what the text shows.",
        "Raised: the chunks after which a side showed nothing but an exception.",
    ),
}
"""By the name of an audit: the title of its table, and its notes, of which the first has how much was compared."""

FORMATS = {
    "growing strings": share,
    "chunks right": percent,
    "all sent at once": share,
    "characters sent": times,
}
"""By column of an audit; in all others a number is a count."""


def report(run: Run, extent: Extent) -> dict[str, list[str]]:
    """All tables by the title of their section; what was not measured has none."""
    values = cost_tables(run, extent, "{shape}, {cut}", [("dropped", "held", "unread")])
    events = cost_tables(run, extent, "Events of {shape}, {cut}", [("events",), ("unread_events",)])
    snapshots = cost_tables(
        run,
        extent,
        "Snapshots of {shape}, one after each chunk of 1 to 8 characters",
        [("snapshots", "anew")],
        ["Values in, key order kept: the cost of turning a snapshot into what is sent."],
    )
    schemas = cost_tables(run, extent, "Records through a schema, {cut}", [("schema",)])
    sections = {
        "Results": [
            target_table(run),
            audit_table(run, "values"),
            *values,
            final_table(run, extent),
            memory_table(run),
        ],
        "Events": [audit_table(run, "events"), *events],
        "Snapshots": [audit_table(run, "snapshots"), *snapshots, one_more_table(run)],
        "Schemas": [audit_table(run, "schema"), *schemas],
    }
    return {title: found for title, tables in sections.items() if (found := [*filter(None, tables)])}


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


def ratio_cell(run: Run, case: Case, unit: float, baseline: float | None) -> str:
    """A cost with its mark and ratio, or the exception that came instead; empty where nothing was measured."""
    cost = run.costs.get(case)
    if cost is None:
        return run.failures.get(case, "")
    ratio = f" ({times(cost.seconds / baseline)})" if baseline else ""
    return f"{cost.mark}{digits(cost.seconds * unit)}{ratio}"


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


def one_more_table(run: Run) -> str:
    return table(
        "One character more in the last of many records",
        ["µs per snapshot", *(f"{records:,} records" for records in COUNTS), "last to first"],
        [*one_more_rows(run)],
        [
            "The input is a snapshot of so many records, keys in any order, in which one string is a character longer.",
            "A text continues where the last one ended, and only its new part is parsed; the rest is compared.",
            "Beyond parsing: the same step with values that were parsed before the clock started.",
            "Never continued: every other text begins with white space, so that each is parsed whole.",
        ],
    )


def one_more_rows(run: Run) -> Iterator[list[str]]:
    for side, separator in (*((side, ", ") for side in BUILDS), (LOADS, " ")):
        ways = [case.kind for case in run.costs if case == case_of(COUNTS[-1], case.kind, side)]
        costs = {way: [run.costs[case_of(records, way, side)].seconds for records in COUNTS] for way in ways}
        for way, found in costs.items():
            cells = [digits(seconds * 1e6) for seconds in found]
            yield [f"{side}{separator}{way}", *cells, times(found[-1] / found[0])]
            if way == PARSING:
                shares = [percent(part / whole) for part, whole in zip(found, costs[TEXT], strict=True)]
                yield [f"{side}, share of parsing", *shares, ""]


def memory_table(run: Run) -> str:
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
    notes = [
        "A finished 1 MB records document, every value read on the way, and its last state, measured with tracemalloc.",
        f"A kept state: {KEPT:,} states of one stream, minus the last one alone, divided by their number.",
    ]
    return table("Memory", header, rows, notes)


def target_table(run: Run) -> str:
    found = checks(run)
    rows = [
        [check.demand, check.target, *map(figure_cell, (*check.figures, None)[:2]), check.reached]
        for check in found
        if None not in check.figures
    ]
    notes = [
        "Against a peer: its cost divided by that of jsontide; otherwise the greater figure divided by the smaller.",
        "In brackets: where the worst of several figures was found.",
        "Where there is no value to hold, as for events and memory, there is one figure.",
    ]
    if left := len(found) - len(rows):
        notes.append(f"{left} more were not measured in this run.")
    return table("Targets", ["demand", "target", "value dropped", "last value held", "reached"], rows, notes, "---")


def figure_cell(figure: Figure | None) -> str:
    if figure is None:
        return ""
    value = f"{figure.value:,.0f}" if figure.value >= 100 else f"{figure.value:.2f}"  # noqa: PLR2004
    return f"{value} ({figure.where})" if figure.where else value


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
