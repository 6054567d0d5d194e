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

from jsontide import Limits, ParserState, Reason, create_parser_state, finalize, is_open, parse_chunk
from jsontide.tree import ArrayNode, ObjectNode, Path, node_at
from tests.cuts import fed, singles, sized, whole
from tests.meters import Meter, heap, interpreted, metered, opcodes, untraced, widths
from tests.oracles import loads
from tests.relations import remade

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


def test_reading_costs_no_more_late_where_nothing_is_wide(meter: Meter) -> None:
    """What is closed costs nothing, however large: only direct children of open containers may."""
    few, _ = metered(meter, behind(10), sized('"lorem ipsum",' * 30, 7), read=True)
    many, _ = metered(meter, behind(5_000), sized('"lorem ipsum",' * 30, 7), read=True)
    assert median(many) <= SLACK[meter] * median(few) + SMALL[meter]


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


def behind(records: int) -> ParserState:
    """A state whose open containers are small, but that has many closed records behind it."""
    closed = ",".join(f'{{"id":{number},"tags":["a","b"]}}' for number in range(records))
    state = fed(sized(f'{{"closed":[{closed}],"open":[', 997))
    assert state.value
    return state


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


@pytest.mark.parametrize("name", ["records", "depth", "flat object"])
def test_reading_copies_no_more_containers_than_were_open(name: str) -> None:
    shape = SHAPES[name]
    state = begun(shape, shape.late - SAMPLE)
    for chunk in islice(shape.chunks(shape.late), SAMPLE):
        after = parse_chunk(state, chunk)
        assert len(remade(state.value, after.value)) <= len(state.stack)
        state = after


def test_reading_a_value_twice_is_free(meter: Meter, shape: Shape) -> None:
    state = begun(shape, 200)
    first = state.value
    cost, second = meter(lambda: state.value)
    assert second is first
    assert cost <= 2 * SMALL[meter]


def growing_text(size: int) -> str:
    """A whole document of about `size` characters with everything in it."""
    shape = SHAPES["records"]
    records = "".join(islice(shape.chunks(0), size // 4)).rpartition("},")[0]
    text, escapes = "x" * size, "\\n" * (size // 4)
    return f'{shape.head}{records}}}],"text":"{text}","escapes":"{escapes}"}}'


@pytest.mark.parametrize("cut", [whole, singles], ids=["whole", "one character at a time"])
def test_twice_the_text_is_twice_the_work(cut: Callable[[str], list[str]], meter: Meter) -> None:
    def total(text: str) -> int:
        costs, state = metered(meter, create_parser_state(), cut(text))
        assert finalize(state).is_complete
        return sum(costs)

    assert total(growing_text(4_000)) <= 2.4 * total(growing_text(2_000)) + 20 * SMALL[meter]


HOSTILE_STRUCTURES = [
    ("[" * 100_000, Limits(), Reason.TOO_DEEP, 512),
    ('{"a":' * 100_000, Limits(), Reason.TOO_DEEP, 512 * 5),
    ("[" + "1," * 100_000, Limits(max_nodes=1_000), Reason.TOO_MANY_NODES, 1_999),
    (" " * 100_000, Limits(max_chars=5_000), Reason.TEXT_TOO_LONG, 5_000),
]
HOSTILE_TOKENS = [
    ("9" * 100_000, Limits(), Reason.NUMBER_TOO_LONG, 4_300),
    ("[0." + "9" * 100_000, Limits(), Reason.NUMBER_TOO_LONG, 4_301),
    ('"' + "x" * 100_000, Limits(max_string=5_000), Reason.STRING_TOO_LONG, 5_001),
    ('{"' + "x" * 100_000, Limits(max_string=5_000), Reason.STRING_TOO_LONG, 5_002),
    ('"' + "\\n" * 100_000, Limits(max_string=5_000), Reason.STRING_TOO_LONG, 5_001),
]


def costs_of(text: str, limits: Limits, meter: Meter) -> tuple[int, int, ParserState]:
    """The cost of a tenth of the text, the cost of all of it, and where that ended."""
    one, other = (create_parser_state(limits=limits) for _ in range(2))
    short, _ = meter(lambda: parse_chunk(one, text[: len(text) // 10]))
    long, state = meter(lambda: parse_chunk(other, text))
    assert parse_chunk(state, text) is state
    return short, long, state


@pytest.mark.parametrize(("text", "limits", "reason", "index"), HOSTILE_STRUCTURES)
def test_a_hostile_structure_costs_nothing_behind_its_limit(
    text: str, limits: Limits, reason: Reason, index: int, meter: Meter
) -> None:
    short, long, state = costs_of(text, limits, meter)
    assert state.error
    assert (state.error.reason, state.error.index) == (reason, index)
    assert long <= SLACK[meter] * short + SMALL[meter]


@pytest.mark.parametrize(("text", "limits", "reason", "index"), HOSTILE_TOKENS)
def test_a_hostile_token_takes_no_memory_behind_its_limit_and_linear_work_at_most(
    text: str, limits: Limits, reason: Reason, index: int, meter: Meter
) -> None:
    short, long, state = costs_of(text, limits, meter)
    assert state.error
    assert (state.error.reason, state.error.index) == (reason, index)
    times = 10 if meter is opcodes else 1
    assert long <= SLACK[meter] * times * short + SMALL[meter]


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


def fork_costs(state: ParserState, chunks: list[str]) -> list[int]:
    """What it costs to feed a state that is no longer the newest of its stream."""
    fed(chunks, state)
    return [opcodes(lambda chunk=chunk: parse_chunk(state, chunk))[0] for chunk in chunks]  # type: ignore[misc]


@interpreted
def test_a_fork_costs_no_bytecode_for_what_is_closed() -> None:
    chunks = sized('"lorem ipsum",' * 10, 7)
    few, many = fork_costs(behind(10), chunks), fork_costs(behind(5_000), chunks)
    assert median(many) <= SLACK[opcodes] * median(few) + SMALL[opcodes]


@interpreted
def test_a_fork_costs_bytecode_for_the_members_of_open_containers_at_most(shape: Shape) -> None:
    early, late = begun(shape, 3), begun(shape, shape.late // 4)
    chunks = list(islice(shape.chunks(shape.late), 10))
    few, many = fork_costs(early, chunks), fork_costs(late, chunks)
    more = open_members(late) - open_members(early)
    assert median(many) <= SLACK[opcodes] * median(few) + SMALL[opcodes] + 200 * more


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


def test_a_thousand_branches_of_one_state_are_all_right() -> None:
    text = '{"a":[1,2,{"b":"c'
    state = fed(singles(text))
    ends = [fed([f'{number}"}}]}}'], state) for number in range(1_000)]
    assert [end.value for end in ends] == [loads(f'{text}{n}"}}]}}') for n in range(1_000)]


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
