"""From what was found to tables and to docs/measured/whole-way.md.

In: what was found and what it ran on. Out: the page, generated and never edited by hand.
Rule: no figure without version, machine and command; a target whose figures were not measured says so, and none is left
out because it fails.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.documents import SIZE_NAMES
from benchmarks.jsontide_sides import COMPILED, PURE
from benchmarks.measure import Case, Run
from benchmarks.report import ratio_cell
from benchmarks.tables import digits, table, times
from benchmarks.whole_way.clients import ANTHROPIC, CREATE, GENAI, INSTRUCTOR, LITELLM, PYDANTIC_AI, STREAM
from benchmarks.whole_way.measure import CROWD, MANY, OPEN_SIZE, Extent, Found
from benchmarks.whole_way.sides import BY_HAND
from benchmarks.whole_way.streams import ANTHROPIC_TOOL, RESPONSES_TOOL
from benchmarks.whole_way.works import ASYNCHRONOUS, CUT_READS, PLAIN, SIZES, TOOL_CALL, Work, case_of

SMALL, MIDDLE, LARGE = SIZES


@dataclass(frozen=True)
class Target:
    """`bound` is a sign and a number; `figure` is `None` where it was not measured."""

    bound: str
    figure: float | None

    @property
    def reached(self) -> str:
        if self.figure is None:
            return "not measured"
        sign, number = self.bound.split()
        is_met = self.figure >= float(number) if sign == "≥" else self.figure <= float(number)
        return "reached" if is_met else "not reached"

    @property
    def cells(self) -> list[str]:
        return [self.bound, "" if self.figure is None else digits(self.figure), self.reached]


Measure = Callable[[Run, str], float | None]
Demand = tuple[str, str, Measure]
"""What is demanded, the bound, and how a side of jsontide is measured."""


def ratio(run: Run, over: Case, under: Case) -> float | None:
    first, second = run.seconds(over), run.seconds(under)
    return first / second if first and second else None


def against_hand(work: Work, size: int) -> Measure:
    return lambda run, side: ratio(run, case_of(work.name, size, side), case_of(work.name, size, BY_HAND))


def times_faster(peer: str, work: Work = TOOL_CALL) -> Measure:
    return lambda run, side: ratio(run, case_of(work.name, SMALL, peer), case_of(work.name, SMALL, side))


def between(one: Work, other: Work, sizes: tuple[int, int]) -> Measure:
    """The cost of one kind of stream divided by that of another, or of the same in another size."""
    return lambda run, side: ratio(run, case_of(one.name, sizes[0], side), case_of(other.name, sizes[1], side))


def events_per_second(run: Run, side: str) -> float | None:
    """Relative to those by hand: the fewer seconds an event takes, the more there are in a second."""
    return ratio(run, case_of(CROWD, MANY, BY_HAND), case_of(CROWD, MANY, side))


def demands() -> Iterator[Demand]:
    bounds = {SMALL: "≤ 1.6", MIDDLE: "≤ 0.35", LARGE: "≤ 0.03"}
    for size, bound in bounds.items():
        yield f"{TOOL_CALL.name}, {SIZE_NAMES[size]}: cost / by hand", bound, against_hand(TOOL_CALL, size)
    for form in (ANTHROPIC_TOOL, RESPONSES_TOOL):
        yield f"{form.name}, 1 KB: cost / by hand", "≤ 1.6", against_hand(PLAIN[form.name], SMALL)
    for peer, work, bound in (
        (CREATE, TOOL_CALL, "≥ 13"),
        (STREAM, TOOL_CALL, "≥ 28"),
        (ANTHROPIC, PLAIN[ANTHROPIC_TOOL.name], "≥ 10"),
        (INSTRUCTOR, TOOL_CALL, "≥ 25"),
        (PYDANTIC_AI, TOOL_CALL, "≥ 50"),
        (LITELLM, TOOL_CALL, "≥ 90"),
    ):
        yield f"{work.name}, 1 KB: times faster than {peer}", bound, times_faster(peer, work)
    flat, cut, loop = (
        between(TOOL_CALL, TOOL_CALL, (LARGE, SMALL)),
        between(CUT_READS, TOOL_CALL, (MIDDLE, MIDDLE)),
        between(ASYNCHRONOUS, TOOL_CALL, (MIDDLE, MIDDLE)),
    )
    yield f"{TOOL_CALL.name}: an event at 100 KB / at 1 KB", "≤ 1.15", flat
    yield f"{TOOL_CALL.name}, 10 KB: 1,400 bytes a read / one event a read", "≤ 1.2", cut
    yield f"{TOOL_CALL.name}, 10 KB: asynchronous / synchronous", "≤ 1.25", loop
    yield f"{MANY:,} {CROWD}: events per second / by hand", "≥ 0.55", events_per_second


def target_table(run: Run) -> str:
    rows = [[text, *Target(bound, measure(run, COMPILED)).cells] for text, bound, measure in demands()]
    header = ["", "demanded", "measured", ""]
    notes = ["The compiled build; each is a ratio of two figures of this run."]
    return table("Targets", header, rows, notes)


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
            *circumstances,
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
    own = next((side for side in run.sides if side in (COMPILED, PURE)), "")
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
    own = [side for side in run.sides if side in (COMPILED, PURE)]
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
