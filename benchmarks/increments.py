"""What one more character costs: snapshots that differ in the last of many records.

In: both builds, and values of so many records. Out: seconds per snapshot, for text and for values, and for the parts.
Rule: as in `measure`, every way works once in each round before any works twice.

What a text costs beyond its parsing is measured, not subtracted: values that were parsed before the clock starts, one
text after the other as the chunker does it, are given to the step that follows the parsing.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from benchmarks.histories import anew, grown
from benchmarks.measure import frozen
from benchmarks.peers import LOADS
from benchmarks.timing import Course, stream_course
from benchmarks.works import dropped

COUNTS = (50, 800, 3_200)
# Few records take little time, so that a stretch has more snapshots of them: as many as have this many records.
STRETCH_RECORDS, LONGEST_STRETCH = 3_200, 32
STRETCHES = 6
# The first tells what there is, the second which of its strings grows, and that texts go on where the last one ended.
FIRST = 2

TEXT, PARSING, BEYOND, REWRITTEN, SHARED, ANEW = (
    "text in",
    "text in, parsing alone",
    "text in, beyond parsing",
    "text in, never going on",
    "values in, sharing what did not change",
    "values in, built anew",
)
WHOLE = "of the whole text"


@dataclass(frozen=True)
class Increment:
    records: int
    way: str
    side: str


@dataclass(frozen=True)
class Snapshots:
    """The same history in all the forms that are fed."""

    texts: Sequence[str]
    rewritten: Sequence[str]
    shared: Sequence[object]
    anew: Sequence[object]


Start = Callable[[], Callable[[Any], object]]


def incremented(
    modules: Mapping[str, ModuleType], rounds: int, advance: Callable[[str], None]
) -> dict[Increment, float]:
    """`advance` is told what comes next, once for each round."""
    courses: dict[Increment, Course] = {}
    for records in COUNTS if modules else ():
        courses |= planned(modules, records)
    with frozen():
        for number in range(rounds):
            advance("one character more")
            order = list(courses.values())
            # The counts are compared with each other, so that they take turns too.
            for one in order[:: -1 if number % 2 else 1]:
                one.round()
    return {increment: one.cost().seconds for increment, one in courses.items()}


def planned(modules: Mapping[str, ModuleType], records: int) -> dict[Increment, Course]:
    stride = min(LONGEST_STRETCH, max(1, STRETCH_RECORDS // records))
    snapshots = in_all_forms(records, STRETCHES * stride)
    courses = {Increment(records, WHOLE, LOADS): course(holding_whole, snapshots.texts, stride)}
    for side, module in modules.items():
        for way, start, taken in ways(module, snapshots):
            courses[Increment(records, way, side)] = course(start, taken, stride)
    return courses


def in_all_forms(records: int, snapshots: int) -> Snapshots:
    shared = grown(records, FIRST + snapshots)
    texts = [json.dumps(value, ensure_ascii=False) for value in shared]
    # White space in front of every other text: none begins as the one before.
    rewritten = [" " * (at % 2) + text for at, text in enumerate(texts)]
    return Snapshots(texts, rewritten, shared, [anew(value) for value in shared])


def ways(module: ModuleType, snapshots: Snapshots) -> Iterator[tuple[str, Start, Sequence[object]]]:
    yield TEXT, lambda: module.JsonStreamChunker().process, snapshots.texts
    yield PARSING, partial(parsing, module), snapshots.texts
    yield BEYOND, partial(parsed_feed, module), list(map(parsing(module), snapshots.texts))
    yield REWRITTEN, lambda: module.JsonStreamChunker().process, snapshots.rewritten
    yield SHARED, lambda: module.JsonStreamChunker().process_value, snapshots.shared
    yield ANEW, lambda: module.JsonStreamChunker().process_value, snapshots.anew


def parsing(module: ModuleType) -> Callable[[str], tuple[object, object]]:
    """Parse as the chunker does, which holds the last value and the last text, and goes on from there."""
    value: object = None
    last: Any = module.snapshots._continuing.NOTHING_READ  # noqa: SLF001 - a part is measured

    def feed(text: str) -> tuple[object, object]:
        nonlocal value, last
        value, last = last.read(text)
        return value, last

    return feed


def parsed_feed(module: ModuleType) -> Callable[[Any], str]:
    """`JsonStreamChunker.process` without its parsing, which cannot be replaced in compiled code."""
    state = module.JsonStreamChunker().state
    add = module.snapshots._steps._add_read  # noqa: SLF001 - a part is measured

    def feed(parsed: tuple[object, object]) -> str:
        nonlocal state
        state, chunk = add(state, *parsed)
        return str(chunk)

    return feed


def holding_whole() -> Callable[[str], None]:
    """Parse whole texts, and hold the last value too: its memory is not free for the next one."""
    value: object = None

    def feed(text: str) -> None:
        nonlocal value
        value = json.loads(text)

    return feed


def course(start: Start, snapshots: Sequence[Any], stride: int) -> Course:
    def begun() -> Callable[[Any], object]:
        feed = start()
        dropped(feed, snapshots[:FIRST])
        return feed

    return stream_course(begun, snapshots[FIRST:], dropped, stride)
