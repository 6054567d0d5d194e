"""A value and the operations of a JSON Patch in, the patched value out: RFC 6902, as the clients of AG-UI apply it.

Rule: nothing is changed in place; an operation that does not fit raises `ValueError` with the reason.
"""

from __future__ import annotations

from jsontide._path import Segment
from jsontide.testing._events import Parsed, refuse

_UNSAFE = {"__proto__"}


def apply_patch(value: Parsed, operations: list[Parsed]) -> Parsed:
    """Return a value after a patch."""
    for operation in operations:
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            refuse(f"this is no operation: {operation!r:.80}")
        value = _apply(value, operation)
    return value


def _apply(value: Parsed, operation: dict[str, Parsed]) -> Parsed:
    name, path = operation.get("op"), _segments(operation["path"])
    if name in {"add", "replace", "test"} and "value" not in operation:
        refuse(f"{name} has no value")
    match name:
        case "add" | "replace":
            return _put(value, path, operation["value"], is_new=name == "add")
        case "remove":
            return _remove(value, path)
        case "test":
            return value if _find(value, path) == operation["value"] else refuse(f"the test of {path} fails")
        case "copy":
            return _put(value, path, _find(value, _segments(str(operation.get("from")))), is_new=True)
        case "move":
            source = _segments(str(operation.get("from")))
            return _put(_remove(value, source), path, _find(value, source), is_new=True)
    return refuse(f"there is no operation {name!r}")


def _segments(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        refuse(f"a pointer begins with '/', not {pointer!r}")
    segments = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for parent, key in zip(["", *segments], segments, strict=False):
        if key in _UNSAFE or (parent == "constructor" and key == "prototype"):
            refuse(f"clients refuse the key {key!r} in a pointer")
    return segments


def _put(value: Parsed, path: list[str], new: Parsed, *, is_new: bool) -> Parsed:
    if not path:
        return new
    copy = _copy(value, path)
    if len(path) > 1:
        key = _key(copy, path[0], is_new=False)
        copy[key] = _put(copy[key], path[1:], new, is_new=is_new)
        return copy
    key = _key(copy, path[0], is_new=is_new)
    if isinstance(copy, list) and is_new:
        copy.insert(int(key), new)
    else:
        copy[key] = new
    return copy


def _remove(value: Parsed, path: list[str]) -> Parsed:
    if not path:
        refuse("the root cannot be removed")
    copy = _copy(value, path)
    key = _key(copy, path[0], is_new=False)
    if len(path) == 1:
        del copy[key]
    else:
        copy[key] = _remove(copy[key], path[1:])
    return copy


def _find(value: Parsed, path: list[str]) -> Parsed:
    for segment in path:
        value = value[_key(_copy(value, path), segment, is_new=False)]
    return value


def _copy(value: Parsed, path: list[str]) -> Parsed:
    if not isinstance(value, (list, dict)):
        refuse(f"there is no container around {path[0]!r}")
    return value.copy()


def _key(container: Parsed, segment: str, *, is_new: bool) -> Segment:
    """Return the key or index that a segment means; without `is_new` there must be something."""
    if isinstance(container, dict):
        return segment if is_new or segment in container else refuse(f"there is nothing at {segment!r}")
    if is_new and segment == "-":
        return len(container)
    if not segment.isdecimal() or str(int(segment)) != segment or int(segment) >= len(container) + is_new:
        refuse(f"there is nothing at {segment!r} of {len(container)} items")
    return int(segment)
