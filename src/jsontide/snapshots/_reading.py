"""A snapshot as text in, its value out, numbers as they were written.

Python's own reader does it, which is fast, but has a limit of depth and says little about errors.
Where it gives up, our own grammar reads the text again: it finds the value, or tells what is wrong, and where.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from jsontide._errors import JsonStreamError, ParserError, Reason
from jsontide.snapshots._kinds import MAX_DEPTH
from jsontide.text import Limits
from jsontide.text import _modes as modes
from jsontide.text._grammar import AT_A_VALUE
from jsontide.text._scanner import Scanner
from jsontide.text._utf8 import as_text

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._path import Path, Segment

_MOST: Final = 2**62
_LIMITS: Final = Limits(max_depth=MAX_DEPTH, max_chars=_MOST, max_string=_MOST, max_number=_MOST, max_nodes=_MOST)
_LITERALS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}


def _refuse(constant: str) -> float:
    # RFC 8259, 6: numeric values that cannot be represented in the grammar below (such as Infinity and NaN) are not
    # permitted.
    raise ValueError(constant)


_DECODER: Final = json.JSONDecoder(parse_int=str.encode, parse_float=str.encode, parse_constant=_refuse)


def read_snapshot(snapshot: str | bytes | bytearray | memoryview) -> Any:
    """Return the value of a whole text, or raise `JsonStreamError`.

    >>> read_snapshot('{"days": [1, 2.50]}')
    {'days': [b'1', b'2.50']}
    """
    source, text, is_good = as_text(snapshot, None, 0, "snapshot")
    if not is_good or (source is not None and source.pending):
        raise JsonStreamError(_bad_utf8(text))
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return _read_slowly(text)


def _read_slowly(text: str) -> Any:
    reader = _Reader()
    reader.scan(text)
    if not reader.is_over:
        reader.finish()
    if reader.error is not None:
        raise JsonStreamError(reader.error)
    return reader.values.pop()


def _bad_utf8(text: str) -> ParserError:
    """Say where the bytes went wrong, `text` being what was good."""
    line = text.count("\n") + 1
    column = len(text) - (text.rfind("\n") + 1) + 1
    message = f"expected UTF-8 (line {line}, column {column})"
    return ParserError(message, Reason.BAD_UTF8, len(text), line, column, ())


class _Reader(Scanner):
    """Builds the value of one text."""

    __slots__ = ("keys", "values")

    def __init__(self) -> None:
        super().__init__(_LIMITS, ignore_trailing=False)
        self.values: list[Any] = []  # the open containers, outermost first; at the end the root
        self.keys: list[Segment] = []  # where the next value of each goes

    def open_object(self) -> None:
        self.values.append({})
        self.keys.append("")

    def open_array(self) -> None:
        self.values.append([])
        self.keys.append(0)

    def close_container(self) -> i64:
        value = self.values.pop()
        self.keys.pop()
        self._add(value)
        if self.depth == 0:
            return modes.DONE
        return modes.AFTER_MEMBER if isinstance(self.values[-1], dict) else modes.AFTER_ITEM

    def key(self, text: str) -> Reason | None:
        self.keys[-1] = text
        return None

    def string(self, text: str) -> None:
        self._add(text)

    def number(self, lexeme: str) -> Reason | None:
        self._add(lexeme.encode())
        return None

    def literal(self, word: str) -> None:
        self._add(_LITERALS[word])

    def path(self) -> Path:
        return tuple(self.keys) if self.mode in AT_A_VALUE else tuple(self.keys[:-1])

    def _add(self, value: Any) -> None:
        if not self.values:
            self.values.append(value)
            return
        container = self.values[-1]
        if isinstance(container, dict):
            container[self.keys[-1]] = value
        else:
            container.append(value)
            self.keys[-1] = len(container)
