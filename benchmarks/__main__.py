"""`python -m benchmarks`: audit, measure, print, and after a full run write its page in docs/measured, with a chart."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType

from benchmarks import chart
from benchmarks.audit import audit
from benchmarks.command import Command, load
from benchmarks.documents import CUTS, SHAPES, SIZES
from benchmarks.jsontide_sides import PURE, jsontide_offers
from benchmarks.kinds import KINDS, Offers
from benchmarks.measure import Extent, Run, measure
from benchmarks.memory import measure_memory
from benchmarks.one_more import measure_one_more
from benchmarks.peers import PEERS, Side
from benchmarks.report import page, sections


def choose_extent(options: argparse.Namespace) -> Extent:
    def choose(names: Mapping[str, object]) -> tuple[str, ...]:
        return tuple(name for name in names if name in options.only) or tuple(names)

    return Extent(
        rounds=options.rounds,
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


def main(arguments: Sequence[str]) -> None:
    command = Command("benchmarks", "benchmarks.md", __doc__)
    words = f"a shape, a cut, a kind of work ({', '.join(KINDS)}), or a part of a peer's name; can be repeated"
    command.parser.add_argument("--only", action="append", default=[], metavar="WORD", help=words)
    options = command.parse(arguments)
    extent, peers = choose_extent(options), choose_peers(options.only)
    modules, no_modules = command.load_builds()
    loaded, no_peers = load({side.name: side.load for side in peers})
    run = run_all(modules, loaded, extent, with_memory=not options.quick)
    distributions = [name for side in peers for name in side.distributions]
    made_with = command.circumstances(modules[PURE].__version__, distributions, {**no_modules, **no_peers})
    path = command.publish([*made_with, "", *sections(run, extent)], lambda: page(run, extent, made_with))
    if path is not None:
        chart.draw(run, extent.sizes, path.with_suffix(".svg"))


if __name__ == "__main__":
    main(sys.argv[1:])
