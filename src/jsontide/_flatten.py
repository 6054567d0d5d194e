"""A nested value in, a flat list of its parts out, and back: pickling nested containers would recurse.

A container becomes a tuple, followed by the parts of its values: for an array, the tuple holds the number of its items;
for an object, its keys.
"""

from __future__ import annotations

import sys
from typing import Any


def flatten(value: object, max_depth: int = sys.maxsize) -> list[Any]:
    """Return the parts of a value; raise `ValueError` if it is nested deeper than `max_depth`.

    >>> flatten({"a": [1, "b"], "c": {}})
    [('a', 'c'), (2,), 1, 'b', ()]
    """
    parts: list[Any] = []
    waiting: list[tuple[Any, int]] = [(value, 1)]
    while waiting:
        part, depth = waiting.pop()
        inner: list[Any]
        if isinstance(part, dict):
            inner = list(part.values())
            parts.append(tuple(part))
        elif isinstance(part, (list, tuple)):
            inner = list(part)
            parts.append((len(inner),))
        else:
            parts.append(part)
            continue
        if depth > max_depth:
            message = f"value is nested deeper than {max_depth} levels, or contains itself"
            raise ValueError(message)
        waiting += [(each, depth + 1) for each in reversed(inner)]
    return parts


def unflatten(parts: list[Any]) -> Any:  # noqa: ANN401 - whatever was made flat
    """Return the value that has these parts; tuples come back as lists.

    >>> unflatten([("a", "c"), (2,), 1, "b", ()])
    {'a': [1, 'b'], 'c': {}}
    """
    values: list[Any] = []
    for part in reversed(parts):
        if not isinstance(part, tuple):
            values.append(part)
        elif part and isinstance(part[0], int):
            values.append([values.pop() for _ in range(part[0])])
        else:
            values.append({key: values.pop() for key in part})
    return values.pop()
