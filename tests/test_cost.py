"""Law 8 by counting: work per chunk does not depend on the document before it.

A `Shape` is a document that can grow for ever by the same small chunks.
The same chunks are fed early and late; both must cost the same.
"""

import gc
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from statistics import median
from typing import Any, NamedTuple

import pytest

from jsontide import Limits, ParserState, Reason, create_parser_state, is_open, parse_chunk
from jsontide.tree import ArrayNode, ObjectNode, Path, node_at
from tests.cuts import fed, singles, sized
from tests.meters import Meter, heap, interpreted, metered, opcodes, untraced, widths

SAMPLE = 60
"""Chunks that are measured at one place."""
SLACK: dict[Meter, float] = {opcodes: 1.25, heap: 1.5, widths: 1.0}
SMALL: dict[Meter, int] = {opcodes: 40, heap: 700, widths: 10}
"""What a chunk may cost more at any place: a few bytecodes, a few objects."""
ROOMY = Limits(max_number=2_000_000)


class Shape(NamedTuple):
    """How a document begins, and the chunks that follow, given a running number."""

    head: str
    unit: Callable[[int], list[str]]
    late: int
    """How many units come before the late measurement."""

    def chunks(self, first: int) -> Iterator[str]:
        number = first
        while True:
            yield from self.unit(number)
            number += 1


def record(number: int) -> list[str]:
    number += 1_000_000  # so that all records are equally long
    return sized(f'{{"id":{number},"name":"pebble","tags":["a","b"],"at":{{"x":1.5}}}},', 4)


SHAPES = {
    "records": Shape('{"items":[', record, 2_000),
    "string": Shape('{"text":"', lambda _: sized("lorem ipsum dolor sit amet, ", 7), 10_000),
    "escapes": Shape('["', lambda _: sized("\\n\\u00e9\\ud83d\\ude00", 5), 5_000),
    "depth": Shape("[1,", lambda _: ['{"a":', "[1,"], 245),
    "flat object": Shape("{", lambda number: [f'"k{number:07}', '":', "12", ","], 5_000),
    "long key": Shape('{"', lambda _: ["lorem ", "ipsum"], 10_000),
    "digits": Shape("[", lambda _: ["12", "345"], 5_000),
    "white space": Shape("[1", lambda _: [" \n", "\t "], 5_000),
    "duplicate keys": Shape("{", lambda number: ['"a":', f"{number % 10}", ","], 10_000),
    "words": Shape("[", lambda _: ["tr", "ue,", "null", ","], 5_000),
}


@pytest.fixture(params=sorted(SHAPES))
def shape(request: pytest.FixtureRequest) -> Shape:
    return SHAPES[str(request.param)]


def begun(shape: Shape, units: int) -> ParserState:
    """The state after so many units, fed chunk by chunk."""
    state = parse_chunk(create_parser_state(limits=ROOMY), shape.head)
    chunks_of_units = islice(shape.chunks(0), units * len(shape.unit(0)))
    return untraced(lambda: fed(chunks_of_units, state))


def sample(meter: Meter, shape: Shape, units: int, *, read: bool = False) -> tuple[list[int], ParserState]:
    """What the next chunks cost after so many units."""
    chunks = islice(shape.chunks(units), SAMPLE)
    return metered(meter, begun(shape, units), chunks, read=read)


def test_feeding_costs_the_same_early_and_late(meter: Meter, shape: Shape) -> None:
    early, _ = sample(meter, shape, 3)
    late, state = sample(meter, shape, shape.late - SAMPLE)
    assert state.error is None
    assert median(late) <= SLACK[meter] * median(early) + SMALL[meter]


