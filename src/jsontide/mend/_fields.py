"""What a mender knows, and how it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide._errors import ParserError, Reason
from jsontide._textbuffer import NO_TEXT, GrowingText
from jsontide.mend._frame import Frame
from jsontide.mend._quotes import NO_MARKS, Tally
from jsontide.mend.options import Mending, Repair, RepairKind
from jsontide.text.grammar import (
    END_OF_TEXT,
    EXPECTED,
    EXPECTED_WORDS,
    NOTHING_EXPECTED,
    name_character,
)
from jsontide.text.options import MOST

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide.mend.shape import Shape

# Modes beyond those of the scanner.
OUTSIDE: Final = 24  # around a value
LINE_COMMENT: Final = 25
BLOCK_COMMENT: Final = 26
SKIPPING: Final = 27  # up to `until`, or the end of the text
COMPARING: Final = 28  # a value that must be the first one again
LEAVING: Final = 29  # something follows a whole value


class Fields:
    """All that is known between two chunks, and while one is read."""

    __slots__ = (
        "added_colon",
        "at_start",
        "base",
        "begun",
        "buffer",
        "closers",
        "compared",
        "copied",
        "doubtful",
        "drop_index",
        "drop_kind",
        "drop_text",
        "equals",
        "error",
        "escape_end",
        "escapes",
        "first_end",
        "first_start",
        "flushed",
        "flushed_line",
        "found",
        "has_comma",
        "has_quote",
        "held_drop_index",
        "held_drop_kind",
        "held_drop_text",
        "held_mode",
        "hold",
        "in_fence",
        "is_end",
        "is_over",
        "is_scalar",
        "is_split",
        "is_truncated",
        "is_waiting",
        "keeps_text",
        "key",
        "kinds",
        "lead",
        "line",
        "line_marks",
        "line_start",
        "max_depth",
        "max_held",
        "max_repairs",
        "mending",
        "mode",
        "newline",
        "open_quote",
        "opens_json",
        "original",
        "out",
        "prose_kind",
        "quote",
        "recent",
        "remark",
        "repair_count",
        "repairs",
        "resume",
        "safe",
        "safe_repairs",
        "shape",
        "skip_kind",
        "skipped",
        "stop",
        "string_start",
        "tally",
        "token_end",
        "top",
        "truncation",
        "until",
        "wait_place",
        "was_doubtful",
        "wrapping",
    )

    def __init__(self, mending: Mending, shape: Shape | None = None) -> None:  # noqa: PLR0915 - all fields
        self.mending: Mending = mending
        self.shape: Shape | None = shape  # what the schema wants of the whole
        self.key: str = ""  # of the member that is read, if there is a schema
        self.kinds: frozenset[RepairKind] = mending.kinds
        self.max_held: i64 = min(mending.max_held, MOST)
        self.max_repairs: i64 = min(mending.max_repairs, MOST)
        self.max_depth: i64 = min(mending.max_depth, MOST)
        self.keeps_text: bool = mending.values == "one"
        self.mode: i64 = OUTSIDE
        self.top: Frame | None = None
        self.buffer: str = ""  # what is held, and the chunk that is read
        self.base: i64 = 0  # the index of the buffer in the original text
        self.line: i64 = 1
        self.line_start: i64 = 0
        # While a chunk is read:
        self.out: list[str] = []
        self.copied: i64 = 0  # up to here the buffer is in `out`, or dropped
        self.hold: i64 = -1  # from here on it is held
        self.held_mode: i64 = OUTSIDE
        self.safe: i64 = 0  # pieces of `out` and repairs before the hold
        self.safe_repairs: i64 = 0
        self.is_split: bool = False  # whether a piece of `out` ends at the hold
        self.has_comma: bool = False  # whether the hold begins with a comma
        self.held_drop_kind: RepairKind | None = None
        self.held_drop_index: i64 = 0
        self.held_drop_text: str = ""
        self.is_waiting: bool = False
        self.wait_place: i64 = 0
        self.is_end: bool = False
        self.stop: i64 = -1
        # Afterwards:
        self.repairs: list[Repair] = []
        self.repair_count: i64 = 0
        self.drop_kind: RepairKind | None = None  # what is being dropped, and not yet reported
        self.drop_index: i64 = 0
        self.drop_text: str = ""
        self.flushed_line: tuple[i64, i64] = (1, 0)  # the line of that place, and where it begins
        self.flushed: i64 = -1  # where the text begins that could not be held any longer
        self.added_colon: i64 = -1  # where a scalar begins to which there was no colon, up to the next comma or bracket
        self.quote: str = '"'  # what ends the open string
        self.string_start: i64 = 0
        self.opens_json: bool = False  # whether it begins like an object or an array
        self.escapes: i64 = 0  # whether those of the open string may be a matter of doubt
        self.escape_end: i64 = -1  # the index after an escape that ends with a letter
        self.tally: Tally = NO_MARKS
        self.recent: str = (
            ""  # ends with the last character before the buffer that is not white space, and what follows it
        )
        self.newline: i64 = -1  # the index of the last one between tokens
        self.token_end: i64 = 0  # of the last number, literal or root
        self.resume: i64 = 0  # the mode after a comment
        self.until: str = ""
        self.skip_kind: RepairKind = RepairKind.PROSE  # what is left out up to `until` is reported as this
        self.lead: str = "\n"  # the last character in the line before a value, a newline if there is none
        self.prose_kind: RepairKind = RepairKind.PROSE  # what words around the value are reported as
        self.doubtful: str = ""  # closes brackets around words that may be a value all the same: none begins inside
        self.has_quote: bool = False  # whether a quotation mark follows the value, or is in brackets before it
        self.was_doubtful: bool = False  # whether there were any
        self.remark: str = ""  # the same of brackets in the middle of the line
        self.open_quote: str = (
            ""  # the quotation mark that is open in such brackets: none of them closes before its pair
        )
        self.begun: str = ""  # the line of words so far, if it is short
        self.line_marks: i64 = 0  # the quotation marks in it, without those that are escaped
        self.skipped: str = ""  # where the first bracket is that was taken for words
        self.equals: bool = False  # whether a key was followed by an equals sign, and so all may be
        self.wrapping: str = ""  # what all strings are in, if the text was written into another: ESCAPED or DOUBLED
        self.at_start: bool = True  # whether the next character may begin a value of any kind
        self.in_fence: bool = False
        self.found: bool = False  # whether a value has begun
        self.is_scalar: bool = False  # and whether it is neither an object nor an array
        self.is_truncated: bool = False
        self.truncation: ParserError | None = None  # where the value broke off, as an error
        self.closers: str = ""  # what was added at the end to close it
        self.is_over: bool = False
        self.error: ParserError | None = None
        self.original: GrowingText = NO_TEXT  # with `values="one"`, all of the text so far
        self.first_start: i64 = 0
        self.first_end: i64 = -1
        self.compared: i64 = 0

    def _fail(
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
            self.stop = min(max(place, 0), len(self.buffer))

    def _make_error(self, reason: Reason, wanted: str, found: str, at: i64, expected: frozenset[str]) -> ParserError:
        place: i64 = at - self.base
        line: i64 = self.line
        start: i64 = self.line_start
        if at == self.flushed:
            line, start = self.flushed_line
        elif place > 0:
            before = self.buffer[:place]
            if "\n" in before:
                line += before.count("\n")
                start = self.base + before.rfind("\n") + 1
        column: i64 = max(at - start + 1, 1)
        message = f"expected {wanted}, found {found} (line {line}, column {column})"
        return ParserError(message, reason, at, line, column, (), expected)

    def _note_truncation(self, found: str, at: i64) -> None:
        """Note where the value broke off, if that is not known yet."""
        self.is_truncated = True
        if self.truncation is None:
            expected = EXPECTED.get(self.mode, NOTHING_EXPECTED)
            self.truncation = self._make_error(Reason.UNEXPECTED_END, wanted_in(self.mode), found, at, expected)

    def _fail_at(self, i: i64) -> i64:
        """Fail because no reading allows the character at `i`."""
        mode: i64 = self.mode
        expected = EXPECTED.get(mode, NOTHING_EXPECTED)
        found = name_character(self.buffer[i]) if i < len(self.buffer) else END_OF_TEXT
        self._fail(Reason.UNEXPECTED_CHARACTER, wanted_in(mode), found, self.base + i, expected)
        return i

    def _fail_held(self, i: i64) -> i64:
        """Fail because what is at `i` could only be mended with more text than may be held."""
        begin: i64 = self.flushed if self.flushed >= 0 else self.base + self.hold
        self.hold = -1
        self.stop = i
        wanted = f"a decision within {self.max_held} characters"
        self._fail(Reason.HELD_TOO_LONG, wanted, name_character(self.buffer[i]), begin)
        return i

    def _fail_ambiguous(self, i: i64, wanted: str) -> i64:
        self._fail(Reason.AMBIGUOUS, wanted, name_character(self.buffer[i]), self.base + i)
        return i


def wanted_in(mode: i64) -> str:
    """Say what is expected in a mode."""
    return EXPECTED_WORDS.get(mode, "a value")
