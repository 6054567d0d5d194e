"""Values in, compact text out, without recursion.

Strings are escaped as `json.dumps` does; surrogates that stand alone are escaped too, because no encoding writes them.
"""

from __future__ import annotations

import re
from decimal import Decimal
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import TYPE_CHECKING, Any, Final

from jsontide.snapshots._kinds import ARRAY, ENDLESS, LITERAL, MAX_DEPTH, OBJECT, STRING, kind_of

if TYPE_CHECKING:
    from mypy_extensions import i64

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_HIGH_HALVES: Final = (0xD800, 0xDBFF)


def quoted(text: str, ensure_ascii: bool) -> str:
    r"""Write a string or a key.

    >>> print(quoted('Kyōto\n"', False), quoted("Kyōto", True))
    "Kyōto\n\"" "Ky\u014dto"
    """
    if ensure_ascii:
        return encode_basestring_ascii(text)
    written = encode_basestring(text)
    if text.isascii() or _SURROGATE.search(text) is None:
        return written
    return _SURROGATE.sub(_escaped, written)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def certain_length(text: str) -> i64:
    """Tell how much of a string that may grow is certain: the first half of a surrogate pair is not."""
    n: i64 = len(text)
    if n > 0 and _HIGH_HALVES[0] <= ord(text[n - 1]) <= _HIGH_HALVES[1]:
        return n - 1
    return n


def number_text(value: Any) -> str:
    """Write a number; raise `ValueError` for what JSON has no number for."""
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


class _Level:
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
    """Append the text of a whole value; tell whether `==` of values could take another for it: 1 == True == 1.0.

    `is_text` tells whether it came as text: only then has it numbers as they were written.

    >>> out = []
    >>> write_value({"a": [1, None, "b"]}, False, False, out), "".join(out)
    (True, '{"a":[1,null,"b"]}')
    """
    levels: list[_Level] = []
    is_loose = False
    while True:
        kind = kind_of(value)
        if kind == STRING:
            out.append(quoted(value, ensure_ascii))
        elif kind == OBJECT or kind == ARRAY:
            check_depth(len(levels))
            out.append("{" if kind == OBJECT else "[")
            levels.append(_Level(value, kind))
        elif kind == LITERAL:
            out.append("null" if value is None else "true" if value else "false")
            is_loose = is_loose or value is not None
        else:
            check_number(value, is_text)
            out.append(number_text(value))
            is_loose = True
        while levels and levels[-1].position == len(levels[-1].values):
            out.append(levels.pop().closer)
        if not levels:
            return is_loose
        value = _next_value(levels[-1], ensure_ascii, out)


def _next_value(level: _Level, ensure_ascii: bool, out: list[str]) -> Any:
    """Go on to the next value in a container, writing what stands before it."""
    position: i64 = level.position
    level.position = position + 1
    if position > 0:
        out.append(",")
    if level.keys is not None:
        key = level.keys[position]
        check_key(key)
        out.append(quoted(key, ensure_ascii))
        out.append(":")
    return level.values[position]


def check_number(value: Any, is_text: bool) -> None:
    """Refuse bytes in what did not come as text."""
    if not is_text and isinstance(value, bytes):
        raise TypeError("a snapshot holds JSON values, not bytes")


def check_key(key: object) -> None:
    """Refuse keys that JSON does not have."""
    if not isinstance(key, str):
        message = f"keys must be str, not {type(key).__name__}"
        raise TypeError(message)


def check_depth(depth: i64) -> None:
    """Refuse values without an end before they take all memory."""
    if depth >= MAX_DEPTH:
        raise ValueError(ENDLESS)


def compact(value: Any, ensure_ascii: bool) -> str:
    """Return the compact text of a whole value, wherever it came from."""
    out: list[str] = []
    write_value(value, ensure_ascii, True, out)
    return "".join(out)
