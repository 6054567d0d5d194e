"""A chunk in the buffer, and edits to it in, the strict text and the repairs out.

What is undecided is held: the text from `hold` on is read again when more has come, so it does not matter where it is
cut. Where `max_held` is reached, JSON's own reading is taken, and any other ends in an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide._errors import Reason
from jsontide.mend.options import Repair, RepairKind
from jsontide.text.grammar import END_OF_TEXT
from jsontide.text.modes import (
    KEY_TEXT,
)

if TYPE_CHECKING:
    from mypy_extensions import i64
from jsontide.mend._fields import Fields
from jsontide.mend._outside import is_wrapper

_PIECE: Final = 1024  # characters in one repair: of longer prose there are several


class Edits(Fields):
    """The buffer of a text that is mended: what of it is held, returned or dropped, and why."""

    __slots__ = ()

    def _take(self, n: i64) -> str:
        """Return what was read up to the hold, and keep the rest."""
        keep: i64 = n if self.stop < 0 else self.stop
        if self.hold >= 0 and not self.is_over and n - self.hold > self.max_held:
            keep = self._give_up_hold(n)
        if self.hold >= 0:
            if self.is_end and self.mode == KEY_TEXT and self.tally.marks:
                self._fail_ambiguous(self.hold, "a clear end of the key with quotation marks inside")
            keep = self.hold
            if keep < n and self.is_end and not self.is_over:
                self._note_truncation(END_OF_TEXT, self.base + n)
            self._rewind()
        if self.is_over:
            self._flush_drop()
        text = "" if keep <= self.copied else self.buffer[self.copied : keep]
        if self.out:
            self.out.append(text)
            text = "".join(self.out)
            self.out = []
        if keep < n and self.is_end and not self.is_over:
            self._drop_held(keep)
            keep = n
        if keep:
            self._advance(keep, n)
        if self.is_over:
            self.buffer = ""
        return text

    def _give_up_hold(self, n: i64) -> i64:
        """Return up to where to give out text that cannot be held any longer."""
        if self.is_waiting and self.wait_place == self.hold:
            return n  # a single token
        self._set_flushed(self.hold)
        self.hold = -1
        return self.wait_place if self.is_waiting else n

    def _set_flushed(self, place: i64) -> None:
        """Note that the text from `place` on was given out before it was certain."""
        before = self.buffer[:place]
        newline: i64 = before.rfind("\n")
        start: i64 = self.line_start if newline < 0 else self.base + newline + 1
        self.flushed_line = (self.line + before.count("\n"), start)
        self.flushed = self.base + place

    def _drop_held(self, keep: i64) -> None:
        """Leave out what is held, because the text ends inside of it."""
        self._flush_drop()
        if RepairKind.TRUNCATED in self.kinds:
            self._add_repair(Repair(RepairKind.TRUNCATED, self.base + keep, self.buffer[keep:], "", True))

    def _rewind(self) -> None:
        """Forget what was done after the hold began."""
        if self.is_split:
            del self.out[self.safe :]
            self.copied = self.hold
        if self.repair_count > self.safe_repairs:
            del self.repairs[self.safe_repairs :]
            self.repair_count = self.safe_repairs
        self.drop_kind = self.held_drop_kind
        self.drop_index = self.held_drop_index
        self.drop_text = self.held_drop_text
        self.mode = self.held_mode
        if self.added_colon >= self.base + self.hold:
            self.added_colon = -1

    def _end_before(self, i: i64) -> str:
        """Return the last character before `i` that is not white space, and the very last, if that is."""
        buffer = self.buffer
        place: i64 = i - 1
        if place >= 0 and not buffer[place].isspace():
            return buffer[place]
        while place >= 0 and buffer[place].isspace():
            place -= 1
        last = buffer[i - 1] if i else self.recent[-1:]
        solid = buffer[place] if place >= 0 else self.recent.rstrip()[-1:]
        return solid + last if last.isspace() else last

    def _advance(self, keep: i64, n: i64) -> None:
        buffer = self.buffer
        newline: i64 = buffer.rfind("\n", 0, keep)
        if newline >= 0:
            self.line += buffer.count("\n", 0, keep)
            self.line_start = self.base + newline + 1
        last = buffer[keep - 1]
        self.recent = self._end_before(keep) if last.isspace() else last
        self.base += keep
        self.buffer = "" if keep == n else buffer[keep:]

    def _begin_hold(self, i: i64, mode: i64) -> None:
        """Hold the text from `i` on, where the mode was `mode`."""
        if self.drop_kind is not None:
            self._flush_drop()
        self.flushed = -1
        self._hold_at(i, mode)

    def _hold_at(self, i: i64, mode: i64) -> None:
        self.hold = i
        self.held_mode = mode
        self.safe = len(self.out)
        self.safe_repairs = self.repair_count
        self.is_split = False
        self.has_comma = False
        self.held_drop_kind = self.drop_kind
        self.held_drop_index = self.drop_index
        self.held_drop_text = self.drop_text

    def _hold_comma(self, i: i64, mode: i64) -> None:
        """Hold the text from the comma at `i` on, unless it follows a string whose end was not certain."""
        self.added_colon = -1
        if self.flushed < 0 or self.token_end > self.flushed + 1:
            self._begin_hold(i, mode)
            self.has_comma = True

    def _hold_key(self, i: i64) -> None:
        """Hold the text from `i` on, if none is held: a key is certain when its value begins."""
        if self.hold < 0 and self.flushed < 0:
            self._begin_hold(i, self.mode)

    def _wait(self, i: i64) -> i64:
        """Wait for more text, and then read again from `i` on, or from where the hold begins."""
        if self.hold < 0:
            self._hold_at(i, self.mode)
        self.is_waiting = True
        self.wait_place = i
        return i

    def _limit(self, i: i64, n: i64) -> i64:
        """Return up to where to look ahead from `i`."""
        begin: i64 = self.hold if self.hold >= 0 else i
        end: i64 = begin + self.max_held + 1
        return max(min(n, end), i)

    def _is_late(self, i: i64, n: i64) -> bool:
        """Return whether no more can be held, to look further ahead from `i`."""
        begin: i64 = self.hold if self.hold >= 0 else i
        return n - begin > self.max_held

    def _wait_or_fail(self, i: i64, n: i64) -> i64:
        """Wait for more text, unless there is none, or too much is held."""
        return self._fail_held(i) if self._is_late(i, n) else self._wait(i)

    def _copy_to(self, place: i64) -> None:
        hold: i64 = self.hold
        if hold >= 0 and not self.is_split and hold <= place:
            self.is_split = True
            if hold > self.copied:
                self.out.append(self.buffer[self.copied : hold])
                self.copied = hold
            self.safe = len(self.out)
            if self.has_comma and hold < place:
                self.out.append(self.buffer[hold])
                self.copied = hold + 1
        if place > self.copied:
            self.out.append(self.buffer[self.copied : place])
            self.copied = place

    def _edit(self, i: i64, end: i64, became: str, kind: RepairKind, lossy: bool = False) -> bool:
        """Replace the text from `i` to `end`; return whether that is allowed."""
        if kind not in self.kinds:
            self._fail_at(i)
            return False
        begin: i64 = self.hold if self.hold >= 0 else i
        if self.flushed >= 0 or i - begin > self.max_held:
            self._fail_held(i)
            return False
        self._flush_drop()
        self._copy_to(i)
        if became:
            self.out.append(became)
        self.copied = end
        self._add_repair(Repair(kind, self.base + i, self.buffer[i:end], became, lossy))
        return not self.is_over

    def _drop_comma(self, i: i64) -> bool:
        """Take back the comma with which the hold begins, because a closing bracket is at `i`."""
        if RepairKind.TRAILING_COMMA not in self.kinds:
            self._fail_at(i)
            return False
        if self.flushed >= 0 or self.hold < 0 or i - self.hold > self.max_held:
            self._fail_held(i)
            return False
        self._flush_drop()
        place = self.hold
        repair = Repair(RepairKind.TRAILING_COMMA, self.base + place, self.buffer[place], "")
        if not self.has_comma:  # it was put there, as a missing one
            self.out[self.safe] = ""
            del self.repairs[self.safe_repairs]
            self.repair_count -= 1
            return True
        if not self.is_split:
            self.has_comma = False
            self._copy_to(place)
            self.copied = place + 1
            self._add_repair(repair)
            return not self.is_over
        self.out[self.safe] = ""
        later = self.repairs[self.safe_repairs :]
        del self.repairs[self.safe_repairs :]
        self.repair_count = self.safe_repairs
        self._add_repair(repair)
        for other in later:
            if other.index != repair.index:
                self._add_repair(other)
        return not self.is_over

    def _drop(self, i: i64, end: i64, kind: RepairKind) -> bool:
        """Leave out the text from `i` to `end`, as part of a longer run of the same kind."""
        if i >= end:
            return True
        if kind not in self.kinds:
            self._fail_at(i)
            return False
        index: i64 = self.base + i
        if self.drop_kind is not kind or self.drop_index + len(self.drop_text) != index:
            self._flush_drop()
            self.drop_kind = kind
            self.drop_index = index
        self._copy_to(i)
        self.copied = end
        most: i64 = min(_PIECE, self.max_held)
        room: i64 = most - len(self.drop_text)
        while end - i >= room and not self.is_over:
            self.drop_text += self.buffer[i : i + room]
            i += room
            self._flush_drop()
            self.drop_kind = kind
            self.drop_index = self.base + i
            room = most
        self.drop_text += self.buffer[i:end]
        return not self.is_over

    def _drop_whole(self, i: i64, end: i64, kind: RepairKind) -> bool:
        """Leave out the text from `i` to `end`, with which a run ends."""
        if not self._drop(i, end, kind):
            return False
        self._flush_drop()
        return not self.is_over

    def _flush_drop(self) -> None:
        kind = self.drop_kind
        if kind is None:
            return
        self.drop_kind = None
        text = self.drop_text
        self.drop_text = ""
        if text:
            lossy = kind.is_lossy and not (kind is RepairKind.SECOND_VALUE and self.mending.values != "first")
            lossy = lossy or (kind is RepairKind.TAG and not is_wrapper(text))
            self._add_repair(Repair(kind, self.drop_index, text, "", lossy))

    def _add_repair(self, repair: Repair) -> None:
        if self.repair_count >= self.max_repairs:
            wanted = f"at most {self.max_repairs} repairs"
            self._fail(Reason.TOO_MANY_REPAIRS, wanted, "more", repair.index)
            return
        self.repairs.append(repair)
        self.repair_count += 1
