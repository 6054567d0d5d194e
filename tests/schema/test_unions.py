"""Unions: undecided until one branch is left, never a wrong branch, and decided as early as the text allows."""

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from jsontide import MISSING
from jsontide.schema import MismatchReason, Status, from_json_ast
from tests.cuts import every, fed, singles, whole
from tests.schema.resolving import resolutions
from tests.seeded import spell
from tests.strategies import cut, examples, randoms


class Text(BaseModel):
    kind: Literal["text"]
    body: str
    size: int = 0


class Table(BaseModel):
    kind: Literal["table"]
    rows: list[list[str]]


class Image(BaseModel):
    kind: Literal["image"]
    url: str
    alt: str | None = None


Tagged = Annotated[Text | Table | Image, Field(discriminator="kind")]
Untagged = Text | Table | Image
DOCUMENTS: dict[str, dict[str, Any]] = {
    "text": {"kind": "text", "body": "growing words"},
    "table": {"kind": "table", "rows": [["a", "b"], ["c"]]},
    "image": {"kind": "image", "url": "https://example.org/", "alt": None},
}


def first_shown(schema: Any, text: str) -> tuple[int, Any]:
    """After how many characters something is shown, and what."""
    for number, resolution in enumerate(resolutions(schema, singles(text))):
        if resolution.value is not MISSING:
            return number, resolution.value
    raise AssertionError(text)


@pytest.mark.parametrize("schema", [Tagged, Untagged], ids=["tagged", "untagged"])
def test_a_tag_that_comes_first_decides_at_the_first_character_that_only_one_branch_has(schema: Any) -> None:
    assert first_shown(schema, '{"kind": "image", "url": "x"}') == (len('{"kind": "i'), {})
    # "t" is the beginning of two tags.
    assert first_shown(schema, '{"kind": "table", "rows": []}') == (len('{"kind": "ta'), {})
    assert first_shown(schema, '{"kind": "text", "body": ""}') == (len('{"kind": "te'), {})


@pytest.mark.parametrize("schema", [Tagged, Untagged], ids=["tagged", "untagged"])
def test_a_tag_that_comes_last_decides_then_and_shows_all_at_once(schema: Any) -> None:
    text = '{"url": "x", "alt": "a picture", "kind": "image"}'
    assert first_shown(schema, text) == (text.index("image") + 1, {"url": "x", "alt": "a picture"})


def test_a_missing_tag_is_a_mismatch_when_the_object_closes() -> None:
    text = '{"url": "x", "alt": "y"}'
    *before, last = resolutions(Tagged, singles(text))
    assert all(resolution.status is Status.PENDING for resolution in before)
    assert last.status is Status.MISMATCH
    assert [error.reason for error in last.errors] == [MismatchReason.NO_BRANCH]


def test_a_member_grows_in_view_when_its_branch_is_known() -> None:
    shown = [resolution.value for resolution in resolutions(Untagged, ['{"kind": "text", "body": "gro', "wing"])]
    assert shown[1:] == [{"kind": "text", "body": "gro"}, {"kind": "text", "body": "growing"}]


def test_the_kind_of_a_member_rules_out_branches_before_the_tag_comes() -> None:
    schema = {
        "anyOf": [
            {"properties": {"x": {"type": kind}, "t": {"const": kind}}, "type": "object"}
            for kind in ("string", "number", "array")
        ]
    }
    for text, shown in (('{"x": "', {"x": ""}), ('{"x": 1', {}), ('{"x": [', {"x": []}), ('{"x"', MISSING)):
        for chunks in every(text):
            assert resolutions(schema, chunks)[-1].value == shown


def test_a_key_that_only_one_branch_allows_decides() -> None:
    schema = {
        "anyOf": [
            {"type": "object", "properties": {key: {"type": "string"}}, "additionalProperties": False}
            for key in ("one", "two")
        ]
    }
    assert first_shown(schema, '{"two": "x"}') == (len('{"two": "'), {"two": ""})


@examples(3)
@given(st.sampled_from(sorted(DOCUMENTS)), randoms, st.sampled_from([Tagged, Untagged]), st.data())
def test_never_a_wrong_branch_wherever_the_tag_stands(name: str, random: Any, schema: Any, data: st.DataObject) -> None:
    members = list(DOCUMENTS[name].items())
    random.shuffle(members)
    text = spell(dict(members), random)
    for resolution in resolutions(schema, data.draw(cut(text))):
        assert not resolution.errors
        if resolution.status is Status.PARTIAL and isinstance(resolution.value, dict):
            assert list(resolution.value) == [key for key, _ in members[: len(resolution.value)]]
    assert type(resolution.model).__name__.lower() == name


def test_a_branch_that_is_left_alone_says_what_is_wrong_with_it() -> None:
    resolution = from_json_ast(Untagged, fed(whole('{"kind": "text", "body": 12, "size": "many"}')))
    assert [error.path for error in resolution.errors] == [("body",), ("size",)]
    assert resolution.value == {"kind": "text"}


def test_branches_that_fall_at_the_same_character_leave_a_mismatch_of_the_union() -> None:
    text = '{"kind": "xylophone", "body": "a'
    for chunks in every(text):
        last = resolutions(Untagged, chunks)[-1]
        assert last.value is MISSING
        (error,) = last.errors
        assert (error.path, error.reason) == ((), MismatchReason.NO_BRANCH)


def test_unions_inside_unions_are_decided_together() -> None:
    schema = {
        "anyOf": [
            {
                "type": "object",
                "properties": {"v": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "t": {"const": 1}},
            },
            {
                "type": "object",
                "properties": {"v": {"anyOf": [{"type": "number"}, {"type": "null"}]}, "t": {"const": 2}},
            },
        ]
    }
    assert first_shown(schema, '{"v": "x"}') == (len('{"v": "'), {"v": ""})
    assert first_shown(schema, '{"v": null, "t": 2 }') == (len('{"v": null, "t": 2 '), {"v": None, "t": 2})


def test_many_similar_branches_at_every_level_cost_no_more_than_their_number() -> None:
    """Each level has two branches that differ only in their last tag; if they multiplied, this would not end."""
    node: dict[str, Any] = {
        "anyOf": [
            {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "t": {"const": tag}}, "required": ["t"]}
            for tag in ("a", "b")
        ]
    }
    schema = {"$ref": "#/$defs/node", "$defs": {"node": node}}
    depth = 200
    assert from_json_ast(schema, fed(whole('{"next": ' * depth))).status is Status.PENDING
    text = '{"next": ' * depth + '{"t": "a"}' + ', "t": "b"}' * depth
    assert from_json_ast(schema, fed(whole(text))).status is Status.FINAL


def test_a_union_of_which_several_branches_fit_is_shown_when_it_closes() -> None:
    schema = {"anyOf": [{"type": "string", "minLength": 1}, {"type": "string", "maxLength": 3}]}
    found = resolutions(schema, ['"a', 'b"'])
    assert [resolution.value for resolution in found] == [MISSING, MISSING, "ab"]


def test_exactly_one_branch_is_what_one_of_means() -> None:
    schema = {"oneOf": [{"type": "number", "multipleOf": 2}, {"type": "number", "multipleOf": 3}]}
    assert from_json_ast(schema, fed(whole("4 "))).status is Status.FINAL
    assert from_json_ast(schema, fed(whole("6 "))).status is Status.MISMATCH
    assert from_json_ast(schema, fed(whole("[6 "))).status is Status.MISMATCH
