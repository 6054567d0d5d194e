"""Resolutions as values: old ones used again, repeated keys, long strings, and corners of schemas, by example."""

import asyncio
import pickle
import weakref
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, AliasChoices, AliasPath, BaseModel, ConfigDict, Field, WithJsonSchema

from jsontide import (
    MISSING,
    JsonStreamError,
    Limits,
    Partial,
    astream_model,
    create_parser_state,
    parse_chunk,
    stream_model,
)
from jsontide.schema import Done, Gate, MismatchReason, Status, UnsupportedSchemaError, from_json_ast
from tests.cuts import every, fed, halves, prefixes, singles, sized, states_along, whole
from tests.schema.kinds import Tree
from tests.schema.resolving import resolutions, said


class Shop(BaseModel):
    name: str
    goods: list[dict[str, int]] = []


def test_an_old_cache_goes_on_from_where_it_stood_with_the_same_objects() -> None:
    state = parse_chunk(create_parser_state(), '{"goods": [{"a": 1, "b": 2}, {"c": 3')
    before = from_json_ast(Shop, state)
    one = from_json_ast(Shop, parse_chunk(state, '}], "name": "A'), before)
    other = from_json_ast(Shop, parse_chunk(state, '5, "d": 4}], "name": "B'), before)
    first: Any = before.value
    assert one.value == {"goods": [{"a": 1, "b": 2}, {"c": 3}], "name": "A"}
    assert other.value == {"goods": [{"a": 1, "b": 2}, {"c": 35, "d": 4}], "name": "B"}
    for later in (one, other):
        value: Any = later.value
        assert value["goods"][0] is first["goods"][0]
    assert before.value == {"goods": [{"a": 1, "b": 2}, {}]}


def branched(schema: Any, chunks: Sequence[str], piece: str, *, is_followed: bool) -> tuple[Any, Any]:
    """The values of a state and of a branch that leaves it, and whether the first branch was resolved too."""
    state = fed(chunks)
    before = from_json_ast(schema, state)
    first = parse_chunk(state, "x")
    if is_followed:
        from_json_ast(schema, first, before)
    return before.value, from_json_ast(schema, parse_chunk(state, piece), before).value


@pytest.mark.parametrize("is_followed", [True, False])
def test_a_string_goes_on_in_a_branch_however_it_was_cut_before(is_followed: bool) -> None:  # noqa: FBT001
    for chunks in (*halves('"alp'), singles('"alp')):
        before, value = branched({"type": "string"}, chunks, "ha", is_followed=is_followed)
        assert (before, value) == ("alp", "alpha")


@pytest.mark.parametrize("is_followed", [True, False])
def test_a_string_that_shows_nothing_new_in_a_branch_leaves_its_object_the_same(is_followed: bool) -> None:  # noqa: FBT001
    for chunks in (*halves('{"c": "bet'), singles('{"c": "bet')):
        before, value = branched({"type": "object"}, chunks, "\\", is_followed=is_followed)
        assert value == {"c": "bet"}
        assert value is before


def test_a_branch_that_shows_nothing_new_shows_the_same_objects() -> None:
    for text in ('{"name": "Kyo', '{"goods": [{"a": 1 ', '{"name": "Kyoto", "goods": ['):
        state = fed(whole(text))
        before = from_json_ast(Shop, state)
        from_json_ast(Shop, parse_chunk(state, "x"), before)
        again = from_json_ast(Shop, parse_chunk(state, "\\" if "Kyo" in text[-4:] else " "), before)
        assert again.value is before.value


def test_an_earlier_state_with_a_later_resolution_is_resolved_anew() -> None:
    states = [fed(singles('{"name": "Kyoto"}')[:length]) for length in (12, 17)]
    early = parse_chunk(create_parser_state(), '{"name": "Ky')
    late = parse_chunk(early, 'oto"}')
    later = from_json_ast(Shop, late)
    assert from_json_ast(Shop, early, later).value == {"name": "Ky"}
    assert said(from_json_ast(Shop, states[0], later)) == said(from_json_ast(Shop, early))


