"""The commands, their options and their exit codes; the other modules do the work."""

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, TextIO

import typer
from rich.console import Console
from rich.progress import Progress

from jsontide import COMPILED, JsonStreamChunker, ParserState, __version__
from jsontide.cli._chunk import BadSnapshotError, Summary, encode_line, write_chunks
from jsontide.cli._excerpt import RecentText
from jsontide.cli._mend import (
    KINDS,
    NoReport,
    Outcome,
    Report,
    ReportForPeople,
    ReportForPrograms,
    Say,
    StrictWriter,
    mend_stream,
)
from jsontide.cli._source import (
    Sizes,
    UnreadableError,
    file_size,
    read_blocks,
    read_lines,
    read_stdin,
    read_stdin_lines,
    replay,
)
from jsontide.cli._watch import show_lines, show_live
from jsontide.mend import EVERYTHING, MODELS, Mending

BAD_TEXT = 1
UNUSABLE = 2
CUT_OFF = 3
TO_BE_MENDED = 4
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
        return read_stdin_lines(sys.stdin)
    return _show_progress(Path(file), read_lines(Path(file)), beside_output=False)


def _show_progress(path: Path, pieces: Iterable[bytes], *, beside_output: bool) -> Iterator[bytes]:
    total = file_size(path)
    has_room = beside_output or not _is_terminal(sys.stdout)
    shows = total is not None and total > _LONG and _is_terminal(sys.stderr) and has_room
    with Progress(console=Console(stderr=True), transient=True, disable=not shows) as progress:
        task = progress.add_task(path.name, total=total)
        for piece in pieces:
            yield piece
            progress.advance(task, len(piece))


def _is_terminal(file: TextIO | None) -> bool:
    """Return whether a standard stream is a terminal; it is `None` if its descriptor is closed."""
    return file is not None and file.isatty()


def _check(summary: Summary) -> None:
    counts = f"{summary.snapshots or 'no'} snapshots, {summary.chunks or 'no'} chunks"
    try:
        is_equal = summary.is_equal()
    except RecursionError:
        raise _report(f"{counts}: not checked: too deeply nested for Python's json") from None
    if not is_equal:
        raise _report(f"{counts}: joined, they differ from the last snapshot")
    typer.echo(f"jsontide: {counts}: joined, they equal the last snapshot", err=True)


_WITHOUT = f"Do not mend this kind; can be repeated. Kinds: {', '.join(KINDS)}."


@app.command()
def mend(  # noqa: PLR0913 - options, all by name
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file, or - for standard input.")] = "-",
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing: only the exit code tells; with --json, the report does too.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Report repairs as JSON, an object on a line of its own for each.")
    ] = False,
    every_value: Annotated[
        bool, typer.Option("--all", help="Keep all values, each on lines of its own, and not only the first.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--everything", help="Mend what people do in files and logs, too: an ellipsis is dropped.")
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", show_default=False, help=_WITHOUT),
    ] = None,
) -> None:
    """Mend the JSON that a language model wrote.

    Finds the value in what stands around it, and writes it as strict JSON as soon as it is certain.
    What is strict already stays as it is, character by character.
    Text that can be read in two ways is an error, and not guessed.

    Reports each repair on standard error: what was done, where, and the line with a caret under
    the place.
    On a terminal the report follows the value.
    With --json, the objects have the members kind, index, line, column, was, became and lossy; an
    error has error, index, line, column and message; the last has result (strict, mended,
    truncated or refused) and repairs, their number.

    Exit codes: 0 the output is strict JSON, mended or not; 1 the text cannot be mended, and
    standard error says where; 2 invalid command line, or the source or the output cannot be used;
    3 the text was cut off, and the output has all of it that is certain, closed; 130 interrupted;
    141 the output was closed.
    With --check: 0 the text is strict JSON; 1 it cannot be mended; 3 it is cut off; 4 it would be
    mended.
    """
    mending = _choose_mending(everything=everything, every_value=every_value, without=without or [])
    # On a terminal, the report would get between the pieces of the value, or into the progress bar.
    waits = _is_terminal(sys.stderr) and (_is_terminal(sys.stdout) or file != "-")
    waiting: list[str] = []
    report = _choose_report(waiting.append if waits else _say, as_json=as_json, check=check)
    with _exit_codes():
        chunks = read_stdin(_STANDARD_INPUT) if file == "-" else _blocks(file, check=check)
        writer = None if check else StrictWriter(sys.stdout.buffer, is_terminal=_is_terminal(sys.stdout))
        outcome = mend_stream(chunks, mending, writer, report)
        if writer is not None and (every_value or writer.is_terminal):
            writer.end_line()
        for message in waiting:
            _say(message)
    codes = {Outcome.REFUSED: BAD_TEXT, Outcome.TRUNCATED: CUT_OFF, Outcome.MENDED: TO_BE_MENDED if check else 0}
    raise typer.Exit(codes.get(outcome, 0))


def _choose_mending(*, everything: bool, every_value: bool, without: Iterable[str]) -> Mending:
    kinds = []
    for name in without:
        kind = KINDS.get(re.sub(r"[\s_]", "-", name.lower()))
        if kind is None:
            raise typer.BadParameter(f"there is no kind {name!r}; there are {', '.join(KINDS)}", param_hint="--without")
        kinds.append(kind)
    mending = EVERYTHING if everything else MODELS
    return replace(mending.without(*kinds), values="all" if every_value else "first")


def _choose_report(say: Say, *, as_json: bool, check: bool) -> Report:
    if as_json:
        return ReportForPrograms(say)
    return NoReport() if check else ReportForPeople(say, Console(stderr=True).width)


def _blocks(file: str, *, check: bool) -> Iterator[bytes]:
    path = Path(file)
    return _show_progress(path, read_blocks(path), beside_output=check)


def _say(message: str) -> None:
    try:
        typer.echo(message, err=True)
    except BrokenPipeError:
        raise
    except OSError as error:  # and there is nowhere to say so
        raise typer.Exit(UNUSABLE) from error
