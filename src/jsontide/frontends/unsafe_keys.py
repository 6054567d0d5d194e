"""Keys that front ends refuse, because they could change what all objects of JavaScript inherit from.

`fast-json-patch` and `secure-json-parse` refuse `__proto__`, and `prototype` inside `constructor`: a client drops the
whole patch or event then. The paths of an object stream may not name any of the three.

Rule: members with these keys are left out, at any depth; all others stay, and no index of an array changes.
Text is not touched: arguments that are sent as the model wrote them keep all their keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias, cast

from jsontide._path import Path, Segment
from jsontide._values import JsonValue
from jsontide.frontends.changes import Change, SetValue

IsUnsafe: TypeAlias = Callable[[Segment | None, Segment], bool]
"""Whether a key must be left out, given the key of the object that it stands in."""
_REFUSED_IN_PATHS: Final = frozenset({"__proto__", "constructor", "prototype"})


def is_unsafe(parent: Segment | None, key: Segment) -> bool:
    """Return whether a key would be refused in a value or a JSON Pointer."""
    return key == "__proto__" or (key == "prototype" and parent == "constructor")


def is_unsafe_in_paths(_parent: Segment | None, key: Segment) -> bool:
    """Return whether a key would be refused in the path of an object stream."""
    return key in _REFUSED_IN_PATHS


def safe_value(value: JsonValue, refuses: IsUnsafe = is_unsafe, parent: Segment | None = None) -> JsonValue:
    """Return a value without the members that would be refused; `parent` is the key that it stands at.

    >>> safe_value({"a": [{"__proto__": 1, "b": 2}], "constructor": {"prototype": {}}})
    {'a': [{'b': 2}], 'constructor': {}}
    """
    whole: list[JsonValue] = [value]
    todo: list[tuple[object, Segment, Segment | None]] = [(whole, 0, parent)]
    while todo:
        holder, at, key = todo.pop()
        container = cast("dict[Segment, JsonValue]", holder)
        inner = container[at]
        if isinstance(inner, dict):
            named = {name: each for name, each in inner.items() if not refuses(key, name)}
            container[at] = cast("JsonValue", named)
            todo += [(named, name, name) for name, each in named.items() if isinstance(each, (list, dict))]
        elif isinstance(inner, list):
            items = inner.copy()
            container[at] = items
            todo += [(items, index, index) for index, each in enumerate(items) if isinstance(each, (list, dict))]
    return whole[0]


def find_unsafe_key(value: object) -> str | None:
    """Return a key of a value that makes clients drop the stream, or `None`.

    >>> find_unsafe_key({"a": [{"__proto__": {}}]})
    '__proto__'
    >>> find_unsafe_key({"constructor": "a", "prototype": 1})
    """
    todo: list[tuple[Segment | None, object]] = [(None, value)]
    while todo:
        parent, one = todo.pop()
        if isinstance(one, dict):
            for key in one:
                if is_unsafe(parent, key):
                    return str(key)
            todo += one.items()
        elif isinstance(one, list):
            todo += [(0, inside) for inside in one]
    return None


def safe_changes(changes: Iterable[Change], refuses: IsUnsafe = is_unsafe) -> list[Change]:
    """Return changes without those of members that would be refused."""
    kept: list[Change] = []
    for change in changes:
        path = change.path
        if len(_safe_path(path, refuses, None)) < len(path):
            continue
        if isinstance(change, SetValue):
            parent = path[-1] if path else None
            inside = None if change.open is None else _safe_path(change.open, refuses, parent)
            kept.append(SetValue(path, safe_value(change.value, refuses, parent), inside, is_new=change.is_new))
        else:
            kept.append(change)
    return kept


def _safe_path(path: Path, refuses: IsUnsafe, parent: Segment | None) -> Path:
    """Return the beginning of a path, up to the first key that would be refused."""
    for at, key in enumerate(path):
        if refuses(parent, key):
            return path[:at]
        parent = key
    return path
