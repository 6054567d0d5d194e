"""`jsontide stats`: recordings in, their timing out, as a table or as a picture with a bar for each path.

Rule: the picture stands alone: no script, no font or style from elsewhere, readable on light and on dark.
"""

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from jsontide._values import escape_unsafe
from jsontide.cli._drawing import count_pieces
from jsontide.cli._exits import exit_codes, hint_at_answer, writing
from jsontide.cli._input import is_terminal, load_recording, open_stdout, show_progress_of_files
from jsontide.cli._options import SCHEMA, load_schema
from jsontide.recordings import Lane, Statistics, follow, measure

_WIDTH = 960
_LABELS = 300
_MARGIN = 16
_ROW = 20
_BAR = 12
_HEAD = 72
_MOST_ROWS = 60  # lanes of a recording that are drawn
_LONGEST_LABEL = 44  # characters
_TICKS = 8
_STYLE = """\
text { font: 12px system-ui, sans-serif; fill: #1f2328; }
.title { font-size: 14px; font-weight: 600; }
.quiet { fill: #59636e; }
.grid { stroke: #d1d9e0; }
.value { fill: #0a7ea4; }
.around { fill: #0a7ea4; opacity: .35; }
.open { fill: #bc4c00; opacity: .6; }
.first { stroke: #1f2328; stroke-width: 2; }
.page { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .quiet { fill: #9198a1; } .grid { stroke: #3d444d; }
  .first { stroke: #e6edf3; } .page { fill: #0d1117; } .value, .around { fill: #58b6d8; } .open { fill: #f0883e; }
}"""


def draw_gantt(measured: Sequence[tuple[str, Statistics]]) -> str:
    """Return the picture of recordings, one below the other, each with its name."""
    body: list[str] = []
    top = _MARGIN
    for name, statistics in measured:
        body += _draw_recording(name, statistics, top)
        top += _HEAD + _ROW * (min(len(statistics.content_lanes), _MOST_ROWS) + 1) + _MARGIN
    size = f'width="{_WIDTH}" height="{top}" viewBox="0 0 {_WIDTH} {top}"'
    page = f'<rect class="page" width="{_WIDTH}" height="{top}"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    return "\n".join([head, f"<style>{_STYLE}</style>", page, *body, "</svg>", ""])


def _draw_recording(name: str, statistics: Statistics, top: int) -> Iterator[str]:
    chosen = statistics.content_lanes
    lanes = chosen[:_MOST_ROWS]
    scale = (_WIDTH - _LABELS - 2 * _MARGIN) / (statistics.duration or 1)
    yield _text(_MARGIN, top + 14, name, "title")
    yield _text(_MARGIN, top + 34, " · ".join(describe(statistics)), "quiet")
    yield _text(_MARGIN, top + _HEAD - 12, "from there to done; mark: visible", "quiet")
    bottom = top + _HEAD + _ROW * len(lanes)
    for seconds in ticks(statistics.duration):
        x = _MARGIN + _LABELS + seconds * scale
        yield f'<line class="grid" x1="{x:.1f}" y1="{top + _HEAD - 6}" x2="{x:.1f}" y2="{bottom}"/>'
        yield _text(x, top + _HEAD - 12, f"{seconds:g} s", "quiet")
    paths = [lane.path for lane in chosen]
    for row, lane in enumerate(lanes):
        yield from _draw_lane(lane, top + _HEAD + _ROW * row, scale, statistics.duration, has_inside(lane.path, paths))
    if len(chosen) > _MOST_ROWS:
        yield _text(_MARGIN, bottom + 14, f"and {len(chosen) - _MOST_ROWS} more", "quiet")


def _draw_lane(lane: Lane, y: int, scale: float, end: float, is_around: bool) -> Iterator[str]:  # noqa: FBT001
    start = _MARGIN + _LABELS
    done = end if lane.done is None else lane.done
    kind = "open" if lane.done is None else "around" if is_around else "value"
    label = escape_unsafe(label_of(lane))
    yield f"<g><title>{escape(f'{label}: {_times(lane)}')}</title>"
    yield _text(_MARGIN, y + _BAR - 2, shorten(label, _LONGEST_LABEL), "")
    width = max((done - lane.opened) * scale, 2)
    x = start + lane.opened * scale
    yield f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{_BAR}" rx="2"/>'
    if lane.first is not None:
        first = start + lane.first * scale
        yield f'<line class="first" x1="{first:.1f}" y1="{y - 2}" x2="{first:.1f}" y2="{y + _BAR + 2}"/>'
    yield "</g>"


