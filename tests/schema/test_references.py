"""References in JSON Schemas: every form leads to a place in the schema, and none leads out of it."""

import json
import socket
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft7Validator, Draft202012Validator
from referencing import Registry

from jsontide import create_parser_state, finalize, parse_chunk
from jsontide.messages import MessageConfig, Tool, start_message
from jsontide.schema import MismatchReason, Status, UnsupportedSchemaError, from_json_ast
from tests.cuts import every, fed, whole
from tests.schema.resolving import closed, resolutions
from tests.strategies import examples

OLD = "http://json-schema.org/draft-07/schema#"

# Each takes the schema that stands there.
PLACES: dict[str, Any] = {
    "root": lambda inner: inner,
    "not": lambda inner: {"not": inner},
    "if": lambda inner: {"if": inner},
    "then": lambda inner: {"if": True, "then": inner},
    "else": lambda inner: {"if": False, "else": inner},
    "dependentSchemas": lambda inner: {"dependentSchemas": {"a": inner}},
    "dependencies": lambda inner: {"$schema": OLD, "dependencies": {"a": inner}},
    "propertyNames": lambda inner: {"propertyNames": inner},
    "unevaluatedProperties": lambda inner: {"unevaluatedProperties": inner},
    "unevaluatedItems": lambda inner: {"unevaluatedItems": inner},
    "contains": lambda inner: {"contains": inner},
    "contentSchema": lambda inner: {"contentSchema": inner},
    "additionalProperties": lambda inner: {"additionalProperties": inner},
    "additionalItems": lambda inner: {"$schema": OLD, "items": [True], "additionalItems": inner},
    "items": lambda inner: {"items": inner},
    "prefixItems": lambda inner: {"prefixItems": [inner]},
    "properties": lambda inner: {"properties": {"default": inner}},
    "patternProperties": lambda inner: {"patternProperties": {"a": inner}},
    "allOf": lambda inner: {"allOf": [inner]},
    "anyOf": lambda inner: {"anyOf": [inner, {"type": "string"}]},
    "oneOf": lambda inner: {"oneOf": [inner, {"type": "string"}]},
    "$defs": lambda inner: {"$defs": {"never used": inner}},
    "definitions": lambda inner: {"definitions": {"enum": inner}},
    "nullable": lambda inner: {"not": {**inner, "nullable": True}},
    "inside not": lambda inner: {"not": {"allOf": [{"if": {"items": inner}}]}},
    "an unknown keyword": lambda inner: {"x-own": [[{"deeper": inner}]], "not": {"$ref": "#/x-own/0/0/deeper"}},
    "an unknown keyword that nothing uses": lambda inner: {"components": {"schemas": {"a": inner}}},
}
OUTSIDE = [
    "http://127.0.0.1:9/schema.json",
    "https://json-schema.org/draft/2020-12/schema",
    "file:///etc/hostname",
    "ftp://example.org/a#/b",
    "//example.org/a",
    "other.json",
    "/etc/hostname#",
    "http://[x",
    "data:application/json,{}",
]


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whatever opens an address fail with what nobody catches."""

    def refuse(*_: object, **__: object) -> None:
        raise KeyboardInterrupt("something was opened")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("ref", OUTSIDE)
def test_a_reference_to_the_outside_is_refused_wherever_it_stands(place: str, ref: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match="points outside of the schema"):
        from_json_ast(PLACES[place]({"$ref": ref}), create_parser_state())


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("ref", ["#/nope", "#nope", "#/allOf/7", "#/allOf/00", "#/x/" + "9" * 5_000, "#/%"])
def test_a_reference_to_nothing_is_refused_when_the_schema_is_read(place: str, ref: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match="points nowhere"):
        from_json_ast(PLACES[place]({"$ref": ref}), create_parser_state())


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("ref", [5, None, ["#"], {"a": "#"}])
def test_a_reference_that_is_no_text_is_refused_when_the_schema_is_read(place: str, ref: object) -> None:
    for dialect in ({}, {"$schema": "http://json-schema.org/draft-04/schema#"}):
        with pytest.raises(UnsupportedSchemaError):
            from_json_ast({**PLACES[place]({"$ref": ref}), **dialect}, create_parser_state())


@pytest.mark.parametrize("keyword", ["$dynamicRef", "$recursiveRef"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("ref", ["#", "http://127.0.0.1:9/schema.json"])
def test_references_that_depend_on_the_way_are_refused_wherever_they_stand(place: str, keyword: str, ref: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match="is not supported"):
        from_json_ast(PLACES[place]({keyword: ref}), create_parser_state())


def test_the_text_of_a_file_appears_nowhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"const": "the secret"}')
    with pytest.raises(UnsupportedSchemaError) as caught:
        from_json_ast({"if": True, "then": {"$ref": secret.as_uri()}}, fed(whole('"x"')))
    assert "the secret" not in str(caught.value)
    assert caught.value.where == "#/then"


def test_a_part_named_like_a_file_or_an_address_is_that_part() -> None:
    schema = {
        "not": {"$ref": "file:///etc/hostname"},
        "$defs": {"a": {"$id": "file:///etc/hostname", "type": "string"}},
    }
    assert closed(schema, "1").status is Status.FINAL
    assert closed(schema, '"a"').status is Status.MISMATCH


def test_a_tool_with_such_a_schema_is_refused_before_a_stream_begins() -> None:
    for ref in ("http://127.0.0.1:9/", "#/nope"):
        tool = Tool("look", {"type": "object", "not": {"$ref": ref}})
        with pytest.raises(UnsupportedSchemaError):
            start_message(MessageConfig(tools=[tool]))


def test_a_reference_in_data_is_data() -> None:
    data = {"$ref": "http://127.0.0.1:9/", "$dynamicRef": "#", "$id": 5}
    schema = {"enum": [data, 1], "default": data, "examples": [data], "properties": {"$ref": {"type": "string"}}}
    assert from_json_ast(schema, fed(whole(json.dumps(data)))).value == data


@pytest.mark.parametrize("ref", ["#/enum/0", "#/default", "#/properties", "#/$defs", "#/title"])
def test_a_reference_to_what_is_no_schema_is_refused(ref: str) -> None:
    data = {"$ref": "http://127.0.0.1:9/"}
    schema = {"enum": [data], "default": data, "properties": {}, "$defs": {}, "title": "a", "not": {"$ref": ref}}
    with pytest.raises(UnsupportedSchemaError, match="not a schema"):
        from_json_ast(schema, create_parser_state())


TEXT = {"type": "string"}
NAMED: dict[str, Any] = {
    "an anchor": {"items": {"$ref": "#text"}, "$defs": {"a": {"$anchor": "text", **TEXT}}},
    "a dynamic anchor": {"items": {"$ref": "#text"}, "$defs": {"a": {"$dynamicAnchor": "text", **TEXT}}},
    "an id": {"items": {"$ref": "text.json"}, "$defs": {"a": {"$id": "text.json", **TEXT}}},
    "an id below another": {
        "$id": "https://example.org/all/root.json",
        "items": {"$ref": "text.json#/$defs/deep"},
        "$defs": {"a": {"$id": "text.json", "type": "integer", "$defs": {"deep": TEXT}}},
    },
    "the whole address": {
        "$id": "https://example.org/all/root.json",
        "items": {"$ref": "https://example.org/all/text.json"},
        "$defs": {"a": {"$id": "text.json", **TEXT}},
    },
    "a pointer from the part around": {
        "items": {"$id": "part.json", "$ref": "#/$defs/a", "$defs": {"a": TEXT}},
        "$defs": {"a": {"type": "integer"}},
    },
    "the same pointer from two parts": {
        "prefixItems": [
            {"$id": "one.json", "not": {"$ref": "#/$defs/a"}, "$defs": {"a": TEXT}},
            {"$id": "two.json", "not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "integer"}}},
        ],
    },
    "the same anchor in two parts": {
        "items": {"$ref": "#a"},
        "$defs": {"a": {"$anchor": "a", **TEXT}, "b": {"$id": "b.json", "$defs": {"a": {"$anchor": "a"}}}},
    },
    "a key with a slash in an address": {"items": {"$ref": "#/$defs/a%2Fb"}, "$defs": {"a": {"b": TEXT}, "a/b": True}},
    "keys to be escaped": {
        "items": {"$ref": "x.json#/$defs/b"},
        "$defs": {"a/~%41": {"$id": "x.json", "$defs": {"b": TEXT}}},
    },
}
OLDER: dict[str, Any] = {
    "an id that is an anchor": {"items": {"$ref": "#text"}, "definitions": {"a": {"$id": "#text", **TEXT}}},
    "an id beside a reference": {
        "items": {"$id": "part.json", "$ref": "#/definitions/a"},
        "definitions": {"a": TEXT},
    },
}
OLDEST: dict[str, Any] = {
    "an id": {"items": {"$ref": "text.json"}, "definitions": {"a": {"id": "text.json", **TEXT}}},
}
VALUES: list[Any] = [["a"], [1], [], ["a", 1], [1, "a"], [1, 1], 3]


@pytest.mark.parametrize(
    ("dialect", "schema"),
    [
        *((Draft202012Validator, schema) for schema in NAMED.values()),
        *((Draft7Validator, {"$schema": OLD, **schema}) for schema in OLDER.values()),
        *(
            (Draft4Validator, {"$schema": "http://json-schema.org/draft-04/schema#", **schema})
            for schema in OLDEST.values()
        ),
    ],
    ids=[*NAMED, *OLDER, *OLDEST],
)
def test_every_name_of_a_part_leads_to_it(dialect: Any, schema: Any) -> None:
    oracle = dialect(schema, registry=Registry())
    for value in VALUES:
        wanted = Status.FINAL if oracle.is_valid(value) else Status.MISMATCH
        assert closed(schema, json.dumps(value)).status is wanted, value


def test_a_mismatch_through_a_name_is_reported_while_the_text_grows() -> None:
    for chunks in every('["a", 1, '):
        (error,) = resolutions(NAMED["an id below another"], chunks)[-1].errors
        assert (error.path, error.reason) == ((1,), MismatchReason.WRONG_TYPE)


def test_a_part_that_names_its_dialect_is_bounded_like_the_rest() -> None:
    hostile = {"$schema": "https://json-schema.org/draft/2020-12/schema", "pattern": "^(a|a)*$"}
    assert closed({"type": "string", "not": hostile}, json.dumps("a" * 60 + "b")).status is Status.FINAL


def test_a_schema_cannot_use_the_keywords_that_types_use() -> None:
    for keyword in ("also", "attributes", "check", "extra", "before"):
        schema = {"type": "object", f"x-jsontide-{keyword}": 5}
        assert from_json_ast(schema, fed(whole('{"a": 1}'))).status is Status.FINAL


WRONG: dict[str, Any] = {
    "an address that is none": {"$schema": "http://["},
    "an address with a character that is none": {"$id": "http://\u2100.com"},
    "a dialect that is no text": {"$schema": []},
    "an id that is no text": {"$id": []},
    "an anchor that is none": {"$anchor": "http://["},
    "a vocabulary that is none": {"$vocabulary": {"http://[": 1}},
    "a length that is no number": {"minLength": "3"},
    "a pattern that is none": {"pattern": "("},
    "a type that is none": {"type": 5},
}


# Older dialects do not have all of these keywords, and what nothing uses may be anything.
USED = [place for place in PLACES if "$schema" not in PLACES[place]({}) and not place.endswith("nothing uses")]


@pytest.mark.parametrize("place", USED)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_keyword_with_a_wrong_value_is_refused_when_the_schema_is_read(place: str, wrong: str) -> None:
    with pytest.raises(UnsupportedSchemaError):
        from_json_ast(PLACES[place](WRONG[wrong]), create_parser_state())


def test_a_part_that_is_a_boolean_is_read_like_others() -> None:
    schema = {"uniqueItems": True, "items": {"$ref": "#/own"}, "own": True}
    assert closed(schema, "[1]").status is Status.FINAL


def test_a_nullable_member_may_have_any_name() -> None:
    schema = {"properties": {"example": {"type": "string", "nullable": True}}}
    assert from_json_ast(schema, fed(whole('{"example": null}'))).status is Status.FINAL


@pytest.mark.parametrize("schema", [{"if": {"$ref": "#"}}, {"unevaluatedItems": {"$ref": "#"}}])
def test_a_reference_without_end_is_too_complex_wherever_the_recursion_ends(schema: Any) -> None:
    def at_depth(depth: int) -> Status:
        if depth:
            return at_depth(depth - 1)
        return closed(schema, "[" * 300 + "]" * 300).status

    assert all(at_depth(depth) in (Status.FINAL, Status.MISMATCH) for depth in range(12))


REFS = st.sampled_from(
    [
        *("#", "#/$defs/a", "#/$defs/b", "#/not", "#/$defs/none", "#a", "#b", "a.json", "a.json#/not", "b.json#a"),
        *("http://127.0.0.1:9/", "file:///etc/hostname", "#/properties/x", "#/allOf/0", "#/%25", ""),
    ]
)
NAMES = st.fixed_dictionaries(
    {},
    optional={
        "$ref": REFS,
        "$id": st.sampled_from(["a.json", "b.json", "https://example.org/c/"]),
        "$anchor": st.sampled_from(["a", "b"]),
        "type": st.sampled_from(["string", "integer", "object", "array"]),
    },
)


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    one = ("not", "if", "then", "else", "contains", "propertyNames", "items", "additionalProperties", "x-own")
    several = st.lists(inner, min_size=1, max_size=2)
    named = st.dictionaries(st.sampled_from(["a", "b", "x", "enum"]), inner, max_size=2)
    found: dict[Any, Any] = {
        **dict.fromkeys([*one, "unevaluatedProperties"], inner),
        **dict.fromkeys(["allOf", "anyOf", "prefixItems"], several),
        **dict.fromkeys(["$defs", "properties", "dependentSchemas"], named),
    }
    parts = st.dictionaries(st.sampled_from(sorted(found)), st.none(), max_size=3).flatmap(
        lambda drawn: st.fixed_dictionaries({key: found[key] for key in drawn})
    )
    return st.builds(lambda names, more: {**names, **more}, NAMES, parts)


SCHEMAS = st.recursive(st.one_of(NAMES, st.booleans()), around, max_leaves=8)
TEXTS = ['"a"', "1", '{"x": {"a": 1}, "b": "c"}', '[1, "a", {}]', "[[]]"]


@examples(2)
@given(SCHEMAS, st.sampled_from(TEXTS))
def test_a_schema_is_refused_when_it_is_read_or_never(schema: Any, text: str) -> None:
    try:
        last = from_json_ast(schema, create_parser_state())
    except UnsupportedSchemaError:
        return
    state = create_parser_state()
    for character in text:
        state = parse_chunk(state, character)
        last = from_json_ast(schema, state, last)
    last = from_json_ast(schema, finalize(state), last)
    assert last.status in (Status.FINAL, Status.MISMATCH)
