"""The cost of one token-sized chunk with its value read: a parser state against a re-parse.

In: records documents of 1, 10 and 100 KB, cut at random into pieces of 1 to 8 characters.
Out: microseconds per chunk and their ratio.
Rule: both sides run in turn in one process and the least of several rounds counts, so that what
disturbs the machine disturbs both; read the ratio, not the microseconds.
Before the clock starts, both sides must end at the value that `json.loads` gives.
"""

import json
import platform
import random
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import pairwise

import jiter

from jsontide import COMPILED, JsonValue, __version__, create_parser_state, parse_chunk

ROUNDS = 7
SIZES = (1_000, 10_000, 100_000)
# A re-parse of a long buffer takes so long that a stretch of chunks must do; it is taken from
# evenly spread places, for the cost depends on how much came before.
MOST_REPARSES = 2_000

Side = Callable[[Sequence[str]], float]


def document(size: int) -> str:
    rng = random.Random(size)
    words = ["train", "tide", "café", "window", "東京", "🌊", '"quoted"', "lantern", "north"]
    items: list[JsonValue] = []
    text = ""
    while len(text) < size:
        items += [
            {
                "id": len(items),
                "price": round(rng.uniform(1, 500), 2),
                "tags": rng.sample(words, 3),
                "note": " ".join(rng.choices(words, k=12)) + "\n",
                "place": {"lat": rng.uniform(-90, 90), "open": True, "closed": None},
            }
        ]
        whole = {"trip": "coast", "version": 3, "items": items, "done": True}
        text = json.dumps(whole, ensure_ascii=False)
    return text


def pieces(text: str) -> list[str]:
    rng = random.Random(len(text))
    cuts = [0]
    while cuts[-1] < len(text):
        cuts.append(min(len(text), cuts[-1] + rng.randint(1, 8)))
    return [text[start:end] for start, end in pairwise(cuts)]


def incremental(chunks: Sequence[str]) -> float:
    """Seconds per chunk of feeding a state and reading its value."""
    start = time.perf_counter()
    state = create_parser_state()
    for chunk in chunks:
        state = parse_chunk(state, chunk)
        _ = state.value
    return (time.perf_counter() - start) / len(chunks)


def reparse(chunks: Sequence[str]) -> float:
    """Seconds per chunk of parsing again all that has arrived, partial strings included."""
    stride = max(1, len(chunks) // MOST_REPARSES)
    buffer = b""
    measured = 0
    spent = 0.0
    for number, chunk in enumerate(chunks):
        start = time.perf_counter()
        buffer += chunk.encode()
        if number % stride:
            continue
        jiter.from_json(buffer, partial_mode="trailing-strings")
        spent += time.perf_counter() - start
        measured += 1
    return spent / measured


def check(text: str, chunks: Sequence[str]) -> None:
    state = create_parser_state()
    for chunk in chunks:
        state = parse_chunk(state, chunk)
    expected = json.loads(text)
    if state.value != expected or jiter.from_json(text.encode()) != expected:
        raise SystemExit("error: the sides do not agree with json.loads; nothing was measured")


def main() -> None:
    print(
        f"jsontide {__version__} ({'compiled' if COMPILED else 'pure'}), "
        f"jiter {version('jiter')}, "
        f"{platform.python_implementation()} {platform.python_version()} on "
        f"{platform.system()} {platform.machine()}; least of {ROUNDS} rounds"
    )
    print(f"{'characters':>10} {'chunks':>8} {'jsontide':>12} {'jiter':>12} {'jiter / jsontide':>17}")
    for size in SIZES:
        text = document(size)
        chunks = pieces(text)
        check(text, chunks)
        rounds = [(incremental(chunks), reparse(chunks)) for _ in range(ROUNDS)]
        ours, theirs = (min(side) * 1e6 for side in zip(*rounds, strict=True))
        print(f"{len(text):>10,} {len(chunks):>8,} {ours:>9.2f} µs {theirs:>9.2f} µs {theirs / ours:>17.1f}")


if __name__ == "__main__":
    main()
