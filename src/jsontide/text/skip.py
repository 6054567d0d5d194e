"""Text after an error in, the place where reading can continue out.

That place is the next comma or closing bracket of the innermost open container; commas inside skipped strings and
brackets do not count.
If no container is open, it is the end of the line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mypy_extensions import i64

_IN_OBJECT: Final = "}"
_IN_ARRAY: Final = "]"


class Skip:
    """A search for that place; chunks may be cut anywhere."""

    __slots__ = ("closer", "depth", "in_string", "is_escaped")

    def __init__(self, closer: str, in_string: bool) -> None:
        self.closer: str = closer  # the bracket that ends the innermost open container, "" if none is open
        self.in_string: bool = in_string
        self.is_escaped: bool = False
        self.depth: i64 = 0  # open brackets in the skipped text

    def copy(self) -> Skip:
        """Return an independent copy."""
        copy = Skip(self.closer, self.in_string)
        copy.is_escaped = self.is_escaped
        copy.depth = self.depth
        return copy

    def find_end(self, chunk: str) -> i64:
        """Return where in the chunk reading can continue, -1 if not in this chunk."""
        if not self.closer:
            return chunk.find("\n")
        i: i64 = 0
        n: i64 = len(chunk)
        while i < n:
            if self._ends_at(chunk[i]):
                return i
            i += 1
        return -1

    def _ends_at(self, char: str) -> bool:
        if self.in_string:
            self._pass_in_string(char)
        elif char == '"':
            self.in_string = True
        elif char in ("[", "{"):
            self.depth += 1
        elif self.depth == 0:
            return char in (",", self.closer)
        elif char in ("]", "}"):
            self.depth -= 1
        return False

    def _pass_in_string(self, char: str) -> None:
        if self.is_escaped:
            self.is_escaped = False
        elif char == "\\":
            self.is_escaped = True
        elif char == '"':
            self.in_string = False


def begin_skip(*, is_open: bool, is_object: bool, in_string: bool) -> Skip:
    """Return a search that begins inside the innermost open container, if there is one."""
    closer = (_IN_OBJECT if is_object else _IN_ARRAY) if is_open else ""
    return Skip(closer, in_string)
