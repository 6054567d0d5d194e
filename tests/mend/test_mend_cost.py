"""M8 by counting: work follows the text, memory does not, whatever the text is made of.

A text of eight times the length may cost eight times the work; a late chunk costs what an early one did.
"""

import pickle
import tracemalloc
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import islice, repeat
from random import Random
from statistics import median
from typing import Any

import pytest

from jsontide.mend import EVERYTHING, MODELS, Mending, MendState, feed_mend, finish_mend, start_mend
from tests.cuts import singles, sized, whole
from tests.meters import heap, interpreted, opcodes, untraced
from tests.oracles import is_json

MANY = replace(EVERYTHING, max_repairs=10**9)
"""Everything is mended to the end: no limit stops the work early."""
BRIEF = replace(MANY, max_held=100)
"""Short texts are long enough to reach what is held at most."""
HOSTILE = {
    "prose": "Sure, here it is. It's what you {asked} for, see [1] and [docs].\n",
    "prose in one line": "lorem ipsum dolor sit amet, ",
    "backticks": "`",
    "backticks in threes": "``` ",
    "fences": "```\n",
    "braces": "{",
    "closed braces": "{}",
    "braces and words": "{a} ",
    "closing braces": "}",
    "quotes": '"',
    "quotes and spaces": '" ',
    "brackets": "[",
    "brackets and braces": "{[",
    "braces and quotes": '{"',
    "keys": '{"a":',
    "items": '["a",',
    "tags": "<",
    "tags with names": "<think>",
    "closing tags": "</think>",
    "special tokens": "<|",
    "backslashes": "\\",
    "strings": '","',
    "apostrophes": "'",
    "typographic quotes": "“",
    "commas": ",",
    "colons": ":",
    "slashes": "/",
    "comments": "/*",
    "signs": "#",
    "parentheses": "(",
    "digits": "1",
    "dots": ".",
    "points": "...",
    "spaces": " ",
    "newlines": "\n",
    "odd spaces": "\u00a0",
    "words": "True ",
    "mixture": '{"a": \'b\', [1, "c" d" ``` <think> // \\ ',
}
# What is held is read again with every chunk, so one character at a time costs up to `max_held` times as much: bounded,
# which `BRIEF` shows, and linear.
HEADS = ("", '{"a": "', '{"a": ', "[1, ", '{"a": "b" ', "```json\n", "<think>", "Text: ", "[1, /* ")
FILLED = [(name, head) for name in sorted(HOSTILE) for head in ("", *Random(name).sample(HEADS[1:], 1))]
"""Each filling alone, and after one of the beginnings, which is drawn once and for all."""
QUICK = ("prose", "quotes")
"""The fillings that are tried at once; the others are for `make test-long`."""


def of_all(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in names]


def of_all_filled() -> list[Any]:
    return [pytest.param(name, head, marks=() if name in QUICK and head else pytest.mark.long) for name, head in FILLED]


SMALL, LARGE = 800, 6_400
SLACK = 1.3
FEW = 10_000
"""Bytecodes that do not follow the text: the start, the end, and what is decided once where a limit is reached."""


