"""Validators of the program: whatever they see first or last, each mismatch is reported once, where it is."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from types import GenericAlias
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PlainValidator,
    RootModel,
    TypeAdapter,
    ValidationInfo,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic.dataclasses import dataclass
from typing_extensions import TypedDict

from jsontide import create_parser_state, parse_chunk
from jsontide.schema import MismatchReason, Resolution, Status, from_json_ast
from tests.cuts import fed, singles, whole
from tests.meters import interpreted, opcodes
from tests.oracles import line_and_column
from tests.schema.resolving import resolutions
from tests.seeded import spell
from tests.strategies import examples, randoms, some_value


class Plain(BaseModel):
    size: int
    items: list[int] = []
    note: str | None = None


class After(Plain):
    @model_validator(mode="after")
    def same(self) -> "After":
        return self


class AfterWithInfo(Plain):
    @model_validator(mode="after")
    def same(self, _: ValidationInfo) -> "AfterWithInfo":
        return self


class Before(Plain):
    @model_validator(mode="before")
    @classmethod
    def same(cls, value: Any) -> Any:
        return value


class BeforeWithInfo(Plain):
    @model_validator(mode="before")
    @classmethod
    def same(cls, value: Any, _: ValidationInfo) -> Any:
        return value


class Wrapped(Plain):
    @model_validator(mode="wrap")
    @classmethod
    def same(cls, value: Any, handler: Any) -> Any:
        return handler(value)


class All(Before):
    @model_validator(mode="after")
    def same_after(self) -> "All":
        return self

    @model_validator(mode="wrap")
    @classmethod
    def same_around(cls, value: Any, handler: Any) -> Any:
        return handler(value)


class FieldsAfter(Plain):
    @field_validator("size", "items", "note")
    @classmethod
    def same(cls, value: Any) -> Any:
        return value


class FieldsBefore(Plain):
    @field_validator("size", "items", "note", mode="before")
    @classmethod
    def same(cls, value: Any) -> Any:
        return value


class FieldsWrapped(Plain):
    @field_validator("*", mode="wrap")
    @classmethod
    def same(cls, value: Any, handler: Any) -> Any:
        return handler(value)


class FieldsBeforeAndAfterTheModel(FieldsBefore):
    @model_validator(mode="after")
    def same_after(self) -> "FieldsBeforeAndAfterTheModel":
        return self


@dataclass
class Data:
    size: int
    items: list[int] = Field(default_factory=list)
    note: str | None = None

    @model_validator(mode="after")
    def same(self) -> "Data":
        return self


@dataclass
class DataBefore:
    size: int
    items: Annotated[list[int], AfterValidator(lambda value: value)] = Field(default_factory=list)
    note: str | None = None

    @model_validator(mode="before")
    @classmethod
    def same(cls, value: Any) -> Any:
        return value


class Members(TypedDict, total=False):
    size: Annotated[int, BeforeValidator(lambda value: value)]
    items: Annotated[list[int], WrapValidator(lambda value, handler: handler(value))]
    note: str | None


class Root(RootModel[Plain]):
    @model_validator(mode="after")
    def same(self) -> "Root":
        return self


class RootBefore(RootModel[Plain]):
    @model_validator(mode="before")
    @classmethod
    def same(cls, value: Any) -> Any:
        return value


SAME: dict[str, Any] = {
    "after": After,
    "after, with info": AfterWithInfo,
    "before": Before,
    "before, with info": BeforeWithInfo,
    "wrap": Wrapped,
    "all of them": All,
    "fields, after": FieldsAfter,
    "fields, before": FieldsBefore,
    "fields, wrap": FieldsWrapped,
    "fields and model": FieldsBeforeAndAfterTheModel,
    "dataclass": Data,
    "dataclass, before": DataBefore,
    "root": Root,
    "root, before": RootBefore,
    "annotated, after": Annotated[Plain, AfterValidator(lambda value: value)],
    "annotated, before": Annotated[Plain, BeforeValidator(lambda value: value)],
    "annotated, wrap": Annotated[Plain, WrapValidator(lambda value, handler: handler(value))],
    "twice": Annotated[After, AfterValidator(lambda value: value)],
    "inside out": Annotated[After, BeforeValidator(lambda value: value)],
}
"""The same as `Plain`, with functions around that change nothing."""

WRONG = [
    '{"size": "x", "items": [1, "y", 2, []]}',
    '{"note": 5,\n "items": [{"a": 1}, "é", 3]}',
    '{"size": null, "note": [1, 2], "items": "none"}',
    '{"size": 1, "size": "two", "items": [1], "items": [null]}',
]


def array(item: Any) -> Any:
    return GenericAlias(list, (item,))


def nestings() -> Iterator[tuple[str, Callable[[Any], Any], str]]:
    yield "alone", lambda one: one, "%s"
    yield "in an array", array, '[{"size": 1}, %s, {"size": 2}, %s]'
    yield "in a map", lambda one: GenericAlias(dict, (str, one)), '{"a": {"size": 1}, "b": %s}'
    yield "in a model", model, '{"other": [], "inner": %s, "more": {"size": 1}}'
    yield "in a checked array", lambda one: checked(array(one)), "[%s, %s]"
    yield "optional", lambda one: array(one | None), "[null, %s]"


def checked(inner: Any) -> Any:
    return Annotated[inner, AfterValidator(lambda value: value)]


def model(inner: Any) -> Any:
    class Around(BaseModel):
        inner: Any
        more: Any = None

        @model_validator(mode="after")
        def same(self) -> "Around":
            return self

    return type("Outer", (Around,), {"__annotations__": {"inner": inner, "more": inner | None}, "__module__": __name__})


def reported(resolution: Resolution[Any]) -> Counter[tuple[object, ...]]:
    """The mismatches without the words for what was expected: those are pydantic's, where only that could say it."""
    return Counter((each.path, each.reason, each.found, each.index) for each in resolution.errors)


