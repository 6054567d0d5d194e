"""Three ways to count the work of one call, without a clock and without touching the code that works.

`opcodes` counts the bytecodes that Python runs: every loop that is written in Python shows.
`heap` counts the bytes taken from the allocator at the worst moment: every copy that C makes shows.
`widths` counts the elements of containers that C copies or empties as a whole: copies into the same place show too.
Rule: a meter only counts; what is too much is said by the tests.
"""

import sys
import tracemalloc
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, TypeVar

import pytest

from jsontide import COMPILED, ParserState, parse_chunk

Result = TypeVar("Result")
Meter = Callable[[Callable[[], Any]], tuple[int, Any]]

interpreted = pytest.mark.skipif(COMPILED, reason="compiled code runs no bytecode; its copies show on the heap")


def opcodes(call: Callable[[], Result]) -> tuple[int, Result]:
    """Works for interpreted code only: compiled modules run no bytecode."""
    return monitored(call) if sys.version_info >= (3, 12) else traced(call)


def traced(call: Callable[[], Result]) -> tuple[int, Result]:
    count = 0

    def enter(frame: FrameType, _: str, __: object) -> Any:
        frame.f_trace_lines = False
        frame.f_trace_opcodes = True
        return step

    def step(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        if event == "opcode":
            count += 1

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        result = call()
    finally:
        sys.settrace(before)
    return count, result


def monitored(call: Callable[[], Result]) -> tuple[int, Result]:
    """The same where `sys.monitoring` is: the tracer of those versions misses what runs for the first time."""
    count = 0

    def step(_: object, __: int) -> None:
        nonlocal count
        count += 1

    monitoring: Any = getattr(sys, "monitoring")  # noqa: B009
    instruction, tool = monitoring.events.INSTRUCTION, monitoring.PROFILER_ID
    monitoring.use_tool_id(tool, "meters")
    monitoring.register_callback(tool, instruction, step)
    monitoring.set_events(tool, instruction)
    try:
        result = call()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    return count, result


def heap(call: Callable[[], Result]) -> tuple[int, Result]:
    """Needs `tracemalloc` to run since before the things that the call uses were made."""
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    result = call()
    _, peak = tracemalloc.get_traced_memory()
    return peak - before, result


_WHOLE = frozenset(("clear", "copy"))


def widths(call: Callable[[], Result]) -> tuple[int, Result]:
    """Works for interpreted code only: compiled modules call such methods unseen."""
    count = 0

    def profile(_: FrameType, event: str, called: Any) -> None:
        nonlocal count
        if event == "c_call" and called.__name__ in _WHOLE:
            count += len(called.__self__)

    sys.setprofile(profile)
    try:
        result = call()
    finally:
        sys.setprofile(None)
    return count, result


def untraced(call: Callable[[], Result]) -> Result:
    """Prepare something large without the coverage tracer, which would multiply the time that it takes."""
    before = sys.gettrace()
    sys.settrace(None)
    try:
        return call()
    finally:
        sys.settrace(before)


def metered(
    meter: Meter, state: ParserState, chunks: Iterable[str], *, read: bool = False
) -> tuple[list[int], ParserState]:
    """Feed chunks; the cost of each, and the last state. With `read` the value is read each time."""
    costs = []
    for chunk in chunks:
        cost, state = meter(lambda before=state, chunk=chunk: parse_chunk(before, chunk))  # type: ignore[misc]
        if read:
            cost += meter(lambda after=state: after.value)[0]  # type: ignore[misc]
        costs.append(cost)
    return costs, state
