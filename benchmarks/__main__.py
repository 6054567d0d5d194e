"""`python -m benchmarks`: audit, measure, print, and after a full run write docs/benchmarks.md and its picture."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks import ours, picture
from benchmarks.audit import Finding, Moment, all_moments, audited, compared
from benchmarks.builds import ROOT
from benchmarks.checks import Run, checks
from benchmarks.documents import CUTS, SHAPES, SIZES
from benchmarks.event_audit import Hearing, hearing
from benchmarks.increments import incremented
from benchmarks.measure import Extent, measured
from benchmarks.memory import memory_of
from benchmarks.peers import PEERS
from benchmarks.report import Circumstances, page, report
from benchmarks.schemas import audited_feed
from benchmarks.snapshot_audit import Sending, all_histories, sending
from benchmarks.tables import for_terminal
from benchmarks.works import WORKS, Side, Works

ROUNDS = 5
QUICK_ROUNDS = 3
QUICK_SIZES = SIZES[:2]
PIPE_WIDTH = 150
PAGE, PICTURE = "benchmarks.md", "benchmarks.svg"


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="documents up to 10 KB, fewer rounds")
    parser.add_argument("--rounds", type=int, help=f"rounds of which the least counts (default: {ROUNDS})")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="WORD",
        help=f"a shape, a cut, a kind of work ({', '.join(WORKS)}), or a part of a peer's name; can be repeated",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to a file too")
    parser.add_argument("--docs", type=Path, metavar="DIR", help="where to write the page (a full run: docs)")
    parser.add_argument("--compiled", type=Path, metavar="DIR", help="take the compiled build from this directory")
    return parser.parse_args(arguments)


def chosen(only: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Those names that were asked for, all if none was."""
    return tuple(name for name in names if name in only) or tuple(names)


def extent_of(options: argparse.Namespace) -> Extent:
    return Extent(
        shapes=chosen(options.only, tuple(SHAPES)),
        sizes=QUICK_SIZES if options.quick else SIZES,
        cuts=chosen(options.only, tuple(CUTS)),
        rounds=options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS),
        works=chosen(options.only, tuple(WORKS)),
    )


def peers_of(only: Sequence[str]) -> list[Side]:
    known = (*SHAPES, *CUTS, *WORKS)
    words = [word for word in only if word not in known]
    found = [side for side in PEERS if not words or any(word in side.name for word in words)]
    if not found:
        raise SystemExit(
            f"error: nothing is called {' or '.join(words)}; "
            f"there are {', '.join([*known, *(side.name for side in PEERS)])}"
        )
    return found


def loaded(sides: Sequence[Side]) -> tuple[dict[str, Works], dict[str, str]]:
    """What could be imported, and for the others why not."""
    found: dict[str, Works] = {}
    missing: dict[str, str] = {}
    for side in sides:
        try:
            found[side.name] = side.load()
        except ImportError as error:
            missing[side.name] = str(error)
    return found, missing


