"""What one more character costs: snapshots that differ in the last of many records.

In: both builds, and values of so many records. Out: costs per snapshot, for text and for values, and for the parts.
Rule: as everywhere, all ways are run once in each round before any is run twice.

What a text costs beyond its parsing is measured, not subtracted: values that were parsed before the clock starts, one
text after the other as the chunker does it, are given to the step that follows the parsing.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import jsontide
from benchmarks.documents import prose, record
from benchmarks.kinds import Feed, drop
from benchmarks.measure import Case, Run, run_rounds
from benchmarks.peers import LOADS
from benchmarks.snapshots import copy_anew
from benchmarks.timing import Course, plan_stream

SHAPE = "one more"
COUNTS = (50, 800, 3_200)
# Few records take little time, so that a stretch has more snapshots of them: as many as have this many records.
STRETCH_RECORDS, LONGEST_STRETCH = 3_200, 32
STRETCHES = 6
# The first shows what there is, the second which string grows, and that texts continue where the last one ended.
FIRST = 2

TEXT, PARSING = "text in", "text in, parsing alone"
WHOLE = "of the whole text"


def measure_one_more(run: Run, modules: Mapping[str, ModuleType], rounds: int) -> None:
    """The records are the size of a case, the way is its kind."""
    print("one character more", flush=True)
    courses: dict[Case, Course] = {}
    for records in COUNTS if modules else ():
        stride = min(LONGEST_STRETCH, max(1, STRETCH_RECORDS // records))
        values = grow(records, FIRST + STRETCHES * stride)
        texts = [json.dumps(value, ensure_ascii=False) for value in values]
        courses[case_of(records, WHOLE, LOADS)] = plan(start_loads, texts, stride)
        for side, module in modules.items():
            for way, start, snapshots in ways(module, values, texts):
                courses[case_of(records, way, side)] = plan(start, snapshots, stride)
    run_rounds(run, courses, rounds)


def case_of(records: int, way: str, side: str) -> Case:
    return Case(SHAPE, records, "", way, side)


def grow(records: int, snapshots: int) -> list[object]:
    """Values of so many records; from each to the next, a string in the last record grows by one character."""
    rng = random.Random(f"grown {records}")
    items = [record(rng, number) for number in range(records - 1)]
    last = {"id": records - 1, "tags": ["coast"], "place": {"open": True}, "note": prose(rng, 8)}
    text = json.dumps({"trip": "coast", "version": 3, "items": [*items, last]}, ensure_ascii=False)
    end = '"}]}'
    return list(jsontide.values([text.removesuffix(end), *rng.choices("abcdefgh", k=snapshots - 1), end]))


def ways(
    module: ModuleType, values: Sequence[object], texts: Sequence[str]
) -> Iterator[tuple[str, Callable[[], Feed], Sequence[object]]]:
    """Each way to feed the same snapshots, in the order of the table."""
    yield TEXT, lambda: module.JsonStreamChunker().process, texts
    yield PARSING, partial(start_parsing, module), texts
    yield "text in, beyond parsing", partial(start_beyond, module), list(map(start_parsing(module), texts))
    # White space in front of every other text: none begins as the one before.
    rewritten = [" " * (at % 2) + text for at, text in enumerate(texts)]
    yield "text in, never continued", lambda: module.JsonStreamChunker().process, rewritten
    yield "values in, sharing what did not change", lambda: module.JsonStreamChunker().process_value, values
    anew = [copy_anew(value) for value in values]
    yield "values in, built anew", lambda: module.JsonStreamChunker().process_value, anew


def start_parsing(module: ModuleType) -> Feed:
    """Parse as the chunker does, which holds the last value and the last text, and continues from there."""
    value: object = None
    last: Any = module.snapshots._reader.NOTHING_READ  # noqa: SLF001 - a part is measured

    def feed(text: str) -> tuple[object, object]:
        nonlocal value, last
        value, last = last.read(text)
        return value, last

    return feed


def start_beyond(module: ModuleType) -> Feed:
    """`JsonStreamChunker.process` without its parsing, which cannot be replaced in compiled code."""
    state = module.JsonStreamChunker().state
    add = module.snapshots._chunkers._add_parsed  # noqa: SLF001 - a part is measured

    def feed(parsed: tuple[object, object]) -> str:
        nonlocal state
        state, chunk = add(state, *parsed)
        return str(chunk)

    return feed


def start_loads() -> Feed:
    """Parse whole texts, and hold the last value too: its memory is not free for the next one."""
    value: object = None

    def feed(text: str) -> None:
        nonlocal value
        value = json.loads(text)

    return feed


def plan(start: Callable[[], Feed], snapshots: Sequence[Any], stride: int) -> Course:
    def start_warm() -> Feed:
        feed = start()
        drop(feed, snapshots[:FIRST])
        return feed

    return plan_stream(start_warm, snapshots[FIRST:], smallest=stride)
