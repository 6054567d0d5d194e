"""A value and the operations of an object stream in, the next value out, as assistant-stream applies them.

Rule: nothing is changed in place; an operation that does not fit raises `ValueError` with the reason.
"""

from __future__ import annotations

from typing import Final

from jsontide.testing._events import Parsed, refuse

_UNSAFE: Final = {"__proto__", "constructor", "prototype"}


def apply_operations(value: Parsed, operations: list[Parsed]) -> Parsed:
    """Return a value after a list of operations."""
    for operation in operations:
        _check(operation)
        value = _put(value, operation["path"], operation)
    return value


def _check(operation: Parsed) -> None:
    if not isinstance(operation, dict) or set(operation) != {"type", "path", "value"}:
        refuse(f"an operation has a type, a path and a value: {operation!r:.80}")
    if operation["type"] not in {"set", "append-text"}:
        refuse(f"there is no operation {operation['type']!r}")
    path = operation["path"]
    if not isinstance(path, list) or not all(isinstance(segment, str) for segment in path):
        refuse(f"a path is a list of texts, not {path!r:.60}")
    if _UNSAFE & set(path):
        refuse(f"clients refuse a path with {next(iter(_UNSAFE & set(path)))!r}")


def _put(value: Parsed, path: list[str], operation: dict[str, Parsed]) -> Parsed:
    if not path:
        return _change(value, operation)
    if isinstance(value, list):
        items, at = value.copy(), _index(value, path[0])
        if at == len(items):
            items.append(None)
        items[at] = _put(items[at], path[1:], operation)
        return items
    if not isinstance(value, dict):
        refuse(f"there is no container around {path[0]!r}")
    if len(path) > 1 and path[0] not in value:
        refuse(f"there is nothing at {path[0]!r}")
    return {**value, path[0]: _put(value.get(path[0]), path[1:], operation)}


def _index(items: list[Parsed], segment: str) -> int:
    if not segment.isdecimal() or str(int(segment)) != segment or int(segment) > len(items):
        refuse(f"{segment!r} is no place in {len(items)} items")
    return int(segment)


def _change(value: Parsed, operation: dict[str, Parsed]) -> Parsed:
    if operation["type"] == "set":
        return operation["value"]
    if not isinstance(value, str) or not isinstance(operation["value"], str):
        refuse(f"there is no text at {operation['path']} to append to")
    return value + operation["value"]
