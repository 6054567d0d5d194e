"""What a side really sends: before the speed of its chunks counts, they are read again.

In: how a side makes chunks, and histories. Out: whether its chunks give the last snapshot, and when.
Rule: what is sent is read by sinks that share no code with any side.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

import jsontide
from benchmarks.audit import DOCUMENTS
from benchmarks.documents import document
from benchmarks.histories import reordered
from benchmarks.works import FAILURES, Chunking

# Not the deep one: jsonpatch writes what is open anew for each array around it, and took 85 ms for each snapshot.
HISTORIES = [(shape, size) for shape, size in DOCUMENTS if shape != "deep"]


@dataclass(frozen=True)
class Sending:
    """What was sent of some histories; `at_once` counts snapshots after which all that they hold was sent."""

    snapshots: int
    at_once: int
    sent: int
    needed: int
    is_last_right: bool
    is_last_right_reordered: bool

    @property
    def length(self) -> float:
        """Characters sent, for each of the last snapshots as compact text."""
        return self.sent / self.needed


@dataclass(frozen=True)
class Receipt:
    at_once: int
    sent: int
    is_last_right: bool


def all_histories() -> list[list[object]]:
    return [list(jsontide.values(document(shape, size, "tokens").chunks)) for shape, size in HISTORIES]


def sending(chunking: Chunking, histories: Sequence[Sequence[object]]) -> Sending:
    rng = random.Random("reordered")
    found = [received(chunking, history, "kept") for history in histories]
    shuffled = [received(chunking, [reordered(rng, value) for value in history], "any") for history in histories]
    return Sending(
        snapshots=sum(len(history) for history in histories),
        at_once=sum(each.at_once for each in found),
        sent=sum(each.sent for each in found),
        needed=sum(len(json.dumps(history[-1], ensure_ascii=False, separators=(",", ":"))) for history in histories),
        is_last_right=all(each.is_last_right for each in found),
        is_last_right_reordered=all(each.is_last_right for each in shuffled),
    )


def received(chunking: Chunking, history: Sequence[object], key_order: str) -> Receipt:
    chunker, sink = chunking.start(key_order), chunking.sink()
    at_once = 0
    try:
        for snapshot in history:
            at_once += sink.take(chunker.take(snapshot)) == snapshot
        sink.take(chunker.finish())
        is_right = same(sink.end(), history[-1])
    except FAILURES:
        is_right = False
    return Receipt(at_once, sink.length, is_right)


def same(one: object, other: object) -> bool:
    """Equal whatever the order of keys; `==` would take 1.0 for 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
