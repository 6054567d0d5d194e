"""What must be reached, beside what was measured in the same run.

In: results, findings of the audit, memory. Out: a row for each demand: target, measured, reached or not.
Rule: a row whose figures were not measured says so; none is left out because it fails.
A ratio is the other side's cost divided by ours: 5 means that ours takes a fifth of the time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from benchmarks.audit import Finding
from benchmarks.documents import CUTS, SHAPES, SIZE_NAMES, SIZES
from benchmarks.event_audit import Hearing
from benchmarks.increments import Increment
from benchmarks.measure import Case, Results
from benchmarks.memory import Memory
from benchmarks.ours import COMPILED, PURE
from benchmarks.peers import IJSON_C, IJSON_PYTHON, JITER, STREAMING_NATIVE, STREAMING_PURE
from benchmarks.schemas import AGAIN, INSTRUCTOR, PARTIAL_VALIDATION
from benchmarks.snapshot_audit import Sending

TOKENS = ("tokens",)
FLAT_SIZES = SIZES[1:]
NEAR = 10_000
FAR = 1_000_000


@dataclass(frozen=True)
class Figure:
    """A number and where it comes from, when it is the worst of several."""

    value: float
    where: str = ""


@dataclass(frozen=True)
class Check:
    """`dropped` and `held` are the two ways to read; what has only one way stands in both."""

    demand: str
    least: float | None
    most: float | None
    dropped: Figure | None
    held: Figure | None

    @property
    def target(self) -> str:
        return f"≥ {self.least:g}" if self.least is not None else f"≤ {self.most:g}"

    def meets(self, figure: Figure) -> bool:
        rounded = round(figure.value, 2)
        if self.least is not None:
            return rounded >= self.least
        return self.most is None or rounded <= self.most

    @property
    def is_measured(self) -> bool:
        return self.dropped is not None and self.held is not None

    @property
    def reached(self) -> str:
        if self.dropped is None or self.held is None:
            return "not measured"
        match self.meets(self.dropped), self.meets(self.held):
            case True, True:
                return "yes"
            case True, False:
                return "only when dropped"
            case False, True:
                return "only when held"
            case _:
                return "no"


@dataclass(frozen=True)
class Run:
    results: Results
    findings: Mapping[str, Finding]
    memory: Mapping[str, Memory]
    peers: tuple[str, ...]
    hearings: Mapping[str, Hearing] = field(default_factory=dict)
    sendings: Mapping[str, Sending] = field(default_factory=dict)
    increments: Mapping[Increment, float] = field(default_factory=dict)
    typings: Mapping[str, Finding] = field(default_factory=dict)

    def cost(self, side: str, case: Case) -> float | None:
        """A side's cost in a case; who makes each value anew is measured once for both ways to read."""
        found = self.results.seconds(replace(case, side=side))
        if found is None and case.work == "held":
            return self.results.seconds(replace(case, side=side, work="dropped"))
        return found

    def shows_strings(self, side: str) -> bool:
        return side in self.findings and self.findings[side].shows_strings

    def worst(self, ours: str, peers: tuple[str, ...], cases: Sequence[Case]) -> Figure | None:
        """The least ratio over some peers and cases, with its place where there is a choice."""
        found = [
            Figure(other / mine, f"{peer}, {case.shape}, {SIZE_NAMES[case.size]}, {case.cut}")
            for case in cases
            for peer in peers
            if (mine := self.cost(ours, case)) and (other := self.cost(peer, case))
        ]
        least = min(found, key=lambda figure: figure.value, default=None)
        is_choice = len(peers) * len(cases) > 1
        return least if least is None or is_choice else Figure(least.value)

    def growth(self, ours: str, cases: Sequence[Case]) -> Figure | None:
        """The cost of the last case divided by that of the first."""
        costs = self.all_costs(ours, cases)
        return Figure(costs[-1] / costs[0]) if costs else None

    def spread(self, ours: str, cases: Sequence[Case]) -> Figure | None:
        """The greatest cost divided by the least."""
        costs = self.all_costs(ours, cases)
        return Figure(max(costs) / min(costs)) if costs else None

    def all_costs(self, side: str, cases: Sequence[Case]) -> list[float]:
        """The costs of all cases, none at all if one is missing."""
        costs = [cost for case in cases if (cost := self.results.seconds(replace(case, side=side))) is not None]
        return costs if len(costs) == len(cases) else []


def both(
    figure: Callable[[Sequence[Case]], Figure | None], cases: Sequence[Case]
) -> tuple[Figure | None, Figure | None]:
    """A figure for each of the two ways to read."""
    dropped, held = ([replace(case, work=work) for case in cases] for work in ("dropped", "held"))
    return figure(dropped), figure(held)


def cases(shape: str, sizes: Sequence[int], cuts: Sequence[str], work: str = "") -> list[Case]:
    return [Case(shape, size, cut, work, "") for size in sizes for cut in cuts]


