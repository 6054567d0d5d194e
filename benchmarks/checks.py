"""What must be reached, beside what was measured in the same run.

In: a run. Out: a row for each demand: target, measured, reached or not.
Rule: a row whose figures were not measured says so; none is left out because it fails.
A ratio is the other side's cost divided by ours: 5 means that ours takes a fifth of the time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from benchmarks.documents import CUTS, SHAPES, SIZE_NAMES, SIZES
from benchmarks.jsontide_sides import COMPILED, PURE
from benchmarks.measure import Case, Run
from benchmarks.peers import (
    IJSON_C,
    IJSON_PYTHON,
    INSTRUCTOR,
    JITER,
    PARTIAL_VALIDATION,
    STREAMING_NATIVE,
    STREAMING_PURE,
    VALIDATION_AGAIN,
)

# The share of chunks inside a string from which on a side counts as one that shows growing strings.
SHOWS_STRINGS = 0.95
BUILDS = {COMPILED: "compiled", PURE: "pure Python"}
FLAT_SIZES = SIZES[1:]
NEAR_AND_FAR = (SIZES[1], SIZES[-1])


@dataclass(frozen=True)
class Figure:
    """A number and where it comes from, when it is the worst of several."""

    value: float
    where: str = ""


@dataclass(frozen=True)
class Check:
    """The figures are those of a value that is dropped and of one that is held, or the one of what has no value."""

    demand: str
    target: str
    figures: Sequence[Figure | None]

    @property
    def reached(self) -> str:
        met = [self.meets(figure) for figure in self.figures if figure is not None]
        if len(met) < len(self.figures):
            return "not measured"
        if all(met) or not any(met):
            return "yes" if met[0] else "no"
        return "only when dropped" if met[0] else "only when held"

    def meets(self, figure: Figure) -> bool:
        sign, number = self.target.split()
        rounded = round(figure.value, 2)
        return rounded >= float(number) if sign == "≥" else rounded <= float(number)


Measure = Callable[[Run, Sequence[Case]], Figure | None]


def ratio(ours: str, *peers: str) -> Measure:
    """The least ratio over some peers and cases, with its place where there is a choice."""

    def measure(run: Run, cases: Sequence[Case]) -> Figure | None:
        found = [
            Figure(other / own, f"{peer}, {case.shape}, {SIZE_NAMES[case.size]}, {case.cut}")
            for case in cases
            for peer in peers
            if (own := seconds(run, ours, case)) and (other := seconds(run, peer, case))
        ]
        least = min(found, key=lambda figure: figure.value, default=None)
        return least if least is None or len(peers) * len(cases) > 1 else Figure(least.value)

    return measure


def seconds(run: Run, side: str, case: Case) -> float | None:
    """A side that makes each value anew is measured once for both ways to read."""
    found = run.seconds(replace(case, side=side))
    if found is None and case.kind == "held":
        return run.seconds(replace(case, side=side, kind="dropped"))
    return found


def growth(run: Run, cases: Sequence[Case]) -> Figure | None:
    """The cost of the last case of the compiled build divided by that of the first."""
    costs = own_costs(run, cases)
    return Figure(costs[-1] / costs[0]) if costs else None


def spread(run: Run, cases: Sequence[Case]) -> Figure | None:
    """The greatest cost of the compiled build divided by the least."""
    costs = own_costs(run, cases)
    return Figure(max(costs) / min(costs)) if costs else None


def own_costs(run: Run, cases: Sequence[Case]) -> list[float]:
    """The costs of all cases; none at all if one is missing."""
    costs = [cost for case in cases if (cost := run.seconds(replace(case, side=COMPILED))) is not None]
    return costs if len(costs) == len(cases) else []


@dataclass(frozen=True)
class Demand:
    """`kind` "read" stands for a value that is dropped and one that is held."""

    text: str
    target: str
    measure: Measure
    sizes: Sequence[int]
    kind: str = "read"
    shapes: Sequence[str] = ("records",)
    cuts: Sequence[str] = ("tokens",)

    def check(self, run: Run) -> Check:
        places = [*product(self.shapes, self.sizes, self.cuts)]
        kinds = ("dropped", "held") if self.kind == "read" else (self.kind,)
        figures = [self.measure(run, [Case(*place, kind, "") for place in places]) for kind in kinds]
        return Check(self.text, self.target, figures)


def checks(run: Run) -> list[Check]:
    return [*(demand.check(run) for demand in demands(run)), *memory_checks(run)]


def demands(run: Run) -> Iterator[Demand]:
    yield from at_each("compiled against jiter, records", ("≥ 4", "≥ 30", "≥ 250"), ratio(COMPILED, JITER))
    for peer, targets in ((STREAMING_PURE, ["≥ 5"] * 3), (STREAMING_NATIVE, ["≥ 1"] * 4)):
        yield from at_each(f"compiled against {peer}, records", targets, ratio(COMPILED, peer))
    peers = [side for side in run.sides if side not in BUILDS]
    values = run.audits.get("values", {})
    showing = [peer for peer in peers if peer in values and values[peer]["growing strings"] >= SHOWS_STRINGS]
    any_peer = ratio(COMPILED, *(peer for peer in showing if peer != JITER))
    yield from at_each("compiled against any peer but jiter that shows growing strings, records", ["≥ 5"] * 3, any_peer)
    for shape in ("string", "deep", "flat"):
        for cut in CUTS:
            text = f"compiled against every peer at every size, {shape}, {cut}"
            yield Demand(text, "≥ 1", ratio(COMPILED, *peers), SIZES, shapes=(shape,), cuts=(cut,))
    for shape in SHAPES:
        yield Demand(f"compiled, 1 MB against 10 KB, value read, {shape}", "≤ 2", growth, NEAR_AND_FAR, shapes=(shape,))
    for shape in SHAPES:
        text = f"compiled, 10 KB to 1 MB, value unread, {shape}"
        yield Demand(text, "≤ 1.5", spread, FLAT_SIZES, "unread", shapes=(shape,))
    yield from at_each("pure against jiter, records", ("≥ 1", "≥ 9"), ratio(PURE, JITER))
    yield Demand(
        f"pure against {STREAMING_PURE}, records, tokens, every size", "≥ 1", ratio(PURE, STREAMING_PURE), SIZES
    )
    text = f"pure against {STREAMING_PURE}, every shape, cut and size"
    yield Demand(text, "≥ 1", ratio(PURE, STREAMING_PURE), SIZES, shapes=(*SHAPES,), cuts=(*CUTS,))
    for build, peer, target in ((COMPILED, IJSON_C, "≥ 1.5"), (PURE, IJSON_PYTHON, "≥ 2.5")):
        text = f"events, {BUILDS[build]} against {peer}, records"
        yield from at_each(text, [target] * 4, ratio(build, peer), "events")
    for sizes in (SIZES, FLAT_SIZES):
        yield Demand(f"events, compiled, {SIZE_NAMES[sizes[0]]} to 1 MB, records", "≤ 1.5", spread, sizes, "events")
    for build, name in BUILDS.items():
        for peer in (PARTIAL_VALIDATION, VALIDATION_AGAIN, INSTRUCTOR):
            text = f"through a schema, {name} against {peer}, records"
            yield from at_each(text, ["≥ 1"] * 4, ratio(build, peer), "schema")
    yield Demand("through a schema, compiled, 10 KB to 1 MB, records", "≤ 1.5", spread, FLAT_SIZES, "schema")


def at_each(text: str, targets: Sequence[str], measure: Measure, kind: str = "read") -> Iterator[Demand]:
    """A demand at each size, from the smallest on."""
    for size, target in zip(SIZES, targets, strict=False):
        yield Demand(f"{text}, {SIZE_NAMES[size]}", target, measure, (size,), kind)


def memory_checks(run: Run) -> Iterator[Check]:
    for side in BUILDS:
        figure = Figure(run.memory[side].ratio) if side in run.memory else None
        yield Check(f"memory of a finished 1 MB document and its state, {side}", "≤ 3", [figure])
