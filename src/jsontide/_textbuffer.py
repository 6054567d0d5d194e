"""A text that grows at its end: pieces in, the whole out when it is read.

Rule: a text is a value. Appending returns a new one, and the old one stays as it is.
A text is a chain of blocks, each longer than the one after it, and a short text after them: so there are few, and a
character is rarely copied. Blocks are UTF-8: as `str`, one emoji makes every character of a text four bytes long.

Some servers cut a text as UTF-16 writes it, inside a surrogate pair; `join_surrogates` puts the halves together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_MAX_SHORT_PIECE: Final = 128
"""Pieces up to this length are joined at once: copying them costs less than another object."""


class TextBlock:
    """A part of a text that does not change any more, in UTF-8 that may have lone surrogates."""

    __slots__ = ("_before", "_data", "_whole")

    def __init__(self, data: bytes, before: TextBlock | None) -> None:
        self._data: Final = data
        self._before: Final = before
        self._whole: str | None = None

    def read(self) -> str:
        """Return the text up to the end of this block, which is kept: most who read a text read it again."""
        whole = self._whole
        if whole is None:
            pieces: list[bytes] = []
            block: TextBlock | None = self
            while block is not None:
                pieces.append(block._data)
                block = block._before
            pieces.reverse()
            self._whole = whole = b"".join(pieces).decode("utf-8", "surrogatepass")
        return whole

    def has_lone_surrogate(self) -> bool:
        """Return whether these bytes have a lone surrogate, which is not valid UTF-8."""
        if self._data.isascii():
            return False
        try:
            self._data.decode()
        except UnicodeDecodeError:
            return True
        return False


class GrowingText:
    """A text in pieces, joined when it is read."""

    __slots__ = ("_blocks", "_last", "_whole", "length")

    def __init__(self, last: str = "", blocks: TextBlock | None = None, length: int = -1) -> None:
        self._last: Final = last
        self._blocks: Final = blocks
        self._whole: str | None = None
        self.length: Final[int] = len(last) if length < 0 else length

    def append(self, piece: str) -> GrowingText:
        if not piece:
            return self
        length = self.length + len(piece)
        piece = self._last + piece
        if len(piece) <= _MAX_SHORT_PIECE:
            return GrowingText(piece, self._blocks, length)
        data = piece.encode("utf-8", "surrogatepass")
        before = self._blocks
        while before is not None and len(before._data) <= len(data):
            data = before._data + data
            before = before._before
        return GrowingText("", TextBlock(data, before), length)

    def read(self) -> str:
        """Return the whole text, which is joined once."""
        blocks = self._blocks
        if blocks is None:
            return self._last
        whole = self._whole
        if whole is None:
            self._whole = whole = blocks.read() + self._last
        return whole

    def tail(self, count: int) -> str:
        """Return the last `count` characters; the text before them is not joined."""
        last = self._last
        block = self._blocks
        if count <= len(last) or block is None:
            return last[max(len(last) - count, 0) :]
        pieces = [last]
        missing = count - len(last)
        while block is not None and missing > 0:
            data = block._data
            # An ASCII block is as long in bytes as in characters, so only its end is decoded.
            text = (data[-missing:] if data.isascii() else data).decode("utf-8", "surrogatepass")[-missing:]
            pieces.append(text)
            missing -= len(text)
            block = block._before
        pieces.reverse()
        return "".join(pieces)

    def has_lone_surrogate(self) -> bool:
        """Return whether the text has a lone surrogate, without joining it."""
        block = self._blocks
        while block is not None:
            if block.has_lone_surrogate():
                return True
            block = block._before
        return has_lone_surrogate(self._last)

    def __str__(self) -> str:
        return self.read()

    def __repr__(self) -> str:
        return f"GrowingText({self.read()!r})"

    def __len__(self) -> int:
        return self.length

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GrowingText) and self.length == other.length and self.read() == other.read()

    def __hash__(self) -> int:
        return hash(self.read())

    def __reduce__(self) -> tuple[Callable[..., GrowingText], tuple[str]]:
        return GrowingText, (self.read(),)


NO_TEXT: Final = GrowingText()
"""Where every text begins."""

_HIGH_SURROGATE: Final = 0xD800
_LOW_SURROGATE: Final = 0xDC00
_AFTER_SURROGATES: Final = 0xE000


def ends_in_surrogate(piece: str) -> bool:
    """Return whether a piece ends in a high surrogate."""
    return bool(piece) and _HIGH_SURROGATE <= ord(piece[-1]) < _LOW_SURROGATE


def has_lone_surrogate(text: str) -> bool:
    """Return whether a text has a surrogate; also two that make a pair but were not joined."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def join_surrogates(held: str, piece: str) -> tuple[str, str]:
    """Join a held high surrogate with the next piece; return the text to append, and the surrogate to hold now."""
    if not piece:
        return "", held
    if held:
        is_second = _LOW_SURROGATE <= ord(piece[0]) < _AFTER_SURROGATES
        piece = _pair(held, piece[0]) + piece[1:] if is_second else held + piece
    return (piece[:-1], piece[-1]) if ends_in_surrogate(piece) else (piece, "")


def _pair(first: str, second: str) -> str:
    return (first + second).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def strip_surrogate(text: str, held: str) -> str | None:
    """Return a text without the high surrogate that it must begin with, `None` if it begins otherwise."""
    units = text[:1].encode("utf-16-le", "surrogatepass")
    first, second = units[:2].decode("utf-16-le", "surrogatepass"), units[2:].decode("utf-16-le", "surrogatepass")
    return second + text[1:] if first == held else None


class GrowingList:
    """A list that grows at its end, as `GrowingText` does."""

    __slots__ = ("_before", "_last", "count")

    def __init__(self, last: list[object], before: GrowingList | None = None) -> None:
        self._last: Final = last
        self._before: Final = before
        self.count: Final[int] = len(last) + (0 if before is None else before.count)

    def extend(self, items: list[object]) -> GrowingList:
        before: GrowingList | None = self
        while before is not None and len(before._last) <= len(items):
            items = before._last + items
            before = before._before
        return GrowingList(items, before)

    def item(self, at: int) -> object:
        """Return the item at an index, which there must be."""
        part: GrowingList = self
        while part._before is not None and at < part._before.count:
            part = part._before
        return part._last[at if part._before is None else at - part._before.count]

    def read(self) -> list[object]:
        """Return a new list of all items."""
        lists: list[list[object]] = []
        part: GrowingList | None = self
        while part is not None:
            lists.append(part._last)
            part = part._before
        lists.reverse()
        return [item for items in lists for item in items]


class GrowingLists:
    """Lists by name that grow at their ends, with other values beside them."""

    __slots__ = ("_values",)

    def __init__(self, values: dict[str, object]) -> None:
        self._values: Final = values

    def find(self, name: str) -> object:
        """Return the list of a name, as a list that grows, or the value that is there instead."""
        value = self._values.get(name)
        return GrowingList(value) if isinstance(value, list) else value

    def extend(self, more: dict[str, object]) -> GrowingLists:
        """Return the same with more items in its lists; of any other value, the last one counts."""
        values = dict(self._values)
        for name, value in more.items():
            known = values.get(name)
            if not isinstance(value, list):
                values[name] = value
            elif isinstance(known, GrowingList):
                values[name] = known.extend(value)
            else:
                values[name] = GrowingList([*known, *value] if isinstance(known, list) else value)
        return GrowingLists(values)

    def read(self) -> dict[str, object]:
        """Return all of it as plain lists and values."""
        return {name: value.read() if isinstance(value, GrowingList) else value for name, value in self._values.items()}
