"""What can be wrong with a text, as values, and what jsontide raises.

    ParserError                        a value: what is wrong with a text, and where

    JsontideError                      everything that jsontide raises on purpose
    ├── JsonStreamError                a text is not JSON, raised by functions that return values instead of states
    │   └── JsonFragmentError          the same with the updates before the place, in `events`
    ├── SnapshotConflict               a snapshot contradicts the written text, in `snapshots`
    ├── SchemaError                    a complete document does not fit its schema, in `schema`
    ├── UnsupportedSchemaError         a schema cannot be used, in `schema`
    ├── IncompleteCallError            a call without arguments to run was asked for them, in `messages`
    ├── StateError                     bytes are no state that this version saved, or a state cannot be saved
    ├── PathSyntaxError                a path pattern is invalid
    └── ProtocolError                  a stream does not follow its protocol, in `testing`

All are also `ValueError`s, except `IncompleteCallError`, which is an `AttributeError`, and `ProtocolError`, which is
an `AssertionError`.
Wrong types and values of options are Python's own `TypeError` and `ValueError`.
Parsing itself never raises on text: an error is part of the state.
Decide by `reason`; messages are for people and may change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final
from unicodedata import combining, east_asian_width

from jsontide._path import Path, PathLink, link_to


class Reason(Enum):
    """Why a text is not acceptable."""

    UNEXPECTED_CHARACTER = "unexpected character"
    """No JSON text continues like this."""
    UNEXPECTED_END = "unexpected end"
    """The stream ended before the document did."""
    CONTROL_CHARACTER = "control character"
    """A raw U+0000 to U+001F inside a string; JSON requires an escape."""
    BAD_ESCAPE = "bad escape"
    """An invalid escape sequence."""
    BAD_UTF8 = "bad UTF-8"
    """Bytes that are not UTF-8."""
    BYTE_ORDER_MARK = "byte order mark"
    """A `str` that starts with U+FEFF: it was decoded with the wrong codec."""
    TRAILING_TEXT = "trailing text"
    """Something other than white space follows the document."""
    DUPLICATE_KEY = "duplicate key"
    """An object has the same key twice, with `duplicate_keys="error"`."""
    TOO_DEEP = "too deep"
    """More open containers than `Limits.max_depth`."""
    TEXT_TOO_LONG = "text too long"
    """More characters than `Limits.max_chars`."""
    STRING_TOO_LONG = "string too long"
    """A string or key longer, as written, than `Limits.max_string`."""
    NUMBER_TOO_LONG = "number too long"
    """A number longer, as written, than `Limits.max_number`."""
    TOO_MANY_NODES = "too many nodes"
    """More values to keep of the document than `Limits.max_nodes`."""
    NUMBER_OUT_OF_RANGE = "number out of range"
    """A number that `decimal.Decimal` cannot hold, with `floats="decimal"`."""
    AMBIGUOUS = "ambiguous"
    """Bad JSON that can be read in more than one way, and nothing decides between them."""
    HELD_TOO_LONG = "held too long"
    """Bad JSON that more than `Mending.max_held` characters would have to be held for, to see how it is meant."""
    TOO_MANY_REPAIRS = "too many repairs"
    """More repairs in one text than `Mending.max_repairs`."""
    TOO_MANY_ERRORS = "too many errors"
    """More errors than `max_errors` in one document, with `on_error="skip"`."""


class _LinkedPath:
    """The field of a path that may be given as a `PathLink`: the tuple is made when it is read, and not kept.

    An error deep inside a document would otherwise hold as many segments as containers are open, and so would each
    of the next thousand.
    """

    def __init__(self, slot: Any) -> None:  # noqa: ANN401 - what Python makes of a slot has no name
        self._slot = slot

    def __get__(self, error: ParserError | None, owner: type[ParserError]) -> object:
        if error is None:
            return self
        path = self._slot.__get__(error, owner)
        return path.path() if isinstance(path, PathLink) else path

    def __set__(self, error: ParserError, path: Path | PathLink) -> None:
        self._slot.__set__(error, path)

    def link(self, error: ParserError) -> PathLink:
        path = self._slot.__get__(error, ParserError)
        return path if isinstance(path, PathLink) else link_to(path)


@dataclass(frozen=True, slots=True)
class ParserError:
    """What is wrong with a text, at the first character that cannot be right."""

    message: str
    """For people: what was expected, what was found, and where."""
    reason: Reason
    """For programs."""
    index: int
    """Code points before the place."""
    line: int
    """Counted from 1; lines end at U+000A."""
    column: int
    """Counted from 1, in code points."""
    path: Path
    """The value being read or expected there, or else the innermost open container."""
    expected: frozenset[str] = field(default=frozenset(), repr=False)
    """For programs: what JSON allows there apart from white space; a number that may end has ended.

    Characters, `true`, `false` and `null` stand for themselves; the rest are `value`, `key`, `digit`, `hex digit`,
    `character` (more of a string or key) and `end` (of the text).
    Empty if the text is JSON so far, and a limit, an option or its encoding is the reason.
    """


_FENCES: Final = ("found '`'", "found '~'")
_PATH: Final = _LinkedPath(ParserError.__dict__["path"])
setattr(ParserError, "path", _PATH)  # noqa: B010 - a type checker still sees the field


def get_link(error: ParserError) -> PathLink:
    """Return the path of an error without making it."""
    return _PATH.link(error)


def hint_at_mending(error: ParserError) -> str:
    """Return how to read a text that has the fence of a code block where JSON has none."""
    is_fence = any(fence in error.message for fence in _FENCES)
    return "a fence around JSON is read with mend=jsontide.mend.MODELS" if is_fence else ""


class JsontideError(Exception):
    """The base of everything that jsontide raises on purpose."""


class JsonStreamError(JsontideError, ValueError):
    """A stream of text was not one JSON document."""

    def __init__(self, error: ParserError, hint: str = "") -> None:
        super().__init__(*((error, hint) if hint else (error,)))
        self.error = error
        self.hint = hint
        """What to do about it, if anything is known to help."""

    def __str__(self) -> str:
        return f"{self.error.message}; {self.hint}" if self.hint else self.error.message


class StateError(JsontideError, ValueError):
    """Bytes are no state that this version of jsontide saved, or a state cannot be saved."""


class PathSyntaxError(JsontideError, ValueError):
    """A path pattern is invalid; `index` is the offset of the mistake in code points."""

    def __init__(self, expected: str, pattern: str, index: int) -> None:
        super().__init__(expected, pattern, index)
        self.expected = expected
        self.pattern = pattern
        self.index = index

    def __str__(self) -> str:
        shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in self.pattern)
        margin = " " * sum(map(_columns, shown[: self.index]))
        return f"expected {self.expected}\n  {shown}\n  {margin}^"


def _columns(char: str) -> int:
    """Return how many columns a terminal uses for a character."""
    if combining(char):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1
