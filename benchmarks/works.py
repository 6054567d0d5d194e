"""What can be measured: the kinds of work, and what a side must offer to take part in one.

A side is one library in one build.
Each offers what it can: a feed (one chunk in, the value so far out), a feed whose value nobody reads, a feed of events,
a value seen through a schema, a whole document, a way back from snapshots to chunks.
A new kind of work is a new attribute of `Works`, a loop over it and an entry in `WORKS`.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar

from benchmarks.documents import CUTS, SIZES

Feed = Callable[[str], object]
Loop = Callable[[Feed, Sequence[str]], None]
Event = TypeVar("Event")

# What a library may raise on a text that it should have taken; it is reported, and the others go on.
FAILURES = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


class Sort(Enum):
    """What the audit tells apart; all that is of no other sort is `OTHER`."""

    PIECE = "more of a string"
    VALUE = "a whole string, number, boolean or null"
    END = "the end of the document"
    OTHER = "a bracket, a key, the start of a string"


@dataclass(frozen=True)
class Told:
    """An event as the audit sees it; the value of a piece is its text."""

    sort: Sort
    path: str
    value: object


@dataclass(frozen=True, kw_only=True)
class Telling(Generic[Event]):
    """How a side tells events."""

    start: Callable[[], Callable[[str], Sequence[Event]]]
    """Start a stream whose feed returns the events of a chunk."""
    start_looking: Callable[[], Callable[[str], Sequence[Event]]]
    """Start one whose feed also looks at the kind, path and value of each event."""
    told: Callable[[Event], Told]


class Sink(Protocol):
    """Reads what a chunker sends, for the audit."""

    @property
    def length(self) -> int:
        """Characters that were received."""

    def take(self, sent: Any) -> object:  # noqa: ANN401 - each side sends what it makes
        """The value that all that was received shows so far."""

    def end(self) -> object:
        """The value that all that was received is; raises `ValueError` if it is none."""


@dataclass(frozen=True)
class Chunker:
    """One history: `take` gives what is to be sent after a snapshot, `finish` what is left after the last one."""

    take: Callable[[object], object]
    finish: Callable[[], object]


@dataclass(frozen=True, kw_only=True)
class Chunking:
    """How a side turns snapshots into chunks; the same chunker is measured and audited."""

    start: Callable[[str], Chunker]
    """Start a history of snapshots whose keys stand in the order of writing (`kept`), or in any; who cares is told."""
    sink: Callable[[], Sink]
    sees_sharing: bool = False
    """Whether it makes a difference that a snapshot holds the same objects as the one before."""


@dataclass(frozen=True, kw_only=True)
class Works:
    """What one side can do; `None` for what it cannot."""

    read: Callable[[], Feed] | None = None
    """Start a stream that goes on from chunk to chunk; its feed returns the value so far."""
    keeps_values: bool = False
    """Whether a value that `read` gave stays as it was when more text comes."""
    reparse: Callable[[str], Feed] | None = None
    """Start a stream that parses all its text again at every chunk, with a text that has come before."""
    unread: Callable[[], Feed] | None = None
    """Start a stream whose feed takes a chunk and builds no value."""
    events: Telling[Any] | None = None
    """Streams that tell what happens in a chunk, and where."""
    typed: Callable[[], Feed] | None = None
    """Start a stream that goes on from chunk to chunk; its feed returns the value so far as a schema shows it."""
    typed_again: Callable[[str], Feed] | None = None
    """Start a stream that validates all its text again at every chunk, with a text that has come before."""
    whole: Callable[[Sequence[str]], object] | None = None
    """The final value of all chunks."""
    chunking: Chunking | None = None
    """Histories of snapshots, turned back into chunks."""
    module: ModuleType | None = None
    """The package itself, where what its states keep in memory is measured too."""

    def start(self) -> Feed | None:
        if self.read is not None:
            return self.read()
        return self.reparse("") if self.reparse is not None else None


@dataclass(frozen=True)
class Side:
    """`works` is loaded late: a library that cannot be imported is reported as missing."""

    name: str
    distributions: tuple[str, ...]
    load: Callable[[], Works]


def dropped(feed: Feed, chunks: Sequence[str]) -> None:
    for chunk in chunks:
        feed(chunk)


def held(feed: Feed, chunks: Sequence[str]) -> None:
    """The last value is still in the variable while the next one is made."""
    value: object = None
    for chunk in chunks:
        value = feed(chunk)
    del value


def tolerant(feed: Feed, chunks: Sequence[str]) -> None:
    """What raises has shown nothing, and the next chunk comes all the same."""
    for chunk in chunks:
        with suppress(ValueError):
            feed(chunk)


@dataclass(frozen=True)
class Work:
    """`offer` is the attribute of `Works` that does it; `loop` how its feed is called."""

    name: str
    title: str
    offer: str
    loop: Loop = dropped
    shapes: tuple[str, ...] = ("records", "list", "string", "deep", "flat")
    sizes: tuple[int, ...] = SIZES
    cuts: tuple[str, ...] = (*CUTS,)

    def suits(self, shape: str, size: int, cut: str) -> bool:
        return shape in self.shapes and size in self.sizes and cut in self.cuts


def of_snapshots(name: str, title: str) -> Work:
    return Work(name, title, "chunking", shapes=("records", "string"), sizes=SIZES[:3], cuts=("tokens",))


WORKS = {
    work.name: work
    for work in (
        Work("dropped", "value read after every chunk and dropped", "read"),
        Work("held", "value read after every chunk, the last one still held", "read", held),
        Work("unread", "state only, value unread", "unread"),
        Work("events", "events with paths after every chunk", "events"),
        Work("told", "events that nobody looks at", "events", shapes=("records",), cuts=("tokens",)),
        Work("schema", "value through a schema after every chunk", "typed", tolerant, shapes=("records",)),
        Work("final", "final value of all chunks", "whole", shapes=("records",)),
        of_snapshots("snapshots", "snapshots to chunks, values that share what did not change"),
        of_snapshots("anew", "snapshots to chunks, values built anew"),
    )
}
