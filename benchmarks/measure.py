"""The run: every document, every side in turn.

In: what the sides offer, documents, rounds. Out: a cost for each, or the reason why it has none.
Rule: in each round every side works once on the same document before any works twice, forwards and backwards by turns,
so that what disturbs the machine disturbs all.
The garbage collector is on, as it is for users; what exists before the clock starts is frozen out of its sight.
"""

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from benchmarks.audit import Finding
from benchmarks.documents import CUTS, SHAPES, SIZES, Document, document
from benchmarks.kinds import FAILURES, KINDS, Offers
from benchmarks.memory import Memory
from benchmarks.timing import Cost, Course, plan

# Seconds of one chunk, after which the next larger document is not tried.
TOO_LONG = 0.03


@dataclass(frozen=True)
class Case:
    shape: str
    size: int
    cut: str
    kind: str
    side: str


@dataclass
class Run:
    """All that was found out; audits by their name and by side."""

    sides: Sequence[str] = ()
    costs: dict[Case, Cost] = field(default_factory=dict)
    failures: dict[Case, str] = field(default_factory=dict)
    audits: dict[str, dict[str, Finding]] = field(default_factory=dict)
    memory: dict[str, Memory] = field(default_factory=dict)

    def seconds(self, case: Case) -> float | None:
        return self.costs[case].seconds if case in self.costs else None


@dataclass(frozen=True)
class Extent:
    """What to measure: everything, or less of it."""

    rounds: int
    shapes: Sequence[str] = (*SHAPES,)
    sizes: Sequence[int] = SIZES
    cuts: Sequence[str] = (*CUTS,)
    kinds: Sequence[str] = (*KINDS,)

    def documents(self) -> list[tuple[str, int, str]]:
        every = product(self.shapes, self.sizes, self.cuts)
        return [each for each in every if any(KINDS[name].suits(*each) for name in self.kinds)]


def measure(run: Run, sides: Mapping[str, Offers], extent: Extent) -> None:
    documents = extent.documents()
    for number, (shape, size, cut) in enumerate(documents, 1):
        print(f"{number} of {len(documents)}: {shape} {size:,} {cut}", flush=True)
        courses = plan_all(run, sides, extent.kinds, document(shape, size, cut))
        run_rounds(run, courses, extent.rounds)


def plan_all(run: Run, sides: Mapping[str, Offers], kinds: Sequence[str], text: Document) -> dict[Case, Course]:
    courses: dict[Case, Course] = {}
    for kind in (KINDS[name] for name in kinds):
        if not kind.suits(text.shape, text.size, text.cut):
            continue
        for side, offers in sides.items():
            case = Case(text.shape, text.size, text.cut, kind.name, side)
            if kind.name not in offers:
                continue
            if (far := extrapolate(run, case, len(text.chunks))) is not None:
                run.costs[case] = far
                continue
            try:
                courses[case] = plan(kind, offers[kind.name], text)
            except FAILURES as error:
                run.failures[case] = type(error).__name__
    return courses


def extrapolate(run: Run, case: Case, chunks: int) -> Cost | None:
    """The cost where one chunk of the next smaller document took too long to try this one: it grows on as it grew."""
    smaller = [
        (size, seconds)
        for size in SIZES
        if size < case.size and (seconds := run.seconds(replace(case, size=size))) is not None
    ]
    if not smaller or smaller[-1][1] < TOO_LONG:
        return None
    size, last = smaller[-1]
    growth = last / smaller[-2][1] if len(smaller) > 1 else case.size / size
    return Cost(last * growth, chunks, 0)


def run_rounds(run: Run, courses: Mapping[Case, Course], rounds: int) -> None:
    gc.collect()
    gc.freeze()
    try:
        for number in range(rounds):
            for case, course in list(courses.items())[:: -1 if number % 2 else 1]:
                if case in run.failures:
                    continue
                try:
                    course.run_round()
                except FAILURES as error:
                    run.failures[case] = type(error).__name__
    finally:
        gc.unfreeze()
    run.costs |= {case: course.cost() for case, course in courses.items() if case not in run.failures}
