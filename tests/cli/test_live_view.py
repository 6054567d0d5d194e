import io

import pytest
from rich.console import Console

from jsontide import create_parser_state, finalize, parse_chunk
from jsontide.cli._live_view import EXPECTED, LiveView, StreamProgress, growing_path, open_path
from jsontide.tree import Mode, Path


def frame(
    text: bytes, *, total: int | None = None, width: int = 72, height: int = 24, ended: bool = False
) -> list[str]:
    state = parse_chunk(create_parser_state(), text)
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, color_system=None)
    console.print(LiveView(finalize(state) if ended else state, StreamProgress(3, text[-5:], len(text), total)))
    return [row.rstrip() for row in out.getvalue().splitlines()]


def test_below_the_value_stand_the_counts_and_the_open_place() -> None:
    *value, rule, counts, place = frame(b'{"days": [{"title": "Por')
    assert value == ["{", '  "days": [', "    {", '      "title": "Por▌']
    assert rule == "─" * 72
    assert counts == "24 characters in 3 chunks"
    assert place == 'next more of a string  at root.days[0].title  chunk  "Por'


def test_before_anything_is_visible_there_is_only_the_mark() -> None:
    assert frame(b"  ")[0] == "▌"
    assert frame(b"-1")[0] == "▌"


@pytest.mark.parametrize(("total", "filled", "said"), [(500, 0, "  0 %"), (8, 10, " 50 %"), (4, 20, "100 %")])
def test_where_the_end_is_known_progress_is_shown(total: int, filled: int, said: str) -> None:
    bar = "━" * filled + "┄" * (20 - filled)
    assert frame(b"[1,2", total=total)[-2] == f"{bar} {said}  4 characters in 3 chunks"


def test_an_empty_file_has_no_progress() -> None:
    assert frame(b"", total=0)[-2] == "0 characters in 3 chunks"


def test_the_end_is_named() -> None:
    assert frame(b"[1]")[-1] == "complete"
    assert frame(b"[1", ended=True)[-1].startswith("bad text  expected")


@pytest.mark.parametrize(("width", "height"), [(72, 24), (30, 10), (12, 6), (8, 3), (1, 1)])
def test_a_frame_fits_the_terminal(width: int, height: int) -> None:
    rows = frame(b'{"list": [' + b'"some words to wrap", ' * 50, width=width, height=height)
    assert max(map(len, rows)) <= width
    assert len(rows) <= max(height - 1, 4)


def test_every_mode_has_words() -> None:
    assert set(EXPECTED) == set(Mode)


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