@pytest.mark.long
@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize(("nested", "text"), [each[1:] for each in nestings()], ids=[each[0] for each in nestings()])
@pytest.mark.untraced
def test_functions_that_change_nothing_change_no_mismatch(name: str, nested: Any, text: str) -> None:
    for wrong in WRONG:
        document = text.replace("%s", wrong)
        expected = resolutions(nested(Plain), whole(document))[-1]
        assert expected.errors
        for chunks in (whole(document), singles(document)):
            found = resolutions(nested(SAME[name]), chunks)[-1]
            assert reported(found) == reported(expected)
            for error in found.errors:
                assert (error.line, error.column) == line_and_column(document, error.index)


@examples(4)
@given(st.sampled_from(sorted(SAME)), st.sampled_from([each[1] for each in nestings()]), randoms)
def test_functions_that_change_nothing_change_no_mismatch_of_any_document(
    name: str, nested: Any, random: Random
) -> None:
    schema = TypeAdapter(nested(Plain)).json_schema()
    text = spell(some_value(schema, schema, random, random.choice((0.1, 0.4))), random) + "\n"
    expected = from_json_ast(nested(Plain), fed(whole(text)))
    assert reported(resolutions(nested(SAME[name]), singles(text))[-1]) == reported(expected)


@pytest.mark.parametrize("wrong", WRONG)
def test_functions_in_a_typed_dict_change_no_mismatch(wrong: str) -> None:
    expected = reported(from_json_ast(Plain, fed(whole(wrong))))
    expected = Counter({each: count for each, count in expected.items() if each[1] is not MismatchReason.MISSING_KEY})
    assert reported(from_json_ast(Members, fed(whole(wrong)))) == expected


def refuse(_: Any) -> Any:
    message = "not this one"
    raise ValueError(message)


