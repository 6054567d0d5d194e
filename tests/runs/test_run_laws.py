"""The laws as they hold for runs, over runs drawn from the streams of all providers."""

import json
import pickle
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given

from jsontide.messages import (
    CompleteCall,
    ErrorDetail,
    ErrorKind,
    Message,
    Outcome,
    PartialCall,
    TextPart,
    ToolResult,
    Usage,
)
from jsontide.providers import feed_stream, start_stream
from jsontide.runs import (
    PendingResult,
    Request,
    Run,
    RunOutcome,
    RunState,
    Step,
    StepStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    continue_run,
    fail_run,
    feed_run,
    finish_run,
    start_run,
    stop_run,
)
from tests.meters import interpreted, opcodes
from tests.providers.client_types import CHECK_MESSAGES
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
            expected = RunOutcome.LIMIT if statuses or model.pauses else RunOutcome.COMPLETE
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
            totals = [total for one in known if (total := total_of(one)) is not None]
            assert usage.total_tokens == (sum(totals) if totals else None)


def total_of(usage: Usage) -> int | None:
    """All tokens of a message, as far as they are known."""
    known = [count for count in (usage.input_tokens, usage.output_tokens) if count is not None]
    return usage.total_tokens if usage.total_tokens is not None else (sum(known) if known else None)


def call(name: str | None, call_id: str | None) -> PartialCall:
    return PartialCall(name, "{}", status=Outcome.INVALID, id=call_id)


def answered(*calls: PartialCall, provider: str = "openai_chat") -> Step:
    results = tuple(ToolResult(one, error="not run", ran="no") for one in calls)
    return Step(Message(calls, Outcome.INVALID, "tool_calls", provider=provider), results)


@pytest.mark.parametrize("place", [0, 1])
def test_an_id_that_is_made_is_of_no_other_call(place: int) -> None:
    """Whether the provider uses it in the same message, before or after, or used it in an earlier one."""
    missing, taken = {"name": "a", "arguments": {}}, {"name": "b", "arguments": {}}
    made = f"call_2_{1 - place}"
    entries = [{"function": missing}, {"id": made, "function": taken}]
    event = {"message": {"content": "", "tool_calls": entries if place else entries[::-1]}, "done": False}
    earlier: Run[Any] = Run([answered(call("c", "call_2_0_"), call("d", "call_2_1_"))])
    state = feed_run(feed_run(continue_run(earlier), StepStarted()), event)
    ids = [str(one.id) for step in state.run.steps for one in step.message.tool_calls]
    assert len(ids) == len(set(ids)) == 4


@pytest.mark.parametrize("provider", CHECK_MESSAGES)
def test_a_call_without_a_name_is_followed_by_its_result_or_left_out_with_it(provider: str) -> None:
    named, unnamed = call("named", "call_a"), call(None, "call_b")
    items = Request([], Run([answered(named, unnamed, provider=provider)])).messages(provider)
    CHECK_MESSAGES[provider](items)
    written = json.dumps(items)
    assert written.count("named") - written.count("unnamed") >= 1
    # Each provider refers to a call by its id, but for Ollama, where the order counts as well.
    assert written.count("call_a") == 2
    assert written.count("call_b") in {0, 2}


@pytest.mark.parametrize("provider", CHECK_MESSAGES)
@pytest.mark.parametrize("text", ["", "  ", "no JSON"])
def test_the_user_does_not_speak_twice_in_a_row(provider: str, text: str) -> None:
    error = ErrorDetail(ErrorKind.SCHEMA, "content", "it is no object")
    message = Message((TextPart(text),), Outcome.INVALID, "stop", provider=provider, errors=(error,))
    items = Request("Hello", Run([Step(message)])).messages(provider)
    who = [item.get("role") or item["type"] for item in items]
    assert all(one != next_one for one, next_one in pairwise(who))
    assert who[-1] in {"user", "user_input"}
    if text == "no JSON":
        assert "it is no object" in json.dumps(items[-1])


