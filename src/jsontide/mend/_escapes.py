"""Backslashes in strings in, escapes of JSON out.

Rule: a backslash that begins no escape is kept as text; where escapes beside it may not be meant either, it is refused.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from jsontide.mend._edits import Edits
from jsontide.mend.options import RepairKind

if TYPE_CHECKING:
    from mypy_extensions import i64

_LETTERS: Final = "bfnrt"
SUSPICIOUS: Final = 1
"""An escape such as `\\n` with a letter after it, as in a path."""
_UNKNOWN: Final = 2
"""A backslash that begins no escape."""
NEWLINE: Final = 4
"""A raw newline: a string that goes on in the next line may have lost its end."""
MARKED: Final = 8
"""A mark of JSON in a string that others delimit."""
_CODE_QUOTES: Final = ("'", "`", "'''")
"""What ends the strings of Python and JavaScript, which know more escapes than JSON."""
_CODE_LETTERS: Final = "xuUav01234567N"
"""What begins an escape there, and is text, or means something else, elsewhere."""
HEX: Final = "0123456789abcdefABCDEF"
_LAST_CODE: Final = 0x10FFFF


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
        if self.quote in _CODE_QUOTES and char in _CODE_LETTERS:
            code = self._read_code_escape(i, n)
            if code != i or self.is_waiting or self.is_over:
                return code
        end = self._digits_end(i, n) if char == "u" else i
        if end > i + 2 and end == i + 6:
            return self._wait(i) if self._is_half(i + 2, n, "\\u") else end
        return self._wait(i) if end == n else self._keep_backslash(i)

    def _keep_backslash(self, i: i64) -> i64:
        """Read a backslash that begins no escape."""
        char = self.buffer[i + 1]
        if char == "'" or char in self.quote:
            return i + 2 if self._edit(i, i + 1, "", RepairKind.ESCAPE) else i
        if not self._see_escape(i, _UNKNOWN):
            return i
        return i + 1 if self._edit(i, i + 1, "\\\\", RepairKind.ESCAPE) else i

    def _read_code_escape(self, i: i64, n: i64) -> i64:
        """Read an escape of Python or JavaScript at `i`: a code point in two or eight digits, or in braces.

        Return `i` if it is none.
        """
        buffer = self.buffer
        if buffer[i + 1] not in "xuU":
            return self._fail_ambiguous(i, "an escape that JSON knows")
        is_braced = buffer.startswith("{", i + 2)
        if buffer[i + 1] == "u" and not is_braced:
            return self._wait(i) if i + 2 == n and not self.is_end else i
        begin: i64 = i + 3 if is_braced else i + 2
        most: i64 = begin + (6 if is_braced else (2 if buffer[i + 1] == "x" else 8))
        end: i64 = begin
        while end < n and end < most and buffer[end] in HEX:
            end += 1
        if end == n and (end < most or is_braced) and not self.is_end:
            return self._wait(i)
        if end == begin or (end < most and not is_braced) or (is_braced and not buffer.startswith("}", end)):
            return i
        code = int(buffer[begin:end], 16)
        if code > _LAST_CODE:
            return self._fail_ambiguous(i, "an escape of a character")
        end += 1 if is_braced else 0
        if not self._see_escape(i + 1, SUSPICIOUS):
            return i
        return end if self._edit(i, end, json.dumps(chr(code))[1:-1], RepairKind.ESCAPE) else i

    def _digits_end(self, i: i64, n: i64) -> i64:
        """Return where the digits of the escape at `i` end, of which there should be four."""
        end: i64 = i + 2
        while end < n and end < i + 6 and self.buffer[end] in HEX:
            end += 1
        return end

    def _is_half(self, i: i64, n: i64, begin: str) -> bool:
        """Return whether the digits at `i` are the first half of a character, and the text may end before the second.

        `begin` is what stands before the digits of an escape in this string.
        """
        buffer = self.buffer
        if buffer[i] not in "dD" or buffer[i + 1] not in "89abAB":
            return False
        place: i64 = i + 4
        if not buffer.startswith(begin, place):
            return begin.startswith(buffer[place:n])
        digits: i64 = place + len(begin)
        return n - digits < 4 and all([char in HEX for char in buffer[digits:n]])

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
