"""Bytes: UTF-8 cut anywhere, and what is not UTF-8."""

import re
from typing import Any

import pytest

from jsontide import MISSING, Reason, create_parser_state, finalize, loads, parse_chunk
from jsontide.tree import Mode
from tests.cuts import every, fed, singles, states_along, ways

BAD = [
    *((b'["a', b"\xff"), (b'["a', b"\x80"), (b'["a', b"\xc0\xaf"), (b'["a', b"\xc1\xbf"), (b'["a', b"\xe0\x80\x80")),
    *((b'["a', b"\xed\xa0\x80"), (b'["a', b"\xf0\x80\x80\x80"), (b'["a', b"\xf4\x90\x80\x80")),
    *((b'["a', b"\xf5\x80\x80\x80"), (b'["\xc3\xa9', b'\xc3"'), (b'["\xf0\x9f\x98\x80', b"\xe2\x82(")),
    *((b'["', b"\xf0\x9f\x98("), (b"[1, ", b"\xff"), (b"", b"\xfe\xff"), (b'{"k', b"\xff")),
]


@pytest.mark.parametrize(("good", "bad"), BAD)
def test_bad_utf8_is_an_error_after_the_code_points_before_it(good: bytes, bad: bytes) -> None:
    for chunks in ways(good + bad):
        error = fed(chunks).error
        assert error
        assert error.reason is Reason.BAD_UTF8
        assert error.index == len(good.decode())
        assert re.search(rf"\b{len(good)}\b", error.message)
        assert error.message.endswith(f"(line {error.line}, column {error.column})")


def test_the_byte_offset_counts_the_byte_order_mark() -> None:
    for chunks in ways(b'\xef\xbb\xbf"\xff'):
        error = fed(chunks).error
        assert error
        assert error.index == 1
        assert re.search(r"\b4\b", error.message)


def test_text_before_bad_utf8_is_parsed_first() -> None:
    for chunks in ways(b'["ab\xff'):
        assert fed(chunks).value == ["ab"]
    for chunks in ways(b"[x\xff"):
        error = fed(chunks).error
        assert error
        assert error.reason is Reason.UNEXPECTED_CHARACTER


@pytest.mark.parametrize("half", [b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98"])
def test_half_a_sequence_is_held_back_and_is_an_error_at_the_end(half: bytes) -> None:
    for good, value, index in ((b'["a', ["a"], 3), (b"[]", [], 2)):
        for chunks in ways(good + half):
            state = fed(chunks)
            assert (state.error, state.value, state.index) == (None, value, index)
            error = finalize(state).error
            assert error
            assert (error.reason, error.index) == (Reason.UNEXPECTED_END, index)
            assert re.search(rf"\b{index}\b", error.message)


def test_a_byte_order_mark_is_skipped_and_not_counted() -> None:
    for chunks in ways(b"\xef\xbb\xbf[1]"):
        state = fed(chunks)
        assert (state.value, state.index, state.line, state.column) == ([1], 3, 1, 4)
    for chunks in ways(b"\xef\xbb\xbf"):
        state = fed(chunks)
        assert (state.value, state.index, state.mode) == (MISSING, 0, Mode.VALUE)
    for chunks in ways(b"\xef\xbb"):
        state = fed(chunks)
        assert state.error is None
        error = finalize(state).error
        assert error
        assert error.reason is Reason.UNEXPECTED_END


def test_characters_of_every_length_can_be_cut_anywhere() -> None:
    text = '{"é€😀":"aé€😀\u07ff\u0800\uffff\U00010000\U0010ffff"}'
    for chunks in every(text):
        assert fed(chunks).value == {"é€😀": "aé€😀\u07ff\u0800\uffff\U00010000\U0010ffff"}


def test_bytes_of_one_character_show_nothing_before_the_last() -> None:
    shown = [state.value for state in states_along(singles('"é😀"'.encode()))]
    assert shown == [MISSING, "", "", "é", "é", "é", "é", "é😀", "é😀"]


@pytest.mark.parametrize("kinds", [(bytes,), (bytearray,), (memoryview,), (bytes, bytearray, memoryview)])
def test_every_kind_of_bytes_is_accepted_and_can_follow_any_other(kinds: tuple[Any, ...]) -> None:
    state = create_parser_state()
    for at, chunk in enumerate(singles(b'{"a":"\xc3\xa9"}')):
        state = parse_chunk(state, kinds[at % len(kinds)](chunk))
    assert state.value == {"a": "é"}


def test_a_memoryview_need_not_be_contiguous() -> None:
    assert parse_chunk(create_parser_state(), memoryview(b"[x1x]x")[::2]).value == [1]


@pytest.mark.parametrize(
    ("first", "second"),
    [("[1", b",2]"), (b"[1", ",2]"), (b'["\xc3', "x"), (b"\xef\xbb", "x"), (bytearray(b"["), "]")],
)
def test_str_and_bytes_cannot_follow_each_other(first: str | bytes | bytearray, second: str | bytes) -> None:
    state = parse_chunk(create_parser_state(), first)
    value, index = state.value, state.index
    with pytest.raises(TypeError, match="cannot follow"):
        parse_chunk(state, second)
    assert state.value is value
    assert (state.index, state.error) == (index, None)
    if first == b'["\xc3':
        assert parse_chunk(state, b'\xa9"]').value == ["é"]


@pytest.mark.parametrize("empty", ["", b"", bytearray(), memoryview(b"")])
@pytest.mark.parametrize("start", ["", "[1", b"[1", b'["\xc3', b"\xef"])
def test_an_empty_chunk_of_any_kind_returns_the_state(
    empty: str | bytes | bytearray | memoryview, start: str | bytes
) -> None:
    state = parse_chunk(create_parser_state(), start)
    assert parse_chunk(state, empty) is state


def test_an_empty_chunk_does_not_decide_the_kind() -> None:
    assert loads(["", b"[", b"]"]) == []
