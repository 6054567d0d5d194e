"""`python -m benchmarks`: audit, measure, print, and after a full run write its page in docs/measured, with a chart."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from rich.console import Console
from rich.markdown import Markdown

from benchmarks import builds, chart
from benchmarks.audit import audit
from benchmarks.checks import checks
from benchmarks.documents import CUTS, SHAPES, SIZES
from benchmarks.jsontide_sides import COMPILED, PURE, jsontide_offers
from benchmarks.kinds import KINDS, Offers
from benchmarks.measure import Extent, Run, measure
from benchmarks.memory import measure_memory
from benchmarks.one_more import measure_one_more
from benchmarks.peers import PEERS, Side
from benchmarks.report import page, sections

ROUNDS = 5
QUICK_ROUNDS = 3
PIPE_WIDTH = 150
PAGE, CHART = "benchmarks.md", "benchmarks.svg"

T = TypeVar("T")


def parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="documents up to 10 KB, fewer rounds")
    parser.add_argument("--rounds", type=int, help=f"rounds of which the least counts (default: {ROUNDS})")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="WORD",
        help=f"a shape, a cut, a kind of work ({', '.join(KINDS)}), or a part of a peer's name; can be repeated",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to a file too")
    parser.add_argument("--docs", type=Path, metavar="DIR", help="where to write the page (a full run: docs)")
    parser.add_argument("--compiled", type=Path, metavar="DIR", help="take the compiled build from this directory")
    return parser.parse_args(arguments)


def choose_extent(options: argparse.Namespace) -> Extent:
    def choose(names: Mapping[str, object]) -> tuple[str, ...]:
        return tuple(name for name in names if name in options.only) or tuple(names)

    return Extent(
        rounds=options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS),
        shapes=choose(SHAPES),
        sizes=SIZES[:2] if options.quick else SIZES,
        cuts=choose(CUTS),
        kinds=choose(KINDS),
    )


def choose_peers(only: Sequence[str]) -> list[Side]:
    known = (*SHAPES, *CUTS, *KINDS)
    words = [word for word in only if word not in known]
    found = [side for side in PEERS if not words or any(word in side.name for word in words)]
    if not found:
        raise SystemExit(
            f"error: nothing is called {' or '.join(words)}; "
            f"there are {', '.join([*known, *(side.name for side in PEERS)])}"
        )
    return found


def load(loaders: Mapping[str, Callable[[], T]]) -> tuple[dict[str, T], dict[str, str]]:
    """What could be imported, and for the others why not."""
    found: dict[str, T] = {}
    missing: dict[str, str] = {}
    for name, loader in loaders.items():
        try:
            found[name] = loader()
        except ImportError as error:
            missing[name] = str(error)
    return found, missing


def run_all(
    modules: Mapping[str, ModuleType], peers: Mapping[str, Offers], extent: Extent, *, with_memory: bool
) -> Run:
    sides = {**{name: jsontide_offers(module) for name, module in modules.items()}, **peers}
    run = Run([*sides])
    for side, offers in sides.items():
        print("audit", side)
        for name, finding in audit(offers, extent.kinds):
            run.audits.setdefault(name, {})[side] = finding
    measure(run, sides, extent)
    if "snapshots" in extent.kinds:
        measure_one_more(run, modules, extent.rounds)
    if with_memory:
        run.memory = {name: measure_memory(module) for name, module in modules.items()}
    return run


def as_json(run: Run) -> str:
    return json.dumps(
        {
            "costs": [{**asdict(case), **asdict(cost)} for case, cost in run.costs.items()],
            "failures": [{**asdict(case), "error": error} for case, error in run.failures.items()],
            "audits": run.audits,
            "memory": {side: asdict(found) for side, found in run.memory.items()},
            "checks": [{**asdict(check), "reached": check.reached} for check in checks(run)],
        },
        indent=1,
    )


def command_of(options: argparse.Namespace) -> str:
    """The command that measures the same again, without its paths."""
    words = ["python -m benchmarks", *(["--quick"] if options.quick else [])]
    words += [f"--rounds {options.rounds}"] if options.rounds else []
    return " ".join([*words, *(f"--only {word}" for word in options.only)])


def main(arguments: Sequence[str]) -> None:
    options = parse_options(arguments)
    if options.docs:
        options.docs.mkdir(parents=True, exist_ok=True)  # before anything is measured, so that no run is lost
    extent, peers = choose_extent(options), choose_peers(options.only)
    modules, no_modules = load({COMPILED: lambda: builds.compiled(options.compiled), PURE: builds.pure})
    loaded, no_peers = load({side.name: side.load for side in peers})
    run = run_all(modules, loaded, extent, with_memory=not options.quick)
    circumstances = [
        f"`{command_of(options)}`: jsontide {modules[PURE].__version__}, least of up to {extent.rounds} rounds.",
        *builds.machine(),
        f"Peers: {', '.join(builds.versions(name for side in peers for name in side.distributions))}.",
        *(f"Missing: {name} ({reason})." for name, reason in {**no_modules, **no_peers}.items()),
    ]
    console = Console() if sys.stdout.isatty() else Console(width=PIPE_WIDTH)
    console.print(Markdown("\n".join([*(f"{line}  " for line in circumstances), "", *sections(run, extent)])))
    if options.json:
        options.json.write_text(as_json(run), encoding="utf-8")
    is_full = not options.quick and not options.only
    directory: Path | None = options.docs or (builds.ROOT / "docs" / "measured" if is_full else None)
    if directory is not None:
        (directory / PAGE).write_text(page(run, extent, circumstances, CHART), encoding="utf-8")
        chart.draw(run, extent.sizes, directory / CHART)
        print(f"written: {directory / PAGE}, {directory / CHART}")


if __name__ == "__main__":
    main(sys.argv[1:])
