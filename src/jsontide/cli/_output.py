"""Values, texts and bytes in, output out: as it is in a pipe, safe to print on a terminal.

Rule: nothing is printed that could steer a terminal. Messages pass through here in `_exits.say` and in `_app`, whoever
wrote them; escaping a text twice changes nothing.
Values are written without recursion: documents may be deeper than Python's stack.
Of a stream only the end is kept, to show the line of an error with a caret under the place.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from rich.cells import cell_len

from jsontide import JsonValue, ParserError
from jsontide._decode import Decoded
from jsontide._path import Path, path_text
from jsontide._values import STEERING, escape_unsafe
from jsontide.frontends import write_json

_TAB = 4
_UNSAFE_JSON = re.compile(rf"[{STEERING}]")


def escape_lines(text: str) -> str:
    """Replace unsafe characters but line ends; a tab is some spaces."""
    return "\n".join(escape_unsafe(line.expandtabs(_TAB)) for line in text.split("\n"))


def quote_safely(text: str) -> str:
    """Return a JSON string that is safe to print."""
    return escape_unsafe(write_json(text))


def escape_unsafe_json(text: str) -> str:
    """Make any part of a JSON text safe to print without changing its value."""
    # Unsafe characters are inside strings, except line ends and tabs between tokens.
    return _UNSAFE_JSON.sub(lambda match: json.dumps(match[0])[1:-1], text)


_ROOT = "root"


def short_path(path: Path) -> str:
    """Write a path as people type it, and as patterns read it: without `root` in front, unless it says nothing else."""
    text = path_text(path).removeprefix(_ROOT)
    return f"{_ROOT}{text}" if not text or path[0] == _ROOT else text.removeprefix(".")


@dataclass(slots=True)
class LineWriter:
    """Writes lines, and parts of lines, each at once, so that a pipe never lags behind; safely on a terminal."""

    out: BinaryIO
    is_terminal: bool
    is_line_open: bool = False
    """Whether something was written since the last line ended."""

    def write_text(self, text: str) -> None:
        """Write a text that may span several lines."""
        self._write(f"{escape_lines(text) if self.is_terminal else text}\n")

    def write_json(self, value: JsonValue) -> None:
        """Write a value as compact JSON."""
        self.write_json_text(write_json(value))

    def write_json_text(self, text: str, end: str = "\n") -> None:
        """Write a text in which everything unsafe is inside JSON strings."""
        self._write(f"{escape_unsafe_json(text) if self.is_terminal else text}{end}")

    def end_line(self) -> None:
        """End the last line, if it is open."""
        if self.is_line_open:
            self._write("\n")

    def _write(self, text: str) -> None:
        # Half a surrogate pair, which JSON can write and UTF-8 cannot, stays an escape.
        self.out.write(text.encode(errors="backslashreplace"))
        self.out.flush()
        self.is_line_open = not text.endswith("\n")


class RawOutput:
    """Writes each piece at once."""

    def __init__(self, out: BinaryIO, *, is_terminal: bool) -> None:
        self._out = out
        self._decoded = Decoded(errors="backslashreplace") if is_terminal else None

    def write(self, data: bytes) -> None:
        if self._decoded is not None:
            self._decoded = self._decoded.feed(data)
            data = escape_lines(self._decoded.text).encode()
        self._out.write(data)
        self._out.flush()


_INDENT = "  "
_DEEPEST = 200  # levels that are indented: otherwise a deep document would be spaces for the most part
_PARTS = re.compile(r'\[\]|\{\}|"(?:[^"\\]+|\\.)*"|[\[\]{},:]|[^\[\]{},:"]+')


def write_pretty(value: JsonValue) -> str:
    """Return a value as `json.dumps` does with `indent=2`, but with any numbers and any depth."""
    written: list[str] = []
    depth = 0
    for part in _PARTS.findall(write_json(value)):
        if part in {"]", "}"}:
            depth -= 1
            written.append(_break(depth))
        written.append(": " if part == ":" else part)
        if part in {"[", "{"}:
            depth += 1
        if part in {"[", "{", ","}:
            written.append(_break(depth))
    return "".join(written)


def _break(depth: int) -> str:
    return "\n" + _INDENT * min(depth, _DEEPEST)


_KEPT_BEFORE = 256  # characters before a place, to show them
_SHOWN_AFTER = 15  # cells after a place that are always shown


class Spot(NamedTuple):
    """A place in a text: its line and column, counted from 1, and the text around it."""

    line: int
    column: int
    text: str
    place: int


class RecentText:
    """The end of a stream of bytes as text, counted in code points as the parser counts them."""

    def __init__(self) -> None:
        # Invalid bytes become marks; the parser stops at the first of them, so all indices agree.
        self._decoded = Decoded()
        self._pieces: list[str] = []
        self._start = 0
        self._length = 0
        self._line = 1
        self._line_start = 0

    def feed(self, chunk: bytes) -> None:
        """Add a chunk. From now on no earlier place is looked up, except the end of the text before it."""
        self.settle(self._length)
        self.hold(chunk)

    def hold(self, chunk: bytes) -> None:
        """Add a chunk, and forget nothing."""
        self._decoded = self._decoded.feed(chunk)
        text = self._decoded.text if self._length else self._decoded.text.removeprefix("\ufeff")
        self._pieces.append(text)
        self._length += len(text)

    def remember(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Pass chunks on, and keep the end of them."""
        for chunk in chunks:
            self.feed(chunk)
            yield chunk

    def settle(self, index: int) -> None:
        """Forget the text before an index, except the little that is shown before an error."""
        cut = index - _KEPT_BEFORE - self._start
        if cut > 0:
            text = self._join()
            self._line, self._line_start = self._count(text, cut)
            self._start += cut
            self._pieces = [text[cut:]]

    def spot(self, index: int) -> Spot:
        text = self._join()
        place = max(index - self._start, 0)
        line, line_start = self._count(text, place)
        return Spot(line, index - line_start + 1, text, place)

    def explain(self, error: ParserError, width: int) -> str:
        """Return the message, the line and the caret."""
        return f"{describe(error)}\n{draw_place(self._join(), error.index - self._start, error.line, width)}"

    def _join(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def _count(self, text: str, place: int) -> tuple[int, int]:
        """Return the number of the line of a place, and the index at which that line begins."""
        newline = text.rfind("\n", 0, place)
        if newline < 0:
            return self._line, self._line_start
        return self._line + text.count("\n", 0, place), self._start + newline + 1


def describe(error: ParserError) -> str:
    """Return the message, with the path if the error has one."""
    where = f" at {escape_unsafe(path_text(error.path))}" if error.path else ""
    return f"{error.message}{where}"


def draw_place(text: str, place: int, line: int, width: int) -> str:
    """Return the line around a place of the text, cut to the width, and under it the caret."""
    gutter = f"{line} | "
    room = width - len(gutter)
    # A line may be as long as a chunk: it is cut roughly before its cells are measured.
    before = text[max(place - width, 0) : place].rpartition("\n")[2]
    after = escape_unsafe(text[place : place + max(width, _SHOWN_AFTER)].partition("\n")[0])
    before = _last_cells(escape_unsafe(before), room - cell_len(first_cells(after, _SHOWN_AFTER)))
    after = first_cells(after, max(room - cell_len(before), _SHOWN_AFTER))
    margin = " " * (len(gutter) + cell_len(before))
    return f"{gutter}{before}{after}\n{margin}^"


def first_cells(text: str, room: int) -> str:
    """Return the beginning of a text that is not wider."""
    while cell_len(text) > room:
        text = text[:-1]
    return text


def _last_cells(text: str, room: int) -> str:
    if cell_len(text) <= room:
        return text
    while cell_len(text) >= max(room, 1):
        text = text[1:]
    return "…" + text
