"""Messages and what their calls gave, in order: a run as one value, and the pure form that makes it.

    feed_run(state, event)      event: what a provider sends, or one of `RunInput`

A run is a tuple of steps; the last may still grow. A step's message comes first, then one result for each of its calls.
Rule: states and runs are values. Old ones stay valid and can be fed again, and steps that did not change are the same
objects. Only a complete call can start, and only once: what does not follow is refused, so nothing runs twice.
"""

from __future__ import annotations

from hashlib import blake2s
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, TypeAlias, TypeVar, cast, get_args

from jsontide._check import check_state, check_type
from jsontide._values import MISSING, Missing
from jsontide.messages import CompleteCall, Message, MessageConfig, Outcome, PartialCall, ToolResult
from jsontide.messages.calls import Part
from jsontide.providers import StreamState, feed_stream, finish_stream, start_stream
from jsontide.providers.stream_reader import StreamReader
from jsontide.runs.types import (
    PendingResult,
    Result,
    RunInput,
    RunOutcome,
    Step,
    StepEnded,
    StepStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    ToolWaits,
)
from jsontide.schema import Partial

if TYPE_CHECKING:
    from jsontide.runs import value

Answer = TypeVar("Answer")
RUNNABLE: Final = (Outcome.COMPLETE, Outcome.INVALID)
"""Outcomes of messages whose calls may get results; after any other, the run ends as the message did."""
_PAUSES: Final = ("pause", "pause_turn")
"""The finish reasons of a message that the provider goes on with when it is sent back."""
STOPPED_RUNNING: Final = "the run ended while the tool ran: it is not known whether it finished"
STOPPED_BEFORE: Final = "the run ended before the call was run"
# What runs for each event looks up neither a member of an enum nor a union of types, which takes long.
_STREAMING: Final = RunOutcome.STREAMING
_INPUTS: Final = get_args(RunInput)
_Call: TypeAlias = "CompleteCall[Any] | PartialCall"
_Renamed: TypeAlias = "tuple[tuple[int, _Call, _Call], ...]"


# A native class cannot have type parameters, so these are declared for type checkers only.
if TYPE_CHECKING:

    class Run(value.Run, Generic[Answer]):
        message: Message[Answer] | None

        @property
        def answer(self) -> Answer | Partial[Answer] | Missing: ...
        @staticmethod
        def from_json(text: object) -> Run[Any]: ...
        def advance(
            self, message: object, results: tuple[Result, ...] = (), earlier: tuple[Step, ...] | None = None
        ) -> Run[Answer]: ...

else:
    from jsontide.runs.value import Run


class RunState(Generic[Answer]):
    """Where a run stands: the run, and what is needed to read on."""

    __slots__ = ("config", "renamed", "run", "stream", "taken")

    def __init__(
        self,
        run: Run[Answer],
        config: MessageConfig,
        stream: StreamState | None = None,
        renamed: _Renamed = (),
        taken: frozenset[str | None] = frozenset(),
    ) -> None:
        self.run = run
        self.config = config
        """What every message is read with."""
        self.stream = stream
        """The message that is being read; `None` between two of them."""
        self.renamed = renamed
        """Calls of the last message that got an id of the run: place, as it came, as it is shown."""
        self.taken = taken
        """The ids of the calls of the earlier messages."""

    def __copy__(self) -> RunState[Answer]:
        return self

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return RunState, (self.run, self.config, self.stream, self.renamed, self.taken)

    def __repr__(self) -> str:
        return f"<RunState {self.run!r}>"


def start_run(config: MessageConfig | None = None, *, id: str | None = None) -> RunState[Any]:  # noqa: A002
    """Return the state before the first step; `config` is what every message is read with."""
    if config is not None:
        check_type("config", config, MessageConfig, "a MessageConfig or None")
    return RunState(Run(id=id), MessageConfig() if config is None else config)


