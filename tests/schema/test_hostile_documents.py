"""Documents that would keep a validator busy for ever: decided in time that grows with the text, or refused."""

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import AfterValidator, BaseModel, Discriminator, Field, Json, Tag, TypeAdapter, model_validator
from typing_extensions import TypeAliasType, TypedDict

from jsontide import Limits, create_parser_state, finalize, parse_chunk
from jsontide.schema import MismatchReason, Status, from_json_ast
from tests.cuts import fed, singles, whole
from tests.meters import interpreted, opcodes
from tests.schema.resolving import closed, resolutions, said
from tests.strategies import examples

TAGS = ("a", "b", "c")


def union(keyword: str, **more: Any) -> dict[str, Any]:
    """Each level has three branches, and the tag that distinguishes them comes last."""
    branches = [
        {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "t": {"const": tag}}, "required": ["t"]}
        for tag in TAGS
    ]
    return {"$ref": "#/$defs/node", "$defs": {"node": {keyword: branches, **more}}}


def chain(depth: int, tag: str = "c", last: str = "c") -> str:
    return '{"next": ' * depth + f'{{"t": "{last}"}}' + f', "t": "{tag}"}}' * depth


STRICT = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "properties": {"next": {"$ref": "#/$defs/node"}, "t": {"type": "string"}},
            "unevaluatedProperties": False,
        }
    },
}
NOT = {"items": {"not": {"not": {"$ref": "#/$defs/node"}}}, "$defs": union("anyOf")["$defs"]}
NAMED = {**union("anyOf"), "x": {"$id": "urn:inner", "type": "string"}}
SCHEMAS: dict[str, tuple[Any, Callable[[int], str]]] = {
    "any of": (union("anyOf"), chain),
    "one of": (union("oneOf"), chain),
    "both": (union("anyOf", oneOf=union("oneOf")["$defs"]["node"]["oneOf"]), chain),
    "all of a union": (union("anyOf", allOf=[{"minProperties": 1}, {"minProperties": 0}]), chain),
    "inside not": (NOT, lambda depth: f"[{chain(depth)}]"),
    "unevaluated": (STRICT, chain),
    "with names": (NAMED, chain),
    "wrong at the end": (union("anyOf"), lambda depth: chain(depth, last="z")),
    "wrong at each level": (union("oneOf"), lambda depth: chain(depth, tag="z")),
    "equal items": ({"uniqueItems": True}, lambda size: json.dumps([{"a": [at]} for at in range(size * 20)])),
    "equal items at each level": (
        {"$ref": "#/$defs/node", "$defs": {"node": {"items": {"$ref": "#/$defs/node"}, "uniqueItems": True}}},
        lambda depth: "[" * depth + "]" * depth,
    ),
}


@pytest.mark.long
@interpreted
@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.untraced
def test_twice_the_document_is_at_most_twice_the_work(name: str) -> None:
    schema, text = SCHEMAS[name]
    closed(schema, text(1))  # the schema is read once
    small, _ = opcodes(lambda: closed(schema, text(4)))
    large, _ = opcodes(lambda: closed(schema, text(8)))
    assert large <= 2.2 * small


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_said_is_what_jsonschema_says(name: str) -> None:
    schema, text = SCHEMAS[name]
    for size in (1, 2, 3):
        is_valid = Draft202012Validator(schema).is_valid(json.loads(text(size)))
        assert closed(schema, text(size)).status is (Status.FINAL if is_valid else Status.MISMATCH)


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_remembered_hangs_on_no_cut(name: str) -> None:
    schema, text = SCHEMAS[name]
    start = create_parser_state()
    in_turn = resolutions(schema, singles(text(2)))[-1]
    assert said(in_turn) == said(from_json_ast(schema, fed(whole(text(2)), start)))


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize("depth", [100, 400])
def test_deep_unions_are_decided_beyond_the_recursion_of_jsonschema(keyword: str, depth: int) -> None:
    assert closed(union(keyword), chain(depth)).status is Status.FINAL
    assert closed(union(keyword), chain(depth, last="z")).status is Status.MISMATCH


def test_what_is_wrong_deep_inside_is_reported_once() -> None:
    (error,) = closed(STRICT, '{"next": ' * 60 + '{"u": 1}' + "}" * 60).errors
    assert error.path == ("next",) * 60


def test_what_is_too_deep_to_be_decided_is_not_final() -> None:
    schema = {"not": {"$ref": "#/$defs/node"}, "$defs": {"node": {"properties": {"n": {"$ref": "#/$defs/node"}}}}}
    for depth, reason in ((5, MismatchReason.INVALID), (480, MismatchReason.TOO_COMPLEX)):
        resolution = closed(schema, '{"n": ' * depth + "1" + "}" * depth)
        assert resolution.status is Status.MISMATCH
        assert [error.reason for error in resolution.errors] == [reason]


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("unevaluatedItems", json.dumps(list(range(6_000)))),
        ("unevaluatedProperties", json.dumps(dict.fromkeys(map(str, range(6_000))))),
    ],
)
def test_what_would_take_the_square_of_a_length_is_refused(keyword: str, text: str) -> None:
    (error,) = closed({keyword: False}, text).errors
    assert (error.path, error.reason) == ((), MismatchReason.TOO_COMPLEX)
    # Inside `not` a refusal is no yes.
    (error,) = closed({"not": {keyword: False}}, text).errors
    assert error.reason is MismatchReason.TOO_COMPLEX


