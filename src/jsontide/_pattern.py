"""Path patterns: text or a sequence of keys and indices in, a tuple of steps out.

    users.name      the key `name` of the key `users`
    ["odd key"]     any key, as a JSON string
    [0]  [*]        one element, all elements
    *  users.*      all members
    [0:3]  [::2]    some elements, as Python's slices count them
    **.id  users.** any depth: no level, one or more

A pattern starts at the root.
Paths as `path_text` writes them are patterns too, so a leading `root` is the root itself: `root.users` is `users`,
and `root` alone is the whole document; a member of that name is `root.root` or `["root"]`.
A sequence is literal: in `("*", 0)` the star is a key; it may also contain steps.

Rule: whether a step matches depends on the key or index alone, never on what follows in the document.
So an index counted from the end is not a step.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias

from jsontide._errors import PathSyntaxError
from jsontide._path import Path, Segment, path_text


@dataclass(frozen=True, slots=True)
class Key:
    """The member of this key."""

    name: str


@dataclass(frozen=True, slots=True)
class Item:
    """The element of this index."""

    index: int


@dataclass(frozen=True, slots=True)
class AnyKey:
    """Every member."""


@dataclass(frozen=True, slots=True)
class AnyItem:
    """Every element."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The elements of `range(start, stop, step)`; without an end if `stop` is `None`."""

    start: int
    stop: int | None
    step: int


@dataclass(frozen=True, slots=True)
class AnyDepth:
    """Any number of levels, including none."""


Step: TypeAlias = Key | Item | AnyKey | AnyItem | Slice | AnyDepth
Pattern: TypeAlias = tuple[Step, ...]
"""Steps from the root down; a pattern without steps is the root itself."""

_ROOT: Final = re.compile(r"root(?=[.\[]|\Z)")
_STARS: Final = re.compile(r"\*{1,2}")
# The valid beginning of a JSON string, without its closing quote.
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_MAX_DIGITS: Final = 18

_FIRST_STEP: Final = "a key, '*', '**', '[' or 'root'"
_AFTER_DOT: Final = "a key, '*' or '**'"
_AFTER_STEP: Final = "'.', '[' or the end"
_ODD_KEY: Final = '; write other keys as ["like this"]'
_IN_BRACKETS: Final = "an index, a slice, '*' or a key in double quotes"
_FROM_START: Final = "an index counted from the start: the end of a stream is not known"
_FORWARDS: Final = "a step of at least 1: a stream only goes forward"


def read_path(path: str | Sequence[Segment]) -> Path:
    """Read a path, as text or as keys and indices: a pattern that leads to one value.

    >>> read_path("days[0].title") == read_path(("days", 0, "title")) == ("days", 0, "title")
    True
    """
    segments: list[Segment] = []
    for step in parse_pattern(path, "path"):
        if not isinstance(step, Key | Item):
            message = f"a path must lead to one value, and {path!r} may lead to many"
            raise ValueError(message)  # noqa: TRY004 - it is no wrong type of the argument
        segments.append(step.name if isinstance(step, Key) else step.index)
    return tuple(segments)


def parse_pattern(pattern: str | Sequence[Segment | Step], noun: str = "pattern") -> Pattern:
    """Parse a pattern; an invalid one raises `PathSyntaxError`, which points at the error.

    >>> parse_pattern("users[*].name")
    (Key(name='users'), AnyItem(), Key(name='name'))
    >>> parse_pattern("root.users") == parse_pattern("users") == parse_pattern(("users",))
    True
    """
    if isinstance(pattern, str):
        return _parse_text(pattern)
    if isinstance(pattern, Sequence) and not isinstance(pattern, bytes | bytearray | memoryview):
        return tuple(_convert_segment(pattern, at, noun) for at in range(len(pattern)))
    raise TypeError(f"a {noun} must be a string or a sequence of keys and indices, not {type(pattern).__name__}")