def continue_run(run: Run[Answer], config: MessageConfig | None = None) -> RunState[Answer]:
    """Return the state of a saved run, to go on with it, whatever its outcome was.

    A message that had not ended is left out: nothing of it has run, and the model is asked for it again.
    """
    check_type("run", run, Run, "a Run")
    state = start_run(config, id=run.id)
    steps = run.steps
    if run.message is not None and run.message.outcome is Outcome.STREAMING:
        steps = run.steps[:-1]
    for step in steps:
        state = _take_step(state, step)
    return state


def _take_step(state: RunState[Answer], step: Step) -> RunState[Answer]:
    """Return the state with a step that was saved; calls without results have not run."""
    state = _start_step(state)
    if not step.results:
        return end_step(state, step.message)
    if _give_ids(state, step.message)[1]:
        _refuse("the calls of the run must have ids, each of its own")
    return _between(state, state.run.advance(step.message, step.results))


def feed_run(state: RunState[Answer], event: object) -> RunState[Answer]:
    """Return the state after an event: what a provider sent, as bytes, dict or SDK object, or a `RunInput`.

    >>> state = feed_run(start_run(), StepStarted())
    >>> state = feed_run(state, {"message": {"content": "Hi"}, "done": True, "done_reason": "stop"})
    >>> finish_run(feed_run(state, StepEnded())).run
    <Run COMPLETE 1 steps, <Message COMPLETE 'Hi'>>
    """
    _check_open(state)
    if isinstance(event, _INPUTS):
        return _take_input(state, cast("RunInput", event))
    return show_message(state, feed_stream(_reading(state), event))


def _take_input(state: RunState[Answer], event: RunInput) -> RunState[Answer]:
    if isinstance(event, StepStarted):
        return _start_step(state)
    if isinstance(event, StepEnded):
        return end_step(state, finish_stream(_reading(state)).message)
    return _note(state, event)


def _reading(state: RunState[Answer]) -> StreamState:
    """Return the message that is being read; raise if there is none."""
    stream = state.stream
    return _refuse("no message is being read: feed StepStarted first") if stream is None else stream


def finish_run(state: RunState[Answer]) -> RunState[Answer]:
    """Return the state after the last event: the run's outcome says what its last step means."""
    _check_open(state)
    if state.stream is not None:
        state = feed_run(state, StepEnded())
    run = state.run
    message = run.message
    if message is None:
        return _end(state, RunOutcome.EMPTY)
    if is_paused(message):
        return _end(_settle_all(state), RunOutcome.LIMIT)
    if not run.results or message.outcome not in RUNNABLE:
        return _end(_settle_all(state), RunOutcome(message.outcome.value))
    if run.waiting:
        return _end(state, RunOutcome.WAITING)
    if any(isinstance(one, PendingResult) for one in run.results):
        _refuse("some calls have no result yet: run them, or stop the run")
    return _end(state, RunOutcome.LIMIT)


def stop_run(state: RunState[Answer]) -> RunState[Answer]:
    """Return the state of a run that the caller stops: what there is stays, and every call has a result.

    A tool that was running may have finished: its result says that this is not known, and nothing starts it again.
    """
    return _break_off(state, RunOutcome.CANCELLED, None)


def fail_run(state: RunState[Answer], error: BaseException | str) -> RunState[Answer]:
    """Return the state of a run that cannot go on, because something around its messages failed."""
    if not isinstance(error, BaseException | str):
        message = f"error must be an exception or a str, not {type(error).__name__}"
        raise TypeError(message)
    if isinstance(error, BaseException):
        error = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return _break_off(state, RunOutcome.FAILED, error)


def show_message(state: RunState[Answer], stream: StreamState) -> RunState[Answer]:
    """Return the state with more of the message that is being read."""
    run, message, renamed = state.run, stream.message, state.renamed
    if renamed or run.message is None or len(message.parts) != len(run.message.parts):  # or no call is new
        message, renamed = _give_ids(state, message)
    return RunState(run.advance(message), state.config, stream, renamed, state.taken)


