"""The next snapshot as text in, its value out; what did not change in it is the same objects as before.

A text that continues the last one, apart from the brackets and quotes that closed that one, is not read again: the
reader that stopped there reads what is new, and a fork of it reads what closes.
Any other text is read whole.

Rule: the value is that of the whole text, and no source makes this much slower than reading whole texts.
Our own reader, which can continue, is slower than Python's, which cannot.
While every text continues the last one, ours reads each character once.
After the first that does not, and where several continue the same text, ours reads in each step only as much as takes
as long as reading the whole text would; until it has caught up, texts are read whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsontide._build import COMPILED
from jsontide.snapshots._reader import Reader, read_whole

if TYPE_CHECKING:
    from mypy_extensions import i64

_CLOSING: Final = ' \t\n\r"]}'
"""Characters at the end of a text that may only close what is open; if they belong to a string, they are read again."""
_RSTRIP: Final[Any] = str.rstrip  # typed Any: mypyc's own rstrip ignores a lack of memory
SLOWDOWN: Final = 3 if COMPILED else 16
"""About how many characters Python's reader reads while ours reads one."""
_SHORT: Final = 250 if COMPILED else 1_000
"""Below about this length, reading the whole text is as fast as continuing."""


class ParsedText:
    """The text that was read last, and a reader that has read some of it.

    It can be continued any number of times: that changes the cost of the next text, not its value.
    """

    __slots__ = ("is_append_only", "is_continued", "length", "pieces", "reader", "switched_reader")

    def __init__(self, pieces: tuple[str, ...], length: i64, is_append_only: bool) -> None:
        self.pieces: tuple[str, ...] = pieces  # the text, without the closing characters at its end
        self.length: i64 = length  # characters in these
        self.is_append_only: bool = is_append_only  # every text so far has continued the last one
        self.reader: Reader | None = None  # it has read the pieces, or part of them
        self.is_continued: bool = False  # the value was made by the reader
        self.switched_reader: bool = False  # and the one before it was not

    def read(self, text: str) -> tuple[Any, ParsedText]:
        """Return the value of the next text, and the `ParsedText` of it, or raise `JsonStreamError`."""
        is_continuation = self._is_continued_by(text)
        if not is_continuation or self.length == 0 or len(text) < _SHORT:
            return _read_anew(text, self.is_append_only and is_continuation)
        new = _without_closing(text[self.length :])
        end: i64 = self.length + len(new)
        is_append_only = self.is_append_only
        self.is_append_only = False
        most: i64 = len(text) if is_append_only else len(text) // SLOWDOWN
        first = Reader() if self.reader is None else self.reader
        start: i64 = first.index
        stop: i64 = min(end, start + most)
        # Kept, so that this part is not read again if another text continues this one too.
        self.reader = first = first.read_on(text, min(stop, self.length))
        reader = first.read_on(text, stop)
        if reader.error is not None:
            return _read_anew(text, False)
        after = ParsedText(_append(self.pieces, new), end, is_append_only)
        after.reader = reader
        if len(text) - start > most:
            return read_whole(text), after
        last = reader.fork()
        last.end(text[end:])
        if last.error is not None:
            return _read_anew(text, False)
        after.is_continued = True
        after.switched_reader = not self.is_continued
        return last.values.pop(), after

    def _is_continued_by(self, text: str) -> bool:
        """Return whether a text begins with this one; the end is compared first, as it differs most often."""
        start: i64 = self.length
        for piece in reversed(self.pieces):
            start -= len(piece)
            if not text.startswith(piece, start):
                return False
        return True


NOTHING_READ: Final = ParsedText((), 0, True)


def _read_anew(text: str, is_append_only: bool) -> tuple[Any, ParsedText]:
    """Read a text whole, keeping nothing of the texts before but whether each continued the last."""
    value = read_whole(text)
    kept = _without_closing(text)
    return value, ParsedText(_append((), kept), len(kept), is_append_only)


def _without_closing(text: str) -> str:
    kept: str = _RSTRIP(text, _CLOSING)
    return kept


def _append(pieces: tuple[str, ...], new: str) -> tuple[str, ...]:
    """Append to a text in pieces, each at least twice as long as the next: they are few, and long ones are not copied.

    >>> _append(("abcdefgh", "ij"), "k"), _append(("abcdefgh", "ij"), "kl")
    (('abcdefgh', 'ij', 'k'), ('abcdefgh', 'ijkl'))
    """
    if not new:
        return pieces
    length: i64 = len(new)
    kept: i64 = len(pieces)
    while kept > 0 and len(pieces[kept - 1]) < 2 * length:
        kept -= 1
        length += len(pieces[kept])
    return (*pieces[:kept], "".join((*pieces[kept:], new)))
