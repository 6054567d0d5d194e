"""What the commands of the benchmarks share: options, builds and peers, the circumstances of a run, and its page.

Rule: no figure without version, machine and command; a page is written by a full run, or where `--docs` says.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from rich.console import Console
from rich.markdown import Markdown

from benchmarks import builds
from benchmarks.jsontide_sides import COMPILED, PURE

ROUNDS, QUICK_ROUNDS = 5, 2
PIPE_WIDTH = 150

T = TypeVar("T")


class Command:
    """One command: its options, and the page that it writes."""

    def __init__(self, module: str, page: str, description: str | None) -> None:
        self.module = module
        self.page = page
        self.parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
        add = self.parser.add_argument
        add("--quick", action="store_true", help="small documents, fewer rounds, no page")
        add("--rounds", type=int, help=f"rounds of which the least counts (default: {ROUNDS})")
        add("--docs", type=Path, metavar="DIR", help="where to write the page (a full run: docs/measured)")
        add("--compiled", type=Path, metavar="DIR", help="take the compiled build from this directory")
        self.options = argparse.Namespace()

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        self.options = self.parser.parse_args(arguments)
        self.options.rounds = self.options.rounds or (QUICK_ROUNDS if self.options.quick else ROUNDS)
        if self.options.docs:
            self.options.docs.mkdir(parents=True, exist_ok=True)  # before anything is measured, so that no run is lost
        return self.options

    @property
    def directory(self) -> Path | None:
        """Where the page is written; `None` if this run is not a full one."""
        is_full = not self.options.quick and not getattr(self.options, "only", None)
        directory: Path | None = self.options.docs or (builds.ROOT / "docs" / "measured" if is_full else None)
        return directory

    def load_builds(self) -> tuple[dict[str, ModuleType], dict[str, str]]:
        return load({COMPILED: lambda: builds.compiled(self.options.compiled), PURE: builds.pure})

    def circumstances(self, version: str, distributions: Iterable[str], missing: Mapping[str, str]) -> list[str]:
        """Return what a run was made with, a sentence to a line."""
        only = [f"--only '{word}'" for word in getattr(self.options, "only", [])]
        command = " ".join([f"python -m {self.module}", *(["--quick"] if self.options.quick else []), *only])
        return [
            f"`{command}`: jsontide {version}, least of up to {self.options.rounds} rounds.  ",
            *(f"{line}  " for line in builds.machine()),
            f"Peers: {', '.join(builds.versions(distributions))}.  ",
            *(f"Missing: {name} ({reason}).  " for name, reason in missing.items()),
        ]

    def publish(self, shown: Iterable[str], page: Callable[[], str]) -> Path | None:
        """Print the tables, and write the page after a full run; returns where."""
        console = Console() if sys.stdout.isatty() else Console(width=PIPE_WIDTH)
        console.print(Markdown("\n".join(shown)))
        if self.directory is None:
            return None
        path = self.directory / self.page
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
