"""The kinds of streams that are measured, and what a side offers for them.

In: a work, a size, what a side offers. Out: a course that times it.
Rule: what opens a stream, such as a request or the reading of a schema, happens before the clock starts; all that
follows is inside, from the first byte to the finished message.

A side offers, under the name of each work that it can do, an opener: it is given a source and returns an iterator,
which yields what was read after an event.
A stream is run whole if that takes less than a second or so.
If not, it is timed at places spread evenly over the text: a stream is opened and given the text before that place in
one event, outside of the clock, and the next events inside of it.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from benchmarks.documents import SIZES
from benchmarks.timing import STREAM_BUDGET, Case, Course, Feed, Stretch, spread
from benchmarks.whole_way.streams import (
    CHAT_TEXT,
    CHAT_TOOL,
    FORMATS,
    GEMINI_PARTIAL,
    Format,
    Response,
    cut_reads,
    fields_text,
    pieces_of,
    prose_text,
    records_text,
)

WINDOW = 16
"""Events that are timed at one place."""
WARM = 4
"""Events that come before them, beside the text before that place: enough for each copy of it to be made and moved."""
SAMPLE_BUDGET = 0.3  # seconds, for all places together


class Source(Iterator[Any]):
    """The reads of a response, counted."""

    def __init__(self, reads: Sequence[Any]) -> None:
        self.reads = iter(reads)
        self.given = 0

    def __next__(self) -> Any:  # noqa: ANN401
        self.given += 1
        return next(self.reads)


Values = Iterator[object] | AsyncIterator[object]
Opener = Callable[[Iterator[Any]], Values]
Openers = Mapping[str, Opener]


@dataclass(frozen=True)
class Work:
    """`delivered` is what a source yields of a response: one event a read, reads cut anywhere, dicts, SDK objects."""

    name: str
    form: Format
    text: Callable[[int], str]
    delivered: Callable[[Response], Sequence[Any]] = lambda response: response.reads
    can_be_cut: bool = True
    """Whether it can be timed at places; if not, it is always run whole."""
    sizes: Sequence[int] = SIZES[:3]

    def expected(self, size: int) -> object:
        text = self.text(size)
        return text if self.form.reads == "text" else json.loads(text)


def text_for(form: Format) -> Callable[[int], str]:
    return prose_text if form.reads == "text" else records_text


PLAIN = {form.name: Work(form.name, form, text_for(form), can_be_cut=form is not GEMINI_PARTIAL) for form in FORMATS}
# At a place in so long a text, the first events pay for copies of it that are made once.
PLAIN[CHAT_TEXT.name] = replace(PLAIN[CHAT_TEXT.name], sizes=SIZES, can_be_cut=False)
TOOL_CALL, TEXT = PLAIN[CHAT_TOOL.name], PLAIN[CHAT_TEXT.name]
CUT_READS = replace(
    TOOL_CALL,
    name=f"{CHAT_TOOL.name}, 1,400 bytes a read",
    delivered=lambda response: cut_reads(response.reads),
    can_be_cut=False,
)
IN_A_RUN = replace(TEXT, name=f"{CHAT_TEXT.name}, in a run", sizes=SIZES[:3], can_be_cut=False)
ASYNCHRONOUS = replace(TOOL_CALL, name=f"{CHAT_TOOL.name}, asynchronous")
JSON_SCHEMA = Work(f"{CHAT_TOOL.name}, JSON Schema of ten fields", CHAT_TOOL, fields_text)
TYPED = Work(f"{CHAT_TOOL.name}, pydantic model of ten fields", CHAT_TOOL, fields_text)
DICTS = replace(TOOL_CALL, name=f"{CHAT_TOOL.name}, from dicts", delivered=lambda response: [*response.events])
WORKS = (*PLAIN.values(), CUT_READS, ASYNCHRONOUS, IN_A_RUN, JSON_SCHEMA, TYPED, DICTS)


def case_of(work: str, size: int, side: str) -> Case:
    return Case(work, size, "", "whole way", side)


def read_all(opener: Opener, reads: Sequence[Any]) -> list[object]:
    values = opener(iter(reads))
    if isinstance(values, Iterator):
        return list(values)
    found: list[object] = []
    LOOP.run_until_complete(keep_all(values, found))
    return found


async def keep_all(values: AsyncIterator[object], found: list[object]) -> None:
    async for value in values:
        found.append(value)  # noqa: PERF401 - what came before an exception is kept


def is_right(values: Sequence[object], expected: object) -> bool:
    """Whether the last value is what was sent, or the pieces of text, of a side that shows only these, join to it."""
    last = values[-1] if values else None
    if expected in (last, last.model_dump() if hasattr(last, "model_dump") else None):
        return True
    joined = "".join(value for value in values if isinstance(value, str))
    try:
        return joined == expected or bool(json.loads(joined) == expected)
    except ValueError:
        return False


def plan(work: Work, opener: Opener, size: int, reads: Callable[[], Sequence[Any]]) -> Course:
    """`reads` are those of the whole response, which takes much memory: all sides share it."""
    pieces = pieces_of(work.form, work.text(size))
    if work.can_be_cut and size > SIZES[0]:
        middle = Course(1, [window(work, opener, pieces, len(pieces) // 2)])
        each = middle.run_pass()[0] / WINDOW
        if each * len(pieces) > STREAM_BUDGET:  # the first time pays for what is set up once
            each = min(each, middle.run_pass()[0] / WINDOW)
        if each * len(pieces) > STREAM_BUDGET:
            places = spread(len(pieces) - WINDOW, int(SAMPLE_BUDGET / each / WINDOW))
            return Course(len(pieces), [window(work, opener, pieces, at) for at in places])
    received = reads()

    def start(_: Feed | None) -> Feed:
        return partial(drain, opener(iter(received)))

    events = len(work.form.head) + len(pieces) + len(work.form.tail(""))
    return Course(events, [Stretch([None], events, 1 / 2, start)])


def drain(values: Values, _: None) -> None:
    if isinstance(values, Iterator):
        deque(values, maxlen=0)
    else:
        LOOP.run_until_complete(drain_async(values))


async def drain_async(values: AsyncIterator[object]) -> None:
    async for _ in values:
        pass


def window(work: Work, opener: Opener, pieces: Sequence[str], place: int) -> Stretch:
    end = place + WINDOW + WARM
    parts = [*(["".join(pieces[:place])] if place else []), *pieces[place:end]]
    reads = work.delivered(Response(work.form, parts))
    warm = len(work.form.head) + len(parts) - WINDOW

    def start(_: Feed | None) -> Feed:
        source = Source(reads)
        feed = partial(advance, opener(source), source)
        feed(warm)
        return feed

    return Stretch([WINDOW], WINDOW, place / len(pieces), start)


def advance(values: Values, source: Source, count: int) -> None:
    """Read on until so many more reads were taken; no value is held while the next one is made, as in `drain`."""
    end = source.given + count
    if isinstance(values, Iterator):
        while source.given < end and next(values, END) is not END:
            pass
    else:
        LOOP.run_until_complete(advance_async(values, source, end))


async def advance_async(values: AsyncIterator[object], source: Source, end: int) -> None:
    while source.given < end and await anext(values, END) is not END:
        pass


END = object()
LOOP = asyncio.new_event_loop()
