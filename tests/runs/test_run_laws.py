"""The laws as they hold for runs, over runs drawn from the streams of all providers."""

import pickle
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given

from jsontide.messages import PartialCall, ToolResult
from jsontide.runs import (
    PendingResult,
    Run,
    RunOutcome,
    RunState,
    ToolFinished,
    ToolStarted,
    fail_run,
    feed_run,
    finish_run,
    start_run,
    stop_run,
)
from tests.runs.scripts import Model, play
from tests.strategies import randoms


def states(random: Random) -> Iterator[tuple[RunState[Any], Model, object, bool]]:
    """Play a run: yield each state, what the model says of it, the event that led there, and whether it may end."""
    state = start_run(id="run")
    script = play(random)
    event, model, may_end = next(script)
    while True:
        state = feed_run(state, event)
        yield state, model, event, may_end
        try:
            event, model, may_end = script.send(state.run)  # type: ignore[attr-defined]
        except StopIteration:
            return


@given(randoms)
def test_a_run_shows_its_messages_and_what_became_of_each_call(random: Random) -> None:
    for state, model, _, _ in states(random):
        assert model.shows(state.run)


@given(randoms)
def test_values_only_grow_and_what_did_not_change_is_the_same_object(random: Random) -> None:
    before: Run[Any] | None = None
    for state, _, _, _ in states(random):
        run = state.run
        if before is not None:
            assert len(run.steps) >= len(before.steps)
            grown = len(before.steps) - 1
            assert all(new is old for new, old in zip(run.steps[:grown], before.steps[:grown], strict=True))
            if len(run.steps) > len(before.steps):
                assert run.steps[grown] is before.steps[grown] if grown >= 0 else True
            elif before.message is not None and run.message is not None:
                assert run.message.content.startswith(before.message.content)
                assert [one.id for one in run.message.tool_calls][: len(before.message.tool_calls)] == [
                    one.id for one in before.message.tool_calls
                ]
            settled = [one for one in before.results if isinstance(one, ToolResult)]
            assert all(any(one is each for step in run.steps for each in step.results) for one in settled)
        before = run


@given(randoms)
def test_a_state_is_a_value(random: Random) -> None:
    kept = []
    for state, _, event, _ in states(random):
        kept.append((state, state.run.to_json(), event))
    (first, _, _), *_ = kept
    for (state, written, _), (_, after, event) in pairwise(kept):
        if random.random() < 0.2:
            again = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own
            fed = _feed_by_id(again, event)
            assert fed.run.to_json() == after
        assert state.run.to_json() == written
        if random.random() < 0.2:  # a branch
            assert _feed_by_id(state, event).run.to_json() == after
    assert first.run.to_json() == kept[0][1]


def _feed_by_id(state: RunState[Any], event: object) -> RunState[Any]:
    """Feed an event; a result is made for the call that this state has."""
    if isinstance(event, ToolFinished):
        call = next(one.call for one in state.run.results if one.call.id == event.call_id)
        old = event.result
        event = ToolFinished(event.call_id, ToolResult(call, old.output, old.error, ran=old.ran))
    return feed_run(state, event)


@given(randoms)
def test_a_run_is_saved_as_json_at_any_time(random: Random) -> None:
    for state, _, _, _ in states(random):
        run = state.run
        loaded = Run.from_json(run.to_json())
        assert loaded.to_json() == run.to_json()
        assert loaded.outcome is run.outcome
        assert [len(step.results) for step in loaded.steps] == [len(step.results) for step in run.steps]
        assert pickle.loads(pickle.dumps(run)).to_json() == run.to_json()  # noqa: S301 - our own


@given(randoms)
def test_ids_of_calls_are_unique_over_the_run(random: Random) -> None:
    for state, _, _, _ in states(random):
        ids = [call.id for step in state.run.steps for call in step.message.tool_calls]
        assert None not in ids
        assert len(set(ids)) == len(ids)


@given(randoms)
def test_nothing_that_is_not_complete_starts_and_nothing_starts_twice(random: Random) -> None:
    started: set[str] = set()
    for state, _, event, _ in states(random):
        if isinstance(event, ToolStarted):
            assert event.call_id not in started
            started.add(event.call_id)
        for result in state.run.results:
            assert result.call.id is not None
            if isinstance(result.call, PartialCall):
                with pytest.raises(ValueError, match="cannot be run"):
                    feed_run(state, ToolStarted(result.call.id))
            elif result.call.id in started:
                with pytest.raises(ValueError, match="already"):
                    feed_run(state, ToolStarted(result.call.id))
            if isinstance(result, PendingResult) and result.status != "running":
                with pytest.raises(ValueError, match="was not started"):
                    feed_run(state, ToolFinished(result.call.id, ToolResult(result.call, 1)))


@given(randoms)
def test_a_run_that_is_stopped_anywhere_has_a_result_for_every_call(random: Random) -> None:
    for state, _, _, _ in states(random):
        stopped = stop_run(state).run
        assert stopped.outcome is RunOutcome.CANCELLED
        for before, after in zip(state.run.results, stopped.results, strict=False):
            assert isinstance(after, ToolResult)
            if isinstance(before, PendingResult):
                assert after.ran == ("unknown" if before.status == "running" else "no")
            else:
                assert after is before
        failed = fail_run(state, OSError("gone")).run
        assert (failed.outcome, failed.error) == (RunOutcome.FAILED, "OSError: gone")


@given(randoms)
def test_a_run_ends_as_its_last_step_says(random: Random) -> None:
    for state, model, _, may_end in states(random):
        statuses = model.steps[-1][1]
        if may_end:
            expected = RunOutcome.LIMIT if statuses else RunOutcome.COMPLETE
            assert finish_run(state).run.outcome is expected
        elif "waiting" in statuses:
            assert finish_run(state).run.outcome is RunOutcome.WAITING


@given(randoms)
def test_usage_is_the_sum_over_all_messages(random: Random) -> None:
    for state, _, _, _ in states(random):
        known = [step.message.usage for step in state.run.steps if step.message.usage is not None]
        usage = state.run.usage
        assert (usage is None) == (not known)
        if usage is not None:
            assert usage.total_tokens == sum(one.total_tokens or 0 for one in known) or None