def filled(head: str, unit: str, size: int) -> str:
    return head + unit * (size // len(unit))


def run(chunks: list[str], mending: Mending) -> MendState:
    state = start_mend(mending)
    for chunk in chunks:
        state, _, _ = feed_mend(state, chunk)
    return finish_mend(state)[0]


def cost_of(head: str, unit: str, length: int, size: int | None, mending: Mending = BRIEF) -> int:
    text = filled(head, unit, length)
    return opcodes(partial(run, sized(text, size) if size else whole(text), mending))[0]


@interpreted
@pytest.mark.parametrize("name", of_all(sorted(HOSTILE)))
def test_m8_eight_times_the_text_is_eight_times_the_work(name: str) -> None:
    """After four beginnings, in chunks of four sizes; which goes with which is drawn once and for all."""
    random = Random(name)
    for head, size in zip(["", *random.sample(HEADS[1:], 3)], random.sample([None, 1, 7, 50], 4), strict=True):
        small, large = (cost_of(head, HOSTILE[name], length, size) for length in (SMALL, LARGE))
        assert large <= SLACK * 8 * small + FEW, (head, size)


@pytest.mark.long
@interpreted
@pytest.mark.parametrize("name", ["prose", "backticks", "quotes", "brackets and braces"])
def test_m8_holds_for_long_texts(name: str) -> None:
    small, large = (cost_of("", HOSTILE[name], length, 1_000, MANY) for length in (8_000, 64_000))
    assert large <= SLACK * 8 * small + FEW


@pytest.mark.parametrize(("name", "head"), of_all_filled())
def test_m8_a_late_chunk_takes_no_more_memory_than_an_early_one(name: str, head: str) -> None:
    """What C copies as a whole shows on the heap; the median does not see what grows by doubling."""
    unit = HOSTILE[name]
    piece = unit * max(1, 40 // len(unit))

    def costs(before: int) -> list[int]:
        state = start_mend(MANY)
        state, _, _ = feed_mend(state, head)
        for _ in range(before):
            state, _, _ = feed_mend(state, piece)
        found = []
        for chunk in islice(repeat(piece), 30):
            cost, (state, _, _) = heap(partial(feed_mend, state, chunk))
            found.append(cost)
        return found

    tracemalloc.start()
    try:
        early, late = untraced(partial(costs, 40)), untraced(partial(costs, 1_500))
    finally:
        tracemalloc.stop()
    assert median(late) <= 1.5 * median(early) + 3_000


CLEAN = '{"id": 1000001, "name": "pebble \\n \\u00e9", "tags": ["a", "b"], "at": {"x": 1.5, "y": null}},\n'


@interpreted
@pytest.mark.parametrize("size", [None, 20], ids=["whole", "in pieces"])
def test_m8_clean_text_costs_the_same_early_and_late(size: int | None) -> None:
    def cost(length: int) -> int:
        text = filled('{"items": [', CLEAN, length)
        return opcodes(partial(run, sized(text, size) if size else whole(text), MODELS))[0]

    assert cost(LARGE) <= SLACK * 8 * cost(SMALL) + FEW


@interpreted
@pytest.mark.parametrize(
    ("before", "chunk"),
    [
        ('{"a": "b', "\\\\ c"),
        ('{"a": "b', "\\u00e9"),
        ('{"a": "b', "c\\u0"),
        ('{"a": "b', '\\n c", "d": "'),
        ('{"a": 1', ', "b": 2'),
    ],
)
def test_m8_escapes_and_first_members_cost_little_more_than_plain_text(before: str, chunk: str) -> None:
    def cost(chunk: str) -> int:
        state, _, _ = feed_mend(start_mend(MODELS), before)
        return opcodes(partial(feed_mend, state, chunk))[0]

    plain, _, _ = feed_mend(start_mend(MODELS), '{"a": "b')
    assert cost(chunk) < 2 * opcodes(partial(feed_mend, plain, "cdef"))[0]


@pytest.mark.parametrize("unit", [CLEAN, '"lorem ipsum dolor",', "[1, [2, 3]],\n"])
def test_m8_a_state_does_not_grow_with_what_is_closed(unit: str) -> None:
    def size_after(length: int) -> int:
        state = start_mend(MODELS)
        for chunk in sized(filled('{"items": [', unit, length), 50):
            state, _, _ = feed_mend(state, chunk)
        return len(pickle.dumps(state))

    assert size_after(100_000) <= size_after(2_000) + 200


def test_m8_a_state_does_not_grow_with_an_open_string() -> None:
    def size_after(length: int) -> int:
        state = start_mend(MODELS)
        for chunk in sized(filled('{"text": "', "lorem ipsum, it's `a` {b} [c]: ", length), 50):
            state, _, _ = feed_mend(state, chunk)
        return len(pickle.dumps(state))

    assert size_after(100_000) <= size_after(2_000) + 200


@pytest.mark.parametrize(("name", "head"), of_all_filled())
def test_m8_what_a_state_keeps_is_what_it_tells(name: str, head: str) -> None:
    """Beside its repairs a state holds the undecided text, and a little for each repair and open bracket."""
    state = start_mend(EVERYTHING)
    for chunk in sized(filled(head, HOSTILE[name], 30_000), 100):
        state, _, _ = feed_mend(state, chunk)
        # What is undecided, after words that are left out and not reported yet.
        assert len(state.held) <= 2 * EVERYTHING.max_held + 100
    told = sum(len(repair.was.encode()) + len(repair.became.encode()) for repair in state.repairs)
    assert len(pickle.dumps(state)) <= 3 * told + 200 * len(state.repairs) + 40 * 512 + 4 * 30_000 + 8_000


MEGABYTES = ["prose", "backticks", "braces", "quotes", "brackets and braces", "strings", "mixture"]


@pytest.mark.long
@pytest.mark.parametrize("name", MEGABYTES)
def test_m8_a_megabyte_is_read_to_its_end(name: str) -> None:
    text = filled("", HOSTILE[name], 1_000_000)
    state = untraced(partial(run, whole(text), EVERYTHING))
    pieces = untraced(partial(run, sized(text, 9_973), EVERYTHING))
    assert (state.error, state.repairs) == (pieces.error, pieces.repairs)
    assert len(state.held) <= 2 * EVERYTHING.max_held + 100


@pytest.mark.long
def test_m8_a_megabyte_of_clean_text_passes() -> None:
    text = filled('{"items": [', CLEAN, 1_000_000).rstrip(",\n") + "]}"
    assert is_json(text)
    state, output, repairs = untraced(partial(feed_mend, start_mend(MODELS), text))
    state, rest, more = finish_mend(state)
    assert (output + rest, repairs + more, state.error) == (text, (), None)


@interpreted
def test_m8_depth_takes_no_recursion() -> None:
    for opening in ("[", '{"a":', "[{a:", '["b",['):
        state = run(whole(opening * 20_000), replace(MANY, max_held=10**6))
        assert state.error is not None or state.is_truncated


def test_the_meter_sees_quadratic_work() -> None:
    """The bound of this module can fail: reading all again for each chunk breaks it."""

    def again(length: int) -> int:
        chunks = singles("x" * (length // 80))

        def work() -> int:
            return sum(1 for at in range(len(chunks)) for _ in chunks[:at])

        return opcodes(work)[0]

    assert again(LARGE) > SLACK * 8 * again(SMALL) + FEW
