"""A value in, its compact JSON text out, without recursion.

Strings are escaped as by `json.dumps`; lone surrogates are escaped too, because no encoding can write them.
Numbers of a value that came as text may be `bytes`, as they were written: no string, no `True` and no `1.0` equals
them, so that `==` of two such values is exact, and no digit is lost.

`write_json` writes whatever a parser or a provider gave, for UTF-8 and for other readers than Python's: infinity
becomes `1E+999`, and what is not a number `null`, as in JavaScript.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from json.encoder import encode_basestring, encode_basestring_ascii
from math import isinf, isnan
from typing import TYPE_CHECKING, Any, Final

from jsontide._flatten import flatten, unflatten

if TYPE_CHECKING:
    from mypy_extensions import i64

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
    message = f"expected a JSON value, not {type(value).__name__}"
    raise TypeError(message)


def check_number(value: Any, is_text: bool) -> None:
    """Raise if bytes stand for a number in a value that did not come as text."""
    if not is_text and isinstance(value, bytes):
        raise TypeError("expected a JSON value, not bytes")


def check_key(key: object) -> None:
    """Raise unless a key is a string."""
    if not isinstance(key, str):
        message = f"keys must be str, not {type(key).__name__}"
        raise TypeError(message)


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
    if text.isascii() or _SURROGATE.search(text) is None:
        return written
    return _SURROGATE.sub(_escape, written)


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


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
        message = f"JSON has no number for {text}"
        raise ValueError(message)
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


def compact(value: Any, ensure_ascii: bool) -> str:
    """Return the compact text of a whole value."""
    out: list[str] = []
    write_value(value, ensure_ascii, True, out)
    return "".join(out)


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