def watched(console: Console) -> Progress:
    columns = (
        TextColumn("{task.description:<28}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    # No thread of its own: it would run beside what is measured.
    return Progress(*columns, console=console, auto_refresh=False)


def run_all(sides: dict[str, Works], extent: Extent, console: Console, *, with_memory: bool) -> Run:
    with watched(console) as progress:
        courses = len(list(extent.documents())) + ("snapshots" in extent.works)
        task = progress.add_task("audit", total=len(sides) + extent.rounds * courses)
        told: set[str] = set()

        def advance(name: str) -> None:
            progress.update(task, description=name[:28], advance=1)
            if console.is_terminal:
                progress.refresh()
            elif name not in told:
                told.add(name)
                console.print(name, highlight=False)

        streams = all_moments()
        findings = findings_of(sides, extent, streams, advance)
        hearings = hearings_of(sides, extent, streams)
        sendings = sendings_of(sides, extent)
        typings = typings_of(sides, extent, streams[0])
        results = measured(sides, extent, advance)
        modules = {name: works.module for name, works in sides.items() if works.module is not None}
        increments = incremented(modules, extent.rounds, advance) if "snapshots" in extent.works else {}
        memory = {name: memory_of(module) for name, module in modules.items() if with_memory}
    peers = tuple(name for name, works in sides.items() if works.module is None)
    return Run(results, findings, memory, peers, hearings, sendings, increments, typings)


def findings_of(
    sides: dict[str, Works], extent: Extent, streams: Sequence[Sequence[Moment]], advance: Callable[[str], None]
) -> dict[str, Finding]:
    """What each side shows, where somebody reads it."""
    findings: dict[str, Finding] = {}
    for name, works in sides.items():
        advance(f"audit {name}")
        found = audited(works, streams) if "dropped" in extent.works or "held" in extent.works else None
        if found is not None:
            findings[name] = found
    return findings


def hearings_of(sides: dict[str, Works], extent: Extent, streams: Sequence[Sequence[Moment]]) -> dict[str, Hearing]:
    """What each side tells, where its events are measured."""
    telling = {name: works.events for name, works in sides.items() if works.events and "events" in extent.works}
    return {name: hearing(events, streams) for name, events in telling.items()}


def sendings_of(sides: dict[str, Works], extent: Extent) -> dict[str, Sending]:
    """What each side sends, where its chunks of snapshots are measured."""
    if not {"snapshots", "anew"} & {*extent.works}:
        return {}
    histories = all_histories()
    return {name: sending(works.chunking, histories) for name, works in sides.items() if works.chunking}


def typings_of(sides: dict[str, Works], extent: Extent, records: Sequence[Moment]) -> dict[str, Finding]:
    """What each side shows through a schema, where that is measured."""
    feeds = {name: audited_feed(works) for name, works in sides.items() if "schema" in extent.works}
    return {name: compared(feed, records) for name, feed in feeds.items() if feed is not None}


def as_json(run: Run) -> str:
    return json.dumps(
        {
            "costs": [{**asdict(case), **asdict(cost)} for case, cost in run.results.costs.items()],
            "failures": [{**asdict(case), "error": error} for case, error in run.results.failures.items()],
            "findings": {side: asdict(found) for side, found in run.findings.items()},
            "hearings": {side: asdict(found) for side, found in run.hearings.items()},
            "sendings": {side: asdict(found) for side, found in run.sendings.items()},
            "increments": [{**asdict(found), "seconds": seconds} for found, seconds in run.increments.items()],
            "typings": {side: asdict(found) for side, found in run.typings.items()},
            "memory": {side: asdict(found) for side, found in run.memory.items()},
            "checks": [{**asdict(check), "reached": check.reached} for check in checks(run)],
        },
        indent=1,
    )


def main(arguments: Sequence[str]) -> None:
    options = parsed(arguments)
    if options.docs:
        options.docs.mkdir(parents=True, exist_ok=True)  # before anything is measured, so that no run is lost
    extent = extent_of(options)
    candidates = [*ours.sides(options.compiled), *peers_of(options.only)]
    is_full = not options.quick and not options.only
    console = Console() if sys.stdout.isatty() else Console(width=PIPE_WIDTH)
    sides, missing = loaded(candidates)
    run = run_all(sides, extent, console, with_memory=not options.quick)
    circumstances = Circumstances(candidates, missing, version_of(sides), command_of(options), extent)
    found = report(run, extent, list(sides))
    for line in circumstances.lines():
        console.print(line, highlight=False)
    for table in (*found.values, *found.events, *found.snapshots, *found.typed, found.targets):
        console.print(for_terminal(table))
    if options.json:
        options.json.write_text(as_json(run), encoding="utf-8")
    directory: Path | None = options.docs or (ROOT / "docs" if is_full else None)
    if directory is not None:
        (directory / PAGE).write_text(page(found, circumstances, PICTURE), encoding="utf-8")
        picture.draw(run, extent, list(sides), directory / PICTURE)
        console.print(f"written: {directory / PAGE}, {directory / PICTURE}", highlight=False)


def command_of(options: argparse.Namespace) -> str:
    """The command that measures the same again, without its paths."""
    words = ["python -m benchmarks", *(["--quick"] if options.quick else [])]
    words += [f"--rounds {options.rounds}"] if options.rounds else []
    return " ".join([*words, *(f"--only {word}" for word in options.only)])


def version_of(sides: dict[str, Works]) -> str:
    modules = [works.module for works in sides.values() if works.module is not None]
    return str(modules[0].__version__)


if __name__ == "__main__":
    main(sys.argv[1:])
