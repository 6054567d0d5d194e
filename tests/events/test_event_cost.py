"""Law 8 for events, by counting: what a fragment costs does not depend on what came before it."""

import pickle
import tracemalloc
from collections.abc import Callable
from itertools import islice
from statistics import median
from typing import Any

import pytest

from jsontide import JsonFragmentAccumulator, Limits, Reason
from jsontide.events import feed_events, start_events
from tests.meters import Meter, interpreted, opcodes, untraced
from tests.test_cost import SAMPLE, SHAPES, SLACK, SMALL, Shape

LISTENERS: dict[str, Callable[[], JsonFragmentAccumulator]] = {
    "all": JsonFragmentAccumulator,
    "no values": lambda: JsonFragmentAccumulator(values=False),
    "patterns": lambda: listening("**.name", "items[*].at", "text"),
    "deltas": lambda: listening("**", deltas=True),
}


def listening(*patterns: str, **options: Any) -> JsonFragmentAccumulator:
    accumulator = JsonFragmentAccumulator(updates=False)
    for pattern in patterns:
        accumulator.on(pattern, lambda _: None, **options)
    return accumulator


def sample(meter: Meter, accumulator: JsonFragmentAccumulator, shape: Shape, units: int) -> list[int]:
    """What the next fragments cost after so many units."""
    count = units * len(shape.unit(0))

    def begin() -> None:
        accumulator.add_fragment(shape.head)
        for fragment in islice(shape.chunks(0), count):
            accumulator.add_fragment(fragment)

    untraced(begin)
    return [
        meter(lambda fragment=fragment: accumulator.add_fragment(fragment))[0]  # type: ignore[misc]
        for fragment in islice(shape.chunks(units), SAMPLE)
    ]


