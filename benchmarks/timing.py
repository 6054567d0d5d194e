"""How everything is timed: side by side, in interleaved rounds.

In: courses, each of one side doing one kind of work. Out: a cost for each, or the reason why it has none.
Rule: in each round every side works once before any works twice, forwards and backwards by turns, so that what
disturbs the machine disturbs all; the least counts, in seconds of processor time; what is not measured is marked.
The garbage collector is on, as it is for users; what exists before the clock starts is frozen out of its sight.

A document is timed in stretches of consecutive chunks.
When the budget of the first round is spent, the rest is left out in all rounds; the mean is then read from a straight
line through the stretches, at the middle of the document.
A side that parses everything again at each chunk is timed at places spread evenly over the document (one half; then
the quarters; then the eighths ...), as many as fit the budget: what came before is given to it in one piece, outside
of the clock, and one chunk is fed inside of it.
"""

import gc
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from statistics import linear_regression
from time import process_time
from typing import Any

from benchmarks.documents import SIZES

MOST_STRETCHES = 64
SMALLEST_STRETCH = 250
# Seconds: for one pass, and for all rounds together.
STREAM_BUDGET, STREAM_PATIENCE = 1.2, 2.4
SAMPLE_BUDGET, SAMPLE_PATIENCE = 0.05, 0.25
MOST_LEVELS = 7
# Seconds of one chunk, after which the next larger document is not tried.
TOO_LONG = 0.03
# Short documents are repeated within a round, so that a round is more than one glance at a noisy machine.
ROUND_LEAST = 0.01
MOST_REPEATS = 20

# What a library may raise on a text that it should have parsed; it is reported, and the run continues.
FAILURES = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)

Feed = Callable[[Any], object]
Loop = Callable[[Feed, Sequence[Any]], None]


def drop(feed: Feed, chunks: Sequence[Any]) -> None:
    for chunk in chunks:
        feed(chunk)


@dataclass(frozen=True)
class Case:
    shape: str
    size: int
    cut: str
    kind: str
    side: str


@dataclass(frozen=True)
class Cost:
    """Seconds per chunk of a document of so many chunks, of which so many were really run."""

    seconds: float
    chunks: int
    measured: int

    @property
    def is_extrapolated(self) -> bool:
        return self.measured < self.chunks

    @property
    def mark(self) -> str:
        """`~` before what was measured in part, `≈` before what was not tried."""
        return "" if not self.is_extrapolated else "~" if self.measured else "≈"


@dataclass(frozen=True)
class Stretch:
    """What is fed inside the clock, at a place between the beginning (0) and the end (1) of the document.

    `start` is given the feed of the stretch before and returns the one to use, outside of the clock.
    """

    items: Sequence[Any]
    chunks: int
    place: float
    start: Callable[[Feed | None], Feed]


@dataclass
class Course:
    """The repeated measurement of one side."""

    chunks: int
    stretches: Sequence[Stretch]
    loop: Loop = drop
    patience: float = STREAM_PATIENCE
    best: list[float] = field(default_factory=list)
    spent: float = 0.0

    def run_round(self) -> None:
        """Does nothing once the patience for all rounds is spent."""
        if self.spent > self.patience:
            return
        began = process_time()
        for _ in range(MOST_REPEATS):
            gc.collect()
            times = self.run_pass()
            self.best = [min(pair) for pair in zip(self.best or times, times, strict=True)]
            if process_time() - began > ROUND_LEAST:
                break
        self.spent += process_time() - began

    def run_pass(self) -> list[float]:
        """The first pass finds how far the budget reaches, and all later ones go as far."""
        budget = float("inf") if self.best else STREAM_BUDGET
        times: list[float] = []
        feed: Feed | None = None
        for stretch in self.stretches[: len(self.best) or None]:
            feed = stretch.start(feed)
            began = process_time()
            self.loop(feed, stretch.items)
            times.append(process_time() - began)
            if sum(times) > budget:
                break
        return times

    def cost(self) -> Cost:
        done = self.stretches[: len(self.best)]
        chunks = sum(stretch.chunks for stretch in done)
        mean = sum(self.best) / chunks
        if len(done) == len(self.stretches) or len(done) == 1:
            return Cost(mean, self.chunks, chunks)
        each = [time / stretch.chunks for time, stretch in zip(self.best, done, strict=True)]
        line = linear_regression([stretch.place for stretch in done], each)
        return Cost(max(mean, line.slope / 2 + line.intercept), self.chunks, chunks)


