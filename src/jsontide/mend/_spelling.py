"""A number as other languages write it in, the same number in JSON out."""

from __future__ import annotations

import re
from typing import Final

_BASED: Final = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)")
_DECIMAL: Final = re.compile(r"([-+]?)([0-9]+(?:_[0-9]+)*)?(?:\.([0-9]*))?([eE][-+]?[0-9]+)?")
_LONGEST: Final = 3_000  # Python converts no more than 4,300 digits
_SIGNED_WORD: Final = re.compile(r"[-+](?:Infinity|inf|NaN|nan)")


def respell_number(token: str) -> str:
    """Return a number in JSON's spelling, nothing if it is none, or if leading zeros leave open what it means.

    >>> [respell_number(token) for token in ("0x1F", "+5", ".5", "5.", "1_000", "-Infinity", "007", "1.2.3")]
    ['31', '5', '0.5', '5.0', '1000', 'null', '', '']
    """
    if len(token) > _LONGEST:
        return ""
    if _SIGNED_WORD.fullmatch(token):
        return "null"
    based = _BASED.fullmatch(token)
    if based is not None:
        return ("-" if based[1] == "-" else "") + str(int(based[2], 0))
    decimal = _DECIMAL.fullmatch(token)
    if decimal is None:
        return ""
    whole = (decimal[2] or "").replace("_", "")
    fraction = decimal[3]
    if not whole and not fraction:
        return ""
    if len(whole) > 1 and whole[0] == "0":
        return ""
    point = "" if fraction is None else "." + (fraction or "0")
    return ("-" if decimal[1] == "-" else "") + (whole or "0") + point + (decimal[4] or "")