scalars = st.sampled_from([0, 1, 1.0, -0.0, 1.5, True, False, None, "", "1", "a"])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner)
)


@examples(5)
@given(st.lists(values, max_size=4))
def test_items_are_unique_as_pairs_of_them_differ(items: list[Any]) -> None:
    def same(one: Any, other: Any) -> bool:
        return Draft202012Validator({"const": one}).is_valid(other)

    is_unique = not any(same(one, other) for at, one in enumerate(items) for other in items[:at])
    assert closed({"uniqueItems": True}, json.dumps(items)).status is (Status.FINAL if is_unique else Status.MISMATCH)


class A(BaseModel):
    t: Literal["a"]
    next: "A | B | C | None" = None


class B(BaseModel):
    t: Literal["b"]
    next: "A | B | C | None" = None


class C(BaseModel):
    t: Literal["c"]
    next: "A | B | C | None" = None


Untagged: Any = A | B | C


class T(BaseModel):
    t: Literal["t"]
    next: "Tagged | None" = None


class U(BaseModel):
    t: Literal["c"]
    next: "Tagged | None" = None


Tagged = Annotated[T | U, Field(discriminator="t")]


def kind(value: Any) -> Any:
    return value.get("t") if isinstance(value, dict) else value.t


class V(BaseModel):
    t: Literal["v"]
    next: "Called | None" = None


class W(BaseModel):
    t: Literal["c"]
    next: "Called | None" = None


Called = Annotated[Annotated[V, Tag("v")] | Annotated[W, Tag("c")], Discriminator(kind)]


class Point(TypedDict, total=False):
    t: Literal["c"]
    next: "Point | list[Point] | dict[str, Point] | None"


class Pair(NamedTuple):
    left: "Pair | tuple[Pair, int] | None"
    right: int


class Checked(BaseModel):
    t: Literal["c", "d"]
    next: "Annotated[Checked | Other, AfterValidator(lambda value: value)] | None" = None


class Other(BaseModel):
    t: Literal["c"]
    next: "Checked | Other | None" = None

    @model_validator(mode="after")
    def same(self) -> "Other":
        return self


Tree = TypeAliasType("Tree", "list[Tree] | dict[str, Tree] | tuple[Tree, ...] | None")
MULTIPLY: dict[str, tuple[Any, Callable[[int], str]]] = {
    "models": (Untagged, chain),
    "a list of models": (list[Untagged], lambda depth: f"[{chain(depth)}]"),
    "a union in text": (Annotated[Untagged, Json], lambda depth: json.dumps(chain(depth))),
    "a typed dict": (Point, chain),
    "a named tuple": (Pair, lambda depth: "[" * depth + "null" + ", 1]" * depth),
    "functions": (Checked | Other, chain),
    "an alias": (Tree, lambda depth: "[" * depth + "]" * depth),
}
GO_ON: dict[str, tuple[Any, Callable[[int], str]]] = {
    "a discriminator": (Tagged, chain),
    "a function that discriminates": (Called, chain),
}


@pytest.mark.parametrize("name", [*MULTIPLY, *GO_ON])
def test_what_pydantic_decides_soon_it_decides(name: str) -> None:
    schema, text = {**MULTIPLY, **GO_ON}[name]
    for depth in (1, 2, 5):
        resolution = closed(schema, text(depth))
        assert resolution.status is Status.FINAL
        assert resolution.model == TypeAdapter(schema).validate_json(text(depth))
        wrong = text(depth).replace("c", "z").replace("null", "true").replace("[]", "[1]")
        assert closed(schema, wrong).status is Status.MISMATCH


@pytest.mark.parametrize("name", MULTIPLY)
def test_what_would_keep_pydantic_busy_for_ever_is_refused(name: str) -> None:
    schema, text = MULTIPLY[name]
    resolution = closed(schema, text(90))
    (error,) = resolution.errors
    assert (resolution.status, error.path, error.reason) == (Status.MISMATCH, (), MismatchReason.TOO_COMPLEX)


@pytest.mark.parametrize("name", GO_ON)
def test_a_discriminator_keeps_branches_from_multiplying(name: str) -> None:
    schema, text = GO_ON[name]
    assert closed(schema, text(90)).status is Status.FINAL


@pytest.mark.long
def test_a_wide_document_is_not_a_deep_one() -> None:
    text = json.dumps([{"t": "a", "next": {"t": "c", "next": {"t": "b"}}}] * 1_000)
    assert closed(list[Untagged], text).status is Status.FINAL


def test_many_errors_of_branches_are_reported_as_one() -> None:
    (error,) = closed(Untagged, chain(7, last="z")).errors
    assert error.reason is MismatchReason.NO_BRANCH


def test_the_limit_of_depth_still_comes_first() -> None:
    state = create_parser_state(limits=Limits(max_depth=10_000))
    resolution = from_json_ast(Untagged, finalize(parse_chunk(state, chain(1_000))))
    assert resolution.status is Status.MISMATCH
