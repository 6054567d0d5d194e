"""The kinds of work that are measured, and what a side offers for them.

A side is one library in one build.
It offers, under the name of each kind that it can do, one of the classes below; what it does not offer is not measured.
A new kind is an entry in `KINDS` and an offer under its name.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from benchmarks.documents import CUTS, SHAPES, SIZES

Feed = Callable[[Any], object]
Loop = Callable[[Feed, Sequence[Any]], None]

# What a library may raise on a text that it should have parsed; it is reported, and the run continues.
FAILURES = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True)
class Stream:
    """Goes on from chunk to chunk: `start` returns a function of a chunk that returns the value so far."""

    start: Callable[[], Feed]


@dataclass(frozen=True)
class Reparse:
    """Parses all its text again at every chunk; `start` is given the text that came before."""

    start: Callable[[str], Feed]


@dataclass(frozen=True)
class Whole:
    """Parses all chunks at once."""

    parse: Callable[[Sequence[str]], object]


class Event(NamedTuple):
    """An event as the audit sees it: a "piece" of a string, a whole "value", the "end" of the document, or "other"."""

    sort: str
    path: str
    value: object


@dataclass(frozen=True)
class Events:
    """A stream whose function returns the events of a chunk; `classify` makes them comparable, for the audit."""

    start: Callable[[], Callable[[str], Sequence[Any]]]
    classify: Callable[[Any], Event]


class Writer(NamedTuple):
    """`write` returns what is to be sent after a snapshot, `finish` what is left after the last one."""

    write: Feed
    finish: Callable[[], object]


class Reader(Protocol):
    """Receives what a writer sends, for the audit."""

    @property
    def length(self) -> int:
        """Characters received."""

    def receive(self, sent: Any) -> object:  # noqa: ANN401 - each side sends what it makes
        """The value so far."""

    def finish(self) -> object:
        """The final value; raises `ValueError` if what was received is incomplete."""


@dataclass(frozen=True)
class Snapshots:
    """Turns snapshots into chunks; `start` is given the order of keys, "kept" or "any"."""

    start: Callable[[str], Writer]
    reader: Callable[[], Reader]


Offer = Stream | Reparse | Whole | Events | Snapshots
Offers = Mapping[str, Offer]


def drop(feed: Feed, chunks: Sequence[Any]) -> None:
    for chunk in chunks:
        feed(chunk)


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


@dataclass(frozen=True)
class Kind:
    """`loop` calls the feed, `label` names its rows, `baseline` is the kind of jsontide that they are compared with."""

    name: str
    label: str = ""
    baseline: str = ""
    loop: Loop = drop
    shapes: Sequence[str] = (*SHAPES,)
    sizes: Sequence[int] = SIZES
    cuts: Sequence[str] = (*CUTS,)
    unit: str = "chunk"

    def suits(self, shape: str, size: int, cut: str) -> bool:
        return shape in self.shapes and size in self.sizes and cut in self.cuts


RECORDS, TOKENS = ("records",), ("tokens",)
SNAPSHOTS = Kind("snapshots", shapes=("records", "string"), sizes=SIZES[:3], cuts=TOKENS, unit="snapshot")

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
        replace(SNAPSHOTS, name="anew", label=", values built anew", baseline="snapshots"),
    )
}
