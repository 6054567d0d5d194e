import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide.messages import ErrorKind, Outcome, start_message
from jsontide.providers import (
    StreamState,
    feed_ndjson,
    feed_stream,
    finish_ndjson,
    finish_stream,
    start_ndjson,
    start_sse,
)
from jsontide.providers.wire import start_wire
from tests import strategies
from tests.cuts import Chunks, every


def decoded(chunks: Chunks) -> list[str]:
    state, found = start_ndjson(), list[str]()
    for chunk in chunks:
        state, lines = feed_ndjson(state, chunk)
        found += lines
    return [*found, *finish_ndjson(state)]


@given(st.lists(strategies.values, max_size=4), st.sampled_from(["\n", "\r\n", "\n\n", "\n \t\n"]), st.booleans())
def test_any_cut_gives_the_lines_back(values: list[Any], end: str, has_last_end: bool) -> None:  # noqa: FBT001
    text = end.join(json.dumps(value) for value in values) + end * has_last_end
    for chunks, _ in zip(every(text), range(20), strict=False):
        assert decoded(chunks) == [json.dumps(value) for value in values]


def test_a_byte_order_mark_is_passed_over_and_bad_bytes_are_replaced() -> None:
    assert decoded([b"\xef\xbb", b'\xbf{"a": "\xff"}\n', b"[1]\xe2"]) == ['{"a": "\ufffd"}', "[1]\ufffd"]


def test_half_a_character_waits_for_bytes_and_is_replaced_before_text() -> None:
    mixed: Any = [b'"\xc3', "", b'\xa9"\n"\xe2\x82', '"\n']
    assert decoded(mixed) == ['"é"', '"\ufffd"']


@pytest.mark.parametrize("wrong", [None, 5, [1, 2], start_sse()])
def test_what_is_no_chunk_or_no_state_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a chunk must be"):
        feed_ndjson(start_ndjson(), wrong)
    with pytest.raises(TypeError, match="a state must be an NdjsonState"):
        feed_ndjson(wrong, b"")
    with pytest.raises(TypeError, match="a state must be an NdjsonState"):
        finish_ndjson(wrong)


def test_a_carriage_return_inside_a_line_ends_nothing() -> None:
    assert decoded(["[1,\r2]\n", "3"]) == ["[1,\r2]", "3"]


@pytest.mark.parametrize(
    ("text", "told", "is_too_long"),
    [
        ("[1234567]\n[1]", ["[1234567]", "[1]"], False),
        ("[1]\n[123456789]\n[2]\n", ["[1]"], True),
        ("[1]\n[1234567890", ["[1]"], True),
        ("[1]\n" + " " * 11, ["[1]"], True),
        ("[1]\n" * 9, ["[1]"] * 9, False),
    ],
)
def test_a_line_that_is_too_long_is_an_error_and_the_end_at_every_cut(
    text: str,
    told: list[str],
    is_too_long: bool,  # noqa: FBT001
) -> None:
    for chunks in every(text):
        state, found = start_ndjson(max_chars=10), list[str]()
        for chunk in chunks:
            state, lines = feed_ndjson(state, chunk)
            found += lines
        assert [*found, *finish_ndjson(state)] == told
        assert state.error == ("a line is longer than 10 characters" if is_too_long else None)


@pytest.mark.parametrize("is_sse", [True, False])
def test_a_message_whose_stream_has_an_event_that_is_too_long_ends_there(is_sse: bool) -> None:  # noqa: FBT001
    line = b'data: {"message": {"content": "Hi"}, "done": 0}\n\n'
    data = b'data: {"done": 0, "message": {}}\n\n' + line[:-2] if is_sse else line[6:]
    state = StreamState(start_message(), wire=start_wire(40))
    for chunk in (data + b" " * 50, b"more", b"\n"):
        state = feed_stream(state, chunk)
    for over in (state, finish_stream(state)):
        (error,) = over.errors
        assert (error.kind, error.source) == (ErrorKind.TRANSPORT, "stream")
        assert error.message.endswith("is longer than 40 characters")
        assert over.outcome is Outcome.TRUNCATED
