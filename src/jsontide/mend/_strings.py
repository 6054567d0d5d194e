"""Strings and keys in any quotation marks, with any escapes in, those of JSON out.

Rule: a backslash that begins no escape is kept as text; where escapes beside it may not be meant either, it is refused.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from jsontide._build import COMPILED
from jsontide.mend._buffer import Buffer
from jsontide.mend._look import (
    AFTER_STRING,
    CLOSING,
    COLONS,
    COMMAS,
    DOUBLED,
    ESCAPED,
    NO,
    OPEN_ONLY,
    SPACES,
    WAIT,
    YES,
    colon_ahead,
    decode_key,
    is_delimiter,
    skip_comments,
    skip_spaces,
    string_end,
)
from jsontide.mend._quotes import AMBIGUOUS, APOSTROPHES, END, JOINED, NO_MARKS, Mark, Tally
from jsontide.mend._value import OBJECT, Frame, OpenValue, written_frame
from jsontide.mend.options import RepairKind
from jsontide.text.modes import COLON, ITEM, KEY, KEY_TEXT, STRING
from jsontide.text.strings import match_plain, plain_end

if TYPE_CHECKING:
    from mypy_extensions import i64

_LETTERS: Final = "bfnrt"
_SUSPICIOUS: Final = 1
"""An escape such as `\\n` with a letter after it, as in a path."""
_UNKNOWN: Final = 2
"""A backslash that begins no escape."""
NEWLINE: Final = 4
"""A raw newline: a string that goes on in the next line may have lost its end."""
_MARKED: Final = 8
"""A mark of JSON in a string that others delimit."""
ODD_MARKS: Final = 16
"""One escaped mark, or three."""
_AFTER_MARK: Final = 64
"""The escape at the end of the chunk before is a mark."""
_AFTER_STRINGS: Final = ",:}]"
_MAY_END: Final = 32
"""An escaped mark before what follows a string: if its backslash is text, it ends the string."""
_LATER_ITEM: Final = 128
"""It is the first string that “ or „ begins, after a comma: what is between may be text of a string before."""
_MAY_HAVE_ENDED: Final = ODD_MARKS | _MAY_END
_CODE_QUOTES: Final = ("'", "`", "'''", '"""')
"""What ends the strings of Python and JavaScript, which know more escapes than JSON."""
_IN_CODE: Final = 1
"""A string of Python or JavaScript: there, others between plain marks know the same escapes, as `"it's \\x00"`."""
_KEPT: Final = 2
"""Such an escape between plain marks, whose backslash was kept."""
_CODE_LETTERS: Final = "xuUav01234567N\n\r"
"""What begins an escape there, and is text, or means something else, elsewhere."""
_HEX: Final = "0123456789abcdefABCDEF"
_LAST_CODE: Final = 0x10FFFF
_CONTROLS: Final[dict[str, str]] = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TRIPLE: Final = 3
_AFTER_END: Final = AFTER_STRING + "`<"
_COMMENT: Final = "/#"
_KEY_AND_MORE: Final = re.compile(r"""[”“’‘»'`]\s*[:：][^"]*"\s*[:：]\s*\Z""")
"""A key that may have ended at another mark before a colon, and `"` and a colon after it."""
_END_OF_KEY: Final = re.compile(r'"\s*[:：]')
_ESCAPES: Final = ("b", "f", "n", "r", "t", "u", "/", "\\")


