"""JSON values in Python: their types, their compact JSON text, their parts as a flat list; without recursion.

`None` is JSON `null`, a value like any other, so absence needs a name of its own: `MISSING`.

As text, strings are escaped as by `json.dumps`; lone surrogates are escaped too, because no encoding can write them.
Numbers of a value that came as text may be `bytes`, as they were written: no string, no `True` and no `1.0` equals
them, so that `==` of two such values is exact, and no digit is lost.
`write_json` writes whatever a parser or a provider gave, for UTF-8 and for other readers than Python's: infinity
becomes `1E+999`, and NaN `null`, as in JavaScript.

Values are flat where they are pickled: pickling nested containers would recurse.
A container becomes a tuple, followed by the parts of its values: for an array, the tuple holds the number of its items;
for an object, its keys.
"""

from __future__ import annotations

import json
import re
import sys
from decimal import Decimal
from enum import Enum
from json.encoder import encode_basestring, encode_basestring_ascii
from math import isinf, isnan
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from mypy_extensions import i64

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | Decimal | bool | None"
"""Plain Python values, as `json.loads` makes them; `Decimal` only where it was asked for."""


Chunk: TypeAlias = str | bytes | bytearray | memoryview
"""A piece of text, cut anywhere."""


class Missing(Enum):
    MISSING = "missing"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "MISSING"

    def __str__(self) -> str:
        return "MISSING"


_ABOUT_MISSING: Final = "The type of `MISSING`; an enum of one member, so that `is MISSING` narrows types."
setattr(Missing, "__doc__", _ABOUT_MISSING)  # noqa: B010 - mypyc replaces the docstring of an enum


MISSING: Final = Missing.MISSING
"""Nothing is known yet; falsy, and not `None`."""


STRING: Final = 0
ARRAY: Final = 1
OBJECT: Final = 2
NUMBER: Final = 3
LITERAL: Final = 4

MAX_DEPTH: Final = 10_000
TOO_DEEP: Final = f"value is nested deeper than {MAX_DEPTH} levels, or contains itself"
_NUMBERS: Final[Any] = (bytes, int, float, Decimal)  # of any type, or compiled code would make it again for each value


def json_type(value: Any) -> i64:
    """Return the JSON type of a value, or raise `TypeError`.

    >>> json_type("text") == STRING, json_type((1, 2)) == ARRAY, json_type(True) == LITERAL
    (True, True, True)
    """
    if isinstance(value, str):
        return STRING
    if isinstance(value, dict):
        return OBJECT
    if isinstance(value, list):
        return ARRAY
    if value is None or isinstance(value, bool):
        return LITERAL
    if isinstance(value, _NUMBERS):
        return NUMBER
    if isinstance(value, tuple):
        return ARRAY
    raise TypeError(f"expected a JSON value, not {type(value).__name__}")


def check_number(value: Any, is_text: bool) -> None:
    """Raise if bytes stand for a number in a value that did not come as text."""
    if not is_text and isinstance(value, bytes):
        raise TypeError("expected a JSON value, not bytes")


def check_key(key: object) -> None:
    """Raise unless a key is a string."""
    if not isinstance(key, str):
        raise TypeError(f"keys must be str, not {type(key).__name__}")


def check_depth(depth: i64) -> None:
    """Raise if one more container would be too deep; a value that contains itself is."""
    if depth >= MAX_DEPTH:
        raise ValueError(TOO_DEEP)


_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


def quote(text: str, ensure_ascii: bool) -> str:
    r"""Return a string or key as JSON text.

    >>> print(quote('Kyōto\n"', False), quote("Kyōto", True))
    "Kyōto\n\"" "Ky\u014dto"
    """
    if ensure_ascii:
        return encode_basestring_ascii(text)
    written = encode_basestring(text)
    return written if text.isascii() or _SURROGATE.search(text) is None else escape_surrogates(written)


def escape_surrogates(text: str) -> str:
    """Write surrogates, which have no UTF-8, as escapes of JSON."""
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


STEERING: Final = r"\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
"""Characters that control a terminal, change the direction of text or break a line, beside C0 controls."""
_UNSAFE: Final = re.compile(rf"[\x00-\x1f{STEERING}\ud800-\udfff]")


def escape_unsafe(text: str) -> str:
    """Replace what is not safe to show to people, and lone surrogates, which have no UTF-8, by escapes of JSON."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def number_text(value: Any) -> str:
    """Return the text of a number; raise `ValueError` for NaN and the infinities."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, int):
        try:
            return int.__repr__(value)
        except ValueError:  # more digits than Python converts at once
            return str(Decimal(value))
    text = float.__repr__(value) if isinstance(value, float) else str(value)
    if "n" in text or "N" in text:
        raise ValueError(f"JSON has no number for {text}")
    return text


