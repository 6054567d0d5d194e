"""Schemas of which a few lines say very much: read in bounded memory, or refused with a reason."""

import json
import tracemalloc
from contextlib import suppress
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from jsontide import create_parser_state
from jsontide.schema import Status, UnsupportedSchemaError, from_json_ast
from tests.meters import heap
from tests.schema.resolving import closed

MEGABYTES = 1_000_000


def layers(depth: int, layer: Any, last: Any) -> dict[str, Any]:
    """Definitions of which each refers to the next one, several times."""
    definitions = {f"a{at}": layer(at, f"#/$defs/a{at + 1}") for at in range(depth)}
    return {"$ref": "#/$defs/a0", "$defs": {**definitions, f"a{depth}": last}}


def all_closed(depth: int) -> dict[str, Any]:
    def layer(at: int, ref: str) -> dict[str, Any]:
        own = {"properties": {"x": {"minimum": at}}, "additionalProperties": False}
        return {"allOf": [{"$ref": ref} for _ in range(8)], **own}

    return layers(depth, layer, {"type": "object", "properties": {"x": {"type": "integer"}}})


def all_at_odds(depth: int) -> dict[str, Any]:
    def layer(at: int, ref: str) -> dict[str, Any]:
        return {"allOf": [{"$ref": ref, "maxProperties": 9 + number} for number in range(8)], "maxProperties": at + 3}

    return layers(depth, layer, {"type": "object", "maxProperties": 2})


def any_beside(depth: int) -> dict[str, Any]:
    def layer(at: int, ref: str) -> dict[str, Any]:
        branches = [{"$ref": ref, "required": [f"r{number}"]} for number in range(8)]
        return {"properties": {f"p{at}": {"type": "integer"}}, "anyOf": branches}

    return layers(depth, layer, {"type": "object"})


def one_and_any(depth: int) -> dict[str, Any]:
    def layer(_: int, ref: str) -> dict[str, Any]:
        branches = [{"$ref": ref, "title": str(number)} for number in range(8)]
        return {"anyOf": branches, "oneOf": [{"minProperties": number} for number in range(8)]}

    return layers(depth, layer, {"type": "object"})


def shared(depth: int) -> Any:
    schema: Any = {"type": "object"}
    for _ in range(depth):
        schema = {"allOf": [schema] * 10}
    return schema


def taken(schema: Any) -> int:
    """The memory that reading a schema takes, read or refused."""

    def read() -> None:
        with suppress(UnsupportedSchemaError):
            from_json_ast(schema, create_parser_state())

    tracemalloc.start()
    peak, _ = heap(read)
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("schema", [all_closed(8), all_at_odds(8)], ids=["closed", "at odds"])
def test_definitions_that_share_others_take_memory_for_each_once(schema: Any) -> None:
    assert taken(schema) < 2 * MEGABYTES


@pytest.mark.parametrize("make", [all_closed, all_at_odds], ids=["closed", "at odds"])
@pytest.mark.parametrize("value", [{}, {"x": 0}, {"x": 1}, {"x": 2}, {"x": "a"}, {"x": 2, "y": 1}, [], 3])
def test_what_is_laid_flat_means_the_same(make: Any, value: Any) -> None:
    schema = make(2)
    resolution = closed(schema, json.dumps(value))
    is_valid = Draft202012Validator(schema).is_valid(value)
    assert resolution.status is (Status.FINAL if is_valid else Status.MISMATCH)


@pytest.mark.long
@pytest.mark.parametrize("make", [any_beside, one_and_any])
@pytest.mark.untraced
def test_unions_that_multiply_are_refused(make: Any) -> None:
    with pytest.raises(UnsupportedSchemaError, match="more than 500000 keywords"):
        from_json_ast(make(20), create_parser_state())


@pytest.mark.long
@pytest.mark.untraced
@pytest.mark.once
def test_what_is_read_before_a_refusal_takes_little_memory() -> None:
    assert taken(any_beside(20)) < 200 * MEGABYTES


def test_a_schema_of_too_many_values_is_refused_before_it_is_written() -> None:
    assert taken(shared(8)) < 20 * MEGABYTES
    with pytest.raises(UnsupportedSchemaError, match="more than 100000 values"):
        from_json_ast(shared(8), create_parser_state())


def test_a_schema_that_contains_itself_is_refused() -> None:
    circle: dict[str, Any] = {"type": "object"}
    circle["properties"] = {"next": circle}
    with pytest.raises(UnsupportedSchemaError, match="Circular reference"):
        from_json_ast(circle, create_parser_state())
