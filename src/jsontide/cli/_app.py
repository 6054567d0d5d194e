"""The commands, their options and their exit codes; what they do stands in the modules beside."""

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
from jsontide.cli._chunk import BadSnapshotError, Summary, as_lines, as_text, write_chunks
from jsontide.cli._excerpt import Recent
from jsontide.cli._source import Sizes, UnreadableError, arriving, arriving_lines, length, lines, replay
from jsontide.cli._watch import show_frames, show_lines

BAD_TEXT = 1
INTERRUPTED = 130
PIPE_CLOSED = 141

_STANDARD_INPUT = 0
_TERMINAL_DELAY = 0.02
_LONGEST_DELAY = 86_400  # a day: the system does not take any number
_FRAME = 1 / 30
_LONG = 1_000_000  # bytes of a file that takes a while

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help: brackets in it are JSON and extras, not colours.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - the shape of a typer callback
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
        raise typer.BadParameter("a range starts at 1 or more and goes up", param_hint="--size")
    return Sizes(low, high)


@app.command()
def watch(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file to replay, or - for standard input.")],
    *,
    size: Annotated[str, typer.Option(metavar="N|LOW-HIGH", help="Replaying a file: bytes in a piece.")] = "1-8",
    seed: Annotated[int, typer.Option(metavar="N", help="Replaying a file: the seed that chooses the sizes.")] = 0,
    delay: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=_LONGEST_DELAY,
            metavar="SECONDS",
            show_default=False,
            help="Replaying a file: the wait after each piece. By default 0.02 on a terminal and 0 elsewhere.",
        ),
    ] = None,
) -> None:
    """Show the value of a JSON text while the text arrives.

    A file is replayed in pieces of a few bytes, as a model would send it.
    Standard input is read as it comes, cut anywhere.

    On a terminal the growing value is drawn in place, with a mark at its growing end.
    Of a long value the end is shown, as much as fits.

    Elsewhere each change of the value is one line of compact JSON, the whole value each time.
    The last line is the final value.

    Exit codes: 0 the text was one complete JSON document; 1 it was not, and standard error says
    where; 2 the command line, the source or the output is not usable; 130 interrupted; 141 nobody
    reads the output any more.
    """
    sizes = _sizes(size)
    recent = Recent()
    with _exit_codes():
        state = _show(file, sizes, seed, delay, recent)
    if state.error is not None:
        width = Console(stderr=True).width
        raise _bad(recent.explain(state.error, width))


@contextmanager
def _exit_codes() -> Iterator[None]:
    """Turn what can happen to any command into its exit code."""
    if sys.stdout is None:  # where the descriptor is closed
        raise typer.BadParameter("cannot write standard output: it is closed")
    try:
        yield
    except UnreadableError as error:
        raise typer.BadParameter(str(error)) from error
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        _write_no_more()
        raise typer.Exit(PIPE_CLOSED) from None
    except OSError as error:
        _write_no_more()
        raise typer.BadParameter(f"cannot write standard output: {error.strerror}") from error


def _write_no_more() -> None:
    """Let Python flush standard output once more when it ends, and not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bad(message: str) -> typer.Exit:
    """Say what is wrong with the input; return the exit that goes with it."""
    typer.echo(f"jsontide: {message}", err=True)
    return typer.Exit(BAD_TEXT)


def _show(file: str, sizes: Sizes, seed: int, delay: float | None, recent: Recent) -> ParserState:
    on_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    total = None
    every = 0.0
    if file == "-":
        # Each read takes all that has arrived, so drawing each time cannot fall behind.
        chunks = arriving(_STANDARD_INPUT)
    else:
        path = Path(file)
        total = length(path)
        every = _FRAME
        pause = delay if delay is not None else _TERMINAL_DELAY * on_terminal
        chunks = _paced(replay(path, sizes, seed), pause)
    if on_terminal:
        return show_frames(_noted(chunks, recent), Console(), total=total, every=every)
    return show_lines(_noted(chunks, recent), sys.stdout.buffer)


def _noted(chunks: Iterable[bytes], recent: Recent) -> Iterator[bytes]:
    for chunk in chunks:
        recent.feed(chunk)
        yield chunk


def _paced(chunks: Iterable[bytes], delay: float) -> Iterator[bytes]:
    for chunk in chunks:
        yield chunk
        if delay:  # even a sleep of nothing gives the processor away
            time.sleep(delay)


@app.command()
def chunk(  # noqa: PLR0913 - options, all by name
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file with one snapshot per line, or - for standard input.")
    ],
    *,
    raw: Annotated[bool, typer.Option("--raw", help="Write the chunks as they are: the output is the text.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compare all chunks, joined, with the last line, and say so.")
    ] = False,
    on_conflict: Annotated[
        Literal["raise", "repair"], typer.Option(help="Whether a member that was written wrong is written again.")
    ] = "raise",
    key_order: Annotated[
        Literal["any", "kept"], typer.Option(help="Whether keys come in the order in which they were made.")
    ] = "any",
    numbers: Annotated[Literal["whole", "grow"], typer.Option(help="Whether numbers come digit by digit.")] = "whole",
    empty: Annotated[
        Literal["early", "late"], typer.Option(help="Whether empty values are written before they fill.")
    ] = "early",
    nulls: Annotated[
        Literal["early", "late"], typer.Option(help="Whether null is written before its container closes.")
    ] = "early",
    max_wait: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            show_default=False,
            help="Snapshots for which values may wait for a sign of which one grows. By default as long as it takes.",
        ),
    ] = None,
    ensure_ascii: Annotated[bool, typer.Option("--ensure-ascii", help="Escape all that is not ASCII.")] = False,
) -> None:
    """Turn snapshots of a growing value back into the text chunks of a stream.

    Each line is the whole value at one moment, later ones being states of the same value; blank
    lines are passed over.
    Each chunk that is not empty is one line, a JSON string, written as soon as its snapshot is read.
    All chunks together are the last snapshot as compact JSON.

    A snapshot that contradicts what is already written ends the command.
    Of a long file that is not written to a terminal, the progress is shown on it.

    Exit codes: 0 all snapshots became text; 1 a line is not JSON or contradicts what is written,
    or the check failed, and standard error says where; 2 the command line, the source or the
    output is not usable; 130 interrupted; 141 nobody reads the output any more.
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
        out = sys.stdout.buffer
        try:
            summary = write_chunks(_lines(file), chunker, as_text(out) if raw else as_lines(out))
        except BadSnapshotError as error:
            raise _bad(str(error)) from error
        if raw and sys.stdout.isatty():
            typer.echo()
    if check:
        _check(summary)


def _lines(file: str) -> Iterator[bytes]:
    """The lines of a source, with a bar that shows how far a long one is, where that disturbs nothing."""
    if file == "-":
        yield from arriving_lines(sys.stdin)
        return
    path = Path(file)
    total = length(path)
    shows = total is not None and total > _LONG and sys.stderr.isatty() and not sys.stdout.isatty()
    with Progress(console=Console(stderr=True), transient=True, disable=not shows) as progress:
        task = progress.add_task(path.name, total=total)
        for line in lines(path):
            yield line
            progress.advance(task, len(line))


def _check(summary: Summary) -> None:
    counts = f"{summary.snapshots or 'no'} snapshots, {summary.chunks or 'no'} chunks"
    try:
        is_equal = summary.is_equal()
    except RecursionError:
        raise _bad(f"{counts}: not checked, because Python's own reader takes no value so deep") from None
    if not is_equal:
        raise _bad(f"{counts}: joined they are not the last snapshot")
    typer.echo(f"jsontide: {counts}: joined they are the last snapshot", err=True)