class _PartlyWritten:
    """A container that is being written."""

    __slots__ = ("closer", "keys", "position", "values")

    def __init__(self, container: Any, kind: i64) -> None:
        self.position: i64 = 0
        self.keys: list[Any] | None = None
        if kind == OBJECT:
            self.keys = list(container)
            self.values: list[Any] = list(container.values())
            self.closer: str = "}"
        else:
            self.values = list(container)
            self.closer = "]"


def write_value(value: Any, ensure_ascii: bool, is_text: bool, out: list[str]) -> bool:
    """Append the text of a whole value; return whether `==` could take another value for it: 1 == True == 1.0.

    `is_text` says that the value came as text, and has its numbers as they were written.

    >>> out = []
    >>> write_value({"a": [1, None, "b"]}, False, False, out), "".join(out)
    (True, '{"a":[1,null,"b"]}')
    """
    open_containers: list[_PartlyWritten] = []
    is_loose = False
    while True:
        kind = json_type(value)
        if kind == STRING:
            out.append(quote(value, ensure_ascii))
        elif kind == OBJECT or kind == ARRAY:
            check_depth(len(open_containers))
            out.append("{" if kind == OBJECT else "[")
            open_containers.append(_PartlyWritten(value, kind))
        elif kind == LITERAL:
            out.append("null" if value is None else "true" if value else "false")
            is_loose = is_loose or value is not None
        else:
            check_number(value, is_text)
            out.append(number_text(value))
            is_loose = True
        while open_containers and open_containers[-1].position == len(open_containers[-1].values):
            out.append(open_containers.pop().closer)
        if not open_containers:
            return is_loose
        value = _next_value(open_containers[-1], ensure_ascii, out)


def _next_value(container: _PartlyWritten, ensure_ascii: bool, out: list[str]) -> Any:
    """Return the next value of a container, after writing the comma and the key before it."""
    position: i64 = container.position
    container.position = position + 1
    if position > 0:
        out.append(",")
    if container.keys is not None:
        key = container.keys[position]
        check_key(key)
        out.append(quote(key, ensure_ascii))
        out.append(":")
    return container.values[position]


def compact(value: Any) -> str:
    """Return the compact text of a whole value, an empty one of `MISSING`."""
    out: list[str] = []
    if value is not MISSING:
        write_value(value, False, True, out)
    return "".join(out)


_FOR_INFINITY: Final = Decimal("1e999")
_write_compact: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def write_json(value: object) -> str:
    """Return the text of a value, in one line.

    >>> write_json({"city": "Kyōto", "stops": [1, 1e999]})
    '{"city":"Kyōto","stops":[1,1E+999]}'
    """
    try:
        text = _write_compact(value)
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:
        return compact(value)
    except (ValueError, TypeError, RecursionError):  # infinity, a Decimal, or many levels
        return compact(make_finite(value))
    return text


def make_finite(value: object) -> object:
    """Return a value in which every number that JSON does not have is one that it has, or `None`."""
    return unflatten([_finite(part) for part in flatten(value)])


def _finite(part: object) -> object:
    """Return what writes a number that JSON does not have."""
    if isinstance(part, float):
        if isinf(part):
            return _FOR_INFINITY if part > 0 else -_FOR_INFINITY
        if isnan(part):
            return None
    return part


_MAX_PICKLED_DEPTH: Final = 50
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
            raise ValueError(f"value is nested deeper than {max_depth} levels, or contains itself")
        waiting += [(each, depth + 1) for each in inner[::-1]]
    return parts


def unflatten(parts: list[Any]) -> Any:
    """Return the value that has these parts; tuples come back as lists.

    >>> unflatten([("a", "c"), (2,), 1, "b", ()])
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


def find_value(value: object, path: tuple[Any, ...]) -> Any:
    """Return the value at a path inside a value, `MISSING` if there is none; any tuple may be passed as a path.

    >>> find_value({"a": [1, 2]}, ("a", 1)), find_value({"a": [1, 2]}, ("a", "b"))
    (2, MISSING)
    """
    for segment in path:
        if isinstance(value, dict) and isinstance(segment, str):
            value = value.get(segment, MISSING)
        elif isinstance(value, list) and isinstance(segment, int) and 0 <= segment < len(value):
            value = value[segment]
        else:
            return MISSING
    return value


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
    return Packed(value) if depth > _MAX_PICKLED_DEPTH else value


def _is_json(part: object) -> bool:
    if type(part) is not dict:
        return type(part) is list
    for key in part:  # noqa: SIM110 - compiled, a loop needs no generator
        if type(key) is not str:
            return False
    return True
