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


def last_state(module: ModuleType, chunks: Sequence[str], *, read: bool) -> object:
    state = module.create_parser_state()
    for chunk in chunks:
        state = module.parse_chunk(state, chunk)
        _ = state.value if read else None
    return state


def all_states(module: ModuleType, chunks: Sequence[str], *, read: bool) -> object:
    states = [module.create_parser_state()]
    for chunk in chunks:
        states.append(module.parse_chunk(states[-1], chunk))
        _ = states[-1].value if read else None
    return states


def memory_of(module: ModuleType) -> Memory:
    text = document("records", SIZE, "tokens")
    first = text.chunks[:KEPT]
    alone = held_by(lambda: last_state(module, first, read=False))
    return Memory(
        finished=held_by(lambda: last_state(module, text.chunks, read=True)),
        loads=held_by(lambda: json.loads(text.text)),
        kept_unread=(held_by(lambda: all_states(module, first, read=False)) - alone) / KEPT,
        kept_read=(held_by(lambda: all_states(module, first, read=True)) - alone) / KEPT,
    )