REFUSED: dict[str, Any] = {
    "after": Annotated[list[int], AfterValidator(refuse)],
    "before": Annotated[list[int], BeforeValidator(refuse)],
    "wrap": Annotated[list[int], WrapValidator(lambda value, _: refuse(value))],
    "plain": Annotated[list[int], PlainValidator(refuse)],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_function_refuses_is_one_mismatch_with_its_words(name: str) -> None:
    text = '{"more": null, "inner":  [1, 2]}'
    for chunks in (whole(text), singles(text)):
        (error,) = resolutions(model(REFUSED[name]), chunks)[-1].errors
        assert (error.path, error.index, error.found) == (("inner",), text.index("["), "an array")
        assert error.reason is MismatchReason.INVALID
        assert "not this one" in error.expected


class Walk(BaseModel):
    km: float


class Ride(BaseModel):
    stops: list[str]


class Ways(BaseModel):
    ways: list[Walk | Ride] = []
    one: int | list[int] = 0

    @model_validator(mode="before")
    @classmethod
    def same(cls, value: Any, _: ValidationInfo) -> Any:
        return value


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ('{"ways": [{"km": 1}, {"kms": 1}]}', ("ways", 1), MismatchReason.NO_BRANCH),
        ('{"ways": [{"km": 1}, 5]}', ("ways", 1), MismatchReason.WRONG_TYPE),
        ('{"one": {"a": 1}}', ("one",), MismatchReason.WRONG_TYPE),
        ('{"one": {"int": 1}}', ("one",), MismatchReason.WRONG_TYPE),
        ('{"one": [1, "x"]}', ("one", 1), MismatchReason.WRONG_TYPE),
    ],
)
def test_what_all_branches_of_a_union_refuse_is_one_mismatch(text: str, path: Any, reason: MismatchReason) -> None:
    (error,) = from_json_ast(Ways, fed(whole(text))).errors
    assert (error.path, error.reason) == (path, reason)


def test_a_member_that_a_function_renamed_is_reported_where_it_can_be() -> None:
    class Renamed(BaseModel):
        name: str

        @model_validator(mode="before")
        @classmethod
        def renamed(cls, value: Any) -> Any:
            return {"name": value["title"]} if "title" in value else {"nothing": value}

    for text, path in (('[{"title": 5}]', (0,)), ('["x"]', (0,)), ("[[]]", (0, "name"))):
        (error,) = from_json_ast(list[Renamed], fed(whole(text))).errors
        assert (error.path, error.index) == (path, 1)


def test_what_a_schema_says_of_a_container_is_reported_beside_what_is_wrong_in_it() -> None:
    schema = {
        "type": "object",
        "patternProperties": {"^a": {"type": "integer"}},
        "properties": {"b": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
    }
    found = from_json_ast(schema, fed(whole('{"a": "x", "b": ["x", 1, 1]}')))
    assert [error.path for error in found.errors] == [("a",), ("b", 1), ("b", 2), ("b",)]


def test_a_mismatch_of_the_first_of_two_equal_keys_stands_where_that_is() -> None:
    text = '{"a": {"size": "x"}, "a": {"size": "yy"}}'
    for option, places in (("last", [text.index('"x"'), text.index('"yy"')]), ("first", [text.index('"x"')])):
        state = parse_chunk(create_parser_state(duplicate_keys=option), text)  # type: ignore[arg-type]
        found = from_json_ast(dict[str, Before], state)
        assert [error.index for error in found.errors] == places
        assert found.status is Status.MISMATCH


@pytest.mark.long
@interpreted
def test_many_mismatches_of_one_value_are_found_in_time_that_grows_with_the_text() -> None:
    def work(count: int) -> int:
        state = fed(whole(json.dumps([{"size": "x"}] * count)))
        schema = Annotated[list[Plain], BeforeValidator(lambda value: value)]
        spent, found = opcodes(lambda: from_json_ast(schema, state))
        assert len(found.errors) == count
        return spent

    small, large = work(100), work(800)
    assert large < 8.8 * small
