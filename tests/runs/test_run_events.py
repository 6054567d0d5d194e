"""The events of a run: what is new in its messages, and what becomes of their calls, from any moment on."""

import asyncio
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given

from jsontide.messages import (
    ArgumentsDelta,
    CallFinished,
    CallStarted,
    CompleteCall,
    Finished,
    Message,
    Outcome,
    TextDelta,
    TextPart,
    Tool,
)
from jsontide.runs import (
    PendingResult,
    ResultFinished,
    ResultProgress,
    Run,
    RunEvent,
    RunOutcome,
    Step,
    StepStarted,
    arun_agent,
    feed_run,
    finish_run,
    run_agent,
    start_run,
    stop_run,
)
from jsontide.runs.progress import RunProgress
from tests.messages.folding import Known
from tests.runs.scripts import play
from tests.strategies import examples, randoms


def events_of(runs: Iterable[Run[Any]]) -> list[RunEvent]:
    progress, found = RunProgress(), []
    for run in runs:
        progress, events = progress.advance(run)
        found += events
    return found


def runs_of(random: Random) -> list[Run[Any]]:
    """A run that is drawn, after each event, up to its end or to where somebody stops it."""
    state, script, found = start_run(id="run"), play(random), []
    event, _, may_end = next(script)
    while True:
        state = feed_run(state, event)
        found.append(state.run)
        if random.random() < 0.005:
            return [*found, stop_run(state).run]
        try:
            event, _, may_end = script.send(state.run)  # type: ignore[attr-defined]
        except StopIteration:
            return [*found, (finish_run if may_end else stop_run)(state).run]


@examples(0.5)
@given(randoms)
def test_events_say_what_the_run_holds(random: Random) -> None:
    *_, run = runs = runs_of(random)
    known = Known().take(events_of(runs))
    assert known.steps == len(run.steps)
    assert known.joined(TextDelta) == "".join(step.message.content for step in run.steps)
    assert known.results == {one.call.id: one for step in run.steps for one in step.results}
    assert known.usage == run.usage
    assert known.ends == [run.outcome]
    called = [one for step in run.steps for one in step.message.tool_calls if isinstance(one, CompleteCall)]
    assert [event.call for event in events_of(runs) if isinstance(event, CallFinished)] == called


@examples(0.5)
@given(randoms)
def test_whoever_joins_late_or_looks_rarely_knows_the_same_at_the_end(random: Random) -> None:
    runs = runs_of(random)
    expected = Known().take(events_of(runs))
    seen = [one for one in runs[:-1] if random.random() < 0.3]
    assert Known().take(events_of([*seen, runs[-1]])) == expected
    assert Known().take(events_of(runs[-1:])) == expected


def respond(content: str = "", *calls: tuple[str, dict[str, object]]) -> Iterator[dict[str, object]]:
    for one in content:
        yield {"message": {"content": one}, "done": False}
    entries = [{"function": {"name": name, "arguments": arguments}} for name, arguments in calls]
    yield {"message": {"content": "", "tool_calls": entries}, "done": False}
    yield {"message": {}, "done": True, "done_reason": "stop", "prompt_eval_count": 2, "eval_count": 1}


def ask(request: Any) -> Iterator[dict[str, object]]:
    if request.run.steps:
        return respond("Fine.")
    return respond("Wait.", ("count", {"to": 2}), ("pay", {}))


async def ask_later(request: Any) -> Any:
    async def stream() -> Any:
        for event in ask(request):
            yield event

    return stream()


def count(to: int) -> Iterator[int]:
    yield from range(to)


TOOLS: list[Tool[Any]] = [Tool.from_function(count), Tool.from_function(lambda: "paid", name="pay")]


def described(events: Iterable[RunEvent]) -> Iterator[object]:
    for event in events:
        match event:
            case StepStarted():
                yield "step"
            case TextDelta(text=text):
                yield text
            case CallFinished(call):
                yield call.name
            case ResultProgress(result):
                yield result.call.name, result.status, result.progress
            case ResultFinished(result):
                yield result.call.name, result.output
            case Finished(outcome):
                yield outcome


def test_an_agent_says_all_that_happens_in_both_forms() -> None:
    async def collect() -> tuple[list[RunEvent], str]:
        events = [event async for event in arun_agent(ask_later, "Hi", tools=TOOLS, limit=1).events()]
        texts = [text async for text in arun_agent(ask_later, "Hi", tools=TOOLS).text_deltas()]
        return events, "".join(texts)

    told = list(described(run_agent(ask, "Hi", tools=TOOLS, limit=1).events()))
    events, text = asyncio.run(collect())
    assert list(described(events)) == told
    calls = ["count", "pay"]
    assert [one for one in told if isinstance(one, str)] == ["step", *"Wait.", *calls, "step", *"Fine."]
    assert [one[1:] for one in told if isinstance(one, tuple) and one[0] == "count"][1:] == [
        ("running", 0),
        ("running", 1),
        (1,),
    ]
    assert told[-1] is RunOutcome.COMPLETE
    assert text == "".join(run_agent(ask, "Hi", tools=TOOLS).text_deltas()) == "Wait.Fine."


def test_a_run_that_goes_on_says_only_what_is_new() -> None:
    tools = [TOOLS[0], Tool.from_function(lambda: "paid", name="pay", needs_approval=True)]
    stream = run_agent(ask, "Hi", tools=tools)
    before = list(stream.events())
    waits = next(event.result for event in before if isinstance(event, ResultProgress))
    last = before[-1]
    assert isinstance(last, Finished)
    assert (last.outcome, last.error) == (RunOutcome.WAITING, "the run is waiting")
    saved = Run.from_json(stream.run.to_json())
    after = list(described(run_agent(ask, "Hi", tools=tools, run=saved, decisions={str(waits.call.id): True}).events()))
    assert after[0] == ("pay", "running", after[0][2])  # type: ignore[index]
    assert after[1] == ("pay", "paid")
    assert after[2:] == ["step", *"Fine.", RunOutcome.COMPLETE]


def test_a_run_that_fails_says_why() -> None:
    def fail(_: object) -> object:
        raise ConnectionError("no route")

    (last,) = run_agent(fail, "Hi").events()
    assert isinstance(last, Finished)
    assert (last.outcome, last.error, last.message) == (RunOutcome.FAILED, "ConnectionError: no route", Message())


@pytest.mark.parametrize("outcome", [RunOutcome.STREAMING, RunOutcome.FAILED])
def test_what_started_ends_in_a_run_that_was_made_by_hand_too(outcome: RunOutcome) -> None:
    open_message = Message((TextPart("Hi", is_open=True), CompleteCall("a", {}, id="1")), Outcome.STREAMING)
    last = Step(Message((TextPart("Ho"),), Outcome.COMPLETE))
    for steps in ([Step(open_message), last], [last, Step(open_message)]):
        known = Known().take(events_of([Run(steps, outcome)]))
        assert known.ends == ([] if outcome is RunOutcome.STREAMING else [outcome])
        assert (not known.open) or steps[-1] is not last


def test_a_call_that_is_queued_is_no_news() -> None:
    call = CompleteCall("a", {}, id="1")
    message = Message((call,), Outcome.COMPLETE)
    kinds = [type(event) for event in events_of([Run([Step(message, (PendingResult(call),))])])]
    assert kinds == [StepStarted, CallStarted, ArgumentsDelta, CallFinished]
