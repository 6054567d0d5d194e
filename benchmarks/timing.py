"""One side, one document, one kind of work: seconds per chunk.

In: what the side offers, the chunks. Out: the least that each stretch of the stream took in any round, in seconds of
processor time, so that waiting for a busy machine does not count.
Rule: a round takes every side once before any side is taken again, and what is not measured is said.

A stream is timed in stretches of consecutive chunks.
When the budget of a round is spent, the rest is left out, in that round and in all later ones; the mean is then read
from a straight line through the stretches, at the middle of the document.
A side that parses everything again at each chunk is timed at places spread evenly over the document (one half; then
the quarters; then the eighths ...), as many as fit the budget: what came before is given to it in one piece, outside
of the clock, and one chunk is fed inside of it.
"""

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from statistics import linear_regression
from time import process_time
from typing import Any

from benchmarks.documents import Document
from benchmarks.histories import Window, history
from benchmarks.works import Feed, Loop, Work, Works, dropped

STRETCHES = 64
SMALLEST_STRETCH = 250
# Seconds: for one pass, and for all rounds together.
STREAM_BUDGET, STREAM_PATIENCE = 1.2, 2.4
SAMPLE_BUDGET, SAMPLE_PATIENCE = 0.05, 0.25
MOST_LEVELS = 7
# Short documents are repeated within a round, so that a round is more than one glance at a noisy machine.
ROUND_LEAST = 0.01
MOST_REPEATS = 20


@dataclass(frozen=True)
class Cost:
    """Seconds per chunk of a document of so many, of which so many were really run."""

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


@dataclass
class Course:
    """The repeated measurement of one side; `run` says what each stretch of one pass took."""

    chunks: int
    weights: Sequence[int]
    places: Sequence[float]
    run: Callable[[int | None], list[float]]
    patience: float
    best: list[float] = field(default_factory=list)
    spent: float = 0.0

    def round(self) -> None:
        """One round, or none when the patience for all of them is spent."""
        if self.spent > self.patience:
            return
        began = process_time()
        for _ in range(MOST_REPEATS):
            times = self.run(len(self.best) or None)
            self.best = [min(pair) for pair in zip(self.best or times, times, strict=True)]
            if process_time() - began > ROUND_LEAST:
                break
        self.spent += process_time() - began

    def cost(self) -> Cost:
        weights = self.weights[: len(self.best)]
        each = [time / weight for time, weight in zip(self.best, weights, strict=True)]
        mean = sum(self.best) / sum(weights)
        if len(self.best) == len(self.weights) or len(each) == 1:
            return Cost(mean, self.chunks, sum(weights))
        line = linear_regression(self.places[: len(each)], each)
        return Cost(max(mean, line.slope / 2 + line.intercept), self.chunks, sum(weights))


def course(work: Work, works: Works, document: Document) -> Course | None:
    """How to measure a side; `None` when it does not do this work."""
    match work.offer:
        case "whole":
            return whole_course(works, document)
        case "unread":
            return works.unread and stream_course(works.unread, document.chunks, work.loop)
        case "events":
            return event_course(work, works, document)
        case "chunking":
            return chunking_course(work, works, document)
        case "typed":
            return typed_course(work, works, document)
        case _:
            return read_course(work, works, document)


def event_course(work: Work, works: Works, document: Document) -> Course | None:
    telling = works.events
    if telling is None:
        return None
    start = telling.start if work.name == "told" else telling.start_looking
    return stream_course(start, document.chunks, work.loop)


def chunking_course(work: Work, works: Works, document: Document) -> Course | None:
    chunking = works.chunking
    is_anew = work.name == "anew"
    if chunking is None or (is_anew and not chunking.sees_sharing):
        return None
    found = history(document.shape, document.size, document.cut, is_anew=is_anew)
    return window_course(lambda: chunking.start("kept").take, found.windows, found.snapshots)


def typed_course(work: Work, works: Works, document: Document) -> Course | None:
    if works.typed is not None:
        return stream_course(works.typed, document.chunks, work.loop)
    if works.typed_again is not None:
        return reparse_course(works.typed_again, document.chunks, work.loop)
    return None


