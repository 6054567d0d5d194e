"""`python -m benchmarks.mend_cost`: what mending costs for each chunk, and docs/measured/mend-cost.md.

In: clean documents, and the same records as a model may write them, in chunks of 1 to 8 characters.
Out: processor time per chunk of `values`, strict and with `mend`, beside tools that parse all text again at each chunk.
Rule: all take turns in one run, and every side reads the value after every chunk.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.command import Command, load
from benchmarks.documents import DIRTY, SHAPE_NAMES, SIZE_NAMES, SIZES, Document, dirty_document, document
from benchmarks.jsontide_sides import COMPILED, PURE
from benchmarks.kinds import Feed, Reparse, tolerate
from benchmarks.measure import Case, Run, extrapolate, run_rounds
from benchmarks.peers import reparse_text
from benchmarks.report import ratio_cell
from benchmarks.tables import table, times
from benchmarks.timing import Course, Stretch, plan_reparse

MOST = 2.0
"""How many times the cost of strict reading mending may cost on clean text."""
CLEAN = ("records", "string", "flat")
STRICT, MEND = "strict", "mend"
CUT = "tokens"
HEAD = """# The cost of mending

What `values(chunks, mend=MODELS)` costs for each chunk, on clean text and on text as a model may write it.
Chunks have 1 to 8 characters, and the value is read after each of them.
This page is written by `python -m benchmarks.mend_cost`; all its figures are from one run.
"""
METHOD = Path(__file__).with_name("mend_cost_method.md")


def text_of(shape: str, size: int) -> Document:
    return dirty_document(size) if shape == DIRTY else document(shape, size, CUT)


def read_values(module: ModuleType, options: Mapping[str, Any], chunks: Sequence[str]) -> object:
    value: object = None
    for value in module.values(chunks, **options):  # noqa: B007 - the last one is returned
        pass
    return value


def ways_of(module: ModuleType) -> dict[str, Callable[[Sequence[str]], object]]:
    return {
        STRICT: partial(read_values, module, {}),
        MEND: partial(read_values, module, {"mend": module.mend.MODELS}),
    }


def give(read: Feed, _: Feed | None) -> Feed:
    return read


def json_repair() -> Reparse:
    repair = import_module("json_repair").repair_json
    return reparse_text(partial(repair, return_objects=True, stream_stable=True))


def langchain() -> Reparse:
    return reparse_text(import_module("langchain_core.utils.json").parse_partial_json)


PEERS: dict[str, Callable[[], Reparse]] = {"json_repair": json_repair, "langchain": langchain}
READS = {"records": ("json_repair", "langchain"), DIRTY: ("json_repair",)}
"""Who can read a text; the other texts are for the builds of jsontide only."""


def plan_all(
    run: Run, modules: Mapping[str, ModuleType], text: Document, peers: Mapping[str, Reparse]
) -> dict[Case, Course]:
    courses: dict[Case, Course] = {}
    for side, module in modules.items():
        for way, read in ways_of(module).items():
            if way == MEND or text.shape != DIRTY:
                stretch = Stretch([text.chunks], len(text.chunks), 1 / 2, partial(give, read))
                courses[Case(text.shape, text.size, CUT, way, side)] = Course(len(text.chunks), [stretch])
    for side in READS.get(text.shape, ()):
        case = Case(text.shape, text.size, CUT, MEND, side)
        if (far := extrapolate(run, case, len(text.chunks))) is not None:
            run.costs[case] = far
        elif side in peers:
            courses[case] = plan_reparse(peers[side].start, text.chunks, tolerate)
    return courses


def measure(modules: Mapping[str, ModuleType], peers: Mapping[str, Reparse], sizes: Sequence[int], rounds: int) -> Run:
    run = Run([*modules, *peers])
    for shape, size in product((*CLEAN, DIRTY), sizes):
        print(f"{shape} {size:,}", flush=True)
        run_rounds(run, plan_all(run, modules, text_of(shape, size), peers), rounds)
    return run


def ratios(run: Run, shape: str, side: str, sizes: Sequence[int]) -> list[float]:
    """Mending divided by strict reading, for each size."""
    found = []
    for size in sizes:
        cost, strict = (run.seconds(Case(shape, size, CUT, way, side)) for way in (MEND, STRICT))
        if cost is not None and strict is not None:
            found.append(cost / strict)
    return found


def ratio_table(run: Run, sizes: Sequence[int]) -> str:
    rows = []
    for shape, side in product(CLEAN, run.sides):
        if found := ratios(run, shape, side, sizes):
            reached = "yes" if round(max(found), 2) <= MOST else "no"
            rows.append([f"{SHAPE_NAMES[shape]}: {side}", *map(times, found), reached])
    return table(
        "Clean text: with mending, times strict",
        ["", *(SIZE_NAMES[size] for size in sizes), f"at most {times(MOST)}"],
        rows,
    )


def cost_table(run: Run, shape: str, title: str, sizes: Sequence[int]) -> str:
    rows = []
    ours = next(side for side in (COMPILED, PURE) if side in run.sides)
    for side, way in product(run.sides, (MEND, STRICT)):
        cells = [
            ratio_cell(run, Case(shape, size, CUT, way, side), 1e6, run.seconds(Case(shape, size, CUT, MEND, ours)))
            for size in sizes
        ]
        if any(cells):
            label = f", {way}" if side in (COMPILED, PURE) else ""
            rows.append([f"{side}{label}", *cells])
    header = [f"µs per chunk (times {ours}, {MEND})", *(SIZE_NAMES[size] for size in sizes)]
    return table(title, header, rows)


def tables(run: Run, sizes: Sequence[int]) -> list[str]:
    return [
        ratio_table(run, sizes),
        cost_table(run, "records", "Clean text: records in an object", sizes),
        cost_table(run, DIRTY, "The same records as a model may write them", sizes),
    ]


def page(run: Run, sizes: Sequence[int], circumstances: Sequence[str]) -> str:
    return "\n".join([HEAD, *circumstances, "", *tables(run, sizes), METHOD.read_text(encoding="utf-8")])


def main(arguments: Sequence[str]) -> None:
    command = Command("benchmarks.mend_cost", "mend-cost.md", __doc__)
    options = command.parse(arguments)
    sizes = SIZES[:2] if options.quick else SIZES
    modules, no_modules = command.load_builds()
    peers, no_peers = load(PEERS)
    run = measure(modules, peers, sizes, options.rounds)
    distributions = ("json-repair", "langchain-core")
    made_with = command.circumstances(modules[PURE].__version__, distributions, {**no_modules, **no_peers})
    command.publish([*made_with, "", *tables(run, sizes)], lambda: page(run, sizes, made_with))


if __name__ == "__main__":
    main(sys.argv[1:])