@pytest.mark.parametrize(
    "other", ['{"nome": "x', '[{"name', '{"name":  "x', '{"name": {"x": [', '{\n"name": "x', "12 "]
)
def test_the_resolution_of_another_document_is_no_help_and_no_harm(other: str) -> None:
    schema: dict[str, object] = {}
    strange = from_json_ast(schema, fed(whole('{"name": "x", "goods": [{"a": 1}, ')))
    assert said(from_json_ast(schema, fed(whole(other)), strange)) == said(from_json_ast(schema, fed(whole(other))))


@pytest.mark.parametrize("others", [['["xy'], ['["a'], ["[12", '["xy'], ['["xy', '["'], ["[", '["xyz']])
def test_the_open_string_of_another_document_is_no_part_of_this_one(others: list[str]) -> None:
    schema: dict[str, object] = {}
    states = states_along(singles('["abc'))
    last = from_json_ast(schema, states[-1])
    for state in (*(fed(singles(other)) for other in others), *states[::-1]):
        last = from_json_ast(schema, state, last)
        assert last.value == state.value


@pytest.mark.parametrize("text", ['{"b": "abc', '{"b": "abc"', '{"b": "abc"}', '[{"b": "abc"}]'])
def test_the_open_string_of_another_key_is_no_part_of_this_one(text: str) -> None:
    schema: dict[str, object] = {}
    strange = from_json_ast(schema, fed(singles(text.replace("b", "a", 1).rstrip('}"]'))))
    state = fed(singles(text))
    assert from_json_ast(schema, state, strange).value == state.value


def test_a_pickled_state_goes_on_from_a_resolution_of_the_original() -> None:
    state = fed(singles('{"name": "Kyo'))
    copy = pickle.loads(pickle.dumps(state))  # noqa: S301
    assert from_json_ast(Shop, parse_chunk(copy, "to"), from_json_ast(Shop, state)).value == {"name": "Kyoto"}


def test_of_repeated_keys_the_last_replaces_what_was_shown() -> None:
    text = '{"name": "a", "goods": [{"x": 1}], "name": "bc", "goods": [{"y": 2, "y": 3}]}'
    for chunks in every(text):
        assert resolutions(Shop, chunks)[-1].model == Shop.model_validate_json(text)
    shown = [resolution.value for resolution in resolutions({}, ['{"a": [1], "b": 2, "a": [', "3", '], "a": "x', "y"])]
    assert shown[1:] == [{"a": [], "b": 2}, {"a": [], "b": 2}, {"a": "x", "b": 2}, {"a": "xy", "b": 2}]


def test_of_repeated_keys_the_first_stays_where_that_was_asked_for() -> None:
    text = '{"name": "a", "name": 1, "goods": [{"x": 1}], "goods": {"x": [1, {"y": "z"}]}, "name": "b'
    for chunks in every(text):
        state = fed(chunks, create_parser_state(duplicate_keys="first"))
        resolution = from_json_ast(Shop, state)
        assert (resolution.value, resolution.errors) == ({"name": "a", "goods": [{"x": 1}]}, ())


@pytest.mark.parametrize("hold", [True, False], ids=["held", "dropped"])
def test_long_strings_grow_whether_or_not_they_are_held(hold: bool) -> None:  # noqa: FBT001
    state = parse_chunk(create_parser_state(), '{"name": "')
    resolution = from_json_ast(Shop, state)
    held = []
    for number in range(300):
        state = parse_chunk(state, "lorem ipsum ")
        resolution = from_json_ast(Shop, state, resolution)
        value: Any = resolution.value
        assert len(value["name"]) == 12 * (number + 1)
        if hold:
            held.append(value)
        del value
    assert [len(value["name"]) for value in held] == [12 * (number + 1) for number in range(len(held))]


@pytest.mark.parametrize("dropped_after", range(1, 8))
def test_a_value_held_while_a_container_closed_is_no_part_of_later_ones(dropped_after: int) -> None:
    state = parse_chunk(create_parser_state(), '{"goods": [{"a": 1,')
    resolution = from_json_ast(Shop, state)
    held: list[object] = [resolution.value]
    chunks = (' "b": 2', "}", ', {"c": 3', "}", ', {"d": 4', "}", ', {"e": 5', "}", ', {"f": 6', "}")
    for number, chunk in enumerate(chunks):
        state = parse_chunk(state, chunk)
        resolution = from_json_ast(Shop, state, resolution)
        assert resolution.value == from_json_ast(Shop, state).value
        if number == dropped_after:
            held.clear()


