import pickle
import sys
import tracemalloc
from random import Random
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide._textbuffer import NO_TEXT, GrowingText
from tests.meters import heap
from tests.strategies import randoms


@given(st.lists(st.text(max_size=3)), randoms)
def test_every_text_of_a_tree_of_texts_is_the_join_of_its_own_pieces(pieces: list[str], random: Random) -> None:
    made = [(NO_TEXT, "")]
    for piece in pieces:
        text, expected = random.choice(made)
        if piece == "a":
            assert str(text) == expected  # reading in between changes nothing
        made.append((text.append(piece), expected + piece))
    assert [str(text) for text, _ in made] == [expected for _, expected in made]
    assert [len(text) for text, _ in made] == [len(expected) for _, expected in made]
    assert [pickle.loads(pickle.dumps(text)) for text, _ in made] == [text for text, _ in made]  # noqa: S301


def test_an_empty_piece_changes_nothing() -> None:
    text = NO_TEXT.append("a")
    assert text.append("") is text


def test_the_first_text_stays_empty() -> None:
    NO_TEXT.append("a")
    assert not NO_TEXT
    assert not str(NO_TEXT)
    assert GrowingText("a") != NO_TEXT


halves = st.sampled_from(("\ud83d", "\ude00", "😀"))


@given(st.lists(st.text(max_size=3) | halves), randoms)
def test_a_text_that_was_handed_out_never_changes(pieces: list[str], random: Random) -> None:
    """Some are held and some are not: what nobody holds is extended in place."""
    made = [(NO_TEXT, "")]
    held = []
    for each in pieces:
        piece = each * random.choice((1, 50, 700))
        text, expected = random.choice(made[-3:])
        made.append((text.append(piece), expected + piece))
        for text, expected in random.sample(made, min(3, len(made))):
            shown, count = text.read(), random.randint(0, 5)
            assert shown == expected
            assert text.tail(count) == expected[len(expected) - min(count, len(expected)) :]
            assert text.has_lone_surrogate() == any("\ud800" <= char <= "\udfff" for char in expected)
            if random.random() < 0.5:
                held.append((shown, expected))
    for shown, expected in held:
        assert shown == expected


@pytest.mark.parametrize("line", range(1, 12))
def test_threads_that_read_longer_texts_in_between_change_nothing(line: int) -> None:
    """Python changes threads between any two lines; only pure Python can be stopped there."""
    begin = "x" * 5_000
    texts = [GrowingText(begin).append("a")]
    for piece in "bcd":
        texts.append(texts[-1].append(piece))
    texts[0].read()
    lines = 0

    def stop(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if frame.f_code.co_name != "read":
            return None
        lines += event == "line"
        if lines == line and event == "line":
            sys.settrace(None)
            assert [text.read() for text in texts[2:]] == [f"{begin}abc", f"{begin}abcd"]
        return stop

    tracing = sys.gettrace()
    sys.settrace(stop)
    try:
        shown = texts[1].read()
    finally:
        sys.settrace(tracing)
    assert shown == f"{begin}ab"
    assert [text.read() for text in texts] == [f"{begin}{'abcd'[:count]}" for count in range(1, 5)]


def usual(size: int, pieces: int) -> int:
    """What it takes to append to a text of this size and read it, while what was read before is held."""
    text, shown = GrowingText("x" * size).append("y"), ""
    costs = []
    for _ in range(pieces):
        text = text.append("z")
        cost, shown = heap(text.read)
        costs.append(cost)
    assert shown == "x" * size + "y" + "z" * pieces
    return sorted(costs)[pieces // 2]


@pytest.mark.untraced  # traced, Python extends no string in place
def test_reading_a_long_text_again_and_again_copies_nothing() -> None:
    tracemalloc.start()
    try:
        assert usual(1_000_000, 20) <= usual(2_000, 20) + 500
    finally:
        tracemalloc.stop()


def test_appending_to_a_long_text_copies_nothing() -> None:
    """Its place grows now and then, by an eighth."""
    tracemalloc.start()
    try:
        text = GrowingText("x" * 1_000_000).append("y").append("z")
        cost, _ = heap(lambda: text.append("z"))
        assert cost < 1_000
    finally:
        tracemalloc.stop()
