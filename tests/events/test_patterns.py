"""The automaton of patterns: what matches, what cannot match any more, and what that costs in time and memory."""

import json
import tracemalloc
from collections.abc import Callable, Iterator
from functools import reduce
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import COMPILED, JsonFragmentAccumulator, JsonValue
from jsontide._path import path_text
from jsontide._pattern import parse_pattern
from jsontide.events.patterns import PatternSet, PatternState, path_matcher
from tests.meters import opcodes
from tests.oracles import Path, Steps, leads_to_match, matches
from tests.strategies import examples, near_paths, paths, patterns, randoms, spell_pattern

STARS = 14
"""Any of that many levels may follow each of many beginnings: 2**14 states and more."""
SMALL = 10_000
"""Bytes that Python itself may keep meanwhile: much less than the states of a long walk."""


def pattern_set(*texts: str) -> PatternSet:
    found = PatternSet()
    for number, text in enumerate(texts):
        found.add(number, parse_pattern(text), deltas=False)
    return found


def down(state: PatternState, segment: str | int) -> PatternState:
    return state.member(segment) if isinstance(segment, str) else state.item(segment)


def walk(patterns: PatternSet, path: Path) -> PatternState:
    start = patterns.start()
    assert start is not None
    return reduce(down, path, start)


@pytest.fixture
def kept_bytes() -> Iterator[Callable[[Callable[[], object]], int]]:
    """Count the bytes that a call leaves behind."""

    def count(call: Callable[[], object]) -> int:
        before, _ = tracemalloc.get_traced_memory()
        call()
        return tracemalloc.get_traced_memory()[0] - before

    tracemalloc.start()
    yield count
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("root", [()], [("root",), (0,)]),
        ("users[*].name", [("users", 0, "name"), ("users", 99, "name")], [("users", "0", "name"), ("users", 0)]),
        ("users.*", [("users", ""), ("users", "*")], [("users", 0), ("users",), ("users", "a", "b")]),
        ('["a.b"][0]', [("a.b", 0)], [("a", "b", 0), ("a.b", "0")]),
        ("[1:6:2]", [(1,), (3,), (5,)], [(0,), (2,), (6,), (7,), ("1",)]),
        ("[2:]", [(2,), (10**12,)], [(0,), (1,)]),
        ("[3:1]", [], [(1,), (2,), (3,)]),
        ("**", [(), ("a",), (0, "b", 1)], []),
        ("**.id", [("id",), ("a", 0, "id"), ("id", "id")], [(), ("id", "a"), ("id", 0)]),
        ("users.**.id", [("users", "id"), ("users", 3, "a", "id")], [("id",), ("users",), ("a", "users", "id")]),
        ("a.**.**.b", [("a", "b"), ("a", 0, 0, "b")], [("a",), ("b",)]),
        ("**[0]", [(0,), ("a", 0), (0, 0)], [(), (1,), (0, "a")]),
    ],
)
def test_a_pattern_matches_its_paths_only(pattern: str, matching: list[Path], others: list[Path]) -> None:
    patterns = pattern_set(pattern)
    assert [wanted_at(patterns, path) for path in matching] == [(0,)] * len(matching)
    assert [wanted_at(patterns, path) for path in others] == [()] * len(others)


def wanted_at(patterns: PatternSet, path: Path) -> tuple[int, ...]:
    """The patterns that match a path, without those that were removed."""
    if patterns.start() is None:
        return ()
    return tuple(number for number in walk(patterns, path).wanted if number in patterns.patterns)


several_patterns = st.lists(patterns, max_size=6)
patterns_and_paths = several_patterns.flatmap(
    lambda several: st.tuples(st.just(several), st.lists(st.one_of(near_paths(several), paths), min_size=1, max_size=8))
)