def _times(lane: Lane) -> str:
    first = "nothing visible" if lane.first is None else f"visible at {lane.first:.3f} s"
    done = "never done" if lane.done is None else f"done at {lane.done:.3f} s"
    return f"{first}, {done}, longest silence {lane.silence:.3f} s"


def label_of(lane: Lane) -> str:
    """Return the path of a lane, with the name of the tool that was called."""
    return lane.path if lane.name in {None, "message"} else f"{lane.path} {lane.name}"


def shorten(path: str, longest: int) -> str:
    """Return the end of a path, which says more than its beginning."""
    return path if len(path) <= longest else f"…{path[len(path) - longest + 1 :]}"


def has_inside(path: str, paths: Iterable[str]) -> bool:
    """Return whether there are paths inside a path."""
    return path == "root" or any(other.startswith((f"{path}.", f"{path}[")) for other in paths)


def ticks(duration: float) -> list[float]:
    """Return round numbers of seconds, a few, from 0 to the end."""
    step = 0.001
    factors = (2, 2.5, 2)  # 1, 2, 5, 10
    at = 0
    while duration / step > _TICKS:
        step *= factors[at % 3]
        at += 1
    return [round(step * number, 6) for number in range(int(duration / step) + 1)]


def describe(statistics: Statistics) -> list[str]:
    """Return the figures of a whole recording, in short."""
    first = "nothing visible" if statistics.first is None else f"first value {statistics.first:.2f} s"
    said = [statistics.outcome.value, first, f"end {statistics.duration:.2f} s"]
    said.append(f"longest silence {statistics.silence:.2f} s")
    if statistics.tokens_per_second is not None:
        said.append(f"{statistics.tokens_per_second:.0f} tokens/s")
    return said


def _text(x: float, y: float, text: str, kind: str) -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{attribute}>{escape(escape_unsafe(text))}</text>'


_COLUMNS = ("first", "done", "silence", "updates", "share")
_INDENT = 19  # columns before the figures of a recording
_SHOWN_LANES = 40  # without --all
_NARROW = 2  # figures that a narrower terminal shows
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
    """Measure recordings: when each path came.

    \b
    jsontide stats turns/*.ndjson --plot turns.svg

    Shows the time to the first value and to the end, the longest silence, tokens in a second, and
    for each path when it was first visible, when it was done, its longest silence, how often it
    changed, and its share of all characters; of a run, for each message and each call.
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
        writer = open_stdout()
        for name, statistics in measured:
            if as_json:
                writer.write_json({"file": name, **statistics.to_dict()})
            else:
                _print(name, statistics, statistics.lanes if every else statistics.content_lanes[:_SHOWN_LANES])
        if len(files) == 1 and wanted is None and not as_json:
            for moment in deque(follow(load_recording(files[0])), 1):
                hint_at_answer(moment, wanted)


def _print(name: str, statistics: Statistics, lanes: Sequence[Lane]) -> None:
    console = Console(width=None if is_terminal(sys.stdout) else _ANY_WIDTH, highlight=False)
    console.print(Text(escape_unsafe(name), "bold"), overflow="ellipsis", no_wrap=True)
    for title, said in _summary(statistics):
        lines = wrap(escape_unsafe(said), max(console.width - _INDENT, 1), break_long_words=False) or [""]
        for at, line in enumerate(lines):
            console.print(Text(f"  {'' if at else title:<16} {line}"), overflow="ellipsis", no_wrap=True)
    rows = [(label_of(lane), *_figures(lane, statistics)) for lane in lanes]
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
    size = f"{count_pieces(statistics.pieces)}, {statistics.bytes:,} bytes, {statistics.characters:,} characters"
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
