"""States: values that cannot be changed, are cheap to look at, copy and pickle."""

import copy
import pickle
from typing import Any

import pytest

from jsontide import (
    MISSING,
    JsonFragmentAccumulator,
    Limits,
    ParserState,
    create_parser_state,
    finalize,
    get_resolved_value,
    is_open,
    parse_chunk,
)
from jsontide.tree import Mode, node_at
from tests.cuts import every, fed, singles, states_along, ways
from tests.relations import portrait

ATTRIBUTES = (
    *("value", "nodes", "root_id", "root", "stack", "mode", "error", "is_complete", "next_id"),
    *("index", "line", "column", "trailing_index"),
)
STARTS = ["", "[", '["a\\ud83d', "[12", '{"a":[1,{"b":tru', "[1,]", "[1]", "12"]


def test_a_new_state_has_read_nothing() -> None:
    state = create_parser_state()
    assert state.value is MISSING
    assert state.mode is Mode.VALUE
    assert state.error is None
    assert not state.is_complete
    assert (state.root, state.root_id, state.stack) == (None, None, ())
    assert state.trailing_index is None


@pytest.mark.parametrize("text", STARTS)
@pytest.mark.parametrize("name", [*ATTRIBUTES, "other"])
def test_no_attribute_of_a_state_can_be_assigned(text: str, name: str) -> None:
    state: Any = fed([text])
    before = portrait(state)
    with pytest.raises((AttributeError, TypeError)):
        setattr(state, name, 1)
    with pytest.raises((AttributeError, TypeError)):
        delattr(state, name)
    assert portrait(state) == before


@pytest.mark.parametrize("text", STARTS)
def test_copies_of_a_state_are_the_state(text: str) -> None:
    state = fed([text])
    assert copy.copy(state) is state
    assert copy.deepcopy(state) is state


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("text", [*STARTS, '{"a":1,"a":[2],"' + "k" * 50])
def test_a_pickled_state_says_the_same(text: str, protocol: int) -> None:
    for chunks in every(text):
        state = fed(chunks)
        before = portrait(state)
        copied = pickle.loads(pickle.dumps(state, protocol))  # noqa: S301
        assert portrait(copied) == portrait(state) == before


def test_a_pickled_state_keeps_its_options() -> None:
    state = create_parser_state(limits=Limits(max_depth=2), duplicate_keys="first", trailing="ignore", floats="lexeme")
    state = pickle.loads(pickle.dumps(parse_chunk(state, '{"a":1.50,"a"')))  # noqa: S301
    state = parse_chunk(state, ":2} prose")
    assert state.value == {"a": "1.50"}
    assert state.trailing_index == 17
    deep = pickle.loads(pickle.dumps(create_parser_state(limits=Limits(max_depth=2))))  # noqa: S301
    assert parse_chunk(deep, "[[[").error


@pytest.mark.parametrize("repeated", ["2", '"two"', "[2, 2]", '{"a": 2, "a": 3}'])
def test_a_state_pickled_in_a_member_that_is_hidden_shows_those_that_follow(repeated: str) -> None:
    text = f'{{"a": 1, "a": {repeated}, "b": "x", "c": [3]}}'
    states = states_along(singles(text), create_parser_state(duplicate_keys="first"))
    for place, pickled in enumerate(states):
        copied = pickle.loads(pickle.dumps(pickled))  # noqa: S301
        for char, state in zip(text[place:], states[place + 1 :], strict=True):
            copied = parse_chunk(copied, char)
            assert portrait(copied) == portrait(state)
        assert copied.value == {"a": 1, "b": "x", "c": [3]}


def test_a_pickled_state_remembers_that_it_reads_bytes() -> None:
    state = pickle.loads(pickle.dumps(fed([b'["\xc3'])))  # noqa: S301
    assert parse_chunk(state, b'\xa9"]').value == ["é"]
    with pytest.raises(TypeError, match="cannot follow"):
        parse_chunk(state, "x")


