"""Snapshots of growing documents, made before any clock starts.

In: a document and its chunks; or a number of records, in the last of which a string grows by one character at a time.
Out: the values after each chunk, as `jsontide.values` yields them, so that each shares with the one before what did not
change; or built anew, so that no two share anything.
Rule: all sides are fed the same snapshots, none of which is changed.
"""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import jsontide
from benchmarks.documents import document, prose, record

WINDOW = 64
# Of longer histories some windows are taken, spread evenly: all snapshots of 100 KB, built anew, would take gigabytes.
LONGEST = 3_000
PARTS = 8


@dataclass(frozen=True)
class Window:
    """Consecutive snapshots of a history, around a place between its beginning and its end, 0 and 1."""

    before: Sequence[object]
    snapshots: Sequence[object]
    place: float


@dataclass(frozen=True)
class History:
    """So many snapshots, and those of them that are measured."""

    snapshots: int
    windows: Sequence[Window]


@lru_cache(maxsize=2)
def history(shape: str, size: int, cut: str, *, is_anew: bool) -> History:
    chunks = document(shape, size, cut).chunks
    count = sum(1 for _ in jsontide.values(chunks))
    starts = window_starts(count)
    # The snapshot before a window is fed too, so that the window begins in the middle of things.
    wanted = {at for start in starts for at in range(max(0, start - 1), min(count, start + WINDOW))}
    made: Callable[[object], object] = anew if is_anew else lambda value: value
    taken = {at: made(value) for at, value in enumerate(jsontide.values(chunks)) if at in wanted}
    return History(count, [window(taken, start, count) for start in starts])


def window_starts(count: int) -> list[int]:
    if count <= LONGEST:
        return list(range(0, count, WINDOW))
    return [count * (2 * part + 1) // (2 * PARTS) - WINDOW // 2 for part in range(PARTS)]


def window(taken: dict[int, object], start: int, count: int) -> Window:
    inside = range(start, min(count, start + WINDOW))
    before = [taken[start - 1]] if start else []
    return Window(before, [taken[at] for at in inside], (start + len(inside) / 2) / count)


def anew(value: object) -> object:
    """The same value, made of other objects; a copy would share its strings."""
    return json.loads(json.dumps(value))


def reordered(rng: random.Random, value: object) -> object:
    """The same value with the keys of all its objects shuffled."""
    match value:
        case dict():
            keys = rng.sample(list(value), len(value))
            return {key: reordered(rng, value[key]) for key in keys}
        case list():
            return list(map(partial(reordered, rng), value))
        case _:
            return value


def grown(records: int, snapshots: int) -> list[object]:
    """Values of so many records; from each to the next, a string in the last record grows by one character."""
    rng = random.Random(f"grown {records}")
    items = [record(rng, number) for number in range(records - 1)]
    last = {"id": records - 1, "tags": ["coast"], "place": {"open": True}, "note": prose(rng, 8)}
    text = json.dumps({"trip": "coast", "version": 3, "items": [*items, last]}, ensure_ascii=False)
    end = '"}]}'

    def chunks() -> Iterator[str]:
        yield text.removesuffix(end)
        yield from rng.choices("abcdefgh", k=snapshots - 1)
        yield end

    return list(jsontide.values(chunks()))
