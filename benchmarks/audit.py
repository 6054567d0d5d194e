"""What a side really shows: before its speed counts, its output is compared with the text.

In: what a side offers, and small documents. Out: one finding a side, by the columns of its table.
Rule: the model is that of the tests and shares no code with any side.
It shows a string as far as it is decoded, and numbers, literals and keys when they are complete.
"""

import copy
import json
import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

import jsontide
from benchmarks.documents import document
from benchmarks.kinds import FAILURES, Event, Events, Feed, Offers, Reparse, Snapshots, Stream
from benchmarks.snapshots import reorder
from tests.oracles import shown, visible

DOCUMENTS = (("records", 4_000), ("list", 1_000), ("string", 1_000), ("deep", 1_000), ("flat", 1_000))
# jsonpatch writes what is open anew for each array around it, and took 85 ms for each snapshot of the deep document.
HISTORIES = tuple((shape, size) for shape, size in DOCUMENTS if shape != "deep")

LOST, RETYPED, RENUMBERED, REWRITTEN = "key or item lost", "type changed", "number changed", "string rewritten"
ELEMENTS = "[1, 2]"
DOTTED = '{"a.b": 1, "a": {"b": 2}}'

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


@cache
def all_histories() -> Sequence[Sequence[object]]:
    return [list(jsontide.values(document(shape, size, "tokens").chunks)) for shape, size in HISTORIES]


def audit(offers: Offers, kinds: Collection[str]) -> Iterator[tuple[str, Finding]]:
    """The findings on one side, by the name of the audit, for those kinds that are measured."""
    values, events, snapshots, schema = map(offers.get, ("dropped", "events", "snapshots", "schema"))
    if {"dropped", "held"} & {*kinds} and isinstance(values, Stream | Reparse):
        yield "values", audit_values(values, all_moments())
    if "events" in kinds and isinstance(events, Events):
        yield "events", audit_events(events, all_moments())
    if {"snapshots", "anew"} & {*kinds} and isinstance(snapshots, Snapshots):
        yield "snapshots", audit_snapshots(snapshots, all_histories())
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


def audit_events(offer: Events, streams: Sequence[Sequence[Moment]]) -> Finding:
    found = [events_of(offer, [moment.chunk for moment in stream]) for stream in streams]
    pairs = list(zip(streams, found, strict=True))
    chunks, growing = count(streams)
    return {
        "chunks": chunks,
        "events": sum(len(events) for chunks in found for events in chunks),
        "growing strings": sum(growing_right(*pair) for pair in pairs) / growing if growing else 1.0,
        # `==` would take 1.0 for 1.
        "values right": all(
            json.dumps([event.value for event in whole_values(events)]) == json.dumps([*leaves(stream[-1].value)])
            for stream, events in pairs
        ),
        "end of document": all("end" in [event.sort for event in events[-1]] for events in found),
        "elements apart": has_distinct_paths(offer, ELEMENTS),
        "dots apart": has_distinct_paths(offer, DOTTED),
    }


def events_of(offer: Events, chunks: Sequence[str]) -> list[list[Event]]:
    """The events of each chunk."""
    feed = offer.start()
    return [[offer.classify(event) for event in feed(chunk)] for chunk in chunks]


def growing_right(stream: Sequence[Moment], found: Sequence[Sequence[Event]]) -> int:
    """The chunks after which the pieces of an open string join to what has come of it."""
    right, text = 0, ""
    for moment, events in zip(stream, found, strict=True):
        for event in events:
            text = f"{text}{event.value}" if event.sort == "piece" else ""
        right += moment.growing and text == last_leaf(moment.value)
    return right


def whole_values(found: Sequence[Sequence[Event]]) -> list[Event]:
    return [event for events in found for event in events if event.sort == "value"]


def leaves(value: object) -> Iterator[object]:
    if not isinstance(value, dict | list):
        yield value
        return
    for inner in value.values() if isinstance(value, dict) else value:
        yield from leaves(inner)


def has_distinct_paths(offer: Events, text: str) -> bool:
    """Whether each value of a text has a path of its own."""
    paths = [event.path for event in whole_values(events_of(offer, [text]))]
    return len(paths) == len(set(paths))


def audit_snapshots(offer: Snapshots, histories: Sequence[Sequence[object]]) -> Finding:
    rng = random.Random("reordered")
    kept = [receive(offer, history, "kept") for history in histories]
    shuffled = [receive(offer, [reorder(rng, value) for value in history], "any") for history in histories]
    snapshots = sum(map(len, histories))
    needed = sum(len(json.dumps(history[-1], ensure_ascii=False, separators=(",", ":"))) for history in histories)
    return {
        "snapshots": snapshots,
        "last snapshot right": all(each.is_right for each in kept),
        "right with keys reordered": all(each.is_right for each in shuffled),
        "all sent at once": sum(each.at_once for each in kept) / snapshots,
        "characters sent": sum(each.length for each in kept) / needed,
    }


class Receipt(NamedTuple):
    """`at_once` counts the snapshots after which all that they hold had been sent."""

    at_once: int
    length: int
    is_right: bool


def receive(offer: Snapshots, history: Sequence[object], key_order: str) -> Receipt:
    writer, reader = offer.start(key_order), offer.reader()
    at_once = 0
    try:
        for snapshot in history:
            at_once += reader.receive(writer.write(snapshot)) == snapshot
        reader.receive(writer.finish())
        # Equal whatever the order of keys; `==` would take 1.0 for 1.
        is_right = json.dumps(reader.finish(), sort_keys=True) == json.dumps(history[-1], sort_keys=True)
    except FAILURES:
        is_right = False
    return Receipt(at_once, reader.length, is_right)
