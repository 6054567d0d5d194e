"""What stands around a value in, and left out: words, fences, tags, thinking, comments and other values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from jsontide._textbuffer import NO_TEXT, GrowingText
from jsontide.mend._buffer import BLOCK_COMMENT, COMPARING, LINE_COMMENT, OUTSIDE, SKIPPING, Buffer
from jsontide.mend._look import (
    AFTER_STRING,
    BLANKS,
    CLOSING,
    COLONS,
    COMMAS,
    DOUBLED,
    EMPTY_KEY,
    ESCAPED,
    MISSING,
    NO,
    ODD_SPACES,
    SPACES,
    UNDECIDED,
    UNKNOWN,
    WAIT,
    YES,
    begins_value,
    colon_ahead,
    container_begins,
    count_marks,
    ends_in_escape,
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
from jsontide.mend._value import ARRAY, OpenValue
from jsontide.mend.options import RepairKind
from jsontide.mend.shape import ARRAY as ARRAY_SHAPE
from jsontide.mend.shape import OBJECT as OBJECT_SHAPE
from jsontide.text.grammar import name_character
from jsontide.text.modes import COLON, DONE, VALUE

if TYPE_CHECKING:
    from mypy_extensions import i64

_CLOSERS: Final[dict[str, str]] = {"{": "}", "[": "]", "｛": "｝", "［": "］"}
_NO_CLOSER: Final = "\0"
"""In place of the closer of an object whose brace was never there."""
_DEEPEST: Final = 512
"""Brackets around words inside each other; of more, the end is never found."""
_CANDIDATE: Final = re.compile(r"[{}\[\]()｛｝［］<`~]")
_ASSIGNS: Final = re.compile(
    r"\s*(?:(?:export\s+)?(?:(?:const|let|var)\s+)?[^\W\d][\w.$]*(?:\s*:\s*[\w.]+(?:\[[\w., ]*\])?)?\s*:?="
    r"|return|export\s+default)\s*"
)
_NAMED_ITEM: Final = re.compile(r"[\w.]+\s*([,=]?)")
"""A name as an item of a tuple, or as the name of an argument."""
_INSIDE: Final = re.compile(
    r"""(?:(?:["'}\]\d]|true|false|null)\s*,\s*(?:"[^"\n]*"\s*:)?|(?:\A|\n)[^"\n]*"\s*:|\A\s*:)\s*\Z"""
)
"""What stands before a value inside of another one, whose beginning was in the prompt."""
_LONGEST_BEGUN: Final = 80
_QUOTATION_MARKS: Final = '"“”„«»'
"""What may be around a key; an apostrophe says less."""
_EMPTY_LINE: Final = re.compile(r"\n[ \t\r]*\n")


class Outside:
    """Finds the value, and leaves out what stands around it."""

    __slots__ = (
        "aside",
        "at_start",
        "begun",
        "buffer",
        "compared",
        "first_start",
        "found",
        "had_brackets",
        "has_mark",
        "has_quote",
        "in_fence",
        "in_line",
        "in_quotes",
        "is_scalar",
        "last_char",
        "line_marks",
        "open_brackets",
        "open_quote",
        "original",
        "prose_kind",
        "resume",
        "skip_kind",
        "skipped",
        "strings",
        "until",
        "value",
    )

    def __init__(
        self,
        buffer: Buffer,
        value: OpenValue,
        strings: Strings,
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
        resume: i64 = 0,
        has_mark: bool = False,
        in_fence: bool = False,
        in_line: bool = False,
        in_quotes: bool = False,
        found: bool = False,
        is_scalar: bool = False,
        first_start: i64 = 0,
        compared: i64 = 0,
        original: GrowingText = NO_TEXT,
    ) -> None:
        self.buffer: Final = buffer
        self.value: Final = value
        self.strings: Final = strings
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
        self.until: str = until  # what ends a block, or a comment
        self.resume: i64 = resume  # the mode after the comment
        self.has_mark: bool = has_mark  # whether a quotation mark is in it
        self.in_fence: bool = in_fence
        self.in_line: bool = in_line  # whether the line goes on in which the value ended
        self.in_quotes: bool = in_quotes  # whether a quotation mark before the value, in the same line, has no pair
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
            self.resume,
            self.has_mark,
            self.in_fence,
            self.in_line,
            self.in_quotes,
            self.found,
            self.is_scalar,
            self.first_start,
            self.compared,
            self.original,
        )

    def enter(self, last_char: str) -> None:
        self.last_char = last_char
        self.begun = ""
        self.line_marks = 0
        self.in_quotes = self.in_quotes and last_char != "\n"
        self.in_line = self.found and last_char != "\n"
        self.at_start = False
        self.buffer.mode = OUTSIDE

    def leave(self, i: i64, n: i64) -> i64:
        """Read what follows a whole value."""
        buffer = self.buffer
        text = buffer.text
        char = text[i]
        if self.value.top is not None:
            return self._leave_item(i, n)
        if self.is_scalar and char not in "`~<":
            return buffer.fail_ambiguous(i, "nothing after the end of the value")
        if char in "}])":
            if self.had_brackets:
                return buffer.fail_ambiguous(i, "no bracket after a value that may be inside of another")
            buffer.mode = DONE
            buffer.token_end = buffer.base + i + 1
            return i + 1 if buffer.edit(i, i + 1, "", RepairKind.EXTRA_CLOSER) else i
        if char in COMMAS:
            return self._leave_comma(i, n)
        if char not in "{[" and self._is_odd_after(i, char):
            return buffer.fail_ambiguous(i, "nothing after the end of the value")
        if char == '"' and buffer.base + i == buffer.token_end:
            self.in_quotes = False  # it closes what was opened right before the value
        self.enter("\n" if buffer.newline >= buffer.token_end else "}")
        return i

    def _leave_comma(self, i: i64, n: i64) -> i64:
        """Read a comma after a whole value: with more members behind it, the value ended too early."""
        buffer = self.buffer
        text = buffer.text
        end = buffer.limit(i, n)
        place = skip_comments(text, i + 1, end)
        if place == end:
            if buffer.is_end and end == n:
                buffer.mode = DONE
                return i + 1 if buffer.edit(i, i + 1, "", RepairKind.EXTRA_COMMA) else i
            return buffer.fail_held(i) if buffer.is_late(i, n) else buffer.wait(i)
        found = key_ahead(text, place, end, True)
        if found == NO and text[place] in "{[":
            found = container_begins(text, place, end, False, buffer.is_end and end == n)
            found = YES if found == NO else (NO if found == YES else WAIT)
        if found == YES or (found == WAIT and buffer.is_late(i, n)):
            return buffer.fail_ambiguous(i, "nothing after the end of the value")
        if found == WAIT and not buffer.is_end:
            return buffer.wait(i)
        self.enter("\n" if buffer.newline >= buffer.token_end else "}")
        return i

    def _is_odd_after(self, i: i64, char: str) -> bool:
        """Return whether this cannot follow a value, so that the value may have another end."""
        if not self.found or self.buffer.base + i != self.buffer.token_end:
            return False
        if char in '"`':  # unless it closes what was opened before the value
            return self.last_char != char and not (self.in_fence and char == "`")
        return char.isalnum() or char in "{[\\#/=+-" or char in COLONS

    def _leave_item(self, i: i64, n: i64) -> i64:
        """Read what follows an item of a list that only the schema asks for: another item on a line of its own."""
        buffer = self.buffer
        place: i64 = i
        if buffer.text[i] == ",":
            place = skip_spaces(buffer.text, i + 1, n)
            if place == n and not buffer.is_end:
                return buffer.wait(i)
        if place < n and buffer.text[place] == "{" and (place > i or buffer.newline >= buffer.token_end):
            if RepairKind.LINES not in buffer.kinds:
                return buffer.fail_at(i)
            if place == i and not buffer.edit(i, i, ",", RepairKind.LINES):
                return i
            buffer.mode = VALUE
            return place
        if buffer.edit(i, i, ARRAY, RepairKind.LIST):
            self.value.top = None
        return i

    def compare(self, i: i64, n: i64) -> i64:
        """Read another value, which must be the first one again."""
        buffer = self.buffer
        first = self.original.read()[self.first_start : self.value.first_end]
        rest = first[self.compared :]
        new = buffer.text[i : i + len(rest)]
        if not rest.startswith(new):
            place: i64 = 0
            while new[place] == rest[place]:
                place += 1
            if not buffer.drop(i, i + place, RepairKind.SECOND_VALUE):
                return i
            return buffer.fail_ambiguous(i + place, "the same value again")
        if not buffer.drop(i, i + len(new), RepairKind.SECOND_VALUE):
            return i
        self.compared += len(new)
        if len(new) == len(rest):
            self.enter("}")
            buffer.token_end = buffer.base + i + len(new)
        return i + len(new)

    def read(self, i: i64, n: i64) -> i64:
        text = self.buffer.text
        if self.at_start:
            while i < n and text[i] in " \t\r\n":
                self.in_line = self.in_line and text[i] != "\n"
                i += 1
            if i == n or text[i] not in "{[`~<":
                return n if i == n else self._read_first(i, n)
        place = _find_candidate(text, i)
        if place < 0:
            place = n
        if place > i:
            words = text[i:place]
            if self.in_quotes and self._closes_quote(i, words):
                return i
            if (self.aside or self.has_quote) and _ends_paragraph(words, self.last_char):
                self.aside = ""
                self.has_quote = self.has_quote and not self.found
            self._note_words(i, words)
            self.at_start = False
            if self.found or self.open_brackets:
                marks = '"' if self.found else _QUOTATION_MARKS
                self.has_quote = self.has_quote or any([mark in words for mark in marks])
            return place if self.buffer.drop(i, place, self.prose_kind) else i
        return self._read_mark(i, n)

    def _closes_quote(self, i: i64, words: str) -> bool:
        """Fail, and return `True`, if words after the value close a quotation that began before it, in one line."""
        line, newline, _ = words.partition("\n")
        mark: i64 = line.find('"')
        if mark >= 0 and self.buffer.drop(i, i + mark, self.prose_kind):
            self.buffer.fail_ambiguous(i + mark, "nothing after the end of the value")
        self.in_quotes = not newline
        return mark >= 0

    def _read_mark(self, i: i64, n: i64) -> i64:
        """Read what may begin a value, a fence or a tag, or be a bracket around words."""
        char = self.buffer.text[i]
        if char in "]}｝］)":
            return self._close_bracket(i)
        if char == "(":
            return self._open_parenthesis(i, n)
        if char == "<":
            found = self.find_html_comment(i, n)
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
        self.in_line = self.in_line and "\n" not in words
        if self.aside or self.open_brackets:
            self.open_quote = _find_open_quote(words, self.open_quote, before, self.found)

    def _read_first(self, i: i64, n: i64) -> i64:
        """Read a first character that opens neither a container nor a block: a scalar, a comment or prose."""
        buffer = self.buffer
        text = buffer.text
        char = text[i]
        if char in ODD_SPACES:
            return i + 1 if buffer.edit(i, i + 1, "", RepairKind.SPACE) else i
        if self.found:
            self.at_start = False
            return i
        if char == "/" and RepairKind.COMMENT in buffer.kinds:
            if i + 1 == n and not buffer.is_end:
                return buffer.wait(i)
            if text[i + 1 : i + 2] in ("/", "*"):
                return self.begin_comment(i, n)
        if not self.had_brackets and (char in '"-tfn' or char in "0123456789"):
            found = self._find_scalar(i, n)
            if found == WAIT:
                return buffer.wait(i)
            if found == YES:
                self.is_scalar = True
                return self._begin_value(i)
            if buffer.is_over:
                return i
        return self._read_first_word(i, n)

    def _find_scalar(self, i: i64, n: i64) -> i64:
        """Return whether the value is the scalar that begins at `i`; fail if it may be something else, broken off."""
        buffer = self.buffer
        end = buffer.limit(i, n)
        is_end = buffer.is_end and end == n
        found = scalar_ends(buffer.text, i, end, is_end)
        if found == WAIT and buffer.is_late(i, n):
            return YES
        if found == WAIT and not buffer.is_end:
            return WAIT
        if buffer.text[i] != '"':
            return YES if found == YES else NO
        if is_end and found != NO and _may_be_cell(buffer.text[i:].rstrip(), found == WAIT):
            buffer.fail_ambiguous(i, "more of the string, or of a cell of CSV that holds a value")
            return NO
        return NO if found == NO else YES

    def _read_first_word(self, i: i64, n: i64) -> i64:
        """Read what begins no value: words, or members of an object whose brace is not there."""
        buffer = self.buffer
        found = self._begins_member(i, n)
        if found == WAIT and not buffer.is_end and not buffer.is_late(i, n):
            return buffer.wait(i)
        if found == YES:
            self._note_skipped(i)
            self.open_brackets = _NO_CLOSER
            self.had_brackets = True
        self.at_start = False
        return i

    def _begins_member(self, i: i64, n: i64) -> i64:
        """Return whether a member is at `i`, of an object whose brace is missing; of a name, also its value is read."""
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
        buffer = self.buffer
        text = buffer.text
        end = buffer.limit(i, n)
        is_sure = self.at_start or self.last_char in "\n:：" or self.in_fence or _assigns(self.begun)
        is_end = buffer.is_end and end == n
        found = self._find_container(i, end, is_sure, is_end)
        if found == NO and text[i] == "[":
            tag = read_tag(text, i, end, is_end)
            if tag == UNDECIDED:
                return self._fail_late(i) if buffer.is_late(i, n) else buffer.wait(i)
            if tag > 0:
                self.at_start = True
                return tag if buffer.drop_whole(i, tag, RepairKind.TAG) else i
        if found == WAIT:
            if not buffer.is_end:
                if not buffer.is_late(i, n):
                    return buffer.wait(i)
                if not self.at_start:
                    return self._fail_late(i)
            found = self._take_cut_off(i, end, is_sure, is_end)
        if found == YES and not self.open_brackets and not self.aside:
            return self._begin_wanted(i)
        if found == NO and self._is_odd_after(i, text[i]):
            return buffer.fail_ambiguous(i, "nothing after the end of the value")
        self._open_aside(i, n, is_sure)
        return self._pass_opener(i)

    def _find_container(self, i: i64, end: i64, is_sure: bool, is_end: bool) -> i64:
        """Return whether a value begins at `i`; what may be in quotation marks begins with a key or an item."""
        text = self.buffer.text
        if text[i] == "[" and not self.at_start and (_is_word(self.buffer.before(i)) or self.buffer.before(i) in "])"):
            return NO  # an index
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
        buffer = self.buffer
        if not self.skipped:
            before = buffer.text[:i]
            line = buffer.line + before.count("\n")
            start = buffer.base + before.rfind("\n") + 1 if "\n" in before else buffer.line_start
            column = buffer.base + i - start + 1
            self.skipped = f"what begins with {name_character(buffer.text[i])} (line {line}, column {column})"

    def _open_parenthesis(self, i: i64, n: i64) -> i64:
        """Read a parenthesis: a value behind its first item may be part of a tuple, or an argument of a call."""
        buffer = self.buffer
        if self.open_brackets:
            self.open_brackets = (self.open_brackets + ")")[:_DEEPEST]
        elif self.aside:
            self.aside = (self.aside + ")")[:_DEEPEST]
        else:
            found = self._begins_items(i, n)
            if found == WAIT and not buffer.is_end and not buffer.is_late(i, n):
                return buffer.wait(i)
            if found == YES:
                self.open_quote = ""
                self.aside = ")"
        return self._pass_opener(i)

    def _begins_items(self, i: i64, n: i64) -> i64:
        """Return whether items begin in the parenthesis at `i`, and not the value or words."""
        text = self.buffer.text
        place = skip_spaces(text, i + 1, n)
        if place == n:
            return WAIT
        if text[place] in "{[":
            return NO
        if text[place] in "\"'" or text[place].isdigit() or _is_word(self.buffer.before(i)):
            return YES
        match = _NAMED_ITEM.match(text, place)
        return NO if match is None else (YES if match[1] else (WAIT if match.end() == n else NO))

    def _take_cut_off(self, i: i64, end: i64, is_sure: bool, is_end: bool) -> i64:
        """Return whether a value begins at `i`, if the text is too short, or the value too long, to see it."""
        buffer = self.buffer
        is_tag = is_end and buffer.text[i] == "[" and read_tag(buffer.text, i, end, False) == UNDECIDED
        if not is_sure or is_tag:
            return NO
        if not buffer.is_end:  # whether it is a value was not seen: anything else is an error from here on
            buffer.flushed = buffer.base + i
            buffer.token_end = buffer.flushed + 1
        return YES

    def _fail_late(self, i: i64) -> i64:
        """Fail because more would have to be held to see whether a value begins at `i`."""
        buffer = self.buffer
        buffer.hold_at(i, buffer.mode)
        return buffer.fail_held(i)

    def _open_aside(self, i: i64, n: i64, is_sure: bool) -> None:
        """Note that words in brackets begin: a value inside of them may be part of one that could not be read."""
        buffer = self.buffer
        closer = _CLOSERS[buffer.text[i]]
        self._note_skipped(i)
        if not self.aside and not self.open_brackets:
            self.open_quote = ""
        if is_sure or self.open_brackets:
            self.open_brackets = (self.open_brackets + closer)[:_DEEPEST]
            self.had_brackets = True
            return
        place = skip_spaces(buffer.text, i + 1, n)
        before = buffer.before(i)
        is_smiley = before in "-;=" or buffer.text.startswith(".", place)
        if self.aside or (not is_smiley and (place == n or begins_value(buffer.text[place]))):
            self.aside = (self.aside + closer)[:_DEEPEST]

    def _close_bracket(self, i: i64) -> i64:
        buffer = self.buffer
        closer = buffer.text[i]
        if self.open_quote:
            pass  # it may be part of a string
        elif self.aside.endswith(closer):
            self.aside = self.aside[:-1]
        elif self.open_brackets.endswith(closer) and len(self.open_brackets) < _DEEPEST:
            self.open_brackets = self.open_brackets[:-1]
        elif self.found and self.has_quote and closer != ")":
            return buffer.fail_ambiguous(i, "nothing after the end of the value")
        self.last_char = closer
        self.begun = _begin_line(closer, self.begun)
        self.at_start = False
        return i + 1 if buffer.drop(i, i + 1, self.prose_kind) else i

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

    def _is_in_cell(self, i: i64) -> bool:
        """Return whether the value at `i` may be inside a cell of CSV: its marks are doubled, with others before."""
        text = self.buffer.text
        if self.last_char == '"' or not (self.line_marks or self.has_quote):
            return False
        end = self.buffer.limit(i, len(text))
        while i < end and text[i] in "[{":
            i = skip_spaces(text, i + 1, end)
        is_doubled = text.startswith(DOUBLED, i) and i + 2 < end
        return is_doubled and text[i + 2] not in SPACES and text[i + 2] not in AFTER_STRING

    def _begin_value(self, i: i64) -> i64:
        if not self.found:
            return self._begin_first(i)
        buffer = self.buffer
        if buffer.is_truncated or self._is_early_end(i):
            return buffer.fail_ambiguous(i, "nothing after a value that was not complete")
        if self.in_quotes:
            return buffer.fail_ambiguous(i, "nothing after the end of the value")
        if self.has_quote and (self.last_char in COLONS or buffer.end_before(i)[:1] in COMMAS):
            return buffer.fail_ambiguous(i, "nothing after the end of the value")
        several = buffer.mending.values
        if several == "first":
            buffer.mode = SKIPPING
            self.until = ""
            self.skip_kind = RepairKind.SECOND_VALUE
        elif several == "one":
            buffer.flush_drop()
            buffer.mode = COMPARING
            self.compared = 0
        else:
            buffer.flush_drop()
            buffer.copy_to(i)
            if buffer.newline >= buffer.token_end or buffer.edit(i, i, "\n", RepairKind.SECOND_VALUE):
                buffer.mode = VALUE
        return i

    def _begin_first(self, i: i64) -> i64:
        buffer = self.buffer
        if (self.had_brackets and self.has_quote) or self._is_in_cell(i):
            return buffer.fail_ambiguous(i, "no value after brackets that may be one")
        self.had_brackets = self.had_brackets or _INSIDE.search(buffer.drop_text) is not None
        buffer.flush_drop()
        self.open_brackets = self.aside = ""
        self.prose_kind = RepairKind.PROSE
        self.found = True
        self.in_quotes = self.line_marks % 2 == 1
        self.first_start = buffer.base + i
        if not self.is_scalar:
            is_in_quotes = self.last_char == '"'
            wrapping = find_wrapping(buffer.text, i, buffer.limit(i, len(buffer.text)), is_in_quotes)
            self.strings.may_be_doubled = wrapping == EMPTY_KEY
            if is_in_quotes and wrapping == EMPTY_KEY:
                return buffer.fail_ambiguous(i, "a first key that is not empty")
            self.strings.wrapping = wrapping if wrapping in (DOUBLED, ESCAPED) else ""
        buffer.mode = VALUE
        return i

    def _is_early_end(self, i: i64) -> bool:
        """Return whether a value right behind the first one may be part of it: that one ended after a comma."""
        buffer = self.buffer
        return (
            buffer.base + i == buffer.token_end
            and buffer.repair_count > 0
            and buffer.repairs[buffer.repair_count - 1].kind is RepairKind.TRAILING_COMMA
        )

    def _read_fence(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        text = buffer.text
        end = buffer.limit(i, n)
        is_last = buffer.is_end and end == n
        after = read_fence(text, i, end, is_last)
        is_closing = self.found and not self.in_fence  # what none has opened, and a quotation mark may follow
        if after == UNDECIDED or (is_closing and after == end and not is_last):
            return self._fail_late(i) if buffer.is_late(i, n) else buffer.wait(i)
        is_quoted = self.line_marks % 2 == 1 or buffer.before(i) == '"'
        if after == MISSING or (self.last_char != "\n" and (is_quoted or self.open_brackets)):
            self.last_char = text[i]
            return i + 1 if buffer.drop(i, i + 1, RepairKind.PROSE) else i
        if self.found and ('"' in text[i:after] or (not self.in_fence and text.startswith('"', after))):
            return buffer.fail_ambiguous(i, "nothing after the end of the value")
        if not buffer.drop_whole(i, after, RepairKind.FENCE):
            return i
        self.in_line = self.in_line and "\n" not in text[i:after]
        if self.last_char == "\n":  # else it may be part of a string
            self.open_brackets = self.aside = ""
            if not self.in_fence and is_json_info(fence_info(text, i, end)):
                self.had_brackets = False
                self.has_quote = self.has_quote and self.found
        self._forget_line()
        self.in_fence = not self.in_fence
        self.at_start = True
        if self.in_fence and not is_json_info(fence_info(text, i, end)):
            buffer.mode = SKIPPING
            self.until = text[i] * 3
            self.skip_kind = RepairKind.CODE_BLOCK
        return after

    def _read_tag(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        text = buffer.text
        end = buffer.limit(i, n)
        after = read_tag(text, i, end, buffer.is_end and end == n)
        if after == UNDECIDED:
            return self._fail_late(i) if buffer.is_late(i, n) else buffer.wait(i)
        if after == MISSING or (self.open_brackets and self.last_char != "\n"):
            self.last_char = text[i]
            self.at_start = False
            return i + 1 if buffer.drop(i, i + 1, RepairKind.PROSE) else i
        name = thinking_name(text[i:after])
        if name.startswith("/"):
            if self.found:
                return buffer.fail_ambiguous(i, "no end of thinking after the value")
            if not buffer.drop_whole(i, after, RepairKind.THINKING):
                return i
        elif name:
            if not buffer.drop(i, after, RepairKind.THINKING):
                return i
            buffer.mode = SKIPPING
            self.until = f"</{name}>"
            self.skip_kind = RepairKind.THINKING
            return after
        elif not buffer.drop_whole(i, after, RepairKind.TAG):
            return i
        marks: i64 = 0 if self.last_char == "\n" else self.line_marks
        self._forget_line()
        self.at_start = True
        if marks:  # it may be in a quoted scalar
            self.at_start = False
            self.line_marks = marks
            self.last_char = ">"
        return after

    def _forget_line(self) -> None:
        """Forget the words of the line: what follows is as good as in a new one."""
        self.last_char = "\n"
        self.begun = ""
        self.line_marks = 0

    def skip(self, i: i64, n: i64) -> i64:
        """Leave out a block, or all that is left."""
        buffer = self.buffer
        kind = self.skip_kind
        until = self.until
        if kind is RepairKind.CODE_BLOCK and self.at_start:
            return self._enter_block(i, n)
        end: i64 = buffer.text.find(until, i) if until else MISSING
        if end < 0:
            end = n if buffer.is_end or not until else max(n - len(until) + 1, i)
            if self.in_line and not buffer.is_end and ends_in_escape(buffer.text, i, end):
                end -= 1
            if self._hides_end(i, end) or not buffer.drop(i, end, kind) or end == n:
                return end
            return buffer.wait(end)
        if self._hides_end(i, end):
            return end
        if kind is not RepairKind.CODE_BLOCK:
            end += len(until)
        if buffer.drop_whole(i, end, kind):
            buffer.mode = OUTSIDE
            if kind is not RepairKind.COMMENT:
                self.at_start = True
                self._forget_line()
        return end

    def _hides_end(self, i: i64, end: i64) -> bool:
        """Fail, and return `True`, if the line in which the value ended is over, with a mark that has no pair.

        The value may have ended in a string that has lost a backslash: then one mark is left, where that string ends.
        What is left out from `i` to `end` is not read, so nothing else would show it.
        """
        if not self.in_line:
            return False
        buffer = self.buffer
        newline: i64 = buffer.text.find("\n", i, end)
        self.line_marks += count_marks(buffer.text, i, end if newline < 0 else newline)
        if newline < 0:
            return False
        is_hidden = self.has_odd_mark()
        self.in_line = False
        if is_hidden and buffer.drop(i, newline, self.skip_kind):
            buffer.fail_ambiguous(newline, "nothing after the end of the value")
        return is_hidden

    def has_odd_mark(self) -> bool:
        """Return whether a quotation mark after the value, in the line in which it ended, has no pair."""
        return self.in_line and (self.line_marks + self.in_quotes) % 2 == 1

    def _enter_block(self, i: i64, n: i64) -> i64:
        """Read the beginning of a code block in another language: models put JSON there too."""
        buffer = self.buffer
        text = buffer.text
        end = buffer.limit(i, n)
        place = skip_comments(text, i, end)
        found: i64 = WAIT
        if place < end:
            found = NO
            is_end = buffer.is_end and end == n
            if text[place] in '"-tfn0123456789':
                found = scalar_ends(text, place, end, is_end)
            else:
                found = container_begins(text, place, end, True, is_end)
        if found == WAIT and not buffer.is_end:
            return self._fail_late(i) if buffer.is_late(i, n) else buffer.wait(i)
        if found == YES:
            buffer.mode = OUTSIDE
            return i
        self.at_start = False
        if place < end and text[place] in "{[":  # it may be the value all the same
            self._note_skipped(place)
            self.had_brackets = self.has_quote = True
        return i

    def begin_comment(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        before = buffer.before(i)
        if buffer.mode == COLON and (before.isalnum() or before in "_$"):
            return buffer.fail_at(i)  # it may belong to the key, which has lost a quotation mark
        mode: i64 = LINE_COMMENT
        end: i64 = i + 1
        self.until = "*/"
        if buffer.text[i] == "<":
            mode = BLOCK_COMMENT
            end += 3
            self.until = "-->"
        elif buffer.text[i] == "/":
            if end == n:
                return buffer.fail_at(i) if buffer.is_end else buffer.wait(i)
            if buffer.text[end] == "*":
                mode = BLOCK_COMMENT
            elif buffer.text[end] != "/":
                return buffer.fail_at(i)
            end += 1
        if buffer.flushed >= 0 or (buffer.hold >= 0 and i - buffer.hold > buffer.max_held):
            return buffer.fail_held(i)
        if not buffer.drop(i, end, RepairKind.COMMENT):
            return i
        self.has_mark = False
        self.resume = buffer.mode
        buffer.mode = mode
        return end

    def read_comment(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        is_line = buffer.mode == LINE_COMMENT
        until = "\n" if is_line else self.until
        end: i64 = buffer.text.find(until, i)
        if not self.has_mark and self._may_hide_end(i, n if end < 0 else end, n):
            return i
        if end < 0:
            keep: i64 = n
            if not is_line and not buffer.is_end:
                keep = n - len(until) + 1
                while keep < i or (keep < n and not until.startswith(buffer.text[keep:n])):
                    keep += 1
            if keep > i and not buffer.drop(i, keep, RepairKind.COMMENT):
                return i
            return n if keep == n else buffer.wait(keep)
        end += 0 if is_line else len(until)
        if buffer.drop_whole(i, end, RepairKind.COMMENT):
            buffer.mode = self.resume
        return end

    def _may_hide_end(self, i: i64, end: i64, n: i64) -> bool:
        """Wait or fail, and return `True`, if a string may end in the comment from `i` to `end`.

        A string that has lost a quotation mark, or has one too many, may be what looks like a comment: its first mark
        is followed by what follows a string.
        """
        buffer = self.buffer
        text = buffer.text
        mark: i64 = text.find('"', i, end)
        while mark >= 0:
            after = mark + 1
            while after < n and (text[after] == '"' or text[after] in BLANKS):
                after += 1
            if after == n or text[after] in AFTER_STRING or (text[after] == "\n" and buffer.mode == LINE_COMMENT):
                if buffer.drop(i, mark, RepairKind.COMMENT):
                    if after < n or buffer.is_end or buffer.is_late(mark, n):
                        buffer.fail_ambiguous(mark, "a comment in which no string may end")
                    else:
                        buffer.wait(mark)
                return True
            if buffer.before(mark) != "\\":
                self.has_mark = True
                return False
            mark = text.find('"', mark + 1, end)
        return False

    def find_html_comment(self, i: i64, n: i64) -> i64:
        """Return whether `<!--` is at `i`, unless comments are not left out."""
        buffer = self.buffer
        if RepairKind.COMMENT not in buffer.kinds or not "<!--".startswith(buffer.text[i : i + 4]):
            return NO
        return YES if i + 4 <= n else (NO if buffer.is_end else WAIT)


def _may_be_cell(text: str, is_open: bool) -> bool:
    """Return whether a string at the end of a text may be the beginning of JSON in a cell of CSV.

    What is strict is a string, and so is what has escapes: a cell doubles its quotation marks instead.
    """
    inside = text[1:].lstrip()
    if not inside:
        return is_open
    is_odd = is_open or (text[-1] == '"' and any([char < " " for char in text]))
    return inside[0] in "[{" and "\\" not in text and is_odd


def _is_word(char: str) -> bool:
    """Return whether a bracket right after this character is an index, or the arguments of a call."""
    return char.isascii() and (char.isalnum() or char == "_")


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


def _find_open_quote(text: str, quote: str, before: str, is_after_value: bool) -> str:
    """Return the quotation mark that is open after a text in brackets; `quote` is the one before, if any.

    An apostrophe begins no quotation after a letter, and none goes on in the next line; but after a value, a `"`
    without a pair may be the end of a string. One that is escaped ends with another that is, and with no other.
    """
    for char in text:
        mark = "\\" + char if before == "\\" else char
        if mark == quote or (char == "\n" and not (is_after_value and quote == '"')):
            quote = ""
        elif not quote and (char == '"' or (char == "'" and not before.isalnum())):
            quote = mark
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
