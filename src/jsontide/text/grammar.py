"""The grammar of JSON (RFC 8259), as data: for every mode, what each character means.

`ROWS` is for people; `GRAMMAR` is the same as one flat table of bytes for the compiled scanner, with the cell of a mode
and an ASCII code at `mode * 128 + code`; `CELLS` is the same by characters, for the interpreter.
A cell is an action, numbered from `FAIL` on, or a mode: skip the character and continue in that mode.
Outside strings no character beyond ASCII has a meaning; the scanner looks those up as U+0000, which no row names.

At the end: how error messages name what was expected and what was found, short, on one line, and printable.
"""

from __future__ import annotations

from typing import Final
from unicodedata import combining

from jsontide.text import modes
from jsontide.text.modes import Mode

# Actions have higher numbers than modes.
FAIL: Final = 32
NEWLINE: Final = 33
OPEN_KEY: Final = 34
CLOSE: Final = 35
END_NUMBER: Final = 36
# From here on a value begins.
OPEN_STRING: Final = 37
OPEN_OBJECT: Final = 38
OPEN_ARRAY: Final = 39
BEGIN_NUMBER: Final = 40
BEGIN_LITERAL: Final = 41
SPACE: Final = 42  # in `ROWS` only: continue in the same mode

_ASCII: Final = 128
_SPACES: Final = {" ": SPACE, "\t": SPACE, "\r": SPACE, "\n": NEWLINE}
_LITERALS: Final = dict.fromkeys("tfn", BEGIN_LITERAL)
_VALUES: Final = {
    **_SPACES,
    **dict.fromkeys("-0123456789", BEGIN_NUMBER),
    **_LITERALS,
    '"': OPEN_STRING,
    "{": OPEN_OBJECT,
    "[": OPEN_ARRAY,
}


def _digits(mode: int) -> dict[str, int]:
    return dict.fromkeys("0123456789", mode)


# A number ends at the first character that cannot continue it, if it can end there at all.
_MAY_END: Final = {chr(code): END_NUMBER for code in range(_ASCII)}
_POINT: Final = {".": modes.FIRST_DECIMAL}
_E: Final = dict.fromkeys("eE", modes.EXPONENT_SIGN)

ROWS: Final[dict[Mode, dict[str, int]]] = {
    Mode.STRING: {},  # a string is not read by the table: runs of characters, see Scanner
    Mode.KEY_TEXT: {},
    Mode.LITERAL: _LITERALS,  # a literal cut by a chunk's end is read again from its first letter
    Mode.NUMBER: {**_digits(modes.INTEGER), "-": modes.FIRST_DIGIT, "0": modes.AFTER_ZERO},
    Mode.FIRST_DIGIT: {**_digits(modes.INTEGER), "0": modes.AFTER_ZERO},
    Mode.AFTER_ZERO: {**_MAY_END, **dict.fromkeys("0123456789", FAIL), **_POINT, **_E},
    Mode.INTEGER: {**_MAY_END, **_digits(modes.INTEGER), **_POINT, **_E},
    Mode.FIRST_DECIMAL: _digits(modes.FRACTION),
    Mode.FRACTION: {**_MAY_END, **_digits(modes.FRACTION), **_E},
    Mode.EXPONENT_SIGN: {**_digits(modes.EXPONENT), **dict.fromkeys("+-", modes.FIRST_EXPONENT)},
    Mode.FIRST_EXPONENT: _digits(modes.EXPONENT),
    Mode.EXPONENT: {**_MAY_END, **_digits(modes.EXPONENT)},
    Mode.VALUE: _VALUES,
    Mode.ITEM_OR_END: {**_VALUES, "]": CLOSE},
    Mode.ITEM: _VALUES,
    Mode.AFTER_ITEM: {**_SPACES, ",": modes.ITEM, "]": CLOSE},
    Mode.KEY_OR_END: {**_SPACES, '"': OPEN_KEY, "}": CLOSE},
    Mode.KEY: {**_SPACES, '"': OPEN_KEY},
    Mode.COLON: {**_SPACES, ":": modes.MEMBER},
    Mode.MEMBER: _VALUES,
    Mode.AFTER_MEMBER: {**_SPACES, ",": modes.KEY, "}": CLOSE},
    Mode.DONE: _SPACES,
    Mode.ERROR: {},
}


def _cell(mode: Mode, char: str) -> int:
    cell = ROWS[mode].get(char, FAIL)
    return mode.value if cell == SPACE else cell


GRAMMAR: Final[bytes] = bytes(_cell(mode, chr(code)) for mode in Mode for code in range(_ASCII))
CELLS: Final[list[dict[str, int]]] = [{chr(code): _cell(mode, chr(code)) for code in range(_ASCII)} for mode in Mode]

EXPECTED_WORDS: Final[dict[int, str]] = {
    modes.STRING: "more of the string or '\"'",
    modes.KEY_TEXT: "more of the key or '\"'",
    modes.FIRST_DIGIT: "a digit",
    modes.AFTER_ZERO: "no digit after a leading zero",
    modes.FIRST_DECIMAL: "a digit",
    modes.EXPONENT_SIGN: "a digit, '+' or '-'",
    modes.FIRST_EXPONENT: "a digit",
    modes.VALUE: "a value",
    modes.ITEM_OR_END: "a value or ']'",
    modes.ITEM: "a value",
    modes.AFTER_ITEM: "',' or ']'",
    modes.KEY_OR_END: "a key in quotes or '}'",
    modes.KEY: "a key in quotes",
    modes.COLON: "':'",
    modes.MEMBER: "a value",
    modes.AFTER_MEMBER: "',' or '}'",
    modes.DONE: "nothing after the document",
}
"""What was expected, by mode, as an error message says it; for literals, the scanner knows the word."""


def _expected(mode: Mode) -> frozenset[str]:
    """Return what a row accepts, white space aside, in the words of `ParserError.expected`."""
    names: set[str] = set()
    for char, cell in ROWS[mode].items():
        if OPEN_STRING <= cell < SPACE:
            names.add("value")
        elif cell == OPEN_KEY:
            names.add("key")
        elif cell == CLOSE or cell < FAIL:
            names.add("digit" if char.isdigit() else char)
    return frozenset(names)


IN_A_STRING: Final = frozenset(("character", '"'))
NOTHING_EXPECTED: Final[frozenset[str]] = frozenset()
EXPECTED: Final[dict[int, frozenset[str]]] = {
    **{mode.value: _expected(mode) for mode in Mode},
    modes.STRING: IN_A_STRING,
    modes.KEY_TEXT: IN_A_STRING,
    modes.DONE: frozenset(("end",)),
}
"""The same as data; for a number that may end, without what may follow it."""

LITERALS: Final[dict[str, str]] = {"t": "true", "f": "false", "n": "null"}
LITERAL_VALUES: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}

AT_A_VALUE: Final = frozenset(
    mode
    for mode in range(modes.ERROR)
    if mode != modes.KEY_TEXT and (mode < modes.VALUE or mode in (modes.ITEM_OR_END, modes.ITEM, modes.MEMBER))
)
"""The modes in which a value is being read or expected inside a container: an error then belongs to that value."""

END_OF_TEXT: Final = "the end of the text"
_MAX_NAMED_LENGTH: Final = 40  # characters of a key or number


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
    return repr(text) if len(text) <= _MAX_NAMED_LENGTH else f"{text[:_MAX_NAMED_LENGTH]!r}..."