def end_step(state: RunState[Answer], message: Message[Any]) -> RunState[Answer]:
    """Return the state with a message that has ended; its calls wait for their results."""
    run = state.run
    message, _ = _give_ids(state, message)
    return _between(state, run.advance(message, tuple(map(PendingResult, message.tool_calls))))


def is_paused(message: Message[Any]) -> bool:
    """Return whether the provider wants to be asked again with the message as it is."""
    return message.finish_reason in _PAUSES


def find_call(run: Run[Any], call_id: str) -> int:
    """Return the place of a call among the results of the last step; raise if there is none."""
    for at, result in enumerate(run.results):
        if result.call.id == call_id:
            return at
    return _refuse(f"the last message has no call {call_id!r} that ended")


def _check_open(state: RunState[Answer]) -> None:
    check_state(state, RunState)
    if state.run.is_over:
        _refuse(f"the run has ended: it is {state.run.outcome.value}; continue_run goes on with it")


def _between(state: RunState[Answer], run: Run[Answer]) -> RunState[Answer]:
    """Return the state of a run whose message has ended."""
    return RunState(run, state.config, taken=state.taken)


def _start_step(state: RunState[Answer]) -> RunState[Answer]:
    run = state.run
    if state.stream is not None:
        _refuse("the message before has not ended: feed StepEnded first")
    if any(isinstance(one, PendingResult) for one in run.results):
        _refuse("a call of the message before has no result yet")
    stream = start_stream(state.config)
    taken = state.taken.union([one.call.id for one in run.results])
    return RunState(run.advance(stream.message, (), run.steps), state.config, stream, taken=taken)


def _note(state: RunState[Answer], event: ToolWaits | ToolStarted | ToolProgress | ToolFinished) -> RunState[Answer]:
    """Return the state after something happened to a call."""
    run = state.run
    at = find_call(run, event.call_id)
    before = run.results[at]
    if not isinstance(before, PendingResult):
        _refuse(f"the call {event.call_id!r} has its result already")
    call = before.call
    after: Result
    if isinstance(event, ToolFinished):
        after = check_type("result", event.result, ToolResult, "a ToolResult")
        if after.call is not call:
            _refuse(f"the result is not of the call {event.call_id!r}")
        if after.ran in {"yes", "unknown"} and before.status != "running":
            _refuse(f"the call {event.call_id!r} cannot have run: it was not started")
    else:
        if not isinstance(call, CompleteCall):
            _refuse(f"the call {event.call_id!r} is {call.status.value}: it cannot be run")
        if isinstance(event, ToolProgress):
            if before.status != "running":
                _refuse(f"the call {event.call_id!r} was not started")
            after = PendingResult(call, "running", event.value)
        elif before.status == "running":
            _refuse(f"the call {event.call_id!r} was started already")
        elif isinstance(event, ToolStarted):
            after = PendingResult(call, "running")
        else:
            after = PendingResult(call, "waiting", reason=event.reason)
    results = (*run.results[:at], after, *run.results[at + 1 :])
    return _between(state, run.advance(run.message, results))


def _end(state: RunState[Answer], outcome: RunOutcome, error: str | None = None) -> RunState[Answer]:
    run = state.run
    return _between(state, Run(run.steps, outcome, run.id, error))


def _break_off(state: RunState[Answer], outcome: RunOutcome, error: str | None) -> RunState[Answer]:
    check_state(state, RunState)
    if state.run.is_over:
        return state
    if state.stream is not None:
        reader = StreamReader(state.stream)
        reader.stop()
        state = end_step(state, reader.state.message)
    return _end(_settle_all(state), outcome, error)


def _settle_all(state: RunState[Answer]) -> RunState[Answer]:
    """Return the state with a result for every call."""
    run = state.run
    if not any(isinstance(one, PendingResult) for one in run.results):
        return state
    return _between(state, run.advance(run.message, tuple(map(settle, run.results))))


