"""A growing run in, its steps one after another out: the frame in which encoders of messages encode runs.

    start of a step, its message, what became of its calls, end of the step; and so on; then the end of the run

Rule: a message in a run is encoded as one alone, but for how its stream begins and ends. A step starts and ends once,
each result is told when it is there, and no call is left without one when the run is over, unless a person must decide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

from jsontide.frontends.base import BaseEncoder, sse
from jsontide.messages.calls import CompleteCall, PartialCall
from jsontide.messages.message import Message
from jsontide.messages.types import Outcome
from jsontide.runs.run import Run, settle
from jsontide.runs.types import RunOutcome

if TYPE_CHECKING:
    from jsontide.messages.progress import Progress
    from jsontide.runs.types import Result


@dataclass(frozen=True, slots=True)
class SentSteps:
    """How much of a run was sent, beside the message of its last step."""

    number: int = 0
    """How many steps have started."""
    results: tuple[Result, ...] = ()
    """What became of the calls of the last one."""
    ids: tuple[str, ...] = ()
    """By which a client knows these calls; empty for one that it was not told of."""
    is_open: bool = False
    """Whether the last one has started and not ended."""


NOTHING_SENT: Final = SentSteps()


class _RunState(Protocol):
    progress: Progress
    steps: SentSteps
    is_over: bool


_Sent = TypeVar("_Sent", bound=_RunState)
Events = list[dict[str, Any]]


class RunEncoder(BaseEncoder[_Sent]):
    """An encoder that tells a run step by step; each method returns the next state, and events."""

    def _start_step(self, state: _Sent, number: int) -> tuple[_Sent, Events]:
        """Begin a step: what is known of the message before is forgotten."""
        raise NotImplementedError

    def _write_message(self, state: _Sent, message: Message) -> tuple[_Sent, Events]:
        """Tell what is new in a message, but not its end."""
        raise NotImplementedError

    def _break_off(self, state: _Sent, reason: str) -> tuple[_Sent, Events]:
        """End what is open in a message that goes no further."""
        raise NotImplementedError

    def _write_result(self, state: _Sent, call_id: str, before: Result | None, now: Result) -> tuple[_Sent, Events]:
        """Tell what has become of a call, which was told before as it was then."""
        raise NotImplementedError

    def _end_step(self, state: _Sent, run: Run[Any]) -> tuple[_Sent, Events]:
        """End a step; `run` is that of its time, with the step as its last."""
        raise NotImplementedError

    def _end_run(self, state: _Sent, run: Run[Any]) -> Events:
        """End the stream."""
        raise NotImplementedError

    def _encode_run(self, state: _Sent, run: Run[Any]) -> tuple[_Sent, bytes]:
        state, events = self.write_run(state, run)
        return state, self._frame(state, events)

    def _frame(self, state: _Sent, events: Events) -> bytes:
        """Return events as bytes; after the last of a stream, what ends all streams of the protocol."""
        return sse(*events)

    def write_run(self, state: _Sent, run: Run[Any]) -> tuple[_Sent, Events]:
        """Return the state after a run, and its new events."""
        events: Events = []
        steps, last = run.steps, len(run.steps)
        for number in range(max(state.steps.number, 1), last + 1):
            is_last = number == last
            then = run if is_last else Run(steps[:number], id=run.id)
            if number > state.steps.number:
                state, new = self._start_step(state, number)
                events += new
                state = _with(state, SentSteps(number, is_open=True))
            state, new = self._grow_step(state, then)
            events += new
            if state.is_over:
                return state, events
            if state.steps.is_open and (run.is_over or not is_last):
                state, new = self._close_step(state, then)
                events += new
        if run.is_over:
            events += self._end_run(state, run)
            state = replace(cast("Any", state), is_over=True)
        return state, events

    def _grow_step(self, state: _Sent, run: Run[Any]) -> tuple[_Sent, Events]:
        """Tell what is new in the last step of a run."""
        message, results = cast("Message", run.message), run.results
        state, events = self._write_message(state, message)
        if run.is_over and message.outcome is Outcome.STREAMING:
            state, new = self._break_off(state, f"the run is {run.outcome.value}")
            events += new
        if run.is_over and run.outcome is not RunOutcome.WAITING:
            results = tuple(map(settle, results))
        if results and not state.steps.ids:
            shown = zip(message.parts, state.progress.parts, strict=True)
            ids = tuple([sent.id for part, sent in shown if isinstance(part, (CompleteCall, PartialCall))])
            state = _with(state, replace(state.steps, ids=ids))
        state, new = self._write_results(state, results)
        return state, events + new

    def _write_results(self, state: _Sent, results: tuple[Result, ...]) -> tuple[_Sent, Events]:
        events: Events = []
        before = state.steps.results or (None,) * len(results)
        for call_id, old, result in zip(state.steps.ids, before, results, strict=True):
            if call_id and result is not old and result != old:
                state, new = self._write_result(state, call_id, old, result)
                events += new
        return _with(state, replace(state.steps, results=results)), events

    def _close_step(self, state: _Sent, run: Run[Any]) -> tuple[_Sent, Events]:
        state, events = self._end_step(state, run)
        return _with(state, replace(state.steps, is_open=False)), events

    def _give_up(self, state: _Sent, reason: str) -> tuple[_Sent, Events]:
        """End what is open in a run that fails outside of its messages."""
        state, events = self._break_off(state, reason)
        state, new = self._write_results(state, tuple(map(settle, state.steps.results)))
        return state, events + new

    def _skip(self, state: _Sent, run: Run[Any]) -> _Sent:
        """Return the state of a client that has all of a saved run; a message that had not ended is told anew."""
        steps = run.steps
        if run.message is not None and run.message.outcome is Outcome.STREAMING:
            steps = steps[:-1]
        state, _ = self.write_run(state, Run(steps, id=run.id))
        return _with(state, replace(state.steps, is_open=False))


def name_step(name: str, number: int) -> str:
    """Return the name of a step's message: that of the run for the first, and no other step has it."""
    return name if number == 1 else f"{name}-step{number}"


def _with(state: _Sent, steps: SentSteps) -> _Sent:
    return cast("_Sent", replace(cast("Any", state), steps=steps))
