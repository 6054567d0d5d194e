"""Numbers of documents and schemas compared as they are written, in every mode of the parser.

A document's number is an `int`, a `float` or a `Decimal`; a schema's is an `int` or a `float`.
A float stands for the shortest decimal that reads as it, so that 0.1 is 0.1 in both modes, and 0.07 is 7 times 0.01.

Rule: no number is written out: 1e999999999 costs what its characters do.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeAlias

Number: TypeAlias = int | float | Decimal


def to_decimal(number: Number) -> Decimal:
    """Return a number as the decimal that it was written as."""
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def is_same_number(one: Any, other: Any) -> bool:  # noqa: ANN401
    """Return whether two numbers of a document or a schema have the same value as written."""
    return bool(one == other) if type(one) is type(other) else to_decimal(one) == to_decimal(other)


def is_multiple(number: Number, of: Number) -> bool:
    """Return whether a number is a multiple of another; infinity, which 1e999 becomes as a float, is not."""
    value, unit = to_decimal(number), to_decimal(of)
    if not value.is_finite() or not unit.is_finite() or not unit:
        return False
    if not value:
        return True
    digits, exponent = _split(value)
    unit_digits, unit_exponent = _split(unit)
    shift = exponent - unit_exponent
    if shift >= 0:
        return digits * pow(10, shift, unit_digits) % unit_digits == 0
    # A number other than zero is no multiple of a larger one.
    return value.adjusted() >= unit.adjusted() and digits % (unit_digits * 10**-shift) == 0


def _split(number: Decimal) -> tuple[int, int]:
    """Return two whole numbers: the first times ten to the power of the second is the absolute value."""
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)  # noqa: S101 - it is finite
    return int(Decimal((0, digits, 0))), exponent
