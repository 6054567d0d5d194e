"""Law 8 for schemas, by counting: a chunk resolves the open path only, whatever is closed."""

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from statistics import median
from typing import Any

import pytest
from pydantic import BaseModel

from jsontide import Limits, ParserState, create_parser_state, parse_chunk
from jsontide.schema import MismatchReason, Resolution, from_json_ast
from jsontide.schema._validator import Violation, drop_reported
from jsontide.tree import Path
from tests.cuts import sized
from tests.meters import Meter, heap, interpreted, opcodes, untraced, widths

SLACK: dict[Meter, float] = {opcodes: 1.25, heap: 1.5}
SMALL: dict[Meter, int] = {opcodes: 60, heap: 1_000}
FEW, MANY = 5, 1_000


class Place(BaseModel):
    lat: float
    lon: float


class Record(BaseModel):
    id: int
    kind: str
    tags: list[str]
    place: Place | None = None


class Records(BaseModel):
    title: str
    records: list[Record]


RECORD = '{"id": 1234567, "kind": "pebble", "tags": ["a", "b"], "place": {"lat": 1.5, "lon": 2.5}, "unknown": 1}, '
HEAD = '{"title": "shore", "records": ['
UNION = {
    "type": "object",
    "properties": {
        "records": {
            "type": "array",
            "items": {
                "anyOf": [
                    {"type": "object", "properties": {"kind": {"const": kind}, "tags": {"items": {"type": "string"}}}}
                    for kind in ("pebble", "pearl", "plank")
                ]
            },
        }
    },
}
SCHEMAS = {"model": Records, "union": UNION, "anything": {}}


def grown(schema: Any, records: int) -> tuple[ParserState, Resolution[Any]]:
    """A stream with so many closed records, resolved chunk by chunk."""

    def grow() -> tuple[ParserState, Resolution[Any]]:
        return followed(schema, [HEAD, *sized(RECORD * records, 61)], lambda call: (0, call()))[1:]

    return untraced(grow)


def followed(
    schema: Any,
    chunks: Iterable[str],
    meter: Callable[[Callable[[], Any]], tuple[int, Any]],
    start: tuple[ParserState, Resolution[Any]] | None = None,
) -> tuple[list[int], ParserState, Resolution[Any]]:
    """Feed and resolve; what each resolution costs."""
    if start is None:
        state = create_parser_state(limits=Limits(max_depth=10_000))
        start = state, from_json_ast(schema, state)
    state, resolution = start
    costs: list[int] = []
    for chunk in chunks:
        state = parse_chunk(state, chunk)
        cost, resolution = meter(lambda: from_json_ast(schema, state, resolution))  # noqa: B023
        costs.append(cost)
    return costs, state, resolution


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_a_thousand_closed_records_cost_nothing_more(schema: Any, meter: Meter) -> None:
    few, _, _ = followed(schema, sized(RECORD * 2, 4), meter, grown(schema, FEW))
    many, _, last = followed(schema, sized(RECORD * 2, 4), meter, grown(schema, MANY))
    assert not last.errors
    assert median(many) <= SLACK[meter] * median(few) + SMALL[meter]
    # The sum too: no chunk now and then that pays for all.
    assert sum(many) <= SLACK[meter] * sum(few) + SMALL[meter] * len(many)


def test_a_long_string_costs_no_more_at_its_end(meter: Meter) -> None:
    head = (HEAD + '{"kind": "',)
    begun = followed(Records, head, meter)[1:]
    early, *_ = followed(Records, ["lorem "] * 50, meter, begun)
    late_start = untraced(lambda: followed(Records, (*head, *["lorem "] * 20_000), lambda call: (0, call()))[1:])
    late, *_ = followed(Records, ["lorem "] * 50, meter, late_start)
    assert median(late) <= SLACK[meter] * median(early) + SMALL[meter]