def checks(run: Run) -> list[Check]:
    return [
        *against_jiter(run),
        *against_streaming(run),
        *against_all(run),
        *flatness(run),
        *pure_build(run),
        *events(run),
        *schemas(run),
        *memory_checks(run),
    ]


def against_jiter(run: Run) -> Iterator[Check]:
    figure = partial(run.worst, COMPILED, (JITER,))
    for size, least in ((1_000, 4.0), (10_000, 30.0), (100_000, 250.0)):
        found = both(figure, cases("records", (size,), TOKENS))
        yield Check(f"compiled against jiter, records, {SIZE_NAMES[size]}", least, None, *found)


def against_streaming(run: Run) -> Iterator[Check]:
    for peer, least, sizes in ((STREAMING_PURE, 5.0, SIZES[:3]), (STREAMING_NATIVE, 1.0, SIZES)):
        for size in sizes:
            found = both(partial(run.worst, COMPILED, (peer,)), cases("records", (size,), TOKENS))
            yield Check(f"compiled against {peer}, records, {SIZE_NAMES[size]}", least, None, *found)
    showing = tuple(peer for peer in run.peers if peer != JITER and run.shows_strings(peer))
    for size in SIZES[:3]:
        found = both(partial(run.worst, COMPILED, showing), cases("records", (size,), TOKENS))
        demand = f"compiled against any peer but jiter that shows growing strings, records, {SIZE_NAMES[size]}"
        yield Check(demand, 5.0, None, *found)


def against_all(run: Run) -> Iterator[Check]:
    figure = partial(run.worst, COMPILED, run.peers)
    for shape in ("string", "deep", "flat"):
        for cut in CUTS:
            found = both(figure, cases(shape, SIZES, (cut,)))
            yield Check(f"compiled against every peer at every size, {shape}, {cut}", 1.0, None, *found)


def flatness(run: Run) -> Iterator[Check]:
    for shape in SHAPES:
        found = both(partial(run.growth, COMPILED), cases(shape, (NEAR, FAR), TOKENS))
        yield Check(f"compiled, 1 MB against 10 KB, value read, {shape}", None, 2.0, *found)
    for shape in SHAPES:
        figure = run.spread(COMPILED, cases(shape, FLAT_SIZES, TOKENS, "unread"))
        yield Check(f"compiled, 10 KB to 1 MB, value unread, {shape}", None, 1.5, figure, figure)


def pure_build(run: Run) -> Iterator[Check]:
    for size, least in ((1_000, 1.0), (10_000, 9.0)):
        found = both(partial(run.worst, PURE, (JITER,)), cases("records", (size,), TOKENS))
        yield Check(f"pure against jiter, records, {SIZE_NAMES[size]}", least, None, *found)
    figure = partial(run.worst, PURE, (STREAMING_PURE,))
    found = both(figure, cases("records", SIZES, TOKENS))
    yield Check(f"pure against {STREAMING_PURE}, records, tokens, every size", 1.0, None, *found)
    found = both(figure, [case for shape in SHAPES for case in cases(shape, SIZES, (*CUTS,))])
    yield Check(f"pure against {STREAMING_PURE}, every shape, cut and size", 1.0, None, *found)


def events(run: Run) -> Iterator[Check]:
    for ours, peer, least in ((COMPILED, IJSON_C, 1.5), (PURE, IJSON_PYTHON, 2.5)):
        build = ours.removeprefix("jsontide, ")
        for size in SIZES:
            figure = run.worst(ours, (peer,), cases("records", (size,), TOKENS, "events"))
            demand = f"events, {build} against {peer}, records, {SIZE_NAMES[size]}"
            yield Check(demand, least, None, figure, figure)
    for sizes in (SIZES, FLAT_SIZES):
        figure = run.spread(COMPILED, cases("records", sizes, TOKENS, "events"))
        yield Check(f"events, compiled, {SIZE_NAMES[sizes[0]]} to 1 MB, records", None, 1.5, figure, figure)


def schemas(run: Run) -> Iterator[Check]:
    for ours in (COMPILED, PURE):
        build = ours.removeprefix("jsontide, ")
        for peer in (PARTIAL_VALIDATION, AGAIN, INSTRUCTOR):
            for size in SIZES:
                figure = run.worst(ours, (peer,), cases("records", (size,), TOKENS, "schema"))
                demand = f"through a schema, {build} against {peer}, records, {SIZE_NAMES[size]}"
                yield Check(demand, 1.0, None, figure, figure)
    figure = run.spread(COMPILED, cases("records", FLAT_SIZES, TOKENS, "schema"))
    yield Check("through a schema, compiled, 10 KB to 1 MB, records", None, 1.5, figure, figure)


def memory_checks(run: Run) -> Iterator[Check]:
    for side in (COMPILED, PURE):
        found = run.memory.get(side)
        figure = Figure(found.ratio) if found else None
        yield Check(f"memory of a finished 1 MB document and its state, {side}", None, 3.0, figure, figure)
