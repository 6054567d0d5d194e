"""The run: every document, every side in turn.

In: sides that could be loaded, documents, rounds. Out: a cost for each, or why there is none.
Rule: in each round every side works once on the same document before any works twice, forwards and backwards by turns,
so that what disturbs the machine disturbs all.
The garbage collector is on, as it is for users; what exists before the clock starts is frozen out of its sight.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from benchmarks.documents import SIZES, Document, document
from benchmarks.timing import Cost, Course, course
from benchmarks.works import FAILURES, WORKS, Work, Works

TOO_LONG = 0.03


@dataclass(frozen=True)
class Case:
    shape: str
    size: int
    cut: str
    work: str
    side: str


@dataclass
class Results:
    costs: dict[Case, Cost] = field(default_factory=dict)
    failures: dict[Case, str] = field(default_factory=dict)

    def seconds(self, case: Case) -> float | None:
        cost = self.costs.get(case)
        return cost.seconds if cost is not None else None


@dataclass(frozen=True)
class Extent:
    """What to measure: everything, or less of it."""

    shapes: tuple[str, ...]
    sizes: tuple[int, ...]
    cuts: tuple[str, ...]
    rounds: int
    works: tuple[str, ...] = (*WORKS,)

    def documents(self) -> Iterator[tuple[str, int, str]]:
        for shape in self.shapes:
            for size in self.sizes:
                for cut in self.cuts:
                    if any(WORKS[name].suits(shape, size, cut) for name in self.works):
                        yield shape, size, cut


def measured(sides: Mapping[str, Works], extent: Extent, advance: Callable[[str], None]) -> Results:
    """`advance` is told what comes next, once for each round of each document."""
    results = Results()
    for shape, size, cut in extent.documents():
        text = document(shape, size, cut)
        courses = planned(sides, [WORKS[name] for name in extent.works], text, results)
        with frozen():
            for number in range(extent.rounds):
                advance(f"{shape} {size:,} {cut}")
                order = list(courses.items())
                for case, one in order[:: -1 if number % 2 else 1]:
                    guarded(case, results, one.round)
        for case, one in courses.items():
            if case not in results.failures:
                results.costs[case] = one.cost()
    return results


def planned(sides: Mapping[str, Works], kinds: Sequence[Work], text: Document, results: Results) -> dict[Case, Course]:
    courses: dict[Case, Course] = {}
    for work in kinds:
        if not work.suits(text.shape, text.size, text.cut):
            continue
        for side, works in sides.items():
            case = Case(text.shape, text.size, text.cut, work.name, side)
            far = foreseen(case, results, len(text.chunks))
            if far is not None:
                results.costs[case] = far
                continue
            guarded(case, results, partial(plan, courses, case, work, works, text))
    return courses


def foreseen(case: Case, results: Results, chunks: int) -> Cost | None:
    """The cost where one chunk of the next smaller document took too long to try this one: it grows on as it grew."""
    smaller = [
        (size, cost)
        for size in SIZES
        if size < case.size and (cost := results.costs.get(replace(case, size=size))) is not None
    ]
    if not smaller or smaller[-1][1].seconds < TOO_LONG:
        return None
    size, last = smaller[-1]
    growth = last.seconds / smaller[-2][1].seconds if len(smaller) > 1 else case.size / size
    return Cost(last.seconds * growth, chunks, 0)


def plan(courses: dict[Case, Course], case: Case, work: Work, works: Works, text: Document) -> None:
    one = course(work, works, text)
    if one is not None:
        courses[case] = one


def guarded(case: Case, results: Results, action: Callable[[], None]) -> None:
    if case in results.failures:
        return
    try:
        action()
    except FAILURES as error:
        results.failures[case] = type(error).__name__


@contextmanager
def frozen() -> Iterator[None]:
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
