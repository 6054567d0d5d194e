import pickle
import tracemalloc
from random import Random

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


def test_appending_to_a_long_text_copies_nothing() -> None:
    tracemalloc.start()
    try:
        text = GrowingText("x" * 1_000_000).append("y")
        cost, _ = heap(lambda: text.append("z"))
        assert cost < 1_000
    finally:
        tracemalloc.stop()
