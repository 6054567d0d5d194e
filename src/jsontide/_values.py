"""What JSON values are in Python, and the one word for "nothing there yet".

`None` is JSON `null`, a value like any other, so absence needs a name of its own: `MISSING`.
"""

from __future__ import annotations

from decimal import Decimal
from enum import Enum
from typing import Final, TypeAlias

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | Decimal | bool | None"
"""Plain Python values, as `json.loads` makes them; `Decimal` only where it was asked for."""


Chunk: TypeAlias = str | bytes | bytearray | memoryview
"""A piece of text, cut anywhere."""


class Missing(Enum):
    """The type of `MISSING`; an enum of one member, so that `is MISSING` narrows types."""

    MISSING = "missing"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "MISSING"

    __str__ = __repr__


MISSING: Final = Missing.MISSING
"""Nothing is known yet; falsy, and not `None`."""
