"""The run over documents: every document, every side in turn; then memory.

In: what the sides offer, documents, rounds. Out: a cost for each, or the reason why it has none.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import ModuleType

from benchmarks.documents import CUTS, SHAPES, SIZES, Document, document
from benchmarks.kinds import KINDS, Offers, plan
from benchmarks.timing import FAILURES, Case, Course, Run, held_by

MEMORY_SIZE = 1_000_000
KEPT = 10_000
STATE, LOADS_MEMORY, UNREAD, READ = "document and state", "json.loads", "a kept state, unread", "a kept state, read"


@dataclass(frozen=True)
class Extent:
    """What to measure: everything, or less of it."""

    rounds: int
    shapes: Sequence[str] = (*SHAPES,)
    sizes: Sequence[int] = SIZES
    cuts: Sequence[str] = (*CUTS,)
    kinds: Sequence[str] = (*KINDS,)

    def documents(self) -> list[tuple[str, int, str]]:
        every = product(self.shapes, self.sizes, self.cuts)
        return [each for each in every if any(KINDS[name].suits(*each) for name in self.kinds)]


def measure(run: Run, sides: Mapping[str, Offers], extent: Extent) -> None:
    documents = extent.documents()
    for number, (shape, size, cut) in enumerate(documents, 1):
        print(f"{number} of {len(documents)}: {shape} {size:,} {cut}", flush=True)
        run.time(plan_all(run, sides, extent.kinds, document(shape, size, cut)), extent.rounds)


def plan_all(run: Run, sides: Mapping[str, Offers], kinds: Sequence[str], text: Document) -> dict[Case, Course]:
    courses: dict[Case, Course] = {}
    for kind in (KINDS[name] for name in kinds):
        if not kind.suits(text.shape, text.size, text.cut):
            continue
        for side, offers in sides.items():
            case = Case(text.shape, text.size, text.cut, kind.name, side)
            if kind.name not in offers:
                continue
            if (far := run.extrapolate(case, len(text.chunks))) is not None:
                run.costs[case] = far
                continue
            try:
                courses[case] = plan(kind, offers[kind.name], text)
            except FAILURES as error:
                run.failures[case] = type(error).__name__
    return courses


def parse(module: ModuleType, chunks: Sequence[str], *, read: bool, keep: bool) -> object:
    """The last state of a stream, and all before it if they are to be kept."""
    kept, state = [], module.create_parser_state()
    for chunk in chunks:
        if keep:
            kept.append(state)
        state = module.parse_chunk(state, chunk)
        _ = state.value if read else None
    return kept, state


def measure_memory(module: ModuleType) -> dict[str, float]:
    """What a stream keeps, beside `json.loads` of the same text; a kept state is its share of many."""
    text = document("records", MEMORY_SIZE, "tokens")

    def kept(*, read: bool) -> float:
        first = text.chunks[:KEPT]
        alone = held_by(lambda: parse(module, first, read=False, keep=False))
        return (held_by(lambda: parse(module, first, read=read, keep=True)) - alone) / KEPT

    return {
        STATE: held_by(lambda: parse(module, text.chunks, read=True, keep=False)),
        LOADS_MEMORY: held_by(lambda: json.loads(text.text)),
        UNREAD: kept(read=False),
        READ: kept(read=True),
    }
