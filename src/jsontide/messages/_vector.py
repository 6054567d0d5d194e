"""A sequence that is a value: putting an item gives another one, and nothing that was there is copied but its rows.

Rows of at most 32 items, rows of rows, and so on: an item of a million is four rows away from the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, compress, count, repeat
from operator import is_not
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast

Item = TypeVar("Item")
_Row: TypeAlias = tuple[Any, ...]
_BITS: Final = 5
_MASK: Final = (1 << _BITS) - 1


class Vector(Generic[Item]):
    """Items that are appended or replaced; it never changes."""

    __slots__ = ("_count", "_height", "_root")

    def __init__(self, root: _Row = (), count: int = 0, height: int = 0) -> None:
        self._root = root
        self._count = count
        self._height = height
        """How many bits of a position choose a row above the last one."""

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, position: int) -> Item:
        row, height = self._root, self._height
        while height:
            row = row[position >> height & _MASK]
            height -= _BITS
        return cast("Item", row[position & _MASK])

    def items(self) -> tuple[Item, ...]:
        """Return all of them, without a step of Python for each."""
        row: Any = self._root
        for _ in range(0, self._height, _BITS):
            row = chain.from_iterable(row)
        return tuple(row)

    def put(self, position: int, item: Item) -> Vector[Item]:
        """Return the vector with an item at a position, which may be the one after the last."""
        root, height = self._root, self._height
        if position >> height > _MASK:
            root, height = (root,), height + _BITS
        return Vector(_put(root, height, position, item), max(self._count, position + 1), height)

    def changed_since(self, before: Vector[Item]) -> Iterator[int]:
        """Yield the positions of items that an earlier vector, of which this one was made, does not have there."""
        row = before._root
        for _ in range(before._height, self._height, _BITS):
            row = (row,)
        return _changed(self._root, row, self._height, 0)


def _changed(now: _Row, before: _Row, height: int, first: int) -> Iterator[int]:
    are_others = map(is_not, now, chain(before, repeat(None)))
    for at in compress(count(), are_others):
        position = first + (at << height)
        if height:
            yield from _changed(now[at], before[at] if at < len(before) else (), height - _BITS, position)
        else:
            yield position


def _put(row: _Row, height: int, position: int, item: object) -> _Row:
    at = position >> height & _MASK
    if height:
        item = _put(row[at] if at < len(row) else (), height - _BITS, position, item)
    return (*row[:at], item, *row[at + 1 :])
