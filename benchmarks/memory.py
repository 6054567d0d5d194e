"""What a stream keeps in memory, by tracemalloc.

In: a build of jsontide and a document. Out: bytes, beside those of `json.loads` of the same text.
Rule: the text and its chunks exist before the count begins; what is counted is what is left after a collection.
"""

import gc
import json
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

from benchmarks.documents import document

SIZE = 1_000_000
KEPT = 10_000


@dataclass(frozen=True)
class Memory:
    """`finished` and `loads` are bytes; the others bytes per kept state."""

    finished: int
    loads: int
    kept_unread: float
    kept_read: float

    @property
    def ratio(self) -> float:
        return self.finished / self.loads


def held_by(make: Callable[[], object]) -> int:
    """The bytes that the result of `make` keeps alive."""
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    made = make()
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del made
    return after - before


def parse(module: ModuleType, chunks: Sequence[str], *, read: bool, keep: bool) -> object:
    """The last state of a stream, and all before it if they are to be kept."""
    kept, state = [], module.create_parser_state()
    for chunk in chunks:
        if keep:
            kept.append(state)
        state = module.parse_chunk(state, chunk)
        _ = state.value if read else None
    return kept, state


def measure_memory(module: ModuleType) -> Memory:
    text = document("records", SIZE, "tokens")
    first = text.chunks[:KEPT]
    alone = held_by(lambda: parse(module, first, read=False, keep=False))
    return Memory(
        finished=held_by(lambda: parse(module, text.chunks, read=True, keep=False)),
        loads=held_by(lambda: json.loads(text.text)),
        kept_unread=(held_by(lambda: parse(module, first, read=False, keep=True)) - alone) / KEPT,
        kept_read=(held_by(lambda: parse(module, first, read=True, keep=True)) - alone) / KEPT,
    )
