"""What happens around the messages of a run in, a line of a recording out, and back into the run.

    {"run": {...}}                                     the run that begins or goes on, as `Run.to_json` writes it
    {"step": "started", "waited": 0.35}                the next message begins; its pieces follow
    {"step": "over"}                                   it has ended; "lost", with "error", if its stream failed
    {"result": {"call": "...", "status": "running"}}   what became of a call: the id, and the result as a run has it

Rule: what is not one of these is refused where it is made or loaded, so that nothing behind it has to check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, cast

from jsontide._check import check_seconds, check_type
from jsontide._values import MISSING, JsonValue
from jsontide.messages import PartialCall, ToolResult
from jsontide.runs.json_form import read_result, write_result, write_run
from jsontide.runs.run import Run, RunState, continue_run, feed_run, find_call
from jsontide.runs.types import (
    PendingResult,
    RunInput,
    StepEnded,
    StepStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    ToolWaits,
)

KINDS: Final = ("run", "step", "result")
_ANY_CALL: Final = PartialCall()
"""A result is checked before anybody knows whose it is."""
_MEMBERS: Final = {"started": {"step", "waited"}, "over": {"step"}, "lost": {"step", "error"}}


@dataclass(frozen=True, slots=True)
class RunNote:
    """What happened around the messages of a run, as a recording has it: a dict with `run`, `step` or `result`."""

    value: Mapping[str, JsonValue]

    def __post_init__(self) -> None:
        value = check_type("value", self.value, dict, "a dict")
        kinds = [kind for kind in KINDS if kind in value]
        if len(kinds) != 1:
            _refuse(f"a note must have one of {', '.join(KINDS)}")
        if kinds == ["step"]:
            self._check_step()
            return
        if len(value) != 1:
            _refuse(f"a note of a {kinds[0]} has nothing else")
        if kinds == ["run"]:
            Run.from_json(value["run"])
        else:
            self._read_result(_ANY_CALL)

    def _check_step(self) -> None:
        step = self.value["step"]
        members = _MEMBERS.get(step) if isinstance(step, str) else None
        if members is None:
            _refuse(f"step must be one of {', '.join(_MEMBERS)}, not {step!r:.40}")
        if not members.issuperset(self.value):
            _refuse(f"a note of a step that is {step} has only {', '.join(sorted(members))}")
        if "waited" in self.value:
            check_seconds("waited", self.value["waited"])
        check_type("error", self.value.get("error", ""), str, "a str")

    def _read_result(self, call: Any) -> tuple[str, RunInput]:  # noqa: ANN401 - a call of any class
        """Return the id of the call of a result, and what happened to it."""
        fields = dict(check_type("result", self.value["result"], dict, "a dict"))
        call_id = check_type("call", fields.pop("call", None), str, "a str")
        result = read_result(call, fields, Run)
        if isinstance(result, ToolResult):
            return call_id, ToolFinished(call_id, result)
        if result.status == "queued":
            _refuse("the status of a result must be waiting, running or done")
        if result.status == "waiting":
            return call_id, ToolWaits(call_id, result.reason)
        if result.progress is MISSING:
            return call_id, ToolStarted(call_id)
        return call_id, ToolProgress(call_id, result.progress)

    @property
    def waited(self) -> float:
        """How many seconds the provider took to begin the message that begins here."""
        return cast("float", self.value.get("waited", 0.0))

    def feed(self, state: RunState[Any]) -> RunState[Any]:
        """Return the state of the run after it; `ValueError` says what does not follow."""
        if "run" in self.value:
            return continue_run(Run.from_json(self.value["run"]), state.config)
        if "result" in self.value:
            call_id = cast("Any", self.value["result"])["call"]
            call = state.run.results[find_call(state.run, call_id)].call
            return feed_run(state, self._read_result(call)[1])
        if self.value["step"] == "started":
            return feed_run(state, StepStarted())
        if self.value["step"] == "lost":
            state = feed_run(state, ConnectionError(self.value.get("error") or "the connection was lost"))
        return feed_run(state, StepEnded())


def note_event(event: RunInput | Run[Any]) -> RunNote:
    """Return the note of something that is fed to a run."""
    if isinstance(event, Run):
        return RunNote({"run": cast("JsonValue", write_run(event))})
    if isinstance(event, StepStarted):
        return RunNote(
            {"step": "started"} if event.waited is None else {"step": "started", "waited": round(event.waited, 6)}
        )
    if isinstance(event, StepEnded):
        return RunNote({"step": "over"})
    if isinstance(event, ToolFinished):
        written = write_result(event.result, Run)
    elif isinstance(event, ToolWaits):
        written = write_result(PendingResult(_ANY_CALL, "waiting", reason=event.reason), Run)
    else:
        progress = event.value if isinstance(event, ToolProgress) else MISSING
        written = write_result(PendingResult(_ANY_CALL, "running", progress), Run)
    return RunNote({"result": {"call": event.call_id, **cast("dict[str, JsonValue]", written)}})


def _refuse(why: str) -> NoReturn:
    raise ValueError(why)
