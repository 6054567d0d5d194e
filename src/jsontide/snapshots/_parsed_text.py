"""The next snapshot as text in, its value out, and all that did not change in it by the same objects as before.

A text that goes on where the last one ended, before all that only closed what was open there, is not read again: a
reader that stands at that place reads what is new, and a fork of it what closes.
Where a text does not go on, it is read whole.

Rule: the value is that of the whole text, and no source makes this much slower than reading whole texts.
Our own reader, which can go on, is slower than Python's, which cannot.
While every text goes on from the last one, each character is read once by ours.
From the first that does not, and where several go on from the same, it reads on by no more than takes as long as the
whole text, for each snapshot that goes on; and until it has caught up, texts are read whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsontide._build import COMPILED
from jsontide.snapshots._reader import Reader
from jsontide.snapshots._reading import read_whole

if TYPE_CHECKING:
    from mypy_extensions import i64

_CLOSING: Final = ' \t\n\r"]}'
"""What a text may end in that only closes what is open; a string may end so too, which is then read again."""
_RSTRIP: Final[Any] = str.rstrip  # of any type: the one that compiled code knows does not notice where memory ends
_SLOWER: Final = 3 if COMPILED else 16
"""How many characters Python's reader reads while ours reads one, about."""
_SHORT: Final = 250 if COMPILED else 1_000
"""Characters of a text that is read whole in the time that it takes to go on, about."""


class ParsedText:
    """The text that was read last, and where a reader stands in it.

    It can be gone on from at any time; that changes what the next one costs, and not what it says.
    """

    __slots__ = ("is_append_only", "is_continued", "length", "pieces", "reader", "switched_reader")

    def __init__(self, pieces: tuple[str, ...], length: i64, is_append_only: bool) -> None:
        self.pieces: tuple[str, ...] = pieces  # the text, without what closes at its end
        self.length: i64 = length  # characters of these
        self.is_append_only: bool = is_append_only  # every text so far went on where the last one ended
        self.reader: Reader | None = None  # at the end of the pieces, or on its way there
        self.is_continued: bool = False  # the value was made by the reader
        self.switched_reader: bool = False  # and the one before was not

    def read(self, text: str) -> tuple[Any, ParsedText]:
        """Return the value of the next text, and that text as the last one, or raise `JsonStreamError`."""
        goes_on = self._goes_on_in(text)
        if not goes_on or self.length == 0 or len(text) < _SHORT:
            return _read_anew(text, self.is_append_only and goes_on)
        new = _without_closing(text[self.length :])
        end: i64 = self.length + len(new)
        is_append_only = self.is_append_only
        self.is_append_only = False
        most: i64 = len(text) if is_append_only else len(text) // _SLOWER
        first = Reader() if self.reader is None else self.reader
        start: i64 = first.index
        stop: i64 = min(end, start + most)
        # Kept: what is read of this text is not read again if another one goes on from it.
        self.reader = first = first.read_on(text, min(stop, self.length))
        reader = first.read_on(text, stop)
        if reader.error is not None:
            return _read_anew(text, False)
        after = ParsedText(_appended(self.pieces, new), end, is_append_only)
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

    def _goes_on_in(self, text: str) -> bool:
        """Tell whether a text begins with this one; the end is compared first, which tells soonest."""
        start: i64 = self.length
        for piece in reversed(self.pieces):
            start -= len(piece)
            if not text.startswith(piece, start):
                return False
        return True


NOTHING_READ: Final = ParsedText((), 0, True)


def _read_anew(text: str, is_append_only: bool) -> tuple[Any, ParsedText]:
    """Read a text whole, and remember nothing of those before but whether each has gone on."""
    value = read_whole(text)
    kept = _without_closing(text)
    return value, ParsedText(_appended((), kept), len(kept), is_append_only)


def _without_closing(text: str) -> str:
    kept: str = _RSTRIP(text, _CLOSING)
    return kept


def _appended(pieces: tuple[str, ...], new: str) -> tuple[str, ...]:
    """Append to a text in pieces, each at least twice as long as the next: there are few, and long ones stay.

    >>> _appended(("abcdefgh", "ij"), "k"), _appended(("abcdefgh", "ij"), "kl")
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
