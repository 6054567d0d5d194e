"""The documents that are measured, and the ways to cut them.

In: a shape, a size in characters, a seed that follows from both. Out: a JSON text, and the chunks it arrives in.
Rule: the same shape and size give the same text and the same cuts on every machine; nothing is read from outside.
"""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import count, pairwise
from types import GenericAlias
from typing import Any

SIZES = (1_000, 10_000, 100_000, 1_000_000)
SIZE_NAMES = {1_000: "1 KB", 10_000: "10 KB", 100_000: "100 KB", 1_000_000: "1 MB"}
CUTS = {"tokens": (1, 8), "lines": (48, 80)}
DEPTH = 200
DIRTY = "dirty"

VOCABULARY = (
    "the train along coast leaves before sunrise and window shows harbour lanterns tide water slowly north ferry "
    "platform ticket morning bread market bridge island lighthouse rain village road between mountain station evening "
    "café Zürich naïve Ærø 東京 Łódź Ñandú мост 🌊 🚆"
)
WORDS = VOCABULARY.split()
PUNCTUATION = (" ", " ", " ", " ", " ", ", ", ". ", "; ", ' "', '" ', "\n", " \u2013 ", "\t", " \\ ")


@dataclass(frozen=True)
class Document:
    shape: str
    size: int
    cut: str
    text: str
    chunks: Sequence[str]


def document(shape: str, size: int, cut: str) -> Document:
    text = SHAPES[shape](random.Random(f"{shape} {size}"), size)
    return Document(shape, size, cut, text, cut_text(text, cut))


def cut_text(text: str, cut: str) -> list[str]:
    rng = random.Random(f"{cut} {len(text)}")
    least, most = CUTS[cut]
    cuts = [0]
    while cuts[-1] < len(text):
        cuts.append(min(len(text), cuts[-1] + rng.randint(least, most)))
    return [text[start:end] for start, end in pairwise(cuts)]


def prose(rng: random.Random, words: int) -> str:
    return "".join(rng.choice(WORDS) + rng.choice(PUNCTUATION) for _ in range(words))


def write(rng: random.Random, value: object) -> str:
    """One value as text; a quarter of them as writers do that escape all that is not ASCII."""
    return json.dumps(value, ensure_ascii=rng.random() < 1 / 4)


def record(rng: random.Random, number: int) -> object:
    return {
        "id": number,
        "name": " ".join(rng.sample(WORDS, 2)),
        "price": round(rng.uniform(1, 500), 2),
        "tags": rng.sample(WORDS, rng.randint(1, 4)),
        "note": prose(rng, rng.randint(4, 16)),
        "place": {
            "position": {"lat": rng.uniform(-90, 90), "lon": rng.uniform(-180, 180)},
            "open": rng.random() < 1 / 2,
            "closed_until": None,
        },
    }


def fill(items: Iterator[str], size: int, frame: tuple[str, str]) -> str:
    """Items between the two halves of a frame, as many as come nearest to the size, at least one."""
    before, after = frame
    taken = [next(items)]
    length = len(before) + len(after) + len(taken[0])
    for item in items:
        if abs(size - length) <= abs(length + len(item) + 2 - size):
            break
        taken.append(item)
        length += len(item) + 2
    return before + ", ".join(taken) + after


def some_records(rng: random.Random) -> Iterator[str]:
    return (write(rng, record(rng, number)) for number in count())


def records(rng: random.Random, size: int) -> str:
    return fill(some_records(rng), size, ('{"trip": "coast", "version": 3, "items": [', '], "done": true}'))


def root_list(rng: random.Random, size: int) -> str:
    return fill(some_records(rng), size, ("[", "]"))


def long_string(rng: random.Random, size: int) -> str:
    before, after = '{"text": "', '"}'
    body: list[str] = []
    length = len(before) + len(after)
    while length < size:
        body.append(write(rng, prose(rng, 12))[1:-1])
        length += len(body[-1])
    return before + "".join(body) + after


def deep(rng: random.Random, size: int) -> str:
    """All content arrives in the innermost of the open containers."""
    pairs = DEPTH // 2 - 1
    before, after = '[{"a":' * pairs + '{"leaf": [', "]}" + "}]" * pairs

    def leaf() -> object:
        return rng.choice([rng.randint(0, 9_999), rng.random(), True, None, prose(rng, 4)])

    return fill((write(rng, leaf()) for _ in count()), size, (before, after))


def flat(rng: random.Random, size: int) -> str:
    """Twenty characters a member: 5,000 keys at 100 KB."""

    def value() -> object:
        return rng.choice([rng.randint(0, 99_999), round(rng.random(), 4), False, rng.choice(WORDS)])

    return fill((f'"key_{number}": {write(rng, value())}' for number in count()), size, ("{", "}"))


def write_dirty(value: object) -> str:
    """A record as models write it when they think of Python."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {write_dirty(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + "".join(f"{write_dirty(item)}, " for item in value).rstrip(" ") + "]"
    return str(value) if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)


def dirty(rng: random.Random, size: int) -> str:
    before = 'Sure! Here are the places you asked for:\n\n```json\n{"trip": "coast", "items": [\n'
    after = "\n]}\n```\n\nLet me know if you need more."
    return fill((write_dirty(record(rng, number)) for number in count()), size, (before, after))


SHAPES: dict[str, Callable[[random.Random, int], str]] = {
    "records": records,
    "list": root_list,
    "string": long_string,
    "deep": deep,
    "flat": flat,
    DIRTY: dirty,
}
SHAPE_NAMES = {
    "records": "records in an object",
    "list": "a root list of records",
    "string": "one long string",
    "deep": f"depth {DEPTH}",
    "flat": "a flat object, 5,000 keys at 100 KB",
    DIRTY: "records as a model may write them",
}
CLEAN = tuple(shape for shape in SHAPES if shape != DIRTY)


def dirty_document(size: int) -> Document:
    return document(DIRTY, size, "tokens")


@cache
def records_model(*, optional: bool) -> Any:  # noqa: ANN401 - pydantic may be missing
    """The records document as pydantic models; with all fields optional, as people write them to see them grow."""
    create_model = import_module("pydantic").create_model

    def model(title: str, **fields: Any) -> Any:  # noqa: ANN401
        return create_model(
            title, **{key: (kind | None, None) if optional else (kind, ...) for key, kind in fields.items()}
        )

    position = model("Position", lat=float, lon=float)
    place = model("Place", position=position, open=bool, closed_until=str | None)
    item = model("Record", id=int, name=str, price=float, tags=list[str], note=str, place=place)
    return model("Trip", trip=str, version=int, items=GenericAlias(list, (item,)), done=bool)
