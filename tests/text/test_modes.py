"""Modes and positions: what may come next, and where that is."""

import pytest
from hypothesis import given

from jsontide import finalize
from jsontide.tree import Mode
from tests.cuts import Chunks, every, fed, prefixes, states_along
from tests.oracles import line_and_column
from tests.strategies import cut_documents, documents

MODES = [
    ("", Mode.VALUE),
    (" \n", Mode.VALUE),
    ('"', Mode.STRING),
    ('"a\\', Mode.STRING),
    ("t", Mode.LITERAL),
    ("[nul", Mode.LITERAL),
    ("-", Mode.FIRST_DIGIT),
    ("-0", Mode.AFTER_ZERO),
    ("12", Mode.INTEGER),
    ("1.", Mode.FIRST_DECIMAL),
    ("1.5", Mode.FRACTION),
    ("1e", Mode.EXPONENT_SIGN),
    ("1e-", Mode.FIRST_EXPONENT),
    ("1E10", Mode.EXPONENT),
    ("[", Mode.ITEM_OR_END),
    ("[1,", Mode.ITEM),
    ("[1 ", Mode.AFTER_ITEM),
    ("[[]", Mode.AFTER_ITEM),
    ("{", Mode.KEY_OR_END),
    ('{"', Mode.KEY_TEXT),
    ('{"a"', Mode.COLON),
    ('{"a" :', Mode.MEMBER),
    ('{"a":true', Mode.AFTER_MEMBER),
    ('{"a":[] ', Mode.AFTER_MEMBER),
    ('{"a":1,', Mode.KEY),
    ("[]", Mode.DONE),
    ("null", Mode.DONE),
    ("1 ", Mode.DONE),
    ('"a" ', Mode.DONE),
    ("[]]", Mode.ERROR),
    ("x", Mode.ERROR),
]


@pytest.mark.parametrize(("text", "mode"), MODES)
def test_the_mode_says_what_may_come_next(text: str, mode: Mode) -> None:
    for chunks in every(text):
        state = fed(chunks)
        assert state.mode is mode
        ended = finalize(state)
        assert ended.mode is (Mode.DONE if ended.error is None else Mode.ERROR)


def test_there_is_a_text_for_every_mode() -> None:
    assert {mode for _, mode in MODES} >= set(Mode) - {Mode.NUMBER}


@given(cut_documents(documents))
def test_the_position_counts_code_points_and_lines_after_every_chunk(
    document: tuple[str, Chunks],
) -> None:
    _, chunks = document
    for state, prefix in zip(states_along(chunks), prefixes(chunks), strict=True):
        assert state.index == len(prefix)
        assert (state.line, state.column) == line_and_column(prefix, len(prefix))
