"""`jsontide chunk`: lines of snapshots in, the text chunks that they add out.

Rule: a chunk is written before the next line is read, so that a pipe never lags behind.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from jsontide import JsonStreamChunker, JsonStreamError, SnapshotConflict
from jsontide.cli._exits import exit_codes, report, say
from jsontide.cli._input import open_stdout, read_lines, read_stdin_lines, show_progress


class BadSnapshotError(Exception):
    """Names the line that cannot be added, and why."""


@dataclass(frozen=True, slots=True)
class Summary:
    """How much went through a chunker, and the text that came out."""

    snapshots: int
    chunks: int
    text: str
    last: bytes

    def is_equal(self) -> bool:
        """Return whether the joined chunks equal the last snapshot, both parsed by Python's `json`."""
        return self.snapshots == 0 or _canonical(self.text) == _canonical(self.last)


def write_chunks(lines: Iterable[bytes], chunker: JsonStreamChunker, write: Callable[[str], None]) -> Summary:
    """Write the chunk of each snapshot, and the one that closes the last snapshot."""
    snapshots = chunks = 0
    last = b""
    for place, line in _snapshots(lines):
        if line is None:
            chunk = _at(place, chunker.flush)
        else:
            chunk = _at(place, chunker.process, line)
            snapshots += 1
            last = line
        if chunk:
            chunks += 1
            write(chunk)
    return Summary(snapshots, chunks, chunker.text, last)


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
        raise BadSnapshotError(f"{place}: not JSON: {error}") from error
    except SnapshotConflict as error:
        raise BadSnapshotError(f"{place}: {error}") from error


def _canonical(text: str | bytes) -> str:
    """Return the same text for equal values only; `==` would take 1, 1.0 and true for one another."""
    return repr(
        json.loads(text, parse_int=_Digits, object_pairs_hook=lambda members: dict(sorted(dict(members).items())))
    )


class _Digits(str):
    """An integer as it was written, without quotes: it may have more digits than Python converts."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def chunk(  # noqa: PLR0913 - options, all by name
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file with one snapshot per line, or - for standard input.")
    ],
    *,
    raw: Annotated[bool, typer.Option("--raw", help="Write the chunks unquoted: the output is the JSON text.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compare the joined chunks with the last line, and report the result.")
    ] = False,
    on_conflict: Annotated[
        Literal["raise", "repair"],
        typer.Option(help="What to do with a member that contradicts what is written: fail, or write it again."),
    ] = "raise",
    key_order: Annotated[
        Literal["any", "kept"], typer.Option(help="Whether keys come in any order, or in the order of writing.")
    ] = "any",
    numbers: Annotated[
        Literal["whole", "grow"], typer.Option(help="Whether numbers arrive whole, or digit by digit.")
    ] = "whole",
    empty: Annotated[
        Literal["early", "late"], typer.Option(help="Whether to write empty values at once, or once they fill.")
    ] = "early",
    nulls: Annotated[
        Literal["early", "late"], typer.Option(help="Whether to write null at once, or once its container closes.")
    ] = "early",
    max_wait: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            show_default=False,
            help="How many snapshots values may wait until it is clear which one grows. Default: no limit.",
        ),
    ] = None,
    ensure_ascii: Annotated[
        bool, typer.Option("--ensure-ascii", help="Escape all characters that are not ASCII.")
    ] = False,
) -> None:
    """Turn snapshots of a growing value back into the text chunks of a stream.

    Each line is the whole value, as far as it has come; blank lines are skipped.
    Writes each chunk as a JSON string on a line of its own, as soon as its snapshot is read.
    The joined chunks are the last snapshot as compact JSON.

    Stops at a snapshot that contradicts what is already written.
    Shows a progress bar for long files when output is redirected.

    Exit codes: 0 all snapshots became text; 1 a line is not JSON or contradicts what is written,
    or the check failed, and standard error says where; 2 invalid command line, or the source or
    the output cannot be used; 130 interrupted; 141 the output was closed.
    """
    chunker = JsonStreamChunker(
        on_conflict=on_conflict,
        key_order=key_order,
        numbers=numbers,
        empty=empty,
        nulls=nulls,
        max_wait=max_wait,
        ensure_ascii=ensure_ascii,
    )
    with exit_codes():
        writer = open_stdout()
        write = partial(writer.write_json_text, end="") if raw else writer.write_json
        try:
            lines = read_stdin_lines(sys.stdin) if file == "-" else show_progress(Path(file), read_lines(Path(file)))
            summary = write_chunks(lines, chunker, write)
        except BadSnapshotError as error:
            raise report(str(error)) from error
        if raw and writer.is_terminal:
            typer.echo()
    if check:
        _report_check(summary)


def _report_check(summary: Summary) -> None:
    counts = f"{summary.snapshots or 'no'} snapshots, {summary.chunks or 'no'} chunks"
    try:
        is_equal = summary.is_equal()
    except RecursionError:
        raise report(f"{counts}: not checked: too deeply nested for Python's json") from None
    if not is_equal:
        raise report(f"{counts}: joined, they differ from the last snapshot")
    say(f"jsontide: {counts}: joined, they equal the last snapshot")
