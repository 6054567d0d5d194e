"""JSON Schemas as people write them: what is understood, what is left to jsonschema, and what is refused."""

import json
import subprocess
import sys
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator

from jsontide import MISSING, create_parser_state, finalize
from jsontide.schema import MismatchReason, Status, UnsupportedSchemaError, from_json_ast
from tests.cuts import every, fed, whole
from tests.schema.resolving import closed, resolutions, resolutions_to_end

NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "name": {"type": "string"}}}
SCHEMAS: dict[str, Any] = {
    "no type": {"properties": {"a": {"type": "integer"}}, "required": ["a"], "items": {"type": "string"}},
    "types": {"type": ["string", "null", "integer"]},
    "integer and number": {"type": ["integer", "number"]},
    "anything": {},
    "nothing": {"type": "array", "items": False},
    "all of": {"allOf": [{"properties": {"a": {"type": "integer"}}}, {"required": ["a"]}], "type": "object"},
    "all of, the same member": {
        "allOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"a": {"minimum": 3}}}],
        "type": "object",
    },
    "all of, closed": {
        "allOf": [
            {"properties": {"a": True}, "additionalProperties": False},
            {"properties": {"b": {"type": "integer"}}},
        ],
        "type": "object",
    },
    "all of, enums": {"allOf": [{"enum": ["a", "b", 1]}, {"enum": ["b", 1.0, "c"]}]},
    "any of beside": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    "one of": {"oneOf": [{"type": "string", "maxLength": 2}, {"type": "string", "minLength": 2}]},
    "not": {"not": {"const": "a"}},
    "if": {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "integer"}},
    "patterns": {
        "type": "object",
        "patternProperties": {"^n_": {"type": "integer"}, "x$": {"minimum": 3}},
        "additionalProperties": {"type": "string"},
    },
    "names": {"type": "object", "propertyNames": {"maxLength": 2}},
    "contains": {"type": "array", "contains": {"const": 1}, "maxContains": 1},
    "unique": {"type": "array", "uniqueItems": True},
    "dependent": {"type": "object", "dependentRequired": {"a": ["b"]}},
    "unevaluated": {
        "type": "object",
        "allOf": [{"properties": {"a": {"type": "integer"}}}],
        "unevaluatedProperties": False,
    },
    "ranges": {"type": "number", "exclusiveMinimum": 1, "multipleOf": 0.5},
    "sizes": {"type": "array", "minItems": 1, "maxItems": 2},
    "values of containers": {"enum": [[1, 2], {"a": [True]}, 3]},
    "root": {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False},
    "escaped pointer": {
        "$ref": "#/$defs/a~1b~0%25",
        "$defs": {"a/b~%": {"type": "object", "properties": {"next": {"$ref": "#/$defs/a~1b~0%25"}}}},
    },
    "by its own name": {"$id": "urn:x", "items": {"$ref": "urn:x#/$defs/a"}, "$defs": {"a": {"type": "string"}}},
    "two recursions": {
        "$ref": "#/$defs/node",
        "$defs": {"node": {"allOf": [NODE, {"properties": {"next": {"$ref": "#/$defs/node"}}}]}},
    },
}
VALUES: list[Any] = [
    *(None, True, 0, 1, 1.0, 1.5, 3, "", "a", "ab", "abc", [], [1], [1, 1], [1, 2], ["a"], {}, {"a": 1}, {"a": 5}),
    *(
        {"a": "x"},
        {"b": "x"},
        {"b": 1},
        {"a": 3, "b": 4},
        {"n_": 1},
        {"n_x": 1},
        {"n_x": 4},
        {"zzz": "a"},
        {"a": [True]},
    ),
    *({"next": {"next": {"name": 1}}}, {"next": {"next": {}}}, {"next": {"a": 1}}, [1, 2, 3], [[1, 2]]),
]


@pytest.mark.parametrize("name", SCHEMAS)
def test_at_the_end_jsonschema_is_obeyed_and_before_it_nothing_contradicts_it(name: str) -> None:
    schema = SCHEMAS[name]
    for value in VALUES:
        text = json.dumps(value)
        is_valid = Draft202012Validator(schema).is_valid(value)
        for chunks in (whole(text), list(text)):
            *found, last = resolutions_to_end(schema, chunks)
            assert last.status is (Status.FINAL if is_valid else Status.MISMATCH), value
            assert not is_valid or last.value == value
            assert not is_valid or not any(resolution.errors for resolution in found)


