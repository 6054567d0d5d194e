"""`jsontide batch` and `jsontide compare`: archives of recordings in, tables and reports out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.text import Text

from jsontide._values import escape_unsafe
from jsontide.archives import (
    BatchError,
    BatchProgress,
    BatchResult,
    Comparison,
    JobName,
    RecordingJob,
    SourceError,
    map_recordings,
)
from jsontide.archives import compare as compare_batches
from jsontide.cli._exits import BAD, INTERRUPTED, exit_codes, report, say, writing
from jsontide.cli._input import is_terminal, open_stdout
from jsontide.cli._options import SCHEMA, load_schema
from jsontide.cli.commands.events import read_pattern
from jsontide.mend import MODELS


def batch(  # noqa: PLR0913 - as many options
    job: Annotated[JobName, typer.Argument(metavar="JOB", help="What to ask: stats, check, mend or get.")],
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Recordings, folders, globs, tar archives, or addresses.")
    ],
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the tables; asked again, it goes on there.")],
    schema: Annotated[str | None, SCHEMA] = None,
    mend: Annotated[bool, typer.Option("--mend", help="Mend bad JSON, as the job mend does.")] = False,
    pattern: Annotated[
        str, typer.Option(metavar="PATTERN", show_default=False, help="For get: which values, such as `days[*].title`.")
    ] = "",
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="Where to work: here, or on a cluster of Ray.")
    ] = "local",
    workers: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", show_default=False, help="Processes. Default: as many as processors."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what is in the folder of an earlier batch.")] = False,
) -> None:
    """Ask something of many recordings, and write tables and a report.

    \b
    jsontide batch stats archive/*.tar.gz --out tables
    jsontide batch check turns/ --schema trip.json --out checked
    jsontide batch get turns/ --pattern 'parts[*].arguments' --out calls

    Each writes the tables recordings, problems and calls; stats adds paths, with the time of each,
    and get adds values.
    They are Parquet files, and report.html is a page about them, where the extra batch is
    installed; otherwise NDJSON and report.txt.
    A recording that cannot be read is a row with an error.
    Stopped in any way, the same command goes on where it was.

    Exit codes: 0 all were read; 1 some cannot be read, or the work cannot go on; 2 invalid command
    line, or a source or the folder cannot be used; 130 interrupted.
    """
    if (job == "get") is not bool(pattern):
        raise typer.BadParameter("get needs a pattern, and only get takes one", param_hint="--pattern")
    if pattern:
        read_pattern(pattern, "--pattern")
    if job == "check" and schema is None:
        raise typer.BadParameter("check needs a schema", param_hint="--schema")
    wanted = None if schema is None else load_schema(schema)
    mending = MODELS if mend or job == "mend" else None
    asked = RecordingJob(job, schema=wanted, mend=mending, pattern=pattern)
    with exit_codes(), _progress() as progress:
        try:
            result = map_recordings(
                paths, asked, out, engine=engine, workers=workers, fresh=fresh, on_progress=_Bar(progress).show
            )
        except SourceError as error:
            raise typer.BadParameter(str(error), param_hint="PATH") from error
        except BatchError as error:
            raise report(str(error)) from error
        except KeyboardInterrupt:
            progress.stop()
            say(f"jsontide: interrupted; what is done is in {out}, and the same command goes on from there")
            raise typer.Exit(INTERRUPTED) from None
        except OSError as error:
            raise typer.BadParameter(f"cannot write {out}: {error.strerror or error}", param_hint="--out") from error
    _print_result(result)
    if result.unreadable:
        raise typer.Exit(BAD)


def _progress() -> Progress:
    shows = is_terminal(sys.stderr)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True, disable=not shows)


class _Bar:
    """A bar of the bytes whose rows are kept."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("recordings", total=None)

    def show(self, now: BatchProgress) -> None:
        self._progress.update(self._task, total=now.total, completed=now.bytes)


def _print_result(result: BatchResult) -> None:
    writer = open_stdout()
    counts = {**result.outcomes, "unreadable": result.unreadable}
    said = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    writer.write_text(f"{result.recordings:,} recordings: {said or 'none'}")
    page = next((page for name in ("report.html", "report.txt") if (page := result.out / name).exists()), None)
    for path in [*result.tables.values(), *filter(None, [page])]:
        writer.write_text(f"  {path}")


def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="The folder of a batch.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The folder of another one.")],
    *,
    paired: Annotated[
        bool | None,
        typer.Option(
            "--paired/--unpaired", show_default=False, help="Whether both are of the same recordings. Default: seen."
        ),
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", show_default=False, help="Write it as a page, too.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write it as one JSON object.")] = False,
) -> None:
    """Compare the tables of two batches: what got worse, what got better.

    \b
    jsontide compare tables-before tables-after --page difference.html

    Where both are of the same recordings, it shows which ended in another way or have another
    value. Where they are not, it shows rates with intervals of 95 %, and calls one worse or better
    only where these do not touch.

    Exit codes: 0 nothing got worse; 1 something did; 2 invalid command line, or a folder or the
    output cannot be used; 130 interrupted; 141 the output was closed.
    """
    with exit_codes():
        try:
            found = compare_batches(before, after, paired=paired)
        except BatchError as error:
            raise typer.BadParameter(str(error)) from error
        if page is not None:
            with writing(str(page)):
                page.write_text(found.draw(), encoding="utf-8", errors="replace")
        if as_json:
            open_stdout().write_json(found.to_dict())
        else:
            _print_comparison(found)
    if any(each.verdict == "worse" for each in found.differences):
        raise typer.Exit(BAD)


def _print_comparison(found: Comparison) -> None:
    console = Console(highlight=False, width=None if is_terminal(sys.stdout) else 200)
    kind = "the same recordings" if found.is_paired else "different recordings"
    console.print(Text(f"{kind}: {found.before:,} before, {found.after:,} after", "bold"))
    for (before, after), count in found.outcomes.items():
        if before != after:
            console.print(Text(f"  {count:>9,}  {before} -> {after}"))
    if found.is_paired:
        console.print(Text(f"  {found.changed_values:>9,}  same outcome, another value"))
    for each in found.differences:
        if each.before.count or each.after.count:
            verdict = "" if each.verdict == "unclear" else f"  {each.verdict}"
            console.print(Text(f"  {each.before.share:>8.1%} -> {each.after.share:>8.1%}  {each.name}{verdict}"))
    for times in found.seconds:
        if times.before and times.after:
            console.print(Text(f"  {times.before[0]:>6.3f} s -> {times.after[0]:>6.3f} s  {times.name}, median"))
    for title, names in found.examples.items():
        console.print(Text(escape_unsafe(f"  {title}: {', '.join(names[:3])}")), overflow="ellipsis", no_wrap=True)
