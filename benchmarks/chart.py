"""Cost per chunk over document size, log-log, as SVG.

In: a run. Out: one line a side, its name at its end; a hollow mark is extrapolated.
Rule: the same results give the same file.
"""

import math
from collections.abc import Sequence
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.documents import SIZE_NAMES
from benchmarks.pages import COMPILED, PURE
from benchmarks.timing import Case, Run

WIDTH, HEIGHT = 9.0, 5.6
OURS = {COMPILED: "#00695c", PURE: "#26a69a"}
OTHERS = "#78909c"
# Names that would cover each other are moved apart by at least this factor.
APART = 1.55


def draw(run: Run, sizes: Sequence[int], path: Path) -> None:
    matplotlib: Any = import_module("matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "jsontide"
    matplotlib.rcParams["svg.fonttype"] = "none"
    pyplot: Any = import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(WIDTH, HEIGHT), layout="constrained")
    lines = {side: line for side in run.sides if (line := points(run, sizes, side))}
    for side, line in lines.items():
        draw_line(axes, side, line)
    for side, height in move_apart({side: line[-1][1] for side, line in lines.items()}).items():
        last = lines[side][-1]
        axes.annotate(
            side,
            (last[0], last[1]),
            xytext=(sizes[-1] * 1.45, height),
            color=OURS.get(side, "#455a64"),
            fontweight="bold" if side in OURS else "normal",
            fontsize=9,
            verticalalignment="center",
            arrowprops={"arrowstyle": "-", "color": "#cfd8dc", "linewidth": 0.8, "relpos": (0, 0.5)},
        )
    label(axes, sizes)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


def points(run: Run, sizes: Sequence[int], side: str) -> list[tuple[int, float, bool]]:
    """Size, microseconds, and whether that was extrapolated."""
    found = [(size, run.costs.get(Case("records", size, "tokens", "dropped", side))) for size in sizes]
    return [(size, cost.seconds * 1e6, cost.is_extrapolated) for size, cost in found if cost is not None]


def draw_line(axes: Any, side: str, line: list[tuple[int, float, bool]]) -> None:  # noqa: ANN401
    colour = OURS.get(side, OTHERS)
    width = 2.4 if side in OURS else 1.2
    axes.plot([size for size, _, _ in line], [cost for _, cost, _ in line], color=colour, linewidth=width)
    for size, cost, is_extrapolated in line:
        axes.plot(size, cost, "o", color=colour, markersize=5, markerfacecolor="white" if is_extrapolated else colour)


def move_apart(heights: dict[str, float]) -> dict[str, float]:
    """Heights of the names: in the order of the lines, none nearer to the next than `APART`."""
    order = sorted(heights, key=heights.__getitem__)
    up = list(accumulate((heights[side] for side in order), lambda below, own: max(own, below * APART)))
    down = list(accumulate((heights[side] for side in reversed(order)), lambda above, own: min(own, above / APART)))
    # Both keep the distance, one by moving names up and one by moving them down; so does the way between.
    return {side: math.sqrt(high * low) for side, high, low in zip(order, up, reversed(down), strict=True)}


def label(axes: Any, sizes: Sequence[int]) -> None:  # noqa: ANN401
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(list(sizes), [SIZE_NAMES[size] for size in sizes])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("document size")
    axes.set_ylabel("µs per chunk")
    axes.set_title("Value read after every chunk of 1 to 8 characters, records", loc="left", fontsize=11)
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.grid(which="major", color="#eceff1")
    axes.set_axisbelow(True)
    for edge in ("top", "right"):
        axes.spines[edge].set_visible(False)
