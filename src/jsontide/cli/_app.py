"""The commands, their options and their exit codes; the other modules do the work."""

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import Progress

from jsontide import COMPILED, JsonStreamChunker, ParserState, __version__
from jsontide.cli._chunk import BadSnapshotError, Summary, encode_line, write_chunks
from jsontide.cli._excerpt import RecentText
from jsontide.cli._source import Sizes, UnreadableError, file_size, read_lines, read_stdin, read_stdin_lines, replay
from jsontide.cli._watch import show_lines, show_live

BAD_TEXT = 1
INTERRUPTED = 130
PIPE_CLOSED = 141

_STANDARD_INPUT = 0
_TERMINAL_DELAY = 0.02
_LONGEST_DELAY = 86_400  # a day: the system has a limit
_FRAME = 1 / 30
_LONG = 1_000_000  # bytes of a file that gets a progress bar

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help: brackets in it are JSON and extras, not markup.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        typer.echo(f"jsontide {__version__} ({'compiled' if COMPILED else 'pure'})")
        raise typer.Exit


@app.callback()
def jsontide(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Incremental JSON for streams."""


def _sizes(text: str) -> Sizes:
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text, re.ASCII)
    if match is None:
        raise typer.BadParameter("expected a number or a range such as 1-8", param_hint="--size")
    low, high = int(match[1]), int(match[2] or match[1])
    if not 1 <= low <= high:
        raise typer.BadParameter("a range must start at 1 or more and go up", param_hint="--size")
    return Sizes(low, high)


@app.command()
def watch(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file to replay, or - for standard input.")],
    *,
    size: Annotated[str, typer.Option(metavar="N|LOW-HIGH", help="Bytes in each piece of a replayed file.")] = "1-8",
    seed: Annotated[int, typer.Option(metavar="N", help="Seed for the random sizes of a replayed file.")] = 0,
    delay: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=_LONGEST_DELAY,
            metavar="SECONDS",
            show_default=False,
            help="Pause after each piece of a replayed file. Default: 0.02 on a terminal, otherwise 0.",
        ),
    ] = None,
) -> None:
    """Show the value of a JSON text while the text arrives.

    Replays a file in pieces of a few bytes, as a model would send it.
    Reads standard input as it arrives.

    On a terminal, draws the value in place, with a mark where it grows.
    Shows only the end of a value that does not fit.

    Otherwise, writes the whole value as one line of compact JSON after each change.
    The last line is the final value.

    Exit codes: 0 the text was one complete JSON document; 1 it was not, and standard error says
    where; 2 invalid command line, or the source or the output cannot be used; 130 interrupted;
    141 the output was closed.
    """
    sizes = _sizes(size)
    recent = RecentText()
    with _exit_codes():
        state = _watch(file, sizes, seed, delay, recent)
    if state.error is not None:
        width = Console(stderr=True).width
        raise _report(recent.explain(state.error, width))


@contextmanager
def _exit_codes() -> Iterator[None]:
    """Turn the errors of any command into exit codes."""
    if sys.stdout is None:  # the descriptor is closed
        raise typer.BadParameter("cannot write standard output: it is closed")
    try:
        yield
    except UnreadableError as error:
        raise typer.BadParameter(str(error)) from error
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        _discard_output()
        raise typer.Exit(PIPE_CLOSED) from None
    except OSError as error:
        _discard_output()
        raise typer.BadParameter(f"cannot write standard output: {error.strerror}") from error


def _discard_output() -> None:
    """Let Python flush standard output at exit without an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(message: str) -> typer.Exit:
    """Print what is wrong with the input; return the exit to raise."""
    typer.echo(f"jsontide: {message}", err=True)
    return typer.Exit(BAD_TEXT)


def _watch(file: str, sizes: Sizes, seed: int, delay: float | None, recent: RecentText) -> ParserState:
    on_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    total = None
    every = 0.0
    if file == "-":
        # Each read takes everything that has arrived, so drawing each time cannot fall behind.
        chunks = read_stdin(_STANDARD_INPUT)
    else:
        path = Path(file)
        total = file_size(path)
        every = _FRAME
        pause = delay if delay is not None else _TERMINAL_DELAY * on_terminal
        chunks = _pause_after_each(replay(path, sizes, seed), pause)
    if on_terminal:
        return show_live(_remember(chunks, recent), Console(), total=total, every=every)
    return show_lines(_remember(chunks, recent), sys.stdout.buffer)


def _remember(chunks: Iterable[bytes], recent: RecentText) -> Iterator[bytes]:
    for chunk in chunks:
        recent.feed(chunk)
        yield chunk


def _pause_after_each(chunks: Iterable[bytes], delay: float) -> Iterator[bytes]:
    for chunk in chunks:
        yield chunk
        if delay:  # even a sleep of 0 seconds yields the processor
            time.sleep(delay)


@app.command()
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
    with _exit_codes():
        try:
            summary = write_chunks(_lines(file), chunker, sys.stdout.buffer, str.encode if raw else encode_line)
        except BadSnapshotError as error:
            raise _report(str(error)) from error
        if raw and sys.stdout.isatty():
            typer.echo()
    if check:
        _check(summary)


def _lines(file: str) -> Iterator[bytes]:
    """Yield the lines of a source, with a progress bar for a long file if nothing else is on the terminal."""
    if file == "-":
        yield from read_stdin_lines(sys.stdin)
        return
    path = Path(file)
    total = file_size(path)
    shows = total is not None and total > _LONG and sys.stderr.isatty() and not sys.stdout.isatty()
    with Progress(console=Console(stderr=True), transient=True, disable=not shows) as progress:
        task = progress.add_task(path.name, total=total)
        for line in read_lines(path):
            yield line
            progress.advance(task, len(line))


def _check(summary: Summary) -> None:
    counts = f"{summary.snapshots or 'no'} snapshots, {summary.chunks or 'no'} chunks"
    try:
        is_equal = summary.is_equal()
    except RecursionError:
        raise _report(f"{counts}: not checked: too deeply nested for Python's json") from None
    if not is_equal:
        raise _report(f"{counts}: joined, they differ from the last snapshot")
    typer.echo(f"jsontide: {counts}: joined, they equal the last snapshot", err=True)