def test_a_tuple_as_it_was_written_before_prefix_items() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "items": [{"type": "integer"}, {"$ref": "#/definitions/text"}],
        "additionalItems": False,
        "definitions": {"text": {"type": "string"}},
    }
    for value in ([1, "a"], [1], ["a"], [1, "a", 2]):
        status = from_json_ast(schema, fed(whole(json.dumps(value)))).status
        assert (status is Status.FINAL) is Draft7Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "nullable": True},
        {"$ref": "#/$defs/text", "nullable": True, "$defs": {"text": {"type": "string"}}},
        {"enum": ["a", "b"], "nullable": True},
    ],
)
def test_nullable_allows_null(schema: Any) -> None:
    assert from_json_ast(schema, fed(whole("null"))).status is Status.FINAL
    assert from_json_ast(schema, fed(whole('"a"'))).status is Status.FINAL
    assert from_json_ast(schema, fed(whole("1 "))).status is Status.MISMATCH


def test_a_member_called_nullable_is_just_a_member() -> None:
    schema = {"type": "object", "properties": {"nullable": {"type": "boolean"}}, "default": {"nullable": True}}
    assert from_json_ast(schema, fed(whole('{"nullable": true}'))).status is Status.FINAL


def test_defaults_are_for_the_end() -> None:
    schema = {
        "properties": {
            "a": {"default": [1]},
            "b": {"items": {"properties": {"c": {"default": 2}}}},
            "d": {"default": 3},
        }
    }
    *_, before, last = resolutions(schema, ['{"b": [{}, {"c": 5}], "d": 4', "}"])
    assert before.value == {"b": [{}, {"c": 5}]}
    assert last.value == {"b": [{"c": 2}, {"c": 5}], "d": 4, "a": [1]}
    assert last.value["a"] is not schema["properties"]["a"]["default"]  # type: ignore[index]


def test_defaults_are_in_what_the_end_accepts_if_they_fit() -> None:
    good = {"properties": {"a": {"default": [1]}, "b": {}}}
    last = closed(good, '{"b": {}}')
    assert last.model is last.value
    assert last.model == {"b": {}, "a": [1]}
    bad = {"properties": {"a": {"type": "string", "default": None}, "b": {}}}
    last = closed(bad, '{"b": {}}')
    assert (last.status, last.model, last.value) == (Status.FINAL, {"b": {}}, {"b": {}})


def test_constraints_are_checked_when_their_value_closes() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "minLength": 3}, "b": {"minItems": 2}}}
    for chunks in every('{"a": "xy", "b": [1], "c": '):
        last = resolutions(schema, chunks)[-1]
        assert [(error.path, error.reason) for error in last.errors] == [
            (("a",), MismatchReason.INVALID),
            (("b",), MismatchReason.WRONG_LENGTH),
        ]
        # A string that was shown stays; what is wrong with it is said.
        assert last.value == {"a": "xy", "b": [1]}


def test_unknown_keys_are_kept_forbidden_or_typed_as_the_schema_says() -> None:
    state = fed(whole('{"a": 1, "more": "x", '))
    known = {"type": "object", "properties": {"a": {}}}
    assert from_json_ast(known, state).value == {"a": 1, "more": "x"}
    assert from_json_ast({**known, "additionalProperties": {"type": "string"}}, state).value == {"a": 1, "more": "x"}
    forbidden = from_json_ast({**known, "additionalProperties": False}, state)
    assert forbidden.value == {"a": 1}
    assert [(error.path, error.reason) for error in forbidden.errors] == [(("more",), MismatchReason.UNKNOWN_KEY)]


