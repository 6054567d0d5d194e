"""`python -m benchmarks`: audit, measure, print, and after a full run write its page in docs/measured, with a chart."""

import argparse
import sys
from collections.abc import Mapping, Sequence

from benchmarks import chart
from benchmarks.audit import audit
from benchmarks.documents import CUTS, SHAPES, SIZES
from benchmarks.kinds import KINDS
from benchmarks.measure import Extent, measure, measure_memory
from benchmarks.pages import PURE, Command, load
from benchmarks.report import page, sections
from benchmarks.sides import PEERS, Side, jsontide_offers
from benchmarks.timing import Run


def choose_extent(options: argparse.Namespace) -> Extent:
    def choose(names: Mapping[str, object]) -> tuple[str, ...]:
        return tuple(name for name in names if name in options.only) or tuple(names)

    sizes = SIZES[:2] if options.quick else SIZES
    return Extent(options.rounds, choose(SHAPES), sizes, choose(CUTS), choose(KINDS))


def choose_peers(only: Sequence[str]) -> list[Side]:
    known = (*SHAPES, *CUTS, *KINDS)
    words = [word for word in only if word not in known]
    found = [side for side in PEERS if not words or any(word in side.name for word in words)]
    if not found:
        names = ", ".join([*known, *(side.name for side in PEERS)])
        raise SystemExit(f"error: nothing is called {' or '.join(words)}; there are {names}")
    return found


def main(arguments: Sequence[str]) -> None:
    words = f"a shape, a cut, a kind of work ({', '.join(KINDS)}), or a part of a peer's name"
    command = Command("benchmarks", "benchmarks.md", __doc__, words)
    command.add_clock()
    options = command.parse(arguments)
    extent, peers = choose_extent(options), choose_peers(options.only)
    modules, no_modules = command.load_builds()
    loaded, no_peers = load({side.name: side.load for side in peers})
    sides = {**{name: jsontide_offers(module) for name, module in modules.items()}, **loaded}
    run = Run([*sides])
    for side, offers in sides.items():
        print("audit", side)
        for name, finding in audit(offers, extent.kinds):
            run.audits.setdefault(name, {})[side] = finding
    measure(run, sides, extent)
    for side, module in modules.items() if not options.quick else ():
        run.memory |= {(name, side): held for name, held in measure_memory(module).items()}
    distributions = [name for side in peers for name in side.distributions]
    made_with = command.circumstances(modules[PURE].__version__, distributions, {**no_modules, **no_peers})
    path = command.publish([*made_with, "", *sections(run, extent)], lambda: page(run, extent, made_with))
    if path is not None:
        chart.draw(run, extent.sizes, path.with_suffix(".svg"))


if __name__ == "__main__":
    main(sys.argv[1:])
