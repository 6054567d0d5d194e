"""Text in chunks in, calls of a small sink out: the only reader of JSON's grammar.

`Scanner.scan` reads one chunk, wherever it was cut, and calls a method of `TokenSink` for each complete token, in
order. A stage (tree, events, snapshots) is a subclass of the scanner that implements these methods; it never
looks at the text itself. Undecided text waits in two places: `held` keeps the few characters to be read again with
those that follow (half an escape, half a literal), `pieces` the decoded text of an open string, key or number.

The `Cursor` is mutable and stands at the end of the text read so far. Whatever the next chunk may overwrite is small,
and `Position` copies it; `pieces` may be large but is only appended to, so a length is enough to remember an earlier
moment. Only the current line is kept: no token contains a newline, so every error lies in it.

Rule: what a scanner needs to continue reading is listed in `Position` only: states, forks and pickles use it. Each
stage restores its open containers itself, and with them what follows from them: `depth`, `after`, and where there are
several documents `max_index`.

`Skip` finds where reading can continue after an error: the next comma or closing bracket of the innermost open
container, outside of skipped strings and brackets, or the end of the line if no container is open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from jsontide._build import COMPILED
from jsontide._errors import ParserError, Reason
from jsontide._path import Path, PathLink
from jsontide.text import modes
from jsontide.text.grammar import (
    BEGIN_NUMBER,
    CLOSE,
    END_OF_TEXT,
    EXPECTED,
    EXPECTED_WORDS,
    FAIL,
    GRAMMAR,
    IN_A_STRING,
    LITERALS,
    NEWLINE,
    NOTHING_EXPECTED,
    OPEN_ARRAY,
    OPEN_KEY,
    OPEN_OBJECT,
    OPEN_STRING,
    name_character,
    name_text,
)
from jsontide.text.options import MAX_LIMIT, Limits
from jsontide.text.strings import expected_after, join_pieces, match_plain, plain_end, unescape

if TYPE_CHECKING:
    from mypy_extensions import i64

    PlainPosition: TypeAlias = tuple[i64, i64, i64, str, i64, str, i64, tuple[i64, i64]]


class TokenSink:
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


class Cursor(TokenSink):
    """The end of the text read so far, and the undecided characters there."""

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
        self.max_depth: i64 = min(limits.max_depth, MAX_LIMIT)
        self.max_chars: i64 = min(limits.max_chars, MAX_LIMIT)
        self.max_index: i64 = self.max_chars  # the index at which this document reaches `max_chars`
        self.max_string: i64 = min(limits.max_string, MAX_LIMIT)
        self.max_number: i64 = min(limits.max_number, MAX_LIMIT)
        self.max_nodes: i64 = min(limits.max_nodes, MAX_LIMIT)
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


class Position:
    """Where a cursor stood after a step; it never changes."""

    __slots__ = ("_held", "_index", "_line", "_mode", "_node_count", "_piece_count", "_pieces", "_step", "_token_start")

    def __init__(self, cursor: Cursor) -> None:
        self._step: i64 = cursor.step
        self._mode: i64 = cursor.mode
        self._index: i64 = cursor.index
        self._held: str = cursor.held
        self._token_start: i64 = cursor.token_start
        pieces = cursor.pieces
        self._pieces: list[str] = pieces  # shared with the cursor, which only appends to it
        self._piece_count: i64 = len(pieces)
        self._node_count: i64 = cursor.node_count
        self._line: tuple[i64, i64] = cursor.line

    @property
    def open_text(self) -> str:
        """The text so far of the open string, key or number, as far as it is certain."""
        return join_pieces(self._pieces, 0, self._piece_count)

    def __copy__(self) -> Position:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Position:
        return self

    def restore(self, cursor: Cursor) -> None:
        """Put a cursor where this one stood."""
        set_position(cursor, self.to_tuple())

    def to_tuple(self) -> PlainPosition:
        """Return the position as plain data, for a pickle."""
        return (
            self._step,
            self._mode,
            self._index,
            self._held,
            self._token_start,
            self.open_text,
            self._node_count,
            self._line,
        )


def set_position(cursor: Cursor, position: PlainPosition) -> None:
    """Put a cursor where another one stood."""
    (
        cursor.step,
        cursor.mode,
        cursor.index,
        cursor.held,
        cursor.token_start,
        open_text,
        cursor.node_count,
        cursor.line,
    ) = position
    cursor.pieces = [open_text] if open_text else []


class Skip:
    """The search for where reading can continue after an error; chunks may be cut anywhere."""

    __slots__ = ("closer", "depth", "in_string", "is_escaped")

    def __init__(self, closer: str, in_string: bool, is_escaped: bool, depth: i64) -> None:
        self.closer: str = closer  # the bracket that ends the innermost open container, "" if none is open
        self.in_string: bool = in_string
        self.is_escaped: bool = is_escaped
        self.depth: i64 = depth  # open brackets in the skipped text

    def copy(self) -> Skip:
        """Return an independent copy."""
        return Skip(self.closer, self.in_string, self.is_escaped, self.depth)

    def __reduce__(self) -> tuple[Callable[..., Skip], tuple[object, ...]]:
        return Skip, (self.closer, self.in_string, self.is_escaped, self.depth)

    def find_end(self, chunk: str) -> i64:
        """Return where in the chunk reading can continue, -1 if not in this chunk."""
        if not self.closer:
            return chunk.find("\n")
        i: i64 = 0
        n: i64 = len(chunk)
        while i < n:
            if self._ends_at(chunk[i]):
                return i
            i += 1
        return -1

    def _ends_at(self, char: str) -> bool:
        if self.is_escaped:
            self.is_escaped = False
        elif self.in_string:
            self.is_escaped = char == "\\"
            self.in_string = char != '"'
        elif char == '"':
            self.in_string = True
        elif char in ("[", "{"):
            self.depth += 1
        elif self.depth == 0:
            return char in (",", self.closer)
        elif char in ("]", "}"):
            self.depth -= 1
        return False


_NUMBER_MAY_END: Final = (modes.AFTER_ZERO, modes.INTEGER, modes.FRACTION, modes.EXPONENT)
_QUOTE: Final = 34
_BACKSLASH: Final = 92
_BYTE_ORDER_MARK: Final = "\ufeff"
_MORE: Final = "more"


class Scanner(Cursor):
    """Reads chunks, and calls its own sink methods for complete tokens."""

    __slots__ = ()

    def scan(self, chunk: str) -> bool:
        """Read a chunk; return whether all of it only continues a string or key that is still open.

        Afterwards `mode` is what may come next.
        """
        n: i64 = len(chunk)
        base: i64 = self.index
        end: i64 = base + n
        if end > self.max_index:
            self._scan_to_limit(chunk)
            return False
        self.index = end
        mode: i64 = self.mode
        if mode >= modes.VALUE:
            self.base = base
            self._read(chunk, 0, n)
            return False
        if self.held:
            chunk = self.held + chunk
            self.held = ""
            n = len(chunk)
            base = end - n
        i: i64 = 0
        if mode <= modes.KEY_TEXT:
            if COMPILED:
                i = plain_end(chunk, 0)
            elif '"' not in chunk and "\\" not in chunk and chunk.isprintable():
                i = n  # three quick checks in C
            if i == n and end - self.token_start <= self.max_string:
                self.pieces.append(chunk)
                return True
            self.base = base
            i = self._read_string(chunk, 0, i, n)
        else:
            self.base = base
            i = self._read_number(chunk, 0, n) if mode > modes.LITERAL else self._read_literal(chunk, 0, n)
        if i < n:
            self._read(chunk, i, n)
        return False

    def _scan_to_limit(self, chunk: str) -> None:
        """Read up to the limit, which moves when another document begins."""
        base: i64 = self.index - len(self.held)
        begin: i64 = 0
        while begin < len(chunk) and not self.is_over:
            room: i64 = self.max_index - self.index
            if room > 0:
                self.scan(chunk[begin : begin + room])
                begin += room
            else:
                wanted = f"at most {self.max_chars} characters of text"
                self.fail(Reason.TEXT_TOO_LONG, wanted, _MORE, self.index)
        self.base = base

    def _read(self, chunk: str, i: i64, n: i64) -> None:
        """Read the characters between tokens, by the table; each kind of token has its own reader."""
        grammar = GRAMMAR
        mode: i64 = self.mode
        while i < n:
            code: i64 = ord(chunk[i])
            cell: i64 = grammar[mode * 128 + code] if code < 128 else FAIL
            if cell < FAIL:
                mode = cell
                i += 1
            elif cell >= OPEN_STRING:
                self.mode = mode
                i = self._begin_value(chunk, i, n, cell)
                mode = self.mode
            elif cell == OPEN_KEY:
                i += 1
                self.mode = modes.KEY_TEXT
                self.token_start = self.base + i
                i = self._read_string(chunk, i, i, n)
                mode = self.mode
            elif cell == CLOSE:
                self.depth -= 1
                self.token_start = self.base + i
                self.after = mode = self.close_container()
                i += 1
            elif cell == NEWLINE:
                i += 1
                self.line = (self.line[0] + 1, self.base + i)
            else:
                self.mode = mode
                i = self._fail_at(chunk, i, n)
                mode = self.mode
        self.mode = mode

    def _begin_value(self, chunk: str, i: i64, n: i64, cell: i64) -> i64:
        """Read the value that begins at `i`."""
        if self.node_count >= self.max_nodes:
            self.fail(Reason.TOO_MANY_NODES, f"at most {self.max_nodes} values", _MORE, self.base + i)
            return n
        if cell == OPEN_STRING:
            self.node_count += 1
            i += 1
            self.mode = modes.STRING
            self.token_start = self.base + i
            return self._read_string(chunk, i, i, n)
        if cell == OPEN_OBJECT or cell == OPEN_ARRAY:
            return self._open_container(i, n, cell == OPEN_OBJECT)
        self.node_count += 1
        self.token_start = self.base + i
        if cell == BEGIN_NUMBER:
            self.mode = modes.NUMBER
            return self._read_number(chunk, i, n)
        self.mode = modes.LITERAL
        return self._read_literal(chunk, i, n)

    def _open_container(self, i: i64, n: i64, is_object: bool) -> i64:
        if self.depth >= self.max_depth:
            self.fail(Reason.TOO_DEEP, f"at most {self.max_depth} open containers", _MORE, self.base + i)
            return n
        self.depth += 1
        self.node_count += 1
        self.token_start = self.base + i
        if is_object:
            self.open_object()
            self.after = modes.AFTER_MEMBER
            self.mode = modes.KEY_OR_END
        else:
            self.open_array()
            self.after = modes.AFTER_ITEM
            self.mode = modes.ITEM_OR_END
        return i + 1

    def _read_string(self, chunk: str, i: i64, end: i64, n: i64) -> i64:
        """Continue the open string at `i`; the characters up to `end` are known to be plain."""
        while True:
            if COMPILED:
                end = plain_end(chunk, end)
            else:
                end = match_plain(chunk, end).end()
            if (end == n or ord(chunk[end]) == _QUOTE) and self.base + end - self.token_start <= self.max_string:
                break
            i = end = self._read_special(chunk, i, end, n)
            if i >= n:
                return n
        text = chunk[i:end]
        pieces = self.pieces
        if end == n:
            if text:
                pieces.append(text)
            return n
        if pieces:
            self.pieces = []  # not cleared: a state may still refer to it
            text = "".join(pieces) + text
        self.token_end = self.base + end
        if self.mode == modes.STRING:
            self.mode = self.after
            self.string(text)
            return end + 1
        reason = self.key(text)
        if reason is None:
            self.mode = modes.COLON
            return end + 1
        self.mode = modes.MEMBER  # the error belongs to the member, as its path shows
        self.fail(reason, "a key that the object does not have yet", name_text(text), self.token_end)
        return n

    def _read_special(self, chunk: str, i: i64, end: i64, n: i64) -> i64:
        """Keep a plain run, and read what follows it, which is not the closing quote."""
        limit: i64 = self.token_start + self.max_string - self.base
        if end >= limit:
            if limit > i:
                self.pieces.append(chunk[i:limit])
            self._fail_long_string(limit)
            return n
        if end > i:
            self.pieces.append(chunk[i:end])
        code: i64 = ord(chunk[end])
        if code != _BACKSLASH:
            found = name_character(chunk[end])
            self.fail(Reason.CONTROL_CHARACTER, "control characters to be escaped", found, self.base + end, IN_A_STRING)
            return n
        text, after = unescape(chunk, end)
        if after > limit:
            self._fail_long_string(limit)
        elif text:
            self.pieces.append(text)
            return after
        elif after > end:
            expected = expected_after(chunk[end:after])
            wanted = "a hex digit" if after > end + 1 else 'one of "\\/bfnrtu after a backslash'
            self.fail(Reason.BAD_ESCAPE, wanted, name_character(chunk[after]), self.base + after, expected)
        self.held = chunk[end : self.index - self.base]  # half an escape, or the valid part of a wrong one
        return n

    def _fail_long_string(self, limit: i64) -> None:
        wanted = f"the end of a string after {self.max_string} characters"
        self.fail(Reason.STRING_TOO_LONG, wanted, _MORE, self.base + limit)

    def _read_number(self, chunk: str, i: i64, n: i64) -> i64:
        grammar = GRAMMAR
        begin: i64 = i
        mode: i64 = self.mode
        cell: i64 = mode
        while i < n:
            code: i64 = ord(chunk[i])
            cell = grammar[mode * 128 + code] if code < 128 else grammar[mode * 128]
            if cell >= FAIL:
                break
            mode = cell
            i += 1
        self.mode = mode
        if self.base + i - self.token_start > self.max_number:
            limit: i64 = self.token_start + self.max_number - self.base
            if limit > begin:
                self.pieces.append(chunk[begin:limit])
            wanted = f"the end of a number after {self.max_number} characters"
            self.fail(Reason.NUMBER_TOO_LONG, wanted, _MORE, self.base + limit)
            return n
        if i == n or cell == FAIL:
            if i > begin:
                self.pieces.append(chunk[begin:i])
            return n if i == n else self._fail_at(chunk, i, n)
        return i if self._end_number(chunk[begin:i], self.base + i) else n

    def _end_number(self, lexeme: str, at: i64) -> bool:
        if self.pieces:
            lexeme = "".join(self.pieces) + lexeme
            self.pieces = []
        reason = self.number(lexeme, self.mode <= modes.INTEGER)
        if reason is not None:
            self.pieces = [lexeme]
            self.fail(reason, "a number in the range of Decimal", name_text(lexeme), at)
            return False
        self.mode = self.after
        return True

    def _read_literal(self, chunk: str, i: i64, n: i64) -> i64:
        word = LITERALS[chunk[i]]
        part = chunk[i : i + len(word)]
        if part == word:
            self.mode = self.after
            self.literal(word)
            return i + len(word)
        if word.startswith(part):
            self.held = part
            return n
        wrong = next(k for k, letter in enumerate(part) if letter != word[k])
        self.held = part[:wrong]
        found = name_character(part[wrong])
        self.fail(Reason.UNEXPECTED_CHARACTER, f"'{word}'", found, self.base + i + wrong, frozenset((word,)))
        return n

    def finish(self) -> None:
        """End the text: an open root number is complete now, anything else that is open is an error."""
        may_end = self.mode in _NUMBER_MAY_END
        if may_end and self.after == modes.DONE:
            self._end_number("", self.index)
        elif self.mode != modes.DONE:
            expecting: i64 = self.after if may_end else self.mode
            expected = EXPECTED[expecting]
            if expecting == modes.LITERAL:
                word = LITERALS[self.held[0]]
                wanted = f"'{word}'"
                expected = frozenset((word,))
            else:
                wanted = EXPECTED_WORDS[expecting]
                if expecting <= modes.KEY_TEXT:
                    expected = expected_after(self.held) or expected
            self.fail(Reason.UNEXPECTED_END, wanted, END_OF_TEXT, self.index, expected)

    def _fail_at(self, chunk: str, i: i64, n: i64) -> i64:
        """Fail at the character at `i`, unless it begins another document or is ignored."""
        at: i64 = self.base + i
        reason = Reason.UNEXPECTED_CHARACTER
        expected = EXPECTED[self.mode]
        if self.mode == modes.DONE:
            if self.begin_document(at):
                self.mode = modes.VALUE
                return i
            if self.ignore_trailing:
                self.trailing_index = self.index = at
                self.is_over = True
                return n
            reason = Reason.TRAILING_TEXT
        elif self.mode == modes.AFTER_ZERO:
            expected |= EXPECTED[self.after]
        elif at == 0 and chunk[i] == _BYTE_ORDER_MARK:
            reason = Reason.BYTE_ORDER_MARK
        self.fail(reason, EXPECTED_WORDS[self.mode], name_character(chunk[i]), at, expected)
        return n

    def begin_document(self, at: i64) -> bool:
        """Return whether another document may begin at this index."""
        return False
