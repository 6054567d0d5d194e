"""What becomes of the lexeme of a number."""

from hypothesis import given
from hypothesis import strategies as st

from jsontide.text.numbers import parse_int, round_trips
from tests.strategies import examples

NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)


@examples(3)
@given(NUMBERS)
def test_a_lexeme_is_dropped_only_if_repr_gives_it_back(lexeme: str) -> None:
    is_integer = lexeme.lstrip("-").isdigit()
    value = int(lexeme) if is_integer else float(lexeme)
    assert not round_trips(lexeme, is_integer) or repr(value) == lexeme


@examples(1)
@given(st.integers(-(10**2000), 10**2000))
def test_an_integer_of_any_length_is_exact(number: int) -> None:
    assert parse_int(str(number)) == number
