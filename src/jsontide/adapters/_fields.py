"""Fields of events, read alike from plain dicts and from the objects of any SDK.

In: an event, or a part of one, and the names that a field goes by. Out: its value, if it is of the type asked for.
Rule: nothing raises on provider data. What is missing, `None`, or of another type is not there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Final, cast

NO_TEXT: Final = "\0not a text\0"
"""Stands for a piece of arguments that is of another type: it is no JSON anywhere, so nothing is run without it."""

_DIGITS: Final = re.compile("[0-9]{1,18}")
_MOST_EXACT: Final = 2**53


def field(event: object, *names: str) -> object:
    """Return the first of the named fields that is there, `None` if none is."""
    # The exact type is asked for first: most events are dicts, and an abstract class answers slowly.
    if type(event) is dict:
        for name in names:
            if (value := event.get(name)) is not None:
                return value
        return None
    get = event.get if isinstance(event, Mapping) else partial(_attribute, event)
    return next((value for value in map(get, names) if value is not None), None)


def text(event: object, *names: str) -> str | None:
    """Return a field that is a text; SDKs make enums of some."""
    value = field(event, *names)
    if value is None or type(value) is str:
        return value
    if isinstance(value, Enum):
        value = value.value
    return value if isinstance(value, str) else None


def integer(event: object, *names: str) -> int | None:
    """Return a field that is an integer; some servers write it as `1.0`, or as a text of digits."""
    value = field(event, *names)
    if type(value) is int:
        return value
    if isinstance(value, str):
        return digits(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _MOST_EXACT else None
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None


def digits(written: str) -> int | None:
    """Return the number that a text of digits writes, and nothing else."""
    return int(written) if _DIGITS.fullmatch(written) else None


def flag(event: object, *names: str) -> bool:
    return field(event, *names) is True


def items(event: object, *names: str) -> Sequence[object]:
    """Return a field that is an array, empty if it is not there."""
    value = field(event, *names)
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()


def mapping(event: object, *names: str) -> Mapping[str, object] | None:
    """Return a field that is an object of plain JSON."""
    value = field(event, *names)
    return value if isinstance(value, Mapping) else None


def arguments(event: object, *names: str) -> str | Mapping[str, object] | None:
    """Return a field that holds arguments, as text or as an object; what is neither must not go missing unnoticed."""
    if field(event, *names) is None:
        return None
    written = text(event, *names)
    if written is not None:
        return written
    whole = mapping(event, *names)
    return NO_TEXT if whole is None else whole


def has(event: object, *names: str) -> bool:
    """Tell whether one of the fields is there, `None` or not, and not as the method of some type."""
    if isinstance(event, Mapping):
        return any(name in event for name in names)
    return any(hasattr(event, name) and not callable(_attribute(event, name)) for name in names)


def _attribute(event: object, name: str) -> object:
    return cast("object", getattr(event, name, None))
