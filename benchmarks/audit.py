"""What a side really shows: before its speed counts, its output is compared with the text.

In: what a side offers, and small documents. Out: one finding a side, by the columns of its table.
Rule: the model is that of the tests and shares no code with any side.
It shows a string as far as it is decoded, and numbers, literals and keys when they are complete.
"""

import copy
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from benchmarks.documents import document
from benchmarks.kinds import Offers, Reparse, Stream
from benchmarks.timing import FAILURES, Feed
from tests.oracles import shown, visible

DOCUMENTS = (("records", 4_000), ("list", 1_000), ("string", 1_000), ("deep", 1_000), ("flat", 1_000))

LOST, RETYPED, RENUMBERED, REWRITTEN = "key or item lost", "type changed", "number changed", "string rewritten"

Finding = Mapping[str, float]
"""By column: a count, a share, or whether something is so. The first is how much was compared, and no column."""


class Moment(NamedTuple):
    """What the text shows after one chunk; `growing` when the chunk ends inside a string that shows something."""

    chunk: str
    value: object
    growing: bool


def moments(chunks: Sequence[str]) -> list[Moment]:
    found: list[Moment] = []
    for prefix, chunk in zip(accumulate(chunks), chunks, strict=True):
        value = visible(prefix)
        found.append(Moment(chunk, value, shown(prefix).open_string and bool(last_leaf(value))))
    return found


@cache
def all_moments() -> Sequence[Sequence[Moment]]:
    return [moments(document(shape, size, "tokens").chunks) for shape, size in DOCUMENTS]


def audit(offers: Offers, kinds: Collection[str]) -> Iterator[tuple[str, Finding]]:
    """The findings on one side, by the name of the audit, for those kinds that are measured."""
    values, schema = offers.get("dropped"), offers.get("schema")
    if {"dropped", "held"} & {*kinds} and isinstance(values, Stream | Reparse):
        yield "values", audit_values(values, all_moments())
    if "schema" in kinds and isinstance(schema, Stream | Reparse):
        yield "schema", audit_values(schema, all_moments()[:1])


def audit_values(offer: Stream | Reparse, streams: Sequence[Sequence[Moment]]) -> Finding:
    counts: Counter[str] = Counter()
    finals = [
        compare(offer.start() if isinstance(offer, Stream) else offer.start(""), stream, counts) for stream in streams
    ]
    chunks, growing = count(streams)
    return {
        "chunks": chunks,
        "growing strings": counts["growing"] / growing if growing else 1.0,
        "chunks right": counts["right"] / chunks,
        **{column: counts[column] for column in (LOST, RETYPED, RENUMBERED, REWRITTEN, "raised")},
        # `==` takes 1.0 for 1; at the end the types count too.
        "final value right": all(
            json.dumps(final) == json.dumps(stream[-1].value) for final, stream in zip(finals, streams, strict=True)
        ),
    }


def count(streams: Sequence[Sequence[Moment]]) -> tuple[int, int]:
    """All chunks, and those that end inside a string."""
    return sum(map(len, streams)), sum(moment.growing for stream in streams for moment in stream)


def compare(feed: Feed, stream: Sequence[Moment], counts: Counter[str]) -> object:
    """Count what is right and what is taken back; the last value is returned."""
    value: object = None
    before: object = None
    for moment in stream:
        try:
            value = as_plain(feed(moment.chunk))
        except FAILURES:
            counts["raised"] += 1
            continue
        counts["right"] += value == moment.value
        counts["growing"] += moment.growing and last_leaf(value) == last_leaf(moment.value)
        if before is not None:
            count_flicker(before, value, counts)
        before = copy.deepcopy(value)
    return value


def as_plain(value: object) -> object:
    """A model as plain values, without the fields that were not set."""
    dump = getattr(value, "model_dump", None)
    return value if dump is None else dump(exclude_unset=True)


def last_leaf(value: object) -> object:
    """What stands at the end of the last container of the last container ..."""
    while value and isinstance(value, dict | list):
        value = value[-1] if isinstance(value, list) else value[next(reversed(value))]
    return value


def count_flicker(old: object, new: object, counts: Counter[str]) -> None:
    """Count what was shown once and is not there any more."""
    if isinstance(old, dict) and isinstance(new, dict):
        counts[LOST] += len(old.keys() - new.keys())
        for key in old.keys() & new.keys():
            count_flicker(old[key], new[key], counts)
    elif isinstance(old, list) and isinstance(new, list):
        counts[LOST] += max(0, len(old) - len(new))
        for pair in zip(old, new, strict=False):
            count_flicker(*pair, counts)
    elif isinstance(old, str) and isinstance(new, str):
        counts[REWRITTEN] += not new.startswith(old)
    elif isinstance(old, int | float) and isinstance(new, int | float):
        counts[RENUMBERED] += old != new
    else:
        counts[RETYPED] += type(old) is not type(new)
