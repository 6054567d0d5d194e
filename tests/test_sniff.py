"""How a stream begins, and what that says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide._sniff import BLANK, is_recording, read_first_line, sniff

EVENTS = (
    *("data: x", "event: x", "id:1", "retry: 1", ": comment", 'error: {"code": 1}', "error:{"),
    *("data\n\n", "event\r\ndata: x", "id\rretry\nevent:"),
)
TEXTS = (
    *("database: x", "the data: x", "ideas", "error: no such file", "errors", 'data\n{"a": 1}'),
    *('"data:"', "12", "true", "\x0bdata:"),
)


@pytest.mark.parametrize("before", [b"", b"\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf \t\r\n"])
@pytest.mark.parametrize(
    ("begun", "form"),
    [
        *((text, "events") for text in EVENTS),
        *((text, "text") for text in TEXTS),
        ('{"a": 1}', "object"),
        ("{", "object"),
        ("[1]", "array"),
        ("", None),
        ("dat", None),
        ("retry", None),
        ("data\r\nevent", None),
        ("error: ", None),
    ],
)
def test_the_first_characters_say_what_a_stream_is(before: bytes, begun: str, form: str | None) -> None:
    assert sniff(before + begun.encode()) == form


def test_frames_begin_with_a_byte_that_is_zero_and_nothing_before_it() -> None:
    assert sniff(b"\0\0\0\x7b") == "frames"
    assert sniff(b"\n\0") == "text"


PIECES = st.sampled_from(
    [*(text.encode() for text in (*EVENTS, *TEXTS)), b"{", b'"jsontide"', b":", b"\0", BLANK, b"\n"]
)


@given(st.lists(PIECES | st.binary(max_size=3), max_size=6).map(b"".join))
def test_more_bytes_never_change_a_decision(data: bytes) -> None:
    for decide in (sniff, is_recording):
        found = [decide(data[:end]) for end in range(len(data) + 1)]
        decided = [form for form in found if form is not None]
        assert len(set(decided)) <= 1
        assert found == [None] * (len(found) - len(decided)) + decided


@pytest.mark.parametrize(
    ("begun", "first"),
    [
        (b'\xef\xbb\xbf\n{"a": 1}\r\n', {"a": 1}),
        (b'{"a": 1}', None),
        (b"{\n}\n", None),
        (b"[1]\n[2]\n", None),
        (b'{"a": "\xff"}\n', None),
        (b"", None),
    ],
)
def test_objects_on_lines_are_known_by_the_first(begun: bytes, first: object) -> None:
    assert read_first_line(begun) == first
