"""Mismatches as people and programs read them, and what callers pass wrongly."""

import pickle
from decimal import Decimal
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from jsontide import (
    MISSING,
    Limits,
    ParserState,
    SchemaError,
    Tool,
    create_parser_state,
    parse_chunk,
    stream_message,
    stream_model,
)
from jsontide.schema import MismatchReason, SchemaMismatch, Status, UnsupportedSchemaError, from_json_ast
from tests.cuts import every, fed, singles, whole
from tests.oracles import line_and_column
from tests.schema.kinds import TYPES, Everything, Tree
from tests.schema.resolving import resolutions, said

CASES: list[tuple[Any, str, str, str, str]] = [
    # schema, text, where in the text, expected, found
    ({"type": "integer"}, "\n [", "[", "an integer", "an array"),
    ({"type": ["integer", "null"]}, ' "x"', '"x"', "an integer or null", '"x"'),
    ({"items": {"type": "string"}}, '["a",\n\n  true', "true", "a string", "true"),
    ({"enum": ["low", "high", 3]}, '"mid', '"mid', 'one of "low", "high", 3', 'a string that begins with "m"'),
    ({"enum": ["low", "high", 3]}, '"lo"', '"lo"', 'one of "low", "high", 3', '"lo"'),
    ({"const": {"a": 1}}, '{"a": 2}', "{", '{"a": 1}', "an object"),
    ({"type": "array", "maxItems": 1}, "[1, 2 ", "2", "at most 1 item", "one more"),
    ({"type": "array", "minItems": 2}, "[1]", "[", "at least 2 items", "1 item"),
    ({"type": "array", "minItems": 2.0}, "[1]", "[", "at least 2.0 items", "1 item"),
    ({"required": ["a"], "properties": {"a": {"type": "null"}}}, "  {}", "{", "null", "nothing"),
    ({"additionalProperties": False, "type": "object"}, '{"a": 1 ', "1", "no other keys", "one"),
    ({"type": "string", "minLength": 9}, '"' + "x" * 3 + '"', '"', "a value that keeps to 'minLength': 9", '"xxx"'),
    (Literal["a"], '"b', '"b', '"a"', 'a string that begins with "b"'),
    (int, '"1x"', '"1x"', "an integer", '"1x"'),
]


@pytest.mark.parametrize(("schema", "text", "where", "expected", "found"), CASES)
def test_a_mismatch_says_what_was_expected_what_was_there_and_where(
    schema: Any, text: str, where: str, expected: str, found: str
) -> None:
    for chunks in every(text):
        (error,) = resolutions(schema, chunks)[-1].errors
        assert (error.expected, error.found) == (expected, found)
        assert error.index == text.index(where)
        assert (error.line, error.column) == line_and_column(text, error.index)
        assert error.message.endswith(f"expected {expected}, found {found} (line {error.line}, column {error.column})")


def test_what_was_there_is_shortened() -> None:
    (error,) = from_json_ast({"type": "null"}, fed(whole(f'"{"x" * 5_000}"'))).errors
    assert len(error.found) == 40
    (error,) = from_json_ast({"enum": [f"v{number}" for number in range(50)]}, fed(whole("1 "))).errors
    assert error.expected.endswith('"v7", … (50 values)')


def test_what_only_the_validator_finds_has_a_place_too() -> None:
    text = '{"name": "x", "children": [\n{"name": "\\ud800"}]}'
    resolution = from_json_ast(Tree, fed(whole(text)))
    assert resolution.status is Status.MISMATCH
    assert resolution.errors[0].reason is MismatchReason.INVALID
    schema = {"items": {"properties": {"a": {}}}, "not": {"maxItems": 0}}
    (error,) = from_json_ast(schema, fed(whole(" []"))).errors
    assert (error.path, error.index) == ((), 1)


def test_mismatches_come_in_the_order_of_the_text() -> None:
    found = from_json_ast(list[int], fed(whole('["a", 1, [], "b", {"x": 1}]'))).errors
    assert [error.path for error in found] == [(0,), (2,), (3,), (4,)]
    assert [error.index for error in found] == sorted(error.index for error in found)


def test_errors_are_values() -> None:
    error = SchemaMismatch(("a", 0), MismatchReason.WRONG_TYPE, "a string", "1", 3, 1, 4)
    assert pickle.loads(pickle.dumps(error)) == error  # noqa: S301
    raised = pickle.loads(pickle.dumps(SchemaError((error,))))  # noqa: S301
    assert raised.errors == (error,)
    assert str(raised) == "1 value does not fit the schema\n  root.a[0]: expected a string, found 1 (line 1, column 4)"
    wrong = pickle.loads(pickle.dumps(UnsupportedSchemaError("no", "#/a")))  # noqa: S301
    assert str(wrong) == "no (at #/a)"


