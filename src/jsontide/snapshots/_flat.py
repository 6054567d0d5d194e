"""A value in, a flat list of its parts out, and the way back, for pickles: one of nested containers would recurse.

A container is a tuple, followed by the values in it, each with its own: of an array the count of its items, of an
object its keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsontide.snapshots._kinds import ARRAY, OBJECT, kind_of
from jsontide.snapshots._writing import check_depth

if TYPE_CHECKING:
    from mypy_extensions import i64


def flattened(value: Any) -> list[Any]:
    """Return the parts of a value.

    >>> flattened({"a": [1, "b"], "c": {}})
    [('a', 'c'), (2,), 1, 'b', ()]
    """
    parts: list[Any] = []
    values: list[Any] = [value]
    depths: list[i64] = [0]
    while values:
        value = values.pop()
        depth: i64 = depths.pop()
        kind = kind_of(value)
        if kind != OBJECT and kind != ARRAY:
            parts.append(value)
            continue
        check_depth(depth)
        inner = list(value.values() if kind == OBJECT else value)
        parts.append(tuple(value) if kind == OBJECT else (len(inner),))
        inner.reverse()
        values += inner
        depths += [depth + 1] * len(inner)
    return parts


def unflattened(parts: list[Any]) -> Any:
    """Make a value again from its parts.

    >>> unflattened([("a", "c"), (2,), 1, "b", ()])
    {'a': [1, 'b'], 'c': {}}
    """
    values: list[Any] = []
    for part in parts[::-1]:
        if not isinstance(part, tuple):
            values.append(part)
        elif part and isinstance(part[0], int):
            values.append([values.pop() for _ in range(part[0])])
        else:
            values.append({key: values.pop() for key in part})
    return values.pop()
