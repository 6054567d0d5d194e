"""Many streams at once: on one loop, and in memory.

In: asynchronous openers. Out: the cost of an event while a thousand streams take turns; the bytes of an open stream.
Rule: every stream lets all others go on before each read, so that none runs ahead.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from benchmarks.kinds import Feed
from benchmarks.memory import held_by
from benchmarks.timing import Course, Stretch
from benchmarks.whole_way.streams import pieces_of, respond
from benchmarks.whole_way.works import LOOP, SIZES, TOOL_CALL, Opener, Source

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
