"""A quotation mark inside a string in, whether it ends the string out.

Models forget to escape quotation marks, so the one that ends a string is known only by what follows it.
In JSON the first one ends the string: that reading is taken if the next token fits.
After a mark that turned out to be text, more is asked for: the rest of the structure up to the next key must fit, and
the marks inside must come in pairs; if they do not, any of them may be the last, and the text is refused.

Rule: as in `_look`, an answer other than `WAIT` is final.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide.mend._look import (
    CLOSING,
    COLONS,
    COMMAS,
    LITERALS,
    NO,
    SEMICOLONS,
    SPACES,
    WAIT,
    YES,
    begins_value,
    colon_ahead,
    decode_key,
    equals_ahead,
    key_ahead,
    loose_key_end,
    number_end,
    skip_comments,
    skip_prefix,
    word_end,
)
from jsontide.mend._value import OBJECT, Frame
from jsontide.mend.options import RepairKind

if TYPE_CHECKING:
    from mypy_extensions import i64

CONTENT: Final = 0
END: Final = 1
# WAIT is 2, as in `_look`
AMBIGUOUS: Final = 3
JOINED: Final = 4  # the string goes on after a plus sign

_MARKS: Final = "".join(CLOSING)
APOSTROPHES: Final = "'’"
_OPENS_AFTER: Final = SPACES + "([{<>=,;:/|-–—“‘«「"
_CLOSES_BEFORE: Final = SPACES + ".,;:!?)]}<>/|-–—…”’»」，。；：！？、）"


class Tally:
    """The quotation marks in a string that turned out to be text; immutable."""

    __slots__ = ("has_key", "is_alone", "marks", "opened")

    def __init__(self, marks: i64 = 0, opened: i64 = 0, is_alone: bool = False, has_key: bool = False) -> None:
        self.marks: i64 = marks
        self.opened: i64 = opened  # those that look like the first of a pair, without the second
        self.is_alone: bool = is_alone  # whether one of them looks like the second, without the first
        self.has_key: bool = has_key  # whether a colon follows one, as it follows a key

    def __reduce__(self) -> tuple[type[Tally], tuple[int, int, bool, bool]]:
        return Tally, (self.marks, self.opened, self.is_alone, self.has_key)

    @property
    def is_balanced(self) -> bool:
        """Whether all marks come in pairs."""
        return self.opened == 0 and not self.is_alone

    def add(self, before: str, after: str, mark: str, in_array: bool) -> Tally:
        """Return the tally after one more mark, between the text from the last word on and that up to the next."""
        beside, solid = after[:1], before[:1]
        last_solid = before.rstrip(SPACES)[-1:]
        before = before[-1:]
        if mark != '"' and before.isalnum() and beside.isalnum():
            return self  # an apostrophe
        is_plural = before == "s" and after[:1] == " " and after[-1:].isalpha()
        if mark in APOSTROPHES and is_plural and not self.opened and not in_array:
            return self  # one after more than one owner
        has_key = self.has_key or after[-1:] in COLONS
        is_pair = self.opened == 0 and beside == mark
        if in_array and (is_pair or after[-1:] in COMMAS or self._begins_item(solid, before, beside)):
            return Tally(self.marks + 1, self.opened, True, has_key)  # perhaps between two items
        opens = not before or before in _OPENS_AFTER
        closes = not beside or beside in _CLOSES_BEFORE or beside in CLOSING
        if opens and not (closes and self.opened):
            is_end = after != "" and after[-1] in COMMAS  # no quoted words begin there
            return Tally(self.marks + 1, self.opened + 1, self.is_alone or is_end, has_key)
        if self.opened:
            is_apart = before in SPACES and solid in COMMAS + COLONS
            is_begin = before != "" and (
                is_apart or (last_solid != "" and last_solid in "[{(")
            )  # no quoted words end there
            return Tally(self.marks + 1, self.opened - 1, self.is_alone or is_begin, has_key)
        if closes:
            return Tally(self.marks + 1, 0, True, has_key)
        return Tally(self.marks + 1, 1, self.is_alone, has_key)

    def _begins_item(self, solid: str, before: str, beside: str) -> bool:
        """Return whether a mark after a comma may begin the next item: quoted words begin there, but do not end."""
        if not solid or solid not in COMMAS:
            return False
        is_odd = beside != "" and beside not in SPACES and not beside.isalnum()
        return self.marks == 0 or (self.opened > 0 and (before in SPACES or is_odd))


NO_MARKS: Final = Tally()


class Mark:
    """A quotation mark, and the facts that decide about it."""

    __slots__ = (
        "end",
        "equals",
        "frame",
        "is_end",
        "is_key",
        "is_known",
        "kinds",
        "opens_json",
        "place",
        "tally",
        "text",
    )

    def __init__(
        self,
        text: str,
        place: i64,
        end: i64,
        is_end: bool,
        is_key: bool,
        frame: Frame,
        tally: Tally,
        kinds: frozenset[RepairKind],
        opens_json: bool,
        equals: bool,
    ) -> None:
        self.text: str = text
        self.place: i64 = place
        self.end: i64 = end
        self.is_end: bool = is_end
        self.is_key: bool = is_key
        self.frame: Frame = frame
        self.tally: Tally = tally
        self.kinds: frozenset[RepairKind] = kinds
        self.opens_json: bool = opens_json  # whether the string begins like JSON
        self.equals: bool = equals  # whether an equals sign may follow keys
        self.is_known: bool = False  # whether the schema knows the key that follows

    def judge(self) -> i64:
        """Return `END`, `CONTENT`, `WAIT`, `AMBIGUOUS` or `JOINED`."""
        i: i64 = skip_comments(self.text, self.place + 1, self.end)
        if i == self.end:
            if not self.is_end:
                return WAIT
            return END if self.tally.is_balanced else AMBIGUOUS
        if self.tally.marks:
            return self._judge_again(i)
        if self.is_key:
            return self._judge_key(i)
        return self._judge_member(i) if self.frame.closer == OBJECT else self._judge_item(i)

    def _wait(self, otherwise: i64) -> i64:
        return otherwise if self.is_end else WAIT

    def _judge_key(self, i: i64) -> i64:
        char = self.text[i]
        if char in COLONS:
            return END
        if char == "=":
            is_empty = self.place > 0 and self.text[self.place - 1] == '"'  # its marks may be one, doubled
            return AMBIGUOUS if is_empty else self._as_end(equals_ahead(self.text, i, self.end))
        if self.text[self.place] == "“":
            return CONTENT  # it may begin quoted words, and not end the key
        if self.text[self.place] == "”":
            return AMBIGUOUS  # it may end quoted words, and not the key
        is_apart = i > self.place + 1
        if RepairKind.MISSING_COLON in self.kinds and ((is_apart and begins_value(char)) or char in "{["):
            return END
        return CONTENT

    def _judge_member(self, i: i64) -> i64:
        text, char = self.text, self.text[i]
        if char == OBJECT:
            return END
        if char in COMMAS:
            i = self._after_commas(i)
            if i == self.end:
                return self._wait(END)
            if text[i] == '"' or text[i] in OBJECT + ".…":
                return END
            if self._may_break_off(i):
                return self._judge_rest(i)
            return self._judge_name(i)
        if char == "+" or char in SEMICOLONS:
            return self._judge_plus(i) if char == "+" else self._judge_semicolon(i)
        if RepairKind.MISSING_COMMA not in self.kinds:
            return self._judge_rest(i)
        if char in CLOSING and i > self.place + 1 and char != "`":
            found = key_ahead(text, i, self.end, False)
            return AMBIGUOUS if found == NO or (found == WAIT and self.is_end) else self._as_end(found)
        if "\n" in text[self.place : i] and key_ahead(text, i, self.end, True) != NO:
            return self._as_end(key_ahead(text, i, self.end, True))
        return self._judge_rest(i)

    def _judge_semicolon(self, i: i64) -> i64:
        """Judge by what follows the semicolon: another member, the end of the object, or text."""
        i = skip_comments(self.text, i + 1, self.end)
        if i == self.end:
            return self._wait(CONTENT)
        if self.text[i] == OBJECT:
            return END
        return self._as_end(self._key_ahead(i))

    def _key_ahead(self, i: i64) -> i64:
        """Return whether a key is at `i`, and its colon, or an equals sign if keys have them."""
        found = key_ahead(self.text, i, self.end, True)
        if found != NO or not self.equals:
            return found
        after = loose_key_end(self.text, i, self.end, False)
        return YES if after >= 0 else (NO if after == -1 else WAIT)

    def _judge_name(self, i: i64) -> i64:
        """Judge by what follows the comma: a key without marks, or text."""
        found = self._key_ahead(i)
        if found == NO and "\n" in self.text[self.place : i]:
            return AMBIGUOUS  # a line that ends in a mark and a comma, before one that begins no member
        return self._wait(END) if found == WAIT else self._as_end(found)

    def _judge_item(self, i: i64) -> i64:
        text, char = self.text, self.text[i]
        if char == self.frame.closer:
            return END
        if char in COMMAS:
            i = self._after_commas(i)
            if i == self.end:
                return self._wait(END)
            return self._as_end(self._item_ahead(i))
        if char == "+":
            return self._judge_plus(i)
        if RepairKind.MISSING_COMMA not in self.kinds or char == "`":
            return self._judge_rest(i)
        if "\n" in text[self.place : i]:
            found = self._item_ahead(i)
            return self._as_end(found) if found != NO else self._judge_rest(i)
        if i > self.place + 1 and (char in CLOSING or char in "{[" or char.isdigit()):
            return AMBIGUOUS
        if char == "-":
            if i + 1 == self.end:
                return self._wait(CONTENT)
            return AMBIGUOUS if text[i + 1].isdigit() else CONTENT
        return self._judge_rest(i)

    def _may_break_off(self, i: i64) -> bool:
        """Return whether a fence or a tag may be at `i`, and not a key in backticks."""
        begun = self.text[i : min(i + 3, self.end)]
        return begun[0] == "<" or begun == "```" or (i + len(begun) == self.end and begun == "`" * len(begun))

    def _judge_rest(self, i: i64) -> i64:
        """Judge by what may follow a string wherever it is: the text breaks off, with a mark or a tag."""
        text, char = self.text, self.text[i]
        if char == "`":
            if self.end - i < 3 and text[i : self.end] == "```"[: self.end - i]:
                return self._wait(CONTENT)
            return END if text.startswith("```", i) else CONTENT
        if char == "<":
            if i + 1 == self.end:
                return self._wait(CONTENT)
            return END if text[i + 1] in "/|｜" else CONTENT
        return CONTENT

    def _judge_plus(self, i: i64) -> i64:
        if RepairKind.CONCATENATION not in self.kinds or not self.tally.is_balanced:
            return CONTENT
        plus: i64 = i
        i = skip_comments(self.text, i + 1, self.end)
        if i == self.end:
            return self._wait(CONTENT)
        if self.text[i] not in "\"'":
            return CONTENT
        return AMBIGUOUS if '"' in self.text[plus:i] else JOINED  # the strings may end in a comment

    def _judge_again(self, i: i64) -> i64:
        """Judge a mark after others that were text: `AMBIGUOUS` if it may be the end, but they are not in pairs."""
        text, char = self.text, self.text[i]
        found: i64 = NO
        if self.is_key:
            if char in COLONS:
                i = skip_comments(text, i + 1, self.end)
                found = self._unless_end(i) if i == self.end else begins_value(text[i])
        elif char in COMMAS:
            found = self._token_after_commas(self._after_commas(i), self.frame)
        elif char == self.frame.closer:
            found = self._closers_ahead(i)
        elif char == "+":
            return self._judge_plus(i)
        elif "\n" in text[self.place : i] and RepairKind.MISSING_COMMA in self.kinds and char != "`":
            found = key_ahead(text, i, self.end, True) if self.frame.closer == OBJECT else self._item_ahead(i)
        else:
            found = self._judge_rest(i)
        if found == WAIT and self.is_end:
            found = YES if self.tally.is_balanced else NO
        tally = self.tally
        is_clear = tally.is_balanced and not (tally.has_key and not self.opens_json)
        is_known = self.is_known and tally.opened == 0 and not tally.has_key
        if found == YES and not is_clear and not is_known:
            return AMBIGUOUS
        return self._as_end(found)

    def _as_end(self, found: i64) -> i64:
        if found == WAIT:
            return self._wait(CONTENT)
        return END if found == YES else CONTENT

    def _unless_end(self, i: i64) -> i64:
        return YES if self.is_end and i == self.end else WAIT

    def _after_commas(self, i: i64) -> i64:
        while i < self.end and self.text[i] in COMMAS:
            i = skip_comments(self.text, i + 1, self.end)
        return i

    def _item_ahead(self, i: i64) -> i64:
        """Return whether an item of an array begins at `i`, or the array ends there."""
        text, char = self.text, self.text[i]
        if char in "{[(.…" or char in CLOSING or char == self.frame.closer:
            return YES
        if skip_prefix(text, i, self.end) > i:
            return YES
        if char in "+-" or char.isdigit():
            after = number_end(text, i, self.end)
            if after == self.end:
                return self._unless_end(after)
            after = skip_comments(text, after, self.end)
            if after == self.end:
                return self._unless_end(after)
            return YES if text[after] in COMMAS or text[after] == self.frame.closer or "\n" in text[i:after] else NO
        after = word_end(text, i, self.end)
        if after == self.end:
            return self._unless_end(after)
        return YES if text[i:after] in LITERALS else NO

    def _token_after_commas(self, i: i64, frame: Frame) -> i64:
        if i == self.end:
            return self._unless_end(i)
        if self.text[i] == frame.closer:
            return self._closers_ahead(i) if frame is self.frame else YES
        if self._may_break_off(i):
            return self._judge_rest(i)
        if frame.closer != OBJECT:
            return self._item_ahead(i) if frame is self.frame else begins_value(self.text[i])
        colon = colon_ahead(self.text, i, self.end, True)
        if colon < 0:
            return NO if colon == -1 else WAIT
        shape = frame.shape
        if shape is not None and shape.has_keys and frame is self.frame:
            key = decode_key(self.text[i:colon].strip(SPACES + _MARKS))
            is_known = shape.knows(key)
            if shape.is_closed and not is_known:
                return NO
            self.is_known = is_known and not frame.has_seen(key)
        i = skip_comments(self.text, colon + 1, self.end)
        return self._unless_end(i) if i == self.end else begins_value(self.text[i])

    def _closers_ahead(self, i: i64) -> i64:
        """Return whether what follows the closing bracket at `i` fits the containers that are open."""
        frame: Frame | None = self.frame
        while frame is not None:
            if self.text[i] == frame.closer:
                frame = frame.parent
                i = skip_comments(self.text, i + 1, self.end)
                if i == self.end:
                    return self._unless_end(i)
            elif self.text[i] in COMMAS:
                return self._token_after_commas(self._after_commas(i), frame)
            else:
                return NO
        return NO if self.text[i] in '",:' else YES