def _convert_segment(segments: Sequence[Segment | Step], at: int, noun: str) -> Step:
    segment = segments[at]
    if isinstance(segment, Step):
        return segment
    if isinstance(segment, str):
        return Key(segment)
    if not isinstance(segment, int) or isinstance(segment, bool):
        raise TypeError(f"a {noun} must have keys and indices, not {type(segment).__name__}")
    if segment < 0:
        before = path_text(tuple(each for each in segments[:at] if isinstance(each, str | int)))
        _fail(_FROM_START, f"{before}[{segment}]", len(before) + 1)
    return Item(segment)


def _parse_text(text: str) -> Pattern:
    steps: list[Step] = []
    at = 0
    if _ROOT.match(text):
        at = len("root")
    elif not text.startswith("["):
        step, at = _parse_word(text, 0, _FIRST_STEP)
        steps.append(step)
    while at < len(text):
        if text[at] == ".":
            step, at = _parse_word(text, at + 1, _AFTER_DOT)
        elif text[at] == "[":
            step, at = _parse_brackets(text, at + 1)
        else:
            _fail(_AFTER_STEP + _ODD_KEY, text, at)
        steps.append(step)
    return tuple(steps)


def _parse_word(text: str, at: int, expected: str) -> tuple[Step, int]:
    """Parse an identifier or stars."""
    stars = _STARS.match(text, at)
    if stars:
        return AnyKey() if len(stars[0]) == 1 else AnyDepth(), stars.end()
    end = at
    while end < len(text) and ("_" + text[end]).isidentifier():
        end += 1
    if not text[at:end].isidentifier():
        _fail(expected + _ODD_KEY if at < len(text) else expected, text, at)
    return Key(text[at:end]), end


def _parse_brackets(text: str, at: int) -> tuple[Step, int]:
    """Parse from after the opening bracket to after the closing one."""
    string = _STRING.match(text, at)
    if string:
        end = _parse_quote(text, string.end())
        return Key(json.loads(text[at:end])), _parse_bracket(text, end)
    if text[at : at + 1] == "*":
        return AnyItem(), _parse_bracket(text, at + 1)
    start, end = _parse_number(text, at)
    if text[end : end + 1] == ":":
        return _parse_slice(text, start or 0, end + 1)
    if start is None:
        _fail(_IN_BRACKETS, text, at)
    return Item(start), _parse_bracket(text, end, "':' or ']'")


def _parse_slice(text: str, start: int, at: int) -> tuple[Step, int]:
    """Parse from after the first colon."""
    stop, end = _parse_number(text, at)
    if text[end : end + 1] != ":":
        return Slice(start, stop, 1), _parse_bracket(text, end, "':' or ']'")
    step_at = end + 1
    step, end = _parse_number(text, step_at, _FORWARDS)
    if step == 0:
        _fail(_FORWARDS, text, step_at)
    return Slice(start, stop, step or 1), _parse_bracket(text, end)


def _parse_number(text: str, at: int, expected: str = _FROM_START) -> tuple[int | None, int]:
    """Parse digits; `None` if there are none. `expected` is the message for a negative number."""
    if text[at : at + 1] == "-":
        _fail(expected, text, at)
    end = len(text) - len(text[at:].lstrip("0123456789"))
    if end - at > _MAX_DIGITS:
        _fail(f"at most {_MAX_DIGITS} digits", text, at + _MAX_DIGITS)
    return int(text[at:end]) if end > at else None, end


def _parse_quote(text: str, at: int) -> int:
    """Parse the closing quote, or fail and name the missing sign."""
    if at == len(text):
        _fail("more of the key, or '\"'", text, at)
    if text[at] == "\\":
        _fail("a JSON escape", text, at)
    if text[at] != '"':
        _fail(f"U+{ord(text[at]):04X} to be escaped", text, at)
    return at + 1


def _parse_bracket(text: str, at: int, expected: str = "']'") -> int:
    if text[at : at + 1] != "]":
        _fail(expected, text, at)
    return at + 1


def _fail(expected: str, text: str, at: int) -> NoReturn:
    raise PathSyntaxError(expected, text, at)
