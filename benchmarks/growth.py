"""`python -m benchmarks.growth`: how the work of what reads and writes streams grows with hostile input, as a page.

In: the cases of `benchmarks.hostile`. Out: two exponents for each, of processor time and of memory.
Work that follows its input has an exponent of 1, quadratic work one of 2; the bound is 1.2.
Rule: what is over the bound is explained on the page, or the command fails.
"""

import gc
import sys
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from time import process_time

from rich.progress import track

from benchmarks.builds import machine
from benchmarks.hostile import CASES, Case
from benchmarks.pages import Command, table
from jsontide import COMPILED, __version__

BOUND = 1.2
LEAST_SECONDS = 0.02  # of the smallest size, so that what is the same for every size does not count
LARGEST = 200_000
PATIENCE = 2.0  # seconds for one call; input that takes longer is not made larger
DOUBLINGS = 2
ROUNDS = 3
TRIES = 3  # a busy machine makes single figures larger, never smaller
HEAD = """# How work grows

Work should follow the input: twice the input, twice the work, whatever the input is.
The table has the exponents of processor time and of memory: 1 is linear, 2 is quadratic.
Asynchronous forms run the same code as the others.
Input comes in small pieces, and limits are lifted unless the table names them.
"""


@dataclass(frozen=True)
class Growth:
    """What was measured of a case, from one size to another."""

    case: Case
    smallest: int
    largest: int
    time: float
    memory: float
    seconds: float
    """What the largest input took."""

    @property
    def is_explained(self) -> bool:
        return max(self.time, self.memory) <= BOUND or bool(self.case.why)


def seconds_of(case: Case, size: int, rounds: int = 1) -> float:
    found = []
    for _ in range(rounds):
        call = case.build(size)
        gc.collect()
        began = process_time()
        call()
        found.append(process_time() - began)
        if sum(found) > PATIENCE:
            break
    return min(found)


def bytes_of(case: Case, size: int) -> int:
    """The most that a call takes beside its input."""
    call = case.build(size)
    gc.collect()
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return max(most, 1)


def sizes_of(case: Case) -> tuple[int, int]:
    """The smallest and the largest size worth measuring."""
    size = case.start
    while size < LARGEST and seconds_of(case, size) < LEAST_SECONDS:
        size *= 2
    largest = size
    while largest < size << DOUBLINGS and seconds_of(case, largest) < PATIENCE / 4:
        largest *= 2
    return (size, largest) if largest > size else (max(size // 2, 1), size)


def exponent(less: float, more: float, doublings: float) -> float:
    return log2(more / less) / doublings


def measure(case: Case) -> Growth:
    smallest, largest = sizes_of(case)
    doublings = log2(largest / smallest)
    times = []
    for _ in range(TRIES):
        seconds = seconds_of(case, largest, ROUNDS)
        times.append((exponent(seconds_of(case, smallest, ROUNDS), seconds, doublings), seconds))
        if times[-1][0] <= BOUND:
            break
    # Memory is counted exactly, but slowly: two sizes less.
    memory = exponent(bytes_of(case, max(smallest // 2, 1)), bytes_of(case, max(largest // 2, 1)), doublings)
    time, seconds = min(times)
    return Growth(case, smallest, largest, time, memory, seconds)


def row(growth: Growth, notes: Sequence[str]) -> list[str]:
    note = f" ({notes.index(growth.case.why) + 1})" if growth.case.why else ""
    entries = ", ".join(f"`{name}`" for name in growth.case.entries)
    sizes = f"{growth.smallest:,} to {growth.largest:,}"
    return [entries, growth.case.given + note, sizes, f"{growth.time:.2f}", f"{growth.memory:.2f}"]


def notes_of(found: Sequence[Growth]) -> list[str]:
    return list(dict.fromkeys(growth.case.why for growth in found if growth.case.why))


def exponents(found: Sequence[Growth]) -> str:
    header = ("entry points", "input", "n", "time", "memory")
    return table("Exponents", header, [row(growth, notes_of(found)) for growth in found])


def page(found: Sequence[Growth]) -> str:
    build = "compiled" if COMPILED else "pure Python"
    return "\n".join(
        [
            HEAD,
            exponents(found),
            "The numbers in brackets explain what can be more than linear:",
            "",
            *(f"{number}. {note}" for number, note in enumerate(notes_of(found), 1)),
            "",
            f"`make growth`: jsontide {__version__}, {build}, the least of {ROUNDS} rounds.",
            *machine(),
            "",
        ]
    )


def main(arguments: Sequence[str]) -> int:
    words = "cases with this in an entry point or in their input"
    command = Command("benchmarks.growth", "growth.md", __doc__, words)
    command.parse(arguments)
    chosen = [case for case in CASES if command.has(*case.entries, case.given)]
    found = [measure(case) for case in track(chosen, "growth")]
    command.publish([exponents(found)], lambda: page(found))
    unexplained = [growth for growth in found if not growth.is_explained]
    for growth in unexplained:
        print(f"more than {BOUND}, and not explained: {growth.case.entries[0]}, {growth.case.given}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
