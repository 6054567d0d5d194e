"""A growing run in, the changes of the JSON value that a browser shows out.

    {"status": "streaming", "steps": [
        {"message": {"role": "assistant", "status": "complete", "parts": [...]},
         "results": [
             {"part": 1, "status": "running", "progress": ...},
             {"part": 2, "status": "done", "output": ...},
             {"part": 3, "status": "waiting"}]},
        {"message": {...}}],
     "usage": {...}, "error": "..."}

A message is the value that `message_value` describes. A step has results from the end of its message on, one for each
part that is a call, in their order; `part` is its place. The status of one is `queued`, `waiting`, `running`, `done`,
or, with an `error`, `failed`, `refused`, `not_run` or `unknown`. The run of a tool that is one stands at `run`.

Rule: as with messages, values only grow, but for `progress`, which is replaced, and a result that has another one.
"""

from __future__ import annotations

from typing import Any, Final, cast

from jsontide._values import MISSING, JsonValue
from jsontide.frontends.base import DescribeError, describe_end_of_run, describe_error, describe_failure
from jsontide.frontends.changes import Change, Finish, SetValue, apply_changes, move_changes
from jsontide.frontends.message_value import Arguments, message_changes, plain_usage
from jsontide.messages.calls import BaseCall, CompleteCall, PartialCall
from jsontide.messages.message import Message
from jsontide.messages.options import ToolResult
from jsontide.messages.parts import GrowingPart
from jsontide.messages.types import Outcome, Usage
from jsontide.runs.json_form import plain_value
from jsontide.runs.run import Run
from jsontide.runs.types import PendingResult, Result, RunOutcome, Step

_STATUS: Final = "status"
_FAILURES: Final = {"yes": "failed", "no": "not_run", "refused": "refused", "unknown": "unknown"}
"""The status of a result that is an error, by whether its tool ran."""


def run_changes(
    before: Run[Any] | None,
    after: Run[Any],
    arguments: Arguments = "values",
    describe_error: DescribeError = describe_error,
) -> list[Change]:
    """Return what changed from a run to a later one; without one before, all of it is set.

    `describe_error` gives the words for each error; by default, not those of a provider or a tool.
    """
    if before is after or (before is not None and before.is_over):
        return []
    changes: list[Change] = []
    if before is None:
        changes.append(SetValue((), {_STATUS: RunOutcome.STREAMING.value, "steps": []}, ("steps",)))
    writer = _Writer(arguments, describe_error)
    old, new = () if before is None else before.steps, after.steps
    for at in range(max(len(old) - 1, 0), len(new)):
        found = writer.step(old[at] if at < len(old) else None, new[at], is_over=after.is_over or at < len(new) - 1)
        changes += move_changes(found, ("steps", at))
    if before is None or len(new) > len(old) or _usage_of(after) is not _usage_of(before):
        usage = after.usage
        if usage is not None and (before is None or usage != before.usage):
            changes.append(SetValue(("usage",), plain_usage(usage)))
    if after.is_over:
        reason = describe_end_of_run(after, describe_error)
        if reason is not None:
            changes.append(SetValue(("error",), reason))
        changes += [Finish(("steps",)), SetValue((_STATUS,), after.outcome.value), Finish(())]
    return changes


def _usage_of(run: Run[Any]) -> Usage | None:
    """Return what the last message cost; what those before it cost does not change."""
    return None if run.message is None else run.message.usage


def run_value(
    run: Run[Any], arguments: Arguments = "values", describe_error: DescribeError = describe_error
) -> JsonValue:
    """Return a run as the value that a browser shows."""
    return cast("JsonValue", apply_changes(MISSING, run_changes(None, run, arguments, describe_error)))


def size_of(value: object) -> int:
    """Return about how much there is of a run, by its texts and arguments; 0 for anything else."""
    if not isinstance(value, Run):
        return 0
    parts = [part for step in value.steps for part in cast("Message", step.message).parts]
    return sum(
        [part.growing_text.length for part in parts if isinstance(part, (BaseCall, GrowingPart))], len(parts) + 1
    )


