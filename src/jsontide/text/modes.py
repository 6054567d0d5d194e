"""The modes of the scanner as plain integers: the rows of the grammar.

Each is named for what may come next.
They are integers and not members of an enum because the compiled loop compares them as machine words; `Mode` gives
people the same numbers with names.
The order is part of the contract: modes below `VALUE` are inside a token that is still open, those from `NUMBER` to
`EXPONENT` inside a number.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

STRING: Final = 0
KEY_TEXT: Final = 1
LITERAL: Final = 2
NUMBER: Final = 3
FIRST_DIGIT: Final = 4
AFTER_ZERO: Final = 5
INTEGER: Final = 6
FIRST_DECIMAL: Final = 7
FRACTION: Final = 8
EXPONENT_SIGN: Final = 9
FIRST_EXPONENT: Final = 10
EXPONENT: Final = 11
VALUE: Final = 12
ITEM_OR_END: Final = 13
ITEM: Final = 14
AFTER_ITEM: Final = 15
KEY_OR_END: Final = 16
KEY: Final = 17
COLON: Final = 18
MEMBER: Final = 19
AFTER_MEMBER: Final = 20
DONE: Final = 21
ERROR: Final = 22


class Mode(IntEnum):
    STRING = 0
    """More characters of a string, or its closing quote."""
    KEY_TEXT = 1
    """More characters of a key, or its closing quote."""
    LITERAL = 2
    """The rest of `true`, `false` or `null`."""
    NUMBER = 3
    """A minus sign or a digit."""
    FIRST_DIGIT = 4
    """A digit, after a minus sign."""
    AFTER_ZERO = 5
    """A decimal point, an exponent, or the end of the number."""
    INTEGER = 6
    """A digit, a decimal point, an exponent, or the end of the number."""
    FIRST_DECIMAL = 7
    """A digit, after the decimal point."""
    FRACTION = 8
    """A digit, an exponent, or the end of the number."""
    EXPONENT_SIGN = 9
    """A sign or a digit, after the letter of the exponent."""
    FIRST_EXPONENT = 10
    """A digit, after the sign of the exponent."""
    EXPONENT = 11
    """A digit, or the end of the number."""
    VALUE = 12
    """The root value."""
    ITEM_OR_END = 13
    """The first item of an array, or its end."""
    ITEM = 14
    """An item, after a comma."""
    AFTER_ITEM = 15
    """A comma, or the end of the array."""
    KEY_OR_END = 16
    """The first key of an object, or its end."""
    KEY = 17
    """A key, after a comma."""
    COLON = 18
    """The colon after a key."""
    MEMBER = 19
    """The value of a member."""
    AFTER_MEMBER = 20
    """A comma, or the end of the object."""
    DONE = 21
    """White space only: the document is complete."""
    ERROR = 22
    """Nothing: the text is wrong."""


setattr(Mode, "__doc__", "What may come next in the text.")  # noqa: B010 - mypyc replaces the docstring of an enum
