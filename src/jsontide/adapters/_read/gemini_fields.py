"""Fields of Gemini's events, which the API writes in camelCase and its SDK in snake_case.

Rule: a message is the same from both. Names that the caller chose, such as those of arguments, stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final

from jsontide._values import JsonValue
from jsontide.adapters._read.fields import as_dict, plain

_ATOMS: Final = (str, int, float, bytes, bytearray, datetime, Enum)
_OF_CALLER: Final = ("args", "response", "partMetadata", "part_metadata")
"""Fields whose own names the caller chose."""


def read_either(fields: dict[str, Any], name: str, other: str) -> object:
    """Return a field that the API and its SDK call by two names."""
    found = fields.get(name)
    return fields.get(other) if found is None else found


def to_camel(name: str) -> str:
    """Return the name of a field as the API writes it.

    >>> to_camel("thought_signature")
    'thoughtSignature'
    """
    if "_" not in name:
        return name
    first, *rest = name.split("_")
    return first + "".join([word[:1].upper() + word[1:] for word in rest])


def plain_camel(value: object) -> JsonValue:
    """Return what the API or its SDK says as plain JSON, under the names of the API."""
    if value is None or isinstance(value, _ATOMS):
        return plain(value)
    if isinstance(value, (list, tuple)):
        return [plain_camel(item) for item in value]
    fields = as_dict(value)
    if not fields and not isinstance(value, Mapping):
        return plain(value)
    # The models of the SDK have all fields that there could be.
    keeps_none = isinstance(value, Mapping)
    return {
        to_camel(str(name)): plain(field) if name in _OF_CALLER else plain_camel(field)
        for name, field in fields.items()
        if keeps_none or field is not None
    }


def count_chars(text: bytes, at: int) -> int:
    """Return the place in a text of a place in its UTF-8: Gemini counts bytes."""
    return len(text[:at].decode("utf-8", "ignore"))


def add_counts(count: int | None, more: int | None) -> int | None:
    """Return the sum of two figures, of which the API may leave out either."""
    if count is None or more is None:
        return more if count is None else count
    return count + more
