"""Values and texts in, lines of output out, safe to print where the output is a terminal."""

from dataclasses import dataclass
from typing import BinaryIO

from jsontide import JsonValue
from jsontide._path import Path, path_text
from jsontide.cli._escape import escape_lines, escape_unsafe_json
from jsontide.deltas import write_json

_ROOT = "root"


def short_path(path: Path) -> str:
    """Write a path as people type it, and as patterns read it: without `root` in front, unless it says nothing else."""
    text = path_text(path).removeprefix(_ROOT)
    return f"{_ROOT}{text}" if not text or path[0] == _ROOT else text.removeprefix(".")


@dataclass(frozen=True, slots=True)
class LineWriter:
    """Writes lines, each at once, so that a pipe never lags behind."""

    out: BinaryIO
    is_terminal: bool

    def write_text(self, text: str) -> None:
        """Write a text that may span several lines."""
        self._write(escape_lines(text) if self.is_terminal else text)

    def write_json(self, value: JsonValue) -> None:
        """Write a value as compact JSON."""
        self.write_json_text(write_json(value))

    def write_json_text(self, text: str) -> None:
        """Write a line in which everything unsafe is inside JSON strings."""
        self._write(escape_unsafe_json(text) if self.is_terminal else text)

    def _write(self, text: str) -> None:
        # Half a surrogate pair, which JSON can write and UTF-8 cannot, stays an escape.
        self.out.write(text.encode(errors="backslashreplace") + b"\n")
        self.out.flush()