@examples(3)
@given(patterns_and_paths, randoms)
def test_each_state_knows_what_matches_there_and_below(drawn: tuple[list[Steps], list[Path]], random: Random) -> None:
    several, walked = drawn
    patterns = pattern_set(*(spell_pattern(pattern, random) for pattern in several))
    for path in walked:
        for depth in range(len(path) + 1):
            here = path[:depth]
            assert wanted_at(patterns, here) == tuple(at for at, steps in enumerate(several) if matches(steps, here))
            is_dead = patterns.start() is None or walk(patterns, here).is_dead
            assert is_dead == (not any(leads_to_match(steps, here) for steps in several))


@examples(1)
@given(patterns_and_paths, randoms)
def test_patterns_come_and_go(drawn: tuple[list[Steps], list[Path]], random: Random) -> None:
    several, walked = drawn
    patterns = PatternSet()
    left: dict[int, Steps] = {}
    for number, steps in enumerate(several * 3):
        patterns.add(number, parse_pattern(spell_pattern(steps, random)), deltas=False)
        left[number] = steps
        for removed in random.sample(sorted(left), random.choice((0, 0, 1, len(left)))):
            patterns.remove(removed)
            del left[removed]
        for path in walked:
            assert wanted_at(patterns, path) == tuple(at for at, other in left.items() if matches(other, path))


@given(paths.flatmap(lambda path: st.tuples(st.just(path), st.lists(st.one_of(near_paths([path]), paths)))))
def test_the_text_of_a_path_matches_that_path_only(drawn: tuple[Path, list[Path]]) -> None:
    path, others = drawn
    patterns = pattern_set(path_text(path))
    assert walk(patterns, path).wanted == (0,)
    for other in others:
        assert (walk(patterns, other).wanted == (0,)) == (other == path)


def test_all_patterns_that_match_come_in_their_order() -> None:
    patterns = pattern_set("**", "a.b", "a.*", "x", "*.b", "a.b", "**.b", "a.**")
    assert walk(patterns, ("a", "b")).wanted == (0, 1, 2, 4, 5, 6, 7)


def test_without_patterns_nothing_can_match() -> None:
    assert PatternSet().start() is None


def test_what_patterns_do_not_tell_apart_is_one_state() -> None:
    users = walk(pattern_set("users[*].name", "users[7].name", "users[10:20].name"), ("users",))
    assert users.item(0) is users.item(1_000)
    assert users.item(10) is users.item(19)
    assert users.item(0).member("x") is users.item(10).member("y")
    assert len({users.item(0), users.item(7), users.item(10)}) == 3


Kept = Callable[[Callable[[], object]], int]


@pytest.mark.parametrize("patterns", [["**.a"], ["*.b", "a.*"], ["a", "b[*]"], ["*.*.*"]])
def test_keys_that_no_pattern_names_take_no_memory(patterns: list[str], kept_bytes: Kept) -> None:
    found = pattern_set(*patterns)

    def walk_all(numbers: range) -> None:
        for number in numbers:
            walk(found, (f"k{number}", f"l{number}"))

    walk_all(range(5))
    assert kept_bytes(lambda: walk_all(range(5, 5_000))) < SMALL


@pytest.mark.parametrize("patterns", [["[*]"], ["[3]", "[5]"], ["[::2]", "[1:]"], ["**[::2]", "[3].*", "**[4]"]])
def test_indices_that_no_pattern_names_take_no_memory(patterns: list[str], kept_bytes: Kept) -> None:
    found = pattern_set(*patterns)

    def walk_all(numbers: range) -> None:
        for number in numbers:
            walk(found, (number, number))
            walk(found, (number, number + 1))

    walk_all(range(20))
    assert kept_bytes(lambda: walk_all(range(20, 5_000))) < SMALL


def test_below_what_is_dead_everything_is() -> None:
    dead = walk(pattern_set("a.b", "c.d"), ("x",))
    assert dead.is_dead
    assert [dead.member(key) for key in "abcdx"] == [dead] * 5
    assert dead.item(0) is dead