def test_resolutions_survive_pickling_and_are_gone_on_from() -> None:
    for before in resolutions(Everything, singles('{"title": "a", "level": 3, "tree": {"name": "b')):
        restored = pickle.loads(pickle.dumps(before))  # noqa: S301
        assert said(restored) == said(before)
        state: ParserState = parse_chunk(restored._state, "c")
        assert said(from_json_ast(Everything, state, restored)) == said(from_json_ast(Everything, state))


def test_wrong_arguments_are_refused() -> None:
    state = create_parser_state()
    with pytest.raises(TypeError, match="ParserState"):
        from_json_ast(int, "text")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="ParserState"):
        from_json_ast(int, "text", from_json_ast(int, state))  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="must be a Resolution, not dict"):
        from_json_ast(int, state, {})  # type: ignore[call-overload]


class Odd(BaseModel):
    model_config = {"arbitrary_types_allowed": True}
    state: ParserState


@pytest.mark.parametrize("schema", [Odd, ParserState, 12])
def test_a_type_that_pydantic_has_no_json_schema_for_is_refused(schema: Any) -> None:
    with pytest.raises(UnsupportedSchemaError, match="pydantic"):
        from_json_ast(schema, create_parser_state())


@pytest.mark.parametrize("schema", ['{"type": "object"}', "list[int]", "1 / 0"])
def test_text_is_no_schema_and_is_not_run_as_python(schema: str) -> None:
    for refused in (
        lambda: from_json_ast(schema, create_parser_state()),
        lambda: stream_model("{}", schema),
        lambda: stream_message([], tools=[Tool("weather", schema)]),
    ):
        with pytest.raises(UnsupportedSchemaError, match="a type or a dict, not text"):
            refused()


def test_an_instance_is_no_schema() -> None:
    for one in (TYPES["model"](lat=1, lon=2), TYPES["dataclass"]("Kyoto")):
        with pytest.raises(UnsupportedSchemaError, match=f"a type, not an instance of {type(one).__name__}"):
            from_json_ast(one, create_parser_state())


def test_numbers_may_be_decimals_but_not_lexemes() -> None:
    state = parse_chunk(create_parser_state(floats="decimal"), '{"lat": 1.25, "lon": 3}')
    resolution = from_json_ast(TYPES["model"], state)
    assert resolution.value == {"lat": Decimal("1.25"), "lon": 3}
    assert resolution.model == TYPES["model"](lat=1.25, lon=3)
    with pytest.raises(ValueError, match="floats="):
        from_json_ast(TYPES["model"], create_parser_state(floats="lexeme"))


def test_a_chunk_that_shows_nothing_new_changes_no_identity() -> None:
    found = resolutions({"type": "object"}, ['{"a": [1, "x', "", '"', " ", "]", ",", ' "b', '": ', "tr", "ue"])
    values = [resolution.value for resolution in found]
    assert len({id(value) for value in values[1:10]}) == 1
    assert values[10] == {"a": [1, "x"], "b": True}
    assert values[0] is MISSING


@pytest.mark.parametrize("depth", [100, 500, 5_000])
def test_recursive_schemas_follow_deep_documents(depth: int) -> None:
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"n": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "string", "minLength": 1}]}},
                "required": ["n"],
            }
        },
    }
    start = create_parser_state(limits=Limits(max_depth=10_000))
    resolution = from_json_ast(schema, start)
    text = '{"n": ' * depth + '"x"' + "}" * depth
    state = start
    for chunk in (text[: 6 * depth + 2], text[6 * depth + 2 : -3], text[-3:]):
        state = parse_chunk(state, chunk)
        resolution = from_json_ast(schema, state, resolution)
        value: Any = resolution.value
        for _ in range(depth):
            value = value["n"]
        assert value == "x"
    assert resolution.status is Status.FINAL
    wrong = parse_chunk(start, '{"n": ' * depth + "1" + "}" * depth)
    assert from_json_ast(schema, wrong).errors[0].path == ("n",) * depth


def test_a_document_that_is_too_deep_for_pydantic_is_a_mismatch() -> None:
    text = '{"name": "a", "children": [' * 400 + "]}" * 400
    for limit in (1_000, 10_000):
        state = create_parser_state(limits=Limits(max_depth=limit))
        resolution = from_json_ast(Tree, fed(whole(text), state))
        assert resolution.status is Status.MISMATCH
        assert resolution.value is not MISSING
