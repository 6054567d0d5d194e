"""The laws for resolutions, over random JSON Schemas, documents and cuts; the oracles are jsonschema and a model."""

import json
from copy import deepcopy
from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from jsontide import MISSING, ParserState, create_parser_state, parse_chunk
from jsontide.schema import Resolution, Status, from_json_ast
from tests.cuts import cut_randomly, fed, prefixes, singles, states_along, whole
from tests.oracles import first_wins, nodes
from tests.relations import flat, grows, hold, same, strays
from tests.schema.model import shown_by_model
from tests.schema.resolving import resolutions, resolutions_to_end, resolved_in_turn, said
from tests.seeded import mishap
from tests.strategies import cut, examples, randoms, texts, typed_documents

Document = tuple[dict[str, Any], str]
good = typed_documents()
few_keys = st.recursive(
    st.sampled_from((1, "", None)), lambda inner: st.dictionaries(st.sampled_from("ab"), inner) | st.lists(inner)
)
mixed = st.one_of(good, typed_documents(wrong=0.1), typed_documents(wrong=0.3))


def fits(schema: dict[str, Any], text: str) -> bool:
    return Draft202012Validator(schema).is_valid(json.loads(text))


@examples(5)
@given(mixed, st.data())
def test_a_state_has_one_resolution_whatever_cuts_and_resolutions_led_to_it(
    document: Document, data: st.DataObject
) -> None:
    schema, text = document
    chunks = data.draw(cut(text))
    for resolution, prefix in zip(resolutions(schema, chunks), prefixes(chunks), strict=True):
        alone = from_json_ast(schema, fed(whole(prefix)))
        assert said(resolution) == said(alone)


@examples(5)
@given(mixed)
def test_every_prefix_has_the_resolution_of_its_characters(document: Document) -> None:
    schema, text = document
    for resolution, prefix in zip(resolutions(schema, singles(text)), prefixes(singles(text)), strict=True):
        assert said(resolution) == said(from_json_ast(schema, fed(whole(prefix))))


@examples(5)
@given(good)
def test_what_is_shown_is_what_the_model_shows(document: Document) -> None:
    schema, text = document
    if not fits(schema, text):
        return
    for resolution, prefix in zip(resolutions(schema, singles(text)), prefixes(singles(text)), strict=True):
        assert not resolution.errors
        if resolution.status is not Status.FINAL:
            assert same(resolution.value, shown_by_model(schema, nodes(prefix)))


@examples(4)
@given(mixed, st.data())
def test_at_the_end_the_validator_has_the_last_word(document: Document, data: st.DataObject) -> None:
    schema, text = document
    last = resolutions_to_end(schema, data.draw(cut(text)))[-1]
    if fits(schema, text):
        assert last.status is Status.FINAL
        assert same(last.value, json.loads(text))
        assert last.model is last.value
    else:
        assert last.status is Status.MISMATCH
        assert last.errors
        assert last.model is MISSING


@examples(4)
@given(mixed)
def test_a_mismatch_is_reported_only_where_nothing_can_mend_it_and_stays(document: Document) -> None:
    schema, text = document
    found = resolutions(schema, singles(text))
    if any(resolution.status is Status.MISMATCH for resolution in found):
        assert not fits(schema, text)
    for before, after in pairwise(found):
        assert {(error.path, error.index) for error in before.errors} <= {
            (error.path, error.index) for error in after.errors
        }


@examples(4)
@given(mixed, st.data())
def test_nothing_shown_is_taken_back(document: Document, data: st.DataObject) -> None:
    schema, text = document
    old: Any = MISSING
    for resolution in resolutions(schema, data.draw(cut(text))):
        assert grows(old, resolution.value)
        old = resolution.value


@examples(4)
@given(mixed, st.data())
def test_what_did_not_change_is_the_same_object(document: Document, data: st.DataObject) -> None:
    schema, text = document
    for before, after in pairwise(resolutions(schema, data.draw(cut(text)))):
        assert not strays(before.value, after.value)