def test_asynchronous_streams_are_driven_too() -> None:
    async def chunks(text: str) -> AsyncIterator[str]:
        for chunk in singles(text):
            yield chunk

    async def collect(text: str) -> list[Any]:
        return [each async for each in astream_model(chunks(text), Shop)]

    *partials, last = asyncio.run(collect('{"name": "Kyoto"}'))
    assert last == Shop(name="Kyoto")
    assert [partial.name for partial in partials][-2:] == ["Kyoto", "Kyoto"]
    with pytest.raises(JsonStreamError):
        asyncio.run(collect('{"name": "Kyoto"'))


def test_text_that_breaks_off_raises_after_what_was_shown() -> None:
    stream = stream_model(['{"name": "Kyo', "\x00"], Shop)
    assert isinstance(next(stream), Partial)
    with pytest.raises(JsonStreamError):
        next(stream)


@pytest.mark.parametrize(
    ("schema", "fitting", "wrong"),
    [
        ({"allOf": [True, {"type": "string"}]}, '"a"', "1 "),
        ({"allOf": [False, {"type": "string"}]}, None, '"a"'),
        ({"allOf": [{"allOf": [False]}]}, None, '"a"'),
        ({"anyOf": [True, {"type": "string"}]}, "1 ", None),
        ({"anyOf": [False, {"type": "string"}]}, '"a"', "1 "),
        ({"type": "string", "anyOf": [True, {"minLength": 3}]}, '"a"', "1 "),
        ({"type": "string", "anyOf": [{"allOf": [False]}, {"enum": ["a"]}]}, '"a"', '"b"'),
        ({"anyOf": [{"type": "string"}, {"type": "string"}]}, '"a"', "1 "),
        ({"const": 1, "enum": [1.0, 2]}, "1 ", "2 "),
        ({"enum": [1, "a"], "type": "string"}, '"a"', "1 "),
        ({"enum": [1, 2.5], "type": "integer"}, "1 ", "2.5 "),
        ({"enum": [1], "type": "string"}, None, "1 "),
        ({"$ref": "#/prefixItems/0", "prefixItems": [{"type": ["string", "array"]}]}, '"a"', "1 "),
        ({"allOf": [{"items": {"type": "number"}}, {"items": {"type": "integer"}}]}, "[1]", "[1.5]"),
        ({"allOf": [{"properties": {"a": True}}, {"properties": {"a": {"type": "null"}}}]}, '{"a": null}', '{"a": 1}'),
        ({"allOf": [{"type": "number"}, {"type": ["integer", "null"]}]}, "1 ", "null"),
        ({"allOf": [{"maxItems": 3}, {"maxItems": 1}, {"minItems": 1}, {"minItems": 0}]}, "[1]", "[1, 2]"),
        ({"allOf": [{"required": ["a"]}, {"required": ["b", "a"]}]}, '{"a": 1, "b": 1}', '{"a": 1}'),
        ({"properties": {"a": False}}, '{"b": 1}', '{"a": 1}'),
        ({"type": "integer"}, "3.0 ", "3.5 "),
    ],
)
def test_corners_of_json_schemas(schema: Any, fitting: str | None, wrong: str | None) -> None:
    if fitting is not None:
        assert from_json_ast(schema, fed(whole(fitting))).status is Status.FINAL
    if wrong is not None:
        assert from_json_ast(schema, fed(whole(wrong))).status is Status.MISMATCH


def test_a_schema_with_too_many_places_is_refused() -> None:
    schema = {"properties": {str(number): {"const": number} for number in range(20_000)}}
    with pytest.raises(UnsupportedSchemaError, match="more than 10000 places"):
        from_json_ast(schema, create_parser_state())


