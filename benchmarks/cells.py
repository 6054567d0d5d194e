"""What stands in a cell of a table.

In: a figure, or a run and the case that is asked for. Out: a short text, empty where nothing was measured.
"""

from benchmarks.checks import Run
from benchmarks.measure import Case
from benchmarks.ours import COMPILED, PURE

# The work of ours that a work is compared with; all others are compared with the value that is read and dropped.
BASELINES = {"events": "events", "told": "told", "schema": "schema", "snapshots": "snapshots", "anew": "snapshots"}


def share(part: float) -> str:
    return "yes" if part == 1 else f"{part:.0%}" if part else "no"


def answer(yes: bool) -> str:  # noqa: FBT001 - it is what is asked
    return "yes" if yes else "no"


def cost_cell(run: Run, case: Case) -> str:
    """A cost, and how many times that of jsontide in the same work, or reading the value and dropping it."""
    if case in run.results.failures:
        return run.results.failures[case]
    cost = run.results.costs.get(case)
    if cost is None:
        return ""
    ours = baseline(run, case, BASELINES.get(case.work, "dropped"))
    ratio = f" ({times(cost.seconds / ours)})" if ours else ""
    return f"{cost.mark}{figures(cost.seconds * 1e6)}{ratio}"


def baseline(run: Run, case: Case, work: str) -> float | None:
    for side in (COMPILED, PURE):
        found = run.results.seconds(Case(case.shape, case.size, case.cut, work, side))
        if found is not None:
            return found
    return None


def figures(number: float) -> str:
    for least, digits in ((100, 0), (10, 1), (0.1, 2)):
        if number >= least:
            return f"{number:,.{digits}f}"
    return f"{number:.4f}"


def times(number: float) -> str:
    return f"x{number:,.0f}" if number >= 10 else f"x{number:.2f}"  # noqa: PLR2004
