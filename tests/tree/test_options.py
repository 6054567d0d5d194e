"""ParserOptions: duplicate keys, what follows the document, how floats are read."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import Reason, create_parser_state, finalize, get_resolved_value, parse_chunk
from jsontide.tree import Mode
from tests.cuts import Chunks, every, fed, halves, prefixes, singles, states_along, whole
from tests.oracles import first_wins, loads, visible
from tests.relations import same
from tests.strategies import cut_documents, texts

# Duplicate keys


LAST = [
    *('{"a":1,"b":2,"a"', '{"a":1,"b":2,"a":', '{"a":1,"b":2,"a":3', '{"a":1,"b":2,"a":3,', '{"a":1,"b":2,"a":"'),
    *('{"a":1,"b":2,"a":[', '{"a":[1],"a":[', '{"a":{"x":1},"a":{"y":2},"a":{'),
]
FIRST = ['{"a":1,"a":[2', '{"a":[1],"b":0,"a":{"x":"y"},"c":"d', '{"a":"x","a":"y', '[{"a":1,"a":{"a":{"a":']


@pytest.mark.parametrize("text", [*LAST, *FIRST])
def test_the_last_or_the_first_of_equal_keys_is_shown(text: str) -> None:
    for chunks in every(text):
        assert same(fed(chunks).value, visible(text))
        state = fed(chunks, create_parser_state(duplicate_keys="first"))
        assert same(state.value, visible(text, object_pairs_hook=first_wins))


def test_hidden_values_change_no_identity() -> None:
    states = states_along(
        ['{"a":[1]', ',"a":[', "2", ",3", "]", ',"a":"x', 'y"'],
        create_parser_state(duplicate_keys="first"),
    )[1:]
    assert all(state.value is states[0].value for state in states)


# What follows the document


@pytest.mark.parametrize(
    ("text", "value", "index"),
    [
        ("{} Here you are.", {}, 3),
        ("[1]x", [1], 3),
        ("[1]]", [1], 3),
        ("[1]\n\n\x00", [1], 5),
        ("null null", None, 5),
        ('"a""b"', "a", 3),
        ("12 34", 12, 3),
        ("12x", 12, 2),
        ("[]\ud800", [], 2),
    ],
)
def test_what_follows_a_finished_root_can_be_ignored(text: str, value: Any, index: int) -> None:
    for chunks in every(text):
        state = fed(chunks, create_parser_state(trailing="ignore"))
        assert state.error is None
        assert state.is_complete
        assert state.mode is Mode.DONE
        assert same(get_resolved_value(state), value)
        assert state.trailing_index == index
        assert finalize(state).trailing_index == index


def test_after_ignored_text_feeding_returns_the_state() -> None:
    for chunks in every("[] x"):
        state = fed(chunks, create_parser_state(trailing="ignore"))
        more = "more" if isinstance(chunks[0], str) else b"more"
        assert parse_chunk(state, more) is state


@pytest.mark.parametrize("text", [b"[] x\xff\xfe", b"[] \xff\xfe", b"[] \xe2\x82", b"[] \xf0\x9f\x98 x", b"[] \xff"])
def test_ignored_bytes_need_not_be_utf8(text: bytes) -> None:
    for chunks in (whole(text), singles(text), *halves(text)):
        state = finalize(fed(chunks, create_parser_state(trailing="ignore")))
        assert get_resolved_value(state) == []
        assert (state.error, state.trailing_index) == (None, 3)
        assert parse_chunk(state, b"more") is state


def test_white_space_after_the_document_is_not_ignored_text() -> None:
    for chunks in every("[1] \n\t\r "):
        state = fed(chunks, create_parser_state(trailing="ignore"))
        assert state.trailing_index is None
        assert state.index == 8


def test_ignoring_what_follows_forgives_nothing_before_the_end() -> None:
    for chunks in every("[1,]"):
        error = fed(chunks, create_parser_state(trailing="ignore")).error
        assert error
        assert error.reason is Reason.UNEXPECTED_CHARACTER
    for chunks in every("x {}"):
        assert fed(chunks, create_parser_state(trailing="ignore")).error


# Floats


@given(cut_documents(texts()), st.sampled_from(["decimal", "lexeme"]))
def test_floats_can_be_decimals_or_lexemes(document: tuple[str, Chunks], floats: Any) -> None:
    text, chunks = document
    make = Decimal if floats == "decimal" else str
    states = states_along(chunks, create_parser_state(floats=floats))
    for state, prefix in zip(states, prefixes(chunks), strict=True):
        assert same(state.value, visible(prefix, parse_float=make))
    assert same(finalize(states[-1]).value, loads(text, parse_float=make))


@pytest.mark.parametrize(
    ("floats", "value"),
    [
        ("float", [1.1, 100.0, 1, -0.0]),
        ("decimal", [Decimal("1.10"), Decimal("1E+2"), 1, Decimal("-0.0")]),
        ("lexeme", ["1.10", "1E+2", 1, "-0.0"]),
    ],
)
def test_ints_are_ints_whatever_floats_are(floats: Any, value: list[Any]) -> None:
    for chunks in every("[1.10,1E+2,1,-0.0]"):
        assert same(fed(chunks, create_parser_state(floats=floats)).value, value)


@pytest.mark.parametrize("text", ["0." + "1234567890" * 10, "1E+400"])
def test_a_decimal_keeps_every_digit_and_is_never_infinite(text: str) -> None:
    for chunks in every(f"[{text}]"):
        value: Any = fed(chunks, create_parser_state(floats="decimal")).value
        assert str(value[0]) == text