def test_a_policy_of_one_branch_of_references_is_found() -> None:
    schema = {"properties": {"a": {"allOf": [{"$ref": "#/$defs/late"}]}}, "$defs": {"late": {"x-stream": "done"}}}
    assert from_json_ast(schema, fed(whole('{"a": "x'))).value == {}


def test_overrides_reach_tuples_and_stop_where_nothing_is() -> None:
    schema = {"type": "array", "prefixItems": [{"type": "string"}], "items": False}
    assert from_json_ast(schema, fed(whole('["a')), policies={"[0]": Done()}).value == []
    assert from_json_ast(schema, fed(whole('["a')), policies={"[*]": Done()}).value == []
    for pattern in ("[1]", "a", "[0].a", "[*].a", "*"):
        with pytest.raises(ValueError, match="matches nothing"):
            from_json_ast(schema, fed(whole("[")), policies={pattern: Done()})


def test_a_type_that_cannot_be_hashed_is_a_schema_too() -> None:
    kind = Annotated[int, WithJsonSchema({"type": "integer", "examples": [1]})]
    assert from_json_ast(kind, fed(whole("1 "))).model == 1


class Aliased(BaseModel):
    name: str = Field(validation_alias="Name")


def test_attributes_are_found_under_their_aliases() -> None:
    partial: Any = Partial(from_json_ast(Aliased, fed(whole('{"Name": "x'))))
    assert (partial.name, partial["Name"], partial.errors) == ("x", "x", ())
    assert len(partial.so_far) == 1
    assert not partial.is_complete_at("name")
    assert not partial.is_complete_at("name.first")


def test_a_partial_has_the_keys_and_items_that_are_shown() -> None:
    partial: Any = Partial(from_json_ast(Shop, fed(whole('{"name": "x", "goods": [{"a": 1}, {'))))
    assert list(partial) == ["name", "goods"]
    assert "goods" in partial
    assert "a" not in partial
    items: Any = Partial(from_json_ast(list[int], fed(whole("[1, 2, 3"))))
    assert list(items) == [1, 2]
    assert 3 not in items
    with pytest.raises(TypeError, match=r"^to_dict\(\) needs an object, this is a list; use so_far$"):
        items.to_dict()
    nothing: Any = Partial(from_json_ast(Shop, create_parser_state()))
    assert list(nothing) == []
    assert "name" not in nothing


def test_a_default_that_is_shown_is_complete() -> None:
    *partials, _ = stream_model(['{"name": "x"', "}"], Shop)
    assert [partial.is_complete_at("goods") for partial in partials] == [False, True]  # type: ignore[union-attr]


class ByName(BaseModel):
    model_config = ConfigDict(populate_by_name=True, extra="forbid")
    name: str = Field("nobody", alias="Name")
    age: Annotated[int, Gate()] = Field(alias="Age")


class ByChoice(BaseModel):
    name: str = Field("nobody", validation_alias=AliasChoices("Name", "name", AliasPath("names", 0)))
    age: Annotated[int, Gate()] = Field(validation_alias=AliasChoices("Age", "age"))


class NotByAlias(BaseModel):
    model_config = ConfigDict(validate_by_alias=False, validate_by_name=True)
    name: str = Field("nobody", alias="Name")
    age: Annotated[int, Gate()] = Field(alias="Age")


class ByPath(BaseModel):
    name: str = Field("nobody", validation_alias=AliasPath("names", 0))


@pytest.mark.parametrize("schema", [ByName, ByChoice, NotByAlias])
def test_a_member_may_come_under_each_of_its_names(schema: Any) -> None:
    *_, begun, grown, closed = resolutions(list[schema], ['[{"name": "Ad', 'a", "age": 7, ', '"Z": {}}, '])
    assert begun.value == []
    assert grown.value == [{"name": "Ada", "age": 7}]
    partial: Any = Partial(grown)
    assert (partial[0].name, partial[0].age) == ("Ada", 7)
    assert partial.is_complete_at("[0].name")
    assert [error.path for error in closed.errors] == ([(0, "Z")] if schema is ByName else [])
    ended = from_json_ast(schema, fed(whole('{"name": "Ada", "age": 7}')))
    assert (ended.value, ended.model.name) == ({"name": "Ada", "age": 7}, "Ada")


