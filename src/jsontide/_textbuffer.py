"""A text that grows at its end: pieces in, the whole out when it is read.

Rule: a text is a value. Appending returns a new one, and the old one stays as it is.
The texts of one stream are beginnings of one store, which is only appended to: the newest text appends to it, and one
that is not the newest any more copies its beginning first.
A store is UTF-8: as `str`, one emoji makes every character of a text four bytes long.

Some servers cut a text as UTF-16 writes it, inside a surrogate pair; `join_surrogates` puts the halves together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_SHORT: Final = 128
"""Characters of a text that is joined at once: copying it costs less than a store."""
_LONG: Final = 1_000
"""Characters of a text that is cheaper to extend in place than to copy."""
_LATER_BYTES: Final = range(0x80, 0xC0)
"""In UTF-8, the bytes of a character after its first."""


class _Store:
    """The bytes of a text and of all its beginnings, and the last two strings that were read of it, with their bytes.

    Python extends a string in place if nothing else refers to it, and copies it if something does.
    The two strings take turns, because most programs still hold the last one when they ask for the next.
    """

    __slots__ = ("_newest", "_older", "data")

    def __init__(self, data: bytearray) -> None:
        self.data: Final = data
        self._newest: tuple[str, int] = ("", 0)  # in one piece each, so that no thread sees half of a change
        self._older: tuple[str, int] = ("", 0)

    def read(self, size: int, length: int, piece: str) -> str:
        """Return the text of the first bytes, which are so many characters; the last of them are the piece."""
        newest = self._newest
        text, done = newest
        if size <= done:
            return text if size == done else text[:length]
        if length > _LONG:
            text, done = self._older
            if done > size:  # another thread has read a longer text in between
                return text[:length]
            self._older = newest
        if len(text) + len(piece) != length:
            piece = self.data[done:size].decode("utf-8", "surrogatepass")
        text += piece
        self._newest = (text, size)
        return text


class GrowingText:
    """A text whose pieces are joined when it is read."""

    __slots__ = ("_end", "_size", "_store", "length")

    def __init__(self, text: str = "", store: _Store | None = None, size: int = 0, length: int = -1) -> None:
        self._end: Final = text
        """The text, if there is no store; else its last piece."""
        self._store: Final = store
        self._size: Final = size
        """How many bytes of the store belong to the text."""
        self.length: Final[int] = len(text) if length < 0 else length

    def append(self, piece: str) -> GrowingText:
        if not piece:
            return self
        length = self.length + len(piece)
        store = self._store
        if store is None:
            text = self._end + piece
            if length <= _SHORT:
                return GrowingText(text)
            more = text.encode("utf-8", "surrogatepass")
            return GrowingText(text, _Store(bytearray(more)), len(more), length)
        more = piece.encode("utf-8", "surrogatepass")
        size = self._size + len(more)
        data = store.data
        is_newest = len(data) == self._size
        if is_newest:
            data += more
            is_newest = len(data) == size  # no other thread did the same
        if not is_newest:
            store = _Store(data[: self._size] + more)
        return GrowingText(piece, store, size, length)

    def read(self) -> str:
        """Return the whole text, which is joined once."""
        store = self._store
        return self._end if store is None else store.read(self._size, self.length, self._end)

    def tail(self, count: int) -> str:
        """Return the last `count` characters; the text before them is not joined."""
        store = self._store
        if store is None:
            return self._end[max(self.length - count, 0) :]
        if count <= 0:
            return ""
        data, size = store.data, self._size
        start = max(size - (count if size == self.length else 4 * count), 0)
        while data[start] in _LATER_BYTES:
            start += 1
        return data[start:size].decode("utf-8", "surrogatepass")[-count:]

    def since(self, before: GrowingText) -> str | None:
        """Return what was added since an earlier text; `None` if this one does not continue it.

        >>> GrowingText("Kyoto").since(GrowingText("Kyo")), GrowingText("Kyoto").since(GrowingText("Osa"))
        ('to', None)
        """
        more = self.length - before.length
        if more < 0:
            return None
        is_one = before._store is not None and before._store is self._store
        return self.tail(more) if is_one or self.read().startswith(before.read()) else None

    def has_lone_surrogate(self) -> bool:
        """Return whether the text has a surrogate."""
        store = self._store
        if store is None:
            return has_lone_surrogate(self._end)
        if self._size == self.length:
            return False
        try:
            store.data[: self._size].decode()
        except UnicodeDecodeError:
            return True
        return False

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

    __slots__ = ("_items", "count")

    def __init__(self, items: list[object], count: int = -1) -> None:
        self._items: Final = items[:] if count < 0 else items
        self.count: Final[int] = len(items) if count < 0 else count

    def extend(self, more: list[object]) -> GrowingList:
        items, count = self._items, self.count + len(more)
        is_newest = len(items) == self.count
        if is_newest:
            items += more
            is_newest = len(items) == count  # no other thread did the same
        return GrowingList(items if is_newest else items[: self.count] + more, count)

    def item(self, at: int) -> object:
        """Return the item at an index, which there must be."""
        return self._items[at]

    def read(self) -> list[object]:
        """Return a new list of all items."""
        return self._items[: self.count]


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