@pytest.mark.parametrize("key", ["", "__class__", "__proto__", "a.b", "[0]", "\\", "$ref", "constructor", "é" * 300])
def test_hostile_keys_are_just_keys(key: str) -> None:
    schema = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    text = json.dumps({key: "x"})
    assert from_json_ast(schema, fed(whole(text))).value == {key: "x"}
    assert from_json_ast(schema, fed(whole("{}"))).errors[0].path == (key,)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"$ref": "#"}, "leads back to itself"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "back to itself"),
        ({"anyOf": [{"type": "string"}, {"$ref": "#"}]}, "leads back to itself"),
        ({"allOf": [{"$ref": "#"}]}, "leads back to itself"),
        ({"$ref": "#/$defs/none"}, "points nowhere"),
        ({"$ref": "https://example.org/schema.json"}, "points outside of the schema"),
        ({"$ref": "other.json#/a"}, "points outside of the schema"),
        ({"$ref": 1}, "must be a string"),
        ({"$dynamicRef": "#a"}, "is not supported"),
        ({"type": "strng"}, "'type' must be one of"),
        ({"type": 1}, "'type' must be one of"),
        ({"properties": []}, "'properties' must be an object"),
        ({"properties": {"a": 1}}, "must be an object or a boolean, not 1"),
        ({"required": "a"}, "'required' must be an array"),
        ({"required": [1]}, "'required' must have strings"),
        ({"anyOf": {}}, "'anyOf' must be an array"),
        ({"anyOf": [1]}, "must be an object or a boolean"),
        ({"items": 1}, "must be an object or a boolean"),
        ({"minItems": "1"}, "'minItems' must be a number"),
        ({"patternProperties": {"[": {}}}, "is not valid"),
        ({"enum": 1}, "'enum' must be an array"),
        ({"type": {"string"}}, "must be JSON"),
    ],
)
def test_a_schema_that_is_none_says_where_and_why(schema: Any, words: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match=words) as caught:
        from_json_ast(schema, create_parser_state())
    assert caught.value.where.startswith("#")


def test_a_constraint_that_is_none_is_refused_when_it_is_needed() -> None:
    schema = {"properties": {"a": {"type": "string", "minLength": "x"}}}
    with pytest.raises(UnsupportedSchemaError, match="not of type 'integer'") as caught:
        from_json_ast(schema, fed(whole('{"a": "x"')))
    assert caught.value.where == "#/properties/a/minLength"


def test_a_schema_may_be_deep_but_not_without_end() -> None:
    schema: Any = {"type": "string"}
    for _ in range(300):
        schema = {"items": schema}
    assert from_json_ast(schema, fed(whole("[" * 300 + '"x'))).status is Status.PARTIAL
    assert from_json_ast(schema, fed(whole("[" * 300 + "1 "))).status is Status.MISMATCH
    for _ in range(3_000):
        schema = {"anyOf": [schema, {"type": "null"}]}
    with pytest.raises(UnsupportedSchemaError, match="too deep"):
        from_json_ast(schema, create_parser_state())


def test_unknown_keywords_are_annotations() -> None:
    schema = {"type": "string", "x-widget": "area", "examples": [1], "markdownDescription": 3}
    assert from_json_ast(schema, fed(whole('"a"'))).status is Status.FINAL


def test_boolean_schemas_are_schemas() -> None:
    assert from_json_ast(True, fed(whole("[1]"))).status is Status.FINAL  # noqa: FBT003
    assert from_json_ast(False, fed(whole("[1]"))).status is Status.MISMATCH  # noqa: FBT003


def test_empty_input_is_pending_and_ends_as_an_error_of_the_text() -> None:
    resolution = from_json_ast({"type": "object"}, finalize(create_parser_state()))
    assert (resolution.status, resolution.value, resolution.errors) == (Status.PENDING, MISSING, ())


def test_bad_text_leaves_what_was_shown() -> None:
    resolution = from_json_ast({"type": "object"}, fed(whole('{"a": 1, "b": x')))
    assert (resolution.status, resolution.value) == (Status.PARTIAL, {"a": 1})


WITHOUT = """
import sys
for name in ("jsonschema", "pydantic", "pydantic_core"):
    sys.modules[name] = None
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in ("jsonschema", "pydantic") else found(name, *rest)
from jsontide import create_parser_state, parse_chunk
from jsontide.schema import from_json_ast
schema = {"type": "object", "properties": {"a": {"type": "string", "minLength": 3}, "b": {"type": "integer"}}}
state = parse_chunk(create_parser_state(), '{"a": "x", "b": ""')
resolution = from_json_ast(schema, state)
print(resolution.value, [error.path for error in resolution.errors])
for schema, chunk in ((schema, "}"), (int, "")):
    try:
        from_json_ast(schema, parse_chunk(state, chunk), resolution)
    except ImportError as error:
        print(error)
"""


def test_a_json_schema_needs_no_package_before_the_end_and_then_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, check=True, text=True)
    assert done.stdout.splitlines() == [
        "{'a': 'x'} [('b',)]",
        "the end of a document with a JSON Schema needs the package jsonschema: pip install 'jsontide[jsonschema]'",
        "a schema that is a type needs the package pydantic: pip install 'jsontide[pydantic]'",
    ]
