"""A text that grows at its end: pieces in, the whole out when it is read.

Rule: a text is a value. Appending gives a new one, in O(1), and the old one does not change.
The pieces are shared: a text sees the first so many of a list that later ones only append to, and one that is not the
newest copies before it appends.

A source may cut a text as UTF-16 writes it, between the two halves of a character beyond U+FFFF; `joined` joins them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable


class GrowingText:
    """Pieces of a text, joined when it is read as a `str`."""

    __slots__ = ("_count", "_pieces", "length")

    def __init__(self, text: str = "") -> None:
        self._pieces = [text] if text else []
        self._count = len(self._pieces)
        self.length = len(text)

    def append(self, piece: str) -> GrowingText:
        if not piece:
            return self
        if not self._count:
            return GrowingText(piece)
        pieces = self._pieces
        if len(pieces) != self._count:
            pieces = pieces[: self._count]
        pieces.append(piece)
        grown = GrowingText()
        grown._pieces = pieces
        grown._count = len(pieces)
        grown.length = self.length + len(piece)
        return grown

    def __str__(self) -> str:
        if not self._count:
            return ""
        if self._count > 1:
            # Joined once; the longer list stays with the texts that share it.
            self._pieces = ["".join(self._pieces[: self._count])]
            self._count = 1
        return self._pieces[0]

    def __repr__(self) -> str:
        return f"GrowingText({str(self)!r})"

    def __len__(self) -> int:
        return self.length

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GrowingText) and self.length == other.length and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Callable[..., GrowingText], tuple[str]]:
        return GrowingText, (str(self),)


NO_TEXT: Final = GrowingText()
"""Where every text begins."""

_FIRST_HALF: Final = "\ud800"
_SECOND_HALF: Final = "\udc00"
_NO_HALF: Final = "\ue000"


def waits(piece: str | None) -> bool:
    """Return whether a piece ends in a first half."""
    if not piece:
        return False
    return _FIRST_HALF <= piece[-1] < _SECOND_HALF


def joined(held: str, piece: str) -> tuple[str, str]:
    """Return what a piece adds to a text, with the half that waited for it, and the half that waits now."""
    if not piece:
        return "", held
    piece = _pair(held, piece[0]) + piece[1:] if _SECOND_HALF <= piece[0] < _NO_HALF else held + piece
    return (piece[:-1], piece[-1]) if waits(piece) else (piece, "")


def _pair(first: str, second: str) -> str:
    return (first + second).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def without_half(text: str, held: str) -> str | None:
    """Return a text without the half of a character that it must begin with, `None` if it begins otherwise."""
    units = text[:1].encode("utf-16-le", "surrogatepass")
    first, second = units[:2].decode("utf-16-le", "surrogatepass"), units[2:].decode("utf-16-le", "surrogatepass")
    return second + text[1:] if first == held else None