def read_course(work: Work, works: Works, document: Document) -> Course | None:
    # Holding the last value makes no difference to who changes it in place, or makes each one anew.
    if work.name == "held" and not works.keeps_values:
        return None
    if works.read is not None:
        return stream_course(works.read, document.chunks, work.loop)
    if works.reparse is not None:
        return reparse_course(works.reparse, document.chunks, dropped)
    return None


def whole_course(works: Works, document: Document) -> Course | None:
    whole = works.whole
    if whole is None:
        return None

    def run(_: int | None) -> list[float]:
        gc.collect()
        start = process_time()
        whole(document.chunks)
        return [process_time() - start]

    return Course(len(document.chunks), [len(document.chunks)], [1 / 2], run, STREAM_PATIENCE)


def stream_course(
    start: Callable[[], Feed], chunks: Sequence[str], loop: Loop, smallest: int = SMALLEST_STRETCH
) -> Course:
    """`smallest` is the length of a stretch that takes long enough for the clock."""
    stride = max(smallest, -(-len(chunks) // STRETCHES))
    stretches = [chunks[at : at + stride] for at in range(0, len(chunks), stride)]
    weights = [len(stretch) for stretch in stretches]
    ends = list(accumulate(weights))
    places = [(end - weight / 2) / len(chunks) for end, weight in zip(ends, weights, strict=True)]

    def run(limit: int | None) -> list[float]:
        gc.collect()
        feed = start()
        times: list[float] = []
        began = before = process_time()
        for stretch in stretches[:limit]:
            loop(feed, stretch)
            now = process_time()
            times.append(now - before)
            before = now
            # The first pass finds the limit, and all later ones go as far.
            if limit is None and now - began > STREAM_BUDGET:
                break
        return times

    return Course(len(chunks), weights, places, run, STREAM_PATIENCE)


def window_course(start: Callable[[], Callable[[Any], object]], windows: Sequence[Window], snapshots: int) -> Course:
    """Some windows of a history of so many snapshots; what comes before a window is fed outside of the clock."""
    weights = [len(window.snapshots) for window in windows]

    def once(window: Window) -> float:
        feed = start()
        for snapshot in window.before:
            feed(snapshot)
        began = process_time()
        for snapshot in window.snapshots:
            feed(snapshot)
        return process_time() - began

    def run(limit: int | None) -> list[float]:
        gc.collect()
        times: list[float] = []
        for window in windows[:limit]:
            times.append(once(window))
            if limit is None and sum(times) > STREAM_BUDGET:
                break
        return times

    return Course(snapshots, weights, [window.place for window in windows], run, STREAM_PATIENCE)


def reparse_course(start: Callable[[str], Feed], chunks: Sequence[str], loop: Loop) -> Course:
    ends = [0, *accumulate(len(chunk) for chunk in chunks)]
    text = "".join(chunks)

    def once(place: int) -> float:
        feed = start(text[: ends[place]])
        began = process_time()
        loop(feed, chunks[place : place + 1])
        return process_time() - began

    glance = once(len(chunks) // 2)
    if glance < SAMPLE_BUDGET:  # the first time pays for what is set up once
        glance = once(len(chunks) // 2)
    if glance * len(chunks) <= SAMPLE_BUDGET:
        return stream_course(lambda: start(""), chunks, loop)
    places = spread(len(chunks), int(SAMPLE_BUDGET / glance))

    def run(_: int | None) -> list[float]:
        gc.collect()
        return [once(place) for place in places]

    shares = [place / len(chunks) for place in places]
    return Course(len(chunks), [1] * len(places), shares, run, SAMPLE_PATIENCE)


def spread(count: int, most: int) -> list[int]:
    """Places in a document of `count` chunks, even around its middle: 1, 3, 7, 15 ... of them, at least one."""
    level = 1
    while level < MOST_LEVELS and 2 ** (level + 1) - 1 <= most:
        level += 1
    parts: int = 2**level
    return sorted({count * part // parts for part in range(1, parts)})
