"""Types as schemas: at the end what pydantic says, and before it nothing that pydantic would not."""

import json
from itertools import pairwise
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from jsontide import MISSING, Status, finalize, from_json_ast
from tests.cuts import fed, prefixes, singles, trail, whole
from tests.relations import grows, strays
from tests.schema.kinds import TYPES, Dog, Everything, Point, Rules, Stop, Strict, Tree
from tests.schema.resolving import resolved_in_turn, said
from tests.strategies import cut, examples, randoms, some_value, spell


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
    states = trail(data.draw(cut(text)))
    last = resolved_in_turn(TYPES[name], [*states, finalize(states[-1])])[-1]
    expected = validated(TYPES[name], text)
    assert (last.status is Status.FINAL) is (expected is not MISSING)
    assert last.model == expected
    assert type(last.model) is type(expected)


@examples(8)
@given(documents(), st.data())
def test_values_grow_keep_their_identity_and_hang_on_no_cut(document: tuple[str, str], data: st.DataObject) -> None:
    name, text = document
    chunks = data.draw(cut(text))
    found = resolved_in_turn(TYPES[name], trail(chunks))
    for resolution, prefix in zip(found, prefixes(chunks), strict=True):
        assert said(resolution) == said(from_json_ast(TYPES[name], fed(whole(prefix))))
    for before, after in pairwise(found):
        if after.status is not Status.FINAL:
            assert grows(before.value, after.value)
        assert not strays(before.value, after.value)


OVERRULED = ("everything", "list of unions", "untagged union", "rules")
"""With unions of lax types, and functions that come before: there only pydantic's last word is sure."""


@examples(8)
@given(documents())
def test_a_mismatch_before_the_end_is_one_at_the_end(document: tuple[str, str]) -> None:
    name, text = document
    states = trail(singles(text))
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
    found = resolved_in_turn(Everything, trail(list(text)))
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
