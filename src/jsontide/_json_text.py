"""A value in, the shortest JSON text of it out, fit for UTF-8 and for other readers than Python's.

Rule: nothing that a parser or a provider gave cannot be written; halves of characters are escaped, infinity becomes
`1E+999`, and what is not a number `null`, as in JavaScript.
"""

from __future__ import annotations

import json
from decimal import Decimal
from math import isinf, isnan
from typing import Final

from jsontide._flatten import flatten, unflatten
from jsontide.snapshots.serialize import compact

_LARGE: Final = Decimal("1e999")
_WRITE: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def write_json(value: object) -> str:
    """Return the text of a value, in one line.

    >>> write_json({"city": "Kyōto", "stops": [1, 1e999]})
    '{"city":"Kyōto","stops":[1,1E+999]}'
    """
    try:
        text = _WRITE(value)
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:
        return compact(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):  # infinity, a Decimal, or many levels
        return compact(make_finite(value), ensure_ascii=False)
    return text


def make_finite(value: object) -> object:
    """Return a value in which every number that JSON does not have is one that it has, or `None`."""
    return unflatten([_finite(part) for part in flatten(value)])


def _finite(part: object) -> object:
    """Return what writes a number that JSON does not have."""
    if isinstance(part, float):
        if isinf(part):
            return _LARGE if part > 0 else -_LARGE
        if isnan(part):
            return None
    return part