@examples(4)
@given(mixed, st.data())
def test_what_the_end_accepts_is_what_was_shown(document: Document, data: st.DataObject) -> None:
    schema, text = document
    found = resolutions_to_end(schema, data.draw(cut(text)))
    last = found[-1]
    for before in found if last.status is Status.FINAL else ():
        assert grows(before.value, last.model)
        assert not strays(before.value, last.model)


@examples(3)
@given(mixed, st.data())
def test_it_holds_for_a_program_that_keeps_nothing(document: Document, data: st.DataObject) -> None:
    """Views are changed in place when nothing else refers to them; here only the last resolution is held."""
    schema, text = document
    chunks = data.draw(cut(text))
    state, last = create_parser_state(), None
    for at, prefix in enumerate(list(prefixes(chunks))[1:]):
        state = parse_chunk(state, chunks[at])
        last = from_json_ast(schema, state, last)
        assert same(last.value, from_json_ast(schema, fed(whole(prefix))).value)


@examples(3)
@given(mixed, randoms)
def test_what_a_program_holds_never_changes(document: Document, random: Random) -> None:
    schema, text = document
    state, last = create_parser_state(), None
    held = []
    for chunk in singles(text):
        state = parse_chunk(state, chunk)
        last = from_json_ast(schema, state, last)
        if last.value is not MISSING and random.random() < 0.5:
            held.append(hold(last.value, random))
    for look, expected in held:
        assert flat(look()) == expected


@examples(3)
@given(mixed, randoms)
def test_values_are_right_whatever_was_held_and_dropped_before(document: Document, random: Random) -> None:
    """Views that could not be changed when a container closed are changed once they are dropped."""
    schema, text = document
    state, resolution = create_parser_state(), None
    held: list[object] = []
    for chunk, prefix in zip(singles(text), list(prefixes(singles(text)))[1:], strict=True):
        state = parse_chunk(state, chunk)
        resolution = from_json_ast(schema, state, resolution)
        assert same(resolution.value, from_json_ast(schema, fed(whole(prefix))).value)
        held.append(resolution.value)
        while held and random.random() < 0.5:
            del held[random.randrange(len(held))]


def loosened(schema: Any) -> Any:
    """A schema without what an open container cannot keep yet."""
    if isinstance(schema, dict):
        return {key: loosened(value) for key, value in schema.items() if key != "required"}
    return [loosened(each) for each in schema] if isinstance(schema, list) else schema


@examples(4)
@given(mixed, st.data())
def test_every_value_shown_fits_its_part_of_the_schema(document: Document, data: st.DataObject) -> None:
    schema, text = document
    tool = Draft202012Validator(loosened(schema))
    for resolution in resolutions(schema, data.draw(cut(text))):
        if resolution.value is not MISSING and not resolution.errors:
            assert tool.is_valid(resolution.value)


@examples(3)
@given(mixed, randoms)
def test_old_states_and_old_resolutions_can_be_used_again(document: Document, random: Random) -> None:
    """States branch from one another; each is resolved from the one that it was fed from."""
    schema, text = document
    variants = [text, *(mishap(text, random) for _ in range(2))]
    # A repeated key would replace what was shown.
    start = create_parser_state(duplicate_keys="error")
    made: list[tuple[str, ParserState, Resolution[Any]]] = [("", start, from_json_ast(schema, start))]
    for _ in range(25):
        before, state, resolution = random.choice((made[-1], random.choice(made)))
        going_on = [variant for variant in variants if variant.startswith(before)] or [before + '"],1}']
        piece = random.choice(going_on)[len(before) :][: random.choice((1, 2, 5, 20))]
        state = parse_chunk(state, piece)
        later = from_json_ast(schema, state, resolution)
        assert said(later) == said(from_json_ast(schema, fed(whole(before + piece), start)))
        assert grows(resolution.value, later.value)
        assert not strays(resolution.value, later.value)
        made.append((before + piece, state, later))
    for before, _, resolution in made:
        assert said(resolution) == said(from_json_ast(schema, fed(whole(before), start)))