def test_a_state_that_says_nothing_new_costs_little_at_any_depth(meter: Meter) -> None:
    tree = {"$defs": {"node": {"properties": {"n": {"$ref": "#/$defs/node"}}}}, "$ref": "#/$defs/node"}
    costs = {}
    for depth in (5, 300):
        start = untraced(lambda: followed(tree, ['{"n": ' * depth], lambda call: (0, call()))[1:])  # noqa: B023
        costs[depth], *_ = followed(tree, [" "] * 20, meter, start)
    assert median(costs[300]) <= SLACK[meter] * median(costs[5]) + SMALL[meter]


def test_an_unchanged_state_has_the_same_resolution() -> None:
    state, resolution = grown(Records, FEW)
    assert from_json_ast(Records, state, resolution) is resolution
    assert from_json_ast(Records, parse_chunk(state, ""), resolution) is resolution


def test_closed_records_are_resolved_once() -> None:
    state, before = grown(Records, FEW)
    after = from_json_ast(Records, parse_chunk(state, RECORD), before)
    values: list[Any] = [before.value, after.value]
    old, new = (value["records"] for value in values)
    assert len(new) == FEW + 1
    assert all(one is other for one, other in zip(old, new, strict=False))
    assert "unknown" not in new[0]


def test_many_mismatches_cost_no_more_each(meter: Meter) -> None:
    wrong = '{"id": "x", "kind": 1, "tags": {}}, '
    few = followed(Records, sized(wrong * 2, 4), meter, untraced(lambda: _wrong(FEW, wrong)))[0]
    many = followed(Records, sized(wrong * 2, 4), meter, untraced(lambda: _wrong(300, wrong)))[0]
    assert median(many) <= SLACK[meter] * median(few) + SMALL[meter]


@interpreted
def test_comparing_the_paths_of_many_mismatches_costs_the_same_at_any_depth() -> None:
    def cost(depth: int) -> int:
        inside: Path = ("next",) * depth
        problems = [Violation((*inside, "items", at), MismatchReason.INVALID, "less") for at in range(100)]
        reported: list[Path] = [(*inside, "others", at) for at in range(100)]
        return opcodes(lambda: drop_reported(problems, reported))[0]

    few, many = cost(5), cost(205)
    assert many <= few + 200 * 40  # once along the path, and not for each of them


def _wrong(records: int, record: str) -> tuple[ParserState, Resolution[Any]]:
    return followed(Records, [HEAD, *sized(record * records, 61)], lambda call: (0, call()))[1:]


WIDE: dict[str, tuple[str, Callable[[int], str]]] = {
    "object": ("{", lambda number: f'"k{number:07}":12,'),
    "object with a repeated key": ('{"k":0,"k":[],', lambda number: f'"k{number:07}":12,'),
    "array": ("[", lambda _: '"ab",'),
    "string": ('{"text":"', lambda _: "lorem "),
}


def costs_of_resolving(meter: Meter, name: str, count: int, held: int) -> list[int]:
    """What the last of many chunks cost, for a program that holds the last values."""
    head, unit = WIDE[name]
    state = parse_chunk(create_parser_state(), head)
    schema: Any = SCHEMAS["anything"]
    resolution = from_json_ast(schema, state)
    values: deque[object] = deque([resolution.value], maxlen=held)
    costs = []
    for number in range(count):
        state = parse_chunk(state, unit(number))
        resolve = partial(from_json_ast, schema, state, resolution)
        cost, resolution = meter(resolve) if number >= count - 40 else (0, untraced(resolve))
        values.append(resolution.value)
        costs.append(cost)
    return costs[-40:]


@pytest.mark.parametrize("held", [1, 2])
@pytest.mark.parametrize("name", sorted(WIDE))
def test_resolving_at_every_chunk_costs_the_same_early_and_late(name: str, held: int, meter: Meter) -> None:
    early, late = (costs_of_resolving(meter, name, count, held) for count in (100, 1_000))
    assert median(late) <= SLACK[meter] * median(early) + SMALL[meter]


@interpreted
@pytest.mark.parametrize("name", sorted(WIDE))
def test_resolving_at_every_chunk_fills_no_wide_container_again(name: str) -> None:
    early, late = (costs_of_resolving(widths, name, count, 2) for count in (100, 1_000))
    assert median(late) <= median(early) + 10
