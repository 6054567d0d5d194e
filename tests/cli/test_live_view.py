"""What is drawn of each kind of stream."""

import io

import pytest
from rich.console import Console

from jsontide.cli._drawing import EXPECTED, LiveView, NewParts, describe_usage, growing_path
from jsontide.messages import Usage
from jsontide.recordings import Moment, Piece, feed_moment, finish_moment, start_moment
from jsontide.tree import Mode, Path
from tests.cli.streams import ollama, openai, sse


def moment_after(*pieces: bytes, ended: bool = False) -> Moment:
    moment = start_moment()
    for number, piece in enumerate(pieces):
        moment = feed_moment(moment, Piece(float(number), piece))
    return finish_moment(moment) if ended else moment


def draw(moment: Moment, *, total: int | None = None, width: int = 72, height: int = 24) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, color_system=None)
    console.print(LiveView(moment, NewParts(), total=total))
    return [row.rstrip() for row in out.getvalue().splitlines()]


def test_below_a_document_stand_the_open_place_and_the_counts() -> None:
    *value, rule, place, counts = draw(moment_after(b'{"days": [{', b'"title": "Por'))
    assert value == ["{", '  "days": [', "    {", '      "title": "Por▌']
    assert rule == "─" * 72
    assert place == "next more of a string  in root.days[0].title"
    assert counts == "1.0 s · 2 pieces · 24 bytes"


def test_below_a_message_stand_its_source_and_its_cost() -> None:
    *_, state, counts = draw(moment_after(openai("Hello"), ended=True))
    assert state == "complete  stop  openai_chat  m1"
    assert counts.startswith("tokens: 3 in, 2 out · ")


@pytest.mark.parametrize(
    ("pieces", "rows"),
    [
        ([b"  "], ["▌"]),
        ([b'{"a": 1}\n', b'{"b": "x'], ["[", "  {", '    "a": 1', "  },", "  {", '    "b": "x▌']),
        ([sse({"a": 1})], ["[", "  {", '    "a": 1', "  }", "  ▌"]),
        ([b"Once upon", b" a time"], ["Once upon a time▌"]),
    ],
)
def test_every_kind_of_stream_is_drawn(pieces: list[bytes], rows: list[str]) -> None:
    assert draw(moment_after(*pieces))[:-3] == rows


@pytest.mark.parametrize(("total", "filled", "said"), [(500, 0, "  0 %"), (8, 10, " 50 %"), (4, 20, "100 %")])
def test_where_the_end_is_known_progress_is_shown(total: int, filled: int, said: str) -> None:
    bar = "━" * filled + "┄" * (20 - filled)
    assert draw(moment_after(b"[1,2"), total=total)[-1] == f"{bar} {said}  0.0 s · 1 piece · 4 bytes"


def test_an_empty_file_has_no_progress() -> None:
    assert draw(moment_after(b""), total=0)[-1] == "0.0 s · 1 piece · 0 bytes"


def test_the_end_is_named() -> None:
    assert draw(moment_after(b"[1]", ended=True))[-2] == "complete"
    assert draw(moment_after(b"[1", ended=True))[-2].startswith("truncated  expected")
    assert draw(moment_after(b"[1 2"))[-2].startswith("bad text  expected")
    assert draw(moment_after(openai("Hi", reason="length"), ended=True))[-2].startswith("truncated  length")


@pytest.mark.parametrize(("width", "height"), [(72, 24), (40, 24), (30, 10), (12, 6), (8, 3), (1, 1)])
def test_a_frame_fits_the_terminal(width: int, height: int) -> None:
    for stream in (b'{"list": [' + b'"some words to wrap", ' * 50, ollama("some words to wrap, " * 50)):
        rows = draw(moment_after(stream), width=width, height=height)
        assert max(map(len, rows)) <= width
        assert len(rows) <= max(height - 1, 5)


def test_every_mode_has_words() -> None:
    assert set(EXPECTED) == set(Mode)


@pytest.mark.parametrize(
    ("text", "grows_at"),
    [
        (b"{", ()),
        (b'{"a', ()),
        (b'{"a":"x', ("a",)),
        (b'{"a":[1,2,tr', ("a",)),
        (b'{"a":1,"b":{"c":["d', ("b", "c", 0)),
        (b"[1]", None),
        (b'[1] [2, "x', (1, 1)),
        (b"[1] [2]", ()),
    ],
)
def test_where_a_stream_grows(text: bytes, grows_at: Path | None) -> None:
    assert growing_path(moment_after(text)) == grows_at


def test_a_cost_is_said_as_far_as_it_is_known() -> None:
    assert describe_usage(Usage(input_tokens=1_284, output_tokens=7, reasoning_tokens=3)) == (
        "tokens: 1,284 in, 7 out, 3 reasoning"
    )
    assert describe_usage(Usage()) == "tokens: not said"
