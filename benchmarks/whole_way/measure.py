"""The run: every kind of stream, every side in turn.

In: what the sides offer. Out: costs, and the bytes of open streams.
Rule: a side is timed only after the last thing it showed was what had been sent; all take turns, as everywhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from benchmarks.kinds import FAILURES
from benchmarks.measure import Run, run_rounds
from benchmarks.whole_way.clients import OBJECTS
from benchmarks.whole_way.crowd import CROWD, MANY, AsyncOpener, open_memory, plan_crowd
from benchmarks.whole_way.streams import pieces_of, respond
from benchmarks.whole_way.targets import case_of
from benchmarks.whole_way.works import (
    ASYNCHRONOUS,
    SIZES,
    TOOL_CALL,
    WORKS,
    Opener,
    Openers,
    Work,
    is_right,
    plan,
    read_all,
)

EVERY = (*WORKS, *OBJECTS.values())
WRONG = "wrong in the end"


@dataclass(frozen=True)
class Extent:
    """What to measure: everything, or less of it."""

    rounds: int
    works: Sequence[Work] = EVERY
    sizes: Sequence[int] = SIZES
    streams: int = MANY
    """On one loop; none leaves that out, and the memory."""


@dataclass
class Found:
    """`missing` is what could not be measured, with the reason; `memory` is in bytes, by side."""

    run: Run
    missing: dict[str, str] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)


def measure(sides: Mapping[str, Openers], extent: Extent) -> Found:
    found = Found(Run([*sides]))
    works = [work for work in extent.works if can_be_delivered(found, work)]
    for number, work in enumerate(works, 1):
        print(f"{number} of {len(works)}: {work.name}", flush=True)
        openers = {side: offers[work.name] for side, offers in sides.items() if work.name in offers}
        right = {side: opener for side, opener in openers.items() if is_checked(found, work, side, opener)}
        for size in extent.sizes:
            courses = {case_of(work.name, size, side): plan(work, opener, size) for side, opener in right.items()}
            run_rounds(found.run, courses, extent.rounds)
    if extent.streams:
        measure_many(found, sides, extent)
    return found


def can_be_delivered(found: Found, work: Work) -> bool:
    """Whether there is the client that makes the objects of a stream."""
    try:
        work.delivered(respond(work.form, []))
    except ImportError as error:
        found.missing[work.name] = str(error)
        return False
    return True


def is_checked(found: Found, work: Work, side: str, opener: Opener) -> bool:
    size = SIZES[0]
    reads = work.delivered(respond(work.form, pieces_of(work.form, work.text(size))))
    try:
        wrong = "" if is_right(read_all(opener, reads), work.expected(size)) else WRONG
    except (*FAILURES, ImportError) as error:
        wrong = type(error).__name__
    if wrong:
        found.missing[f"{side}, {work.name}"] = wrong
    return not wrong


def measure_many(found: Found, sides: Mapping[str, Openers], extent: Extent) -> None:
    print(f"{extent.streams:,} {CROWD}", flush=True)
    many = {side: offers for side, offers in sides.items() if ASYNCHRONOUS.name in offers}
    courses = {
        case_of(CROWD, extent.streams, side): plan_crowd(cast("AsyncOpener", offers[ASYNCHRONOUS.name]), extent.streams)
        for side, offers in many.items()
    }
    run_rounds(found.run, courses, extent.rounds)
    found.memory = {side: open_memory(offers[TOOL_CALL.name]) for side, offers in many.items()}