def test_a_deep_state_can_be_pickled() -> None:
    state = fed(singles('{"a":[' * 250))
    copied = pickle.loads(pickle.dumps(state))  # noqa: S301
    assert parse_chunk(copied, "1" + "]}" * 250).is_complete


LONG = ['"' + "x" * 10_000, "[" + "1," * 5_000, "9" * 4_000, '{"' + "k" * 10_000 + '":[', '{"' + "k" * 10_000 + '":x']


@pytest.mark.parametrize("text", LONG)
def test_the_repr_of_a_state_and_of_its_nodes_is_short(text: str) -> None:
    for state in (fed([text]), finalize(fed([text]))):
        assert "ParserState" in repr(state)
        assert len(repr(state)) < 300
        assert len(repr(state.nodes)) < 300


@pytest.mark.parametrize("wrong", [None, "[", {}, Limits(), ParserState])
def test_what_is_no_state_is_refused_by_every_function(wrong: Any) -> None:
    calls = (
        lambda: parse_chunk(wrong, "x"),
        lambda: parse_chunk(wrong, ""),
        lambda: finalize(wrong),
        lambda: get_resolved_value(wrong),
        lambda: is_open(wrong, ()),
        lambda: node_at(wrong, ()),
    )
    for call in calls:
        with pytest.raises(TypeError, match="ParserState"):
            call()


@pytest.mark.parametrize("wrong", [None, 1, ["["], {"a": 1}, object(), 1.5])
def test_what_is_no_chunk_is_refused_and_the_accepted_are_named(wrong: Any) -> None:
    state = fed(["["])
    with pytest.raises(TypeError, match=r"str.*bytes"):
        parse_chunk(state, wrong)
    assert parse_chunk(state, "]").is_complete


class Markup(str):
    """A text that cuts and joins in ways of its own, as some for HTML do."""

    __slots__ = ()

    def __add__(self, other: str) -> "Markup":
        return Markup(f"{self:s}&{other:s}")

    def __radd__(self, other: str) -> "Markup":
        return Markup(f"{other:s}&{self:s}")

    def __getitem__(self, key: Any) -> "Markup":
        return Markup(str.__getitem__(self, key))


def test_a_subclass_of_str_leaks_into_no_value_and_no_update() -> None:
    text = '{"key": ["ab\\u00e9cd", 12, true]}'
    for parts in ways(text):
        state, accumulator = create_parser_state(), JsonFragmentAccumulator()
        for at, part in enumerate(parts):
            chunk = part if at % 3 == 1 else Markup(part)
            state = parse_chunk(state, chunk)
            updates = accumulator.add_fragment(chunk)
            value: Any = state.value or {}
            assert {type(found) for items in value.values() for found in (*value, *items)} <= {str, int, bool}
            assert {type(update.text) for update in updates} <= {str, type(None)}
        assert state.value == {"key": ["abécd", 12, True]}


@pytest.mark.parametrize(
    ("option", "accepted"),
    [
        ("duplicate_keys", ("last", "first", "error")),
        ("trailing", ("error", "ignore")),
        ("floats", ("float", "decimal", "lexeme")),
    ],
)
@pytest.mark.parametrize("wrong", ["", "nonsense", None, 1, True, []])
def test_a_wrong_option_is_refused_and_the_accepted_are_named(
    option: str, accepted: tuple[str, ...], wrong: Any
) -> None:
    options: Any = {option: wrong}
    with pytest.raises((ValueError, TypeError), match=option) as caught:
        create_parser_state(**options)
    assert all(name in str(caught.value) for name in accepted)


def test_a_state_is_made_by_its_function_only_and_its_options_have_names() -> None:
    make: Any = ParserState
    with pytest.raises(TypeError):
        make()
    make = create_parser_state
    with pytest.raises(TypeError):
        make(Limits())
