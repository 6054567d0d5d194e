"""What a schema wants at a place: the part of it that mending needs.

`schema` makes shapes; a child is made when it is asked for, because recursive schemas never end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

STRING: Final = 1
NUMBER: Final = 2
BOOLEAN: Final = 4
NULL: Final = 8
ARRAY: Final = 16
OBJECT: Final = 32
ANYTHING: Final = 63

Fill = Callable[["Shape"], None]
"""Sets what a shape says, from its node."""
Steps = tuple[str | None, ...]
"""The keys that lead to a shape, `None` for the items of an array."""


class Origin:
    """The schema that a shape is of, and how to make the shape again."""

    __slots__ = ("make", "schema")

    def __init__(self, schema: object, make: Callable[[object, Steps], Shape | None]) -> None:
        self.schema: Final = schema
        self.make: Final = make


class Shape:
    """The kinds of values that fit a place."""

    __slots__ = (
        "_fill",
        "_is_closed",
        "_is_filled",
        "_is_integer",
        "_item",
        "_keys",
        "_kinds",
        "_members",
        "_origin",
        "_steps",
        "_words",
        "node",
    )

    def __init__(self, node: object, fill: Fill, origin: Origin, steps: Steps = ()) -> None:
        self.node: Final = node
        self._fill: Final = fill
        self._origin: Final = origin
        self._steps: Final = steps
        self._is_filled: bool = False
        self._kinds: int = ANYTHING
        self._words: tuple[str, ...] = ()
        self._members: dict[str, Shape] = {}
        self._keys: dict[str, object] = {}
        self._item: Shape | None = None
        self._is_closed: bool = False
        self._is_integer: bool = False

    def set(
        self,
        kinds: int,
        words: tuple[str, ...],
        keys: dict[str, object],
        item: object,
        is_closed: bool,
        is_integer: bool,
    ) -> None:
        """Say what fits; `keys` and `item` are the nodes of the children."""
        self._kinds = kinds
        self._words = words
        self._keys = keys
        self._item = None if item is None else Shape(item, self._fill, self._origin, (*self._steps, None))
        self._is_closed = is_closed
        self._is_integer = is_integer

    def _ready(self) -> None:
        if not self._is_filled:
            self._is_filled = True
            self._fill(self)

    @property
    def kinds(self) -> int:
        """The kinds that fit, as bits."""
        self._ready()
        return self._kinds

    @property
    def words(self) -> tuple[str, ...]:
        """The only strings that fit, if there are only some."""
        self._ready()
        return self._words

    @property
    def item(self) -> Shape | None:
        """What fits the items of an array, if it is known."""
        self._ready()
        return self._item

    def knows(self, key: str) -> bool:
        """Return whether an object has such a member."""
        self._ready()
        return key in self._keys

    @property
    def has_keys(self) -> bool:
        """Whether any member is known."""
        self._ready()
        return bool(self._keys)

    @property
    def is_integer(self) -> bool:
        """Whether no other numbers fit than integers."""
        self._ready()
        return self._is_integer

    @property
    def is_closed(self) -> bool:
        """Whether an object has no other members than those."""
        self._ready()
        return self._is_closed

    def member(self, key: str) -> Shape | None:
        """Return what fits a member, if it is known."""
        self._ready()
        found = self._members.get(key)
        if found is None and key in self._keys:
            found = self._members[key] = Shape(self._keys[key], self._fill, self._origin, (*self._steps, key))
        return found

    def __reduce__(self) -> tuple[object, tuple[object, Steps]]:
        return self._origin.make, (self._origin.schema, self._steps)


def follow(shape: Shape, steps: Steps) -> Shape | None:
    """Return the shape at the end of some steps."""
    found: Shape | None = shape
    for step in steps:
        if found is None:
            return None
        found = found.item if step is None else found.member(step)
    return found
