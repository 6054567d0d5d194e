"""Lines of snapshots in, the text chunks that they add out.

Rule: a chunk is written before the next line is read, so that a pipe shows what is known.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from jsontide import JsonStreamChunker, JsonStreamError, SnapshotConflict
from jsontide.cli._words import printable


class BadSnapshotError(Exception):
    """Says which line holds what cannot be added, and why."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What went through a chunker."""

    snapshots: int
    chunks: int
    text: str
    last: bytes

    def is_equal(self) -> bool:
        """Whether the chunks together are the last snapshot, as Python's own reader reads both."""
        return self.snapshots == 0 or _canonical(self.text) == _canonical(self.last)


def write_chunks(lines: Iterable[bytes], chunker: JsonStreamChunker, write: Callable[[str], None]) -> Summary:
    """Write what each snapshot adds, and what closes the last one."""
    snapshots = chunks = 0
    last = b""
    for place, line in _snapshots(lines):
        chunk = _at(place, chunker.process, line)
        snapshots += 1
        last = line
        if chunk:
            chunks += 1
            write(chunk)
    chunk = _at("at the end", chunker.finish)
    if chunk:
        chunks += 1
        write(chunk)
    return Summary(snapshots, chunks, chunker.text, last)


def as_lines(out: BinaryIO) -> Callable[[str], None]:
    """Write each chunk as a JSON string on a line of its own."""

    def write(chunk: str) -> None:
        out.write(json.dumps(chunk, ensure_ascii=False).encode() + b"\n")
        out.flush()

    return write


def as_text(out: BinaryIO) -> Callable[[str], None]:
    """Write the chunks as they are, so that the output is the JSON text."""

    def write(chunk: str) -> None:
        out.write(chunk.encode())
        out.flush()

    return write


def _snapshots(lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the lines that are not blank, and which they are."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield f"line {number}", line.rstrip(b"\r\n")


def _at(place: str, step: Callable[..., str], *arguments: bytes) -> str:
    try:
        return step(*arguments)
    except JsonStreamError as error:
        message = f"{place}: not JSON: {error}"
        raise BadSnapshotError(message) from error
    except SnapshotConflict as error:
        message = f"{place}: {printable(str(error))}"
        raise BadSnapshotError(message) from error


def _canonical(text: str | bytes) -> str:
    """Write a value so that equal ones are equal texts; `==` would take 1, 1.0 and true for one another."""
    return repr(json.loads(text, parse_int=_Digits, object_pairs_hook=_sorted))


class _Digits(str):
    """An integer as it was written, in no quotes: it may have more digits than Python converts."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _sorted(members: list[tuple[str, object]]) -> dict[str, object]:
    whole = dict(members)
    return {key: whole[key] for key in sorted(whole)}
