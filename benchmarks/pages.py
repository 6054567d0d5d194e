"""What the commands of the benchmarks share: options, builds and peers, tables, targets, and the page of a run.

Rule: no figure without version, machine and command; a page is written by a full run, or where `--docs` says.
A target whose figure was not measured says so, and none is left out because it fails.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from rich.console import Console
from rich.markdown import Markdown

from benchmarks import builds
from benchmarks.timing import Case, Run

MEASURED = builds.ROOT / "docs" / "measured"
ROUNDS, QUICK_ROUNDS = 5, 2
PIPE_WIDTH = 150
COMPILED = "jsontide, compiled"
PURE = "jsontide, pure Python"
BUILDS = {COMPILED: "compiled", PURE: "pure Python"}

T = TypeVar("T")


class Command:
    """One command: its options, and the page that it writes; `only` says what its words choose."""

    def __init__(self, module: str, page: str, description: str | None, only: str) -> None:
        self.module = module
        self.page = page
        self.parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
        add = self.parser.add_argument
        add("--only", action="append", default=[], metavar="WORD", help=f"{only}; can be repeated; no page")
        add("--docs", type=Path, metavar="DIR", help="where to write the page (a full run: docs/measured)")
        self.options = argparse.Namespace(quick=False)

    def add_clock(self) -> None:
        """Add the options of a command that times both builds."""
        add = self.parser.add_argument
        add("--quick", action="store_true", help="small documents, fewer rounds, no page")
        add("--rounds", type=int, help=f"rounds of which the least counts (default: {ROUNDS})")
        add("--compiled", type=Path, metavar="DIR", help="take the compiled build from this directory")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        self.parser.parse_args(arguments, self.options)
        if "rounds" in self.options:
            self.options.rounds = self.options.rounds or (QUICK_ROUNDS if self.options.quick else ROUNDS)
        if self.options.docs:
            self.options.docs.mkdir(parents=True, exist_ok=True)  # before anything is measured, so that no run is lost
        return self.options

    def has(self, *names: str) -> bool:
        """Whether all words of `--only` are in one of these names."""
        return all(any(word in name for name in names) for word in self.options.only)

    def load_builds(self) -> tuple[dict[str, ModuleType], dict[str, str]]:
        return load({COMPILED: lambda: builds.compiled(self.options.compiled), PURE: builds.pure})

    def circumstances(self, version: str, distributions: Iterable[str], missing: Mapping[str, str]) -> list[str]:
        """Return what a run was made with, a sentence to a line."""
        only = [f"--only '{word}'" for word in self.options.only]
        command = " ".join([f"python -m {self.module}", *(["--quick"] if self.options.quick else []), *only])
        rounds = f", least of up to {self.options.rounds} rounds" if "rounds" in self.options else ""
        peers = ", ".join(builds.versions(distributions))
        return [
            f"`{command}`: jsontide {version}{rounds}.  ",
            *(f"{line}  " for line in builds.machine()),
            *([f"Peers: {peers}.  "] if peers else []),
            *(f"Missing: {name} ({reason}).  " for name, reason in missing.items()),
        ]

    def publish(self, shown: Iterable[str], page: Callable[[], str]) -> Path | None:
        """Print the tables, and write the page after a full run; returns where."""
        console = Console() if sys.stdout.isatty() else Console(width=PIPE_WIDTH)
        console.print(Markdown("\n".join(shown)))
        is_full = not self.options.quick and not self.options.only
        directory: Path | None = self.options.docs or (MEASURED if is_full else None)
        if directory is None:
            return None
        path = directory / self.page
        path.write_text(page(), encoding="utf-8")
        print(f"written: {path}")
        return path


def load(loaders: Mapping[str, Callable[[], T]]) -> tuple[dict[str, T], dict[str, str]]:
    """Return what could be imported, and for the others why not."""
    found: dict[str, T] = {}
    missing: dict[str, str] = {}
    for name, loader in loaders.items():
        try:
            found[name] = loader()
        except ImportError as error:
            missing[name] = str(error)
    return found, missing


def table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = (), align: str = "---:"
) -> str:
    """`notes` are sentences, one to a line, and `align` is for all columns but the first; nothing without rows."""
    if not rows:
        return ""
    rule = ["---", *[align] * (len(header) - 1)]
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"| {' | '.join(cells)} |" for cells in (header, rule, *escaped)]
    return "\n".join([f"### {title}", "", *([*notes, ""] if notes else []), *lines, ""])


@dataclass(frozen=True)
class Figure:
    """A number and where it comes from, when it is the worst of several."""

    value: float
    where: str = ""

    def __str__(self) -> str:
        value = f"{self.value:,.0f}" if self.value >= 100 else f"{self.value:.2f}"  # noqa: PLR2004
        return f"{value} ({self.where})" if self.where else value


@dataclass(frozen=True)
class Target:
    """`bound` is a sign and a number, perhaps with a unit; `figure` is `None` where it was not measured."""

    demand: str
    bound: str
    figure: Figure | None

    @property
    def reached(self) -> str:
        if self.figure is None:
            return "not measured"
        sign, number, *_ = self.bound.split()
        rounded = round(self.figure.value, 2)
        return "yes" if (rounded >= float(number) if sign == "≥" else rounded <= float(number)) else "no"


def target_table(targets: Iterable[Target], notes: Sequence[str]) -> str:
    rows = [
        [target.demand, target.bound, "" if target.figure is None else str(target.figure), target.reached]
        for target in targets
    ]
    header = ["", "demanded", "measured", "reached"]
    return table("Targets", header, rows if any(row[2] for row in rows) else [], notes, "---")


def ratio_cell(run: Run, case: Case, unit: float, baseline: float | None) -> str:
    """A cost with its mark and ratio, or the exception that came instead; empty where nothing was measured."""
    cost = run.costs.get(case)
    if cost is None:
        return run.failures.get(case, "")
    ratio = f" ({times(cost.seconds / baseline)})" if baseline else ""
    return f"{cost.mark}{digits(cost.seconds * unit)}{ratio}"


def answer(yes: float) -> str:
    return "yes" if yes else "no"


def percent(part: float) -> str:
    return f"{part:.0%}"


def share(part: float) -> str:
    return answer(part) if part in {0, 1} else percent(part)


def times(number: float) -> str:
    return f"x{number:,.0f}" if number >= 10 else f"x{number:.2f}"  # noqa: PLR2004


def digits(number: float) -> str:
    """Three digits, or four places after the point."""
    for least, places in ((100, 0), (10, 1), (0.1, 2)):
        if number >= least:
            return f"{number:,.{places}f}"
    return f"{number:.4f}"
