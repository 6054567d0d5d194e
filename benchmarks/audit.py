"""What a side really shows: before its speed counts, its values are compared with the text.

In: a side's feed and small documents. Out: how often it was right, and what it took back.
Rule: the model is that of the tests and shares no code with any side.
It shows a string as far as it is decoded, and numbers, literals and keys when they are complete.
"""

import copy
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from benchmarks.documents import document
from benchmarks.works import FAILURES, Feed, Works
from tests.oracles import shown, visible

DOCUMENTS = (("records", 4_000), ("list", 1_000), ("string", 1_000), ("deep", 1_000), ("flat", 1_000))
SHOWS_STRINGS = 0.95

LOST, RETYPED, RENUMBERED, REWRITTEN = "key or item lost", "type changed", "number changed", "string rewritten"
FLICKER = (LOST, RETYPED, RENUMBERED, REWRITTEN)


@dataclass(frozen=True)
class Moment:
    """What the text shows after one chunk; `growing` when the chunk ends inside a string that shows something."""

    chunk: str
    value: object
    growing: bool


@dataclass(frozen=True)
class Finding:
    chunks: int
    right: int
    growing: int
    growing_right: int
    flicker: Mapping[str, int]
    raised: int
    is_final_right: bool

    @property
    def strings(self) -> float:
        """The share of chunks inside a string whose text was shown as far as it had come."""
        return self.growing_right / self.growing if self.growing else 1.0

    @property
    def shows_strings(self) -> bool:
        return self.strings >= SHOWS_STRINGS

    def __add__(self, other: "Finding") -> "Finding":
        return Finding(
            self.chunks + other.chunks,
            self.right + other.right,
            self.growing + other.growing,
            self.growing_right + other.growing_right,
            {kind: self.flicker[kind] + other.flicker[kind] for kind in FLICKER},
            self.raised + other.raised,
            self.is_final_right and other.is_final_right,
        )


def moments(chunks: Sequence[str]) -> list[Moment]:
    found: list[Moment] = []
    for prefix, chunk in zip(accumulate(chunks), chunks, strict=True):
        value = visible(prefix)
        found.append(Moment(chunk, value, shown(prefix).open_string and bool(last_leaf(value))))
    return found


def all_moments() -> list[list[Moment]]:
    return [moments(document(shape, size, "tokens").chunks) for shape, size in DOCUMENTS]


def audited(works: Works, streams: Sequence[Sequence[Moment]]) -> Finding | None:
    """`None` for a side that shows no values before the end."""
    total: Finding | None = None
    for stream in streams:
        feed = works.start()
        if feed is None:
            return None
        found = compared(feed, stream)
        total = found if total is None else total + found
    return total


def compared(feed: Feed, stream: Sequence[Moment]) -> Finding:
    right = growing_right = raised = 0
    flicker: Counter[str] = Counter()
    value: object = None
    before: object = None
    for moment in stream:
        try:
            value = feed(moment.chunk)
        except FAILURES:
            raised += 1
            continue
        right += value == moment.value
        growing_right += moment.growing and last_leaf(value) == last_leaf(moment.value)
        if before is not None:
            count_flicker(before, value, flicker)
        before = copy.deepcopy(value)
    return Finding(
        chunks=len(stream),
        right=right,
        growing=sum(moment.growing for moment in stream),
        growing_right=growing_right,
        flicker={kind: flicker[kind] for kind in FLICKER},
        raised=raised,
        # `==` takes 1.0 for 1; at the end the types count too.
        is_final_right=json.dumps(value) == json.dumps(stream[-1].value),
    )


def last_leaf(value: object) -> object:
    """What stands at the end of the last container of the last container ..."""
    while value and isinstance(value, dict | list):
        value = value[-1] if isinstance(value, list) else value[next(reversed(value))]
    return value


def count_flicker(old: object, new: object, flicker: Counter[str]) -> None:
    """Count what was shown once and is not there any more."""
    if isinstance(old, dict) and isinstance(new, dict):
        flicker[LOST] += len(old.keys() - new.keys())
        for key in old.keys() & new.keys():
            count_flicker(old[key], new[key], flicker)
    elif isinstance(old, list) and isinstance(new, list):
        flicker[LOST] += max(0, len(old) - len(new))
        for pair in zip(old, new, strict=False):
            count_flicker(*pair, flicker)
    elif isinstance(old, str) and isinstance(new, str):
        flicker[REWRITTEN] += not new.startswith(old)
    elif isinstance(old, int | float) and isinstance(new, int | float):
        flicker[RENUMBERED] += old != new
    else:
        flicker[RETYPED] += type(old) is not type(new)
