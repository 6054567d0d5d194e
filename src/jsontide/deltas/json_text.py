"""A value in, the shortest JSON text of it out, fit for UTF-8 and for other readers than Python's.

Rule: nothing that a parser returned cannot be written; halves of characters are escaped, infinity becomes `1e999`.
"""

from __future__ import annotations

import json
from math import isinf
from typing import Final

from jsontide._flatten import flatten, unflatten
from jsontide.snapshots.serialize import compact

_WRITE: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def write_json(value: object) -> str:
    """Return the text of a value, in one line.

    >>> write_json({"city": "Kyōto", "stops": [1, 1e999]})
    '{"city":"Kyōto","stops":[1,1e999]}'
    """
    try:
        text = _WRITE(value)
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:
        return compact(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):  # infinity, a Decimal, or many levels
        return compact(unflatten([_finite(part) for part in flatten(value)]), ensure_ascii=False)
    return text


def _finite(part: object) -> object:
    """Return what writes a number that Python cannot hold."""
    if isinstance(part, float) and isinf(part):
        return b"1e999" if part > 0 else b"-1e999"
    return part
