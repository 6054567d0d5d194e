"""The lexeme of a number in, its Python value out."""

from __future__ import annotations

from decimal import Context, Decimal, InvalidOperation
from typing import Any, Final, Literal, TypeAlias

Floats: TypeAlias = Literal["float", "decimal", "lexeme"]
"""What numbers with a fraction or an exponent become."""
FLOATS: Final = ("float", "decimal", "lexeme")

# Python converts at least this many digits whatever `sys.set_int_max_str_digits` says; our own limit is `max_number`.
_DIGITS_AT_ONCE: Final = 640
_DIGITS_OF_A_FLOAT: Final = 15  # sys.float_info.dig; counting the point and a sign as digits is on the safe side
# Typed as Any so that numbers stay Python objects: compiled code would unbox them, and if boxing them again fails, the
# process ends.
_INT: Final[Any] = int
_FLOAT: Final[Any] = float
_SHIFT: Final[Any] = 10**_DIGITS_AT_ONCE
_CONTEXT: Final = Context(traps=[InvalidOperation])  # whatever the program's own context does


def is_integer(lexeme: str) -> bool:
    """Return whether a number is written without fraction and exponent."""
    return not ("." in lexeme or "e" in lexeme or "E" in lexeme)


def parse_number(lexeme: str, is_integer: bool, floats: str) -> object:
    """Return the value of a number, by `floats` if it is not an integer; `None` if it is out of range for `Decimal`."""
    if is_integer:
        return parse_int(lexeme)
    if floats == "float":
        return _FLOAT(lexeme)
    if floats == "lexeme":
        return lexeme
    try:
        return Decimal(lexeme, _CONTEXT)
    except InvalidOperation:
        return None


def parse_int(lexeme: str) -> object:
    """Return the exact value, of any length.

    >>> parse_int("-" + "9" * 10_000) == 1 - 10**10_000
    True
    """
    if len(lexeme) <= _DIGITS_AT_ONCE:
        return _INT(lexeme)
    is_negative = lexeme.startswith("-")
    digits = lexeme[1 if is_negative else 0 :]
    first = len(digits) % _DIGITS_AT_ONCE
    value: Any = _INT(digits[:first] or "0")
    for begin in range(first, len(digits), _DIGITS_AT_ONCE):
        value = value * _SHIFT + _INT(digits[begin : begin + _DIGITS_AT_ONCE])
    return -value if is_negative else value


def round_trips(lexeme: str, is_integer: bool) -> bool:
    """Return whether Python certainly writes a number as the text did; may be `False` where it would.

    `repr` restores up to 15 digits of a float exactly; it writes no trailing zeros, and small numbers with an exponent.

    >>> [round_trips(lexeme, False) for lexeme in ("12.5", "-3.0", "1.50", "1e3", "0.00001")]
    [True, True, False, False, False]
    >>> [round_trips(lexeme, True) for lexeme in ("12", "-0")]
    [True, False]
    """
    if is_integer:
        return len(lexeme) <= _DIGITS_AT_ONCE and lexeme != "-0"
    if len(lexeme) > _DIGITS_OF_A_FLOAT or "e" in lexeme or "E" in lexeme or "0.000" in lexeme:
        return False
    return not lexeme.endswith("0") or lexeme.endswith(".0")
