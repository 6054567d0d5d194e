"""A value in, a flat list of its parts out, and the way back, for pickles: one of nested containers would recurse.

A container is a tuple, followed by the values in it, each with its own: of an array the count of its items, of an
object its keys.
"""

from __future__ import annotations

import sys
from typing import Any


def flattened(value: object, max_depth: int = sys.maxsize) -> list[Any]:
    """Return the parts of a value; `ValueError` if it has more containers inside each other.

    >>> flattened({"a": [1, "b"], "c": {}})
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
            message = f"a value has at most {max_depth} containers inside each other, and none contains itself"
            raise ValueError(message)
        waiting += [(each, depth + 1) for each in reversed(inner)]
    return parts


def unflattened(parts: list[Any]) -> Any:  # noqa: ANN401 - whatever was made flat
    """Make a value again from its parts; tuples come back as lists.

    >>> unflattened([("a", "c"), (2,), 1, "b", ()])
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
