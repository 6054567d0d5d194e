"""A piece of text in, its name in an error message out: short, on one line, and printable."""

from __future__ import annotations

from typing import Final
from unicodedata import combining

END_OF_TEXT: Final = "the end of the text"
_SHOWN: Final = 40  # characters of a key or number


def name_character(char: str) -> str:
    r"""Return a character in quotes if it can be seen, else as an escape, or as its code point.

    >>> print(*map(name_character, "x'\n\x00\ud800\ufeff"))
    'x' "'" '\n' '\x00' U+D800 a byte order mark
    """
    if char == "\ufeff":
        return "a byte order mark"
    if char == "\\" or (char.isprintable() and not combining(char)):
        return f'"{char}"' if char == "'" else f"'{char}'"
    return repr(char) if char.isascii() else f"U+{ord(char):04X}"


def name_text(text: str) -> str:
    r"""Return a text in quotes, or the beginning of a long one.

    >>> print(name_text("a\tb"), name_text("9" * 50))
    'a\tb' '9999999999999999999999999999999999999999'...
    """
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}..."
