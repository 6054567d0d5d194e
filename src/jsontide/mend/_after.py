"""What follows a whole value in: the end, closers too many, the same value again, or signs that it ended elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide.mend._frame import ARRAY
from jsontide.mend._look import (
    COLONS,
    COMMAS,
    NO,
    WAIT,
    YES,
    container_begins,
    key_ahead,
    skip_comments,
    skip_spaces,
)
from jsontide.mend.options import RepairKind
from jsontide.text.modes import (
    DONE,
    VALUE,
)

if TYPE_CHECKING:
    from mypy_extensions import i64
from jsontide.mend._mistakes import Mistakes


class After(Mistakes):
    """Reads what follows a value."""

    __slots__ = ()

    def _leave(self, i: i64, n: i64) -> i64:
        """Read what follows a whole value."""
        buffer = self.buffer
        char = buffer[i]
        if self.top is not None:
            return self._leave_item(i, n)
        if self.is_scalar and char not in "`~<":
            return self._fail_ambiguous(i, "nothing after the end of the value")
        if char in "}])":
            if self.was_doubtful:
                return self._fail_ambiguous(i, "no bracket after a value that may be inside of another")
            self.mode = DONE
            self.token_end = self.base + i + 1
            return i + 1 if self._edit(i, i + 1, "", RepairKind.EXTRA_CLOSER) else i
        if char in COMMAS:
            return self._leave_comma(i, n)
        if char not in "{[" and self._is_odd_after(i, char):
            return self._fail_ambiguous(i, "nothing after the end of the value")
        self._enter_outside("\n" if self.newline >= self.token_end else "}")
        return i

    def _leave_comma(self, i: i64, n: i64) -> i64:
        """Read a comma after a whole value: with more members behind it, the value ended too early."""
        buffer = self.buffer
        end = self._limit(i, n)
        place = skip_comments(buffer, i + 1, end)
        if place == end:
            if self.is_end and end == n:
                self.mode = DONE
                return i + 1 if self._edit(i, i + 1, "", RepairKind.EXTRA_COMMA) else i
            return self._fail_held(i) if self._is_late(i, n) else self._wait(i)
        found = key_ahead(buffer, place, end, True)
        if found == NO and buffer[place] in "{[":
            found = container_begins(buffer, place, end, False, self.is_end and end == n)
            found = YES if found == NO else (NO if found == YES else WAIT)
        if found == YES or (found == WAIT and self._is_late(i, n)):
            return self._fail_ambiguous(i, "nothing after the end of the value")
        if found == WAIT and not self.is_end:
            return self._wait(i)
        self._enter_outside("\n" if self.newline >= self.token_end else "}")
        return i

    def _is_odd_after(self, i: i64, char: str) -> bool:
        """Return whether this cannot follow a value, so that the value may have another end."""
        if not self.found or self.base + i != self.token_end:
            return False
        if char in '"`':  # unless it closes what was opened before the value
            return self.lead != char and not (self.in_fence and char == "`")
        return char.isalnum() or char in "{[\\#/" or char in COLONS

    def _leave_item(self, i: i64, n: i64) -> i64:
        """Read what follows an item of a list that only the schema asks for: another item on a line of its own."""
        place: i64 = i
        if self.buffer[i] == ",":
            place = skip_spaces(self.buffer, i + 1, n)
            if place == n and not self.is_end:
                return self._wait(i)
        if place < n and self.buffer[place] == "{" and (place > i or self.newline >= self.token_end):
            if RepairKind.LINES not in self.kinds:
                return self._fail_at(i)
            if place == i and not self._edit(i, i, ",", RepairKind.LINES):
                return i
            self.mode = VALUE
            return place
        if self._edit(i, i, ARRAY, RepairKind.LIST):
            self.top = None
        return i

    def _compare(self, i: i64, n: i64) -> i64:
        """Read another value, which must be the first one again."""
        first = self.original.read()[self.first_start : self.first_end]
        rest = first[self.compared :]
        new = self.buffer[i : i + len(rest)]
        if not rest.startswith(new):
            place: i64 = 0
            while new[place] == rest[place]:
                place += 1
            if not self._drop(i, i + place, RepairKind.SECOND_VALUE):
                return i
            return self._fail_ambiguous(i + place, "the same value again")
        if not self._drop(i, i + len(new), RepairKind.SECOND_VALUE):
            return i
        self.compared += len(new)
        if len(new) == len(rest):
            self._enter_outside("}")
            self.token_end = self.base + i + len(new)
        return i + len(new)
