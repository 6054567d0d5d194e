"""What the characters of a JSON string mean: runs that stand for themselves, and escapes.

An escape may be undecided: a chunk may end inside it, or after a high surrogate whose partner may follow.

While a string is open, the scanner appends its decoded text to a list of pieces, so a list and a count are what a
moment knows of it. Rule: whoever shows an open string, or its new part, takes the text from here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, cast

from jsontide._build import COMPILED

if TYPE_CHECKING:
    from mypy_extensions import i64

_SHORT_ESCAPES: Final[dict[str, str]] = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_HEX_DIGITS: Final = 4
_ESCAPE_LETTERS: Final = frozenset((*_SHORT_ESCAPES, "u"))
_HEX_DIGIT: Final = frozenset(("hex digit",))
_NOT_HEX: Final = re.compile(r"[^0-9a-fA-F]")
_LOW_ESCAPE_BEGUN: Final = re.compile(r"\\(u([dD]([c-fC-F][0-9a-fA-F]?)?)?)?")
match_plain: Final = cast("Callable[[str, int], re.Match[str]]", re.compile(r'[^"\\\x00-\x1f]*').match)
"""Match the characters that stand for themselves from a place on: faster than a loop when interpreted."""


def join_pieces(pieces: list[str], begin: i64, end: i64) -> str:
    """Return the text of the pieces from `begin` to `end`: mostly one, of the newest chunk."""
    return pieces[begin] if end == begin + 1 else "".join(pieces[begin:end])


class OpenText:
    """The text so far of a string, key or number that is open: the first pieces of a list that others append to.

    >>> before, now = OpenText(["Ky", "oto", "!"], 1), OpenText(["Ky", "oto", "!"], 2)
    >>> now.text(), now.since(before), now.beginning(3)
    ('Kyoto', 'oto', 'Kyo')
    """

    __slots__ = ("piece_count", "pieces")

    def __init__(self, pieces: list[str], piece_count: int) -> None:
        self.pieces: list[str] = pieces
        self.piece_count: int = piece_count

    def text(self) -> str:
        return join_pieces(self.pieces, 0, self.piece_count)

    def since(self, before: OpenText) -> str:
        """Return what was added since an earlier moment, also if another stream read the same text in other pieces."""
        if self.pieces is before.pieces:
            return join_pieces(self.pieces, before.piece_count, self.piece_count)
        return self.text()[before.length() :]

    def beginning(self, limit: int) -> str:
        """Return at most `limit` characters, without joining the rest."""
        text = ""
        at = 0
        while at < self.piece_count and len(text) < limit:
            text += self.pieces[at]
            at += 1
        return text[:limit]

    def length(self) -> int:
        return sum([len(piece) for piece in self.pieces[: self.piece_count]])


def plain_end(text: str, i: i64) -> i64:
    r"""Return where the characters from `i` on stop standing for themselves: quote, backslash, control character, end.

    >>> plain_end('Kyōto", ', 0), plain_end(r"a\n", 0), plain_end("all", 0)
    (5, 1, 3)
    """
    if COMPILED:
        n: i64 = len(text)
        while i < n:
            code: i64 = ord(text[i])
            if code < 32 or code == 34 or code == 92:
                return i
            i += 1
        return n
    return match_plain(text, i).end()


def expected_after(escape: str) -> frozenset[str]:
    r"""Return what must follow the beginning of an escape; nothing in particular after a whole one.

    >>> [sorted(expected_after(escape)) for escape in (r"\ud8", r"\ud83d", r"\ud83d\u")]
    [['hex digit'], [], ['hex digit']]
    """
    begun = escape[2 + _HEX_DIGITS :] if len(escape) >= 2 + _HEX_DIGITS else escape
    if not begun:
        return frozenset()
    return _ESCAPE_LETTERS if len(begun) == 1 else _HEX_DIGIT


def unescape(chunk: str, at: i64) -> tuple[str, i64]:
    r"""Return the text of the escape at `at`, and where it ends.

    If the text is empty, the place is `at` where the chunk ends inside the escape, else that of the wrong character.

    >>> unescape(r"say \"hi\"", 4), unescape(r"\ud83d\ude00", 0)
    (('"', 6), ('😀', 12))
    >>> unescape(r"\u00", 0), unescape(r"\ud83d", 0), unescape(r"\u00g9", 0)
    (('', 0), ('', 0), ('', 4))
    """
    begin: i64 = at + 2
    if begin > len(chunk):
        return "", at
    letter = chunk[at + 1]
    if letter != "u":
        short = _SHORT_ESCAPES.get(letter)
        return ("", at + 1) if short is None else (short, begin)
    code = _code(chunk, begin)
    if code < 0:
        end: i64 = begin - 1 - code
        return "", end if end < len(chunk) else at
    return _pair(chunk, at, code) if 0xD800 <= code < 0xDC00 else (chr(code), begin + _HEX_DIGITS)


def _pair(chunk: str, at: i64, high: i64) -> tuple[str, i64]:
    """Join a high surrogate with the low one that follows it, as in RFC 8259, section 7; any other stands alone."""
    end: i64 = at + 2 + _HEX_DIGITS
    next_escape = chunk[end : end + 2 + _HEX_DIGITS]
    if next_escape.startswith("\\u"):
        low = _code(chunk, end + 2)
        if 0xDC00 <= low < 0xE000:
            return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), end + 2 + _HEX_DIGITS
    if not next_escape or _LOW_ESCAPE_BEGUN.fullmatch(next_escape):
        return "", at
    return chr(high), end


def _code(chunk: str, begin: i64) -> i64:
    """Return what the four digits from `begin` on stand for; of fewer, -1 less their number."""
    if COMPILED:
        n: i64 = len(chunk)
        code: i64 = 0
        good: i64 = 0
        while good < _HEX_DIGITS:
            if begin + good == n:
                return -1 - good
            digit: i64 = ord(chunk[begin + good])
            if 48 <= digit <= 57:
                digit -= 48
            else:
                digit = (digit | 32) - 87  # the case of a letter is one bit
                if not 10 <= digit <= 15:
                    return -1 - good
            code = code * 16 + digit
            good += 1
        return code
    digits = chunk[begin : begin + _HEX_DIGITS]
    wrong = _NOT_HEX.search(digits)
    if wrong is not None:
        return -1 - wrong.start()
    return int(digits, 16) if len(digits) == _HEX_DIGITS else -1 - len(digits)
