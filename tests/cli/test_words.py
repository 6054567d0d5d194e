import pytest

from jsontide import Path, create_parser_state, finalize, parse_chunk
from jsontide.cli._words import EXPECTED, growing_path, open_path, printable, quoted
from jsontide.tree import Mode


def test_every_mode_has_words() -> None:
    assert set(EXPECTED) == set(Mode)


def test_nothing_printed_can_steer_a_terminal() -> None:
    hostile = "a\x1b[2J\x9b\x7f\u2028\u202e\ud800\tz"
    assert printable(hostile) == r"a\u001b[2J\u009b\u007f\u2028\u202e\ud800\u0009z"
    assert quoted(hostile).isprintable()


def test_letters_and_emoji_stay_as_they_are() -> None:
    assert quoted("Zoë 健二 👩‍👩‍👧") == '"Zoë 健二 👩‍👩‍👧"'


@pytest.mark.parametrize(
    ("text", "open_at", "grows_at"),
    [
        ("", (), None),
        ("{", (), ()),
        ('{"a', (), ()),
        ('{"a":', (), ()),
        ('{"a":1', ("a",), ()),
        ('{"a":"x', ("a",), ("a",)),
        ('{"a":"x"', (), ()),
        ('{"a":[', ("a",), ("a",)),
        ('{"a":[1,2,tr', ("a", 2), ("a",)),
        ('{"a":[1,2,[]', ("a",), ("a",)),
        ('{"a":1,"b":{"c":["d', ("b", "c", 0), ("b", "c", 0)),
        ('"x', (), ()),
        ("12", (), None),
        ("[1]", (), None),
    ],
)
def test_what_is_open_and_what_of_it_shows(text: str, open_at: Path, grows_at: Path | None) -> None:
    state = parse_chunk(create_parser_state(), text)
    assert open_path(state) == open_at
    assert growing_path(state) == grows_at


def test_nothing_grows_in_a_finished_number() -> None:
    state = finalize(parse_chunk(create_parser_state(), "12"))
    assert growing_path(state) is None