WIDE = {
    "object": Shape("{", lambda number: [f'"k{number:07}":12,'], 2_000),
    "object with a repeated key": Shape('{"k":0,"k":[],', lambda number: [f'"k{number:07}":12,'], 2_000),
    "object whose keys are all repeated": Shape("{", lambda number: [f'"k{number // 2:07}":12,'], 2_000),
    "object around others": Shape('{"k":0,"k":1,', lambda number: [f'"k{number:07}":{{"a":[1]}},'], 2_000),
    "array": Shape("[", lambda _: ['"ab",'], 2_000),
    "string": Shape('{"text":"', lambda _: ["lorem ", "ipsum ", "\\n"], 2_000),
}
"""Each chunk shows something."""
HELD = [0, 1, 2]
"""Values that a program still holds while it asks for the next one."""


def costs_of_reading(meter: Meter, shape: Shape, units: int, held: int) -> list[int]:
    """What it costs to read the value after each chunk, for a program that has done so from the start."""
    state = parse_chunk(create_parser_state(limits=ROOMY, duplicate_keys="last"), shape.head)
    values: deque[Any] = deque(maxlen=held)
    chunks = shape.chunks(0)

    def read_on() -> None:
        nonlocal state
        for chunk in islice(chunks, units * len(shape.unit(0))):
            state = parse_chunk(state, chunk)
            values.append(state.value)

    untraced(read_on)
    costs = []
    for chunk in islice(chunks, SAMPLE):
        state = parse_chunk(state, chunk)
        cost, value = meter(lambda state=state: state.value)  # type: ignore[misc]
        values.append(value)
        del value
        costs.append(cost)
    return costs


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("name", sorted(WIDE))
def test_reading_at_every_chunk_costs_the_same_early_and_late(name: str, held: int, meter: Meter) -> None:
    shape = WIDE[name]
    early = costs_of_reading(meter, shape, 20, held)
    late = costs_of_reading(meter, shape, shape.late, held)
    assert median(late) <= SLACK[meter] * median(early) + SMALL[meter]


@interpreted
@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("name", sorted(WIDE))
def test_reading_at_every_chunk_fills_no_wide_container_again(name: str, held: int) -> None:
    test_reading_at_every_chunk_costs_the_same_early_and_late(name, held, widths)


PLACES: dict[str, Path] = {
    "the root": (),
    "an open object": ("open",),
    "a member": ("open", "k0000001"),
    "a repeated key": ("open", "k"),
    "no member": ("open", "none"),
    "an item": ("open", 1),
}
QUESTIONS: dict[str, Callable[[ParserState, Path], object]] = {"is_open": is_open, "node_at": node_at}


@pytest.mark.parametrize("place", sorted(PLACES))
@pytest.mark.parametrize("question", sorted(QUESTIONS))
@pytest.mark.parametrize("policy", ["first", "last"])
def test_asking_about_one_place_costs_the_same_early_and_late(
    question: str, place: str, policy: Any, meter: Meter
) -> None:
    shape = (
        Shape('{"open":[', lambda _: ["1,", '"a', '",'], 1_000)
        if place == "an item"
        else Shape('{"open":{"k":0,"k":1,', lambda number: [f'"k{number:07}":', "12", ","], 1_000)
    )

    def costs(units: int) -> list[int]:
        state = parse_chunk(create_parser_state(duplicate_keys=policy), shape.head)
        found = []
        for number, chunk in enumerate(islice(shape.chunks(0), 3 * units + SAMPLE)):
            state = parse_chunk(state, chunk)
            ask = partial(QUESTIONS[question], state, PLACES[place])
            if number < 3 * units:
                untraced(ask)
            else:
                found.append(meter(ask)[0])
        return found

    assert median(costs(shape.late)) <= SLACK[meter] * median(costs(20)) + SMALL[meter]


@pytest.mark.parametrize("name", ["records", "depth", "flat object", "duplicate keys", "words"])
def test_reading_takes_work_for_the_open_containers_only(name: str, meter: Meter) -> None:
    shape = SHAPES[name]
    early, first = sample(meter, shape, 3, read=True)
    late, last = sample(meter, shape, min(shape.late, 5_000) - SAMPLE, read=True)
    more = direct_children(last) - direct_children(first)
    per_child = 400 if meter is heap else 120
    assert median(late) <= SLACK[meter] * median(early) + SMALL[meter] + per_child * more