class Strings:
    """Reads strings and keys."""

    __slots__ = (
        "after_empty",
        "buffer",
        "code",
        "equals",
        "escape_end",
        "escapes",
        "has_bracket",
        "may_be_doubled",
        "opens_json",
        "quote",
        "start",
        "tally",
        "typographic_end",
        "value",
        "wrapping",
    )

    def __init__(
        self,
        buffer: Buffer,
        value: OpenValue,
        quote: str = '"',
        start: i64 = 0,
        opens_json: bool = False,
        escapes: i64 = 0,
        escape_end: i64 = -1,
        tally: Tally = NO_MARKS,
        wrapping: str = "",
        equals: bool = False,
        typographic_end: str = "",
        may_be_doubled: bool = False,
        after_empty: bool = False,
        has_bracket: bool = False,
        code: i64 = 0,
    ) -> None:
        self.buffer: Final = buffer
        self.value: Final = value
        self.quote: str = quote  # what ends the open string
        self.start: i64 = start  # the index at which it begins
        self.opens_json: bool = opens_json  # whether it begins like an object or an array
        self.escapes: i64 = escapes  # whether its escapes may be ambiguous
        self.escape_end: i64 = escape_end  # the index after an escape at the end of a chunk, if what follows it matters
        self.tally: Tally = tally  # of the quotation marks inside
        self.wrapping: str = wrapping  # what all strings are in, if the text was written into another: ESCAPED, DOUBLED
        self.equals: bool = equals  # whether a key was followed by an equals sign, and so all may be
        self.typographic_end: str = typographic_end  # what ended those that “ or „ began: " or, for all others, ”
        self.may_be_doubled: bool = may_be_doubled  # whether the first key is empty, and so have been all strings
        self.after_empty: bool = after_empty  # whether the open string is an item after an empty one
        self.has_bracket: bool = has_bracket  # whether a bracket has followed a mark that was taken for text
        self.code: i64 = code  # the signs of Python and JavaScript that there are

    def kept(self) -> tuple[Any, ...]:
        return (
            self.quote,
            self.start,
            self.opens_json,
            self.escapes,
            self.escape_end,
            self.tally,
            self.wrapping,
            self.equals,
            self.typographic_end,
            self.may_be_doubled,
            self.after_empty,
            self.has_bracket,
            self.code,
        )

    def _read_escape(self, i: i64, n: i64) -> i64:
        """Read the backslash at `i`, and what belongs to it."""
        buffer = self.buffer
        text = buffer.text
        if i + 1 == n:
            return buffer.wait(i)
        char = text[i + 1]
        if char == '"':
            return self._read_escaped_mark(i, n)
        if char in "\\/":
            return i + 2
        if char in _LETTERS:
            if i + 2 == n:
                self.escapes &= ~_AFTER_MARK
                self.escape_end = buffer.base + n
                return n
            return i + 2 if self.see_escape(i + 2, _SUSPICIOUS) else i
        if self.quote in _CODE_QUOTES and char in _CODE_LETTERS:
            code = self._read_code_escape(i, n)
            if code != i or buffer.is_waiting or buffer.is_over:
                return code
        end = self._digits_end(i, n) if char == "u" else i
        if end > i + 2 and end == i + 6:
            return buffer.wait(i) if self._is_half(i + 2, n, "\\u") else end
        return buffer.wait(i) if end == n else self._keep_backslash(i)

    def _read_escaped_mark(self, i: i64, n: i64) -> i64:
        """Note whether the mark would end the string if it were not escaped."""
        self.escapes ^= ODD_MARKS
        if i + 2 == n:
            self.escapes |= _AFTER_MARK
            self.escape_end = self.buffer.base + n
        elif self.buffer.text[i + 2] in _AFTER_STRINGS:
            self.escapes |= _MAY_END
        return i + 2

    def _see_after_escape(self, i: i64) -> bool:
        """Note what follows an escape at the end of the chunk before; return whether it is not in doubt yet."""
        if self.escapes & _AFTER_MARK == 0:
            return self.see_escape(i, _SUSPICIOUS)
        if self.buffer.text[i] in _AFTER_STRINGS:
            self.escapes |= _MAY_END
        return True

    def _keep_backslash(self, i: i64) -> i64:
        """Read a backslash that begins no escape."""
        buffer = self.buffer
        char = buffer.text[i + 1]
        if char == "'" or char in self.quote:
            return i + 2 if buffer.edit(i, i + 1, "", RepairKind.ESCAPE) else i
        if not self.see_escape(i, _UNKNOWN):
            return i
        is_of_code = char in _CODE_LETTERS and (char != "u" or buffer.text.startswith("{", i + 2))
        if is_of_code and not self._see_code(i, _KEPT):
            return i
        return i + 1 if buffer.edit(i, i + 1, "\\\\", RepairKind.ESCAPE) else i

    def _see_code(self, i: i64, sign: i64) -> bool:
        """Note a sign of code, or of the opposite; return whether it is not in doubt what escapes mean."""
        if sign == _IN_CODE or self.quote == '"':
            self.code |= sign
        if self.code == _IN_CODE | _KEPT:
            self.buffer.fail_ambiguous(i, "escapes of JSON beside strings of Python or JavaScript")
        return not self.buffer.is_over

    def _read_code_escape(self, i: i64, n: i64) -> i64:
        """Read an escape of Python or JavaScript at `i`: a code point in two or eight digits, or in braces.

        Return `i` if it is something else.
        """
        buffer = self.buffer
        text = buffer.text
        if text[i + 1] not in "xuU":
            return buffer.fail_ambiguous(i, "an escape that JSON knows")
        is_braced = text.startswith("{", i + 2)
        if text[i + 1] == "u" and not is_braced:
            return buffer.wait(i) if i + 2 == n and not buffer.is_end else i
        begin: i64 = i + 3 if is_braced else i + 2
        most: i64 = begin + (6 if is_braced else (2 if text[i + 1] == "x" else 8))
        end: i64 = begin
        while end < n and end < most and text[end] in _HEX:
            end += 1
        if end == n and (end < most or is_braced) and not buffer.is_end:
            return buffer.wait(i)
        if end == begin or (end < most and not is_braced) or (is_braced and not text.startswith("}", end)):
            return i
        code = int(text[begin:end], 16)
        if code > _LAST_CODE:
            return buffer.fail_ambiguous(i, "an escape of a character")
        end += 1 if is_braced else 0
        if not self.see_escape(i + 1, _SUSPICIOUS):
            return i
        return end if buffer.edit(i, end, json.dumps(chr(code))[1:-1], RepairKind.ESCAPE) else i

    def _digits_end(self, i: i64, n: i64) -> i64:
        """Return where the digits of the escape at `i` end; there should be four."""
        end: i64 = i + 2
        while end < n and end < i + 6 and self.buffer.text[end] in _HEX:
            end += 1
        return end

    def _is_half(self, i: i64, n: i64, begin: str) -> bool:
        """Return whether the digits at `i` are the first half of a character, and the text may end before the second.

        `begin` is what stands before the digits of an escape in this string.
        """
        text = self.buffer.text
        if text[i] not in "dD" or text[i + 1] not in "89abAB":
            return False
        place: i64 = i + 4
        if not text.startswith(begin, place):
            return begin.startswith(text[place:n])
        digits: i64 = place + len(begin)
        return n - digits < 4 and all([char in _HEX for char in text[digits:n]])

    def see_escape(self, place: i64, kind: i64) -> bool:
        r"""Note an escape before `place`, or a backslash there, that may be ambiguous; return whether none is yet.

        In `C:\Users\new` the first backslash begins no escape, and the second one does, but is not meant to.
        """
        if kind == _UNKNOWN or self.buffer.text[place].isalpha():
            self.escapes |= kind
        if self.escapes & _SUSPICIOUS and self.escapes & _UNKNOWN:
            self.buffer.fail_ambiguous(place, "backslashes that are all escapes, or none")
            return False
        return True

    def begin(self, quote: str, i: i64) -> None:
        """Read what follows as text, up to `quote`; it begins at `i`."""
        self.quote = quote
        self.tally = NO_MARKS
        self.start = self.buffer.base + i
        self.escapes = 0
        self.after_empty = False

    def begin_value(self, i: i64) -> None:
        """Read what follows as the text of a value; it begins at `i`.

        After an empty item its first marks may be text of a string that begins with a mark: `["", ""a""]`.
        """
        after_empty = self.buffer.mode == ITEM and self.is_last_empty()
        self.buffer.mode = STRING
        self.begin('"', i)
        self.after_empty = after_empty

    def is_last_empty(self) -> bool:
        """Return whether the last token is a string without text."""
        return self.buffer.token_end == self.start + 1

    def read(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        text, quote = buffer.text, self.quote
        if self.start == buffer.base + i and i < n:
            self.opens_json = text[i] in "{["
        if self.escape_end == buffer.base + i and i < n and not self._see_after_escape(i):
            return i
        stops = self._stops()
        while i < n:
            if stops:
                i = _plain_end(text, i, n, stops)
            else:
                i = plain_end(text, i) if COMPILED else match_plain(text, i).end()
            if i == n:
                return n
            i = self._read_special(i, n, text[i])
            if buffer.is_waiting or buffer.is_over or buffer.mode > KEY_TEXT:
                return i
            if self.quote != quote:
                quote = self.quote
                stops = self._stops()
        return n

    def _stops(self) -> str:
        """Return the characters that do not stand for themselves in the open string, if not only those of JSON."""
        quote = self.quote
        if quote == '"' and self.value.shape is not None and self._may_lose_quote():
            return '",'
        return "" if quote == '"' else quote

    def _read_special(self, i: i64, n: i64, char: str) -> i64:
        """Read a character that may not stand for itself."""
        if self.quote == ESCAPED or self.quote == DOUBLED:
            if char in self.quote or char == "\\":
                return self._read_wrapped(i, n)
        elif char in self.quote:
            return self._judge(i, n)
        if char == "\\":
            return self._read_escape(i, n)
        if char == ",":
            return self._read_comma(i, n)
        if char == '"':
            return self._read_mark_inside(i, n)
        if char == "\n":
            self.escapes |= NEWLINE
        became = _CONTROLS.get(char) or f"\\u{ord(char):04x}"
        return i + 1 if self.buffer.edit(i, i + 1, became, RepairKind.CONTROL_CHARACTER) else i

    def _read_mark_inside(self, i: i64, n: i64) -> i64:
        """Read a mark of JSON inside others; it may end a string that “ or „ begins."""
        buffer = self.buffer
        is_begin = buffer.base + i == self.start and self.typographic_end != '"'
        is_first = self.escapes & _MARKED == 0 and not is_begin
        may_end = is_first and self.quote in OPEN_ONLY
        found = self._may_end_here(i, n) if may_end else NO
        if (found == WAIT and buffer.is_late(i, n)) or (found == YES and self.escapes & _LATER_ITEM):
            return buffer.fail_ambiguous(i, "a clear end of the string with quotation marks inside")
        if found != NO:
            return buffer.wait(i) if found == WAIT else self._end(i)
        self.escapes |= _MARKED
        return i + 1 if buffer.edit(i, i + 1, '\\"', RepairKind.QUOTES) else i

    def open_wrapped(self, i: i64, mode: i64) -> i64:
        """Begin a string of a text that was written into another."""
        buffer = self.buffer
        if mode == STRING:
            self.value.release()
        else:
            buffer.hold_key(i)
        if not buffer.edit(i, i + 2, '"', RepairKind.QUOTES):
            return i
        buffer.mode = mode
        self.begin(self.wrapping, i + 2)
        return i + 2

    def _read_wrapped(self, i: i64, n: i64) -> i64:
        """Read a backslash or a quotation mark in such a string: it has one escape more than other strings."""
        buffer = self.buffer
        text, quote = buffer.text, self.quote
        end = buffer.limit(i, n)
        need: i64 = 4 if text[i] == "\\" and (quote == DOUBLED or text.startswith("\\\\", i)) else 2
        if end - i < need and not (buffer.is_end and end == n):
            if buffer.is_late(i, n):
                return buffer.fail_held(i) if buffer.hold >= 0 else buffer.fail_ambiguous(i, "an escape of JSON")
            return buffer.wait(i)
        if text.startswith(quote, i):
            return self._end_wrapped(i)
        escape = text[i : i + 2]
        if text[i] == '"':
            return buffer.fail_ambiguous(i, "the same quotation marks around all strings")
        if quote == DOUBLED:
            if text.startswith(DOUBLED, i + 1):
                return i + 3 if buffer.edit(i + 2, i + 3, "", RepairKind.QUOTES) else i
            return self._read_whole_escape(i, n)
        if escape == "\\\\":
            return self._read_escaped_escape(i, n)
        return self._read_whole_escape(i, n)

    def _read_whole_escape(self, i: i64, n: i64) -> i64:
        """Read an escape of JSON, all of it; at the end of the text, one that broke off is held."""
        buffer = self.buffer
        text = buffer.text
        letter = text[i + 1 : i + 2]
        last: i64 = i + (6 if letter == "u" else 2)
        if last > n:
            return buffer.wait(i)
        is_odd = letter == "u" and any([char not in _HEX for char in text[i + 2 : last]])
        if letter == "u" and not is_odd and self._is_half(i + 2, n, "\\u"):
            return buffer.wait(i)
        return last if letter in _ESCAPES and not is_odd else buffer.fail_ambiguous(i, "an escape of JSON")

    def _read_escaped_escape(self, i: i64, n: i64) -> i64:
        """Read an escape whose backslash is escaped itself; at the end of the text, one that broke off is held."""
        buffer = self.buffer
        text = buffer.text
        letter = text[i + 2 : i + 3]
        last: i64 = i + (7 if letter == "u" else (4 if letter == "\\" else 3))
        if last > n:
            return buffer.wait(i)
        if letter == "\\" and text[i + 2 : last] in ('\\"', "\\\\"):
            return last if buffer.edit(i, last, text[i + 2 : last], RepairKind.ESCAPE) else i
        is_odd = letter == "u" and any([char not in _HEX for char in text[i + 3 : last]])
        if letter == "u" and not is_odd and self._is_half(i + 3, n, "\\\\u"):
            return buffer.wait(i)
        if letter in _ESCAPES and letter != "\\" and not is_odd:
            return last if buffer.edit(i, i + 1, "", RepairKind.ESCAPE) else i
        return buffer.fail_ambiguous(i, "an escape of JSON")

    def _end_wrapped(self, i: i64) -> i64:
        buffer = self.buffer
        is_key = buffer.mode == KEY_TEXT
        if not buffer.edit(i, i + 2, '"', RepairKind.QUOTES):
            return i
        self.quote = '"'
        buffer.token_end = buffer.base + i + 2
        if is_key:
            self.value.note_key(self._key_before(i))
            buffer.mode = COLON
        else:
            self.value.leave(i + 2)
        return i + 2

    def _read_comma(self, i: i64, n: i64) -> i64:
        """Read a comma in a string whose closing quotation mark may be missing before it."""
        buffer = self.buffer
        found = self._find_lost_quote(i, n) if self.tally.marks == 0 else NO
        if found == YES:
            before = buffer.before(i)
            if before in SPACES:
                return buffer.fail_ambiguous(i, "to see where the string ends")
            return self._close_lost(i)
        return buffer.wait(i) if found == WAIT else i + 1

    def _judge(self, i: i64, n: i64) -> i64:
        """Read the quotation mark at `i`: the end of the string, or text."""
        buffer = self.buffer
        if len(self.quote) == _TRIPLE and self.quote[0] == self.quote[1]:
            return self._judge_triple(i, n)
        is_key = buffer.mode == KEY_TEXT
        top = written_frame(self.value.top)
        if top is None or buffer.flushed >= 0 or (is_key and i - buffer.hold > buffer.max_held):
            return buffer.fail_held(i) if self.tally.marks else self._end(i)
        if self.wrapping == DOUBLED and buffer.text[i] == '"':
            return self._begin_doubled(i)
        if is_key and self.escapes & _MARKED and self._has_key_inside(i):
            return buffer.fail_ambiguous(i, "a key that did not end at another quotation mark")
        if self.tally.marks == 0 and i + 1 < n and self.quote not in OPEN_ONLY and self._ends_plainly(i, n, top):
            return self._end(i)
        if buffer.base + i == self.start and buffer.text[i] in "\"'":
            if i + 1 < n and buffer.text[i + 1] == buffer.text[i]:
                return self._begin_triple(i, n)
            if i + 1 == n and not buffer.is_end:
                return buffer.wait(i)
        return self._judge_by_what_follows(i, n, top)

    def _has_key_inside(self, i: i64) -> bool:
        """Return whether the key that may end at `i` has a mark of JSON and a colon in it, and may have ended there."""
        begin: i64 = self.start - self.buffer.base
        return _END_OF_KEY.search(self.buffer.text, begin, i) is not None

    def _judge_by_what_follows(self, i: i64, n: i64, top: Frame) -> i64:
        buffer = self.buffer
        end = buffer.limit(i, n)
        is_end = buffer.is_end and end == n
        is_key = buffer.mode == KEY_TEXT
        mark = Mark(buffer.text, i, end, is_end, is_key, top, self.tally, buffer.kinds, self.opens_json, self.equals)
        verdict = mark.judge()
        if verdict in (END, JOINED) and self.quote in OPEN_ONLY and buffer.text[i] != '"':
            other = self._judge_other_end(i, n)
            verdict = verdict if other == END else other
        if verdict == WAIT:
            return self._wait_for_next(i, n)
        if verdict == AMBIGUOUS or (verdict == END and self._may_have_lost_its_end(i, top)):
            return buffer.fail_ambiguous(i, "only one way to read the quotation mark")
        if verdict == JOINED:
            return self._join(i, n)
        return self._end(i) if verdict == END else self._keep_quote(i)

    def _judge_other_end(self, i: i64, n: i64) -> i64:
        """Judge the typographic mark at `i`, which may end the string, unless the next mark of JSON may do so too."""
        text = self.buffer.text
        place: i64 = i + 1
        between = SPACES + COMMAS + COLONS + "=>+"
        while place < n and text[place] in between:
            place += 1
        found = WAIT if place == n else (self._may_end_here(place, n) if text[place] == '"' else NO)
        if found == WAIT and self.buffer.is_end:
            found = NO if place == n else YES
        return END if found == NO else (AMBIGUOUS if found == YES else WAIT)

    def _may_have_lost_its_end(self, i: i64, top: Frame) -> bool:
        """Return whether a string with quotation marks inside may be more than one, or a key and a value."""
        buffer = self.buffer
        text, tally = buffer.text, self.tally
        has_newline = self.escapes & NEWLINE != 0
        before = buffer.end_before(i)[:1]
        place = skip_spaces(text, i + 1, len(text))
        after = text[place : place + 1]
        is_odd = after not in _AFTER_END and (has_newline or "\n" not in text[i:place])
        may_begin = before in COMMAS or (is_odd and buffer.mode == KEY_TEXT and before in COLONS)  # another string
        if has_newline + may_begin + is_odd > 1:
            return True
        if not tally.marks:
            return False
        if after in _COMMENT:
            return True
        if buffer.mode == KEY_TEXT:
            key = self._key_before(i)
            return not key or ":" in key or "," in key
        return self.escapes & NEWLINE != 0 and (tally.has_key or top.closer != OBJECT)

    def _ends_plainly(self, i: i64, n: i64, top: Frame) -> bool:
        """Return whether the string ends at `i` as nearly all strings do."""
        buffer = self.buffer
        text = buffer.text
        char = text[i + 1]
        if self.escapes & NEWLINE:
            return False
        if buffer.mode == KEY_TEXT:
            return char == ":"
        if char != ",":
            return char == top.closer
        place: i64 = i + 2
        while place < n and is_delimiter(text, place) and text[place] <= " ":
            place += 1
        return place < n and text[place] == '"' and place - i <= buffer.max_held

    def _wait_for_next(self, i: i64, n: i64) -> i64:
        """Wait for the token after a quotation mark; if it is too far away, take JSON's reading."""
        buffer = self.buffer
        if not buffer.is_late(i, n):
            return buffer.wait(i)
        if self.tally.marks or self.escapes & NEWLINE:
            return buffer.fail_ambiguous(i, "a clear end of the string with quotation marks inside")
        if buffer.hold < 0:
            buffer.set_flushed(i)
        return self._end(i)

    def _keep_quote(self, i: i64) -> i64:
        """Take the quotation mark for text."""
        buffer = self.buffer
        text = buffer.text
        if (self.may_be_doubled or self.after_empty) and buffer.base + i == self.start:
            return buffer.fail_ambiguous(i, "no more than one mark at the beginning of a string")
        before = "" if buffer.base + i == self.start else buffer.end_before(i)
        mark = text[i]
        is_apostrophe = mark in APOSTROPHES and before[-1:].isalnum() and text[i + 1 : i + 2].isalnum()
        after = skip_spaces(text, i + 1, len(text))
        top = written_frame(self.value.top)
        in_array = buffer.mode == STRING and top is not None and top.closer != OBJECT
        tally = self.tally.add(before, text[i + 1 : after + 1], mark, in_array)
        if is_apostrophe:
            if RepairKind.INNER_QUOTE not in buffer.kinds:
                return buffer.fail_at(i)
        elif not buffer.edit(i, i + 1, '\\"' if mark == '"' else f"\\u{ord(mark):04x}", RepairKind.INNER_QUOTE):
            return i
        self.tally = tally
        self.has_bracket = self.has_bracket or text[after : after + 1] in ("}", "]", ")")
        return i + 1

    def _end(self, i: i64) -> i64:
        buffer = self.buffer
        is_key = buffer.mode == KEY_TEXT
        self.may_be_doubled = self.may_be_doubled and buffer.base + i == self.start
        if not self._ends_as_others(i):
            return i
        if buffer.text[i] != '"' and not buffer.edit(i, i + 1, '"', RepairKind.QUOTES):
            return i
        if self.escapes & _MAY_HAVE_ENDED == _MAY_HAVE_ENDED:
            if self.escapes & (NEWLINE | _UNKNOWN):
                return buffer.fail_ambiguous(i, "a string that did not end at an escaped quotation mark")
            if buffer.strict_from < 0:
                buffer.strict_from = buffer.base + i + 1
        buffer.token_end = buffer.base + i + 1
        if is_key:
            if self.value.shape is not None:
                self.value.note_key(self._key_before(i))
            buffer.mode = COLON
        else:
            self.value.leave(i + 1)
        return i + 1

    def _ends_as_others(self, i: i64) -> bool:
        """Note the mark at `i`, which ends the string; return whether strings that begin like it all end so."""
        if self.quote not in OPEN_ONLY:
            return True
        mark = '"' if self.buffer.text[i] == '"' else "”"
        if self.typographic_end not in ("", mark):
            self.buffer.fail_ambiguous(i, "the same quotation marks around all strings")
            return False
        self.typographic_end = mark
        return True

    def _key_before(self, i: i64) -> str:
        """Return the key that ends at `i`; nothing if it is too long to be held, or odd."""
        begin: i64 = self.start - self.buffer.base
        return decode_key(self.buffer.text[begin:i]) if begin >= 0 else ""

    def _join(self, i: i64, n: i64) -> i64:
        """Leave out the plus sign between two strings, and the marks around it."""
        buffer = self.buffer
        place = skip_comments(buffer.text, i + 1, n)
        place = skip_comments(buffer.text, place + 1, n)
        if not self._ends_as_others(i) or not buffer.edit(i, place + 1, "", RepairKind.CONCATENATION):
            return i
        self.quote = CLOSING[buffer.text[place]]
        self.start = buffer.base + place + 1
        return place + 1

    def _begin_doubled(self, i: i64) -> i64:
        """Go on in a string that began with two quotation marks; the second is at `i`."""
        buffer = self.buffer
        if buffer.base + i != self.start:
            return buffer.fail_ambiguous(i, "the same quotation marks around all strings")
        if not buffer.edit(i, i + 1, "", RepairKind.QUOTES):
            return i
        self.quote = DOUBLED
        self.start += 1
        return i + 1

    def _begin_triple(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        if i + 2 == n and not buffer.is_end:
            return buffer.wait(i)
        if i + 2 < n and buffer.text[i + 2] == buffer.text[i]:
            return buffer.fail_ambiguous(i, "three quotation marks, not four")
        place = skip_spaces(buffer.text, i + 2, n)
        if place == n and not buffer.is_end and not buffer.is_late(i, n):
            return buffer.wait(i)
        if place == n or buffer.text[place] in AFTER_STRING:
            self.tally = Tally(1)  # the third mark may end a string that is only one mark
        if not self._see_code(i, _IN_CODE) or not buffer.edit(i, i + 2, "", RepairKind.QUOTES):
            return i
        self.quote = buffer.text[i] * _TRIPLE
        return i + 2

    def _may_end_here(self, i: i64, n: i64) -> i64:
        """Return whether the quotation mark at `i` may end a string that has only one at each end."""
        buffer = self.buffer
        top = written_frame(self.value.top)
        if top is None:
            return NO
        end = buffer.limit(i, n)
        is_end = buffer.is_end and end == n
        one = Tally(1)
        verdict = Mark(
            buffer.text, i, end, is_end, buffer.mode == KEY_TEXT, top, one, buffer.kinds, False, self.equals
        ).judge()
        return WAIT if verdict == WAIT else (YES if verdict in (END, AMBIGUOUS) else NO)

    def _judge_triple(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        text = buffer.text
        end: i64 = i
        while end < n and text[end] == self.quote[0] and end < i + 4:
            end += 1
        if end == n and (not buffer.is_end or end < i + _TRIPLE):
            return buffer.wait(i)
        if end == i + _TRIPLE:
            if not buffer.edit(i, end, '"', RepairKind.QUOTES):
                return i
            self.quote = '"'
            if buffer.mode == KEY_TEXT:
                buffer.mode = COLON
            else:
                self.value.leave(end)
            return end
        found = YES if self.tally.marks else self._may_end_here(i, n)
        if found != NO:
            if found == WAIT and not buffer.is_late(i, n):
                return buffer.wait(i)
            return buffer.fail_ambiguous(i, "only one way to read the quotation mark")
        if text[i] == '"' and not buffer.edit(i, i + 1, '\\"', RepairKind.QUOTES):
            return i
        return i + 1

    def _find_lost_quote(self, i: i64, n: i64) -> i64:
        """Return whether the comma at `i` ends the open string, because a key that the schema knows follows."""
        buffer = self.buffer
        text = buffer.text
        end = buffer.limit(i, n)
        place = skip_spaces(text, i + 1, end)
        if place == end:
            return NO if buffer.is_end or buffer.is_late(i, n) else WAIT
        if text[place] != '"':
            return NO
        colon = colon_ahead(text, place, end, False)
        if colon == -2:
            return NO if buffer.is_end or buffer.is_late(i, n) else WAIT
        if colon < 0:
            return NO
        key = decode_key(text[place + 1 : string_end(text, place, end) - 1])
        top = self.value.top
        return YES if top is not None and top.shape is not None and top.shape.knows(key) else NO

    def _may_lose_quote(self) -> bool:
        """Return whether the open string is one that a known key may follow."""
        top = self.value.top
        return (
            self.buffer.mode == STRING
            and RepairKind.LOST_QUOTE in self.buffer.kinds
            and top is not None
            and top.closer == OBJECT
            and top.shape is not None
            and top.shape.has_keys
            and self.tally.marks == 0
        )

    def _close_lost(self, i: i64) -> i64:
        buffer = self.buffer
        if not buffer.edit(i, i, '"', RepairKind.LOST_QUOTE):
            return i
        buffer.token_end = buffer.base + i
        self.value.leave(i)
        return i

    def open(self, i: i64, n: i64, mode: i64) -> i64:
        """Begin a string or a key at a quotation mark that JSON does not know."""
        buffer = self.buffer
        char = buffer.text[i]
        if mode == STRING:
            is_after_key = buffer.hold >= 0 and self.quote == '"'
            if is_after_key and _KEY_AND_MORE.search(buffer.text, buffer.hold, i) is not None:
                return buffer.fail_ambiguous(i, "a key that did not end at another quotation mark")
            self.value.release()
        else:
            buffer.hold_key(i)
        if not buffer.edit(i, i + 1, '"', RepairKind.QUOTES) or (
            char in _CODE_QUOTES and not self._see_code(i, _IN_CODE)
        ):
            return i
        is_later = buffer.mode == ITEM or buffer.mode == KEY
        buffer.mode = mode
        self.begin(CLOSING[char], i + 1)
        if is_later and self.quote in OPEN_ONLY and not self.typographic_end:
            self.escapes = _LATER_ITEM
        return i + 1


def _plain_end(text: str, i: i64, n: i64, quote: str) -> i64:
    """Return where the characters from `i` on stop standing for themselves, in a string that another mark ends."""
    while i < n:
        char = text[i]
        if char < " " or char == '"' or char == "\\" or char in quote:
            return i
        i += 1
    return n
