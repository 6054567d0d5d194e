"""The base classes of a scanner: the sink that takes its tokens, and the cursor that marks the end of the text.

The scanner calls a method of `Sink` for each complete token, in the order of the text.
A stage (tree, events, snapshots) is a subclass of the scanner that implements these methods; it never looks at the
text itself.

A cursor is mutable and stands at the end of the text read so far.
Whatever the next chunk may overwrite is small, and `Position` copies it; `pieces` may be large but is only appended
to, so a length is enough to remember an earlier moment.
Only the current line is kept: no token contains a newline, so every error lies in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsontide._errors import ParserError, Reason
from jsontide.text import modes
from jsontide.text.grammar import EXPECTED, EXPECTED_WORDS, LITERALS, NOTHING_EXPECTED
from jsontide.text.naming import END_OF_TEXT
from jsontide.text.options import MOST
from jsontide.text.strings import expected_after

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._path import Path, PathLink
    from jsontide.text.options import Limits


class Sink:
    """Takes tokens; containers open and close in proper nesting."""

    __slots__ = ()

    def open_object(self) -> None:
        raise NotImplementedError

    def open_array(self) -> None:
        raise NotImplementedError

    def close_container(self) -> i64:
        """Leave the innermost container; return the mode after a value in the one around it."""
        raise NotImplementedError

    def key(self, text: str) -> Reason | None:
        """Take a whole key, or return why it is an error."""
        raise NotImplementedError

    def string(self, text: str) -> None:
        """Take a whole string value."""
        raise NotImplementedError

    def number(self, lexeme: str, is_integer: bool) -> Reason | None:
        """Take a whole number, or return why it is an error; an integer has neither fraction nor exponent."""
        raise NotImplementedError

    def literal(self, word: str) -> None:
        """Take `true`, `false` or `null`."""
        raise NotImplementedError

    def path(self) -> Path | PathLink:
        """Return the current path, for an error; a link where there may be many errors."""
        raise NotImplementedError


class Cursor(Sink):
    """The end of the text read so far, and what is still undecided there."""

    __slots__ = (
        "after",
        "base",
        "depth",
        "error",
        "held",
        "ignore_trailing",
        "index",
        "is_over",
        "line",
        "max_chars",
        "max_depth",
        "max_index",
        "max_nodes",
        "max_number",
        "max_string",
        "mode",
        "node_count",
        "pieces",
        "step",
        "token_end",
        "token_start",
        "trailing_index",
    )

    def __init__(self, limits: Limits, *, ignore_trailing: bool) -> None:
        self.max_depth: i64 = min(limits.max_depth, MOST)
        self.max_chars: i64 = min(limits.max_chars, MOST)
        self.max_index: i64 = self.max_chars  # the index at which this document reaches `max_chars`
        self.max_string: i64 = min(limits.max_string, MOST)
        self.max_number: i64 = min(limits.max_number, MOST)
        self.max_nodes: i64 = min(limits.max_nodes, MOST)
        self.ignore_trailing: bool = ignore_trailing

        self.mode: i64 = modes.VALUE
        self.after: i64 = modes.DONE  # the mode after a value in the innermost open container
        self.index: i64 = 0  # code points read, the held ones included
        self.base: i64 = 0  # index of the first character of the text being scanned
        self.depth: i64 = 0  # open containers
        self.node_count: i64 = 0  # values opened so far
        self.step: i64 = 0  # chunks read
        self.held: str = ""
        self.token_start: i64 = 0  # index of the newest token; of a string, after its quote
        self.token_end: i64 = 0  # where the last string or key ended, before its quote
        self.pieces: list[str] = []
        self.line: tuple[i64, i64] = (1, 0)  # its number, and the index of its first character
        self.is_over: bool = False  # no more text will be read: an error, or ignored text
        self.error: ParserError | None = None
        self.trailing_index: i64 = -1

    def fail(
        self, reason: Reason, wanted: str, found: str, at: i64, expected: frozenset[str] = NOTHING_EXPECTED
    ) -> None:
        """Stop for good: at `at`, `wanted` was expected and `found` is there."""
        line, start = self.line
        column: i64 = at - start + 1
        message = f"expected {wanted}, found {found} (line {line}, column {column})"
        path: Any = self.path()  # the error turns a link into a path when it is read
        self.error = ParserError(message, reason, at, line, column, path, expected)
        self.index = at
        self.is_over = True

    def fail_at_end(self, number_may_end: bool) -> None:
        """Fail because the text ended too early."""
        expected = EXPECTED[self.mode]
        if self.mode == modes.LITERAL:
            word = LITERALS[self.held[0]]
            wanted = f"'{word}'"
            expected = frozenset((word,))
        elif number_may_end:
            wanted = EXPECTED_WORDS[self.after]
            expected = EXPECTED[self.after]
        else:
            wanted = EXPECTED_WORDS[self.mode]
            if self.mode <= modes.KEY_TEXT:
                expected = expected_after(self.held) or expected
        self.fail(Reason.UNEXPECTED_END, wanted, END_OF_TEXT, self.index, expected)
