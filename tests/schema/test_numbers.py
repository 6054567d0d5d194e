"""Every keyword about numbers with every number in both modes of the parser; the oracle is `fractions.Fraction`."""

import json
import tracemalloc
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for
from pydantic import AfterValidator, BeforeValidator, Field

from jsontide import Limits, create_parser_state, finalize, parse_chunk
from jsontide.schema import MismatchReason, Status, from_json_ast
from tests.meters import heap
from tests.strategies import examples

MODES: list[Any] = ["float", "decimal"]
modes = st.sampled_from(MODES)
KEYWORDS = ["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "const", "enum"]


def literal(sign: str, whole: int, part: str, exponent: str) -> str:
    return f"{sign}{whole}{part}{exponent}"


literals = st.builds(
    literal,
    st.sampled_from(["", "-"]),
    st.one_of(st.integers(0, 30), st.integers(0, 10**25), st.sampled_from([10**400, 10**23, 2**53 + 1])),
    st.sampled_from(["", ".0", ".1", ".07", ".5", ".333", ".0000000001"]),
    st.sampled_from(["", "e0", "E+2", "e-2", "e22", "e23", "e-7", "e300", "e-300", "e400", "e-400"]),
)
units = st.sampled_from(
    ["1", "3", "2.0", "0.1", "0.01", "0.07", "1e-7", "25", "1e23", "1e300", "7e-300", "0.5", "1e400"]
)


def resolved(schema: Any, text: str, mode: Any, **limits: int) -> Any:
    state = parse_chunk(create_parser_state(floats=mode, limits=Limits(**limits)), text)
    return from_json_ast(schema, finalize(state))


def written(text: str, mode: str) -> Any:
    """The number that a program gets, as a fraction, or as an infinite float."""
    if mode == "decimal" or text.lstrip("-").isdigit():
        return Fraction(text)
    number = float(text)
    return number if number in (inf, -inf) else Fraction(repr(number))


def fits(keyword: str, bound: Any, number: Any) -> bool:
    match keyword:
        case "multipleOf":
            return isinstance(number, Fraction) and isinstance(bound, Fraction) and (number / bound).denominator == 1
        case "minimum":
            return bool(number >= bound)
        case "maximum":
            return bool(number <= bound)
        case "exclusiveMinimum":
            return bool(number > bound)
        case "exclusiveMaximum":
            return bool(number < bound)
        case _:
            return bool(number == bound)


def is_accepted(schema: Any, text: str, mode: Any) -> bool:
    """What is said of the number must be the same alone, inside, and by both the shape and the validator."""
    alone = resolved(schema, f"{text} ", mode)
    inside = resolved({"items": schema}, f"[{text}]", mode)
    # Inside `not` only the validator decides.
    refused = resolved({"not": schema}, f"{text} ", mode)
    assert alone.status is inside.status is not refused.status
    assert all(error.message for error in (*alone.errors, *inside.errors, *refused.errors))
    return alone.status is Status.FINAL


@examples(20)
@given(st.sampled_from(KEYWORDS), st.one_of(units, literals), literals, modes)
def test_a_number_keeps_to_a_keyword_as_both_are_written(keyword: str, bound: str, text: str, mode: Any) -> None:
    value = json.loads(bound)
    if keyword == "multipleOf" and (value <= 0 or value == inf):
        return
    schema = {keyword: [value] if keyword == "enum" else value}
    limit = written(bound, "float")
    assert is_accepted(schema, text, mode) is fits(keyword, limit, written(text, mode))


@examples(5)
@given(literals, modes)
def test_an_integer_is_a_number_without_a_fraction_however_it_is_written(text: str, mode: Any) -> None:
    number = written(text, mode)
    is_whole = isinstance(number, Fraction) and number.denominator == 1
    assert is_accepted({"type": "integer"}, text, mode) is is_whole
    assert is_accepted({"type": "number"}, text, mode)


@examples(5)
@given(literals, literals, modes)
def test_items_are_equal_if_they_are_written_with_the_same_value(one: str, other: str, mode: Any) -> None:
    are_equal = written(one, mode) == written(other, mode)
    assert is_accepted({"uniqueItems": True}, f"[{one}, {other}]", mode) is not are_equal
    assert is_accepted({"uniqueItems": True}, f'[[{{"a": {one}}}], [{{"a": {other}}}]]', mode) is not are_equal


HUGE = [
    "1e999999999",
    "-1e999999999",
    "1e-999999999",
    "12345e999999990",
    "1" * 401,
    "-" + "3" * 4_000,
    "1e999",
    "-1e999",
]


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", HUGE)
@pytest.mark.parametrize(
    ("keyword", "bound"),
    [(keyword, bound) for keyword in KEYWORDS[:-1] for bound in (3, 0.01, 2.5, 1e300, 10**400)] + [("type", "integer")],
)
@pytest.mark.untraced
def test_no_number_raises_or_is_written_out(keyword: str, bound: Any, text: str, mode: Any) -> None:
    is_accepted({keyword: bound}, text, mode)
    tracemalloc.start()
    taken, _ = heap(lambda: is_accepted({keyword: bound}, text, mode))
    tracemalloc.stop()
    # A thousand million digits would take 400 MB.
    assert 0 < taken < 1_000_000


@pytest.mark.parametrize(
    ("text", "unit", "is_multiple"),
    [("1e999999999", 0.01, True), ("1e999999999", 8, True), ("1e999999999", 3, False), ("1e-999999999", 0.01, False)],
)
def test_a_decimal_of_any_exponent_is_a_multiple_or_not(text: str, unit: float, is_multiple: bool) -> None:  # noqa: FBT001
    assert is_accepted({"multipleOf": unit}, text, "decimal") is is_multiple


def test_what_a_float_is_too_small_for_is_no_multiple_of_anything() -> None:
    assert resolved({"multipleOf": 0.01}, "1e999 ", "float").errors[0].reason is MismatchReason.INVALID


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 0.1, "exclusiveMinimum": True},
        {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"},
        {"$schema": "http://json-schema.org/draft-03/schema#", "divisibleBy": 0.01},
        {"$schema": "http://json-schema.org/draft-07/schema#", "exclusiveMinimum": 0.1},
    ],
)
@pytest.mark.parametrize("text", ["0.1", "0.2", "1.0", "1", "1e999"])
def test_older_dialects_keep_their_meaning(schema: Any, text: str) -> None:
    value = json.loads(text)
    # `jsonschema` raises there.
    is_valid = not ("divisibleBy" in schema and value == inf) and validator_for(schema)(schema).is_valid(value)
    assert (resolved(schema, f"{text} ", "float").status is Status.FINAL) is is_valid


