"""The run: every kind of stream, every side in turn; then many streams at once.

In: what the sides offer. Out: costs, and the bytes of open streams.
Rule: a side is timed only after the last thing it showed was what had been sent; all take turns, as everywhere.
Of many streams, each lets all others go on before each read, so that none runs ahead.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from benchmarks.kinds import FAILURES, Feed
from benchmarks.measure import Run, run_rounds
from benchmarks.memory import held_by
from benchmarks.timing import Course, Stretch
from benchmarks.whole_way.clients import OBJECTS
from benchmarks.whole_way.streams import pieces_of, respond
from benchmarks.whole_way.works import (
    ASYNCHRONOUS,
    LOOP,
    SIZES,
    TOOL_CALL,
    WORKS,
    Opener,
    Openers,
    Source,
    Work,
    case_of,
    is_right,
    plan,
    read_all,
)

CROWD = "streams on one loop"
MANY = 1_000
OPEN_SIZE = 5_000
OPEN_STREAMS = 20

AsyncOpener = Callable[..., AsyncIterator[object]]
"""As an opener, with a `pause` that is awaited before each read."""


def plan_crowd(opener: AsyncOpener, count: int) -> Course:
    response = respond(TOOL_CALL.form, pieces_of(TOOL_CALL.form, TOOL_CALL.text(SIZES[0])))
    pause = partial(asyncio.sleep, 0)

    async def read() -> None:
        async for _ in opener(iter(response.reads), pause=pause):
            pass

    async def read_all() -> None:
        await asyncio.gather(*(read() for _ in range(count)))

    def start(_: Feed | None) -> Feed:
        return lambda _: LOOP.run_until_complete(read_all())

    events = count * len(response.events)
    return Course(events, [Stretch([None], events, 1 / 2, start)])


def open_memory(opener: Opener) -> float:
    """The bytes that a stream holds after so much text, with what was read of it last."""
    form = TOOL_CALL.form
    pieces = pieces_of(form, TOOL_CALL.text(OPEN_SIZE))
    reads = respond(form, pieces).reads[: len(form.head) + len(pieces)]

    def read_on() -> object:
        source = Source(reads)
        values: Any = opener(source)
        last: object = None
        while source.given < len(reads):
            last = next(values)
        return values, last

    read_on()  # what is made once belongs to no stream
    return held_by(lambda: [read_on() for _ in range(OPEN_STREAMS)]) / OPEN_STREAMS


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
