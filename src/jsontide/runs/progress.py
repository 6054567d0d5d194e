"""A growing run in, what is new in it out: the events of its messages, and what becomes of their calls, in order.

Rule: the promises of `jsontide.messages.progress` hold for each message, and who joins late gets the same events.
The cost follows what is new, and the number of parts and calls of the last step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from jsontide.messages import Finished, Message, ToolResult, Usage
from jsontide.messages.progress import Progress, UsageChanged, describe_end, describe_plainly
from jsontide.runs.types import PendingResult, Result, RunOutcome, Step, StepStarted

if TYPE_CHECKING:
    from jsontide.messages import MessageEvent, PartEvent
    from jsontide.runs.run import Run

_LEFT: Final = "the run went on before the message had ended"


@dataclass(slots=True)
class ResultProgress:
    """A call waits for a person, runs, or has yielded a value: `result.status` and `result.progress` say it."""

    result: PendingResult


@dataclass(slots=True)
class ResultFinished:
    """The result of a call is there."""

    result: ToolResult


RunEvent: TypeAlias = "PartEvent | StepStarted | ResultProgress | ResultFinished | UsageChanged | Finished[RunOutcome]"
"""Something that is new in a run: what is new in its messages, but for their ends, and what happens around them."""


@dataclass(slots=True)
class RunProgress:
    """How much of a run was sent."""

    run: Run[Any] | None = None
    last: Progress | None = None
    """How much of its last message."""
    usage: Usage | None = None

    def advance(self, run: Run[Any]) -> tuple[RunProgress, list[RunEvent]]:
        """Return the progress after one more of the growing run, and what is new in it."""
        before = self.run
        if run is before or (before is not None and before.is_over):
            return self, []
        place = 0 if before is None else len(before.earlier)
        last, results = self.last, () if before is None else before.results
        events: list[RunEvent] = []
        steps: list[Step | Run[Any]] = [*run.earlier[place:], run]
        for at, step in enumerate(steps, place):
            if step.message is None:
                break
            if last is None or at > place:
                last, results = Progress(f"step-{at + 1}"), ()
                events.append(StepStarted())
            last, found = last.advance(step.message, describe_plainly)
            if not last.is_over and (step is not run or run.is_over):
                last, more = last.fail(_LEFT)
                found += more
            events += [event for event in cast("list[MessageEvent]", found) if not isinstance(event, Finished)]
            events += _compare_results(results, step.results)
        usage = self.usage
        if before is None or len(steps) > 1 or _usage_of(run) is not _usage_of(before):
            usage = run.usage
        if usage is not None and usage != self.usage:
            events.append(UsageChanged(usage))
        if run.is_over:
            events.append(Finished(run.outcome, _describe_end(run), run.message or Message()))
        return RunProgress(run, last, usage), events


def _usage_of(run: Run[Any]) -> Usage | None:
    return None if run.message is None else run.message.usage


def _compare_results(before: tuple[Result, ...], results: Iterable[Result]) -> Iterable[RunEvent]:
    for at, result in enumerate(results):
        if at < len(before) and result is before[at]:
            continue
        if isinstance(result, ToolResult):
            yield ResultFinished(result)
        elif result.status != "queued":
            yield ResultProgress(result)


def _describe_end(run: Run[Any]) -> str | None:
    """Return why a run ended badly; `None` if it ended well."""
    if run.error is not None or run.outcome is RunOutcome.COMPLETE:
        return run.error
    why = None if run.message is None else describe_end(run.message, describe_plainly)
    return why or f"the run is {run.outcome.value}"
