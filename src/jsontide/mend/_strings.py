"""Strings and keys in any quotation marks in, those of JSON out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide._build import COMPILED
from jsontide.mend._frame import ARRAY, OBJECT, TUPLE, Frame
from jsontide.mend._look import (
    CLOSING,
    COLONS,
    COMMAS,
    DOUBLED,
    ESCAPED,
    NO,
    SPACES,
    WAIT,
    YES,
    decode_key,
    skip_comments,
    skip_spaces,
)
from jsontide.mend._quotes import DOUBT, END, JOINED, NO_MARKS, Mark, Tally
from jsontide.mend.options import RepairKind
from jsontide.text.modes import (
    AFTER_ITEM,
    AFTER_MEMBER,
    COLON,
    DONE,
    KEY_TEXT,
    STRING,
)
from jsontide.text.strings import match_plain, plain_end

if TYPE_CHECKING:
    from mypy_extensions import i64

from jsontide.mend._escapes import HEX, MARKED, NEWLINE, SUSPICIOUS, Escapes
from jsontide.mend._frame import WRAPPER, written_frame
from jsontide.mend._look import colon_ahead, is_delimiter, string_end

_CONTROLS: Final[dict[str, str]] = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TRIPLE: Final = 3
_ENDS_STRING: Final = COMMAS + COLONS + "}])"
_AFTER_STRING: Final = _ENDS_STRING + "`<"
_COMMENT: Final = "/#"
_APOSTROPHES: Final = "'’"
_ESCAPES: Final = ("b", "f", "n", "r", "t", "u", "/", "\\")


class Strings(Escapes):
    """Reads strings and keys."""

    __slots__ = ()

    def _after(self) -> i64:
        top = self.top
        if top is None or top.closer == WRAPPER:
            return DONE
        return AFTER_MEMBER if top.closer == OBJECT else AFTER_ITEM

    def _leave_value(self, i: i64) -> None:
        """Go on after a value that ends at `i`."""
        top = self.top
        while top is not None and top.closer == WRAPPER and top.parent is not None:
            if not self._edit(i, i, ARRAY, RepairKind.LIST):
                return
            top = self.top = top.parent
        self.mode = self._after()
        if self.mode == DONE:
            self._end_value(i)

    def _release(self) -> None:
        """Give out what was held: a value has begun after it."""
        if self.hold >= 0:
            if self.has_comma and self.top is not None and self.top.closer == TUPLE:
                self.top = Frame(TUPLE, self.top.parent, True, self.top.shape)
            self.hold = -1
        self.flushed = -1
        if self.drop_kind is not None:
            self._flush_drop()

    def _end_token(self, i: i64) -> i64:
        """Leave a number or a literal that ends at `i`: what follows it may tell more of a string before it."""
        flushed: i64 = self.flushed
        is_after_string = self.token_end == flushed + 1
        self._release()
        if is_after_string:
            self.flushed = flushed
        self.token_end = self.base + i
        self._leave_value(i)
        return i

    def _end_value(self, i: i64) -> None:
        self.token_end = self.base + i
        if self.first_end < 0:
            self.first_end = self.base + i

    def _begin_string(self, quote: str, i: i64) -> None:
        """Read what follows as text, up to `quote`; it begins at `i`."""
        self.quote = quote
        self.tally = NO_MARKS
        self.string_start = self.base + i
        self.escapes = 0

    def _read_string(self, i: i64, n: i64) -> i64:
        buffer, quote = self.buffer, self.quote
        if self.string_start == self.base + i and i < n:
            self.opens_json = buffer[i] in "{["
        if self.escape_end == self.base + i and i < n and not self._see_escape(i, SUSPICIOUS):
            return i
        stops = self._stops()
        while i < n:
            if stops:
                i = _plain_end(buffer, i, n, stops)
            else:
                i = plain_end(buffer, i) if COMPILED else match_plain(buffer, i).end()
            if i == n:
                return n
            i = self._read_special(i, n, buffer[i])
            if self.is_waiting or self.is_over or self.mode > KEY_TEXT:
                return i
            if self.quote != quote:
                quote = self.quote
                stops = self._stops()
        return n

    def _stops(self) -> str:
        """Return the characters that do not stand for themselves in the open string, if not only those of JSON."""
        quote = self.quote
        if quote == '"' and self.shape is not None and self._may_lose_quote():
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
        return i + 1 if self._edit(i, i + 1, became, RepairKind.CONTROL_CHARACTER) else i

    def _read_mark_inside(self, i: i64, n: i64) -> i64:
        """Read a mark of JSON inside others; it may end a string that “ or „ begins."""
        is_first = self.escapes & MARKED == 0 and self.base + i > self.string_start
        may_end = is_first and "”" in self.quote and self.quote != "”"
        found = self._may_end_here(i, n) if may_end else NO
        if found == WAIT and self._is_late(i, n):
            return self._fail_ambiguous(i, "a clear end of the string with quotation marks inside")
        if found != NO:
            return self._wait(i) if found == WAIT else self._end_string(i)
        self.escapes |= MARKED
        return i + 1 if self._edit(i, i + 1, '\\"', RepairKind.QUOTES) else i

    def _open_wrapped(self, i: i64, mode: i64) -> i64:
        """Begin a string of a text that was written into another."""
        if mode == STRING:
            self._release()
        else:
            self._hold_key(i)
        if not self._edit(i, i + 2, '"', RepairKind.QUOTES):
            return i
        self.mode = mode
        self._begin_string(self.wrapping, i + 2)
        return i + 2

    def _read_wrapped(self, i: i64, n: i64) -> i64:
        """Read a backslash or a quotation mark in such a string, of which there are more than would be elsewhere."""
        buffer, quote = self.buffer, self.quote
        end = self._limit(i, n)
        need: i64 = 4 if buffer[i] == "\\" and (quote == DOUBLED or buffer.startswith("\\\\", i)) else 2
        if end - i < need and not (self.is_end and end == n):
            if self._is_late(i, n):
                return self._fail_held(i) if self.hold >= 0 else self._fail_ambiguous(i, "an escape of JSON")
            return self._wait(i)
        if buffer.startswith(quote, i):
            return self._end_wrapped(i)
        escape = buffer[i : i + 2]
        if buffer[i] == '"':
            return self._fail_ambiguous(i, "the same quotation marks around all strings")
        if quote == DOUBLED:
            if buffer.startswith(DOUBLED, i + 1):
                return i + 3 if self._edit(i + 2, i + 3, "", RepairKind.QUOTES) else i
            return self._read_whole_escape(i, n)
        if escape == "\\\\":
            return self._read_escaped_escape(i, n)
        return self._read_whole_escape(i, n)

    def _read_whole_escape(self, i: i64, n: i64) -> i64:
        """Read an escape of JSON, all of it; at the end of the text, one that broke off is held."""
        buffer = self.buffer
        letter = buffer[i + 1 : i + 2]
        last: i64 = i + (6 if letter == "u" else 2)
        if last > n:
            return self._wait(i)
        is_odd = letter == "u" and any([char not in HEX for char in buffer[i + 2 : last]])
        if letter == "u" and not is_odd and self._is_half(i + 2, n, "\\u"):
            return self._wait(i)
        return last if letter in _ESCAPES and not is_odd else self._fail_ambiguous(i, "an escape of JSON")

    def _read_escaped_escape(self, i: i64, n: i64) -> i64:
        """Read an escape whose backslash is escaped itself; at the end of the text, one that broke off is held."""
        buffer = self.buffer
        letter = buffer[i + 2 : i + 3]
        last: i64 = i + (7 if letter == "u" else (4 if letter == "\\" else 3))
        if last > n:
            return self._wait(i)
        if letter == "\\" and buffer[i + 2 : last] in ('\\"', "\\\\"):
            return last if self._edit(i, last, buffer[i + 2 : last], RepairKind.ESCAPE) else i
        is_odd = letter == "u" and any([char not in HEX for char in buffer[i + 3 : last]])
        if letter == "u" and not is_odd and self._is_half(i + 3, n, "\\\\u"):
            return self._wait(i)
        if letter in _ESCAPES and letter != "\\" and not is_odd:
            return last if self._edit(i, i + 1, "", RepairKind.ESCAPE) else i
        return self._fail_ambiguous(i, "an escape of JSON")

    def _end_wrapped(self, i: i64) -> i64:
        is_key = self.mode == KEY_TEXT
        if not self._edit(i, i + 2, '"', RepairKind.QUOTES):
            return i
        self.quote = '"'
        self.token_end = self.base + i + 2
        if is_key:
            self.key = self._key_before(i)
            self._note_key()
            self.mode = COLON
        else:
            self._leave_value(i + 2)
        return i + 2

    def _read_comma(self, i: i64, n: i64) -> i64:
        """Read a comma in a string whose closing quotation mark may be missing before it."""
        found = self._find_lost_quote(i, n) if self.tally.marks == 0 else NO
        if found == YES:
            before = self.buffer[i - 1] if i else self.recent[-1:]
            if before in SPACES:
                return self._fail_ambiguous(i, "to see where the string ends")
            return self._close_lost(i)
        return self._wait(i) if found == WAIT else i + 1

    def _judge(self, i: i64, n: i64) -> i64:
        """Read the quotation mark at `i`: the end of the string, or text."""
        if len(self.quote) == _TRIPLE and self.quote[0] == self.quote[1]:
            return self._judge_triple(i, n)
        is_key = self.mode == KEY_TEXT
        top = written_frame(self.top)
        if top is None or self.flushed >= 0 or (is_key and i - self.hold > self.max_held):
            return self._fail_held(i) if self.tally.marks else self._end_string(i)
        if self.wrapping == DOUBLED and self.buffer[i] == '"':
            return self._begin_doubled(i)
        if self.tally.marks == 0 and i + 1 < n and self._ends_plainly(i, n, top):
            return self._end_string(i)
        if self.base + i == self.string_start and self.buffer[i] in "\"'":
            if i + 1 < n and self.buffer[i + 1] == self.buffer[i]:
                return self._begin_triple(i, n)
            if i + 1 == n and not self.is_end:
                return self._wait(i)
        return self._judge_by_what_follows(i, n, top)

    def _judge_by_what_follows(self, i: i64, n: i64, top: Frame) -> i64:
        end = self._limit(i, n)
        is_end = self.is_end and end == n
        is_key = self.mode == KEY_TEXT
        mark = Mark(self.buffer, i, end, is_end, is_key, top, self.tally, self.kinds, self.opens_json, self.equals)
        verdict = mark.judge()
        if verdict == WAIT:
            return self._wait_for_next(i, n)
        if verdict == DOUBT or (verdict == END and self._may_have_lost_its_end(i, top)):
            return self._fail_ambiguous(i, "only one way to read the quotation mark")
        if verdict == JOINED:
            return self._join(i, n)
        return self._end_string(i) if verdict == END else self._keep_quote(i)

    def _may_have_lost_its_end(self, i: i64, top: Frame) -> bool:
        """Return whether a string with quotation marks inside may be more than one, or a key and a value."""
        buffer, tally = self.buffer, self.tally
        has_newline = self.escapes & NEWLINE != 0
        before = self._end_before(i)[:1]
        place = skip_spaces(buffer, i + 1, len(buffer))
        after = buffer[place : place + 1]
        is_odd = after not in _AFTER_STRING and (has_newline or "\n" not in buffer[i:place])
        may_begin = before in COMMAS or (is_odd and self.mode == KEY_TEXT and before in COLONS)  # another string
        if has_newline + may_begin + is_odd > 1:
            return True
        if not tally.marks:
            return False
        if after in _COMMENT:
            return True
        if self.mode == KEY_TEXT:
            key = self._key_before(i)
            return not key or ":" in key or "," in key
        return self.escapes & NEWLINE != 0 and (tally.has_key or top.closer != OBJECT)

    def _ends_plainly(self, i: i64, n: i64, top: Frame) -> bool:
        """Return whether the string ends at `i` as nearly all strings do."""
        buffer = self.buffer
        char = buffer[i + 1]
        if self.escapes & NEWLINE:
            return False
        if self.mode == KEY_TEXT:
            return char == ":"
        if char != ",":
            return char == top.closer
        place: i64 = i + 2
        while place < n and is_delimiter(buffer, place) and buffer[place] <= " ":
            place += 1
        return place < n and buffer[place] == '"' and place - i <= self.max_held

    def _wait_for_next(self, i: i64, n: i64) -> i64:
        """Wait for the token after a quotation mark; if it is too far away, take JSON's reading."""
        if not self._is_late(i, n):
            return self._wait(i)
        if self.tally.marks or self.escapes & NEWLINE:
            return self._fail_ambiguous(i, "a clear end of the string with quotation marks inside")
        if self.hold < 0:
            self._set_flushed(i)
        return self._end_string(i)

    def _keep_quote(self, i: i64) -> i64:
        """Take the quotation mark for text."""
        buffer = self.buffer
        before = "" if self.base + i == self.string_start else self._end_before(i)
        mark = buffer[i]
        is_apostrophe = mark in _APOSTROPHES and before[-1:].isalnum() and buffer[i + 1 : i + 2].isalnum()
        after = skip_spaces(buffer, i + 1, len(buffer))
        top = written_frame(self.top)
        in_array = self.mode == STRING and top is not None and top.closer != OBJECT
        tally = self.tally.add(before, buffer[i + 1 : after + 1], mark, in_array)
        if is_apostrophe:
            if RepairKind.INNER_QUOTE not in self.kinds:
                return self._fail_at(i)
        elif not self._edit(i, i + 1, '\\"' if mark == '"' else f"\\u{ord(mark):04x}", RepairKind.INNER_QUOTE):
            return i
        self.tally = tally
        return i + 1

    def _end_string(self, i: i64) -> i64:
        is_key = self.mode == KEY_TEXT
        if self.buffer[i] != '"' and not self._edit(i, i + 1, '"', RepairKind.QUOTES):
            return i
        self.token_end = self.base + i + 1
        if is_key:
            if self.shape is not None:
                self.key = self._key_before(i)
                self._note_key()
            self.mode = COLON
        else:
            self._leave_value(i + 1)
        return i + 1

    def _note_key(self) -> None:
        if self.top is not None and self.top.shape is not None:
            self.top = self.top.with_key(self.key)

    def _key_before(self, i: i64) -> str:
        """Return the key that ends at `i`; nothing if it is too long to be held, or odd."""
        begin: i64 = self.string_start - self.base
        return decode_key(self.buffer[begin:i]) if begin >= 0 else ""

    def _join(self, i: i64, n: i64) -> i64:
        """Leave out what is between two strings with a plus sign between them."""
        place = skip_comments(self.buffer, i + 1, n)
        place = skip_comments(self.buffer, place + 1, n)
        if not self._edit(i, place + 1, "", RepairKind.CONCATENATION):
            return i
        self.quote = CLOSING[self.buffer[place]]
        self.string_start = self.base + place + 1
        return place + 1

    def _begin_doubled(self, i: i64) -> i64:
        """Go on in a string that began with two quotation marks, of which the second is at `i`."""
        if self.base + i != self.string_start:
            return self._fail_ambiguous(i, "the same quotation marks around all strings")
        if not self._edit(i, i + 1, "", RepairKind.QUOTES):
            return i
        self.quote = DOUBLED
        self.string_start += 1
        return i + 1

    def _begin_triple(self, i: i64, n: i64) -> i64:
        if i + 2 == n and not self.is_end:
            return self._wait(i)
        if i + 2 < n and self.buffer[i + 2] == self.buffer[i]:
            return self._fail_ambiguous(i, "three quotation marks, not four")
        place = skip_spaces(self.buffer, i + 2, n)
        if place == n and not self.is_end and not self._is_late(i, n):
            return self._wait(i)
        if place == n or self.buffer[place] in _ENDS_STRING:
            self.tally = Tally(1)  # the third mark may end a string that is only one mark
        if not self._edit(i, i + 2, "", RepairKind.QUOTES):
            return i
        self.quote = self.buffer[i] * _TRIPLE
        return i + 2

    def _may_end_here(self, i: i64, n: i64) -> i64:
        """Tell whether the quotation mark at `i` may end a string that has only one at each end."""
        top = written_frame(self.top)
        if top is None:
            return NO
        end = self._limit(i, n)
        is_end = self.is_end and end == n
        one = Tally(1)
        verdict = Mark(
            self.buffer, i, end, is_end, self.mode == KEY_TEXT, top, one, self.kinds, False, self.equals
        ).judge()
        return WAIT if verdict == WAIT else (YES if verdict in (END, DOUBT) else NO)

    def _judge_triple(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        end: i64 = i
        while end < n and buffer[end] == self.quote[0] and end < i + 4:
            end += 1
        if end == n and (not self.is_end or end < i + _TRIPLE):
            return self._wait(i)
        if end == i + _TRIPLE:
            if not self._edit(i, end, '"', RepairKind.QUOTES):
                return i
            self.quote = '"'
            if self.mode == KEY_TEXT:
                self.mode = COLON
            else:
                self._leave_value(end)
            return end
        found = YES if self.tally.marks else self._may_end_here(i, n)
        if found != NO:
            if found == WAIT and not self._is_late(i, n):
                return self._wait(i)
            return self._fail_ambiguous(i, "only one way to read the quotation mark")
        if buffer[i] == '"' and not self._edit(i, i + 1, '\\"', RepairKind.QUOTES):
            return i
        return i + 1

    def _find_lost_quote(self, i: i64, n: i64) -> i64:
        """Tell whether the comma at `i` ends the open string, because a key that the schema knows follows."""
        buffer = self.buffer
        end = self._limit(i, n)
        place = skip_spaces(buffer, i + 1, end)
        if place == end:
            return NO if self.is_end or self._is_late(i, n) else WAIT
        if buffer[place] != '"':
            return NO
        colon = colon_ahead(buffer, place, end, False)
        if colon == -2:
            return NO if self.is_end or self._is_late(i, n) else WAIT
        if colon < 0:
            return NO
        key = decode_key(buffer[place + 1 : string_end(buffer, place, end) - 1])
        top = self.top
        return YES if top is not None and top.shape is not None and top.shape.knows(key) else NO

    def _may_lose_quote(self) -> bool:
        """Return whether the open string is one that a known key may follow."""
        top = self.top
        return (
            self.mode == STRING
            and RepairKind.LOST_QUOTE in self.kinds
            and top is not None
            and top.closer == OBJECT
            and top.shape is not None
            and top.shape.has_keys
            and self.tally.marks == 0
        )

    def _close_lost(self, i: i64) -> i64:
        if not self._edit(i, i, '"', RepairKind.LOST_QUOTE):
            return i
        self.token_end = self.base + i
        self._leave_value(i)
        return i


def _plain_end(text: str, i: i64, n: i64, quote: str) -> i64:
    """Return where the characters from `i` on stop standing for themselves, in a string that another mark ends."""
    while i < n:
        char = text[i]
        if char < " " or char == '"' or char == "\\" or char in quote:
            return i
        i += 1
    return n
