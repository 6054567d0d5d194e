"""JSON text in, its value out, with numbers as they were written; what did not change is the same objects as before.

`read_whole` uses Python's own parser, which is fast but has a limit of depth and says little about errors.
Where that gives up, a `SnapshotReader` parses the text again by our own grammar, for the value or the exact error.
A `SnapshotReader` also takes text in pieces, and can be forked.
Rule: a reader that was forked reads no more, and no container that it shares with its forks is ever changed.
A fork copies an open container when it first adds to it; closed containers are shared for ever.

`ParsedText` reads one snapshot after another. A text that continues the last one, apart from the brackets and quotes
that closed that one, is not read again: the reader that stopped there reads the new part, and a fork of it reads the
closing characters. Any other text is read whole.
Rule: the value equals that of parsing the whole text, and no source makes this much slower than parsing whole texts.
Our own reader, which can continue, is slower than Python's, which cannot.
While every text continues the last one, ours reads each character once.
After the first that does not, and where several continue the same text, ours reads in each step only as much as takes
as long as reading the whole text would; until it has caught up, texts are read whole.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from jsontide._build import COMPILED
from jsontide._decode import ByteSource, as_text
from jsontide._errors import JsonStreamError, ParserError, Reason
from jsontide._path import Path, Segment
from jsontide._values import MAX_DEPTH
from jsontide.text import Limits, modes
from jsontide.text.grammar import AT_A_VALUE, LITERAL_VALUES
from jsontide.text.options import MAX_LIMIT
from jsontide.text.scanner import Position, Scanner

if TYPE_CHECKING:
    from mypy_extensions import i64


_SNAPSHOT_LIMITS: Final = Limits(
    max_depth=MAX_DEPTH, max_chars=MAX_LIMIT, max_string=MAX_LIMIT, max_number=MAX_LIMIT, max_nodes=MAX_LIMIT
)


def _refuse(constant: str) -> float:
    # RFC 8259, 6: numeric values that cannot be represented in the grammar below (such as Infinity and NaN) are not
    # permitted.
    raise ValueError(constant)


_DECODER: Final = json.JSONDecoder(parse_int=str.encode, parse_float=str.encode, parse_constant=_refuse)
_REFUSALS: Final[Any] = (ValueError, RecursionError)  # made once: there may be no memory to make it when it is needed


class SnapshotReader(Scanner):
    """Builds the value of one text; numbers stay as they were written, as `bytes`."""

    __slots__ = ("keys", "known_keys", "shared", "values")

    def __init__(self) -> None:
        super().__init__(_SNAPSHOT_LIMITS, ignore_trailing=False)
        self.values: list[Any] = []  # the open containers, outermost first; at the end the root
        self.keys: list[Segment] = []  # the key or index of the next value in each
        self.shared: i64 = 0  # how many of the containers may belong to another reader, or to a value
        self.known_keys: dict[str, str] = {}  # equal keys are one object

    def fork(self) -> SnapshotReader:
        """Return a reader that continues from here, and leaves this one as it is."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]  # once for all forks
        fork = SnapshotReader()
        Position(self).restore(fork)
        fork.after = self.after
        fork.depth = self.depth
        fork.values = self.values.copy()
        fork.keys = self.keys.copy()
        fork.shared = len(self.values)
        fork.known_keys = self.known_keys
        return fork

    def read_on(self, text: str, stop: i64) -> SnapshotReader:
        """Return a reader that has read a text up to `stop`; this one has read the beginning of it."""
        if self.is_over or self.index >= stop:
            return self
        fork = self.fork()
        fork.scan(text[self.index : stop])
        return fork

    def end(self, text: str) -> None:
        """Read the rest of the text: then there is a value, or an error."""
        if text:
            self.scan(text)
        if not self.is_over:
            self.finish()

    def open_object(self) -> None:
        self.values.append({})
        self.keys.append("")

    def open_array(self) -> None:
        self.values.append([])
        self.keys.append(0)

    def close_container(self) -> i64:
        value = self.values.pop()
        self.keys.pop()
        self._add(value)
        if self.depth == 0:
            return modes.DONE
        return modes.AFTER_MEMBER if isinstance(self.values[-1], dict) else modes.AFTER_ITEM

    def key(self, text: str) -> Reason | None:
        self.keys[-1] = self.known_keys.setdefault(text, text)
        return None

    def string(self, text: str) -> None:
        self._add(text)

    def number(self, lexeme: str, is_integer: bool) -> Reason | None:
        self._add(lexeme.encode())
        return None

    def literal(self, word: str) -> None:
        self._add(LITERAL_VALUES[word])

    def path(self) -> Path:
        return tuple(self.keys) if self.mode in AT_A_VALUE else tuple(self.keys[:-1])

    def _add(self, value: Any) -> None:
        level: i64 = len(self.values) - 1
        if level < 0:
            self.values.append(value)
            return
        container = self.values[level]
        if level < self.shared:
            container = self.values[level] = container.copy()
            self.shared = level
        if isinstance(container, dict):
            container[self.keys[-1]] = value
        else:
            container.append(value)
            self.keys[-1] = len(container)


