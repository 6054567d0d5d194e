"""Policies by annotation, by keyword and by override: the same words do the same."""

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from jsontide import MISSING, PathSyntaxError
from jsontide.schema import Done, Gate, Status, Stream, UnsupportedSchemaError, from_json_ast, to_json_schema
from tests.cuts import every, fed, singles, whole
from tests.relations import grows
from tests.schema.resolving import resolutions, said
from tests.strategies import cut, examples

TEXT = (
    '{"city": "Porto", "nights": 3, "days": [{"title": "Arrive", "note": "by train"}, {"title": "Rest", "note": ""}]}'
)


class Day(BaseModel):
    title: Annotated[str, Done()]
    note: Annotated[str, Stream()]


class Trip(BaseModel):
    city: str
    nights: Annotated[int, Gate()]
    days: list[Day]


class PlainDay(BaseModel):
    title: str
    note: str


class PlainTrip(BaseModel):
    city: str
    nights: int
    days: list[PlainDay]


def keywords(**words: str) -> dict[str, Any]:
    day = {
        "type": "object",
        "properties": {"title": {"type": "string", "x-stream": "done"}, "note": {"type": "string", "x-stream": "grow"}},
    }
    return {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "nights": {"type": "integer", "x-stream": "gate"},
            "days": {"type": "array", "items": day},
        },
        **words,
    }


POLICIES = {"days[*].title": Done(), "nights": Gate(), "days[*].note": Stream()}
WAYS = [(Trip, None), (PlainTrip, POLICIES), (keywords(), None)]


@pytest.mark.parametrize(("schema", "policies"), WAYS, ids=["annotations", "overrides", "keywords"])
def test_each_way_shows_the_same_at_every_cut(schema: Any, policies: Any) -> None:
    expected = {
        '{"city": "Porto", "nights": 3': MISSING,
        '{"city": "Porto", "nights": 3,': {"city": "Porto", "nights": 3},
        '{"city": "Porto", "nights": 3, "days": [{"title": "Arr': {"city": "Porto", "nights": 3, "days": [{}]},
        TEXT[: TEXT.index(" train")]: {
            "city": "Porto",
            "nights": 3,
            "days": [{"title": "Arrive", "note": "by"}],
        },
    }
    for prefix, value in expected.items():
        for chunks in every(prefix):
            assert resolutions(schema, chunks, policies=policies)[-1].value == value


@examples(1)
@given(st.sampled_from(WAYS), st.data())
def test_values_grow_under_policies_too(way: tuple[Any, Any], data: st.DataObject) -> None:
    old: Any = MISSING
    for resolution in resolutions(way[0], data.draw(cut(TEXT)), policies=way[1]):
        assert grows(old, resolution.value)
        old = resolution.value
    assert resolution.status is Status.FINAL


def test_a_gate_that_never_comes_opens_when_its_object_closes() -> None:
    gated = {
        "type": "array",
        "items": {"type": "object", "properties": {"id": {"type": "integer", "x-stream": "gate"}}},
    }
    assert from_json_ast(gated, fed(whole('[{"a": 1'))).value == []
    assert from_json_ast(gated, fed(whole('[{"a": 1}'))).value == [{"a": 1}]


def test_a_gate_that_does_not_fit_stays_shut() -> None:
    gated = {
        "type": "array",
        "items": {"type": "object", "properties": {"id": {"type": "integer", "x-stream": "gate"}}},
    }
    resolution = from_json_ast(gated, fed(whole('[{"a": 1, "id": "x"}, {"id": 2, "a": 3}')))
    assert resolution.value == []
    assert [error.path for error in resolution.errors] == [(0, "id")]


def test_all_gates_of_an_object_must_be_closed() -> None:
    gate = {"type": "string", "x-stream": "gate"}
    schema = {"type": "object", "properties": {"a": gate, "b": gate}}
    shown = [resolution.value for resolution in resolutions(schema, ['{"b": "x"', ', "a": "', 'y"', ', "c": [1,'])]
    assert shown == [MISSING, MISSING, MISSING, {"b": "x", "a": "y"}, {"b": "x", "a": "y", "c": [1]}]


def test_done_holds_for_arrays_objects_and_the_root() -> None:
    schema = {"type": "object", "properties": {"list": {"type": "array", "x-stream": "done"}}}
    found = resolutions(schema, ['{"list": [1', ", 2", "]"])
    assert [resolution.value for resolution in found] == [MISSING, {}, {}, {"list": [1, 2]}]
    whole_only = {"type": "object", "x-stream": "done"}
    assert [each.value for each in resolutions(whole_only, ['{"a": 1', "}"])] == [MISSING, MISSING, {"a": 1}]


