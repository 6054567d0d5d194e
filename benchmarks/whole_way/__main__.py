"""`python -m benchmarks.whole_way`: check, measure, print, and write docs/measured/whole-way.md."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from rich.console import Console
from rich.markdown import Markdown

from benchmarks import builds
from benchmarks.__main__ import PIPE_WIDTH, QUICK_ROUNDS, ROUNDS, load
from benchmarks.whole_way import clients, sides
from benchmarks.whole_way.measure import EVERY, Extent, measure
from benchmarks.whole_way.report import page, sections
from benchmarks.whole_way.works import LOOP, SIZES, Openers

PAGE = "whole-way.md"


class Peer(NamedTuple):
    """`load` raises `ImportError` for a library that is not installed."""

    name: str
    distributions: tuple[str, ...]
    load: Callable[[], Openers]


PEERS = (
    Peer(sides.BY_HAND, ("orjson", "jiter"), sides.by_hand),
    Peer(sides.FLOOR, (), lambda: sides.floor(json.loads)),
    Peer(sides.FLOOR_ORJSON, ("orjson",), lambda: sides.floor(import_module("orjson").loads)),
    Peer(clients.CREATE, ("openai",), clients.openai_create),
    Peer(clients.CREATE_JITER, ("openai", "jiter"), clients.openai_create_jiter),
    Peer(clients.STREAM, ("openai",), clients.openai_stream),
    Peer(clients.ANTHROPIC, ("anthropic",), clients.anthropic_stream),
    Peer(clients.GENAI, ("google-genai",), clients.google_genai),
    Peer(clients.LANGCHAIN, ("langchain-core",), clients.langchain),
    Peer(clients.INSTRUCTOR, ("instructor", "pydantic"), clients.instructor),
    Peer(clients.PYDANTIC_AI, ("pydantic-ai-slim",), clients.pydantic_ai),
    Peer(clients.LITELLM, ("litellm",), clients.litellm),
)


def parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.whole_way", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="text up to 10 KB, fewer rounds")
    parser.add_argument("--rounds", type=int, help=f"rounds of which the least counts (default: {ROUNDS})")
    parser.add_argument("--only", default="", metavar="WORD", help="streams with this in their name; writes no page")
    parser.add_argument("--docs", type=Path, metavar="DIR", help="where to write the page (default: docs)")
    parser.add_argument("--compiled", type=Path, metavar="DIR", help="take the compiled build from this directory")
    parser.add_argument("--before", type=Path, metavar="DIR", help="compare with the older sources in this directory")
    return parser.parse_args(arguments)


def choose_extent(options: argparse.Namespace) -> Extent:
    return Extent(
        rounds=options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS),
        works=[work for work in EVERY if options.only in work.name],
        sizes=SIZES[:2] if options.quick else SIZES,
        **({"streams": 0} if options.only else {}),
    )


def own_sides(options: argparse.Namespace) -> tuple[dict[str, Openers], dict[str, str], dict[str, ModuleType]]:
    """The builds of jsontide, what is missing, and the modules."""
    loaders: dict[str, Callable[[], ModuleType]] = {
        sides.COMPILED: lambda: builds.compiled(options.compiled),
        sides.PURE: builds.pure,
    }
    if options.before:
        loaders[sides.BEFORE] = lambda: builds.imported_from(options.before, "jsontide")
    modules, missing = load(loaders)
    return {name: sides.jsontide_openers(module) for name, module in modules.items()}, missing, modules


def main(arguments: Sequence[str]) -> None:
    options = parse_options(arguments)
    directory: Path = options.docs or builds.ROOT / "docs" / "measured"
    directory.mkdir(parents=True, exist_ok=True)  # before anything is measured, so that no run is lost
    extent = choose_extent(options)
    own, no_own, modules = own_sides(options)
    others, no_others = load({peer.name: peer.load for peer in PEERS})
    found = measure({**own, **others}, extent)
    LOOP.run_until_complete(LOOP.shutdown_asyncgens())  # streams that were timed at places are still open
    distributions = [name for peer in PEERS for name in peer.distributions]
    circumstances = [
        f"`{command_of(options)}`: jsontide {modules[sides.PURE].__version__}, least of up to {extent.rounds} rounds.",
        *builds.machine(),
        f"Peers: {', '.join(builds.versions(distributions))}.",
        *(f"Missing: {name} ({reason})." for name, reason in {**no_own, **no_others, **found.missing}.items()),
    ]
    console = Console() if sys.stdout.isatty() else Console(width=PIPE_WIDTH)
    console.print(Markdown("\n".join([*(f"{line}  " for line in circumstances), "", *sections(found, extent)])))
    if not options.only or options.docs:
        (directory / PAGE).write_text(page(found, extent, circumstances), encoding="utf-8")
        print(f"written: {directory / PAGE}")


def command_of(options: argparse.Namespace) -> str:
    """The command that measures the same again, without its paths."""
    words = ["python -m benchmarks.whole_way", *(["--quick"] if options.quick else [])]
    words += [f"--rounds {options.rounds}"] if options.rounds else []
    words += [f"--only '{options.only}'"] if options.only else []
    return " ".join([*words, *(["--before DIR"] if options.before else [])])


if __name__ == "__main__":
    main(sys.argv[1:])
