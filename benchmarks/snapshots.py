"""Snapshots of growing documents, made before any clock starts.

In: a document and its chunks.
Out: the values after each chunk, as `jsontide.values` yields them, so that each shares with the one before what did not
change; or built anew, so that no two share anything.
Rule: all sides are fed the same snapshots, none of which is changed.
"""

import json
import random
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import jsontide
from benchmarks.documents import document

WINDOW = 64
# Of longer histories some windows are taken, spread evenly: all snapshots of 100 KB, built anew, would take gigabytes.
LONGEST = 3_000
PARTS = 8


class Window(NamedTuple):
    """Consecutive snapshots of a history, around a place between its beginning (0) and its end (1)."""

    before: Sequence[object]
    snapshots: Sequence[object]
    place: float


@lru_cache(maxsize=2)
def history(shape: str, size: int, cut: str, *, is_anew: bool) -> tuple[int, Sequence[Window]]:
    """The number of all snapshots, and those of them that are measured."""
    chunks = document(shape, size, cut).chunks
    count = sum(1 for _ in jsontide.values(chunks))
    ranges = [range(start, min(count, start + WINDOW)) for start in window_starts(count)]
    # The snapshot before a window is fed too, so that the window begins in the middle of things.
    wanted = {at for inside in ranges for at in (max(0, inside[0] - 1), *inside)}
    values = ((at, value) for at, value in enumerate(jsontide.values(chunks)) if at in wanted)
    taken = {at: copy_anew(value) if is_anew else value for at, value in values}
    return count, [
        Window(
            [taken[inside[0] - 1]] if inside[0] else [],
            [taken[at] for at in inside],
            (inside[0] + len(inside) / 2) / count,
        )
        for inside in ranges
    ]


def window_starts(count: int) -> list[int]:
    if count <= LONGEST:
        return list(range(0, count, WINDOW))
    return [count * (2 * part + 1) // (2 * PARTS) - WINDOW // 2 for part in range(PARTS)]


def copy_anew(value: object) -> object:
    """The same value, made of other objects; a copy would share its strings."""
    return json.loads(json.dumps(value))


def reorder(rng: random.Random, value: object) -> object:
    """The same value with the keys of all its objects shuffled."""
    match value:
        case dict():
            keys = rng.sample(list(value), len(value))
            return {key: reorder(rng, value[key]) for key in keys}
        case list():
            return list(map(partial(reorder, rng), value))
        case _:
            return value
