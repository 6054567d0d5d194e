"""Text as models write it in, strict JSON text and a list of repairs out, chunk by chunk.

The inside of a value is read by the scanner's own table; what that has no place for is left to `_mistakes`.

Rule: what was returned never changes, and nothing is read twice but what is held.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide._build import COMPILED
from jsontide._errors import Reason
from jsontide.mend._frame import ARRAY, OBJECT, closers_of
from jsontide.mend.options import Repair, RepairKind
from jsontide.text import modes
from jsontide.text.grammar import (
    BEGIN_LITERAL,
    BEGIN_NUMBER,
    CELLS,
    CLOSE,
    END_NUMBER,
    END_OF_TEXT,
    FAIL,
    GRAMMAR,
    NEWLINE,
    OPEN_KEY,
    OPEN_OBJECT,
    OPEN_STRING,
)
from jsontide.text.modes import (
    AFTER_ITEM,
    AFTER_MEMBER,
    KEY_TEXT,
    STRING,
)
from jsontide.text.strings import plain_end

if TYPE_CHECKING:
    from mypy_extensions import i64
from jsontide.mend._clean import Clean
from jsontide.mend._fields import BLOCK_COMMENT, COMPARING, LEAVING, LINE_COMMENT, OUTSIDE, SKIPPING, wanted_in
from jsontide.mend._frame import written_frame
from jsontide.mend._mistakes import AT_A_VALUE

_LATE_END: Final[dict[int, str]] = {
    modes.KEY_TEXT: '": null',
    modes.COLON: ": null",
    modes.MEMBER: "null",
    modes.ITEM: "null",
    modes.KEY: '"": null',
    modes.STRING: '"',
    modes.FIRST_DIGIT: "0",
    modes.FIRST_DECIMAL: "0",
    modes.EXPONENT_SIGN: "0",
    modes.FIRST_EXPONENT: "0",
}
"""What must follow text that was returned in these modes because more would have been too much to hold."""


class Mender(Clean):
    """Mends one text; all that it knows between two chunks can be copied, because none of it changes in place."""

    __slots__ = ()

    def copy(self) -> Mender:  # noqa: PLR0915 - all fields
        """Return another one that stands at the same place, between two chunks."""
        copy = Mender(self.mending, self.shape)
        copy.key = self.key
        repairs = self.repairs
        # The newest of all copies appends to the list of all.
        copy.repairs = repairs if len(repairs) == self.repair_count else repairs[: self.repair_count]
        copy.mode = self.mode
        copy.top = self.top
        copy.buffer = self.buffer
        copy.base = self.base
        copy.line = self.line
        copy.line_start = self.line_start
        copy.repair_count = self.repair_count
        copy.drop_kind = self.drop_kind
        copy.drop_index = self.drop_index
        copy.drop_text = self.drop_text
        copy.flushed = self.flushed
        copy.flushed_line = self.flushed_line
        copy.added_colon = self.added_colon
        copy.quote = self.quote
        copy.string_start = self.string_start
        copy.escapes = self.escapes
        copy.opens_json = self.opens_json
        copy.has_quote = self.has_quote
        copy.escape_end = self.escape_end
        copy.tally = self.tally
        copy.recent = self.recent
        copy.newline = self.newline
        copy.token_end = self.token_end
        copy.resume = self.resume
        copy.until = self.until
        copy.skip_kind = self.skip_kind
        copy.lead = self.lead
        copy.doubtful = self.doubtful
        copy.was_doubtful = self.was_doubtful
        copy.remark = self.remark
        copy.open_quote = self.open_quote
        copy.begun = self.begun
        copy.line_marks = self.line_marks
        copy.skipped = self.skipped
        copy.equals = self.equals
        copy.wrapping = self.wrapping
        copy.prose_kind = self.prose_kind
        copy.at_start = self.at_start
        copy.in_fence = self.in_fence
        copy.found = self.found
        copy.is_scalar = self.is_scalar
        copy.is_truncated = self.is_truncated
        copy.truncation = self.truncation
        copy.closers = self.closers
        copy.is_over = self.is_over
        copy.error = self.error
        copy.original = self.original
        copy.first_start = self.first_start
        copy.first_end = self.first_end
        copy.compared = self.compared
        return copy

    def feed(self, chunk: str) -> str:
        """Read a chunk; return what is certain of the strict text."""
        if (
            self.mode == STRING
            and not self.buffer
            and self.quote == '"'
            and self.escape_end != self.base
            and self.shape is None
        ):
            if COMPILED:
                is_plain = plain_end(chunk, 0) == len(chunk)
            else:
                is_plain = '"' not in chunk and "\\" not in chunk and chunk.isprintable()
            if is_plain and chunk:
                if self.string_start == self.base:
                    self.opens_json = chunk[0] in "{["
                self.base += len(chunk)
                self.recent = self.recent.rstrip()[-1:] + chunk[-1] if chunk.isspace() else chunk
                if self.keeps_text:
                    self.original = self.original.append(chunk)
                return chunk
        if self.is_over or not chunk:
            return ""
        if self.keeps_text:
            self.original = self.original.append(chunk)
        text = self.buffer + chunk if self.buffer else chunk
        if (
            not COMPILED
            and self.shape is None
            and self.flushed < 0
            and self.added_colon < 0
            and self.drop_kind is None
            and len(text) <= self.max_held
        ):
            match = self._match_clean(text)
            if match is not None:
                return self._take_clean(text, match)
        self.buffer = text
        return self._run(False)

    def finish(self) -> str:
        """Read the end of the text; return the rest of the strict text, with what closes it."""
        if self.is_over:
            return ""
        text = self._run(True)
        if self.is_over:
            return text
        self._flush_drop()
        self.is_over = True
        end: i64 = self.base
        if not self.found:
            besides = f" besides {self.skipped}, which reads like prose" if self.skipped else ""
            self._fail(Reason.UNEXPECTED_END, f"a value{besides}", END_OF_TEXT, end)
        elif self.mode == COMPARING:
            self._fail(Reason.UNEXPECTED_END, "the rest of the same value again", END_OF_TEXT, end)
        elif self.mode == BLOCK_COMMENT and self.tally.marks:
            self._fail(Reason.AMBIGUOUS, "the end of the comment with quotation marks inside", END_OF_TEXT, end)
        elif self.is_truncated or self._is_open():
            text += self._close(end)
        elif self.mode == OUTSIDE and self.has_quote and (self.remark or self.doubtful):
            self._fail(Reason.AMBIGUOUS, "nothing after the end of the value", END_OF_TEXT, end)
        elif self.top is not None:
            self._add_repair(Repair(RepairKind.LIST, end, "", ARRAY))
            text += ARRAY
        return text

    def refuse(self, reason: Reason, wanted: str, found: str) -> None:
        """Stop for good at the end of what was fed."""
        if not self.is_over:
            self._fail(reason, wanted, found, self.base + len(self.buffer))
            self.buffer = ""

    def _is_open(self) -> bool:
        if self.mode in (LINE_COMMENT, BLOCK_COMMENT):
            self.mode = self.resume
        return written_frame(self.top) is not None or self.mode == STRING or self.mode in _LATE_END

    def _close(self, end: i64) -> str:
        """End a text that is not complete."""
        if RepairKind.TRUNCATED not in self.kinds:
            self._fail(Reason.UNEXPECTED_END, wanted_in(self.mode), END_OF_TEXT, end)
            return ""
        if self.mode == STRING and self.tally.marks and (self.tally.has_key or not self.tally.is_balanced):
            self._fail(Reason.AMBIGUOUS, "a clear end of the string with quotation marks inside", END_OF_TEXT, end)
            return ""
        self._note_truncation(END_OF_TEXT, end)
        closers = self.closers = _LATE_END.get(self.mode, "") + closers_of(self.top)
        if closers:
            self._add_repair(Repair(RepairKind.TRUNCATED, end, "", closers))
        return closers

    def _run(self, is_end: bool) -> str:
        n: i64 = len(self.buffer)
        self.is_end = is_end
        self.copied = 0
        self.hold = -1
        self.is_waiting = False
        self.stop = -1
        i: i64 = 0
        while i < n and not self.is_waiting and not self.is_over:
            mode: i64 = self.mode
            if mode <= KEY_TEXT:
                i = self._read_string(i, n)
            elif mode < OUTSIDE:
                i = self._read(i, n)
            elif mode == OUTSIDE:
                i = self._read_outside(i, n)
            elif mode == LEAVING:
                i = self._leave(i, n)
            elif mode == SKIPPING:
                i = self._skip(i, n)
            elif mode == COMPARING:
                i = self._compare(i, n)
            else:
                i = self._read_comment(i, n)
        return self._take(n)

    def _read(self, i: i64, n: i64) -> i64:
        """Read what is between tokens, by the table."""
        buffer = self.buffer
        grammar = GRAMMAR
        mode: i64 = self.mode
        while i < n:
            cell: i64
            if COMPILED:
                code: i64 = ord(buffer[i])
                cell = grammar[mode * 128 + code] if code < 128 else FAIL
            else:
                try:
                    cell = CELLS[mode][buffer[i]]
                except KeyError:
                    cell = FAIL
            if cell < FAIL:
                if cell != mode and (mode == AFTER_MEMBER or mode == AFTER_ITEM):
                    self._hold_comma(i, mode)
                mode = cell
                i += 1
            elif cell == NEWLINE:
                self.newline = self.base + i
                i += 1
            else:
                self.mode = mode
                i = self._begin_token(i, n, cell)
                mode = self.mode
                if self.is_waiting or self.is_over or mode >= OUTSIDE or mode <= KEY_TEXT:
                    return i
        self.mode = mode
        return n

    def _begin_token(self, i: i64, n: i64, cell: i64) -> i64:
        """Read the token at `i`, or what stands in place of one."""
        if self.shape is not None and cell != CLOSE and self.mode in AT_A_VALUE:
            top = self.top
            place = self._coerce(i, n)
            if top is not self.top and place == i:  # a list was opened around the value
                place = self._coerce(i, n)
            if place != i or self.is_waiting or self.is_over:
                return place
        if cell == OPEN_STRING:
            self._release()
            self.mode = STRING
            self._begin_string('"', i + 1)
            return self._read_string(i + 1, n)
        if cell == OPEN_KEY:
            self._hold_key(i)
            self.mode = KEY_TEXT
            self._begin_string('"', i + 1)
            return self._read_string(i + 1, n)
        if cell == CLOSE:
            return self._close_container(i)
        if cell == BEGIN_NUMBER:
            return self._read_number(i, n)
        if cell == END_NUMBER:
            return self._end_token(i)
        return self._read_word(i, n) if cell == BEGIN_LITERAL else self._begin_other(i, n, cell)

    def _begin_other(self, i: i64, n: i64, cell: i64) -> i64:
        if cell == FAIL:
            return self._mend_at(i, n)
        return self._open_container(i, OBJECT if cell == OPEN_OBJECT else ARRAY)
