"""The text of a JSON array of events in, each item as it closes out, to be read as one document.

Gemini streams so unless it is asked for server-sent events.
Rule: nothing raises on a stream. Only what stands between items is judged here: anything but a comma, and everything
after the array, is an error, and so is an item that is too long; nothing that follows is read.
"""

from __future__ import annotations

import re
from typing import Final

from jsontide._textbuffer import GrowingText
from jsontide.messages.record import Value
from jsontide.providers.decode import replaced

_MARKS: Final = re.compile(r'["{}\[\]]')
_IN_STRING: Final = re.compile(r'["\\]')
_BETWEEN: Final = re.compile(r"[^ \t\r\n]")

_MISPLACED: Final = "an event of the stream is not JSON: {!r} stands between the events of an array"
_TOO_LONG: Final = "an event is longer than {} characters"

# What may come next between items.
BEGIN: Final = 0
FIRST: Final = 1
ITEM: Final = 2
COMMA: Final = 3
END: Final = 4


class ArrayRest(Value):
    """The item that waits for its end, and what may come next."""

    __slots__ = ("depth", "error", "expected", "in_string", "is_escaped", "is_too_long", "item", "max_chars")

    def __init__(
        self,
        max_chars: int,
        expected: int = BEGIN,
        item: GrowingText | None = None,
        depth: int = 0,
        in_string: bool = False,
        is_escaped: bool = False,
        error: str | None = None,
        is_too_long: bool = False,
    ) -> None:
        self.max_chars: Final = max_chars
        """The most that an item may have."""
        self.expected: Final = expected
        self.item: Final = item
        self.depth: Final = depth
        """How many brackets are open in the item."""
        self.in_string: Final = in_string
        self.is_escaped: Final = is_escaped
        """Whether a backslash stands before what comes next."""
        self.error: Final = error
        """Why nothing more is read, if it is not."""
        self.is_too_long: Final = is_too_long

    def _fields(self) -> tuple[object, ...]:
        return (
            self.max_chars,
            self.expected,
            self.item,
            self.depth,
            self.in_string,
            self.is_escaped,
            self.error,
            self.is_too_long,
        )

    @property
    def is_over(self) -> bool:
        """Whether the array is closed."""
        return self.expected == END and self.error is None


def feed_array(rest: ArrayRest, text: str) -> tuple[ArrayRest, list[str]]:
    """Return what waits after more text, and the items that it closed."""
    found: list[str] = []
    at = 0
    while at < len(text) and rest.error is None:
        if rest.item is None:
            rest, at = _read_between(rest, text, at)
            continue
        end, depth, in_string, is_escaped = _find_end(rest, text, at)
        item = rest.item.append(text[at : len(text) if end < 0 else end])
        if item.length > rest.max_chars:
            return ArrayRest(rest.max_chars, END, error=_TOO_LONG.format(rest.max_chars), is_too_long=True), found
        if end < 0:
            return ArrayRest(rest.max_chars, rest.expected, item, depth, in_string, is_escaped), found
        found.append(item.read())
        rest, at = ArrayRest(rest.max_chars, COMMA), end
    return rest, found


def _read_between(rest: ArrayRest, text: str, at: int) -> tuple[ArrayRest, int]:
    match = _BETWEEN.search(text, at)
    if match is None:
        return rest, len(text)
    at, mark, expected = match.start(), match.group(), rest.expected
    after = -1
    if expected == BEGIN:
        after = FIRST if mark == "[" else -1
    elif mark == "{" and expected in (FIRST, ITEM):
        return ArrayRest(rest.max_chars, ITEM, GrowingText("")), at
    elif mark == "," and expected == COMMA:
        after = ITEM
    elif mark == "]" and expected in (FIRST, COMMA):
        after = END
    if after < 0:
        return ArrayRest(rest.max_chars, END, error=_MISPLACED.format(replaced(mark))), len(text)
    return ArrayRest(rest.max_chars, after), at + 1


def _find_end(rest: ArrayRest, text: str, at: int) -> tuple[int, int, bool, bool]:
    """Return where the open item ends, -1 if it does not, and how many brackets and which string are open then."""
    depth, in_string = rest.depth, rest.in_string
    if rest.is_escaped:
        at += 1
    while True:
        match = (_IN_STRING if in_string else _MARKS).search(text, at)
        if match is None:
            return -1, depth, in_string, False
        mark, at = match.group(), match.end()
        if mark == '"':
            in_string = not in_string
        elif mark == "\\":
            if at == len(text):
                return -1, depth, True, True
            at += 1
        elif mark in "{[":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return at, 0, False, False
