"""`jsontide stats`."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from jsontide.cli._escape import escape_unsafe
from jsontide.cli._exits import exit_codes, writing
from jsontide.cli._gantt import choose_lanes, draw_gantt, shorten
from jsontide.cli._lines import LineWriter
from jsontide.cli._options import SCHEMA
from jsontide.cli._playback import load_recording
from jsontide.cli._schemas import load_schema
from jsontide.cli._terminal import is_terminal, show_progress_of_files
from jsontide.recordings import Lane, Statistics, measure

_COLUMNS = ("first", "done", "silence", "updates", "share")
_FEW = 40  # lanes that are shown without being asked for
_NARROW = 2  # figures where there is not
_WIDE = 60  # columns from which on there is room for all figures
_ANY_WIDTH = 400  # where lines may be as long as they like


def stats(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Recordings.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Write an object for each recording instead.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", show_default=False, help="Draw when each path came, as a picture in SVG."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all paths.")] = False,
    schema: Annotated[str | None, SCHEMA] = None,
) -> None:
    """Measure recordings: when what came, path by path.

    \b
    jsontide stats turns/*.ndjson --plot turns.svg

    Shows the time to the first value and to the end, the longest silence, tokens in a second, and
    for each path when it was first visible, when it was done, its longest silence, how often it
    changed, and its share of all characters.
    Items after the first few of an array share a row.

    Exit codes: 0 all were measured; 1 one is not a valid recording, and standard error says in
    which line; 2 invalid command line, or a file or the output cannot be used; 130 interrupted; 141
    the output was closed.
    """
    wanted = None if schema is None else load_schema(schema)
    with exit_codes():
        measured = [(str(file), measure(load_recording(file), schema=wanted)) for file in show_progress_of_files(files)]
        if plot is not None:
            with writing(str(plot)):
                plot.write_text(draw_gantt([(Path(name).name, each) for name, each in measured]), encoding="utf-8")
        writer = LineWriter(sys.stdout.buffer, is_terminal(sys.stdout))
        for name, statistics in measured:
            if as_json:
                writer.write_json({"file": name, **statistics.to_dict()})
            else:
                _print(name, statistics, statistics.lanes if every else choose_lanes(statistics)[:_FEW])


def _print(name: str, statistics: Statistics, lanes: Sequence[Lane]) -> None:
    console = Console(width=None if is_terminal(sys.stdout) else _ANY_WIDTH, highlight=False)
    console.print(Text(escape_unsafe(name), "bold"), overflow="ellipsis", no_wrap=True)
    for title, said in _summary(statistics):
        console.print(Text(f"  {title:<16} {escape_unsafe(said)}"), overflow="ellipsis", no_wrap=True)
    rows = [(lane.path, *_figures(lane, statistics)) for lane in lanes]
    columns = len(_COLUMNS) if console.width >= _WIDE else _NARROW
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *(row[1:] for row in rows), strict=True)][:columns]
    room = console.width - sum(widths) - 2 * (columns + 1)
    longest = min(max(room, 1), max((len(row[0]) for row in rows), default=0))
    for path, *figures in [("", *_COLUMNS), *rows]:
        cells = "".join(f"  {figure:>{width}}" for figure, width in zip(figures, widths, strict=False))
        console.print(Text(f"  {shorten(escape_unsafe(path), longest):<{longest}}{cells}"), no_wrap=True)
    if len(lanes) < len(statistics.lanes):
        console.print(f"  --all shows all {len(statistics.lanes):,} paths")


def _figures(lane: Lane, statistics: Statistics) -> Iterator[str]:
    yield from map(_seconds, (lane.first, lane.done, lane.silence))
    yield f"{lane.updates:,}"
    yield f"{100 * lane.size / (statistics.characters or 1):.1f} %"


def _summary(statistics: Statistics) -> Iterator[tuple[str, str]]:
    size = f"{statistics.pieces:,} pieces, {statistics.bytes:,} bytes, {statistics.characters:,} characters"
    yield "outcome", statistics.outcome.value + (f": {statistics.error}" if statistics.error else "")
    if statistics.model is not None:
        yield "model", statistics.model
    yield "size", size
    yield "first value", _seconds(statistics.first)
    yield "end", _seconds(statistics.duration)
    yield "longest silence", f"{_seconds(statistics.silence)}, from {_seconds(statistics.silence_from)}"
    if statistics.output_tokens is not None:
        rate = statistics.tokens_per_second
        per_second = "" if rate is None else f", {rate:.1f} in a second"
        yield "tokens", f"{statistics.output_tokens:,}{per_second}"


def _seconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.3f} s"
