"""Text as models write it in, strict JSON text and a list of repairs out, chunk by chunk.

Nearly all text is clean. The interpreter reads clean text inside a value in one step, by one pattern for each place,
which takes the whole text or nothing, and only what the parts would read without an edit or an ambiguity.
Compiled, the parts are faster than a pattern.

Rule: what was returned never changes, and nothing is read twice but what is held.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from jsontide._build import COMPILED
from jsontide._errors import Reason
from jsontide.mend._buffer import BLOCK_COMMENT, COMPARING, LEAVING, LINE_COMMENT, OUTSIDE, SKIPPING, Buffer, wanted_in
from jsontide.mend._inside import Inside
from jsontide.mend._outside import Outside
from jsontide.mend._quotes import NO_MARKS
from jsontide.mend._strings import NEWLINE, ODD_MARKS, Strings
from jsontide.mend._value import ARRAY, OBJECT, OpenValue, closers_of, written_frame
from jsontide.mend.options import Mending, Repair, RepairKind
from jsontide.text import modes
from jsontide.text.grammar import END_OF_TEXT
from jsontide.text.modes import AFTER_ITEM, AFTER_MEMBER, KEY_OR_END, KEY_TEXT, STRING
from jsontide.text.strings import plain_end

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide.mend.shape import Shape

Kept: TypeAlias = tuple[tuple[Any, ...], ...]
"""What each part knows between two chunks, as its constructor takes it."""
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

_SPACES: Final = " \n\r\t"
_S: Final = rf"[{_SPACES}]*+"
_KEY: Final = r'"[^"\\\x00-\x1f]*+'
_ESCAPE: Final = r"\\(?:[\\/]|[bfnrt](?=[\W\d_])|u(?![dD][89abAB])[0-9a-fA-F]{4})"
"""An escape that is certainly meant as one, in any string."""
_TEXT: Final = rf'(?:[^"\\\x00-\x1f]++|{_ESCAPE})*+'
_STRING_END: Final = rf'{_TEXT}"(?=,{_S}")'
_SCALAR: Final = (
    rf"(?:(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null)(?=[,{_SPACES}])"
    rf'|"{_STRING_END})'
)
_LAST: Final = rf'(?:[-0-9][-+.0-9eE]*+|[tfn][a-z]*+|"({_TEXT})("{_S},?{_S})?)?'
"""The beginning of a scalar: the text of a string is certain, its end and anything else is not."""
_LAST_KEY: Final = rf'{_KEY}(?:"{_S}(?::{_S}{_LAST})?)?'
_MEMBER: Final = rf'{_KEY}"{_S}:{_S}{_SCALAR}'
_MORE_MEMBERS: Final = rf"(?:,{_S}{_MEMBER})*+{_S}(,{_S}(?:{_LAST_KEY})?)?\Z"
_MORE_ITEMS: Final = rf'(?:,{_S}(?!""){_SCALAR})*+{_S}(,{_S}{_LAST})?\Z'

_MORE_TEXT: Final = re.compile(rf"({_TEXT})(?:\\(?:u[0-9a-fA-F]{{0,3}})?)?\Z")
"""More of a string; an escape may be cut off at its end."""
_FIRST_KEY: Final = re.compile(rf"{_S}({_LAST_KEY})?\Z")
_FIRST_MEMBERS: Final = re.compile(rf"{_S}{_MEMBER}{_MORE_MEMBERS}")
_MEMBERS: Final = re.compile(_MORE_MEMBERS)
_ITEMS: Final = re.compile(_MORE_ITEMS)
_STRING_IN_OBJECT: Final = re.compile(_STRING_END + _MORE_MEMBERS)
_STRING_IN_ARRAY: Final = re.compile(_STRING_END + _MORE_ITEMS)


class Mender:
    """Mends one text: knows which part reads next."""

    __slots__ = ("_kept_outside", "buffer", "inside", "keeps_text", "last_kept", "outside", "strings", "value")

    def __init__(self, kept: Kept) -> None:
        of_buffer, of_value, of_strings, of_outside = kept
        buffer = self.buffer = Buffer(*of_buffer)
        value = self.value = OpenValue(buffer, *of_value)
        strings = self.strings = Strings(buffer, value, *of_strings)
        self.outside = Outside(buffer, value, strings, *of_outside)
        self.inside = Inside(buffer, value, strings, self.outside)
        self.keeps_text: bool = buffer.mending.values == "one"
        self._kept_outside: tuple[Any, ...] | None = of_outside  # as long as it has not changed
        self.last_kept: Kept | None = kept  # as long as nothing has been read since

    def keep(self) -> Kept:
        """Return the state between two chunks; nothing in it changes in place."""
        kept = self.last_kept
        if kept is None:
            kept = self.last_kept = self._gather()
        return kept

    def _gather(self) -> Kept:
        """Return the same, made anew; written in place, the compiler makes a tuple of it for each use."""
        of_outside = self._kept_outside
        if of_outside is None:
            of_outside = self._kept_outside = self.outside.kept()
        return self.buffer.kept(), self.value.kept(), self.strings.kept(), of_outside

    def feed(self, chunk: str) -> str:
        """Read a chunk; return what is certain of the strict text."""
        buffer, strings = self.buffer, self.strings
        if buffer.is_over or not chunk:
            return ""
        self.last_kept = None
        if self.keeps_text:
            self._keep_text(chunk)
        text = buffer.text + chunk if buffer.text else chunk
        if (
            buffer.mode == STRING
            and strings.quote == '"'
            and strings.escape_end != buffer.base
            and self.value.shape is None
        ):
            end = self._end_of_more(text)
            if end:
                if strings.start == buffer.base:
                    strings.opens_json = text[0] in "{["
                certain = text[:end]
                buffer.recent = buffer.recent.rstrip()[-1:] + certain[-1] if certain.isspace() else certain
                buffer.base += end
                buffer.text = text[end:]
                return certain
        if (
            not COMPILED
            and self.value.shape is None
            and not strings.may_be_doubled
            and buffer.flushed < 0
            and buffer.added_colon < 0
            and buffer.drop_kind is None
            and len(text) <= buffer.max_held
        ):
            match = self._match_clean(text)
            if match is not None:
                return self._take_clean(text, match)
        buffer.text = text
        return self._run(False)

    def _end_of_more(self, text: str) -> i64:
        """Return up to where text is certainly more of the open string, if it has nothing else than that."""
        if COMPILED:
            return len(text) if plain_end(text, 0) == len(text) else 0
        if '"' in text:
            return 0
        if "\\" not in text and text.isprintable():
            return len(text)
        match = _MORE_TEXT.match(text)
        return 0 if match is None or len(text) > self.buffer.max_held else match.end(1)

    def _keep_text(self, chunk: str) -> None:
        self.outside.original = self.outside.original.append(chunk)
        self._kept_outside = None

    def finish(self) -> str:
        """Read the end of the text; return the rest of the strict text, with what closes it."""
        buffer, outside = self.buffer, self.outside
        if buffer.is_over:
            return ""
        self.last_kept = None
        text = self._run(True)
        if buffer.is_over:
            return text
        buffer.flush_drop()
        buffer.is_over = True
        end: i64 = buffer.base
        if not outside.found:
            besides = f" besides {outside.skipped}, which reads like prose" if outside.skipped else ""
            buffer.fail(Reason.UNEXPECTED_END, f"a value{besides}", END_OF_TEXT, end)
        elif buffer.mode == COMPARING:
            buffer.fail(Reason.UNEXPECTED_END, "the rest of the same value again", END_OF_TEXT, end)
        elif buffer.mode == BLOCK_COMMENT and outside.has_mark:
            buffer.fail(Reason.AMBIGUOUS, "the end of the comment with quotation marks inside", END_OF_TEXT, end)
        elif buffer.mode == SKIPPING and outside.has_odd_mark():
            buffer.fail(Reason.AMBIGUOUS, "nothing after the end of the value", END_OF_TEXT, end)
        elif buffer.is_truncated or self._is_open():
            text += self._close(end)
        elif buffer.mode == OUTSIDE and outside.has_quote and (outside.aside or outside.open_brackets):
            buffer.fail(Reason.AMBIGUOUS, "nothing after the end of the value", END_OF_TEXT, end)
        elif self.value.top is not None:
            buffer.add_repair(Repair(RepairKind.LIST, end, "", ARRAY))
            text += ARRAY
        return text

    def refuse(self, reason: Reason, wanted: str, found: str) -> None:
        """Stop for good at the end of the text so far."""
        buffer = self.buffer
        if not buffer.is_over:
            self.last_kept = None
            buffer.fail(reason, wanted, found, buffer.base + len(buffer.text))
            buffer.text = ""

    def _is_open(self) -> bool:
        buffer = self.buffer
        if buffer.mode in (LINE_COMMENT, BLOCK_COMMENT):
            buffer.mode = self.outside.resume
        return written_frame(self.value.top) is not None or buffer.mode == STRING or buffer.mode in _LATE_END

    def _close(self, end: i64) -> str:
        """End a text that is not complete."""
        buffer, tally = self.buffer, self.strings.tally
        if RepairKind.TRUNCATED not in buffer.kinds:
            buffer.fail(Reason.UNEXPECTED_END, wanted_in(buffer.mode), END_OF_TEXT, end)
            return ""
        if buffer.mode == STRING and tally.marks and (tally.has_key or not tally.is_balanced):
            buffer.fail(Reason.AMBIGUOUS, "a clear end of the string with quotation marks inside", END_OF_TEXT, end)
            return ""
        if self.strings.has_bracket:  # a string may have ended there, and the bracket be a wrong one
            buffer.fail(Reason.AMBIGUOUS, "all closing brackets after quotation marks inside", END_OF_TEXT, end)
            return ""
        buffer.note_truncation(END_OF_TEXT, end)
        closers = buffer.closers = _LATE_END.get(buffer.mode, "") + closers_of(self.value.top)
        if closers:
            buffer.add_repair(Repair(RepairKind.TRUNCATED, end, "", closers))
        return closers

    def _run(self, is_end: bool) -> str:
        buffer, strings = self.buffer, self.strings
        n: i64 = buffer.begin(is_end)
        i: i64 = 0
        while i < n and not buffer.is_waiting and not buffer.is_over:
            mode: i64 = buffer.mode
            if mode <= KEY_TEXT:
                i = strings.read(i, n)
            elif mode < OUTSIDE:
                i = self.inside.read(i, n)
            else:
                i = self._read_outside(i, n, mode)
        if buffer.mode >= OUTSIDE:
            self._kept_outside = None
        return buffer.take(n, is_end and buffer.mode == KEY_TEXT and strings.tally.marks > 0)

    def _read_outside(self, i: i64, n: i64, mode: i64) -> i64:
        self._kept_outside = None
        if mode == OUTSIDE:
            return self.outside.read(i, n)
        if mode == LEAVING:
            return self.outside.leave(i, n)
        if mode == SKIPPING:
            return self.outside.skip(i, n)
        return self.outside.compare(i, n) if mode == COMPARING else self.outside.read_comment(i, n)

    def _match_clean(self, text: str) -> re.Match[str] | None:
        """Return a match of the held text and the chunk after it, if both are clean."""
        mode: i64 = self.buffer.mode
        if mode == AFTER_MEMBER:
            return _MEMBERS.match(text)
        if mode == KEY_OR_END:
            match = _FIRST_KEY.match(text)
            if match is None:
                match = _FIRST_MEMBERS.match(text)
                if match is not None:
                    self.buffer.mode = AFTER_MEMBER
            return match
        top = self.value.top
        if top is None or (mode != STRING and mode != AFTER_ITEM):
            return None
        if mode == AFTER_ITEM:
            return _ITEMS.match(text) if top.closer == ARRAY and not self.strings.is_last_empty() else None
        strings = self.strings
        if (
            strings.quote != '"'
            or strings.tally.marks
            or strings.escapes & (NEWLINE | ODD_MARKS)
            or strings.escape_end == self.buffer.base
            or (text[0] == '"' and strings.start == self.buffer.base)
        ):
            return None
        if top.closer == OBJECT:
            return _STRING_IN_OBJECT.match(text)
        return _STRING_IN_ARRAY.match(text) if top.closer == ARRAY else None

    def _take_clean(self, text: str, match: re.Match[str]) -> str:
        """Go on after clean text; return what is certain of it."""
        buffer = self.buffer
        held, begin, end = match.start(1), match.start(2), match.start(3)
        base = buffer.base
        if begin >= 0:
            buffer.mode = STRING
            strings = self.strings
            strings.quote = '"'
            strings.tally = NO_MARKS
            strings.start = base + begin
            strings.escapes = 0
            strings.after_empty = False
            strings.opens_json = text.startswith(("{", "["), begin)
            certain = text if end < 0 else text[:end]
        else:
            if buffer.mode == STRING:
                buffer.mode = self.value.mode_after()
            certain = text if held < 0 else text[:held]
            token_end = len(certain.rstrip(_SPACES))
            if token_end:
                buffer.token_end = base + token_end
        keep = len(certain)
        if keep:
            if "\n" in certain:
                newline = certain.rfind("\n")
                buffer.newline = base + newline
                buffer.line += certain.count("\n")
                buffer.line_start = base + newline + 1
            buffer.recent = buffer.recent.rstrip()[-1:] + certain[-1] if certain.isspace() else certain
            buffer.base = base + keep
        buffer.text = text[keep:]
        return certain


def start_mender(mending: Mending, shape: Shape | None) -> Mender:
    mender = Mender(((mending,), (shape,), (), ()))
    mender.last_kept = None  # it has more than this
    return mender
