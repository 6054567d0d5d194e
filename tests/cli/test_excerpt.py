import pytest
from rich.cells import cell_len

from jsontide import create_parser_state, finalize, parse_chunk
from jsontide.cli._output import RecentText


def explain(data: bytes, size: int, width: int = 80) -> list[str]:
    """What is said below the message, the text fed in pieces of one size."""
    recent = RecentText()
    state = create_parser_state()
    for start in range(0, len(data), size):
        recent.feed(data[start : start + size])
        state = parse_chunk(state, data[start : start + size])
        if state.error:
            break
    error = finalize(state).error
    assert error is not None
    return recent.explain(error, width).split("\n")[1:]


@pytest.mark.parametrize("size", [1, 3, 100_000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1,]", ["1 | [1,]", "    ___^"]),
        ('{\n  "a": 1 "b"\n}', ['2 |   "a": 1 "b"', "    _________^"]),
        ('["健二" x]', ['1 | ["健二" x]', "    ________^"]),
        ('["\t"]', ['1 | ["\\u0009"]', "    __^"]),
        ("[1,\n2", ["2 | 2", "    _^"]),
        ("", ["1 | ", "    ^"]),
        ("[\n", ["2 | ", "    ^"]),
    ],
)
def test_the_caret_stands_under_the_place(text: str, expected: list[str], size: int) -> None:
    shown = explain(text.encode(), size)
    # With text after the error arriving later, less of the line is known.
    assert expected[0].startswith(shown[0])
    assert shown[1] == expected[1].replace("_", " ")


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("width", [30, 80])
def test_a_long_line_is_cut_around_the_place(size: int, width: int) -> None:
    line, caret = explain(b"[" + b"1," * 5_000 + b"]" + b" " * 5_000, size, width)
    assert line.startswith("1 | …")
    assert len(line) <= width
    assert line[len(caret) - 1] == "]"


def test_a_line_of_wide_letters_is_cut_by_cells() -> None:
    line, caret = explain('["健二健二健二健二健二健二健二健二" x 健二健二健二健二健二'.encode(), 100_000, 30)
    assert cell_len(line) <= 30
    assert line[: line.index("x")].endswith('健二" ')
    assert cell_len(line[: line.index("x")]) == len(caret) - 1


def test_hardly_any_width_still_shows_the_place() -> None:
    assert explain(b"[1,,2", 1, 3) == ["1 | …,", "     ^"]


def test_a_byte_order_mark_is_not_counted() -> None:
    assert explain(b"\xef\xbb\xbf[x]", 2) == ["1 | [x]", "     ^"]


@pytest.mark.parametrize("size", [1, 2, 50])
def test_bad_bytes_are_pointed_at(size: int) -> None:
    line, caret = explain('["é'.encode() + b"\xff\xfe", size)
    assert line.startswith('1 | ["é\N{REPLACEMENT CHARACTER}')
    assert caret == " " * 7 + "^"


def test_the_message_names_the_path() -> None:
    recent = RecentText()
    recent.feed(b'{"a":[1.x')
    error = parse_chunk(create_parser_state(), '{"a":[1.x').error
    assert error is not None
    assert recent.explain(error, 80).split("\n")[0] == f"{error.message} at root.a[0]"


def test_a_key_in_the_path_cannot_steer_a_terminal() -> None:
    text = '{"\x9b2J\ud83d\ude00": x'
    error = parse_chunk(create_parser_state(), text).error
    assert error is not None
    message = RecentText().explain(error, 80).split("\n")[0]
    assert message.endswith(r' at root["\u009b2J\ud83d\ude00"]')
