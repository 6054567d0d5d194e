"""What kinds of values a snapshot is made of, and which of them are empty.

Numbers of a snapshot that came as text are kept as they were written, as `bytes`: no string, no `True` and no `1.0`
equals them, so that `==` of two such snapshots is exact, and no digit is lost.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mypy_extensions import i64

STRING: Final = 0
ARRAY: Final = 1
OBJECT: Final = 2
NUMBER: Final = 3
LITERAL: Final = 4

MAX_DEPTH: Final = 10_000
"""Containers inside each other; a value that contains itself has more."""
ENDLESS: Final = f"a snapshot has at most {MAX_DEPTH} containers inside each other, and none contains itself"
_NUMBERS: Final[Any] = (bytes, int, float, Decimal)  # of any type, or compiled code would make it again for each value


def kind_of(value: Any) -> i64:
    """Tell what a value is, or raise `TypeError`.

    >>> kind_of("text") == STRING, kind_of((1, 2)) == ARRAY, kind_of(True) == LITERAL
    (True, True, True)
    """
    if isinstance(value, str):
        return STRING
    if isinstance(value, dict):
        return OBJECT
    if isinstance(value, list):
        return ARRAY
    if value is None or isinstance(value, bool):
        return LITERAL
    if isinstance(value, _NUMBERS):
        return NUMBER
    if isinstance(value, tuple):
        return ARRAY
    message = f"a snapshot holds JSON values, not {type(value).__name__}"
    raise TypeError(message)


def is_empty(value: Any) -> bool:
    """Tell whether a value is an empty string, array or object."""
    return kind_of(value) <= OBJECT and len(value) == 0
