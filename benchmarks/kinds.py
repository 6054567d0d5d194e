"""The kinds of work that are measured, what a side offers for them, and how an offer is timed.

A side is one library in one build.
It offers, under the name of each kind that it can do, one of the classes below; what it does not offer is not measured.
A new kind is an entry in `KINDS` and an offer under its name.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Literal

import jsontide
from benchmarks.documents import CLEAN, CUTS, DIRTY, SIZES, Document, document
from benchmarks.timing import Course, Feed, Loop, Stretch, drop, plan_reparse, plan_stream, plan_whole


@dataclass(frozen=True)
class Stream:
    """Goes on from chunk to chunk: `start` returns a function of a chunk, or of a snapshot, that returns its result."""

    start: Callable[[], Feed]


@dataclass(frozen=True)
class Reparse:
    """Parses all its text again at every chunk; `start` is given the text that came before."""

    start: Callable[[str], Feed]


@dataclass(frozen=True)
class Whole:
    """Does all chunks in one call."""

    run: Callable[[Sequence[str]], object]


Offer = Stream | Reparse | Whole
Offers = Mapping[str, Offer]


def hold(feed: Feed, chunks: Sequence[Any]) -> None:
    """The last value is still in the variable while the next one is made."""
    value: object = None
    for chunk in chunks:
        value = feed(chunk)
    del value


def tolerate(feed: Feed, chunks: Sequence[Any]) -> None:
    """After an exception the next chunk comes all the same."""
    for chunk in chunks:
        with suppress(ValueError):
            feed(chunk)


Form = Literal["", "shared", "anew", "text"]
"""What is fed: chunks of text, or snapshots that share what did not change, or that share nothing, or their text."""


@dataclass(frozen=True)
class Kind:
    """`loop` calls the feed, `label` names its rows, `baseline` is the kind of jsontide that they are compared with."""

    name: str
    label: str = ""
    baseline: str = ""
    loop: Loop = drop
    shapes: Sequence[str] = CLEAN
    sizes: Sequence[int] = SIZES
    cuts: Sequence[str] = (*CUTS,)
    snapshots: Form = ""

    @property
    def unit(self) -> str:
        return "snapshot" if self.snapshots else "chunk"

    def suits(self, shape: str, size: int, cut: str) -> bool:
        return shape in self.shapes and size in self.sizes and cut in self.cuts


RECORDS, TOKENS = ("records",), ("tokens",)
SNAPSHOTS = Kind("snapshots", shapes=("records", "string"), sizes=SIZES[:3], cuts=TOKENS, snapshots="shared")
MENDED = Kind("mended", ", mending", "mended", tolerate, ("records", DIRTY), cuts=TOKENS)

KINDS = {
    kind.name: kind
    for kind in (
        Kind("dropped"),
        Kind("held", ", last value held", "dropped", hold),
        Kind("unread", ", value unread", "dropped"),
        Kind("events"),
        Kind("unread_events", ", events unread", shapes=RECORDS, cuts=TOKENS),
        Kind("schema", loop=tolerate, shapes=RECORDS),
        Kind("final", shapes=RECORDS),
        SNAPSHOTS,
        replace(SNAPSHOTS, name="anew", label=", values built anew", baseline="snapshots", snapshots="anew"),
        replace(SNAPSHOTS, name="texts", label=", text in", baseline="snapshots", snapshots="text"),
        MENDED,
        Kind("strict", ", strict", "mended", shapes=RECORDS, cuts=TOKENS),
    )
}


def plan(kind: Kind, offer: Offer, text: Document) -> Course:
    match offer:
        case Whole(run):
            return plan_whole(run, text.chunks, len(text.chunks))
        case Reparse(start):
            return plan_reparse(start, text.chunks, kind.loop)
        case Stream(begin) if kind.snapshots:
            return plan_snapshots(begin, text, kind.snapshots)
        case Stream(begin):
            return plan_stream(begin, text.chunks, kind.loop)


# Of longer histories some windows are taken, spread evenly: all snapshots of 100 KB, built anew, would take gigabytes.
LONGEST = 3_000
WINDOW = 64
PARTS = 8
WARM = 2
"""Snapshots before a window: the first shows what there is, the second that texts continue where the last one ended."""


def plan_snapshots(begin: Callable[[], Feed], text: Document, form: Form) -> Course:
    """Some windows of a history; the snapshots before a window are fed outside of the clock."""
    count, taken = history(text.shape, text.size, text.cut, form)

    def start(before: Sequence[object], _: Feed | None) -> Feed:
        feed = begin()
        drop(feed, before)
        return feed

    stretches = []
    for inside in windows(count):
        before = [taken[at] for at in range(max(0, inside.start - WARM), inside.start)]
        snapshots = [taken[at] for at in inside]
        place = (inside.start + inside.stop) / 2 / count
        stretches.append(Stretch(snapshots, len(snapshots), place, partial(start, before)))
    return Course(count, stretches)


@lru_cache(maxsize=3)
def history(shape: str, size: int, cut: str, form: Form) -> tuple[int, Mapping[int, object]]:
    """The number of all snapshots, as `jsontide.values` yields them, and those of them that are fed."""
    chunks = document(shape, size, cut).chunks
    count = sum(1 for _ in jsontide.values(chunks))
    wanted = {at for inside in windows(count) for at in range(max(0, inside.start - WARM), inside.stop)}
    values = ((at, value) for at, value in enumerate(jsontide.values(chunks)) if at in wanted)
    return count, {at: write(value, form) for at, value in values}


def write(value: object, form: Form) -> object:
    """A snapshot in the form in which it is fed; a copy would share its strings."""
    if form == "shared":
        return value
    text = json.dumps(value, ensure_ascii=False)
    return text if form == "text" else json.loads(text)


def windows(count: int) -> list[range]:
    if count <= LONGEST:
        starts = range(0, count, WINDOW)
        return [range(start, min(count, start + WINDOW)) for start in starts]
    middles = [count * (2 * part + 1) // (2 * PARTS) for part in range(PARTS)]
    return [range(middle - WINDOW // 2, middle + WINDOW // 2) for middle in middles]