@pytest.mark.parametrize("listener", LISTENERS)
@pytest.mark.parametrize("name", [name for name in SHAPES if name != "digits"])
def test_a_fragment_costs_the_same_early_and_late(meter: Meter, name: str, listener: str) -> None:
    shape = SHAPES[name]
    early = sample(meter, LISTENERS[listener](), shape, 3)
    late = sample(meter, LISTENERS[listener](), shape, shape.late // 2 - SAMPLE)
    assert median(late) <= SLACK[meter] * median(early) + SMALL[meter]


def test_an_endless_stream_keeps_nothing() -> None:
    accumulator = JsonFragmentAccumulator(values=False)
    tracemalloc.start()
    try:
        for _ in range(200):
            accumulator.add_fragment('{"id": 1, "tags": ["a", {"b": "text"}]}\n')
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(2_000):
            accumulator.add_fragment('{"id": 1, "tags": ["a", {"b": "text"}]}\n')
        assert tracemalloc.get_traced_memory()[0] - before < 2_000
    finally:
        tracemalloc.stop()


@interpreted
def test_a_late_subscription_costs_what_is_open_and_not_its_square() -> None:
    def cost(depth: int) -> int:
        accumulator = JsonFragmentAccumulator(updates=False, limits=Limits(max_depth=depth))
        accumulator.on("**.b", print)
        accumulator.add_fragment('{"a":[' * (depth // 2))
        accumulator.on("**.c", print)
        return opcodes(lambda: accumulator.add_fragment("1"))[0]

    assert cost(1_000) <= 12 * cost(100)


@interpreted
def test_reading_a_pickle_costs_what_is_open_and_not_its_square() -> None:
    def cost(depth: int) -> int:
        state, _ = feed_events(start_events(limits=Limits(max_depth=depth)), '{"a":[' * (depth // 2))
        dumped = pickle.dumps(state)
        return opcodes(lambda: pickle.loads(dumped))[0]  # noqa: S301 - our own pickle

    assert cost(1_000) <= 12 * cost(100)


@interpreted
def test_a_thousand_patterns_cost_a_fragment_as_much_as_ten() -> None:
    def cost(count: int) -> int:
        accumulator = listening(*(f"items[*].key{number}" for number in range(count)))
        accumulator.add_fragment('{"items": [{"key1": 1, "other": 2}, ')
        return opcodes(lambda: accumulator.add_fragment('{"id": 1, "key1": "a", "name": "b"}, '))[0]

    assert cost(1_000) <= cost(10) + 200


def silent(_: object) -> None:
    """Do nothing."""


def once_for_each(accumulator: JsonFragmentAccumulator) -> None:
    accumulator.on("[*]", silent, once=True)
    accumulator.add_fragment('"text",')


def once_that_waits(accumulator: JsonFragmentAccumulator) -> None:
    accumulator.on("[*].never", silent, once=True)
    accumulator.on("root", silent, once=True)
    accumulator.add_fragment('"text",')


def on_and_cancel(accumulator: JsonFragmentAccumulator) -> None:
    accumulator.on("**", silent).cancel()
    accumulator.add_fragment('"text",')


def asking_for_a_state(accumulator: JsonFragmentAccumulator) -> None:
    assert accumulator.state.index
    once_for_each(accumulator)


@pytest.mark.parametrize("step", [once_for_each, once_that_waits, on_and_cancel, asking_for_a_state])
@pytest.mark.parametrize("others", [0, 300])
def test_subscribing_for_each_fragment_costs_the_same_early_and_late(
    meter: Meter, step: Callable[[JsonFragmentAccumulator], None], others: int
) -> None:
    def cost(before: int) -> float:
        accumulator = listening("root", *(f"other{number}" for number in range(others)))  # which keeps all that is read
        accumulator.add_fragment("[")

        def begin() -> None:
            for _ in range(before):
                step(accumulator)

        untraced(begin)
        return median([meter(lambda: step(accumulator))[0] for _ in range(SAMPLE)])

    assert cost(1_500) <= SLACK[meter] * cost(20) + SMALL[meter]


@interpreted
def test_subscribing_costs_the_same_beside_one_and_beside_a_thousand() -> None:
    def cost(others: int) -> int:
        accumulator = listening(*(f"other{number}" for number in range(others)))
        accumulator.add_fragment("[")
        return opcodes(lambda: once_for_each(accumulator))[0]

    assert cost(1_000) <= cost(1) + 20


@interpreted
@pytest.mark.parametrize("reverse", [True, False])
@pytest.mark.parametrize("fragments", [True, False])
def test_cancelling_all_costs_as_much_for_each(*, reverse: bool, fragments: bool) -> None:
    def cost(count: int) -> int:
        accumulator = JsonFragmentAccumulator(updates=False)
        subscriptions = [accumulator.on(f"[{number}]", silent) for number in range(count)]
        accumulator.add_fragment("[")

        def cancel() -> None:
            for subscription in reversed(subscriptions) if reverse else subscriptions:
                subscription.cancel()
                if fragments:
                    accumulator.add_fragment("1,")

        return opcodes(cancel)[0]

    assert cost(800) <= 4.4 * cost(200)


@interpreted
def test_many_that_are_each_called_once_cost_as_much_for_each() -> None:
    def cost(count: int) -> int:
        accumulator = JsonFragmentAccumulator(updates=False)
        heard: list[object] = []
        for number in range(count):
            accumulator.on(f"[{number}]", lambda update: heard.append(update.value), once=True)
        accumulator.add_fragment("[")
        taken, _ = opcodes(lambda: [accumulator.add_fragment(f"{number},") for number in range(count)])
        assert heard == list(range(count))
        return taken

    assert cost(800) <= 4.4 * cost(200)


@pytest.mark.parametrize("unit", ["\n", "1,\n", '{"a": [1]},\n'])
def test_an_accumulator_without_values_takes_no_memory_for_what_it_has_read(unit: str) -> None:
    def read(count: int) -> JsonFragmentAccumulator:
        accumulator = JsonFragmentAccumulator(values=False, limits=Limits(max_nodes=100))
        accumulator.add_fragment("[")
        for _ in range(count):
            accumulator.add_fragment(unit * 100)
        return accumulator

    def kept(count: int) -> int:
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        accumulator = read(count)
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert accumulator.state.error is None
        return after - before

    # Now and then the interpreter keeps something for itself meanwhile; what a stream keeps is there every time.
    many, few = (min(kept(count) for _ in range(3)) for count in (200, 20))
    assert many <= few + 700


def test_values_that_are_not_kept_do_not_count_as_nodes() -> None:
    limits = Limits(max_nodes=5)
    for text in ("[" + "1," * 100, '{"a":{' + '"b":[1],' * 100, "[" * 5):
        accumulator = JsonFragmentAccumulator(values=False, limits=limits)
        accumulator.add_fragment(text)
        assert accumulator.state.error is None
    for values, text in ((True, "[1,2,3,4,5"), (False, '{"a":[1,2,3,4,5')):
        accumulator = JsonFragmentAccumulator(limits=limits, values=values)
        accumulator.on("a", print)
        accumulator.add_fragment(text)
        error = accumulator.state.error
        assert error
        assert error.reason is Reason.TOO_MANY_NODES
