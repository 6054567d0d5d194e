"""What stands around a value in, and left out: words, fences, tags, thinking and other values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide.mend._look import (
    CLOSING,
    COLONS,
    COMMAS,
    DOUBLED,
    ESCAPED,
    NO,
    ODD_SPACES,
    UNKNOWN,
    WAIT,
    YES,
    begins_value,
    colon_ahead,
    container_begins,
    find_wrapping,
    key_ahead,
    scalar_ends,
    skip_comments,
    skip_spaces,
    string_end,
)
from jsontide.mend._outside import (
    MISSING,
    UNDECIDED,
    assigns,
    begin_line,
    count_marks,
    ends_paragraph,
    fence_info,
    find_candidate,
    find_open_quote,
    is_json_info,
    lead_of,
    read_fence,
    read_tag,
    thinking_name,
)
from jsontide.mend.options import RepairKind
from jsontide.text.grammar import name_character
from jsontide.text.modes import (
    VALUE,
)

if TYPE_CHECKING:
    from mypy_extensions import i64
from jsontide.mend._after import After
from jsontide.mend._fields import COMPARING, OUTSIDE, SKIPPING
from jsontide.mend.shape import ARRAY as ARRAY_SHAPE
from jsontide.mend.shape import OBJECT as OBJECT_SHAPE

CLOSERS: Final[dict[str, str]] = {"{": "}", "[": "]", "｛": "｝", "［": "］"}
_NO_CLOSER: Final = "\0"
"""In place of the closer of an object whose brace was never there."""
_BETWEEN: Final = COMMAS + COLONS
_DEEPEST: Final = 512
"""Brackets around words inside each other; of more, the end is never found."""


class Around(After):
    """Finds the value, and leaves out what stands around it."""

    __slots__ = ()

    def _read_outside(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        if self.at_start:
            while i < n and buffer[i] in " \t\r\n":
                i += 1
            if i == n or buffer[i] not in "{[`~<":
                return n if i == n else self._read_first(i, n)
        place = find_candidate(buffer, i)
        if place < 0:
            place = n
        if place > i:
            words = buffer[i:place]
            if (self.remark or self.has_quote) and ends_paragraph(words, self.lead):
                self.remark = ""
                self.has_quote = self.has_quote and not self.found
            self._note_words(i, words)
            self.at_start = False
            self.has_quote = self.has_quote or ((self.found or self.doubtful != "") and '"' in words)
            return place if self._drop(i, place, self.prose_kind) else i
        return self._read_mark(i, n)

    def _read_mark(self, i: i64, n: i64) -> i64:
        """Read what may begin a value, a fence or a tag, or be a bracket around words."""
        char = self.buffer[i]
        if char in "]}｝］)":
            return self._close_remark(i)
        if char == "(":
            return self._open_parenthesis(i, n)
        if char == "<":
            found = self._find_html_comment(i, n)
            if found != NO:
                return self._wait(i) if found == WAIT else self._skip_html_comment(i)
            return self._read_tag(i, n)
        return self._read_fence(i, n) if char in "`~" else self._read_candidate(i, n)

    def _skip_html_comment(self, i: i64) -> i64:
        if not self._drop(i, i + 4, RepairKind.COMMENT):
            return i
        self.mode = SKIPPING
        self.until = "-->"
        self.skip_kind = RepairKind.COMMENT
        return i + 4

    def _note_words(self, i: i64, words: str) -> None:
        """Note what the words from `i` on say about what follows them."""
        self.lead = lead_of(words, self.lead)
        self.begun = begin_line(words, self.begun)
        before = self.buffer[i - 1] if i else self.recent[-1:]
        self.line_marks = count_marks(words, self.line_marks, before)
        if self.remark or self.doubtful:
            self.open_quote = find_open_quote(words, self.open_quote, before)

    def _read_first(self, i: i64, n: i64) -> i64:
        """Read a first character that opens neither a container nor a block: a scalar, a comment or prose."""
        buffer = self.buffer
        char = buffer[i]
        if char in ODD_SPACES:
            return i + 1 if self._edit(i, i + 1, "", RepairKind.SPACE) else i
        if self.found:
            self.at_start = False
            return i
        if char == "/" and RepairKind.COMMENT in self.kinds:
            if i + 1 == n and not self.is_end:
                return self._wait(i)
            if buffer[i + 1 : i + 2] in ("/", "*"):
                return self._begin_comment(i, n)
        if not self.was_doubtful and (char in '"-tfn' or char in "0123456789"):
            end = self._limit(i, n)
            found = scalar_ends(buffer, i, end, self.is_end and end == n)
            if found == WAIT and self._is_late(i, n):
                found = YES
            if found == WAIT and not self.is_end:
                return self._wait(i)
            if found == YES or (found == WAIT and char == '"'):
                self.is_scalar = True
                return self._begin_value(i)
        return self._read_first_word(i, n)

    def _read_first_word(self, i: i64, n: i64) -> i64:
        """Read what begins no value: words, or members of an object whose brace is not there."""
        found = self._begins_member(i, n)
        if found == WAIT and not self.is_end and not self._is_late(i, n):
            return self._wait(i)
        if found == YES:
            self._note_skipped(i)
            self.doubtful = _NO_CLOSER
            self.was_doubtful = True
        self.at_start = False
        return i

    def _begins_member(self, i: i64, n: i64) -> i64:
        """Tell whether a member is at `i`, of an object whose brace is not there; of a name, also its value is read."""
        buffer = self.buffer
        end = self._limit(i, n)
        colon = colon_ahead(buffer, i, end, True)
        if colon < 0:
            return NO if colon == -1 else WAIT
        place = skip_comments(buffer, colon + 1, end)
        if place == end:
            return WAIT
        if buffer[i] in CLOSING:
            return YES if begins_value(buffer[place]) else NO
        if buffer[place] not in CLOSING:
            return NO
        after = string_end(buffer, place, end)
        after = end if after < 0 else skip_comments(buffer, after, end)
        if after == end:
            return WAIT
        if buffer[after] not in COMMAS:
            return NO
        after = skip_comments(buffer, after + 1, end)
        return WAIT if after == end else key_ahead(buffer, after, end, True)

    def _read_candidate(self, i: i64, n: i64) -> i64:
        """Read a bracket or brace that may open a value."""
        buffer = self.buffer
        end = self._limit(i, n)
        is_sure = self.at_start or self.lead in "\n:：" or self.in_fence or assigns(self.begun)
        is_end = self.is_end and end == n
        found = self._find_container(i, end, is_sure, is_end)
        if found == NO and buffer[i] == "[":
            tag = read_tag(buffer, i, end, is_end)
            if tag == UNDECIDED:
                return self._fail_late(i) if self._is_late(i, n) else self._wait(i)
            if tag > 0:
                self.at_start = True
                return tag if self._drop_whole(i, tag, RepairKind.TAG) else i
        if found == WAIT:
            if not self.is_end:
                if not self._is_late(i, n):
                    return self._wait(i)
                if not self.at_start:
                    return self._fail_late(i)
            found = self._take_cut_off(i, end, is_sure, is_end)
        if found == YES and not self.doubtful and not self.remark:
            return self._begin_wanted(i)
        if found == NO and self._is_odd_after(i, buffer[i]):
            return self._fail_ambiguous(i, "nothing after the end of the value")
        self._open_remark(i, n, is_sure)
        return self._pass_opener(i)

    def _find_container(self, i: i64, end: i64, is_sure: bool, is_end: bool) -> i64:
        """Tell whether a value begins at `i`; what may be in quotation marks begins with a key or an item."""
        buffer = self.buffer
        wrapping = find_wrapping(buffer, i, end, self.lead == '"')
        if wrapping == UNKNOWN and not is_end:
            return WAIT
        if wrapping == DOUBLED or (wrapping == ESCAPED and not self.line_marks):
            return YES
        found = container_begins(buffer, i, end, is_sure, is_end)
        if found == YES and self.line_marks and buffer[skip_spaces(buffer, i + 1, end)] in "}]":
            return NO
        return found

    def _begin_wanted(self, i: i64) -> i64:
        """Begin a value, unless the schema wants another one."""
        if not self._is_unwanted(self.buffer[i]):
            return self._begin_value(i)
        self.prose_kind = RepairKind.ROOT
        return self._pass_opener(i)

    def _pass_opener(self, i: i64) -> i64:
        """Take the bracket at `i` for a word."""
        self.at_start = False
        self.lead = self.buffer[i]
        self.begun = begin_line(self.lead, self.begun)
        return i + 1 if self._drop(i, i + 1, self.prose_kind) else i

    def _note_skipped(self, i: i64) -> None:
        """Note that what begins at `i` is taken for words, if it is the first such place."""
        if not self.skipped:
            before = self.buffer[:i]
            line = self.line + before.count("\n")
            start = self.base + before.rfind("\n") + 1 if "\n" in before else self.line_start
            column = self.base + i - start + 1
            self.skipped = f"what begins with {name_character(self.buffer[i])} (line {line}, column {column})"

    def _open_parenthesis(self, i: i64, n: i64) -> i64:
        """Read a parenthesis: a value behind its first item may be part of a tuple."""
        buffer = self.buffer
        place = skip_spaces(buffer, i + 1, n)
        if place == n and not self.is_end and not self._is_late(i, n):
            return self._wait(i)
        if self.doubtful:
            self.doubtful = (self.doubtful + ")")[:_DEEPEST]
        elif self.remark or (place < n and (buffer[place] in "\"'" or buffer[place].isdigit())):
            self.open_quote = self.open_quote if self.remark else ""
            self.remark = (self.remark + ")")[:_DEEPEST]
        return self._pass_opener(i)

    def _take_cut_off(self, i: i64, end: i64, is_sure: bool, is_end: bool) -> i64:
        """Tell whether a value begins at `i` of which there is too little, or too much, to see."""
        is_tag = is_end and self.buffer[i] == "[" and read_tag(self.buffer, i, end, False) == UNDECIDED
        if not is_sure or is_tag:
            return NO
        if not self.is_end:  # it was not seen whether a value goes on: what is none is an error
            self.flushed = self.base + i
            self.token_end = self.flushed + 1
        return YES

    def _fail_late(self, i: i64) -> i64:
        """Fail because more would have to be held to see whether a value begins at `i`."""
        self._hold_at(i, self.mode)
        return self._fail_held(i)

    def _open_remark(self, i: i64, n: i64, is_sure: bool) -> None:
        """Note that words in brackets begin: a value inside of them may be part of one that could not be read."""
        closer = CLOSERS[self.buffer[i]]
        self._note_skipped(i)
        if not self.remark and not self.doubtful:
            self.open_quote = ""
        if is_sure or self.doubtful:
            self.doubtful = (self.doubtful + closer)[:_DEEPEST]
            self.was_doubtful = True
            return
        place = skip_spaces(self.buffer, i + 1, n)
        before = self.buffer[i - 1] if i else self.recent[-1:]
        is_smiley = before in "-;=" or self.buffer.startswith(".", place)
        if self.remark or (not is_smiley and (place == n or begins_value(self.buffer[place]))):
            self.remark = (self.remark + closer)[:_DEEPEST]

    def _close_remark(self, i: i64) -> i64:
        closer = self.buffer[i]
        if self.open_quote:
            pass  # it may be part of a string
        elif self.remark.endswith(closer):
            self.remark = self.remark[:-1]
        elif self.doubtful.endswith(closer) and len(self.doubtful) < _DEEPEST:
            self.doubtful = self.doubtful[:-1]
        elif self.found and self.has_quote and closer != ")":
            return self._fail_ambiguous(i, "nothing after the end of the value")
        self.lead = closer
        self.begun = begin_line(closer, self.begun)
        self.at_start = False
        return i + 1 if self._drop(i, i + 1, self.prose_kind) else i

    def _is_unwanted(self, opener: str) -> bool:
        """Return whether the schema wants another kind of container than the one that begins."""
        shape = self.shape
        return (
            shape is not None
            and not self.found
            and opener == "["
            and shape.kinds & (OBJECT_SHAPE | ARRAY_SHAPE) == OBJECT_SHAPE
            and RepairKind.ROOT in self.kinds
        )

    def _begin_value(self, i: i64) -> i64:
        if not self.found:
            if self.was_doubtful and self.has_quote:
                return self._fail_ambiguous(i, "no value after brackets that may be one")
            self._flush_drop()
            self.doubtful = self.remark = ""
            self.prose_kind = RepairKind.PROSE
            self.found = True
            self.first_start = self.base + i
            if not self.is_scalar:
                wrapping = find_wrapping(self.buffer, i, self._limit(i, len(self.buffer)), self.lead == '"')
                self.wrapping = "" if wrapping == UNKNOWN else wrapping
            self.mode = VALUE
            return i
        if self.is_truncated or self._is_early_end(i):
            return self._fail_ambiguous(i, "nothing after a value that was not complete")
        if self.has_quote and self.lead in _BETWEEN:
            return self._fail_ambiguous(i, "nothing after the end of the value")
        several = self.mending.values
        if several == "first":
            self.mode = SKIPPING
            self.until = ""
            self.skip_kind = RepairKind.SECOND_VALUE
        elif several == "one":
            self._flush_drop()
            self.mode = COMPARING
            self.compared = 0
        else:
            self._flush_drop()
            self._copy_to(i)
            if self.newline >= self.token_end or self._edit(i, i, "\n", RepairKind.SECOND_VALUE):
                self.mode = VALUE
        return i

    def _is_early_end(self, i: i64) -> bool:
        """Return whether a value right behind the first one may be part of it: that one ended after a comma."""
        return (
            self.base + i == self.token_end
            and self.repair_count > 0
            and self.repairs[self.repair_count - 1].kind is RepairKind.TRAILING_COMMA
        )

    def _read_fence(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        end = self._limit(i, n)
        after = read_fence(buffer, i, end, self.is_end and end == n)
        if after == UNDECIDED:
            return self._fail_late(i) if self._is_late(i, n) else self._wait(i)
        is_quoted = self.line_marks % 2 == 1 or (self.buffer[i - 1] if i else self.recent[-1:]) == '"'
        if after == MISSING or (self.lead != "\n" and (is_quoted or self.doubtful)):
            self.lead = buffer[i]
            return i + 1 if self._drop(i, i + 1, RepairKind.PROSE) else i
        if not self._drop_whole(i, after, RepairKind.FENCE):
            return i
        if self.lead == "\n":  # else it may be part of a string
            self.doubtful = self.remark = ""
            if not self.in_fence and is_json_info(fence_info(buffer, i, end)):
                self.was_doubtful = False
                self.has_quote = self.has_quote and self.found
        self._begin_line()
        self.in_fence = not self.in_fence
        self.at_start = True
        if self.in_fence and not is_json_info(fence_info(buffer, i, end)):
            self.mode = SKIPPING
            self.until = buffer[i] * 3
            self.skip_kind = RepairKind.CODE_BLOCK
        return after

    def _read_tag(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        end = self._limit(i, n)
        after = read_tag(buffer, i, end, self.is_end and end == n)
        if after == UNDECIDED:
            return self._fail_late(i) if self._is_late(i, n) else self._wait(i)
        if after == MISSING or (self.doubtful and self.lead != "\n"):
            self.lead = buffer[i]
            self.at_start = False
            return i + 1 if self._drop(i, i + 1, RepairKind.PROSE) else i
        name = thinking_name(buffer[i:after])
        if name.startswith("/"):
            if self.found:
                return self._fail_ambiguous(i, "no end of thinking after the value")
            if not self._drop_whole(i, after, RepairKind.THINKING):
                return i
        elif name:
            if not self._drop(i, after, RepairKind.THINKING):
                return i
            self.mode = SKIPPING
            self.until = f"</{name}>"
            self.skip_kind = RepairKind.THINKING
            return after
        elif not self._drop_whole(i, after, RepairKind.TAG):
            return i
        marks: i64 = 0 if self.lead == "\n" else self.line_marks
        self._begin_line()
        self.at_start = marks % 2 == 0
        self.line_marks = marks
        return after

    def _begin_line(self) -> None:
        """Forget the words of the line: what follows is as good as in a new one."""
        self.lead = "\n"
        self.begun = ""
        self.line_marks = 0

    def _skip(self, i: i64, n: i64) -> i64:
        """Leave out a block, or all that is left."""
        kind = self.skip_kind
        until = self.until
        if not until:
            self._drop(i, n, kind)
            return n
        if kind is RepairKind.CODE_BLOCK and self.at_start:
            return self._enter_block(i, n)
        end: i64 = self.buffer.find(until, i)
        if end < 0:
            end = n if self.is_end else max(n - len(until) + 1, i)
            if not self._drop(i, end, kind) or end == n:
                return end
            return self._wait(end)
        if kind is not RepairKind.CODE_BLOCK:
            end += len(until)
        if self._drop_whole(i, end, kind):
            self.mode = OUTSIDE
            if kind is not RepairKind.COMMENT:
                self.at_start = True
                self._begin_line()
        return end

    def _enter_block(self, i: i64, n: i64) -> i64:
        """Read the beginning of a code block in another language: models put JSON there too."""
        buffer = self.buffer
        end = self._limit(i, n)
        place = skip_comments(buffer, i, end)
        found: i64 = WAIT
        if place < end:
            found = NO
            is_end = self.is_end and end == n
            if buffer[place] in '"-tfn0123456789':
                found = scalar_ends(buffer, place, end, is_end)
            else:
                found = container_begins(buffer, place, end, True, is_end)
        if found == WAIT and not self.is_end:
            return self._fail_late(i) if self._is_late(i, n) else self._wait(i)
        if found == YES:
            self.mode = OUTSIDE
            return i
        self.at_start = False
        if place < end and buffer[place] in "{[":  # it may be the value all the same
            self._note_skipped(place)
            self.was_doubtful = self.has_quote = True
        return i
