"""What must be reached, beside what was measured in the same run.

In: a run. Out: a row for each demand.
Rule: a row whose figures were not measured says so; none is left out because it fails.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.documents import SIZE_NAMES
from benchmarks.measure import Case, Run
from benchmarks.tables import digits, table
from benchmarks.whole_way.clients import ANTHROPIC, CREATE, INSTRUCTOR, LITELLM, PYDANTIC_AI, STREAM
from benchmarks.whole_way.crowd import CROWD, MANY
from benchmarks.whole_way.sides import BEFORE, BY_HAND, COMPILED, PURE
from benchmarks.whole_way.streams import ANTHROPIC_TOOL, RESPONSES_TOOL
from benchmarks.whole_way.works import ASYNCHRONOUS, CUT_READS, PLAIN, SIZES, TOOL_CALL, Work

KIND = "whole way"
SMALL, MIDDLE, LARGE = SIZES


def case_of(work: str, size: int, side: str) -> Case:
    return Case(work, size, "", KIND, side)


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


def against_before(run: Run, _: str) -> float | None:
    return ratio(run, case_of(TOOL_CALL.name, SMALL, PURE), case_of(TOOL_CALL.name, SMALL, BEFORE))


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
    yield f"{TOOL_CALL.name}, 1 KB: pure Python / pure Python before", "≤ 0.5", against_before


def target_table(run: Run) -> str:
    rows = [[text, *Target(bound, measure(run, COMPILED)).cells] for text, bound, measure in demands()]
    header = ["", "demanded", "measured", ""]
    notes = ["The compiled build; a ratio of two figures of this run, except where pure Python is named."]
    return table("Targets", header, rows, notes)
