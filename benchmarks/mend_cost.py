"""`python -m benchmarks.mend_cost`: what mending costs for each chunk, and docs/measured/mend-cost.md.

In: clean documents, and the same records as a model may write them, in chunks of 1 to 8 characters.
Out: processor time per chunk of `values`, strict and with `mend`, beside tools that parse all text again at each chunk.
Rule: all take turns in one run, and every side reads the value after every chunk.
"""

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.builds import ROOT, compiled, machine, pure, versions
from benchmarks.documents import SHAPE_NAMES, SIZE_NAMES, SIZES, Document, cut_text, document, fill, record
from benchmarks.jsontide_sides import COMPILED, PURE
from benchmarks.kinds import Feed, Reparse, tolerate
from benchmarks.measure import Case, Run, extrapolate, run_rounds
from benchmarks.peers import reparse_text
from benchmarks.tables import digits, table, times
from benchmarks.timing import Course, Stretch, plan_reparse

PAGE = ROOT / "docs" / "measured" / "mend-cost.md"
ROUNDS, QUICK_ROUNDS = 5, 2
MOST = 2.0
"""How many times the cost of strict reading mending may cost on clean text."""
CLEAN = ("records", "string", "flat")
DIRTY = "dirty"
STRICT, MEND = "strict", "mend"
CUT = "tokens"
HEAD = """# The cost of mending

What `values(chunks, mend=MODELS)` costs for each chunk, on clean text and on text as a model may write it.
Chunks have 1 to 8 characters, and the value is read after each of them.
This page is written by `python -m benchmarks.mend_cost`; all its figures are from one run.
"""
METHOD = Path(__file__).with_name("mend_cost_method.md")


def write_dirty(value: object) -> str:
    """A record as models write it when they think of Python."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {write_dirty(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + "".join(f"{write_dirty(item)}, " for item in value).rstrip(" ") + "]"
    return str(value) if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)


def dirty_document(size: int) -> Document:
    rng = random.Random(f"{DIRTY} {size}")
    before = 'Sure! Here are the places you asked for:\n\n```json\n{"trip": "coast", "items": [\n'
    after = "\n]}\n```\n\nLet me know if you need more."
    items = (write_dirty(record(rng, number)) for number in range(sys.maxsize))
    text = fill(items, size, (before, after))
    return Document(DIRTY, size, CUT, text, cut_text(text, CUT))


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


def plan_all(run: Run, modules: Mapping[str, ModuleType], text: Document, peers: Iterable[str]) -> dict[Case, Course]:
    courses: dict[Case, Course] = {}
    for side, module in modules.items():
        for way, read in ways_of(module).items():
            if way == MEND or text.shape != DIRTY:
                stretch = Stretch([text.chunks], len(text.chunks), 1 / 2, partial(give, read))
                courses[Case(text.shape, text.size, CUT, way, side)] = Course(len(text.chunks), [stretch])
    for side in (peer for peer in peers if peer in READS.get(text.shape, ())):
        case = Case(text.shape, text.size, CUT, MEND, side)
        if (far := extrapolate(run, case, len(text.chunks))) is not None:
            run.costs[case] = far
        else:
            courses[case] = plan_reparse(PEERS[side]().start, text.chunks, tolerate)
    return courses


def measure(modules: Mapping[str, ModuleType], peers: Sequence[str], sizes: Sequence[int], rounds: int) -> Run:
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
        cells = []
        for size in sizes:
            cost = run.costs.get(Case(shape, size, CUT, way, side))
            own = run.seconds(Case(shape, size, CUT, MEND, ours))
            ratio = f" ({times(cost.seconds / own)})" if cost is not None and own is not None else ""
            cells.append("" if cost is None else f"{cost.mark}{digits(cost.seconds * 1e6)}{ratio}")
        if any(cells):
            label = f", {way}" if side in (COMPILED, PURE) else ""
            rows.append([f"{side}{label}", *cells])
    header = [f"µs per chunk (times {ours}, {MEND})", *(SIZE_NAMES[size] for size in sizes)]
    return table(title, header, rows)


def page(run: Run, sizes: Sequence[int], circumstances: Sequence[str]) -> str:
    return "\n".join(
        [
            HEAD,
            *(f"{line}  " for line in circumstances),
            "",
            ratio_table(run, sizes),
            cost_table(run, "records", "Clean text: records in an object", sizes),
            cost_table(run, DIRTY, "The same records as a model may write them", sizes),
            METHOD.read_text(encoding="utf-8"),
        ]
    )


def load_modules(directory: Path | None) -> tuple[dict[str, ModuleType], list[str]]:
    modules, missing = {}, []
    try:
        modules[COMPILED] = compiled(directory)
    except ImportError as error:
        missing.append(f"Missing: {COMPILED} ({error}).")
    modules[PURE] = pure()
    return modules, missing


def find_peers() -> tuple[list[str], list[str]]:
    found, missing = [], []
    for name, load in PEERS.items():
        try:
            load()
        except ImportError as error:
            missing.append(f"Missing: {name} ({error}).")
        else:
            found.append(name)
    return found, missing


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mend_cost", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="documents up to 10 KB, fewer rounds, no page")
    parser.add_argument("--rounds", type=int, help=f"rounds of which the least counts (default: {ROUNDS})")
    parser.add_argument("--compiled", type=Path, metavar="DIR", help="take the compiled build from this directory")
    options = parser.parse_args(arguments)
    sizes = SIZES[:2] if options.quick else SIZES
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    modules, no_modules = load_modules(options.compiled)
    peers, no_peers = find_peers()
    run = measure(modules, peers, sizes, rounds)
    circumstances = [
        f"jsontide {modules[PURE].__version__}, least of up to {rounds} rounds.",
        *machine(),
        f"Peers: {', '.join(versions(('json-repair', 'langchain-core')))}.",
        *no_modules,
        *no_peers,
    ]
    written = page(run, sizes, circumstances)
    print(written)
    if not options.quick:
        PAGE.write_text(written, encoding="utf-8")
        print(f"written: {PAGE}")


if __name__ == "__main__":
    main(sys.argv[1:])
