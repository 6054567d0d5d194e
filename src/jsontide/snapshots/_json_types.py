"""A value of a snapshot in, its JSON type out, or an error: what a snapshot may hold.

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
TOO_DEEP: Final = f"snapshot is nested deeper than {MAX_DEPTH} levels, or contains itself"
_NUMBERS: Final[Any] = (bytes, int, float, Decimal)  # of any type, or compiled code would make it again for each value


def json_type(value: Any) -> i64:
    """Return the JSON type of a value, or raise `TypeError`.

    >>> json_type("text") == STRING, json_type((1, 2)) == ARRAY, json_type(True) == LITERAL
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
    """Return whether a value is an empty string, array or object."""
    return json_type(value) <= OBJECT and len(value) == 0


def has_value_at(container: Any, key: Any) -> bool:
    """Return whether an object has a key, or an array an index."""
    return key in container if isinstance(container, dict) else key < len(container)


def check_number(value: Any, is_text: bool) -> None:
    """Raise if bytes stand for a number in a snapshot that did not come as text."""
    if not is_text and isinstance(value, bytes):
        raise TypeError("a snapshot holds JSON values, not bytes")


def check_key(key: object) -> None:
    """Raise unless a key is a string."""
    if not isinstance(key, str):
        message = f"keys must be str, not {type(key).__name__}"
        raise TypeError(message)


def check_depth(depth: i64) -> None:
    """Raise if one more container would be too deep; a value that contains itself is."""
    if depth >= MAX_DEPTH:
        raise ValueError(TOO_DEEP)