@dataclass
class Run:
    """All that was found out: costs, what failed, and `missing`, what could not be measured, with the reason.

    Audits are by side; `memory` is in bytes, by what was measured and by side.
    """

    sides: Sequence[str] = ()
    costs: dict[Case, Cost] = field(default_factory=dict)
    failures: dict[Case, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    audits: dict[str, dict[str, Mapping[str, float]]] = field(default_factory=dict)
    memory: dict[tuple[str, str], float] = field(default_factory=dict)

    def seconds(self, case: Case) -> float | None:
        return self.costs[case].seconds if case in self.costs else None

    def extrapolate(self, case: Case, chunks: int) -> Cost | None:
        """The cost where a chunk of the next smaller document took too long to try this one: it grows on as it grew."""
        smaller = [
            (size, seconds)
            for size in SIZES
            if size < case.size and (seconds := self.seconds(replace(case, size=size))) is not None
        ]
        if not smaller or smaller[-1][1] < TOO_LONG:
            return None
        size, last = smaller[-1]
        growth = last / smaller[-2][1] if len(smaller) > 1 else case.size / size
        return Cost(last * growth, chunks, 0)

    def time(self, courses: Mapping[Case, Course], rounds: int) -> None:
        gc.collect()
        gc.freeze()
        try:
            for number in range(rounds):
                for case, course in list(courses.items())[:: -1 if number % 2 else 1]:
                    if case in self.failures:
                        continue
                    try:
                        course.run_round()
                    except FAILURES as error:
                        self.failures[case] = type(error).__name__
        finally:
            gc.unfreeze()
        self.costs |= {case: course.cost() for case, course in courses.items() if case not in self.failures}


def plan_whole(feed: Feed, item: object, chunks: int) -> Course:
    """One call that does the work of so many chunks."""
    return Course(chunks, [Stretch([item], chunks, 1 / 2, lambda _: feed)])


def plan_stream(
    start: Callable[[], Feed], chunks: Sequence[Any], loop: Loop = drop, smallest: int = SMALLEST_STRETCH
) -> Course:
    """`smallest` is the number of chunks that take long enough for the clock."""
    stride = max(smallest, -(-len(chunks) // MOST_STRETCHES))
    stretches = []
    for at in range(0, len(chunks), stride):
        items = chunks[at : at + stride]
        place = (at + len(items) / 2) / len(chunks)
        stretches.append(Stretch(items, len(items), place, lambda feed: start() if feed is None else feed))
    return Course(len(chunks), stretches, loop)


def plan_reparse(start: Callable[[str], Feed], chunks: Sequence[str], loop: Loop = drop) -> Course:
    ends = [0, *accumulate(len(chunk) for chunk in chunks)]
    text = "".join(chunks)

    def at(place: int) -> Stretch:
        return Stretch(chunks[place : place + 1], 1, place / len(chunks), lambda _: start(text[: ends[place]]))

    middle = Course(1, [at(len(chunks) // 2)], loop)
    (glance,) = middle.run_pass()
    if glance < SAMPLE_BUDGET:  # the first time pays for what is set up once
        (glance,) = middle.run_pass()
    if glance * len(chunks) <= SAMPLE_BUDGET:
        return plan_stream(lambda: start(""), chunks, loop)
    places = spread(len(chunks), int(SAMPLE_BUDGET / glance))
    return Course(len(chunks), [at(place) for place in places], loop, SAMPLE_PATIENCE)


def spread(count: int, most: int) -> list[int]:
    """Places in a document of `count` chunks, even around its middle: 1, 3, 7, 15 ... of them, at least one."""
    level = 1
    while level < MOST_LEVELS and 2 ** (level + 1) - 1 <= most:
        level += 1
    parts: int = 2**level
    return sorted({count * part // parts for part in range(1, parts)})


def held_by(make: Callable[[], object]) -> int:
    """The bytes that the result of `make` keeps alive, by tracemalloc, after a collection."""
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    made = make()
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del made
    return after - before