@pytest.mark.parametrize(
    ("schema", "text", "value", "name"),
    [
        (ByName, '{"Name": "Ada", "Age": 7}', {"Name": "Ada", "Age": 7}, "Ada"),
        (ByName, '{"age": 7}', {"Name": "nobody", "age": 7}, "nobody"),
        (ByChoice, '{"Age": 7}', {"Name": "nobody", "Age": 7}, "nobody"),
        (ByChoice, '{"Age": 7, "names": ["Ada"]}', {"Age": 7, "names": ["Ada"]}, "Ada"),
        (NotByAlias, '{"Name": "Ada", "age": 7}', {"name": "nobody", "age": 7}, "nobody"),
        (ByPath, '{"names": ["Ada"], "name": "Bob"}', {"names": ["Ada"]}, "Ada"),
    ],
)
def test_a_default_stands_for_a_member_that_came_under_none_of_its_names(
    schema: Any, text: str, value: Any, name: str
) -> None:
    ended = from_json_ast(schema, fed(whole(text)))
    assert (ended.value, ended.model.name) == (value, name)


def test_a_member_that_came_under_none_of_its_names_is_missing_at_the_end() -> None:
    (error,) = from_json_ast(ByChoice, fed(whole('{"name": "Ada"}'))).errors
    assert error.reason is MismatchReason.MISSING_KEY


def test_a_document_deeper_than_python_goes_is_a_mismatch_of_a_type() -> None:
    depth = 5_000
    text = '{"name": "a", "children": [' * depth + "]}" * depth
    state = create_parser_state(limits=Limits(max_depth=2 * depth))
    resolution = from_json_ast(Tree, fed(whole(text), state))
    assert resolution.status is Status.MISMATCH
    assert "less deeply" in resolution.errors[0].expected


def test_an_interrupted_resolution_leaves_the_cache_as_it_was() -> None:
    calls: list[int] = []

    def interrupted_once(size: int) -> int:
        calls.append(size)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return size

    class Breaking(BaseModel):
        name: str
        size: Annotated[int, AfterValidator(interrupted_once)]

    state = fed(whole('{"name": "x'))
    before = from_json_ast(Breaking, state)
    after = parse_chunk(state, 'y", "size": 3, ')
    with pytest.raises(KeyboardInterrupt):
        from_json_ast(Breaking, after, before)
    assert from_json_ast(Breaking, after, before).value == {"name": "xy", "size": 3}
    assert before.value == {"name": "x"}


def test_a_resolution_takes_no_weak_references_and_no_other_attributes() -> None:
    """What a compiled class with type parameters lets happen: they outlived it, and were those of the next one."""
    resolution: Any = from_json_ast(Shop, create_parser_state())
    with pytest.raises(TypeError):
        weakref.ref(resolution)
    with pytest.raises(AttributeError):
        resolution.mine = 1


def test_pending_values_are_missing() -> None:
    assert from_json_ast(Shop, create_parser_state()).value is MISSING
    assert repr(from_json_ast(Shop, create_parser_state())).startswith("<Resolution PENDING")


KEPT = '{"a": "xy", "days": [{"b": 1, "c": "zz"}, {"b": 2}, {}], "d": 4, "e": "5", "f": 6, "g": [7, [8, 9]], "h": {}}'


@pytest.mark.parametrize("size", [1, 5, 30])
@pytest.mark.parametrize("every_other", [1, 2, 3])
def test_a_program_that_keeps_nothing_sees_what_each_state_alone_shows(size: int, every_other: int) -> None:
    """Views are changed in place when nothing else refers to them; here only the last resolution is held."""
    days = {"items": {"properties": {"b": {"type": "integer"}}}}
    schema = {"properties": {"a": {"enum": ["xy", "zz"]}, "days": days}}
    chunks = sized(KEPT, size)
    state, last = create_parser_state(), None
    for at, prefix in enumerate(list(prefixes(chunks))[1:]):
        state = parse_chunk(state, chunks[at])
        last = from_json_ast(schema, state, last)
        if at % every_other == 0:
            assert last.value == from_json_ast(schema, fed(whole(prefix))).value