def cancel_run(run: Run[Answer], outcome: Outcome = Outcome.CANCELLED) -> Run[Answer]:
    """Return a run as it is after a stop of which it knows nothing; one that has ended stays as it is."""
    if run.is_over:
        return run
    steps: tuple[Step, ...] = ()
    if run.message is not None:
        message = cancel_message(run.message, outcome)
        results = run.results or tuple(map(PendingResult, message.tool_calls))
        steps = (*run.earlier, Step(message, tuple(map(settle, results))))
    return Run(steps, RunOutcome(outcome.value), run.id)


def cancel_message(message: Message[Answer], outcome: Outcome = Outcome.CANCELLED) -> Message[Answer]:
    """Return a message as it is after a stop, or after another end; one that has ended stays as it is."""
    if message.outcome is not Outcome.STREAMING:
        return message
    parts = tuple([_cancel_part(part, outcome) for part in message.parts])
    answer = message.answer_state
    shown = MISSING if answer is None else answer
    return message.evolve(parts=parts, outcome=outcome, repairs=(), answer=shown)


def _cancel_part(part: Part, outcome: Outcome) -> Part:
    if not isinstance(part, CompleteCall | PartialCall):
        return cast("Part", part.close()) if part.is_open else part
    document = part.document
    return PartialCall(
        part.name,
        part.growing_text,
        part.partial if document is None else document,
        outcome,
        None,
        part.id,
        part.index,
        is_open=False,
        item_id=part.item_id,
        extra=part.extra or None,
        repairs=() if document is not None else part.repairs,
    )


def settle(result: Result) -> ToolResult:
    """Return the result of a call that nobody goes on with."""
    if not isinstance(result, PendingResult):
        return result
    if result.status == "running":
        nested = cancel_run(result.progress) if isinstance(result.progress, Run) else None
        return ToolResult(result.call, error=STOPPED_RUNNING, ran="unknown", nested=nested)
    return ToolResult(result.call, error=STOPPED_BEFORE, ran="no")


def _give_ids(state: RunState[Answer], message: Message[Any]) -> tuple[Message[Any], _Renamed]:
    """Return the message with ids of calls that no other call of the run has, and the calls that got one.

    A call keeps the id that it was first shown with.
    """
    renamed = {index: (given, shown) for index, given, shown in state.renamed}
    parts: list[Any] | None = None
    own: set[str | None] = set()
    for index, part in enumerate(message.parts):
        if not isinstance(part, CompleteCall | PartialCall):
            continue
        shown: _Call = part
        if index in renamed:
            given, shown = renamed[index]
            if part is not given:
                shown = part.evolve(id=shown.id)
        elif part.id is None or part.id in state.taken or part.id in own:
            shown = part.evolve(id=_make_id(state, message, index, own))
        own.add(shown.id)
        if shown is not part:
            renamed[index] = part, shown
            parts = list(message.parts) if parts is None else parts
            parts[index] = shown
    if parts is None:
        return message, ()
    return message.evolve(parts=tuple(parts)), tuple((index, *pair) for index, pair in renamed.items())


def _make_id(state: RunState[Answer], message: Message[Any], index: int, own: set[str | None]) -> str:
    """Return an id that no other call has, for one that has none or that of another."""
    made = f"call_{_short(state.run.id)}{len(state.run.earlier) + 1}_{index}"
    while made in state.taken or made in own or any(call.id == made for call in message.tool_calls):
        made += "_"
    return made


def _short(run_id: str | None) -> str:
    """Return the beginning of ids of calls: a conversation has several runs, and front ends tell calls by their ids."""
    return "" if run_id is None else f"{blake2s(run_id.encode(errors='surrogatepass'), digest_size=4).hexdigest()}_"


def _refuse(why: str) -> NoReturn:
    raise ValueError(why)
