"""The end of the stream: what it completes, what it cannot."""

import pytest

from jsontide import Reason, create_parser_state, finalize, get_resolved_value, parse_chunk
from jsontide.tree import Mode
from tests.cuts import every, fed
from tests.oracles import loads
from tests.relations import portrait, same

COMPLETE = ["1", "-0", "1.5e3", "null", '"a"', "[]", '{"a":[1]}', " [1] \n", "12 "]


@pytest.mark.parametrize("text", COMPLETE)
def test_a_whole_text_is_complete_at_its_end(text: str) -> None:
    for chunks in every(text):
        state = finalize(fed(chunks))
        assert state.error is None
        assert state.is_complete
        assert state.mode is Mode.DONE
        assert same(get_resolved_value(state), loads(text))
        assert all(node.closed for node in state.nodes)
        assert state.stack == ()


@pytest.mark.parametrize("text", [*COMPLETE, "", "[1", '{"a', "[1,]", "x"])
def test_an_end_can_be_repeated_and_changes_no_state_before_it(text: str) -> None:
    for chunks in every(text):
        state = fed(chunks)
        before = portrait(state)
        ended = finalize(state)
        assert finalize(ended) is ended
        assert parse_chunk(ended, "") is parse_chunk(ended, b"") is ended
        assert portrait(state) == before


def test_only_the_end_or_white_space_completes_a_root_number() -> None:
    for chunks in every("12"):
        state = fed(chunks)
        assert not state.is_complete
        assert finalize(state).value == 12
        more = "3" if isinstance(chunks[0], str) else b"3"
        assert finalize(parse_chunk(state, more)).value == 123


def test_a_text_that_is_complete_already_keeps_its_value_at_the_end() -> None:
    for chunks in every('{"a":[1]}'):
        state = fed(chunks)
        assert finalize(state).value is state.value
        assert all(one is other for one, other in zip(state.nodes, finalize(state).nodes, strict=True))


@pytest.mark.parametrize("text", ["12", "[]", '"a"'])
def test_after_the_end_white_space_is_fine_and_anything_else_is_trailing_text(text: str) -> None:
    for chunks in every(text):
        space, more = (" \n", "3") if isinstance(chunks[0], str) else (b" \n", b"3")
        state = parse_chunk(finalize(fed(chunks)), space)
        assert state.error is None
        assert same(get_resolved_value(state), loads(text))
        error = parse_chunk(finalize(fed(chunks)), more).error
        assert error
        assert (error.reason, error.index) == (Reason.TRAILING_TEXT, len(text))
    after = parse_chunk(finalize(fed([text], create_parser_state(trailing="ignore"))), " 3")
    assert same(get_resolved_value(after), loads(text))
    assert after.trailing_index == len(text) + 1
