"""Brackets, numbers and literals in any spelling in, those of JSON out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide._errors import Reason
from jsontide.mend._frame import OBJECT, Frame
from jsontide.mend._look import (
    CLOSING,
    LITERALS,
    NOT_NUMBERS,
    is_number,
    number_end,
    word_end,
)
from jsontide.mend._spelling import respell_number
from jsontide.mend.options import RepairKind
from jsontide.text import modes
from jsontide.text.grammar import (
    CELLS,
    FAIL,
)
from jsontide.text.modes import (
    ITEM_OR_END,
    KEY_OR_END,
)

if TYPE_CHECKING:
    from mypy_extensions import i64
from jsontide.mend._coerce import Coercions
from jsontide.mend._look import is_delimiter, strict_number_end
from jsontide.text.grammar import LITERALS as STRICT_LITERALS

_LONGEST_WORD: Final = 64


class Tokens(Coercions):
    """Reads brackets, numbers and literals."""

    __slots__ = ()

    def _open_container(self, i: i64, closer: str) -> i64:
        unseen: i64 = self.flushed if self.token_end == self.flushed + 1 else -1
        self._release()
        self.flushed = unseen
        top = self.top
        if top is not None and top.depth >= self.max_depth:
            self._fail(Reason.TOO_DEEP, f"at most {self.max_depth} open containers", "more", self.base + i)
            return i
        self.top = Frame(closer, top, False, None if self.shape is None else self._place())
        self.mode = KEY_OR_END if closer == OBJECT else ITEM_OR_END
        return i + 1

    def _close_container(self, i: i64) -> i64:
        top = self.top
        assert top is not None
        if self.buffer[i] != top.closer:
            return self._fail_at(i)
        self.hold = -1
        self.flushed = -1
        self.added_colon = -1
        self._flush_drop()
        self.top = top.parent
        self.token_end = self.base + i + 1
        self._leave_value(i + 1)
        return i + 1

    def _read_number(self, i: i64, n: i64) -> i64:
        begin: i64 = self.hold if self.hold >= 0 else i
        end = strict_number_end(self.buffer, i, n)
        if end >= 0 and end - begin <= self.max_held:
            return self._end_token(end)
        end = number_end(self.buffer, i, n)
        if self.flushed >= 0 or end - begin > self.max_held:
            self._hold_key(i)
            return self._read_long_number(i, end)
        if end == n and not (self.is_end and self.top is None):
            if self.hold < 0:
                self._begin_hold(i, self.mode)
            return self._wait(i)
        token = self.buffer[i:end]
        if not is_number(token):
            became = respell_number(token)
            if not became:
                return self._fail_at(i)
            if self.hold < 0:
                self._begin_hold(i, self.mode)
            is_number_now = became != "null"
            if not self._edit(
                i, end, became, RepairKind.NUMBER if is_number_now else RepairKind.LITERAL, not is_number_now
            ):
                return i
        return self._end_token(end)

    def _read_long_number(self, i: i64, n: i64) -> i64:
        """Read a number that is too long to be held: by the grammar alone."""
        mode: i64 = modes.NUMBER
        while i < n:
            cell: i64 = CELLS[mode].get(self.buffer[i], FAIL)
            if cell >= FAIL:
                return self._fail_held(i)
            mode = cell
            i += 1
        self.mode = mode
        return n

    def _read_word(self, i: i64, n: i64) -> i64:
        buffer = self.buffer
        strict = STRICT_LITERALS.get(buffer[i])
        if strict is not None:
            after: i64 = i + len(strict)
            if after < n and buffer.startswith(strict, i) and is_delimiter(buffer, after):
                return self._end_token(after)
        end = word_end(buffer, i, n)
        if end == i or end - i > _LONGEST_WORD:
            return self._fail_at(i)
        word = buffer[i:end]
        became = LITERALS.get(word, "")
        if end == n and (not self.is_end or (not became and self._is_cut_off(word))):
            self._hold_key(i)
            return self._wait(i)
        if word in "uU" and end < n and buffer[end] in "\"'":
            return end if self._edit(i, end, "", RepairKind.QUOTES) else i
        if not became or (end < n and (buffer[end] in CLOSING or buffer[end] in "(.")):
            return self._fail_at(i)
        if became != word:
            self._hold_key(i)
            if end - self.hold > self.max_held:
                return self._fail_held(i)
            if not self._edit(i, end, became, RepairKind.LITERAL, word in NOT_NUMBERS):
                return i
        return self._end_token(end)

    def _is_cut_off(self, word: str) -> bool:
        """Return whether this is the beginning of a literal inside a value, at the end of the text."""
        return self.top is not None and any([one.startswith(word) for one in LITERALS])
