"""Types as schemas: at the end what pydantic says, and before it nothing that pydantic would not."""

import json
from collections.abc import Iterable
from ipaddress import IPv4Address
from itertools import pairwise
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    BaseModel,
    BeforeValidator,
    ModelWrapValidatorHandler,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from jsontide import MISSING
from jsontide.schema import Status, from_json_ast
from tests.cuts import fed, prefixes, singles, states_along, whole
from tests.relations import grows, strays
from tests.schema.kinds import TYPES, Dog, Everything, Point, Rules, Stop, Strict, Tree
from tests.schema.resolving import resolutions, resolutions_to_end, resolved_in_turn, said
from tests.seeded import spell
from tests.strategies import cut, examples, randoms, some_value


def validated(schema: Any, text: str) -> Any:
    """What pydantic makes of a whole text, `MISSING` if it refuses it."""
    try:
        return TypeAdapter(schema).validate_json(text)
    except ValidationError:
        return MISSING


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, str]:
    """The name of a type, and a text for it that mostly fits."""
    name = draw(st.sampled_from(sorted(TYPES)))
    random = draw(randoms)
    schema = TypeAdapter(TYPES[name]).json_schema()
    wrong = random.choice((0.0, 0.0, 0.05, 0.3))
    return name, spell(some_value(schema, schema, random, wrong), random)


@examples(8)
@given(documents(), st.data())
def test_the_end_is_that_of_pydantic(document: tuple[str, str], data: st.DataObject) -> None:
    name, text = document
    last = resolutions_to_end(TYPES[name], data.draw(cut(text)))[-1]
    expected = validated(TYPES[name], text)
    assert (last.status is Status.FINAL) is (expected is not MISSING)
    assert last.model == expected
    assert type(last.model) is type(expected)


@examples(8)
@given(documents(), st.data())
def test_values_grow_keep_their_identity_and_hang_on_no_cut(document: tuple[str, str], data: st.DataObject) -> None:
    name, text = document
    chunks = data.draw(cut(text))
    found = resolved_in_turn(TYPES[name], states_along(chunks))
    for resolution, prefix in zip(found, prefixes(chunks), strict=True):
        assert said(resolution) == said(from_json_ast(TYPES[name], fed(whole(prefix))))
    for before, after in pairwise(found):
        if after.status is not Status.FINAL:
            assert grows(before.value, after.value)
        assert not strays(before.value, after.value)


OVERRULED = ("everything", "list of unions", "untagged union")
"""With unions of lax types: there only pydantic's last word is sure."""


@examples(8)
@given(documents())
def test_a_mismatch_before_the_end_is_one_at_the_end(document: tuple[str, str]) -> None:
    name, text = document
    states = states_along(singles(text))
    found = resolved_in_turn(TYPES[name], states)
    early = [resolution for resolution in found if resolution.status is Status.MISMATCH]
    if early and name not in OVERRULED:
        assert validated(TYPES[name], text) is MISSING


@pytest.mark.parametrize(
    ("schema", "text", "shown"),
    [
        (int, '"12"', 12),
        (int, "12.0 ", 12),
        (float, "12 ", 12),
        (bool, '"yes"', True),
        (Literal["al", 1], "true", 1),
        (Literal[1, True], "1.0 ", 1),
        (dict[str, int], '{"a": "12"', {"a": 12}),
        (Strict, '{"count": "12"', {}),
        (Strict, '{"count": 12, "more": [1', {"count": 12, "more": []}),
        (Point, '{"lat": "1.5", "lon": 2, ', {"lat": 1.5, "lon": 2}),
        (Stop, '{"place": "Ko", "unknown": 1, "minutes": 3', {"place": "Ko"}),
        (Everything, '{"when": 1700000000, "seen": [1, 1', {"when": 1700000000, "seen": [1]}),
    ],
)
def test_what_pydantic_converts_is_shown_as_it_will_be(schema: Any, text: str, shown: Any) -> None:
    assert from_json_ast(schema, fed(whole(text))).value == shown


@pytest.mark.parametrize(
    ("schema", "text", "path", "words"),
    [
        (Strict, '{"count": "12"', ("count",), "integer"),
        (Rules, '{"name": "a"', ("name",), "at least 2 characters"),
        (Rules, '{"name": "A4"', ("name",), "pattern"),
        (Rules, '{"even": 3,', ("even",), "must be even"),
        (Rules, '{"Big": 3,', ("Big",), "greater than or equal to 10"),
        (Point, '{"height": 3', ("height",), "no other keys"),
        (Point, '{"lat": 3}', ("lon",), "a number"),
        (Tree, '{"name": "a", "children": [{"name": "b"}, {}', ("children", 1, "name"), "a string"),
        (Everything, '{"mood": "c"', ("mood",), '"calm", "curious"'),
        (Everything, '{"pet": {"kind": "emu"', ("pet",), "Cat"),
    ],
)
def test_what_pydantic_refuses_is_reported_when_it_closes(schema: Any, text: str, path: Any, words: str) -> None:
    resolution = from_json_ast(schema, fed(whole(text)))
    assert resolution.status is Status.MISMATCH
    (error,) = resolution.errors
    assert error.path == path
    assert words in error.expected


