"""The lexeme of a number in, its Python value out."""

from __future__ import annotations

from decimal import Context, Decimal, InvalidOperation
from typing import Final

# Python converts at least this many digits whatever `sys.set_int_max_str_digits` says; our own limit is `max_number`.
_DIGITS_AT_ONCE: Final = 640
_DIGITS_OF_A_FLOAT: Final = 15  # sys.float_info.dig; the point and a sign make it fewer, which is safe
_SHIFT: Final = 10**_DIGITS_AT_ONCE
_CONTEXT: Final = Context(traps=[InvalidOperation])  # whatever the program's own context does


def is_integer(lexeme: str) -> bool:
    """Tell whether a number is written without fraction and exponent."""
    return not ("." in lexeme or "e" in lexeme or "E" in lexeme)


def number_of(lexeme: str, is_integer: bool, floats: str) -> object:
    """Return the value of a number, as `floats` says if it is no integer; nothing if that is beyond `Decimal`."""
    if is_integer:
        return to_int(lexeme)
    if floats == "float":
        return float(lexeme)
    return lexeme if floats == "lexeme" else to_decimal(lexeme)


def to_int(lexeme: str) -> int:
    """Return the exact value, of any length.

    >>> to_int("-" + "9" * 10_000) == 1 - 10**10_000
    True
    """
    if len(lexeme) <= _DIGITS_AT_ONCE:
        return int(lexeme)
    digits = lexeme.lstrip("-")
    first = len(digits) % _DIGITS_AT_ONCE
    value = int(digits[:first] or "0")
    for begin in range(first, len(digits), _DIGITS_AT_ONCE):
        value = value * _SHIFT + int(digits[begin : begin + _DIGITS_AT_ONCE])
    return value if digits is lexeme else -value


def to_decimal(lexeme: str) -> Decimal | None:
    """Return the exact value, or nothing if its exponent is beyond `Decimal`."""
    try:
        return Decimal(lexeme, _CONTEXT)
    except InvalidOperation:
        return None


def is_usual_int(lexeme: str) -> bool:
    """Tell whether Python writes an integer as the text did, so that the lexeme need not be kept."""
    return len(lexeme) <= _DIGITS_AT_ONCE and lexeme != "-0"


def is_usual_float(lexeme: str) -> bool:
    """Tell, for most lexemes of which it is true, whether Python writes a float as the text did.

    A float holds 15 digits exactly, so that `repr` finds them again; it writes no zeros at the end, and small numbers
    with an exponent.

    >>> [is_usual_float(lexeme) for lexeme in ("12.5", "-3.0", "1.50", "1e3", "0.00001")]
    [True, True, False, False, False]
    """
    if len(lexeme) > _DIGITS_OF_A_FLOAT or "e" in lexeme or "E" in lexeme or "0.000" in lexeme:
        return False
    return not lexeme.endswith("0") or lexeme.endswith(".0")
