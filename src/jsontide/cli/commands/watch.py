"""`jsontide watch`."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from jsontide import ParserError
from jsontide._values import Missing
from jsontide.cli._drawing import ChangeLines, Drawings, Show
from jsontide.cli._exits import exit_codes, report_end, writing
from jsontide.cli._input import LONGEST_WAIT, Playback, PlayedStream, draws_live, open_stdout, open_stream
from jsontide.cli._options import SCHEMA, SEED, SIZE, SPEED, load_schema, parse_sizes
from jsontide.cli._output import RecentText, write_pretty
from jsontide.mend import MODELS
from jsontide.recordings import End, Moment, feed_moment, finish_moment, start_moment

_STANDARD_OUTPUT = "-"
_TERMINAL_DELAY = 0.02


def watch(  # noqa: PLR0913 - options, all by name
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file or a recording to play, or - for standard input.")
    ] = "-",
    *,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            show_default=False,
            help="Write the final value as JSON; - for standard output, and then nothing else.",
        ),
    ] = None,
    schema: Annotated[str | None, SCHEMA] = None,
    as_kind: Annotated[
        Literal["json", "message", "run", "documents", "text"] | None,
        typer.Option("--as", show_default=False, help="The kind of stream. Default: it is detected."),
    ] = None,
    mend: Annotated[bool, typer.Option("--mend", help="Mend bad JSON, as `jsontide mend` does.")] = False,
    speed: Annotated[float | None, SPEED] = None,
    size: Annotated[str | None, SIZE] = None,
    seed: Annotated[int, SEED] = 0,
    delay: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=LONGEST_WAIT,
            metavar="SECONDS",
            show_default=False,
            help="Pause after each piece of a file without times. Default: 0.02 on a terminal, otherwise 0.",
        ),
    ] = None,
) -> None:
    """Show what a stream says while it arrives.

    \b
    curl -N ... | jsontide watch
    jsontide watch turn.ndjson --speed 2

    Reads what `curl -N` of a model gives, of any provider: server-sent events, JSON lines, or JSON;
    and recordings, as `jsontide record` makes them, or `RunRecorder` of a whole run of an agent.
    Standard input is read as it arrives, recordings are played in the time that they took, and
    other files in small pieces, as a model would send them.

    On a terminal, draws text, reasoning, calls and structured output side by side as they grow,
    with a mark where they do and new text highlighted; at the end it prints all of them.
    Of a run, draws the last step with the results of its calls, and a line for each step before it.
    Otherwise, writes a short line for each change: the path, and what was added.

    Exit codes: 0 all of it is there and valid; 1 it is not valid, or was refused or failed, or a
    run waits for a person, and standard error says why; 2 invalid command line, or the source or
    the output cannot be used; 3 it was cut off; 130 interrupted; 141 the output was closed.
    """
    live = draws_live()
    wanted = None if schema is None else load_schema(schema)
    sizes = None if size is None else parse_sizes(size)
    recent = RecentText()
    with exit_codes():
        show = _choose_show(output)
        playback = Playback(
            sizes,
            seed,
            speed=speed if speed is not None else float(live),
            delay=delay if delay is not None else _TERMINAL_DELAY * live,
            before_wait=show.flush,
        )
        stream = open_stream(file, playback)
        moment = start_moment(schema=wanted, mend=MODELS if mend else None, as_kind=as_kind, floats="decimal")
        moment = _show_all(stream, moment, show, recent)
        if output is not None:
            _write_value(moment, output)
    report_end(moment, recent)


def _choose_show(output: str | None) -> Show:
    if output == _STANDARD_OUTPUT:
        return Show()
    if draws_live():
        return Drawings(Console(), prints_whole=output is None)
    return ChangeLines(open_stdout())


def _show_all(stream: PlayedStream, moment: Moment, show: Show, recent: RecentText) -> Moment:
    """Show each moment up to the end, to bad text, or to an interrupt; return the last one."""
    show.expect(stream.total)
    end: End = "over"
    error = None
    try:
        for piece in stream.pieces:
            if isinstance(piece.data, bytes):
                recent.feed(piece.data)
            moment = feed_moment(moment, piece)
            show.update(moment)
            if isinstance(moment.error, ParserError):
                break
        if stream.recording is not None:
            end, error = stream.recording.ending(waits=moment.waits)
    except KeyboardInterrupt:
        end = "stopped"
    finally:
        # Whatever else happens, the terminal must be left as it was.
        moment = finish_moment(moment, end, error)
        show.update(moment)
        show.finish()
    return moment


def _write_value(moment: Moment, output: str) -> None:
    text = "" if isinstance(moment.value, Missing) else f"{write_pretty(moment.value)}\n"
    if output == _STANDARD_OUTPUT:
        open_stdout().write_json_text(text, end="")
        return
    with writing(output):
        Path(output).write_bytes(text.encode(errors="backslashreplace"))
