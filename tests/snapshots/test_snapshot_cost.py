"""Law 8 for snapshots, by counting: beyond parsing, the work does not depend on how much is closed."""

import gc
import json
from collections.abc import Callable
from typing import Any

import pytest

from jsontide.snapshots import feed_snapshot_values, feed_snapshots, finish_snapshots, start_snapshots
from tests.meters import interpreted, opcodes, untraced

SMALL, LARGE = 50, 3_200
Step = Callable[[Any, Any], tuple[Any, str]]

pytestmark = interpreted


def record(at: int) -> dict[str, Any]:
    return {"id": at, "name": f"name {at}", "tags": ["a", at], "is_open": False, "where": {"x": at / 8, "y": None}}


def snapshots(records: list[Any], texts: list[str]) -> list[Any]:
    """Values that share their records, and end in a string that grows."""
    return [{"items": [*records, {"text": text}]} for text in texts]


def nested(records: list[Any], texts: list[str]) -> list[Any]:
    """The same with the records three levels out."""
    return [{"items": records, "open": {"inner": [{"text": text}]}} for text in texts]


def taken(call: Callable[[], tuple[Any, str]], expected: str) -> int:
    """The opcodes of a call, without those of others that the collector of garbage calls when much is parsed."""
    gc.disable()
    try:
        count, (_, chunk) = opcodes(call)
    finally:
        gc.enable()
    assert chunk == expected
    return count


def cost(shape: Callable[[list[Any], list[str]], list[Any]], count: int, *, as_text: bool, **options: Any) -> int:
    """The opcodes of the last of three snapshots: one character more."""
    values = shape([record(at) for at in range(count)], ["a", "ab", "abc"])
    step: Step = feed_snapshots if as_text else feed_snapshot_values
    items = [json.dumps(value) for value in values] if as_text else values
    state = start_snapshots(**options)
    for item in items[:2]:
        state, _ = untraced(lambda state=state, item=item: step(state, item))  # type: ignore[misc]
    return taken(lambda: step(state, items[2]), "c")


@pytest.mark.parametrize("order", ["any", "kept"])
@pytest.mark.parametrize("as_text", [True, False], ids=["text", "values"])
@pytest.mark.parametrize("shape", [snapshots, nested])
def test_a_snapshot_costs_the_same_whatever_is_closed(
    shape: Callable[[list[Any], list[str]], list[Any]], *, as_text: bool, order: str
) -> None:
    small = cost(shape, SMALL, as_text=as_text, key_order=order)
    large = cost(shape, LARGE, as_text=as_text, key_order=order)
    assert large == small


def test_the_cost_follows_the_depth_of_what_is_open() -> None:
    def deep(depth: int) -> Callable[[list[Any], list[str]], list[Any]]:
        return lambda _, texts: [json.loads("[" * depth + json.dumps(text) + "]" * depth) for text in texts]

    costs = [cost(deep(depth), 0, as_text=True) for depth in (1, 101, 201)]
    assert costs[2] - costs[1] == pytest.approx(costs[1] - costs[0], rel=0.02)
    assert costs[2] - costs[1] < 100 * 400


def test_a_closed_value_is_compared_only_once_more_when_it_closes() -> None:
    """A new record costs what it holds, not what stands before it."""

    def growing(count: int) -> int:
        state = start_snapshots(key_order="kept")
        values = [record(at) for at in range(count + 2)]
        state, _ = feed_snapshot_values(state, {"items": values[:-1]})
        added = json.dumps(values[-1], separators=(",", ":"))
        return taken(lambda: feed_snapshot_values(state, {"items": values}), f"}}}},{added[:-2]}")

    # The last digits of a record are the only difference.
    assert growing(LARGE) <= 1.05 * growing(SMALL)


@pytest.mark.parametrize("options", [{}, {"empty": "late"}, {"nulls": "late"}, {"empty": "late", "nulls": "late"}])
@pytest.mark.parametrize("shape", ["array", "object", "with skeletons"])
def test_opening_many_levels_costs_as_much_for_each(shape: str, options: Any) -> None:
    """Whether a value waits to be filled is asked at each level, and seen at the deepest."""
    begin, end = {"array": ("[", "]"), "object": ('{"a":', "}"), "with skeletons": ('[[{"b":""}],{"a":', "}]")}[shape]

    def opening(depth: int) -> int:
        text = begin * depth + '"x"' + end * depth
        state = start_snapshots(**options)
        gc.disable()
        try:
            return opcodes(lambda: feed_snapshots(state, text))[0]
        finally:
            gc.enable()

    assert opening(400) <= 4.4 * opening(100)


def test_values_that_waited_are_compared_once_and_not_at_each_level() -> None:
    def changing(depth: int) -> int:
        before, now = ['{"a":' * depth + f'"{text}"' + "}" * depth for text in ("x", "xy")]
        state, _ = feed_snapshots(start_snapshots(), f'{{"deep":{before},"other":"z"}}')
        gc.disable()
        try:
            taken, (_, chunk) = opcodes(lambda: feed_snapshots(state, f'{{"deep":{now},"other":"z"}}'))
        finally:
            gc.enable()
        assert chunk == '"other":"z","deep":' + '{"a":' * depth + '"xy'
        return taken

    assert changing(400) <= 4.4 * changing(100)


def wide(count: int, now: int) -> Any:
    """Members that all change, beside an open one."""
    return {**{f"key {at}": at + now for at in range(count)}, "text": "a"}


def wide_strings(count: int, now: int) -> Any:
    """Strings that all change, the open one too."""
    return {f"key {at}": f"{now}" * 3 for at in range(count)}


def nested_changes(count: int, now: int) -> Any:
    """A member that changes at each of many levels."""
    value: Any = "a"
    for _ in range(count):
        value = {"now": now, "inner": value}
    return value


def innermost_gone(count: int, now: int) -> Any:
    """Arrays that cannot be repaired, one inside the other."""
    value: Any = ["a", "b"][now:]
    for _ in range(count):
        value = [value]
    return {"value": value}


@pytest.mark.parametrize("as_text", [True, False], ids=["text", "values"])
@pytest.mark.parametrize("shape", [wide, wide_strings, nested_changes, innermost_gone])
def test_repairing_many_members_costs_as_much_for_each(shape: Callable[[int, int], Any], *, as_text: bool) -> None:
    def repairing(count: int) -> int:
        step: Step = feed_snapshots if as_text else feed_snapshot_values
        before, now = [json.dumps(shape(count, now)) if as_text else shape(count, now) for now in (0, 1)]
        state, first = untraced(lambda: step(start_snapshots(on_conflict="repair", key_order="kept"), before))
        gc.disable()
        try:
            taken, (after, chunk) = opcodes(lambda: step(state, now))
        finally:
            gc.enable()
        assert json.loads(finish_snapshots(after)[0].text) == shape(count, 1)
        assert finish_snapshots(after)[0].text.startswith(first + chunk)
        return taken

    assert repairing(400) <= 4.4 * repairing(100)
