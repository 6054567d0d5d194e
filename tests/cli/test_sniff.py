import pytest

from jsontide._sniff import is_recording
from jsontide.cli._input import has_events, has_lines, has_message_lines, peek
from tests.cli.streams import ollama


@pytest.mark.parametrize(
    ("data", "recorded"),
    [
        (b'{"jsontide": "recording", "version": 1}\n', True),
        (b'\xef\xbb\xbf { "jsontide" : 1', True),
        (b'{"jsontide"', False),
        (b'{"jsontides": 1}', False),
        (b'{"a": 1}', False),
        (b"data: x\n\n", False),
        (b" \n", False),
        (b"", False),
    ],
)
def test_a_recording_is_known_by_its_first_member_however_it_is_cut(data: bytes, *, recorded: bool) -> None:
    for cut in range(len(data) + 1):
        head, chunks = peek(filter(None, [data[:cut], data[cut:]]))
        assert bool(is_recording(head)) is recorded
        assert b"".join(chunks) == data


def test_no_more_is_read_than_it_takes() -> None:
    chunks = iter([b"{", b'"a', b'": 1}'])
    head, rest = peek(chunks)
    assert head == b'{"a'
    assert list(rest) == [b'{"a', b'": 1}']


def test_a_field_is_known_however_it_is_cut() -> None:
    for cut in range(len(b"data: x\n\n")):
        head, _ = peek(filter(None, [b"data: x\n\n"[:cut], b"data: x\n\n"[cut:]]))
        assert has_events(head)


@pytest.mark.parametrize(
    ("head", "lines"),
    [(b'{"a": 1}\n{"a"', True), (b'{"a": 1}\n', False), (b"{\n}", False), (b"[1]\n[2]", False), (b"x\ny", False)],
)
def test_json_lines_have_an_object_on_the_first(head: bytes, *, lines: bool) -> None:
    assert has_lines(head) is lines


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (ollama("Hello"), True),
        (ollama("Hello")[:20], False),
        (b'{"choices": []}\n', True),
        (b'{"error": "x"}\n', False),
        (b'{"level": "info", "message": "x"}\n', False),
        (b'{"choices": []}', False),
        (b"[1]\n[2]\n", False),
    ],
)
def test_lines_of_a_message_are_known_by_the_first(head: bytes, *, message: bool) -> None:
    assert has_message_lines(head) is message
