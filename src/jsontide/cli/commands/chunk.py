"""`jsontide chunk`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from jsontide import JsonStreamChunker
from jsontide.cli._chunk_lines import BadSnapshotError, Summary, encode_line, write_chunks
from jsontide.cli._exits import exit_codes, report, say
from jsontide.cli._source import read_lines, read_stdin_lines
from jsontide.cli._terminal import show_progress


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
        try:
            summary = write_chunks(_lines(file), chunker, sys.stdout.buffer, str.encode if raw else encode_line)
        except BadSnapshotError as error:
            raise report(str(error)) from error
        if raw and sys.stdout.isatty():
            typer.echo()
    if check:
        _report_check(summary)


def _lines(file: str) -> Iterator[bytes]:
    if file == "-":
        return read_stdin_lines(sys.stdin)
    return show_progress(Path(file), read_lines(Path(file)))


def _report_check(summary: Summary) -> None:
    counts = f"{summary.snapshots or 'no'} snapshots, {summary.chunks or 'no'} chunks"
    try:
        is_equal = summary.is_equal()
    except RecursionError:
        raise report(f"{counts}: not checked: too deeply nested for Python's json") from None
    if not is_equal:
        raise report(f"{counts}: joined, they differ from the last snapshot")
    say(f"jsontide: {counts}: joined, they equal the last snapshot")
