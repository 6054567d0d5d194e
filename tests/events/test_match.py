"""Patterns against paths: what matches, what cannot match any more, and what that costs."""

from collections.abc import Callable
from functools import reduce
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import COMPILED
from jsontide._path import path_text
from jsontide._pattern import parse_pattern
from jsontide.events._match import MOST_WAYS, Matcher, PatternState
from tests.meters import opcodes
from tests.oracles import Path, Steps, leads_to_match, matches
from tests.strategies import examples, near_paths, paths, patterns, randoms, spell_pattern

STARS = 14
"""Any of that many levels may follow each of many beginnings: 2**14 places and more."""


def matcher_of(*texts: str) -> Matcher:
    return Matcher([parse_pattern(text) for text in texts])


def down(place: PatternState, segment: str | int) -> PatternState:
    return place.member(segment) if isinstance(segment, str) else place.item(segment)


def walk(matcher: Matcher, path: Path) -> PatternState:
    return reduce(down, path, matcher.start)


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
    matcher = matcher_of(pattern)
    assert [walk(matcher, path).wanted for path in matching] == [(0,)] * len(matching)
    assert [walk(matcher, path).wanted for path in others] == [()] * len(others)


several_patterns = st.lists(patterns, max_size=6)
patterns_and_paths = several_patterns.flatmap(
    lambda several: st.tuples(st.just(several), st.lists(st.one_of(near_paths(several), paths), min_size=1, max_size=8))
)


@examples(3)
@given(patterns_and_paths, randoms)
def test_each_place_knows_what_matches_there_and_below(drawn: tuple[list[Steps], list[Path]], random: Random) -> None:
    several, walked = drawn
    matcher = matcher_of(*(spell_pattern(pattern, random) for pattern in several))
    for path in walked:
        for depth in range(len(path) + 1):
            place, here = walk(matcher, path[:depth]), path[:depth]
            assert place.wanted == tuple(at for at, steps in enumerate(several) if matches(steps, here))
            assert place.is_dead == (not any(leads_to_match(steps, here) for steps in several))


@given(paths.flatmap(lambda path: st.tuples(st.just(path), st.lists(st.one_of(near_paths([path]), paths)))))
def test_the_text_of_a_path_matches_that_path_only(drawn: tuple[Path, list[Path]]) -> None:
    path, others = drawn
    matcher = matcher_of(path_text(path))
    assert walk(matcher, path).wanted == (0,)
    for other in others:
        assert (walk(matcher, other).wanted == (0,)) == (other == path)


def test_all_patterns_that_match_are_told_in_their_order() -> None:
    matcher = matcher_of("**", "a.b", "a.*", "x", "*.b", "a.b", "**.b", "a.**")
    assert walk(matcher, ("a", "b")).wanted == (0, 1, 2, 4, 5, 6, 7)


def test_without_patterns_everything_is_dead() -> None:
    start = Matcher([]).start
    assert start.is_dead
    assert start.wanted == ()
    assert start.member("a").item(0).is_dead


def test_what_patterns_do_not_tell_apart_is_one_place() -> None:
    matcher = matcher_of("users[*].name", "users[7].name", "users[10:20].name")
    users = walk(matcher, ("users",))
    assert users.item(0) is users.item(1_000)
    assert users.item(10) is users.item(19)
    assert users.item(0).member("x") is users.item(10).member("y")
    assert len({users.item(0), users.item(7), users.item(10)}) == 3


def ways(matcher: Matcher) -> tuple[int, int]:
    """What a matcher remembers."""
    return matcher._ways, len(matcher._places)


@pytest.mark.parametrize("patterns", [["**.a"], ["*.b", "a.*"], ["a", "b[*]"], ["*.*.*"]])
def test_keys_that_no_pattern_names_are_not_remembered(patterns: list[str]) -> None:
    matcher = matcher_of(*patterns)
    before = (0, 0)
    for number in range(5_000):
        walk(matcher, (f"k{number}", f"l{number}"))
        before = before if number else ways(matcher)
    assert ways(matcher) == before


@pytest.mark.parametrize("patterns", [["[*]"], ["[3]", "[5]"], ["[::2]", "[1:]"], ["**[::2]", "[3].*", "**[4]"]])
def test_indices_that_no_pattern_names_are_not_remembered(patterns: list[str]) -> None:
    matcher = matcher_of(*patterns)
    before = (0, 0)
    for number in range(5_000):
        walk(matcher, (number, number))
        walk(matcher, (number, number + 1))
        before = before if number > 10 else ways(matcher)
    assert ways(matcher) == before


def test_nothing_is_remembered_of_what_is_dead() -> None:
    matcher = matcher_of("a.b", "c.d")
    dead = walk(matcher, ("x",))
    before = ways(matcher)
    assert [dead.member(key) for key in "abcdx"] == [dead] * 5
    assert dead.item(0) is dead
    assert ways(matcher) == before


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
        matcher = matcher_of(*map(pattern, range(count)))
        first, _ = opcodes(lambda matcher=matcher: walk(matcher, path))  # type: ignore[misc]
        again, _ = opcodes(lambda matcher=matcher: walk(matcher, path))  # type: ignore[misc]
        costs.append((first, again))
    for few, many in zip(*costs, strict=True):
        assert abs(many - few) < 200  # a collection of garbage may run some bytecodes in between
    assert costs[1][1] < 40 * (1 + len(path)) + 200


def test_a_long_way_down_needs_few_places() -> None:
    matcher = matcher_of("**.a", "**[3].b.**")
    place = matcher.start
    for depth in range(100_000):
        place = place.member("a") if depth % 2 else place.item(depth % 7)
    assert place.wanted == (0,)
    assert len(matcher._places) < 20


@pytest.mark.parametrize(
    ("pattern", "segments"), [("**.a" + ".*" * STARS, ("a", "b")), ("**[0]" + "[*]" * STARS, (0, 1))]
)
def test_what_is_remembered_has_a_bound_where_patterns_have_many_places(pattern: str, segments: Path) -> None:
    matcher = matcher_of(pattern)
    path = Random(4).choices(segments, k=3 * MOST_WAYS)
    place = matcher.start
    for depth, segment in enumerate(path):
        place = down(place, segment)
        assert (place.wanted == (0,)) == (depth >= STARS and path[depth - STARS] == segments[0])
    assert matcher._ways == MOST_WAYS
    assert len(matcher._places) <= MOST_WAYS + 1
