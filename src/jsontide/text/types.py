"""The modes of the scanner as people see them: the numbers of `modes`, with names."""

from __future__ import annotations

from enum import IntEnum

from jsontide.text import modes


class Mode(IntEnum):
    """What may come next in the text."""

    STRING = modes.STRING
    """More characters of a string, or its closing quote."""
    KEY_TEXT = modes.KEY_TEXT
    """More characters of a key, or its closing quote."""
    LITERAL = modes.LITERAL
    """The rest of `true`, `false` or `null`."""
    NUMBER = modes.NUMBER
    """A minus sign or a digit."""
    FIRST_DIGIT = modes.FIRST_DIGIT
    """A digit, after a minus sign."""
    AFTER_ZERO = modes.AFTER_ZERO
    """A decimal point, an exponent, or the end of the number."""
    INTEGER = modes.INTEGER
    """A digit, a decimal point, an exponent, or the end of the number."""
    FIRST_DECIMAL = modes.FIRST_DECIMAL
    """A digit, after the decimal point."""
    FRACTION = modes.FRACTION
    """A digit, an exponent, or the end of the number."""
    EXPONENT_SIGN = modes.EXPONENT_SIGN
    """A sign or a digit, after the letter of the exponent."""
    FIRST_EXPONENT = modes.FIRST_EXPONENT
    """A digit, after the sign of the exponent."""
    EXPONENT = modes.EXPONENT
    """A digit, or the end of the number."""
    VALUE = modes.VALUE
    """The root value."""
    ITEM_OR_END = modes.ITEM_OR_END
    """The first item of an array, or its end."""
    ITEM = modes.ITEM
    """An item, after a comma."""
    AFTER_ITEM = modes.AFTER_ITEM
    """A comma, or the end of the array."""
    KEY_OR_END = modes.KEY_OR_END
    """The first key of an object, or its end."""
    KEY = modes.KEY
    """A key, after a comma."""
    COLON = modes.COLON
    """The colon after a key."""
    MEMBER = modes.MEMBER
    """The value of a member."""
    AFTER_MEMBER = modes.AFTER_MEMBER
    """A comma, or the end of the object."""
    DONE = modes.DONE
    """White space only: the document is complete."""
    ERROR = modes.ERROR
    """Nothing: the text is wrong."""
