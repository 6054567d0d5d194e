"""The text that is read in, and edits to it; the strict text, and the repairs out.

What is undecided is held: the text from `hold` on is read again when more has come, so it does not matter where it is
cut. Where `max_held` is reached, JSON's own reading is taken, and any other ends in an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsontide._errors import ParserError, Reason
from jsontide.mend._look import is_wrapper
from jsontide.mend.options import Mending, Repair, RepairKind
from jsontide.text.grammar import END_OF_TEXT, EXPECTED, EXPECTED_WORDS, NOTHING_EXPECTED, name_character
from jsontide.text.options import MAX_LIMIT

if TYPE_CHECKING:
    from mypy_extensions import i64

# Modes beyond those of the scanner.
OUTSIDE: Final = 24  # around a value
LINE_COMMENT: Final = 25
BLOCK_COMMENT: Final = 26
SKIPPING: Final = 27  # up to `until`, or the end of the text
COMPARING: Final = 28  # a value that must be the first one again
LEAVING: Final = 29  # something follows a whole value

_PIECE: Final = 1024  # characters in one repair: of longer prose there are several


class Buffer:
    """What is read: what of it is held, returned or dropped, and why; and how reading fails."""

    __slots__ = (
        "added_colon",
        "base",
        "closers",
        "copied",
        "drop_index",
        "drop_kind",
        "drop_text",
        "error",
        "flushed",
        "flushed_line",
        "flushed_start",
        "has_comma",
        "held_drop",
        "held_mode",
        "hold",
        "is_end",
        "is_over",
        "is_split",
        "is_truncated",
        "is_waiting",
        "kinds",
        "line",
        "line_start",
        "max_held",
        "max_repairs",
        "mending",
        "mode",
        "newline",
        "out",
        "recent",
        "repair_count",
        "repairs",
        "safe",
        "safe_repairs",
        "stop",
        "strict_from",
        "text",
        "token_end",
        "truncation",
        "wait_place",
    )

    # While a chunk is read:
    out: list[str]
    copied: i64  # up to here the text is in `out`, or dropped
    is_waiting: bool
    is_end: bool
    # Where the hold began, while there is one:
    held_mode: i64
    held_drop: tuple[RepairKind | None, i64, str]
    safe: i64  # pieces of `out` and repairs before the hold
    safe_repairs: i64
    is_split: bool  # whether a piece of `out` ends at the hold
    has_comma: bool  # whether the hold begins with a comma
    wait_place: i64  # from here on is what needs more text

    def __init__(
        self,
        mending: Mending,
        mode: i64 = OUTSIDE,
        text: str = "",
        base: i64 = 0,
        line: i64 = 1,
        line_start: i64 = 0,
        repairs: list[Repair] | None = None,
        repair_count: i64 = 0,
        drop_kind: RepairKind | None = None,
        drop_index: i64 = 0,
        drop_text: str = "",
        flushed: i64 = -1,
        flushed_line: i64 = 1,
        flushed_start: i64 = 0,
        added_colon: i64 = -1,
        strict_from: i64 = -1,
        recent: str = "",
        newline: i64 = -1,
        token_end: i64 = 0,
        is_truncated: bool = False,
        truncation: ParserError | None = None,
        closers: str = "",
        is_over: bool = False,
        error: ParserError | None = None,
    ) -> None:
        self.mending: Final = mending
        self.kinds: Final = mending.kinds
        self.max_held: i64 = min(MAX_LIMIT, mending.max_held)
        self.max_repairs: i64 = min(MAX_LIMIT, mending.max_repairs)
        self.mode: i64 = mode
        self.text: str = text  # what is held, and the chunk that is read
        self.base: i64 = base  # the index of the text in the original
        self.line: i64 = line
        self.line_start: i64 = line_start
        self.repairs: list[Repair] = [] if repairs is None else repairs  # and perhaps those of a text that goes on
        self.repair_count: i64 = repair_count
        self.drop_kind: RepairKind | None = drop_kind  # what is being dropped, and not yet reported
        self.drop_index: i64 = drop_index
        self.drop_text: str = drop_text
        self.flushed: i64 = flushed  # where the text begins that could not be held any longer
        self.flushed_line: i64 = flushed_line  # the line of that place
        self.flushed_start: i64 = flushed_start  # and where it begins
        self.added_colon: i64 = added_colon  # where a scalar begins that had no colon, up to the next comma or bracket
        self.strict_from: i64 = strict_from  # the end of a string that may have ended earlier: no edits after it
        self.recent: str = recent  # the last character before the text that is not white space, and what follows it
        self.newline: i64 = newline  # the index of the last one between tokens
        self.token_end: i64 = token_end  # of the last number, literal or root
        self.is_truncated: bool = is_truncated
        self.truncation: ParserError | None = truncation  # where the value broke off, as an error
        self.closers: str = closers  # what was added at the end to close it
        self.is_over: bool = is_over
        self.error: ParserError | None = error
        self.hold: i64 = -1  # while a chunk is read: from here on it is held
        self.stop: i64 = -1  # and up to here it is read, if it cannot be read on

    def kept(self) -> tuple[Any, ...]:
        """Return the state between two chunks, as the arguments of a new buffer."""
        return (
            self.mending,
            self.mode,
            self.text,
            self.base,
            self.line,
            self.line_start,
            self.repairs,
            self.repair_count,
            self.drop_kind,
            self.drop_index,
            self.drop_text,
            self.flushed,
            self.flushed_line,
            self.flushed_start,
            self.added_colon,
            self.strict_from,
            self.recent,
            self.newline,
            self.token_end,
            self.is_truncated,
            self.truncation,
            self.closers,
            self.is_over,
            self.error,
        )

    def begin(self, is_end: bool) -> i64:
        """Begin to read the text again, and return where it ends."""
        if len(self.repairs) > self.repair_count:
            self.repairs = self.repairs[: self.repair_count]
        self.is_end = is_end
        self.out = []
        self.copied = 0
        self.hold = -1
        self.is_waiting = False
        self.stop = -1
        return len(self.text)

    def before(self, i: i64) -> str:
        """Return the character before `i`; nothing at the very beginning."""
        return self.text[i - 1] if i else self.recent[-1:]

    def fail(
        self, reason: Reason, wanted: str, found: str, at: i64, expected: frozenset[str] = NOTHING_EXPECTED
    ) -> None:
        """Stop for good: at an index of the original, `wanted` was expected and `found` is there."""
        if self.error is not None:
            return
        place: i64 = at - self.base
        if self.hold >= 0 and place - self.hold > self.max_held:
            self.hold = -1  # what is held would have been given out by now
        self.error = self._make_error(reason, wanted, found, at, expected)
        self.is_over = True
        if self.stop < 0:
            self.stop = min(max(place, 0), len(self.text))

    def _make_error(self, reason: Reason, wanted: str, found: str, at: i64, expected: frozenset[str]) -> ParserError:
        place: i64 = at - self.base
        line: i64 = self.line
        start: i64 = self.line_start
        if at == self.flushed:
            line, start = self.flushed_line, self.flushed_start
        elif place > 0:
            before = self.text[:place]
            if "\n" in before:
                line += before.count("\n")
                start = self.base + before.rfind("\n") + 1
        column: i64 = max(at - start + 1, 1)
        message = f"expected {wanted}, found {found} (line {line}, column {column})"
        return ParserError(message, reason, at, line, column, (), expected)

    def note_truncation(self, found: str, at: i64) -> None:
        """Note where the value broke off, if that is not known yet."""
        self.is_truncated = True
        if self.truncation is None:
            expected = EXPECTED.get(self.mode, NOTHING_EXPECTED)
            self.truncation = self._make_error(Reason.UNEXPECTED_END, wanted_in(self.mode), found, at, expected)

    def fail_at(self, i: i64) -> i64:
        """Fail because no reading allows the character at `i`."""
        mode: i64 = self.mode
        expected = EXPECTED.get(mode, NOTHING_EXPECTED)
        found = name_character(self.text[i]) if i < len(self.text) else END_OF_TEXT
        self.fail(Reason.UNEXPECTED_CHARACTER, wanted_in(mode), found, self.base + i, expected)
        return i

    def fail_held(self, i: i64) -> i64:
        """Fail because mending at `i` needs more text than may be held."""
        begin: i64 = self.flushed if self.flushed >= 0 else self.base + (self.hold if self.hold >= 0 else i)
        self.hold = -1
        self.stop = i
        wanted = f"a decision within {self.max_held} characters"
        self.fail(Reason.HELD_TOO_LONG, wanted, name_character(self.text[i]), begin)
        return i

    def fail_ambiguous(self, i: i64, wanted: str) -> i64:
        self.fail(Reason.AMBIGUOUS, wanted, name_character(self.text[i]), self.base + i)
        return i

    def take(self, n: i64, is_ambiguous: bool) -> str:
        """Return the text up to the hold, and keep the rest.

        `is_ambiguous`: if the text ends here, what is held of it can be read in two ways.
        """
        keep: i64 = n if self.stop < 0 else self.stop
        if self.hold >= 0 and not self.is_over and n - self.hold > self.max_held:
            keep = self._give_up_hold(n)
        if self.hold >= 0:
            if is_ambiguous:
                self.fail_ambiguous(self.hold, "a clear end of the key with quotation marks inside")
            keep = self.hold
            if keep < n and self.is_end and not self.is_over:
                self.note_truncation(END_OF_TEXT, self.base + n)
            self.rewind()
        if self.is_over:
            self.flush_drop()
        text = "" if keep <= self.copied else self.text[self.copied : keep]
        if self.out:
            self.out.append(text)
            text = "".join(self.out)
        if keep < n and self.is_end and not self.is_over:
            self._drop_held(keep)
            keep = n
        if keep:
            self._advance(keep, n)
        if self.is_over:
            self.text = ""
        return text

    def _give_up_hold(self, n: i64) -> i64:
        """Return up to where to give out text that cannot be held any longer."""
        if self.is_waiting and self.wait_place == self.hold:
            return n  # a single token
        self.set_flushed(self.hold)
        self.hold = -1
        return self.wait_place if self.is_waiting else n

    def set_flushed(self, place: i64) -> None:
        """Note that the text from `place` on was given out before it was certain."""
        before = self.text[:place]
        newline: i64 = before.rfind("\n")
        self.flushed_line = self.line + before.count("\n")
        self.flushed_start = self.line_start if newline < 0 else self.base + newline + 1
        self.flushed = self.base + place

    def _drop_held(self, keep: i64) -> None:
        """Leave out the held text, because the text ends inside it."""
        self.flush_drop()
        if RepairKind.TRUNCATED in self.kinds:
            self.add_repair(Repair(RepairKind.TRUNCATED, self.base + keep, self.text[keep:], "", True))

    def rewind(self) -> None:
        """Forget the edits after the beginning of the hold."""
        if self.is_split:
            del self.out[self.safe :]
            self.copied = self.hold
        if self.repair_count > self.safe_repairs:
            del self.repairs[self.safe_repairs :]
            self.repair_count = self.safe_repairs
        self.drop_kind, self.drop_index, self.drop_text = self.held_drop
        self.mode = self.held_mode
        if self.added_colon >= self.base + self.hold:
            self.added_colon = -1

    def end_before(self, i: i64) -> str:
        """Return the last character before `i` that is not white space, and the very last, if that is."""
        text = self.text
        place: i64 = i - 1
        if place >= 0 and not text[place].isspace():
            return text[place]
        while place >= 0 and text[place].isspace():
            place -= 1
        last = text[i - 1] if i else self.recent[-1:]
        solid = text[place] if place >= 0 else self.recent.rstrip()[-1:]
        return solid + last if last.isspace() else last

    def _advance(self, keep: i64, n: i64) -> None:
        text = self.text
        newline: i64 = text.rfind("\n", 0, keep)
        if newline >= 0:
            self.line += text.count("\n", 0, keep)
            self.line_start = self.base + newline + 1
        last = text[keep - 1]
        self.recent = self.end_before(keep) if last.isspace() else last
        self.base += keep
        self.text = "" if keep == n else text[keep:]

    def begin_hold(self, i: i64, mode: i64) -> None:
        """Hold the text from `i` on, where the mode was `mode`."""
        if self.drop_kind is not None:
            self.flush_drop()
        self.flushed = -1
        self.hold_at(i, mode)

    def hold_at(self, i: i64, mode: i64) -> None:
        self.hold = i
        self.held_mode = mode
        self.safe = len(self.out)
        self.safe_repairs = self.repair_count
        self.is_split = False
        self.has_comma = False
        self.held_drop = (self.drop_kind, self.drop_index, self.drop_text)

    def hold_comma(self, i: i64, mode: i64) -> None:
        """Hold the text from the comma at `i` on, unless it follows a string whose end was not certain."""
        self.added_colon = -1
        if self.flushed < 0 or self.token_end > self.flushed + 1:
            self.begin_hold(i, mode)
            self.has_comma = True

    def hold_key(self, i: i64) -> None:
        """Hold the text from `i` on, if none is held: a key is certain when its value begins."""
        if self.hold < 0 and self.flushed < 0:
            self.begin_hold(i, self.mode)

    def wait(self, i: i64) -> i64:
        """Wait for more text, and then read again from `i` on, or from where the hold begins."""
        if self.hold < 0:
            self.hold_at(i, self.mode)
        self.is_waiting = True
        self.wait_place = i
        return i

    def limit(self, i: i64, n: i64) -> i64:
        """Return up to where to look ahead from `i`."""
        begin: i64 = self.hold if self.hold >= 0 else i
        end: i64 = begin + self.max_held + 1
        return max(min(n, end), i)

    def is_late(self, i: i64, n: i64) -> bool:
        """Return whether no more can be held, to look further ahead from `i`."""
        begin: i64 = self.hold if self.hold >= 0 else i
        return n - begin > self.max_held

    def wait_or_fail(self, i: i64, n: i64) -> i64:
        """Wait for more text, unless the text has ended, or too much is held."""
        return self.fail_held(i) if self.is_late(i, n) else self.wait(i)

    def copy_to(self, place: i64) -> None:
        hold: i64 = self.hold
        if hold >= 0 and not self.is_split and hold <= place:
            self.is_split = True
            if hold > self.copied:
                self.out.append(self.text[self.copied : hold])
                self.copied = hold
            self.safe = len(self.out)
            if self.has_comma and hold < place:
                self.out.append(self.text[hold])
                self.copied = hold + 1
        if place > self.copied:
            self.out.append(self.text[self.copied : place])
            self.copied = place

    def _allows(self, kind: RepairKind, i: i64, end: i64) -> bool:
        """Return whether the text from `i` to `end` may be mended; fail if not."""
        if kind not in self.kinds:
            self.fail_at(i)
        elif 0 <= self.strict_from < self.base + end:
            self.fail_ambiguous(i, "nothing to mend after a string that may have ended at an escaped quotation mark")
        elif self.flushed >= 0 or (self.hold >= 0 and i - self.hold > self.max_held):
            self.fail_held(i)
        return not self.is_over

    def edit(self, i: i64, end: i64, became: str, kind: RepairKind, lossy: bool = False) -> bool:
        """Replace the text from `i` to `end`; return whether that is allowed."""
        if not self._allows(kind, i, end):
            return False
        if self.drop_kind is not None:
            self.flush_drop()
        self.copy_to(i)
        if became:
            self.out.append(became)
        self.copied = end
        self.add_repair(Repair(kind, self.base + i, self.text[i:end], became, lossy))
        return not self.is_over

    def drop_comma(self, i: i64) -> bool:
        """Take back the comma with which the hold begins, because a closing bracket is at `i`."""
        if not self._allows(RepairKind.TRAILING_COMMA, i, i):
            return False
        self.flush_drop()
        place = self.hold
        repair = Repair(RepairKind.TRAILING_COMMA, self.base + place, self.text[place], "")
        if not self.has_comma:  # it was put there, as a missing one
            self.out[self.safe] = ""
            del self.repairs[self.safe_repairs]
            self.repair_count -= 1
            return True
        if not self.is_split:
            self.has_comma = False
            self.copy_to(place)
            self.copied = place + 1
            self.add_repair(repair)
            return not self.is_over
        self.out[self.safe] = ""
        later = self.repairs[self.safe_repairs :]
        del self.repairs[self.safe_repairs :]
        self.repair_count = self.safe_repairs
        self.add_repair(repair)
        for other in later:
            if other.index != repair.index:
                self.add_repair(other)
        return not self.is_over

    def drop(self, i: i64, end: i64, kind: RepairKind) -> bool:
        """Leave out the text from `i` to `end`, as part of a longer run of the same kind."""
        if i >= end:
            return True
        if kind not in self.kinds:
            self.fail_at(i)
            return False
        index: i64 = self.base + i
        if self.drop_kind is not kind or self.drop_index + len(self.drop_text) != index:
            self.flush_drop()
            self.drop_kind = kind
            self.drop_index = index
        self.copy_to(i)
        self.copied = end
        most: i64 = min(_PIECE, self.max_held)
        room: i64 = most - len(self.drop_text)
        while end - i >= room and not self.is_over:
            self.drop_text += self.text[i : i + room]
            i += room
            self.flush_drop()
            self.drop_kind = kind
            self.drop_index = self.base + i
            room = most
        self.drop_text += self.text[i:end]
        return not self.is_over

    def drop_whole(self, i: i64, end: i64, kind: RepairKind) -> bool:
        """Leave out the text from `i` to `end`, with which a run ends."""
        if not self.drop(i, end, kind):
            return False
        self.flush_drop()
        return not self.is_over

    def flush_drop(self) -> None:
        kind = self.drop_kind
        if kind is None:
            return
        self.drop_kind = None
        text = self.drop_text
        self.drop_text = ""
        if text:
            lossy = kind.is_lossy and not (kind is RepairKind.SECOND_VALUE and self.mending.values != "first")
            lossy = lossy or (kind is RepairKind.TAG and not is_wrapper(text))
            self.add_repair(Repair(kind, self.drop_index, text, "", lossy))

    def add_repair(self, repair: Repair) -> None:
        if self.repair_count >= self.max_repairs:
            wanted = f"at most {self.max_repairs} repairs"
            self.fail(Reason.TOO_MANY_REPAIRS, wanted, "more", repair.index)
            return
        self.repairs.append(repair)
        self.repair_count += 1


def wanted_in(mode: i64) -> str:
    """Return the words for what a mode expects."""
    return EXPECTED_WORDS.get(mode, "a value")