def test_a_policy_beside_a_reference_counts() -> None:
    schema = {
        "type": "object",
        "properties": {"now": {"$ref": "#/$defs/text"}, "later": {"$ref": "#/$defs/text", "x-stream": "done"}},
        "$defs": {"text": {"type": "string"}},
    }
    assert from_json_ast(schema, fed(whole('{"now": "a", "later": "b'))).value == {"now": "a"}
    assert from_json_ast(schema, fed(whole('{"later": "a", "now": "b'))).value == {"later": "a", "now": "b"}


class Chain(BaseModel):
    name: str
    next: "Chain | None" = None


def test_an_override_changes_one_place_of_a_recursive_schema() -> None:
    policies = {"next.name": Done()}
    text = '{"name": "a", "next": {"name": "b'
    assert from_json_ast(Chain, fed(whole(text)), policies=policies).value == {"name": "a", "next": {}}
    deeper = text + '", "next": {"name": "c'
    expected = {"name": "a", "next": {"name": "b", "next": {"name": "c"}}}
    assert from_json_ast(Chain, fed(whole(deeper)), policies=policies).value == expected
    assert from_json_ast(Chain, fed(whole(text))).value == {"name": "a", "next": {"name": "b"}}


@pytest.mark.parametrize(
    ("policies", "text", "shown"),
    [
        ({"root": Done()}, '{"a": 1', MISSING),
        ({"*": Done()}, '{"a": "x", "b": "y', {"a": "x"}),
        ({"b[0]": Done()}, '{"b": ["x', {"b": []}),
        ({"b[0]": Done()}, '{"b": ["x", "y', {"b": ["x", "y"]}),
        ({"b[*]": Done()}, '{"b": ["x", "y', {"b": ["x"]}),
        ({'["odd key"]': Done()}, '{"odd key": "x', {}),
        ({("b", 0): Done()}, '{"b": ["x', {"b": []}),
        ({("odd key",): Done(), "a": Done()}, '{"odd key": "x', {}),
    ],
)
def test_overrides_name_places_as_patterns_do(policies: Any, text: str, shown: Any) -> None:
    words = {"type": "array", "items": {"type": "string"}}
    schema = {
        "type": "object",
        "properties": {"a": {}, "b": {"anyOf": [words, {"type": "string"}]}},
        "additionalProperties": {"type": "string"},
    }
    assert from_json_ast(schema, fed(whole(text)), policies=policies).value == shown


def test_wrong_overrides_say_what_is_wrong() -> None:
    state = fed(whole("{"))
    with pytest.raises(ValueError, match=r"policies: 'days\.title' matches nothing in the schema"):
        from_json_ast(Trip, state, policies={"days.title": Done()})
    with pytest.raises(ValueError, match="matches nothing in the schema"):
        from_json_ast(Trip, state, policies={"days[0:2].title": Done()})
    with pytest.raises(TypeError, match=r"must be Stream\(\), Done\(\) or Gate\(\), not 'done'"):
        from_json_ast(Trip, state, policies={"city": "done"})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="policies must be a mapping from patterns to policies, not Done"):
        from_json_ast(Trip, state, policies=Done())  # type: ignore[call-overload]
    with pytest.raises(PathSyntaxError):
        from_json_ast(Trip, state, policies={"days[": Done()})


@pytest.mark.parametrize("word", ["stream", 1, None, ["done"]])
def test_a_wrong_keyword_says_what_is_accepted(word: Any) -> None:
    with pytest.raises(UnsupportedSchemaError, match="'grow', 'done', 'gate'"):
        from_json_ast({"properties": {"a": {"type": "string", "x-stream": word}}}, fed(whole("{")))


def test_policies_change_nothing_at_the_end() -> None:
    last = [resolutions(schema, singles(TEXT), policies=policies)[-1] for schema, policies in WAYS]
    assert {resolution.status for resolution in last} == {Status.FINAL}
    assert said(last[2])[1] == said(last[0])[1] == said(last[1])[1]


def test_the_json_schema_for_a_provider_has_no_policies_but_keeps_keys_and_data_of_their_name() -> None:
    inner = {"type": "object", "properties": {"x-stream": {"type": "string", "x-stream": "done"}}}
    written = to_json_schema({**inner, "x-stream": "gate", "default": {"x-stream": "a"}})
    assert written == {
        "type": "object",
        "properties": {"x-stream": {"type": "string"}},
        "default": {"x-stream": "a"},
    }
    assert inner["properties"] == {"x-stream": {"type": "string", "x-stream": "done"}}
