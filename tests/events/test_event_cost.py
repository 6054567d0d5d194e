"""Law 8 for events, by counting: what a fragment costs does not depend on what came before it."""

import pickle
import tracemalloc
from collections.abc import Callable
from functools import partial
from itertools import islice, product
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


def late_subscription(depth: int) -> Callable[[], object]:
    accumulator = JsonFragmentAccumulator(updates=False, limits=Limits(max_depth=depth))
    accumulator.on("**.b", silent)
    accumulator.add_fragment('{"a":[' * (depth // 2))
    accumulator.on("**.c", silent)
    return lambda: accumulator.add_fragment("1")


def reading_a_pickle(depth: int) -> Callable[[], object]:
    state, _ = feed_events(start_events(limits=Limits(max_depth=depth)), '{"a":[' * (depth // 2))
    dumped = pickle.dumps(state)
    return lambda: pickle.loads(dumped)  # noqa: S301 - our own pickle


def many_patterns(count: int) -> Callable[[], object]:
    accumulator = listening(*(f"items[*].key{number}" for number in range(count)))
    accumulator.add_fragment('{"items": [{"key1": 1, "other": 2}, ')
    return lambda: accumulator.add_fragment('{"id": 1, "key1": "a", "name": "b"}, ')


def subscribing_beside(others: int) -> Callable[[], object]:
    accumulator = listening(*(f"other{number}" for number in range(others)))
    accumulator.add_fragment("[")
    return lambda: once_for_each(accumulator)


def cancelling(count: int, *, reverse: bool, fragments: bool) -> Callable[[], object]:
    accumulator = JsonFragmentAccumulator(updates=False)
    subscriptions = [accumulator.on(f"[{number}]", silent) for number in range(count)]
    accumulator.add_fragment("[")

    def cancel() -> None:
        for subscription in reversed(subscriptions) if reverse else subscriptions:
            subscription.cancel()
            if fragments:
                accumulator.add_fragment("1,")

    return cancel


def many_that_are_called_once(count: int) -> Callable[[], object]:
    accumulator = JsonFragmentAccumulator(updates=False)
    heard: list[object] = []
    for number in range(count):
        accumulator.on(f"[{number}]", lambda update: heard.append(update.value), once=True)
    accumulator.add_fragment("[")

    def feed() -> None:
        for number in range(count):
            accumulator.add_fragment(f"{number},")
        assert heard == list(range(count))

    return feed


@interpreted
@pytest.mark.parametrize(
    ("prepare", "few", "many", "times", "more"),
    [
        pytest.param(late_subscription, 100, 1_000, 12, 0, id="a late subscription costs what is open"),
        pytest.param(reading_a_pickle, 100, 1_000, 12, 0, id="and so does reading a pickle"),
        pytest.param(many_patterns, 10, 1_000, 1, 200, id="a thousand patterns cost a fragment as much as ten"),
        pytest.param(subscribing_beside, 1, 1_000, 1, 20, id="subscribing costs the same beside a thousand"),
        pytest.param(many_that_are_called_once, 200, 800, 4.4, 0, id="each that is called once costs the same"),
        *(
            pytest.param(
                partial(cancelling, reverse=reverse, fragments=fragments), 200, 800, 4.4, 0, id="and each cancelled one"
            )
            for reverse, fragments in product((True, False), repeat=2)
        ),
    ],
)
def test_what_there_is_many_times_costs_no_more_than_as_often(
    prepare: Callable[[int], Callable[[], object]], few: int, many: int, times: float, more: int
) -> None:
    assert opcodes(prepare(many))[0] <= times * opcodes(prepare(few))[0] + more


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
