import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import JsonFragmentAccumulator, JsonValue
from jsontide._path import Path
from jsontide._pattern import parse_pattern
from jsontide.events.patterns import path_matcher

DOCUMENT: JsonValue = {
    "a": [{"id": 1, "b": [1, 2, 3, 4]}, [], "x"],
    "b": {"a": {"b": {"id": 2}}, "odd key": [0]},
    "id": None,
}
STEPS = ["a", "b", "id", "*", "**", "[0]", "[1]", "[*]", "[1:]", "[::2]", "[:0]", '["odd key"]']


def paths(value: JsonValue, path: Path = ()) -> set[Path]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path}.union(*(paths(each, (*path, segment)) for segment, each in inner))


@given(st.lists(st.sampled_from(STEPS), max_size=5))
def test_a_pattern_matches_the_paths_that_an_accumulator_finds(steps: list[str]) -> None:
    pattern = parse_pattern("root" + "".join(step if step.startswith("[") else f".{step}" for step in steps))
    found = set()
    accumulator = JsonFragmentAccumulator(updates=False)
    accumulator.on(pattern, lambda update: found.add(update.segments))
    accumulator.add_fragment(json.dumps(DOCUMENT))
    assert set(filter(path_matcher(pattern), paths(DOCUMENT))) == found


@pytest.mark.parametrize("depth", [0, 1, 20_000])
def test_a_path_may_be_as_deep_as_it_likes(depth: int) -> None:
    assert path_matcher(parse_pattern("**.a"))((*(["b"] * depth), "a"))