class _Writer:
    """Writes the changes of steps and results, at paths from their step on."""

    def __init__(self, arguments: Arguments, describe: DescribeError) -> None:
        self._arguments: Final[Arguments] = arguments
        self._describe: Final = describe

    def step(self, before: Step | None, after: Step, *, is_over: bool) -> list[Change]:
        """Return the changes of a step; `is_over` says that nothing follows in it."""
        changes: list[Change] = [] if before is not None else [SetValue((), {}, ())]
        message = cast("Message", after.message)
        if before is None or before.message.outcome is Outcome.STREAMING:
            old = None if before is None else cast("Message", before.message)
            found = message_changes(old, message, self._arguments, self._describe)
            changes += move_changes(found, ("message",))
        known = () if before is None else before.results
        if after.results and not known:
            changes.append(SetValue(("results",), [], ()))
        parts = [at for at, part in enumerate(message.parts) if isinstance(part, (CompleteCall, PartialCall))]
        for at, result in enumerate(after.results):
            was = known[at] if at < len(known) else None
            if was is not result and not isinstance(was, ToolResult):
                changes += move_changes(self._result(was, result, parts[at]), ("results", at))
        if is_over and after.results:
            changes.append(Finish(("results",)))
        return [*changes, Finish(())] if is_over else changes

    def _result(self, before: Result | None, after: Result, part: int) -> list[Change]:
        old, new = _nested(before), _nested(after)
        if isinstance(after, ToolResult) and not _goes_on(before, old, new):
            value = {"part": part, **self._ended(after)}
            if new is not None:
                value["run"] = run_value(new, self._arguments, self._describe)
            return [SetValue((), value, is_new=before is None)]
        changes: list[Change] = []
        if before is None or _has_decided(before, after):
            value = {"part": part, _STATUS: cast("PendingResult", after).status}
            changes.append(SetValue((), value, (), is_new=before is None))
            before = None
        if new is not None and new is not old:
            changes += move_changes(run_changes(old, new, self._arguments, self._describe), ("run",))
        if isinstance(after, ToolResult):
            members = self._ended(after)
            return [*changes, *[SetValue((name,), value) for name, value in members.items()], Finish(())]
        was = before if isinstance(before, PendingResult) else PendingResult(after.call, after.status)
        if after.status != was.status:
            changes.append(SetValue((_STATUS,), after.status))
        if after.reason is not None and after.reason != was.reason:
            changes.append(SetValue(("reason",), after.reason))
        if new is None and after.progress is not was.progress:
            changes.append(SetValue(("progress",), cast("JsonValue", plain_value(after.progress))))
        return changes

    def _ended(self, result: ToolResult) -> dict[str, JsonValue]:
        """Return the members of a result that is there."""
        if result.error is None:
            return {"output": cast("JsonValue", plain_value(result.output)), _STATUS: "done"}
        return {"error": describe_failure(result, self._describe), _STATUS: _FAILURES[result.ran]}


def _has_decided(before: Result, after: Result) -> bool:
    """Return whether a person has decided about a call that waited: the reason why it waited is gone."""
    pending = isinstance(before, PendingResult) and isinstance(after, PendingResult)
    return pending and cast("PendingResult", before).reason is not None and cast("PendingResult", after).reason is None


def _goes_on(before: Result | None, old: Run[Any] | None, new: Run[Any] | None) -> bool:
    """Return whether the end of a call keeps all that was told of it: no change takes a member away."""
    if not isinstance(before, PendingResult) or before.reason is not None:
        return False
    return before.progress is MISSING or (old is not None and new is not None)


def _nested(result: Result | None) -> Run[Any] | None:
    """Return the run that a tool is."""
    if result is None:
        return None
    found = result.progress if isinstance(result, PendingResult) else result.nested
    return found if isinstance(found, Run) else None
