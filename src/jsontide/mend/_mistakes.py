"""What the grammar has no place for in, between tokens; the one edit that gives it one out.

Rule: a choice is local and final.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide.mend._frame import OBJECT, TUPLE, Frame
from jsontide.mend._look import (
    BLANKS,
    CLOSING,
    COLONS,
    COMMAS,
    NO,
    ODD_SPACES,
    SEMICOLONS,
    SPACES,
    WAIT,
    YES,
    begins_value,
    equals_ahead,
    key_ahead,
    loose_key_end,
    name_end,
    skip_prefix,
    skip_spaces,
)
from jsontide.mend._quotes import NO_MARKS, Tally
from jsontide.mend.options import Repair, RepairKind
from jsontide.text.grammar import name_character
from jsontide.text.modes import (
    AFTER_ITEM,
    AFTER_MEMBER,
    COLON,
    DONE,
    ITEM,
    ITEM_OR_END,
    KEY,
    KEY_OR_END,
    KEY_TEXT,
    MEMBER,
    STRING,
    VALUE,
)

if TYPE_CHECKING:
    from mypy_extensions import i64
from jsontide.mend._fields import BLOCK_COMMENT, LEAVING, LINE_COMMENT, OUTSIDE
from jsontide.mend._tokens import Tokens

_AT_A_KEY: Final = (KEY_OR_END, KEY)
AT_A_VALUE: Final = (VALUE, ITEM_OR_END, ITEM, MEMBER)
CLOSERS_OF_STRINGS: Final = "".join(CLOSING.values())
_AFTER_STRING: Final = COMMAS + COLONS + "}])"


class Mistakes(Tokens):
    """Reads what is between tokens and should not be."""

    __slots__ = ()

    def _mend_at(self, i: i64, n: i64) -> i64:
        """Read the character at `i`, for which the grammar has no place, by the one edit that gives it one."""
        buffer, mode = self.buffer, self.mode
        char = buffer[i]
        if mode < VALUE:
            return self._fail_held(i)  # in a number that was too long to be held
        if mode == DONE:
            self.mode = LEAVING
            return i
        if char in ODD_SPACES:
            return i + 1 if self._edit(i, i + 1, " ", RepairKind.SPACE) else i
        if char == "/" or char == "#":
            return self._begin_comment(i, n)
        if char in "`<\\":
            found = self._find_end(i, n)
            if found != NO:
                return self._wait(i) if found == WAIT else self._leave_early(i, n)
        if mode in _AT_A_KEY:
            return self._mend_key(i, n)
        if mode == COLON:
            return self._mend_colon(i, n)
        if mode in AT_A_VALUE:
            return self._mend_value(i, n)
        return self._mend_after(i, n)

    def _read_outer_escape(self, i: i64, n: i64) -> i64:
        """Read a backslash between tokens, in a text that was written into another: white space, or a string."""
        is_space = self.buffer[i + 1] in "nrt"
        if (is_space or self.mode in _AT_A_KEY) and self.hold >= 0 and i + 1 - self.hold > self.max_held:
            return self._fail_held(i)
        if is_space:
            return i + 2 if self._edit(i, i + 2, " ", RepairKind.SPACE) else i
        if self.buffer[i + 1] != '"' or (self.mode not in _AT_A_KEY and self.mode not in AT_A_VALUE):
            return self._fail_at(i)
        return self._open_wrapped(i, KEY_TEXT if self.mode in _AT_A_KEY else STRING)

    def _mend_key(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        char = buffer[i]
        if char in CLOSING:
            return self._open_quote(i, n, KEY_TEXT)
        if char == OBJECT and self.mode == KEY:
            return self._close_early(i)
        if char in COMMAS:
            return self._drop_extra_comma(i)
        if char in ".…":
            return self._read_ellipsis(i, n)
        end = self._limit(i, n)
        if self.flushed >= 0 or end == i:
            return self._fail_held(i)
        return self._mend_name(i, n, end)

    def _mend_name(self, i: i64, n: i64, end: i64) -> i64:
        """Read a key without quotation marks, or what comes before them in Python 2."""
        buffer = self.buffer
        place = name_end(buffer, i, end)
        if place == i:
            return self._fail_at(i)
        if skip_prefix(buffer, i, end) > i:
            self._hold_key(i)
            return i + 1 if self._edit(i, i + 1, "", RepairKind.QUOTES) else i
        found = key_ahead(buffer, i, end, True)
        if found == NO:
            place = loose_key_end(buffer, i, end, not self._is_after_string())
            found = NO if place == -1 else (WAIT if place == -2 else YES)
        if found == NO:
            return self._fail_at(i)
        self._hold_key(i)
        if found == WAIT:
            return self._wait_or_fail(i, n)
        if not self._edit(i, place, f'"{buffer[i:place]}"', RepairKind.UNQUOTED_KEY):
            return i
        self.key = buffer[i:place]
        self._note_key()
        self.mode = COLON
        return place

    def _is_after_string(self) -> bool:
        """Return whether the member before the comma that is held ends with a string: it may go on after the comma."""
        if self.mode == KEY_OR_END:
            return False
        return self.hold < 0 or self._end_before(self.hold)[:1] in CLOSERS_OF_STRINGS

    def _read_equals(self, i: i64, n: i64) -> i64:
        """Read an equals sign in place of a colon."""
        end = self._limit(i, n)
        found = equals_ahead(self.buffer, i, end)
        if found == WAIT and not self.is_end:
            return self._wait_or_fail(i, n)
        after: i64 = i + 2 if self.buffer.startswith("=>", i) else i + 1
        if found != YES or not self._edit(i, after, ":", RepairKind.PUNCTUATION):
            return i if self.is_over else self._fail_at(i)
        self.equals = True
        self.mode = MEMBER
        return after

    def _mend_colon(self, i: i64, n: i64) -> i64:
        char = self.buffer[i]
        if char == "=":
            return self._read_equals(i, n)
        if char in COLONS:
            if self._edit(i, i + 1, ":", RepairKind.PUNCTUATION):
                self.mode = MEMBER
                return i + 1
        elif not begins_value(char):
            self._fail_at(i)
        elif char in CLOSING and (self.buffer[i - 1] if i else self.recent[-1:]) not in SPACES:
            self._fail_ambiguous(i, "a colon between a key and a string")
        elif self._edit(i, i, ":", RepairKind.MISSING_COLON):
            self.mode = MEMBER
            if char not in "{[(":
                self.added_colon = self.base + i
        return i

    def _mend_value(self, i: i64, n: i64) -> i64:
        char = self.buffer[i]
        mode: i64 = self.mode
        top = self.top
        if char in CLOSING:
            return self._open_quote(i, n, STRING)
        if char == "(":
            if not self._edit(i, i + 1, "[", RepairKind.TUPLE):
                return i
            return self._open_container(i, TUPLE)
        if top is not None and top.closer != OBJECT and mode != MEMBER:
            if char == top.closer:
                return self._close_early(i) if mode == ITEM else self._close_tuple(i)
            if char in COMMAS:
                return self._drop_extra_comma(i)
            if char == "…" or self.buffer.startswith("..", i):
                return self._read_ellipsis(i, n)
        return self._mend_scalar(i, n)

    def _mend_scalar(self, i: i64, n: i64) -> i64:
        """Read a number or a word in another spelling, or a second colon before it."""
        char = self.buffer[i]
        if char == "." and i + 1 == n and not self.is_end:
            return self._wait(i)
        if char in "+.":
            return self._read_number(i, n)
        if char == ":" and self.mode == MEMBER and (self.buffer[i - 1] if i else self.recent[-1:]) == ":":
            self._hold_key(i)
            return i + 1 if self._edit(i, i + 1, "", RepairKind.PUNCTUATION) else i
        return self._read_word(i, n)

    def _mend_after(self, i: i64, n: i64) -> i64:
        """Read what follows a value, and is neither a comma nor the closing bracket."""
        mode: i64 = self.mode
        top = self.top
        assert top is not None
        char = self.buffer[i]
        if self.flushed >= 0:
            return self._fail_held(i)
        if char in COMMAS or (char in SEMICOLONS and mode == AFTER_MEMBER):
            self._begin_hold(i, mode)
            self.added_colon = -1
            if not self._edit(i, i + 1, ",", RepairKind.PUNCTUATION):
                return i
            self.has_comma = True
            self.mode = KEY if mode == AFTER_MEMBER else ITEM
            return i + 1
        if char == top.closer:
            return self._close_tuple(i)
        if self.added_colon >= 0:
            # The key, the value and what follows may be one key with quotation marks inside.
            return self._fail_ambiguous(i, "a comma after a member without a colon")
        if not (self._is_member(i, n) if mode == AFTER_MEMBER else self._is_item(i)):
            return i
        self._begin_hold(i, mode)
        if top.closer == TUPLE:
            self.top = Frame(TUPLE, top.parent, True, top.shape)
        if self._edit(i, i, ",", RepairKind.MISSING_COMMA):
            self.mode = KEY if mode == AFTER_MEMBER else ITEM
        return i

    def _is_member(self, i: i64, n: i64) -> bool:
        """Return whether a member begins at `i`, where a comma should be; wait or fail if not."""
        before = self.buffer[i - 1] if i else self.recent[-1:]
        if before not in SPACES and before not in "}])":  # `5"` may be inches in a key or a string
            self._fail_ambiguous(i, "a comma between two members")
            return False
        found = key_ahead(self.buffer, i, self._limit(i, n), self.newline >= self.token_end)
        if found == WAIT and not self.is_end:
            self._wait_or_fail(i, n)
        elif found != YES:
            self._fail_at(i)
        return found == YES

    def _is_item(self, i: i64) -> bool:
        """Do the same for an item; on one line, two numbers may also be one."""
        char = self.buffer[i]
        if not begins_value(char):
            self._fail_at(i)
            return False
        before = self.buffer[i - 1] if i else self.recent[-1:]
        if self.newline >= self.token_end or char in "{[" or (char == '"' and before in " \t"):
            return True
        self._fail_ambiguous(i, "a comma between two values")
        return False

    def _open_quote(self, i: i64, n: i64, mode: i64) -> i64:
        """Read a quotation mark that is none in JSON as one."""
        char = self.buffer[i]
        if mode == STRING:
            self._release()
        else:
            self._hold_key(i)
        if not self._edit(i, i + 1, '"', RepairKind.QUOTES):
            return i
        self.mode = mode
        self._begin_string(CLOSING[char], i + 1)
        return i + 1

    def _close_early(self, i: i64) -> i64:
        """Close a container after a comma."""
        if not self._drop_comma(i):
            return i
        top = self.top
        if top is not None and top.closer == TUPLE:
            self.top = Frame(TUPLE, top.parent, True, top.shape)
        self.hold = -1
        self.mode = self._after()
        return self._close_tuple(i) if self.buffer[i] == TUPLE else self._close_container(i)

    def _close_tuple(self, i: i64) -> i64:
        top = self.top
        assert top is not None
        if not top.has_comma and self.mode == AFTER_ITEM:
            return self._fail_ambiguous(i, "a comma in the tuple")
        if not self._edit(i, i + 1, "]", RepairKind.TUPLE):
            return i
        return self._close_container(i)

    def _drop_extra_comma(self, i: i64) -> i64:
        self._hold_key(i)
        return i + 1 if self._edit(i, i + 1, "", RepairKind.EXTRA_COMMA) else i

    def _read_ellipsis(self, i: i64, n: i64) -> i64:
        end: i64 = i + 1
        if self.buffer[i] == ".":
            while end < n and self.buffer[end] == "." and end < i + 3:
                end += 1
            if end == n and end < i + 3 and not self.is_end:
                return self._wait(i)
            if end < i + 3:
                return self._fail_at(i)
        self._hold_key(i)
        if not self._edit(i, end, "", RepairKind.ELLIPSIS, True):
            return i
        # What follows is a comma, or the end of the container.
        after = skip_spaces(self.buffer, end, n)
        if after < n and self.buffer[after] in COMMAS:
            return after + 1 if self._edit(after, after + 1, "", RepairKind.EXTRA_COMMA) else after
        return end

    def _begin_comment(self, i: i64, n: i64) -> i64:
        before = self.buffer[i - 1] if i else self.recent[-1:]
        if self.mode == COLON and (before.isalnum() or before in "_$"):
            return self._fail_at(i)  # it may belong to the key, which has lost a quotation mark
        mode: i64 = LINE_COMMENT
        end: i64 = i + 1
        self.until = "*/"
        if self.buffer[i] == "<":
            mode = BLOCK_COMMENT
            end += 3
            self.until = "-->"
        elif self.buffer[i] == "/":
            if end == n:
                return self._fail_at(i) if self.is_end else self._wait(i)
            if self.buffer[end] == "*":
                mode = BLOCK_COMMENT
            elif self.buffer[end] != "/":
                return self._fail_at(i)
            end += 1
        if self.flushed >= 0 or (self.hold >= 0 and i - self.hold > self.max_held):
            return self._fail_held(i)
        if not self._drop(i, end, RepairKind.COMMENT):
            return i
        self.tally = NO_MARKS
        self.resume = self.mode
        self.mode = mode
        return end

    def _read_comment(self, i: i64, n: i64) -> i64:
        is_line = self.mode == LINE_COMMENT
        until = "\n" if is_line else self.until
        end: i64 = self.buffer.find(until, i)
        if self.tally is NO_MARKS and self._may_hide_end(i, n if end < 0 else end, n):
            return i
        if end < 0:
            keep: i64 = n
            if not is_line and not self.is_end:
                keep = n - len(until) + 1
                while keep < i or (keep < n and not until.startswith(self.buffer[keep:n])):
                    keep += 1
            if keep > i and not self._drop(i, keep, RepairKind.COMMENT):
                return i
            return n if keep == n else self._wait(keep)
        end += 0 if is_line else len(until)
        if self._drop_whole(i, end, RepairKind.COMMENT):
            self.mode = self.resume
        return end

    def _may_hide_end(self, i: i64, end: i64, n: i64) -> bool:
        """Wait or fail, and return `True`, if a string may end in the comment from `i` to `end`.

        A string that has lost a quotation mark, or has one too many, may be what looks like a comment: its first mark
        is followed by what follows a string.
        """
        buffer = self.buffer
        mark: i64 = buffer.find('"', i, end)
        while mark >= 0:
            after = mark + 1
            while after < n and (buffer[after] == '"' or buffer[after] in BLANKS):
                after += 1
            if after == n or buffer[after] in _AFTER_STRING or (buffer[after] == "\n" and self.mode == LINE_COMMENT):
                if self._drop(i, mark, RepairKind.COMMENT):
                    if after < n or self.is_end or self._is_late(mark, n):
                        self._fail_ambiguous(mark, "a comment in which no string may end")
                    else:
                        self._wait(mark)
                return True
            if (buffer[mark - 1] if mark else self.recent[-1:]) != "\\":
                self.tally = Tally(1)
                return False
            mark = buffer.find('"', mark + 1, end)
        return False

    def _find_end(self, i: i64, n: i64) -> i64:
        """Tell whether a fence or a tag is at `i`, a comment of HTML, or the backslash of an outer string."""
        if self.buffer[i] == "`":
            begun = self.buffer[i : i + 3]
            if begun == "```":
                return YES
            return WAIT if i + len(begun) == n and not self.is_end and begun == "`" * len(begun) else NO
        if self.buffer[i] == "\\" and not self.wrapping:
            return NO
        if i + 1 == n:
            return NO if self.is_end else WAIT
        return YES if self.buffer[i] == "\\" or self.buffer[i + 1] in "/|｜" else self._find_html_comment(i, n)

    def _find_html_comment(self, i: i64, n: i64) -> i64:
        """Tell whether `<!--` is at `i`, unless comments are not left out."""
        if RepairKind.COMMENT not in self.kinds or not "<!--".startswith(self.buffer[i : i + 4]):
            return NO
        return YES if i + 4 <= n else (NO if self.is_end else WAIT)

    def _leave_early(self, i: i64, n: i64) -> i64:
        """Read the backslash of an outer string, a comment of HTML, or a fence or tag that ends the value too early."""
        if self.buffer[i] == "\\":
            return self._read_outer_escape(i, n)
        return self._begin_comment(i, n) if self.buffer.startswith("<!", i) else self._break_off(i)

    def _break_off(self, i: i64) -> i64:
        """Take the value for truncated at `i`."""
        if RepairKind.TRUNCATED not in self.kinds:
            return self._fail_at(i)
        if self.flushed >= 0 or (self.hold >= 0 and i - self.hold > self.max_held):
            return self._fail_held(i)
        if self.hold >= 0:
            place: i64 = self.hold
            self._rewind()
            self._copy_to(place)
            self.hold = -1
            self._add_repair(Repair(RepairKind.TRUNCATED, self.base + place, self.buffer[place:i], "", True))
            self.copied = i
        self._flush_drop()
        self._note_truncation(name_character(self.buffer[i]), self.base + i)
        self._enter_outside("\n")
        return i

    def _enter_outside(self, lead: str) -> None:
        self.lead = lead
        self.begun = ""
        self.line_marks = 0
        self.at_start = False
        self.mode = OUTSIDE
