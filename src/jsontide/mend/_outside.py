"""What stands around a value in, and left out: words, fences, tags, thinking, comments and other values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from jsontide._textbuffer import NO_TEXT, GrowingText
from jsontide.mend._buffer import BLOCK_COMMENT, COMPARING, LINE_COMMENT, OUTSIDE, SKIPPING, Buffer
from jsontide.mend._look import (
    BLANKS,
    CLOSING,
    COLONS,
    COMMAS,
    DOUBLED,
    ESCAPED,
    MISSING,
    NO,
    ODD_SPACES,
    UNDECIDED,
    UNKNOWN,
    WAIT,
    YES,
    begins_value,
    colon_ahead,
    container_begins,
    fence_info,
    find_wrapping,
    is_json_info,
    key_ahead,
    read_fence,
    read_tag,
    scalar_ends,
    skip_comments,
    skip_spaces,
    string_end,
    thinking_name,
)
from jsontide.mend._strings import Strings
from jsontide.mend._value import ARRAY, Value
from jsontide.mend.options import RepairKind
from jsontide.mend.shape import ARRAY as ARRAY_SHAPE
from jsontide.mend.shape import OBJECT as OBJECT_SHAPE
from jsontide.text.grammar import name_character
from jsontide.text.modes import COLON, DONE, VALUE

if TYPE_CHECKING:
    from mypy_extensions import i64

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
        return self.hold < 0 or self._end_before(self.hold)[:1] in _CLOSERS_OF_STRINGS

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
_CLOSERS: Final[dict[str, str]] = {"{": "}", "[": "]", "｛": "｝", "［": "］"}
_NO_CLOSER: Final = "\0"
"""In place of the closer of an object whose brace was never there."""
_BETWEEN: Final = COMMAS + COLONS
_DEEPEST: Final = 512
"""Brackets around words inside each other; of more, the end is never found."""
_CANDIDATE: Final = re.compile(r"[{}\[\]()｛｝［］<`~]")
_ASSIGNS: Final = re.compile(
    r"\s*(?:(?:export\s+)?(?:(?:const|let|var)\s+)?[^\W\d][\w.$]*(?:\s*:\s*[\w.]+(?:\[[\w., ]*\])?)?\s*:?="
    r"|return|export\s+default)\s*"
)
_LONGEST_BEGUN: Final = 80
_EMPTY_LINE: Final = re.compile(r"\n[ \t\r]*\n")


class Comments:
    """Leaves out comments, between tokens and around values."""

    __slots__ = ("buffer", "has_mark", "resume", "until")

    def __init__(self, buffer: Buffer, resume: i64 = 0, until: str = "", has_mark: bool = False) -> None:
        self.buffer: Final = buffer
        self.resume: i64 = resume  # the mode after the comment
        self.until: str = until  # what ends it
        self.has_mark: bool = has_mark  # whether a quotation mark is inside

    def kept(self) -> tuple[Any, ...]:
        return self.resume, self.until, self.has_mark

    def begin(self, i: i64, n: i64) -> i64:
        before = self.buffer.before(i)
        if self.buffer.mode == COLON and (before.isalnum() or before in "_$"):
            return self.buffer.fail_at(i)  # it may belong to the key, which has lost a quotation mark
        mode: i64 = LINE_COMMENT
        end: i64 = i + 1
        self.until = "*/"
        if self.buffer.text[i] == "<":
            mode = BLOCK_COMMENT
            end += 3
            self.until = "-->"
        elif self.buffer.text[i] == "/":
            if end == n:
                return self.buffer.fail_at(i) if self.buffer.is_end else self.buffer.wait(i)
            if self.buffer.text[end] == "*":
                mode = BLOCK_COMMENT
            elif self.buffer.text[end] != "/":
                return self.buffer.fail_at(i)
            end += 1
        if self.buffer.flushed >= 0 or (self.buffer.hold >= 0 and i - self.buffer.hold > self.buffer.max_held):
            return self.buffer.fail_held(i)
        if not self.buffer.drop(i, end, RepairKind.COMMENT):
            return i
        self.has_mark = False
        self.resume = self.buffer.mode
        self.buffer.mode = mode
        return end

    def read(self, i: i64, n: i64) -> i64:
        is_line = self.buffer.mode == LINE_COMMENT
        until = "\n" if is_line else self.until
        end: i64 = self.buffer.text.find(until, i)
        if not self.has_mark and self._may_hide_end(i, n if end < 0 else end, n):
            return i
        if end < 0:
            keep: i64 = n
            if not is_line and not self.buffer.is_end:
                keep = n - len(until) + 1
                while keep < i or (keep < n and not until.startswith(self.buffer.text[keep:n])):
                    keep += 1
            if keep > i and not self.buffer.drop(i, keep, RepairKind.COMMENT):
                return i
            return n if keep == n else self.buffer.wait(keep)
        end += 0 if is_line else len(until)
        if self.buffer.drop_whole(i, end, RepairKind.COMMENT):
            self.buffer.mode = self.resume
        return end

    def _may_hide_end(self, i: i64, end: i64, n: i64) -> bool:
        """Wait or fail, and return `True`, if a string may end in the comment from `i` to `end`.

        A string that has lost a quotation mark, or has one too many, may be what looks like a comment: its first mark
        is followed by what follows a string.
        """
        text = self.buffer.text
        mark: i64 = text.find('"', i, end)
        while mark >= 0:
            after = mark + 1
            while after < n and (text[after] == '"' or text[after] in BLANKS):
                after += 1
            if after == n or text[after] in _AFTER_STRING or (text[after] == "\n" and self.buffer.mode == LINE_COMMENT):
                if self.buffer.drop(i, mark, RepairKind.COMMENT):
                    if after < n or self.buffer.is_end or self.buffer.is_late(mark, n):
                        self.buffer.fail_ambiguous(mark, "a comment in which no string may end")
                    else:
                        self.buffer.wait(mark)
                return True
            if self.buffer.before(mark) != "\\":
                self.has_mark = True
                return False
            mark = text.find('"', mark + 1, end)
        return False

    def find_html(self, i: i64, n: i64) -> i64:
        """Tell whether `<!--` is at `i`, unless comments are not left out."""
        if RepairKind.COMMENT not in self.buffer.kinds or not "<!--".startswith(self.buffer.text[i : i + 4]):
            return NO
        return YES if i + 4 <= n else (NO if self.buffer.is_end else WAIT)


class Outside:
    """Finds the value, and leaves out what stands around it."""

    __slots__ = (
        "aside",
        "at_start",
        "begun",
        "buffer",
        "comments",
        "compared",
        "first_start",
        "found",
        "had_brackets",
        "has_quote",
        "in_fence",
        "is_scalar",
        "last_char",
        "line_marks",
        "open_brackets",
        "open_quote",
        "original",
        "prose_kind",
        "skip_kind",
        "skipped",
        "strings",
        "until",
        "value",
    )

    def __init__(
        self,
        buffer: Buffer,
        value: Value,
        strings: Strings,
        comments: Comments,
        at_start: bool = True,
        last_char: str = "\n",
        begun: str = "",
        line_marks: i64 = 0,
        prose_kind: RepairKind = RepairKind.PROSE,
        open_brackets: str = "",
        had_brackets: bool = False,
        aside: str = "",
        open_quote: str = "",
        has_quote: bool = False,
        skipped: str = "",
        skip_kind: RepairKind = RepairKind.PROSE,
        until: str = "",
        in_fence: bool = False,
        found: bool = False,
        is_scalar: bool = False,
        first_start: i64 = 0,
        compared: i64 = 0,
        original: GrowingText = NO_TEXT,
    ) -> None:
        self.buffer: Final = buffer
        self.value: Final = value
        self.strings: Final = strings
        self.comments: Final = comments
        self.at_start: bool = at_start  # whether the next character may begin a value of any kind
        self.last_char: str = last_char  # the last one in the line before a value, a newline if there is none
        self.begun: str = begun  # the line of words so far, if it is short
        self.line_marks: i64 = line_marks  # the quotation marks in it, without those that are escaped
        self.prose_kind: RepairKind = prose_kind  # what words around the value are reported as
        self.open_brackets: str = open_brackets  # closes those around words that may be a value: none begins inside
        self.had_brackets: bool = had_brackets  # whether there were any
        self.aside: str = aside  # the same of brackets in the middle of the line
        self.open_quote: str = open_quote  # the mark that is open in such brackets: none closes before its pair
        self.has_quote: bool = has_quote  # whether a quotation mark follows the value, or is in brackets before it
        self.skipped: str = skipped  # where the first bracket is that was taken for words
        self.skip_kind: RepairKind = skip_kind  # what is left out up to `until` is reported as this
        self.until: str = until
        self.in_fence: bool = in_fence
        self.found: bool = found  # whether a value has begun
        self.is_scalar: bool = is_scalar  # and whether it is neither an object nor an array
        self.first_start: i64 = first_start  # where it began
        self.compared: i64 = compared  # how much of it came again
        self.original: GrowingText = original  # with `values="one"`, all of the text so far

    def kept(self) -> tuple[Any, ...]:
        return (
            self.at_start,
            self.last_char,
            self.begun,
            self.line_marks,
            self.prose_kind,
            self.open_brackets,
            self.had_brackets,
            self.aside,
            self.open_quote,
            self.has_quote,
            self.skipped,
            self.skip_kind,
            self.until,
            self.in_fence,
            self.found,
            self.is_scalar,
            self.first_start,
            self.compared,
            self.original,
        )

    def enter(self, lead: str) -> None:
        self.last_char = lead
        self.begun = ""
        self.line_marks = 0
        self.at_start = False
        self.buffer.mode = OUTSIDE

    def leave(self, i: i64, n: i64) -> i64:
        """Read what follows a whole value."""
        text = self.buffer.text
        char = text[i]
        if self.value.top is not None:
            return self._leave_item(i, n)
        if self.is_scalar and char not in "`~<":
            return self.buffer.fail_ambiguous(i, "nothing after the end of the value")
        if char in "}])":
            if self.had_brackets:
                return self.buffer.fail_ambiguous(i, "no bracket after a value that may be inside of another")
            self.buffer.mode = DONE
            self.buffer.token_end = self.buffer.base + i + 1
            return i + 1 if self.buffer.edit(i, i + 1, "", RepairKind.EXTRA_CLOSER) else i
        if char in COMMAS:
            return self._leave_comma(i, n)
        if char not in "{[" and self._is_odd_after(i, char):
            return self.buffer.fail_ambiguous(i, "nothing after the end of the value")
        self.enter("\n" if self.buffer.newline >= self.buffer.token_end else "}")
        return i

    def _leave_comma(self, i: i64, n: i64) -> i64:
        """Read a comma after a whole value: with more members behind it, the value ended too early."""
        text = self.buffer.text
        end = self.buffer.limit(i, n)
        place = skip_comments(text, i + 1, end)
        if place == end:
            if self.buffer.is_end and end == n:
                self.buffer.mode = DONE
                return i + 1 if self.buffer.edit(i, i + 1, "", RepairKind.EXTRA_COMMA) else i
            return self.buffer.fail_held(i) if self.buffer.is_late(i, n) else self.buffer.wait(i)
        found = key_ahead(text, place, end, True)
        if found == NO and text[place] in "{[":
            found = container_begins(text, place, end, False, self.buffer.is_end and end == n)
            found = YES if found == NO else (NO if found == YES else WAIT)
        if found == YES or (found == WAIT and self.buffer.is_late(i, n)):
            return self.buffer.fail_ambiguous(i, "nothing after the end of the value")
        if found == WAIT and not self.buffer.is_end:
            return self.buffer.wait(i)
        self.enter("\n" if self.buffer.newline >= self.buffer.token_end else "}")
        return i

    def _is_odd_after(self, i: i64, char: str) -> bool:
        """Return whether this cannot follow a value, so that the value may have another end."""
        if not self.found or self.buffer.base + i != self.buffer.token_end:
            return False
        if char in '"`':  # unless it closes what was opened before the value
            return self.last_char != char and not (self.in_fence and char == "`")
        return char.isalnum() or char in "{[\\#/" or char in COLONS

    def _leave_item(self, i: i64, n: i64) -> i64:
        """Read what follows an item of a list that only the schema asks for: another item on a line of its own."""
        place: i64 = i
        if self.buffer.text[i] == ",":
            place = skip_spaces(self.buffer.text, i + 1, n)
            if place == n and not self.buffer.is_end:
                return self.buffer.wait(i)
        if place < n and self.buffer.text[place] == "{" and (place > i or self.buffer.newline >= self.buffer.token_end):
            if RepairKind.LINES not in self.buffer.kinds:
                return self.buffer.fail_at(i)
            if place == i and not self.buffer.edit(i, i, ",", RepairKind.LINES):
                return i
            self.buffer.mode = VALUE
            return place
        if self.buffer.edit(i, i, ARRAY, RepairKind.LIST):
            self.value.top = None
        return i

    def compare(self, i: i64, n: i64) -> i64:
        """Read another value, which must be the first one again."""
        first = self.original.read()[self.first_start : self.value.first_end]
        rest = first[self.compared :]
        new = self.buffer.text[i : i + len(rest)]
        if not rest.startswith(new):
            place: i64 = 0
            while new[place] == rest[place]:
                place += 1
            if not self.buffer.drop(i, i + place, RepairKind.SECOND_VALUE):
                return i
            return self.buffer.fail_ambiguous(i + place, "the same value again")
        if not self.buffer.drop(i, i + len(new), RepairKind.SECOND_VALUE):
            return i
        self.compared += len(new)
        if len(new) == len(rest):
            self.enter("}")
            self.buffer.token_end = self.buffer.base + i + len(new)
        return i + len(new)

    def read(self, i: i64, n: i64) -> i64:
        text = self.buffer.text
        if self.at_start:
            while i < n and text[i] in " \t\r\n":
                i += 1
            if i == n or text[i] not in "{[`~<":
                return n if i == n else self._read_first(i, n)
        place = _find_candidate(text, i)
        if place < 0:
            place = n
        if place > i:
            words = text[i:place]
            if (self.aside or self.has_quote) and _ends_paragraph(words, self.last_char):
                self.aside = ""
                self.has_quote = self.has_quote and not self.found
            self._note_words(i, words)
            self.at_start = False
            self.has_quote = self.has_quote or ((self.found or self.open_brackets != "") and '"' in words)
            return place if self.buffer.drop(i, place, self.prose_kind) else i
        return self._read_mark(i, n)

    def _read_mark(self, i: i64, n: i64) -> i64:
        """Read what may begin a value, a fence or a tag, or be a bracket around words."""
        char = self.buffer.text[i]
        if char in "]}｝］)":
            return self._close_bracket(i)
        if char == "(":
            return self._open_parenthesis(i, n)
        if char == "<":
            found = self.comments.find_html(i, n)
            if found != NO:
                return self.buffer.wait(i) if found == WAIT else self._skip_html_comment(i)
            return self._read_tag(i, n)
        return self._read_fence(i, n) if char in "`~" else self._read_candidate(i, n)

    def _skip_html_comment(self, i: i64) -> i64:
        if not self.buffer.drop(i, i + 4, RepairKind.COMMENT):
            return i
        self.buffer.mode = SKIPPING
        self.until = "-->"
        self.skip_kind = RepairKind.COMMENT
        return i + 4

    def _note_words(self, i: i64, words: str) -> None:
        """Note what the words from `i` on say about what follows them."""
        self.last_char = _last_char(words, self.last_char)
        self.begun = _begin_line(words, self.begun)
        before = self.buffer.before(i)
        self.line_marks = _count_marks(words, self.line_marks, before)
        if self.aside or self.open_brackets:
            self.open_quote = _find_open_quote(words, self.open_quote, before)

    def _read_first(self, i: i64, n: i64) -> i64:
        """Read a first character that opens neither a container nor a block: a scalar, a comment or prose."""
        text = self.buffer.text
        char = text[i]
        if char in ODD_SPACES:
            return i + 1 if self.buffer.edit(i, i + 1, "", RepairKind.SPACE) else i
        if self.found:
            self.at_start = False
            return i
        if char == "/" and RepairKind.COMMENT in self.buffer.kinds:
            if i + 1 == n and not self.buffer.is_end:
                return self.buffer.wait(i)
            if text[i + 1 : i + 2] in ("/", "*"):
                return self.comments.begin(i, n)
        if not self.had_brackets and (char in '"-tfn' or char in "0123456789"):
            end = self.buffer.limit(i, n)
            found = scalar_ends(text, i, end, self.buffer.is_end and end == n)
            if found == WAIT and self.buffer.is_late(i, n):
                found = YES
            if found == WAIT and not self.buffer.is_end:
                return self.buffer.wait(i)
            if found == YES or (found == WAIT and char == '"'):
                self.is_scalar = True
                return self._begin_value(i)
        return self._read_first_word(i, n)

    def _read_first_word(self, i: i64, n: i64) -> i64:
        """Read what begins no value: words, or members of an object whose brace is not there."""
        found = self._begins_member(i, n)
        if found == WAIT and not self.buffer.is_end and not self.buffer.is_late(i, n):
            return self.buffer.wait(i)
        if found == YES:
            self._note_skipped(i)
            self.open_brackets = _NO_CLOSER
            self.had_brackets = True
        self.at_start = False
        return i

    def _begins_member(self, i: i64, n: i64) -> i64:
        """Tell whether a member is at `i`, of an object whose brace is not there; of a name, also its value is read."""
        text = self.buffer.text
        end = self.buffer.limit(i, n)
        colon = colon_ahead(text, i, end, True)
        if colon < 0:
            return NO if colon == -1 else WAIT
        place = skip_comments(text, colon + 1, end)
        if place == end:
            return WAIT
        if text[i] in CLOSING:
            return YES if begins_value(text[place]) else NO
        if text[place] not in CLOSING:
            return NO
        after = string_end(text, place, end)
        after = end if after < 0 else skip_comments(text, after, end)
        if after == end:
            return WAIT
        if text[after] not in COMMAS:
            return NO
        after = skip_comments(text, after + 1, end)
        return WAIT if after == end else key_ahead(text, after, end, True)

    def _read_candidate(self, i: i64, n: i64) -> i64:
        """Read a bracket or brace that may open a value."""
        text = self.buffer.text
        end = self.buffer.limit(i, n)
        is_sure = self.at_start or self.last_char in "\n:：" or self.in_fence or _assigns(self.begun)
        is_end = self.buffer.is_end and end == n
        found = self._find_container(i, end, is_sure, is_end)
        if found == NO and text[i] == "[":
            tag = read_tag(text, i, end, is_end)
            if tag == UNDECIDED:
                return self._fail_late(i) if self.buffer.is_late(i, n) else self.buffer.wait(i)
            if tag > 0:
                self.at_start = True
                return tag if self.buffer.drop_whole(i, tag, RepairKind.TAG) else i
        if found == WAIT:
            if not self.buffer.is_end:
                if not self.buffer.is_late(i, n):
                    return self.buffer.wait(i)
                if not self.at_start:
                    return self._fail_late(i)
            found = self._take_cut_off(i, end, is_sure, is_end)
        if found == YES and not self.open_brackets and not self.aside:
            return self._begin_wanted(i)
        if found == NO and self._is_odd_after(i, text[i]):
            return self.buffer.fail_ambiguous(i, "nothing after the end of the value")
        self._open_aside(i, n, is_sure)
        return self._pass_opener(i)

    def _find_container(self, i: i64, end: i64, is_sure: bool, is_end: bool) -> i64:
        """Tell whether a value begins at `i`; what may be in quotation marks begins with a key or an item."""
        text = self.buffer.text
        wrapping = find_wrapping(text, i, end, self.last_char == '"')
        if wrapping == UNKNOWN and not is_end:
            return WAIT
        if wrapping == DOUBLED or (wrapping == ESCAPED and not self.line_marks):
            return YES
        found = container_begins(text, i, end, is_sure, is_end)
        if found == YES and self.line_marks and text[skip_spaces(text, i + 1, end)] in "}]":
            return NO
        return found

    def _begin_wanted(self, i: i64) -> i64:
        """Begin a value, unless the schema wants another one."""
        if not self._is_unwanted(self.buffer.text[i]):
            return self._begin_value(i)
        self.prose_kind = RepairKind.ROOT
        return self._pass_opener(i)

    def _pass_opener(self, i: i64) -> i64:
        """Take the bracket at `i` for a word."""
        self.at_start = False
        self.last_char = self.buffer.text[i]
        self.begun = _begin_line(self.last_char, self.begun)
        return i + 1 if self.buffer.drop(i, i + 1, self.prose_kind) else i

    def _note_skipped(self, i: i64) -> None:
        """Note that what begins at `i` is taken for words, if it is the first such place."""
        if not self.skipped:
            before = self.buffer.text[:i]
            line = self.buffer.line + before.count("\n")
            start = self.buffer.base + before.rfind("\n") + 1 if "\n" in before else self.buffer.line_start
            column = self.buffer.base + i - start + 1
            self.skipped = f"what begins with {name_character(self.buffer[i])} (line {line}, column {column})"

    def _open_parenthesis(self, i: i64, n: i64) -> i64:
        """Read a parenthesis: a value behind its first item may be part of a tuple."""
        text = self.buffer.text
        place = skip_spaces(text, i + 1, n)
        if place == n and not self.buffer.is_end and not self.buffer.is_late(i, n):
            return self.buffer.wait(i)
        if self.open_brackets:
            self.open_brackets = (self.open_brackets + ")")[:_DEEPEST]
        elif self.aside or (place < n and (text[place] in "\"'" or text[place].isdigit())):
            self.open_quote = self.open_quote if self.aside else ""
            self.aside = (self.aside + ")")[:_DEEPEST]
        return self._pass_opener(i)

    def _take_cut_off(self, i: i64, end: i64, is_sure: bool, is_end: bool) -> i64:
        """Tell whether a value begins at `i` of which there is too little, or too much, to see."""
        is_tag = is_end and self.buffer.text[i] == "[" and read_tag(self.buffer.text, i, end, False) == UNDECIDED
        if not is_sure or is_tag:
            return NO
        if not self.buffer.is_end:  # it was not seen whether a value goes on: what is none is an error
            self.buffer.flushed = self.buffer.base + i
            self.buffer.token_end = self.buffer.flushed + 1
        return YES

    def _fail_late(self, i: i64) -> i64:
        """Fail because more would have to be held to see whether a value begins at `i`."""
        self.buffer.hold_at(i, self.buffer.mode)
        return self.buffer.fail_held(i)

    def _open_aside(self, i: i64, n: i64, is_sure: bool) -> None:
        """Note that words in brackets begin: a value inside of them may be part of one that could not be read."""
        closer = _CLOSERS[self.buffer.text[i]]
        self._note_skipped(i)
        if not self.aside and not self.open_brackets:
            self.open_quote = ""
        if is_sure or self.open_brackets:
            self.open_brackets = (self.open_brackets + closer)[:_DEEPEST]
            self.had_brackets = True
            return
        place = skip_spaces(self.buffer.text, i + 1, n)
        before = self.buffer.before(i)
        is_smiley = before in "-;=" or self.buffer.text.startswith(".", place)
        if self.aside or (not is_smiley and (place == n or begins_value(self.buffer.text[place]))):
            self.aside = (self.aside + closer)[:_DEEPEST]

    def _close_bracket(self, i: i64) -> i64:
        closer = self.buffer.text[i]
        if self.open_quote:
            pass  # it may be part of a string
        elif self.aside.endswith(closer):
            self.aside = self.aside[:-1]
        elif self.open_brackets.endswith(closer) and len(self.open_brackets) < _DEEPEST:
            self.open_brackets = self.open_brackets[:-1]
        elif self.found and self.has_quote and closer != ")":
            return self.buffer.fail_ambiguous(i, "nothing after the end of the value")
        self.last_char = closer
        self.begun = _begin_line(closer, self.begun)
        self.at_start = False
        return i + 1 if self.buffer.drop(i, i + 1, self.prose_kind) else i

    def _is_unwanted(self, opener: str) -> bool:
        """Return whether the schema wants another kind of container than the one that begins."""
        shape = self.value.shape
        return (
            shape is not None
            and not self.found
            and opener == "["
            and shape.kinds & (OBJECT_SHAPE | ARRAY_SHAPE) == OBJECT_SHAPE
            and RepairKind.ROOT in self.buffer.kinds
        )

    def _begin_value(self, i: i64) -> i64:
        if not self.found:
            if self.had_brackets and self.has_quote:
                return self.buffer.fail_ambiguous(i, "no value after brackets that may be one")
            self.buffer.flush_drop()
            self.open_brackets = self.aside = ""
            self.prose_kind = RepairKind.PROSE
            self.found = True
            self.first_start = self.buffer.base + i
            if not self.is_scalar:
                wrapping = find_wrapping(self.buffer.text, i, self.buffer.limit(i, len(self.buffer.text)), self.last_char == '"')
                self.strings.wrapping = "" if wrapping == UNKNOWN else wrapping
            self.buffer.mode = VALUE
            return i
        if self.buffer.is_truncated or self._is_early_end(i):
            return self.buffer.fail_ambiguous(i, "nothing after a value that was not complete")
        if self.has_quote and self.last_char in _BETWEEN:
            return self.buffer.fail_ambiguous(i, "nothing after the end of the value")
        several = self.buffer.mending.values
        if several == "first":
            self.buffer.mode = SKIPPING
            self.until = ""
            self.skip_kind = RepairKind.SECOND_VALUE
        elif several == "one":
            self.buffer.flush_drop()
            self.buffer.mode = COMPARING
            self.compared = 0
        else:
            self.buffer.flush_drop()
            self.buffer.copy_to(i)
            if self.buffer.newline >= self.buffer.token_end or self.buffer.edit(i, i, "\n", RepairKind.SECOND_VALUE):
                self.buffer.mode = VALUE
        return i

    def _is_early_end(self, i: i64) -> bool:
        """Return whether a value right behind the first one may be part of it: that one ended after a comma."""
        return (
            self.buffer.base + i == self.buffer.token_end
            and self.buffer.repair_count > 0
            and self.buffer.repairs[self.buffer.repair_count - 1].kind is RepairKind.TRAILING_COMMA
        )

    def _read_fence(self, i: i64, n: i64) -> i64:
        text = self.buffer.text
        end = self.buffer.limit(i, n)
        after = read_fence(text, i, end, self.buffer.is_end and end == n)
        if after == UNDECIDED:
            return self._fail_late(i) if self.buffer.is_late(i, n) else self.buffer.wait(i)
        is_quoted = self.line_marks % 2 == 1 or self.buffer.before(i) == '"'
        if after == MISSING or (self.last_char != "\n" and (is_quoted or self.open_brackets)):
            self.last_char = text[i]
            return i + 1 if self.buffer.drop(i, i + 1, RepairKind.PROSE) else i
        if not self.buffer.drop_whole(i, after, RepairKind.FENCE):
            return i
        if self.last_char == "\n":  # else it may be part of a string
            self.open_brackets = self.aside = ""
            if not self.in_fence and is_json_info(fence_info(text, i, end)):
                self.had_brackets = False
                self.has_quote = self.has_quote and self.found
        self._begin_line()
        self.in_fence = not self.in_fence
        self.at_start = True
        if self.in_fence and not is_json_info(fence_info(text, i, end)):
            self.buffer.mode = SKIPPING
            self.until = text[i] * 3
            self.skip_kind = RepairKind.CODE_BLOCK
        return after

    def _read_tag(self, i: i64, n: i64) -> i64:
        text = self.buffer.text
        end = self.buffer.limit(i, n)
        after = read_tag(text, i, end, self.buffer.is_end and end == n)
        if after == UNDECIDED:
            return self._fail_late(i) if self.buffer.is_late(i, n) else self.buffer.wait(i)
        if after == MISSING or (self.open_brackets and self.last_char != "\n"):
            self.last_char = text[i]
            self.at_start = False
            return i + 1 if self.buffer.drop(i, i + 1, RepairKind.PROSE) else i
        name = thinking_name(text[i:after])
        if name.startswith("/"):
            if self.found:
                return self.buffer.fail_ambiguous(i, "no end of thinking after the value")
            if not self.buffer.drop_whole(i, after, RepairKind.THINKING):
                return i
        elif name:
            if not self.buffer.drop(i, after, RepairKind.THINKING):
                return i
            self.buffer.mode = SKIPPING
            self.until = f"</{name}>"
            self.skip_kind = RepairKind.THINKING
            return after
        elif not self.buffer.drop_whole(i, after, RepairKind.TAG):
            return i
        marks: i64 = 0 if self.last_char == "\n" else self.line_marks
        self._begin_line()
        self.at_start = marks % 2 == 0
        self.line_marks = marks
        return after

    def _begin_line(self) -> None:
        """Forget the words of the line: what follows is as good as in a new one."""
        self.last_char = "\n"
        self.begun = ""
        self.line_marks = 0

    def skip(self, i: i64, n: i64) -> i64:
        """Leave out a block, or all that is left."""
        kind = self.skip_kind
        until = self.until
        if not until:
            self.buffer.drop(i, n, kind)
            return n
        if kind is RepairKind.CODE_BLOCK and self.at_start:
            return self._enter_block(i, n)
        end: i64 = self.buffer.text.find(until, i)
        if end < 0:
            end = n if self.buffer.is_end else max(n - len(until) + 1, i)
            if not self.buffer.drop(i, end, kind) or end == n:
                return end
            return self.buffer.wait(end)
        if kind is not RepairKind.CODE_BLOCK:
            end += len(until)
        if self.buffer.drop_whole(i, end, kind):
            self.buffer.mode = OUTSIDE
            if kind is not RepairKind.COMMENT:
                self.at_start = True
                self._begin_line()
        return end

    def _enter_block(self, i: i64, n: i64) -> i64:
        """Read the beginning of a code block in another language: models put JSON there too."""
        text = self.buffer.text
        end = self.buffer.limit(i, n)
        place = skip_comments(text, i, end)
        found: i64 = WAIT
        if place < end:
            found = NO
            is_end = self.buffer.is_end and end == n
            if text[place] in '"-tfn0123456789':
                found = scalar_ends(text, place, end, is_end)
            else:
                found = container_begins(text, place, end, True, is_end)
        if found == WAIT and not self.buffer.is_end:
            return self._fail_late(i) if self.buffer.is_late(i, n) else self.buffer.wait(i)
        if found == YES:
            self.buffer.mode = OUTSIDE
            return i
        self.at_start = False
        if place < end and text[place] in "{[":  # it may be the value all the same
            self._note_skipped(place)
            self.had_brackets = self.has_quote = True
        return i


def _begin_line(text: str, before: str) -> str:
    """Return the line that a text ends in, as far as it is needed; `before` is what it was before the text."""
    line = text[text.rfind("\n") + 1 :] if "\n" in text else before + text[:_LONGEST_BEGUN]
    return line[:_LONGEST_BEGUN]


def _assigns(line: str) -> bool:
    """Return whether a line of code assigns or returns what follows.

    >>> [_assigns(line) for line in ("result = ", "const a: T =", "module.exports = ", "return ", "f(x) = ", "so a =")]
    [True, True, True, True, False, False]
    """
    return len(line) < _LONGEST_BEGUN and _ASSIGNS.fullmatch(line) is not None


def _find_open_quote(text: str, quote: str, before: str) -> str:
    """Return the quotation mark that is open after a text in brackets; `quote` is the one before, if any.

    An apostrophe begins no quotation after a letter, and none goes on in the next line.
    """
    for char in text:
        if char == "\n" or char == quote:
            quote = ""
        elif not quote and (char == '"' or (char == "'" and not before.isalnum())):
            quote = char
        before = char
    return quote


def _count_marks(text: str, so_far: i64, before: str) -> i64:
    """Return how many quotation marks are in the line that a text ends in, without those that are escaped.

    `so_far` is how many there were before the text, and `before` the character there.
    """
    line: i64 = text.rfind("\n") + 1
    marks: i64 = text.count('"', line) - text.count('\\"', line)
    if line == 0:
        marks += so_far
        if before == "\\" and text.startswith('"'):
            marks -= 1
    return marks


def _ends_paragraph(text: str, before: str) -> bool:
    """Return whether an empty line is in a text, or begins it after a line's end."""
    return _EMPTY_LINE.search(text) is not None or (before == "\n" and text.lstrip(" \t\r").startswith("\n"))


def _last_char(text: str, before: str) -> str:
    """Return the last character of a text that is not a blank, a newline if there is none in its last line."""
    stripped = text.rstrip(" \t\r")
    return stripped[-1] if stripped else before


def _find_candidate(text: str, i: i64) -> i64:
    """Return the next place where a value, a fence or a tag may begin, or a bracket around words end."""
    match = _CANDIDATE.search(text, i)
    return MISSING if match is None else match.start()
