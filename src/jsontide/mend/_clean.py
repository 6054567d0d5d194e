"""Text inside a value that is JSON as it stands in, what is certain of it out: one pattern for each place.

Nearly all text is clean, and most of that is members and items without brackets of their own.
For the interpreter only: compiled, the long way is faster than a pattern.
Rule: a pattern takes the whole text or nothing, and only what the long way would read without an edit or a doubt.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from jsontide.mend._around import Around
from jsontide.mend._escapes import NEWLINE
from jsontide.mend._frame import ARRAY, OBJECT
from jsontide.mend._quotes import NO_MARKS
from jsontide.text.modes import AFTER_ITEM, AFTER_MEMBER, KEY_OR_END, STRING

if TYPE_CHECKING:
    from mypy_extensions import i64

_SPACES: Final = " \n\r\t"
_S: Final = rf"[{_SPACES}]*+"
_TEXT: Final = r'[^"\\\x00-\x1f]*+'
_STRING_END: Final = rf'{_TEXT}"(?=,{_S}")'
_SCALAR: Final = (
    rf"(?:(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null)(?=[,{_SPACES}])"
    rf'|"{_STRING_END})'
)
_LAST: Final = rf'(?:[-0-9][-+.0-9eE]*+|[tfn][a-z]*+|"({_TEXT})("{_S},?{_S})?)?'
"""The beginning of a scalar: the text of a string is certain, its end and anything else is not."""
_LAST_KEY: Final = rf'"{_TEXT}(?:"{_S}(?::{_S}{_LAST})?)?'
_MORE_MEMBERS: Final = rf'(?:,{_S}"{_TEXT}"{_S}:{_S}{_SCALAR})*+{_S}(,{_S}(?:{_LAST_KEY})?)?\Z'
_MORE_ITEMS: Final = rf"(?:,{_S}{_SCALAR})*+{_S}(,{_S}{_LAST})?\Z"

_FIRST_KEY: Final = re.compile(rf"{_S}({_LAST_KEY})?\Z")
_MEMBERS: Final = re.compile(_MORE_MEMBERS)
_ITEMS: Final = re.compile(_MORE_ITEMS)
_STRING_IN_OBJECT: Final = re.compile(_STRING_END + _MORE_MEMBERS)
_STRING_IN_ARRAY: Final = re.compile(_STRING_END + _MORE_ITEMS)


class Clean(Around):
    """Reads clean text in one step."""

    __slots__ = ()

    def _match_clean(self, text: str) -> re.Match[str] | None:
        """Return a match of what is held and the chunk after it, if that is clean."""
        mode: i64 = self.mode
        if mode == AFTER_MEMBER:
            return _MEMBERS.match(text)
        if mode == KEY_OR_END:
            return _FIRST_KEY.match(text)
        top = self.top
        if top is None or (mode != STRING and mode != AFTER_ITEM):
            return None
        if mode == AFTER_ITEM:
            return _ITEMS.match(text) if top.closer == ARRAY else None
        if self.quote != '"' or self.tally is not NO_MARKS or self.escapes & NEWLINE or self.escape_end == self.base:
            return None
        if top.closer == OBJECT:
            return _STRING_IN_OBJECT.match(text)
        return _STRING_IN_ARRAY.match(text) if top.closer == ARRAY else None

    def _take_clean(self, text: str, match: re.Match[str]) -> str:
        """Go on after clean text; return what is certain of it."""
        held, begin, end = match.start(1), match.start(2), match.start(3)
        base = self.base
        if begin >= 0:
            self.mode = STRING
            self.quote = '"'
            self.tally = NO_MARKS
            self.escapes = 0
            self.string_start = base + begin
            self.opens_json = text.startswith(("{", "["), begin)
            certain = text if end < 0 else text[:end]
        else:
            if self.mode == STRING:
                self.mode = self._after()
            certain = text if held < 0 else text[:held]
            token_end = len(certain.rstrip(_SPACES))
            if token_end:
                self.token_end = base + token_end
        keep = len(certain)
        if keep:
            if "\n" in certain:
                newline = certain.rfind("\n")
                self.newline = base + newline
                self.line += certain.count("\n")
                self.line_start = base + newline + 1
            self.recent = self.recent.rstrip()[-1:] + certain[-1] if certain.isspace() else certain
            self.base = base + keep
        self.buffer = text[keep:]
        return certain