class TestARunToGoOnWith:
    def test_has_the_results_of_all_earlier_calls(self) -> None:
        one = call("a", "1")
        done = answered(one)
        for step in (Step(done.message), Step(done.message, (PendingResult(one),))):
            with pytest.raises(ValueError, match="no result"):
                continue_run(Run([step, Step(Message((TextPart("Hi"),), Outcome.COMPLETE))]))

    @pytest.mark.parametrize("ids", [(None,), ("1", "1")])
    def test_has_calls_with_ids_of_their_own(self, ids: tuple[str | None, ...]) -> None:
        with pytest.raises(ValueError, match="ids"):
            continue_run(Run([answered(*[call("a", one) for one in ids])]))

    def test_queues_the_calls_of_a_message_that_was_saved_before_its_end_was_noted(self) -> None:
        run: Run[Any] = continue_run(Run([Step(answered(call("a", None), call("b", None)).message)])).run
        assert [one.status for one in run.results if isinstance(one, PendingResult)] == ["queued", "queued"]
        assert len({one.call.id for one in run.results}) == 2

    def test_leaves_out_a_message_that_had_not_ended(self) -> None:
        done = answered(call("a", "1"))
        assert continue_run(Run([done, Step(Message((call("b", "2"),)))])).run == Run([done])

    def test_does_not_take_the_results_of_other_calls(self) -> None:
        first, second = call("a", "1"), call("a", "1")
        for results in ((ToolResult(second, 1),), (ToolResult(first, 1),) * 2):
            with pytest.raises(ValueError, match="order"):
                Step(Message((first,), Outcome.COMPLETE), results)


def test_a_result_of_a_call_that_was_not_started_says_so() -> None:
    state: RunState[Any] = continue_run(Run([Step(Message((CompleteCall("a", {}, id="1"),), Outcome.COMPLETE))]))
    for result in (ToolResult(state.run.results[0].call), ToolResult(state.run.results[0].call, ran="unknown")):
        with pytest.raises(ValueError, match="not started"):
            feed_run(state, ToolFinished("1", result))


def test_progress_that_has_a_json_form_of_its_own_does_not_keep_a_run_from_being_saved() -> None:
    class Frame:
        def to_json(self) -> str:
            return "[]"

    state: RunState[Any] = continue_run(Run([Step(Message((CompleteCall("a", {}, id="1"),), Outcome.COMPLETE))]))
    state = feed_run(feed_run(state, ToolStarted("1")), ToolProgress("1", Frame()))
    assert "<Frame>" in state.run.to_json()


@pytest.mark.parametrize("calls", [0, 1])
@interpreted
def test_an_event_costs_as_much_in_a_long_run_as_in_a_short_one(calls: int) -> None:
    pieces = [{"index": 0, "id": "x", "function": {"name": "a", "arguments": ""}}] if calls else []
    first = {"choices": [{"index": 0, "delta": {"content": "a", "tool_calls": pieces}}]}
    more = {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": " "}}]}}]}
    event = more if calls else {"choices": [{"index": 0, "delta": {"content": "b"}}]}

    def cost(steps: int) -> int:
        earlier: Run[Any] = Run([answered(*[call("a", f"{at}_{one}") for one in range(4)]) for at in range(steps)])
        state = feed_run(feed_run(continue_run(earlier), StepStarted()), first)
        return opcodes(lambda: feed_run(state, event))[0]

    assert cost(50) == cost(1)


@pytest.mark.parametrize("delta", [{"content": "b"}, {"tool_calls": [{"index": 0, "function": {"arguments": " "}}]}])
@interpreted
def test_an_event_of_a_run_costs_little_more_than_one_of_a_message(delta: dict[str, Any]) -> None:
    first = {"tool_calls": [{"index": 0, "id": "x", "function": {"name": "a", "arguments": ""}}]}
    events = [{"choices": [{"index": 0, "delta": one}]} for one in (first, delta, delta)]
    state, stream = feed_run(start_run(), StepStarted()), start_stream()
    for event in events:
        state, stream = feed_run(state, event), feed_stream(stream, event)
    of_message = opcodes(lambda: feed_stream(stream, events[-1]))[0]
    assert opcodes(lambda: feed_run(state, events[-1]))[0] <= 1.15 * of_message
