"""Who subscribes in the middle of a value is told of the next one."""

import pytest

from jsontide import JsonFragmentAccumulator


@pytest.mark.parametrize(
    ("begun", "rest"), [("1", "2"), ("-", "1"), ("1.5e", "3"), ("t", "rue"), ("fals", "e"), ("nul", "l")]
)
def test_a_number_or_a_literal_that_has_begun_is_not_told_to_who_came_later(begun: str, rest: str) -> None:
    early: list[str | None] = []
    late: list[str | None] = []
    accumulator = JsonFragmentAccumulator(updates=False)
    accumulator.on("[*]", lambda update: early.append(update.text))
    accumulator.add_fragment("[" + begun)
    accumulator.on("[*]", lambda update: late.append(update.text))
    accumulator.add_fragment(rest + ", 7]")
    assert early == [begun + rest, "7"]
    assert late == ["7"]


def test_who_came_in_the_middle_is_told_from_the_start_after_a_reset() -> None:
    heard: list[object] = []
    accumulator = JsonFragmentAccumulator(updates=False)
    accumulator.add_fragment("[0, 1, 2, 3")
    accumulator.on("[*]", lambda update: heard.append(update.value))
    accumulator.reset()
    accumulator.add_fragment("[4]")
    assert heard == [4]
