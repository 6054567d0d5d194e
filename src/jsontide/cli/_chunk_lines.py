"""Lines of snapshots in, the text chunks that they add out.

Rule: a chunk is written before the next line is read, so that a pipe never lags behind.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from jsontide import JsonStreamChunker, JsonStreamError, SnapshotConflict
from jsontide.cli._escape import escape_unsafe


class BadSnapshotError(Exception):
    """Names the line that cannot be added, and why."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What went through a chunker, and what came out."""

    snapshots: int
    chunks: int
    text: str
    last: bytes

    def is_equal(self) -> bool:
        """Return whether the joined chunks equal the last snapshot, both parsed by Python's `json`."""
        return self.snapshots == 0 or _canonical(self.text) == _canonical(self.last)


def write_chunks(
    lines: Iterable[bytes], chunker: JsonStreamChunker, out: BinaryIO, encode: Callable[[str], bytes]
) -> Summary:
    """Write the chunk of each snapshot, and the one that closes the last snapshot."""
    snapshots = chunks = 0
    last = b""
    for place, line in _snapshots(lines):
        if line is None:
            chunk = _at(place, chunker.finish)
        else:
            chunk = _at(place, chunker.process, line)
            snapshots += 1
            last = line
        if chunk:
            chunks += 1
            out.write(encode(chunk))
            out.flush()
    return Summary(snapshots, chunks, chunker.text, last)


def encode_line(chunk: str) -> bytes:
    """Return a chunk as a JSON string on a line of its own."""
    return json.dumps(chunk, ensure_ascii=False).encode() + b"\n"


def _snapshots(lines: Iterable[bytes]) -> Iterator[tuple[str, bytes | None]]:
    """Yield each line that is not blank with its place, then `None` for the end."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield f"line {number}", line.rstrip(b"\r\n")
    yield "at the end", None


def _at(place: str, step: Callable[..., str], *arguments: bytes) -> str:
    try:
        return step(*arguments)
    except JsonStreamError as error:
        message = f"{place}: not JSON: {error}"
        raise BadSnapshotError(message) from error
    except SnapshotConflict as error:
        message = f"{place}: {escape_unsafe(str(error))}"
        raise BadSnapshotError(message) from error


def _canonical(text: str | bytes) -> str:
    """Return the same text for equal values only; `==` would take 1, 1.0 and true for one another."""
    return repr(json.loads(text, parse_int=_Digits, object_pairs_hook=_sort_members))


class _Digits(str):
    """An integer as it was written, without quotes: it may have more digits than Python converts."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _sort_members(members: list[tuple[str, object]]) -> dict[str, object]:
    whole = dict(members)
    return {key: whole[key] for key in sorted(whole)}