def test_defaults_are_shown_at_the_end_only_and_only_where_nothing_arrived() -> None:
    text = '{"title": "a", "pet": {"kind": "cat"}, "tree": {"name": "b"}}'
    found = resolved_in_turn(Everything, states_along(list(text)))
    written = json.loads(text)
    assert found[-2].value == written
    assert found[-1].status is Status.FINAL
    last: Any = found[-1].value
    assert last["mood"] == "calm"
    assert last["pet"] == {"kind": "cat", "lives": 9}
    assert last["tree"] == {"name": "b", "children": []}
    assert last["title"] is found[-2].value["title"]  # type: ignore[index, call-overload]
    assert found[-1].model == Everything.model_validate_json(text)


def test_a_tag_is_wanted_even_if_it_has_a_default() -> None:
    resolution = from_json_ast(TYPES["tagged union"], fed(whole('{"tricks": []}')))
    assert resolution.status is Status.MISMATCH
    assert from_json_ast(Dog, fed(whole('{"tricks": []}'))).model == Dog()


def test_a_rule_of_the_whole_model_is_asked_at_the_end() -> None:
    text = '{"name": "é", "even": 2}'
    assert from_json_ast(Rules, fed(whole(text))).status is Status.MISMATCH
    assert from_json_ast(Rules, fed(whole('{"name": "ab", "even": 2}'))).status is Status.FINAL


class Renamed(BaseModel):
    """As programs do that have met many models: repair whatever can be repaired."""

    name: str
    age: int = 0

    @model_validator(mode="before")
    @classmethod
    def repair(cls, value: Any) -> Any:
        match value:
            case str():
                return {"name": value}
            case [name, *_]:
                return {"name": name}
            case {"title": title}:
                return {"name": title}
        return value


class Corrected(BaseModel):
    """With functions that ask which field a value belongs to, so that they cannot be called before the end."""

    level: Literal["low", "high"] = "low"
    count: int = 0
    who: Renamed | None = None

    @field_validator("level", "count", "who", mode="before")
    @classmethod
    def repair(cls, value: Any, info: ValidationInfo) -> Any:
        known = {"level": "high", "count": 1, "who": None}
        return known[str(info.field_name)] if value in ("?", [], {}) else value


class Wrapped(BaseModel):
    """A recursive one."""

    size: int = 0
    inner: list["Wrapped"] = []

    @model_validator(mode="wrap")
    @classmethod
    def repair(cls, value: Any, validated: ModelWrapValidatorHandler["Wrapped"]) -> "Wrapped":
        return cls() if value in ([], {"size": None}) else validated(value)


CORRECTED = [
    (Renamed, '{"title": "Ada"}'),
    (Renamed, '["Ada", 1]'),
    (Renamed, '"Ada"'),
    (Corrected, '{"level": "?", "count": "?", "who": "?"}'),
    (Corrected, '{"level": [], "count": {}, "who": []}'),
    (Corrected, '{"who": {"title": "Ada", "age": 3}}'),
    (Wrapped, '{"size": null}'),
    (Wrapped, '{"inner": [{"inner": [[], {"size": null}]}, []]}'),
    (Annotated[int, BeforeValidator(round)], "1.5"),
    (Annotated[int, BeforeValidator(len)], "[1, 2]"),
    (Annotated[Literal[1], BeforeValidator(len)], '{"a": {"b": []}}'),
    (IPv4Address, "16909060"),
    (Iterable[int], '["a"]'),
]


@pytest.mark.parametrize(("schema", "text"), CORRECTED)
def test_what_a_function_may_mend_before_it_is_validated_is_no_mismatch(schema: Any, text: str) -> None:
    found = resolutions(list[schema], singles(f"[{text}, {text}]"))
    assert not any(resolution.errors for resolution in found)
    assert found[-1].status is Status.FINAL


@pytest.mark.parametrize(
    ("schema", "text", "path"),
    [
        (Renamed, '[{"name": 1}, ', (0, "name")),
        (Renamed, '[{"age": 1}, ', (0, "name")),
        (Renamed, "[1, ", (0,)),
        (Annotated[int, BeforeValidator(lambda value: value or 1)], '[null, "x", ', (1,)),
    ],
)
def test_what_it_does_not_mend_is_reported_when_the_value_closes(schema: Any, text: str, path: Any) -> None:
    *_, before, after = resolutions(list[schema], [text[:-2], text[-2:]])
    (error,) = after.errors
    assert error.path == path
    assert before.errors in ((), after.errors)


def test_what_it_does_not_repair_is_reported_at_the_end_if_it_cannot_be_called_before() -> None:
    text = '{"level": "new", "who": {"age": "x"}, "count": "x"}'
    found = resolutions(Corrected, singles(text))
    assert not any(resolution.errors for resolution in found if not resolution._state.is_complete)
    assert {error.path for error in found[-1].errors} == {("level",), ("who", "name"), ("who", "age"), ("count",)}


def test_a_value_that_a_function_may_change_is_shown_as_far_as_it_fits() -> None:
    assert from_json_ast(list[Renamed], fed(whole('[{"name": "Ad'))).value == [{"name": "Ad"}]
    assert from_json_ast(list[Renamed], fed(whole('[{"title": "Ad'))).value == [{}]
    assert from_json_ast(Corrected, fed(whole('{"who": {"name": "Ad'))).value == {"who": {"name": "Ad"}}
