"""Backslashes in strings in, escapes of JSON out.

Rule: a backslash that begins no escape is kept as text; where escapes beside it may not be meant either, it is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide.mend._bits import ESCAPE
from jsontide.mend._edits import Edits

if TYPE_CHECKING:
    from mypy_extensions import i64

_LETTERS: Final = "bfnrt"
SUSPICIOUS: Final = 1
"""An escape such as `\\n` with a letter after it, as in a path."""
_UNKNOWN: Final = 2
"""A backslash that begins no escape."""
NEWLINE: Final = 4
"""A raw newline: a string that goes on in the next line may have lost its end."""
_HEX: Final = "0123456789abcdefABCDEF"


class Escapes(Edits):
    """Reads escapes."""

    __slots__ = ()

    def _read_escape(self, i: i64, n: i64) -> i64:
        """Read the backslash at `i`, and what belongs to it."""
        buffer = self.buffer
        if i + 1 == n:
            return self._wait(i)
        char = buffer[i + 1]
        if char in '"\\/':
            return i + 2
        if char in _LETTERS:
            if i + 2 == n:
                self.escape_end = self.base + n
                return n
            return i + 2 if self._see_escape(i + 2, SUSPICIOUS) else i
        end = self._digits_end(i, n) if char == "u" else i
        if end > i + 2 and end == i + 6:
            return self._wait(i) if self._is_half(i, n) else end
        if end == n:
            return self._wait(i)
        if char == "'" or char in self.quote:
            return i + 2 if self._edit(i, i + 1, "", ESCAPE) else i
        if not self._see_escape(i, _UNKNOWN):
            return i
        return i + 1 if self._edit(i, i + 1, "\\\\", ESCAPE) else i

    def _digits_end(self, i: i64, n: i64) -> i64:
        """Return where the digits of the escape at `i` end, of which there should be four."""
        end: i64 = i + 2
        while end < n and end < i + 6 and self.buffer[end] in _HEX:
            end += 1
        return end

    def _is_half(self, i: i64, n: i64) -> bool:
        """Return whether the escape at `i` is the first half of a character, and the text may end before the second."""
        buffer = self.buffer
        if buffer[i + 2] not in "dD" or buffer[i + 3] not in "89abAB":
            return False
        if i + 6 == n or buffer[i + 6] != "\\":
            return i + 6 == n
        return i + 7 == n or (buffer[i + 7] == "u" and n - i < 12 and self._digits_end(i + 6, n) == n)

    def _see_escape(self, place: i64, kind: i64) -> bool:
        r"""Note an escape before `place`, or a backslash there, that may be in doubt; return whether it is not yet.

        In `C:\Users\new` the first backslash begins no escape, and the second one does, but is not meant to.
        """
        if kind == _UNKNOWN or self.buffer[place].isalpha():
            self.escapes |= kind
        if self.escapes & SUSPICIOUS and self.escapes & _UNKNOWN:
            self._fail_ambiguous(place, "backslashes that are all escapes, or none")
            return False
        return True