@pytest.mark.parametrize("schema", [{"type": "string"}, {"items": False}, {"contains": {"type": "null"}}, {"not": {}}])
@pytest.mark.parametrize("text", ["1" * 6_000 + " ", "[" + "1" * 6_000 + "]"])
def test_more_digits_than_python_writes_are_a_mismatch_and_no_exception(schema: Any, text: str) -> None:
    resolution = resolved(schema, text, "float", max_number=10_000)
    is_valid = Draft202012Validator(schema).is_valid([0] if text.startswith("[") else 0)
    assert resolution.status is (Status.FINAL if is_valid else Status.MISMATCH)
    assert all(error.message for error in resolution.errors)


TYPES: list[Any] = [
    *(Annotated[int, Field(multiple_of=3)], Annotated[float, Field(multiple_of=0.01)], Annotated[int, Field(ge=3)]),
    *(Annotated[Decimal, Field(multiple_of=0.01)], Annotated[float, Field(lt=0.1)], Literal[1], int | float),
    *(Annotated[Decimal, Field(max_digits=5)], int, float, Decimal, bool, str),
    # Here pydantic does not compare by itself: it calls functions, which raise for some numbers.
    *(Annotated[int | float, Field(multiple_of=0.01)], Annotated[int, Field(allow_inf_nan=False)]),
    *(Annotated[Decimal | int, Field(multiple_of=3)], Annotated[int | float | None, Field(allow_inf_nan=False)]),
    *(Annotated[int | str, Field(ge=3)], Annotated[Any, Field(multiple_of=0.01)], Annotated[Any, Field(lt=3)]),
]


@pytest.mark.parametrize("schema", TYPES, ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_no_number_makes_a_type_raise(schema: Any, mode: Any) -> None:
    for text in (*HUGE, "0", "-0", "-0.0", "0.07", "1.0", "123456789012345678901234567890.5"):
        assert resolved(schema, f"{text} ", mode).status in (Status.FINAL, Status.MISMATCH)


@pytest.mark.parametrize("text", ["1.0", "0.5", "3", "1e2"])
def test_a_constraint_on_a_union_of_numbers_leaves_them_as_they_are(text: str) -> None:
    schema: Any = Annotated[int | float, Field(gt=0)]
    for resolution in (resolved(schema, f"{text} ", "float"), resolved(list[schema], f"[{text}]", "float")):
        assert resolution.status is Status.FINAL
    assert type(resolved(schema, f"{text} ", "float").value) is type(json.loads(text))


@pytest.mark.parametrize("schema", [schema for schema in TYPES if schema is not str], ids=str)
@pytest.mark.parametrize("text", ['"x"', "null", "[]", '{"a": 1}', '"' + "9" * 5_000 + '"'])
def test_no_other_value_makes_a_type_of_numbers_raise(schema: Any, text: str) -> None:
    inside = resolved(dict[str, schema], f'{{"n": {text}}}', "float")
    assert resolved(schema, text, "float").status is inside.status
    assert all(error.path == ("n",) for error in inside.errors if text != '{"a": 1}')


def test_a_type_error_of_a_validator_of_the_program_is_raised() -> None:
    def fails(_: object) -> int:
        raise TypeError("a bug")

    for validator in (AfterValidator(fails), BeforeValidator(fails), BeforeValidator(int)):
        with pytest.raises(TypeError):
            resolved(Annotated[int, validator], "[]" if validator.func is int else "1 ", "float")
