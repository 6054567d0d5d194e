"""A nested value in, a flat list of its parts out, and back: pickling nested containers would recurse.

A container becomes a tuple, followed by the parts of its values: for an array, the tuple holds the number of its items;
for an object, its keys.
"""

from __future__ import annotations

import sys
from typing import Any, Final

_SHALLOW: Final = 50
"""Levels that can be pickled as they are, also inside other objects; CPython 3.11 stops at some 300."""


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


class Packed:
    """Pickled as the flat list of a value's parts, and loaded as the value itself."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value: Final = value

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return unflatten, (flatten(self.value),)


def pack(value: object) -> object:
    """Return what to pickle in place of a value: something flat for JSON of many levels, all else as it is.

    >>> pack([1, {"a": []}])
    [1, {'a': []}]
    """
    if not isinstance(value, (dict, list)):
        return value
    depth = 0
    level: list[Any] = [value]
    seen: set[int] = set()
    while level:
        depth += 1
        inner: list[Any] = []
        for part in level:
            if not isinstance(part, (dict, list, tuple)):
                continue
            # What is not JSON, or holds something twice, would become something else.
            if id(part) in seen or not _is_json(part):
                return value
            seen.add(id(part))
            inner += part.values() if isinstance(part, dict) else part
        level = inner
    return Packed(value) if depth > _SHALLOW else value


def _is_json(part: object) -> bool:
    if type(part) is not dict:
        return type(part) is list
    for key in part:  # noqa: SIM110 - compiled, a loop needs no generator
        if type(key) is not str:
            return False
    return True
