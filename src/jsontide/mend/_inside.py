"""Tokens inside a value, and what stands between them in, those of JSON out.

It is read by the scanner's own table; what that has no place for gets one by the one edit that gives it one.
Rule: a choice is local and final.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from jsontide._build import COMPILED
from jsontide.mend._buffer import LEAVING, OUTSIDE, Buffer
from jsontide.mend._coerce import Coercions
from jsontide.mend._look import (
    CLOSING,
    COLONS,
    COMMAS,
    DOUBLED,
    LITERALS,
    NO,
    NOT_NUMBERS,
    ODD_SPACES,
    SEMICOLONS,
    SPACES,
    WAIT,
    YES,
    begins_value,
    equals_ahead,
    is_delimiter,
    is_number,
    key_ahead,
    loose_key_end,
    name_end,
    number_end,
    skip_prefix,
    skip_spaces,
    strict_number_end,
    word_end,
)
from jsontide.mend._outside import Outside
from jsontide.mend._strings import Strings
from jsontide.mend._value import ARRAY, OBJECT, TUPLE, Frame, OpenValue
from jsontide.mend.options import Repair, RepairKind
from jsontide.text import modes
from jsontide.text.grammar import (
    BEGIN_LITERAL,
    BEGIN_NUMBER,
    CELLS,
    CLOSE,
    END_NUMBER,
    FAIL,
    GRAMMAR,
    NEWLINE,
    OPEN_KEY,
    OPEN_OBJECT,
    OPEN_STRING,
    name_character,
)
from jsontide.text.grammar import LITERALS as STRICT_LITERALS
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

_LONGEST_WORD: Final = 64


_AT_A_KEY: Final = (KEY_OR_END, KEY)
_AT_A_VALUE: Final = (VALUE, ITEM_OR_END, ITEM, MEMBER)
_CLOSERS_OF_STRINGS: Final = "".join(CLOSING.values())
_BASED: Final = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)")
_DECIMAL: Final = re.compile(r"([-+]?)([0-9]+(?:_[0-9]+)*)?(?:\.([0-9]*))?([eE][-+]?[0-9]+)?")
_LONGEST_NUMBER: Final = 3_000  # Python converts no more than 4,300 digits
_SIGNED_WORD: Final = re.compile(r"[-+](?:Infinity|inf|NaN|nan)")


class Inside:
    """Reads the text between strings."""

    __slots__ = ("buffer", "coercions", "outside", "strings", "value")

    def __init__(self, buffer: Buffer, value: OpenValue, strings: Strings, outside: Outside) -> None:
        self.buffer: Final = buffer
        self.value: Final = value
        self.strings: Final = strings
        self.outside: Final = outside
        self.coercions: Final[Coercions | None] = None if value.shape is None else Coercions(buffer, value)

    def read(self, i: i64, n: i64) -> i64:
        """Read the text between tokens, by the table."""
        buffer = self.buffer
        text = buffer.text
        grammar = GRAMMAR
        mode: i64 = buffer.mode
        while i < n:
            cell: i64
            if COMPILED:
                code: i64 = ord(text[i])
                cell = grammar[mode * 128 + code] if code < 128 else FAIL
            else:
                try:
                    cell = CELLS[mode][text[i]]
                except KeyError:
                    cell = FAIL
            if cell < FAIL:
                if cell != mode and (mode == AFTER_MEMBER or mode == AFTER_ITEM):
                    buffer.hold_comma(i, mode)
                mode = cell
                i += 1
            elif cell == NEWLINE:
                buffer.newline = buffer.base + i
                i += 1
            else:
                buffer.mode = mode
                i = self._begin_token(i, n, cell)
                mode = buffer.mode
                if buffer.is_waiting or buffer.is_over or mode >= OUTSIDE or mode <= KEY_TEXT:
                    return i
        buffer.mode = mode
        return n

    def _begin_token(self, i: i64, n: i64, cell: i64) -> i64:  # noqa: C901 - one line for each token
        """Read the token at `i`, or what stands in place of one."""
        buffer = self.buffer
        coercions = self.coercions
        if coercions is not None and cell != CLOSE and buffer.mode in _AT_A_VALUE:
            top = self.value.top
            place = coercions.coerce(i, n)
            if top is not self.value.top and place == i:  # a list was opened around the value
                place = coercions.coerce(i, n)
            if place != i or buffer.is_waiting or buffer.is_over:
                return place
        if cell == OPEN_STRING:
            self.value.release()
            self.strings.begin_value(i + 1)
            return self.strings.read(i + 1, n)
        if cell == OPEN_KEY:
            buffer.hold_key(i)
            buffer.mode = KEY_TEXT
            self.strings.begin('"', i + 1)
            return self.strings.read(i + 1, n)
        if cell == CLOSE:
            return self.value.close(i)
        if cell == BEGIN_NUMBER:
            return self._read_number(i, n)
        if cell == END_NUMBER:
            return self.value.end_token(i)
        if cell == BEGIN_LITERAL:
            return self._read_word(i, n)
        if cell == FAIL:
            return self._mend_at(i, n)
        return self.value.open(i, OBJECT if cell == OPEN_OBJECT else ARRAY)

    def _read_number(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        begin: i64 = buffer.hold if buffer.hold >= 0 else i
        end = strict_number_end(buffer.text, i, n)
        if end >= 0 and end - begin <= buffer.max_held:
            return self.value.end_token(end)
        end = number_end(buffer.text, i, n)
        if buffer.flushed >= 0 or end - begin > buffer.max_held:
            buffer.hold_key(i)
            return self._read_long_number(i, end)
        if end == n and not (buffer.is_end and self.value.top is None):
            if buffer.hold < 0:
                buffer.begin_hold(i, buffer.mode)
            return buffer.wait(i)
        token = buffer.text[i:end]
        if not is_number(token):
            became = _respell_number(token)
            if not became:
                return buffer.fail_at(i)
            if buffer.hold < 0:
                buffer.begin_hold(i, buffer.mode)
            is_number_now = became != "null"
            if not buffer.edit(
                i, end, became, RepairKind.NUMBER if is_number_now else RepairKind.LITERAL, not is_number_now
            ):
                return i
        return self.value.end_token(end)

    def _read_long_number(self, i: i64, n: i64) -> i64:
        """Read a number that is too long to be held: by the grammar alone."""
        buffer = self.buffer
        mode: i64 = modes.NUMBER
        while i < n:
            cell: i64 = CELLS[mode].get(buffer.text[i], FAIL)
            if cell >= FAIL:
                return buffer.fail_held(i)
            mode = cell
            i += 1
        buffer.mode = mode
        return n

    def _read_word(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        text = buffer.text
        strict = STRICT_LITERALS.get(text[i])
        if strict is not None:
            after: i64 = i + len(strict)
            if after < n and text.startswith(strict, i) and is_delimiter(text, after):
                return self.value.end_token(after)
        end = word_end(text, i, n)
        if end == i or end - i > _LONGEST_WORD:
            return buffer.fail_at(i)
        word = text[i:end]
        became = LITERALS.get(word, "")
        if end == n and (not buffer.is_end or (not became and self._is_cut_off(word))):
            buffer.hold_key(i)
            return buffer.wait(i)
        if word in "uU" and end < n and text[end] in "\"'":
            return end if buffer.edit(i, end, "", RepairKind.QUOTES) else i
        if not became or (end < n and (text[end] in CLOSING or text[end] in "(.")):
            return buffer.fail_at(i)
        if became != word:
            buffer.hold_key(i)
            if end - buffer.hold > buffer.max_held:
                return buffer.fail_held(i)
            if not buffer.edit(i, end, became, RepairKind.LITERAL, word in NOT_NUMBERS):
                return i
        return self.value.end_token(end)

    def _is_cut_off(self, word: str) -> bool:
        """Return whether this is the beginning of a literal inside a value, at the end of the text."""
        return self.value.top is not None and any([one.startswith(word) for one in LITERALS])

    def _mend_at(self, i: i64, n: i64) -> i64:
        """Read the character at `i`, for which the grammar has no place, by the one edit that gives it one."""
        buffer = self.buffer
        text, mode = buffer.text, buffer.mode
        char = text[i]
        if mode < VALUE:
            return buffer.fail_held(i)  # in a number that was too long to be held
        if mode == DONE:
            buffer.mode = LEAVING
            return i
        if char in ODD_SPACES:
            return i + 1 if buffer.edit(i, i + 1, " ", RepairKind.SPACE) else i
        if char == "/" or char == "#":
            return self.outside.begin_comment(i, n)
        if char in "`<\\":
            found = self._find_end(i, n)
            if found != NO:
                return buffer.wait(i) if found == WAIT else self._leave_early(i, n)
        if mode in _AT_A_KEY:
            return self._mend_key(i, n)
        if mode == COLON:
            return self._mend_colon(i, n)
        if mode in _AT_A_VALUE:
            return self._mend_value(i, n)
        return self._mend_after(i, n)

    def _read_outer_escape(self, i: i64, n: i64) -> i64:
        """Read a backslash between tokens, in a text that was written into another: white space, or a string."""
        buffer = self.buffer
        is_space = buffer.text[i + 1] in "nrt"
        if (is_space or buffer.mode in _AT_A_KEY) and buffer.hold >= 0 and i + 1 - buffer.hold > buffer.max_held:
            return buffer.fail_held(i)
        if is_space:
            return i + 2 if buffer.edit(i, i + 2, " ", RepairKind.SPACE) else i
        if buffer.text[i + 1] != '"' or (buffer.mode not in _AT_A_KEY and buffer.mode not in _AT_A_VALUE):
            return buffer.fail_at(i)
        return self.strings.open_wrapped(i, KEY_TEXT if buffer.mode in _AT_A_KEY else STRING)

    def _mend_key(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        text = buffer.text
        char = text[i]
        if char in CLOSING:
            return self.strings.open(i, n, KEY_TEXT)
        if char == OBJECT and buffer.mode == KEY:
            return self._close_early(i)
        if char in COMMAS:
            return self._drop_extra_comma(i)
        if char in ".…":
            return self._read_ellipsis(i, n)
        end = buffer.limit(i, n)
        if buffer.flushed >= 0 or end == i:
            return buffer.fail_held(i)
        return self._mend_name(i, n, end)

    def _mend_name(self, i: i64, n: i64, end: i64) -> i64:
        """Read a key without quotation marks, or the prefix before them, as in Python 2."""
        buffer = self.buffer
        text = buffer.text
        place = name_end(text, i, end)
        if place == i:
            return buffer.fail_at(i)
        if skip_prefix(text, i, end) > i:
            buffer.hold_key(i)
            return i + 1 if buffer.edit(i, i + 1, "", RepairKind.QUOTES) else i
        found = key_ahead(text, i, end, True)
        if found == NO:
            place = loose_key_end(text, i, end, not self._is_after_string())
            found = NO if place == -1 else (WAIT if place == -2 else YES)
        if found == NO:
            return buffer.fail_at(i)
        buffer.hold_key(i)
        if found == WAIT:
            return buffer.wait_or_fail(i, n)
        if not buffer.edit(i, place, f'"{text[i:place]}"', RepairKind.UNQUOTED_KEY):
            return i
        self.value.note_key(text[i:place])
        buffer.mode = COLON
        return place

    def _is_after_string(self) -> bool:
        """Return whether the member before the comma that is held ends with a string: it may go on after the comma."""
        buffer = self.buffer
        if buffer.mode == KEY_OR_END:
            return False
        return buffer.hold < 0 or buffer.end_before(buffer.hold)[:1] in _CLOSERS_OF_STRINGS

    def _read_equals(self, i: i64, n: i64) -> i64:
        """Read an equals sign in place of a colon."""
        buffer = self.buffer
        end = buffer.limit(i, n)
        found = equals_ahead(buffer.text, i, end)
        if found == WAIT and not buffer.is_end:
            return buffer.wait_or_fail(i, n)
        after: i64 = i + 2 if buffer.text.startswith("=>", i) else i + 1
        if found != YES or not buffer.edit(i, after, ":", RepairKind.PUNCTUATION):
            return i if buffer.is_over else buffer.fail_at(i)
        self.strings.equals = True
        buffer.mode = MEMBER
        return after

    def _mend_colon(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        char = buffer.text[i]
        if char == "=":
            return self._read_equals(i, n)
        if char in COLONS:
            if buffer.edit(i, i + 1, ":", RepairKind.PUNCTUATION):
                buffer.mode = MEMBER
                return i + 1
        elif not begins_value(char):
            buffer.fail_at(i)
        elif char in CLOSING and buffer.before(i) not in SPACES:
            buffer.fail_ambiguous(i, "a colon between a key and a string")
        elif self.strings.is_last_empty():  # `""` may be the first mark of a key in a cell of CSV
            buffer.fail_ambiguous(i, "a colon after an empty key")
        elif buffer.edit(i, i, ":", RepairKind.MISSING_COLON):
            buffer.mode = MEMBER
            if char not in "{[(":
                buffer.added_colon = buffer.base + i
        return i

    def _mend_value(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        char = buffer.text[i]
        mode: i64 = buffer.mode
        top = self.value.top
        if char in CLOSING:
            return self.strings.open(i, n, STRING)
        if char == "(":
            if not buffer.edit(i, i + 1, "[", RepairKind.TUPLE):
                return i
            return self.value.open(i, TUPLE)
        if top is not None and top.closer != OBJECT and mode != MEMBER:
            if char == top.closer:
                return self._close_early(i) if mode == ITEM else self._close_tuple(i)
            if char in COMMAS:
                return self._drop_extra_comma(i)
            if char == "…" or buffer.text.startswith("..", i):
                return self._read_ellipsis(i, n)
        return self._mend_scalar(i, n)

    def _mend_scalar(self, i: i64, n: i64) -> i64:
        """Read a number or a word in another spelling, or a second colon before it."""
        buffer = self.buffer
        char = buffer.text[i]
        if char == "." and i + 1 == n and not buffer.is_end:
            return buffer.wait(i)
        if char in "+.":
            return self._read_number(i, n)
        if char == ":" and buffer.mode == MEMBER and buffer.before(i) == ":":
            buffer.hold_key(i)
            return i + 1 if buffer.edit(i, i + 1, "", RepairKind.PUNCTUATION) else i
        return self._read_word(i, n)

    def _mend_after(self, i: i64, n: i64) -> i64:
        """Read what follows a value, and is neither a comma nor the closing bracket."""
        buffer = self.buffer
        mode: i64 = buffer.mode
        top = self.value.top
        assert top is not None
        char = buffer.text[i]
        if buffer.flushed >= 0:
            return buffer.fail_held(i)
        if char in COMMAS or (char in SEMICOLONS and mode == AFTER_MEMBER):
            buffer.begin_hold(i, mode)
            buffer.added_colon = -1
            if not buffer.edit(i, i + 1, ",", RepairKind.PUNCTUATION):
                return i
            buffer.has_comma = True
            buffer.mode = KEY if mode == AFTER_MEMBER else ITEM
            return i + 1
        if char == top.closer:
            return self._close_tuple(i)
        if buffer.added_colon >= 0:
            # The key, the value and what follows may be one key with quotation marks inside.
            return buffer.fail_ambiguous(i, "a comma after a member without a colon")
        if not (self._is_member(i, n) if mode == AFTER_MEMBER else self._is_item(i)):
            return i
        buffer.begin_hold(i, mode)
        if top.closer == TUPLE:
            self.value.top = Frame(TUPLE, top.parent, True, top.shape)
        if buffer.edit(i, i, ",", RepairKind.MISSING_COMMA):
            buffer.mode = KEY if mode == AFTER_MEMBER else ITEM
        return i

    def _is_member(self, i: i64, n: i64) -> bool:
        """Return whether a member begins at `i`, where a comma should be; wait or fail if not."""
        buffer = self.buffer
        before = buffer.before(i)
        if before not in SPACES and before not in "}])":  # `5"` may be inches in a key or a string
            buffer.fail_ambiguous(i, "a comma between two members")
            return False
        found = key_ahead(buffer.text, i, buffer.limit(i, n), buffer.newline >= buffer.token_end)
        if found == WAIT and not buffer.is_end:
            buffer.wait_or_fail(i, n)
        elif found != YES:
            buffer.fail_at(i)
        elif self.strings.may_be_doubled and buffer.text.startswith(DOUBLED, i):
            buffer.fail_ambiguous(i, "a comma before an empty key")
            return False
        return found == YES

    def _is_item(self, i: i64) -> bool:
        """Do the same for an item; on one line, two numbers may also be one."""
        buffer = self.buffer
        char = buffer.text[i]
        if not begins_value(char):
            buffer.fail_at(i)
            return False
        if buffer.newline >= buffer.token_end or char in "{[" or (char == '"' and buffer.before(i) in " \t"):
            return True
        buffer.fail_ambiguous(i, "a comma between two values")
        return False

    def _close_early(self, i: i64) -> i64:
        """Close a container after a comma."""
        buffer = self.buffer
        if not buffer.drop_comma(i):
            return i
        top = self.value.top
        if top is not None and top.closer == TUPLE:
            self.value.top = Frame(TUPLE, top.parent, True, top.shape)
        buffer.hold = -1
        buffer.mode = self.value.mode_after()
        return self._close_tuple(i) if buffer.text[i] == TUPLE else self.value.close(i)

    def _close_tuple(self, i: i64) -> i64:
        buffer = self.buffer
        top = self.value.top
        assert top is not None
        if not top.has_comma and buffer.mode == AFTER_ITEM:
            return buffer.fail_ambiguous(i, "a comma in the tuple")
        if not buffer.edit(i, i + 1, "]", RepairKind.TUPLE):
            return i
        return self.value.close(i)

    def _drop_extra_comma(self, i: i64) -> i64:
        self.buffer.hold_key(i)
        return i + 1 if self.buffer.edit(i, i + 1, "", RepairKind.EXTRA_COMMA) else i

    def _read_ellipsis(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        end: i64 = i + 1
        if buffer.text[i] == ".":
            while end < n and buffer.text[end] == "." and end < i + 3:
                end += 1
            if end == n and end < i + 3 and not buffer.is_end:
                return buffer.wait(i)
            if end < i + 3:
                return buffer.fail_at(i)
        buffer.hold_key(i)
        if not buffer.edit(i, end, "", RepairKind.ELLIPSIS, True):
            return i
        # What follows is a comma, or the end of the container.
        after = skip_spaces(buffer.text, end, n)
        if after < n and buffer.text[after] in COMMAS:
            return after + 1 if buffer.edit(after, after + 1, "", RepairKind.EXTRA_COMMA) else after
        return end

    def _find_end(self, i: i64, n: i64) -> i64:
        """Return whether a fence or a tag is at `i`, a comment of HTML, or the backslash of an outer string."""
        buffer = self.buffer
        if buffer.text[i] == "`":
            begun = buffer.text[i : i + 3]
            if begun == "```":
                return YES
            return WAIT if i + len(begun) == n and not buffer.is_end and begun == "`" * len(begun) else NO
        if buffer.text[i] == "\\" and not self.strings.wrapping:
            return NO
        if i + 1 == n:
            return NO if buffer.is_end else WAIT
        return YES if buffer.text[i] == "\\" or buffer.text[i + 1] in "/|｜" else self.outside.find_html_comment(i, n)

    def _leave_early(self, i: i64, n: i64) -> i64:
        """Read the backslash of an outer string, a comment of HTML, or a fence or tag that ends the value too early."""
        if self.buffer.text[i] == "\\":
            return self._read_outer_escape(i, n)
        return self.outside.begin_comment(i, n) if self.buffer.text.startswith("<!", i) else self._break_off(i)

    def _break_off(self, i: i64) -> i64:
        """Take the value for truncated at `i`."""
        buffer = self.buffer
        if RepairKind.TRUNCATED not in buffer.kinds:
            return buffer.fail_at(i)
        if buffer.flushed >= 0 or (buffer.hold >= 0 and i - buffer.hold > buffer.max_held):
            return buffer.fail_held(i)
        if buffer.hold >= 0:
            place: i64 = buffer.hold
            buffer.rewind()
            buffer.copy_to(place)
            buffer.hold = -1
            buffer.add_repair(Repair(RepairKind.TRUNCATED, buffer.base + place, buffer.text[place:i], "", True))
            buffer.copied = i
        buffer.flush_drop()
        buffer.note_truncation(name_character(buffer.text[i]), buffer.base + i)
        self.outside.enter("\n")
        return i


def _respell_number(token: str) -> str:
    """Return a number in JSON's spelling; an empty text if it is no number, or leading zeros leave open what it means.

    >>> [_respell_number(token) for token in ("0x1F", "+5", ".5", "5.", "1_000", "-Infinity", "007", "1.2.3")]
    ['31', '5', '0.5', '5.0', '1000', 'null', '', '']
    """
    if len(token) > _LONGEST_NUMBER:
        return ""
    if _SIGNED_WORD.fullmatch(token):
        return "null"
    based = _BASED.fullmatch(token)
    if based is not None:
        return ("-" if based[1] == "-" else "") + str(int(based[2], 0))
    decimal = _DECIMAL.fullmatch(token)
    if decimal is None:
        return ""
    whole = (decimal[2] or "").replace("_", "")
    fraction = decimal[3]
    if not whole and not fraction:
        return ""
    if len(whole) > 1 and whole[0] == "0":
        return ""
    point = "" if fraction is None else "." + (fraction or "0")
    return ("-" if decimal[1] == "-" else "") + (whole or "0") + point + (decimal[4] or "")
