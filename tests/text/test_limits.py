"""Limits: at the limit nothing happens, one more is an error of its own."""

import sys
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from jsontide import Limits, ParserState, Reason, create_parser_state, finalize
from tests.cuts import every, fed, few
from tests.oracles import loads


def limited(**limits: int) -> ParserState:
    return create_parser_state(limits=Limits(**limits))


AT_THE_LIMIT = [
    ({"max_depth": 1}, "[1,2]"),
    ({"max_depth": 2}, '{"a":[],"b":{},"c":[1]}'),
    ({"max_chars": 7}, "[1, 2] "),
    ({"max_string": 3}, '["abc","\\n1",""]'),
    ({"max_string": 6}, '["\\u00e9","é",{"\\ud83d":1}]'),
    ({"max_string": 1}, '{"a":"b"}'),
    ({"max_number": 3}, "[123,-12,1.5,1e5,0]"),
    ({"max_number": 1}, "7"),
    ({"max_nodes": 1}, "{}"),
    ({"max_nodes": 4}, '[1,{"a":true}]'),
]

BEYOND = [
    ({"max_depth": 1}, "[[", Reason.TOO_DEEP, 1, (0,)),
    ({"max_depth": 1}, '{"a":[', Reason.TOO_DEEP, 5, ("a",)),
    ({"max_depth": 2}, "[[],{},[1],[[", Reason.TOO_DEEP, 12, (3, 0)),
    ({"max_chars": 7}, "[1, 2]  ", Reason.TEXT_TOO_LONG, 7, ()),
    ({"max_chars": 3}, '["ab', Reason.TEXT_TOO_LONG, 3, (0,)),
    ({"max_chars": 1}, "[]", Reason.TEXT_TOO_LONG, 1, (0,)),
    ({"max_chars": 4}, '"éé" ', Reason.TEXT_TOO_LONG, 4, ()),
    ({"max_string": 3}, '["abcd', Reason.STRING_TOO_LONG, 5, (0,)),
    ({"max_string": 5}, '["\\u00e9', Reason.STRING_TOO_LONG, 7, (0,)),
    ({"max_string": 1}, '["\\n', Reason.STRING_TOO_LONG, 3, (0,)),
    ({"max_string": 3}, '{"abcd', Reason.STRING_TOO_LONG, 5, ()),
    ({"max_string": 1}, '"é😀', Reason.STRING_TOO_LONG, 2, ()),
    ({"max_number": 3}, "[1234", Reason.NUMBER_TOO_LONG, 4, (0,)),
    ({"max_number": 3}, "-1.5", Reason.NUMBER_TOO_LONG, 3, ()),
    ({"max_number": 3}, '{"a":1e10', Reason.NUMBER_TOO_LONG, 8, ("a",)),
    ({"max_number": 1}, "[-1", Reason.NUMBER_TOO_LONG, 2, (0,)),
    ({"max_nodes": 1}, "[1", Reason.TOO_MANY_NODES, 1, (0,)),
    ({"max_nodes": 3}, "[1,2, 3", Reason.TOO_MANY_NODES, 6, (2,)),
    ({"max_nodes": 2}, '{"a":1,"b":"', Reason.TOO_MANY_NODES, 11, ("b",)),
    ({"max_nodes": 2}, "[[],{", Reason.TOO_MANY_NODES, 4, (1,)),
    ({"max_nodes": 2}, "[[],n", Reason.TOO_MANY_NODES, 4, (1,)),
]


@pytest.mark.parametrize(("limits", "text"), AT_THE_LIMIT)
def test_at_the_limit_a_text_is_accepted(limits: dict[str, int], text: str) -> None:
    for chunks in every(text):
        state = finalize(fed(chunks, limited(**limits)))
        assert state.error is None
        assert state.value == loads(text)


@pytest.mark.parametrize(("limits", "text", "reason", "index", "path"), BEYOND)
def test_beyond_the_limit_the_first_character_is_an_error_and_one_more_is_enough(
    limits: dict[str, int], text: str, reason: Reason, index: int, path: tuple[str | int, ...]
) -> None:
    for chunks in every(text):
        error = fed(chunks, limited(**limits)).error
        assert error
        assert (error.reason, error.index, error.path) == (reason, index, path)
    wider = {name: limit + 1 for name, limit in limits.items()}
    for chunks in every(text[: index + 1]):
        assert fed(chunks, limited(**wider)).error is None


@pytest.mark.parametrize(
    ("limits", "text", "value"),
    [
        ({"max_string": 3}, '["abcd', ["abc"]),
        ({"max_nodes": 3}, "[1,2,3,4", [1, 2]),
        ({"max_number": 3}, "[12345", []),
        ({"max_string": 5}, '"ab\\u00e9', "ab"),
    ],
)
def test_what_was_visible_before_a_limit_stays_visible(limits: dict[str, int], text: str, value: object) -> None:
    for chunks in every(text):
        assert fed(chunks, limited(**limits)).value == value


def test_the_depth_limit_counts_open_containers_only() -> None:
    for chunks in every("[" + "[]," * 20 + "[]]"):
        assert fed(chunks, limited(max_depth=2)).is_complete


def test_a_text_as_deep_as_the_default_limit_is_accepted() -> None:
    text = "[" * 512 + "]" * 512
    for chunks in few(text):
        state = fed(chunks)
        assert state.is_complete
        assert len(state.nodes) == 512


def test_a_limit_can_be_raised_beyond_the_stack_of_python() -> None:
    deep = sys.getrecursionlimit() * 3
    for chunks in few('{"a":[' * deep):
        state = fed(chunks, limited(max_depth=2 * deep))
        assert len(state.stack) == 2 * deep
        value: Any = state.value
        for _ in range(deep - 1):
            value = value["a"][0]
        assert value == {"a": []}


def test_an_int_is_exact_at_the_default_limit_and_beyond_what_python_converts_by_default() -> None:
    for chunks in few("9" * 4_300):
        assert finalize(fed(chunks)).value == 10**4_300 - 1
    for chunks in few("[-1" + "0" * 20_000 + "]"):
        assert fed(chunks, limited(max_number=50_000)).value == [-(10**20_000)]


NAMES = ["max_depth", "max_chars", "max_string", "max_number", "max_nodes"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("limit", [sys.maxsize - 1, sys.maxsize, sys.maxsize + 1, 10**30])
def test_a_limit_may_be_as_large_as_a_number_can_be(name: str, limit: int) -> None:
    text = ' {"ab": ["cd\\n", -12.5, {"e": [true]}]}'
    for chunks in every(text):
        state = finalize(fed(chunks, limited(**{name: limit})))
        assert state.error is None
        assert state.value == loads(text)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("limit", "error"), [(0, ValueError), (-1, ValueError), ("1", TypeError), (1.0, TypeError), (None, TypeError)]
)
def test_a_limit_that_is_no_int_above_zero_is_refused_by_name(name: str, limit: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=name):
        Limits(**{name: limit})


def test_limits_cannot_be_changed() -> None:
    with pytest.raises((FrozenInstanceError, AttributeError)):
        Limits().max_depth = 3  # type: ignore[misc]


def test_limits_that_are_no_limits_are_refused() -> None:
    with pytest.raises(TypeError, match="limits"):
        create_parser_state(limits=512)  # type: ignore[arg-type]