def snapshot_text(snapshot: str | bytes | bytearray | memoryview) -> str:
    """Return the text of a snapshot, or raise `JsonStreamError` if its bytes are not UTF-8."""
    source, text, is_good = as_text(snapshot, None, 0, "snapshot")
    if source is not None and (source.pending or not is_good):
        raise JsonStreamError(_error_before(text, source))
    return text


def read_whole(text: str) -> Any:
    """Return the value of a whole text, or raise `JsonStreamError`.

    >>> read_whole('{"days": [1, 2.50]}')
    {'days': [b'1', b'2.50']}
    """
    try:
        return _DECODER.decode(text)
    except _REFUSALS:
        reader = SnapshotReader()
    reader.end(text)
    if reader.error is not None:
        raise JsonStreamError(reader.error)
    return reader.values.pop()


def _error_before(text: str, source: ByteSource) -> ParserError:
    """Return the first error of bytes that are not valid UTF-8; the text before them may be wrong already."""
    reader = SnapshotReader()
    reader.scan(text)
    if reader.error is None:
        reader.fail(Reason.BAD_UTF8, source.wanted, source.found, reader.index)
    assert reader.error is not None  # either of the two
    return reader.error


_CLOSING_CHARACTERS: Final = ' \t\n\r"]}'
"""Characters at the end of a text that may only close open values; if they belong to a string, they are read again."""
_RSTRIP: Final[Any] = str.rstrip  # typed Any: mypyc's own rstrip ignores a lack of memory
SLOWDOWN: Final = 3 if COMPILED else 16
"""About how many characters Python's reader reads while ours reads one."""
_SHORT_TEXT: Final = 250 if COMPILED else 1_000
"""Below about this length, reading the whole text is as fast as continuing."""


class ParsedText:
    """The text that was read last, and a reader that has read some of it.

    It can be continued any number of times: that changes the cost of the next text, not its value.
    """

    __slots__ = ("is_append_only", "is_continued", "length", "pieces", "reader", "switched_reader")

    def __init__(self, pieces: tuple[str, ...], length: i64, is_append_only: bool) -> None:
        self.pieces: tuple[str, ...] = pieces  # the text, without the closing characters at its end
        self.length: i64 = length  # characters in these
        self.is_append_only: bool = is_append_only  # every text so far has continued the last one
        self.reader: SnapshotReader | None = None  # it has read the pieces, or part of them
        self.is_continued: bool = False  # the value was made by the reader
        self.switched_reader: bool = False  # and the one before it was not

    def read(self, text: str) -> tuple[Any, ParsedText]:
        """Return the value of the next text, and the `ParsedText` of it, or raise `JsonStreamError`."""
        is_continuation = self._is_continued_by(text)
        if not is_continuation or self.length == 0 or len(text) < _SHORT_TEXT:
            return _read_anew(text, self.is_append_only and is_continuation)
        new = _without_closing(text[self.length :])
        end: i64 = self.length + len(new)
        is_append_only = self.is_append_only
        self.is_append_only = False
        most: i64 = len(text) if is_append_only else len(text) // SLOWDOWN
        first = SnapshotReader() if self.reader is None else self.reader
        start: i64 = first.index
        stop: i64 = min(end, start + most)
        # Kept, so that this part is not read again if another text continues this one too.
        self.reader = first = first.read_on(text, min(stop, self.length))
        reader = first.read_on(text, stop)
        if reader.error is not None:
            return _read_anew(text, False)
        after = ParsedText(_append(self.pieces, new), end, is_append_only)
        after.reader = reader
        if len(text) - start > most:
            return read_whole(text), after
        last = reader.fork()
        last.end(text[end:])
        if last.error is not None:
            return _read_anew(text, False)
        after.is_continued = True
        after.switched_reader = not self.is_continued
        return last.values.pop(), after

    def _is_continued_by(self, text: str) -> bool:
        """Return whether a text begins with this one; the end is compared first, as it differs most often."""
        start: i64 = self.length
        for piece in reversed(self.pieces):
            start -= len(piece)
            if not text.startswith(piece, start):
                return False
        return True


NOTHING_READ: Final = ParsedText((), 0, True)


def _read_anew(text: str, is_append_only: bool) -> tuple[Any, ParsedText]:
    """Read a text whole, keeping nothing of the texts before but whether each continued the last."""
    value = read_whole(text)
    kept = _without_closing(text)
    return value, ParsedText(_append((), kept), len(kept), is_append_only)


def _without_closing(text: str) -> str:
    kept: str = _RSTRIP(text, _CLOSING_CHARACTERS)
    return kept


def _append(pieces: tuple[str, ...], new: str) -> tuple[str, ...]:
    """Append to a text in pieces, each at least twice as long as the next: they are few, and long ones are not copied.

    >>> _append(("abcdefgh", "ij"), "k"), _append(("abcdefgh", "ij"), "kl")
    (('abcdefgh', 'ij', 'k'), ('abcdefgh', 'ijkl'))
    """
    if not new:
        return pieces
    length: i64 = len(new)
    kept: i64 = len(pieces)
    while kept > 0 and len(pieces[kept - 1]) < 2 * length:
        kept -= 1
        length += len(pieces[kept])
    return (*pieces[:kept], "".join((*pieces[kept:], new)))
