"""Runs drawn from the generated streams of all providers, with what becomes of their calls, and a small model of them.

A script is a list of events for `feed_run`; the model says after each of them what the run must show.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from jsontide.messages import CompleteCall, ToolResult
from jsontide.runs import Run, StepEnded, StepStarted, ToolFinished, ToolProgress, ToolStarted, ToolWaits
from tests.generated_streams import STREAMS

WITH_CALLS = [one for one in STREAMS.values() if one.said.outcome == "complete" and one.said.calls]
WITHOUT = [one for one in STREAMS.values() if one.said.outcome == "complete" and not one.said.calls]
OUTPUTS = (None, 7, "text", "", [1, {"a": 2.5}], {"temperature": 21})

MAY_FOLLOW = {"queued": ["start", "start", "wait"], "waiting": ["start"], "running": ["progress"]}


@dataclass
class Model:
    """What a run must show: the provider and the text of each message, and the status of each call."""

    steps: list[tuple[str, list[str]]] = field(default_factory=list)
    pauses: bool = False
    """Whether the provider wants to be asked again with the last message."""

    def shows(self, run: Run[Any]) -> bool:
        shown = [(step.message.provider, [status_of(one) for one in step.results]) for step in run.steps]
        # Before its first event, nobody knows whose message the last one is.
        return shown[:-1] == self.steps[:-1] and shown[-1][1] == self.steps[-1][1]


def status_of(result: object) -> str:
    if isinstance(result, ToolResult):
        return "error" if result.error is not None else "output"
    return str(getattr(result, "status", None))


def play(random: Random, most: int = 3) -> Iterator[tuple[object, Model, bool]]:
    """Draw a run: yield each event, the model after it, and whether the run may end there.

    The caller sends the run after each event, because events of calls name their ids.
    """
    model = Model()
    streams = [random.choice(WITH_CALLS) for _ in range(random.randrange(most))] + [random.choice(WITHOUT)]
    for stream in streams:
        model.steps.append((stream.provider, []))
        model.pauses = stream.said.finish_reason in {"pause", "pause_turn"}
        yield StepStarted(), model, False
        for event in stream.events:
            yield event, model, False
        model.steps[-1][1].extend(["queued"] * len(stream.said.calls))
        run = yield StepEnded(), model, not stream.said.calls
        assert run is not None
        yield from _play_calls(random, model, run)


def _play_calls(random: Random, model: Model, run: Run[Any]) -> Iterator[tuple[object, Model, bool]]:
    calls = run.message.tool_calls if run.message is not None else ()
    statuses = model.steps[-1][1]
    open_calls = list(range(len(calls)))
    while open_calls:
        at = random.choice(open_calls)
        call = calls[at]
        choices = ["finish"]
        if isinstance(call, CompleteCall):
            choices += MAY_FOLLOW[statuses[at]]
        choice = random.choice(choices)
        assert call.id is not None
        if choice == "finish":
            ran = statuses[at] == "running"
            is_error = not ran or random.random() < 0.3
            result = ToolResult(
                call,
                None if is_error else random.choice(OUTPUTS),
                "it failed" if is_error else None,
                ran="yes" if ran else "no",
            )
            statuses[at] = "error" if is_error else "output"
            open_calls.remove(at)
            event: object = ToolFinished(call.id, result)
        elif choice == "start":
            statuses[at], event = "running", ToolStarted(call.id)
        elif choice == "wait":
            statuses[at], event = "waiting", ToolWaits(call.id, random.choice([None, "it costs money"]))
        else:
            event = ToolProgress(call.id, random.choice(OUTPUTS))
        yield event, model, not open_calls
