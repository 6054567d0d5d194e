"""The commands, their options and their exit codes; what they do stands in the modules beside."""

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from jsontide import COMPILED, ParserState, __version__
from jsontide.cli._excerpt import Recent
from jsontide.cli._source import Sizes, UnreadableError, arriving, length, replay
from jsontide.cli._watch import show_frames, show_lines

BAD_TEXT = 1
INTERRUPTED = 130
PIPE_CLOSED = 141

_STANDARD_INPUT = 0
_TERMINAL_DELAY = 0.02
_FRAME = 1 / 30

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
    where; 2 the command line or the source is not usable; 130 interrupted; 141 nobody reads the
    output any more.
    """
    sizes = _sizes(size)
    recent = Recent()
    try:
        state = _show(file, sizes, seed, delay, recent)
    except UnreadableError as error:
        raise typer.BadParameter(str(error)) from error
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # Python flushes standard output once more when it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(PIPE_CLOSED) from None
    if state.error is not None:
        width = Console(stderr=True).width
        typer.echo(f"jsontide: {recent.explain(state.error, width)}", err=True)
        raise typer.Exit(BAD_TEXT)


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