FAMILIES: dict[str, tuple[Callable[[int], str], Path]] = {
    "members of elements": (lambda n: f"users[*].f{n}.x", ("users", 4, "f3", "x")),
    "members of the root": (lambda n: f"f{n}", ("f3", "x")),
    "any depth": (lambda n: f"**.f{n}", ("f3", "x", "f7", "f1")),
    "elements": (lambda n: f"[{n}].x", (3, "x")),
    "odd ones out": (lambda n: f"users.*.f{n}", ("users", "k", "other", "f1")),
}


@pytest.mark.skipif(COMPILED, reason="compiled code runs no bytecode")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_thousand_patterns_cost_no_more_than_ten(family: str) -> None:
    pattern, path = FAMILIES[family]
    costs = []
    for count in (10, 1_000):
        patterns = pattern_set(*map(pattern, range(count)))
        first, _ = opcodes(lambda patterns=patterns: walk(patterns, path))  # type: ignore[misc]
        again, _ = opcodes(lambda patterns=patterns: walk(patterns, path))  # type: ignore[misc]
        costs.append((first, again))
    for few, many in zip(*costs, strict=True):
        assert abs(many - few) < 200  # a collection of garbage may run some bytecodes in between
    assert costs[1][1] < 40 * (1 + len(path)) + 200


def test_a_long_walk_needs_few_states(kept_bytes: Kept) -> None:
    state = walk(pattern_set("**.a", "**[3].b.**"), ())

    def go_down() -> None:
        nonlocal state
        for depth in range(100_000):
            state = state.member("a") if depth % 2 else state.item(depth % 7)

    assert kept_bytes(go_down) < 5 * SMALL
    assert state.wanted == (0,)


@pytest.mark.long
@pytest.mark.parametrize(
    ("pattern", "segments"), [("**.a" + ".*" * STARS, ("a", "b")), ("**[0]" + "[*]" * STARS, (0, 1))]
)
@pytest.mark.untraced
def test_memory_has_a_bound_where_patterns_have_many_states(pattern: str, segments: Path, kept_bytes: Kept) -> None:
    state = walk(pattern_set(pattern), ())
    path = Random(4).choices(segments, k=30_000)

    def go_down(begin: int, end: int) -> None:
        nonlocal state
        for depth in range(begin, end):
            state = down(state, path[depth])
            assert (state.wanted == (0,)) == (depth >= STARS and path[depth - STARS] == segments[0])

    first = kept_bytes(lambda: go_down(0, 10_000))
    go_down(10_000, 20_000)
    assert kept_bytes(lambda: go_down(20_000, 30_000)) < first / 20


DOCUMENT: JsonValue = {
    "a": [{"id": 1, "b": [1, 2, 3, 4]}, [], "x"],
    "b": {"a": {"b": {"id": 2}}, "odd key": [0]},
    "id": None,
}
STEPS = ["a", "b", "id", "*", "**", "[0]", "[1]", "[*]", "[1:]", "[::2]", "[:0]", '["odd key"]']


def all_paths(value: JsonValue, path: Path = ()) -> set[Path]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path}.union(*(all_paths(each, (*path, segment)) for segment, each in inner))


@given(st.lists(st.sampled_from(STEPS), max_size=5))
def test_a_pattern_matches_the_paths_that_an_accumulator_finds(steps: list[str]) -> None:
    pattern = parse_pattern("root" + "".join(step if step.startswith("[") else f".{step}" for step in steps))
    found = set()
    accumulator = JsonFragmentAccumulator(updates=False)
    accumulator.on(pattern, lambda update: found.add(update.segments))
    accumulator.add_fragment(json.dumps(DOCUMENT))
    assert set(filter(path_matcher(pattern), all_paths(DOCUMENT))) == found


@pytest.mark.parametrize("depth", [0, 1, 20_000])
def test_a_path_may_be_as_deep_as_it_likes(depth: int) -> None:
    assert path_matcher(parse_pattern("**.a"))((*(["b"] * depth), "a"))
