"""The persistent vector, compared with a list that is copied each time."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide.messages._vector import Vector
from tests.strategies import randoms


@given(st.lists(st.integers(0, 1_100)), randoms)
def test_every_vector_of_a_tree_of_vectors_holds_its_own_items(sizes: list[int], random: Random) -> None:
    made: list[tuple[Vector[int], list[int]]] = [(Vector(), [])]
    for size in sizes[:5]:
        vector, expected = random.choice(made)
        expected = [*expected]
        for item in range(size):
            position = random.choice([len(expected), len(expected), random.randint(0, len(expected))])
            vector = vector.put(position, item)
            expected[position : position + 1] = [item]
        made.append((vector, expected))
    for vector, expected in made:
        assert list(vector.items()) == expected
        assert len(vector) == len(expected)
        assert [vector[position] for position in range(len(expected))] == expected


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 1023, 1024, 1025, 32_768, 32_769])
def test_sizes_at_which_a_row_is_full(size: int) -> None:
    vector: Vector[int] = Vector()
    for item in range(size):
        vector = vector.put(item, item)
    assert vector.items() == tuple(range(size))
    assert [vector[position] for position in range(size)] == list(range(size))


@given(st.integers(0, 1_100), st.integers(0, 60), randoms)
def test_what_changed_since_an_earlier_one_is_what_is_another_object(size: int, steps: int, random: Random) -> None:
    before: Vector[object] = Vector()
    for position in range(size):
        before = before.put(position, object())
    after = before
    for _ in range(steps):
        after = after.put(random.choice([len(after), random.randint(0, len(after))]), object())
    old = [*before.items(), *[None] * (len(after) - size)]
    expected = [at for at, (one, other) in enumerate(zip(after.items(), old, strict=True)) if one is not other]
    assert list(after.changed_since(before)) == expected
    assert not list(after.changed_since(after))
