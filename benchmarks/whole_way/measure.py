"""The run: every kind of stream, every side in turn; then many streams at once.

In: what the sides offer. Out: costs, and the bytes of open streams.
Rule: a side is timed only after the last thing it showed was what had been sent; all take turns, as everywhere.
Of many streams, each lets all others go on before each read, so that none runs ahead.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, cast

from benchmarks.documents import SIZES
from benchmarks.timing import FAILURES, Course, Run, held_by, plan_whole
from benchmarks.whole_way.clients import OBJECTS
from benchmarks.whole_way.streams import Response, pieces_of
from benchmarks.whole_way.works import (
    ASYNCHRONOUS,
    LOOP,
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
OPEN = "open stream"
MANY = 1_000
OPEN_SIZE = 5_000
OPEN_STREAMS = 20

AsyncOpener = Callable[..., AsyncIterator[object]]
"""As an opener, with a `pause` that is awaited before each read."""


def plan_crowd(opener: AsyncOpener, count: int) -> Course:
    reads = deliver(TOOL_CALL, SIZES[0])
    pause = partial(asyncio.sleep, 0)

    async def read() -> None:
        async for _ in opener(iter(reads), pause=pause):
            pass

    async def read_all() -> None:
        await asyncio.gather(*(read() for _ in range(count)))

    def run(_: object) -> Any:  # noqa: ANN401
        return LOOP.run_until_complete(read_all())

    return plan_whole(run, None, count * (len(reads) - bool(TOOL_CALL.form.last)))


def open_memory(opener: Opener) -> float:
    """The bytes that a stream holds after so much text, with what was read of it last."""
    form = TOOL_CALL.form
    pieces = pieces_of(form, TOOL_CALL.text(OPEN_SIZE))
    reads = Response(form, pieces).reads[: len(form.head) + len(pieces)]

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


def measure(sides: Mapping[str, Openers], extent: Extent) -> Run:
    run = Run([*sides])
    works = [work for work in extent.works if can_be_delivered(run, work)]
    for number, work in enumerate(works, 1):
        print(f"{number} of {len(works)}: {work.name}", flush=True)
        openers = {side: offers[work.name] for side, offers in sides.items() if work.name in offers}
        right = {side: opener for side, opener in openers.items() if is_checked(run, work, side, opener)}
        for size in (size for size in extent.sizes if size in work.sizes):
            reads = cache(partial(deliver, work, size))
            courses = {
                case_of(work.name, size, side): plan(work, opener, size, reads) for side, opener in right.items()
            }
            run.time(courses, extent.rounds)
    if extent.streams:
        measure_many(run, sides, extent)
    return run


def deliver(work: Work, size: int) -> Sequence[Any]:
    return work.delivered(Response(work.form, pieces_of(work.form, work.text(size))))


def can_be_delivered(run: Run, work: Work) -> bool:
    """Whether there is the client that makes the objects of a stream."""
    try:
        work.delivered(Response(work.form, []))
    except ImportError as error:
        run.missing[work.name] = str(error)
        return False
    return True


def is_checked(run: Run, work: Work, side: str, opener: Opener) -> bool:
    size = SIZES[0]
    try:
        wrong = "" if is_right(read_all(opener, deliver(work, size)), work.expected(size)) else WRONG
    except (*FAILURES, ImportError) as error:
        wrong = type(error).__name__
    if wrong:
        run.missing[f"{side}, {work.name}"] = wrong
    return not wrong


def measure_many(run: Run, sides: Mapping[str, Openers], extent: Extent) -> None:
    print(f"{extent.streams:,} {CROWD}", flush=True)
    many = {side: offers for side, offers in sides.items() if ASYNCHRONOUS.name in offers}
    courses = {
        case_of(CROWD, extent.streams, side): plan_crowd(cast("AsyncOpener", offers[ASYNCHRONOUS.name]), extent.streams)
        for side, offers in many.items()
    }
    run.time(courses, extent.rounds)
    run.memory = {(OPEN, side): open_memory(offers[TOOL_CALL.name]) for side, offers in many.items()}