@examples(1)
@given(mixed, mixed)
def test_a_resolution_of_another_document_or_schema_changes_nothing(one: Document, other: Document) -> None:
    schema, text = one
    expected = said(from_json_ast(schema, fed(whole(text))))
    strange = from_json_ast(schema, fed(whole(other[1])))
    assert said(from_json_ast(schema, fed(whole(text)), strange)) == expected
    strange = from_json_ast(other[0], fed(whole(text)))
    assert said(from_json_ast(schema, fed(whole(text)), strange)) == expected


@examples(3)
@given(mixed, mixed, randoms)
def test_a_resolution_of_any_state_of_any_document_changes_nothing(
    one: Document, other: Document, random: Random
) -> None:
    """Documents that begin alike share work, whatever their strings say and wherever they were cut."""
    schema, text = one
    variants = [text, mishap(text, random), text.replace("l", "e"), other[1]]
    states = [state for variant in variants for state in states_along(cut_randomly(variant, random))]
    last = from_json_ast(schema, states[0])
    for state in random.choices(states, k=30):
        last = from_json_ast(schema, state, last)
        assert said(last) == said(from_json_ast(schema, state))


@examples(1)
@given(mixed)
def test_schemas_and_states_are_not_modified(document: Document) -> None:
    schema, text = document
    before = deepcopy(schema)
    states = states_along(singles(text))
    values = [flat(state.value) for state in states]
    resolved_in_turn(schema, states)
    assert schema == before
    assert [flat(state.value) for state in states] == values


@examples(3)
@given(typed_documents(repeat_keys=True), st.sampled_from(["last", "first"]), st.data())
def test_of_equal_keys_the_one_that_counts_for_the_parser_counts(
    document: Document, policy: Any, data: st.DataObject
) -> None:
    schema, text = document
    value = json.loads(text, object_pairs_hook=first_wins if policy == "first" else None)
    chunks = data.draw(cut(text))
    start = create_parser_state(duplicate_keys=policy)
    *found, last = resolutions_to_end(schema, chunks, start)
    if Draft202012Validator(schema).is_valid(value):
        assert last.status is Status.FINAL
        assert same(last.value, value)
    else:
        assert last.status is Status.MISMATCH
    for resolution, prefix in zip(found, prefixes(chunks), strict=True):
        assert said(resolution) == said(from_json_ast(schema, fed(whole(prefix), start)))


@examples(3)
@given(
    st.one_of(typed_documents(repeat_keys=True), texts(few_keys, repeat_keys=True).map(lambda text: ({}, text))),
    st.sampled_from(["last", "first"]),
    randoms,
)
def test_old_resolutions_can_be_used_again_where_a_key_repeats_with_another_kind(
    document: Document, policy: Any, random: Random
) -> None:
    schema, text = document
    start = create_parser_state(duplicate_keys=policy)
    expected = said(from_json_ast(schema, fed(whole(text), start)))
    for at in random.choices(range(len(text)), k=20):
        state = fed(whole(text[:at]), start)
        old = from_json_ast(schema, state)
        for _ in range(2):
            assert said(from_json_ast(schema, parse_chunk(state, text[at:]), old)) == expected


def test_a_container_whose_key_repeats_as_a_number_can_be_followed_again() -> None:
    schema: dict[str, Any] = {}
    state = fed(whole('{"a":{"b":{}},"a":5,'))
    old = from_json_ast(schema, state)
    for more, value in (('"c":1}', {"a": 5, "c": 1}), ('"c":2}', {"a": 5, "c": 2})):
        assert from_json_ast(schema, parse_chunk(state, more), old).value == value