def direct_children(state: ParserState) -> int:
    """Of all open containers."""
    value: Any = state.value
    count = 0
    for _ in state.stack:
        count += len(value)
        children = list(value.values()) if isinstance(value, dict) else value
        value = children[-1] if children else None
    return count


def test_reading_a_value_twice_is_free(meter: Meter, shape: Shape) -> None:
    state = begun(shape, 200)
    first = state.value
    cost, second = meter(lambda: state.value)
    assert second is first
    assert cost <= 2 * SMALL[meter]


@pytest.mark.parametrize(
    ("text", "limits", "reason", "index", "times"),
    [
        ("[" * 100_000, Limits(), Reason.TOO_DEEP, 512, 1),
        ('{"a":' * 100_000, Limits(), Reason.TOO_DEEP, 512 * 5, 1),
        ("[" + "1," * 100_000, Limits(max_nodes=1_000), Reason.TOO_MANY_NODES, 1_999, 1),
        (" " * 100_000, Limits(max_chars=5_000), Reason.TEXT_TOO_LONG, 5_000, 1),
        # a token may be read to its end: that is linear work
        ("9" * 100_000, Limits(), Reason.NUMBER_TOO_LONG, 4_300, 10),
        ("[0." + "9" * 100_000, Limits(), Reason.NUMBER_TOO_LONG, 4_301, 10),
        ('"' + "x" * 100_000, Limits(max_string=5_000), Reason.STRING_TOO_LONG, 5_001, 10),
        ('{"' + "x" * 100_000, Limits(max_string=5_000), Reason.STRING_TOO_LONG, 5_002, 10),
        ('"' + "\\n" * 100_000, Limits(max_string=5_000), Reason.STRING_TOO_LONG, 5_001, 10),
    ],
)
def test_what_is_hostile_costs_nothing_behind_its_limit(  # noqa: PLR0913, PLR0917 - a row of the table
    text: str, limits: Limits, reason: Reason, index: int, times: int, meter: Meter
) -> None:
    one, other = (create_parser_state(limits=limits) for _ in range(2))
    short, _ = meter(lambda: parse_chunk(one, text[: len(text) // 10]))
    long, state = meter(lambda: parse_chunk(other, text))
    assert parse_chunk(state, text) is state
    assert state.error
    assert (state.error.reason, state.error.index) == (reason, index)
    assert long <= SLACK[meter] * (times if meter is opcodes else 1) * short + SMALL[meter]


HOSTILE = {
    "string": ('"', "x", 1_000_000),
    "key": ('{"', "x", 1_000_000),
    "escapes": ('"', "\\n", 200_000),
    "digits": ("[", "1", 100_000),
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_token_one_character_at_a_time_copies_nothing_twice(name: str) -> None:
    head, unit, times = HOSTILE[name]
    early = fed(singles(head + unit * 10), create_parser_state(limits=ROOMY))
    late = untraced(lambda: fed(singles(unit * times), early))
    tracemalloc.start()
    one, _ = metered(heap, early, singles(unit * 10))
    # Tracing starts only now, so the first chunks also show storage that was there before.
    other, state = metered(heap, late, singles(unit * 100))
    tracemalloc.stop()
    assert state.error is None
    assert median(other) <= SLACK[heap] * median(one) + SMALL[heap]


@pytest.mark.parametrize("policy", ["first", "last"])
def test_fifty_thousand_duplicate_keys_are_one_member(policy: Any) -> None:
    text = "{" + ",".join(f'"a":[{number}]' for number in range(50_000)) + "}"
    expected = 0 if policy == "first" else 49_999
    state = fed(sized(text, 997), create_parser_state(duplicate_keys=policy))
    assert state.value == {"a": [expected]}


def fork_costs(state: ParserState, chunks: list[str]) -> float:
    """What it costs to feed a state that is no longer the newest of its stream."""
    fed(chunks, state)
    return median([opcodes(lambda chunk=chunk: parse_chunk(state, chunk))[0] for chunk in chunks])  # type: ignore[misc]


@interpreted
def test_a_fork_costs_bytecode_for_the_members_of_open_containers_at_most(shape: Shape) -> None:
    def behind(records: int) -> ParserState:
        closed = ",".join(f'{{"id":{number},"tags":["a","b"]}}' for number in range(records))
        return fed(sized(f'{{"closed":[{closed}],"open":[', 997))

    chunks = sized('"lorem ipsum",' * 10, 7)
    assert fork_costs(behind(5_000), chunks) <= SLACK[opcodes] * fork_costs(behind(10), chunks) + SMALL[opcodes]
    early, late = begun(shape, 3), begun(shape, shape.late // 4)
    chunks = list(islice(shape.chunks(shape.late), 10))
    more = open_members(late) - open_members(early)
    assert fork_costs(late, chunks) <= SLACK[opcodes] * fork_costs(early, chunks) + SMALL[opcodes] + 200 * more


def open_members(state: ParserState) -> int:
    """The members of all open containers as they were written, duplicates included."""
    nodes = [state.nodes[node_id] for node_id in state.stack]
    return sum(len(node.children) for node in nodes if isinstance(node, ArrayNode | ObjectNode))


def test_only_the_first_chunk_of_a_branch_pays_for_the_fork(meter: Meter, shape: Shape) -> None:
    fork_point = begun(shape, shape.late // 4)
    chunks = list(islice(shape.chunks(shape.late), SAMPLE))
    straight, _ = metered(meter, fork_point, chunks)
    branch, _ = metered(meter, fork_point, chunks)
    assert median(branch) <= SLACK[meter] * median(straight) + SMALL[meter]


def bytes_kept(call: Callable[[], object]) -> int:
    """What is still on the heap after a call, as long as its result is held: the least of three times.

    Another thread, such as the one that tells a worker of the next tests, can only add to it.
    """

    def measure() -> int:
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        result = call()
        gc.collect()  # tests collect seldom, and what is garbage is not kept
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        del result
        return after - before

    return min(measure() for _ in range(3))


BUDGET = 600_000_000
"""What the nodes of a document may take by default."""
COSTLY: dict[str, tuple[str, Callable[[int], str]]] = {
    "empty objects": ("[", lambda _: "{},"),
    "empty arrays": ("[", lambda _: "[],"),
    "objects in lines": ("[", lambda _: "\n{}\n,\n"),
    "objects with a key": ("[", lambda _: '{"a":{}},'),
    "objects with keys of their own": ("{", lambda number: f'"k{number}":{{}},'),
    "numbers that Python writes otherwise": ("{", lambda number: f'"k{number}":1e5,'),
}


@pytest.mark.parametrize("name", sorted(COSTLY))
def test_the_default_node_limit_keeps_a_document_within_its_budget(name: str) -> None:
    head, unit = COSTLY[name]
    count = 20_000
    chunks = [head, *("".join(unit(number) for number in range(at, at + 500)) for at in range(0, count, 500))]

    def read() -> tuple[ParserState, object]:
        state, value = create_parser_state(), object()
        for chunk in chunks:
            state = parse_chunk(state, chunk)
            value = state.value
        return state, value

    nodes = len(untraced(read)[0].nodes)
    assert bytes_kept(lambda: untraced(read)) / nodes * Limits().max_nodes <= BUDGET


@pytest.mark.parametrize("head", ["", "[", "[1", '{"a":', '{"a": 1}'])
def test_newlines_take_no_memory(head: str) -> None:
    def lines(count: int) -> ParserState:
        return untraced(lambda: fed(["\n" * 1_000 + " "] * count, parse_chunk(create_parser_state(), f"{head} ")))

    assert lines(100).line == 100_001
    assert bytes_kept(lambda: lines(100)) <= bytes_kept(lambda: lines(1)) + SMALL[heap]
