"""Law 8 for runs, by counting work: a run costs little beside its messages, however many there were before."""

import gc
import json
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from typing import Any

from jsontide import run_tools, stream_message
from jsontide.messages import Tool, ToolResult
from jsontide.runs import (
    Run,
    RunState,
    StepEnded,
    StepStarted,
    ToolFinished,
    ToolStarted,
    feed_run,
    run_agent,
    start_run,
)
from tests.meters import Meter, interpreted, opcodes
from tests.test_cost import SLACK, SMALL

MOST_ADDED = 0.15
"""What a run may add to the work for an event, and to the memory of its messages."""
FEW, MANY = 20, 220
STEPS = 50


def text(piece: str) -> bytes:
    return b"data: %s\n\n" % json.dumps({"choices": [{"index": 0, "delta": {"content": piece}}]}).encode()


def call(number: int, piece: str) -> bytes:
    function = {"name": "look" if not piece else None, "arguments": piece}
    entry = {"index": 0, "id": f"call_{number}" if not piece else None, "function": function}
    return b"data: %s\n\n" % json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [entry]}}]}).encode()


def ending(reason: str) -> bytes:
    return b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "%s"}]}\n\n' % reason.encode()


def answer(pieces: int) -> list[bytes]:
    return [*(text(f"word {at} ") for at in range(pieces)), ending("stop")]


def asking(number: int) -> list[bytes]:
    pieces = ['{"place": "', *(f"street {at} " for at in range(40)), '"}']
    return [call(number, ""), *(call(number, piece) for piece in pieces), ending("tool_calls")]


def look(place: str) -> str:
    return place


def drain_from(read: Callable[[Sequence[bytes]], Iterable[object]], events: Sequence[bytes]) -> None:
    for _ in read(events):
        pass


@interpreted
def test_a_run_adds_little_to_the_cost_of_an_event_of_its_message() -> None:
    def per_event(read: Callable[[Sequence[bytes]], Iterable[object]]) -> float:
        few, many = (opcodes(partial(drain_from, read, answer(pieces)))[0] for pieces in (FEW, MANY))
        return (many - few) / (MANY - FEW)

    of_messages = per_event(stream_message)
    assert per_event(lambda events: run_agent(lambda _: events, "?")) <= (1 + MOST_ADDED) * of_messages


def with_steps(count: int) -> RunState[Any]:
    """A run of so many messages, each with a call and its result."""
    state = start_run()
    for number in range(count):
        state = reduce(feed_run, [StepStarted(), *asking(number), StepEnded(), ToolStarted(f"call_{number}")], state)
        result = ToolResult(state.run.results[0].call, number)
        state = feed_run(state, ToolFinished(f"call_{number}", result))
    return state


def test_an_event_costs_the_same_after_one_message_and_after_many(meter: Meter) -> None:
    def cost(state: RunState[Any]) -> int:
        state = reduce(feed_run, [StepStarted(), text("a"), text("b")], state)
        return min(meter(lambda: feed_run(state, text("c")))[0] for _ in range(3))

    assert cost(with_steps(STEPS)) <= SLACK[meter] * cost(with_steps(1)) + SMALL[meter]


def test_a_run_of_many_steps_holds_its_messages_with_their_results_and_little_else() -> None:
    def held(make: Callable[[], object]) -> int:
        make()  # what is made once belongs to no run
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        made = make()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        del made
        return after - before

    def last_run() -> Run[Any]:
        def ask(request: Any) -> Iterable[bytes]:
            number = len(request.run.steps)
            return asking(number) if number < STEPS else answer(1)

        run = run_agent(ask, "?", tools=[Tool.from_function(look)], max_steps=STEPS + 1).final()
        assert len(run.steps) == STEPS + 1
        return run

    def messages_and_results() -> list[object]:
        tool = Tool.from_function(look)
        messages = [stream_message(asking(number), tools=[tool]).final() for number in range(STEPS)]
        return [(message, run_tools(message, [tool])) for message in messages]

    tracemalloc.start()
    try:
        assert held(last_run) <= (1 + MOST_ADDED) * held(messages_and_results)
    finally:
        tracemalloc.stop()
