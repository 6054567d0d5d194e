"""What becomes of the lexeme of a number."""

from hypothesis import given
from hypothesis import strategies as st

from jsontide.text.numbers import parse_int, round_trips
from tests.strategies import examples

FLOATS = st.from_regex(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)


@examples(3)
@given(FLOATS.filter(lambda lexeme: not lexeme.lstrip("-").isdigit()))
def test_a_lexeme_is_dropped_only_if_repr_gives_it_back(lexeme: str) -> None:
    assert not round_trips(lexeme) or repr(float(lexeme)) == lexeme


@examples(1)
@given(st.integers(-(10**2000), 10**2000))
def test_an_integer_of_any_length_is_exact(number: int) -> None:
    assert parse_int(str(number)) == number
