"""One escape in a chunk in, its text out: what a backslash in a string stands for.

"Not decidable yet" is an answer: a chunk may end inside an escape, or after a high surrogate whose partner may follow.
"""

from __future__ import annotations

import re
from typing import Final

_SHORT: Final[dict[str, str]] = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_HEX_LENGTH: Final = 4
_NOT_HEX: Final = re.compile(r"[^0-9a-fA-F]")
_LOW_ESCAPE: Final = re.compile(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_LOW_ESCAPE_BEGUN: Final = re.compile(r"(\\(u([dD]([c-fC-F][0-9a-fA-F]?)?)?)?)?")


def unescape(chunk: str, at: int) -> tuple[str, int]:
    r"""Return the text of the escape at `at`, and where it ends.

    Without a text: `at` itself where the chunk ends too early to tell, else the place of the character that is wrong.

    >>> unescape(r"say \"hi\"", 4), unescape(r"\ud83d\ude00", 0)
    (('"', 6), ('😀', 12))
    >>> unescape(r"\u00", 0), unescape(r"\ud83d", 0), unescape(r"\u00g9", 0)
    (('', 0), ('', 0), ('', 4))
    """
    letter = chunk[at + 1 : at + 2]
    short = _SHORT.get(letter)
    if short is not None:
        return short, at + 2
    if letter != "u":
        return "", at + 1 if letter else at
    begin = at + 2
    digits = chunk[begin : begin + _HEX_LENGTH]
    wrong = _NOT_HEX.search(digits)
    if wrong is not None:
        return "", begin + wrong.start()
    if len(digits) < _HEX_LENGTH:
        return "", at
    return _pair(chunk, at, int(digits, 16))


def _pair(chunk: str, at: int, code: int) -> tuple[str, int]:
    """Join a high surrogate with the low one that follows it, as RFC 8259 section 7 wants; any other stands alone."""
    end = at + 2 + _HEX_LENGTH
    if not 0xD800 <= code < 0xDC00:
        return chr(code), end
    partner = chunk[end : end + 2 + _HEX_LENGTH]
    if _LOW_ESCAPE.fullmatch(partner):
        low = int(partner[-_HEX_LENGTH:], 16)
        return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), end + 2 + _HEX_LENGTH
    if _LOW_ESCAPE_BEGUN.fullmatch(partner):
        return "", at
    return chr(code), end
