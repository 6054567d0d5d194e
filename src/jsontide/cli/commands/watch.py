"""`jsontide watch`."""

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from jsontide import ParserState
from jsontide.cli._excerpt import RecentText
from jsontide.cli._exits import exit_codes, report
from jsontide.cli._options import parse_sizes
from jsontide.cli._source import Sizes, file_size, read_stdin, replay
from jsontide.cli._terminal import draws_live, error_width
from jsontide.cli._watch import show_lines, show_live

_STANDARD_INPUT = 0
_TERMINAL_DELAY = 0.02
_LONGEST_DELAY = 86_400  # a day: the system has a limit
_FRAME = 1 / 30


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
    sizes = parse_sizes(size)
    recent = RecentText()
    with exit_codes():
        state = _watch(file, sizes, seed, delay, recent)
    if state.error is not None:
        raise report(recent.explain(state.error, error_width()))


def _watch(file: str, sizes: Sizes, seed: int, delay: float | None, recent: RecentText) -> ParserState:
    on_terminal = draws_live()
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
