"""What goes wrong around an agent: odd tools and questions, stops from anywhere, and runs that were saved anywhere."""

import asyncio
import gc
import itertools
import json
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from jsontide import Tool
from jsontide.messages import Outcome, ToolResult
from jsontide.runs import PendingResult, Request, Run, RunOutcome, UsedDecisionError, arun_agent, run_agent
from jsontide.streams import arun_tools, run_tools
from tests.runs.test_agent import PAUSED, QUESTION, Event, Final, Model, answer, both, calls, run_later
from tests.test_interrupts import at_line

PATIENCE = 60


def tool_of(function: Callable[..., object], **options: Any) -> Tool[Any]:
    return Tool.from_function(function, name="tool", **options)


def only(run: Run[Any]) -> ToolResult:
    """The result of the only call of the first step."""
    (result,) = run.steps[0].results
    assert isinstance(result, ToolResult)
    return result


def one_call() -> Model:
    return Model(calls(("tool", {})), answer("done"))


class Odd:
    """Its JSON form cannot be made."""

    def model_dump(self, **_: object) -> object:
        raise KeyError("odd")


@both
class TestOddTools:
    def test_a_tool_that_cancels_itself_has_a_result(self, final: Final) -> None:
        async def tool() -> None:
            raise asyncio.CancelledError

        result = only(final(one_call(), QUESTION, tools=[tool_of(tool)]))
        assert (result.error, result.ran) == ("the tool was cancelled", "unknown")

    def test_an_output_that_raises_when_it_is_written_is_an_error(self, final: Final) -> None:
        result = only(final(one_call(), QUESTION, tools=[tool_of(Odd)]))
        assert (result.error, result.ran) == ("KeyError: 'odd'", "yes")

    def test_a_description_of_an_error_that_fails_is_raised(self, final: Final) -> None:
        def describe(_: Exception) -> str:
            raise LookupError("a bug")

        with pytest.raises(LookupError, match="a bug"):
            final(one_call(), QUESTION, tools=[tool_of(lambda: 1 / 0)], describe_error=describe)

    @pytest.mark.parametrize("described", [None, 5, b"text"])
    def test_a_description_that_is_no_text_does_not_make_an_error_a_success(self, final: Final, described: Any) -> None:
        tools = [tool_of(lambda: 1 / 0)]
        with pytest.raises(TypeError, match="describe_error"):
            final(one_call(), QUESTION, tools=tools, describe_error=lambda _: described)
        message = final(Model(calls(("tool", {}))), QUESTION, tools=tools, max_steps=1).message
        assert message is not None
        with pytest.raises(TypeError, match="describe_error"):
            run_tools(message, tools, describe_error=lambda _: described)

    def test_functions_that_must_answer_at_once_are_not_asynchronous(self, final: Final) -> None:
        async def later(_: object) -> bool:
            return False

        for name in ("describe_error", "stop_when"):
            options: dict[str, Any] = {name: later}
            with pytest.raises(TypeError, match=f"{name} must not be asynchronous"):
                final(Model(), QUESTION, **options)

    def test_an_output_that_is_changed_later_stays_as_it_was(self, final: Final) -> None:
        kept: list[int] = []

        def tool() -> list[int]:
            kept.append(1)
            return kept

        run = final(Model(calls(("tool", {})), calls(("tool", {})), answer("done")), QUESTION, tools=[tool_of(tool)])
        assert [one.output for step in run.steps for one in step.results if isinstance(one, ToolResult)] == [
            [1],
            [1, 1],
        ]

    def test_a_tool_that_never_ends_holds_nothing_up_after_its_time(self, final: Final) -> None:
        may_end = threading.Event()
        result = only(final(one_call(), QUESTION, tools=[tool_of(lambda: may_end.wait(PATIENCE))], timeout=0.05))
        assert not may_end.is_set()
        may_end.set()
        assert result.ran == "unknown"

    def test_many_plain_functions_run_at_the_same_time(self, final: Final) -> None:
        together = threading.Barrier(40, timeout=PATIENCE)
        model = Model(calls(*[("tool", {})] * 40), answer("done"))
        run = final(model, QUESTION, tools=[tool_of(lambda: together.wait() >= 0)])
        assert [one.text for one in run.steps[0].results if isinstance(one, ToolResult)] == ["true"] * 40

    def test_a_generator_that_is_left_is_closed_in_its_thread(self, final: Final) -> None:
        threads: list[threading.Thread] = []

        def tool() -> Iterator[int]:
            try:
                threads.append(threading.current_thread())
                yield 1
                threads.append(threading.current_thread())
                raise ValueError("midway")
            finally:
                threads.append(threading.current_thread())

        assert only(final(one_call(), QUESTION, tools=[tool_of(tool)])).error == "ValueError: midway"
        assert len(threads) == 3
        assert len(set(threads)) == 1
        assert threads[0] is not threading.main_thread()


@both
class TestOddQuestions:
    @pytest.mark.parametrize(
        ("question", "reason"),
        [
            (lambda _: None, "NoneType"),
            (lambda _: 0, "int"),
            (lambda call: call.arguments_value["amount"], "KeyError"),
        ],
    )
    def test_about_an_approval_leave_it_to_a_person(self, final: Final, question: Any, reason: str) -> None:
        ran: list[int] = []
        tools = [tool_of(lambda: ran.append(1), needs_approval=question)]
        run = final(one_call(), QUESTION, tools=tools)
        assert run.outcome is RunOutcome.WAITING
        assert reason in str(run.waiting[0].reason)
        message = run.message
        assert message is not None
        for results in (run_tools(message, tools), asyncio.run(arun_tools(message, tools))):
            assert [(one.ran, "approve" in str(one.error)) for one in results] == [("no", True)]
        assert ran == []

    def test_that_are_asynchronous_are_refused(self, final: Final) -> None:
        assert only(final(one_call(), QUESTION, tools=[tool_of(lambda: 1, needs_approval=lambda _: False)])).text == "1"

        async def question(_: object) -> bool:
            return False

        class Question:
            async def __call__(self, _: object) -> bool:
                return False

        for one in (question, Question()):
            with pytest.raises(TypeError, match="asynchronous"):
                tool_of(lambda: 1, needs_approval=one)


@both
class TestDecisions:
    def waiting(self, final: Final, ran: list[str]) -> tuple[Run[Any], list[Tool[Any]]]:
        def tool(name: str) -> None:
            ran.append(name)

        tools = [tool_of(tool, needs_approval=True)]
        return final(Model(calls(("tool", {"name": "a"}), ("tool", {"name": "b"}))), QUESTION, tools=tools), tools

    def test_of_one_moment_are_used_together_or_not_at_all(self, final: Final) -> None:
        ran: list[str] = []
        run, tools = self.waiting(final, ran)
        a, b = (str(one.call.id) for one in run.waiting)
        later = final(Model(), QUESTION, tools=tools, run=run, decisions={b: True})
        assert (later.outcome, ran) == (RunOutcome.WAITING, ["b"])
        for decisions in ({a: True, b: True}, {a: True}, {b: True}):
            with pytest.raises(UsedDecisionError):
                final(Model(), QUESTION, tools=tools, run=run, decisions=decisions)
        assert ran == ["b"]
        end = final(Model(answer("done")), QUESTION, tools=tools, run=later, decisions={a: True})
        assert (end.outcome, ran) == (RunOutcome.COMPLETE, ["b", "a"])

    def test_are_used_by_one_of_many_threads(self, final: Final) -> None:
        ran: list[str] = []
        run, tools = self.waiting(final, ran)
        decisions = {str(one.call.id): True for one in run.waiting}
        together = threading.Barrier(6, timeout=PATIENCE)
        outcomes: list[RunOutcome | None] = []

        def resume() -> None:
            together.wait()
            try:
                outcomes.append(
                    final(Model(answer("done")), QUESTION, tools=tools, run=run, decisions=decisions).outcome
                )
            except UsedDecisionError:
                outcomes.append(None)

        threads = [threading.Thread(target=resume) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert (outcomes.count(RunOutcome.COMPLETE), outcomes.count(None)) == (1, 5)
        assert sorted(ran) == ["a", "b"]

    def test_need_a_run_with_an_id(self, final: Final) -> None:
        run, tools = self.waiting(final, [])
        with pytest.raises(ValueError, match="id"):
            final(Model(), QUESTION, tools=tools, run=Run(run.steps), decisions={str(run.waiting[0].call.id): True})

    def test_are_not_used_if_the_claim_fails(self, final: Final) -> None:
        ran: list[str] = []
        run, tools = self.waiting(final, ran)

        def claim(_: str) -> bool:
            raise ConnectionError("no database")

        with pytest.raises(ConnectionError):
            final(Model(), QUESTION, tools=tools, run=run, decisions={str(run.waiting[0].call.id): True}, claim=claim)
        assert ran == []


@both
def test_a_run_saved_at_any_moment_goes_on_and_starts_nothing_twice(final: Final) -> None:
    ran: list[int] = []
    tools = [tool_of(lambda: ran.append(1))]
    saved = [run.to_json() for run in run_agent(one_call().ask, QUESTION, tools=tools)]
    assert len(saved) > 5
    for text in saved:
        run = Run.from_json(text)
        is_asked_again = len(run.steps) == 1 and run.steps[0].message.outcome is Outcome.STREAMING
        has_started = any(getattr(one, "status", "") == "running" or isinstance(one, ToolResult) for one in run.results)
        ran.clear()
        end = final(one_call() if is_asked_again else Model(answer("done")), QUESTION, tools=tools, run=run)
        assert end.outcome is RunOutcome.COMPLETE
        assert len(end.steps) == 2
        assert len(ran) == (0 if has_started or len(run.steps) == 2 else 1)


CALLED = json.loads(run_agent(one_call().ask, QUESTION, tools=[tool_of(lambda: 1)]).final().to_json())
STEP = CALLED["steps"][0]


@pytest.mark.parametrize(
    ("saved", "why"),
    [
        (b"{", "the text is not JSON"),
        ("[]", "a run must be an object, not list"),
        ({"jsontide": 2}, "the version 2 of the form is not known"),
        ({**CALLED, "outcome": "finished"}, "there is no outcome 'finished'"),
        ({**CALLED, "id": 3}, "str or None"),
        ({**CALLED, "rest": []}, "a run has no field 'rest'"),
        ({**CALLED, "steps": {}}, "steps must be an array, not dict"),
        ({**CALLED, "steps": [{**STEP, "message": {}}]}, "the version None"),
        ({**CALLED, "steps": [{**STEP, "results": STEP["results"] * 2}]}, "a step has 2 results for 1 calls"),
        ({**CALLED, "steps": [{**STEP, "results": [{"status": "over"}]}]}, "a result: status"),
    ],
)
def test_what_is_no_saved_run_is_refused_with_the_reason(saved: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Run.from_json(saved)


@both
def test_a_whole_answer_is_a_stream_of_one_event(final: Final) -> None:
    whole = {"message": {"content": "Hi"}, "done": True, "done_reason": "stop"}
    for asked in (whole, json.dumps(whole).encode()):
        model: Any = Model()
        model.ask = model.aask = lambda _, asked=asked: asked
        assert final(model, QUESTION).content == "Hi"


class Source:
    """A source that blocks until it is closed."""

    def __init__(self) -> None:
        self.is_read, self.is_closed = threading.Event(), threading.Event()

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        self.is_read.set()
        self.is_closed.wait(PATIENCE)
        raise OSError("closed")

    def close(self) -> None:
        self.is_closed.set()


class TestStoppingAnAgent:
    def test_from_another_thread_while_a_source_blocks(self) -> None:
        source = Source()
        stream = run_agent(lambda _: source, QUESTION)
        reading = threading.Thread(target=stream.final)
        reading.start()
        assert source.is_read.wait(PATIENCE)
        run = stream.stop()
        reading.join(PATIENCE)
        assert not reading.is_alive()
        assert stream.run is run
        assert run.outcome is RunOutcome.CANCELLED

    def test_from_another_thread_while_a_tool_blocks(self) -> None:
        has_begun, may_end = threading.Event(), threading.Event()

        def tool() -> None:
            has_begun.set()
            may_end.wait(PATIENCE)

        stream = run_agent(one_call().ask, QUESTION, tools=[tool_of(tool)])
        reading = threading.Thread(target=stream.final)
        reading.start()
        assert has_begun.wait(PATIENCE)
        run = stream.stop()
        reading.join(PATIENCE)
        assert not reading.is_alive()
        may_end.set()
        assert stream.run is run
        assert only(run).ran == "unknown"

    def test_while_it_asks(self) -> None:
        async def stop() -> None:
            is_asked = asyncio.Event()

            async def ask(_: Request) -> None:
                is_asked.set()
                await asyncio.sleep(PATIENCE)

            stream = arun_agent(ask, QUESTION)
            reading = asyncio.create_task(stream.final())
            await is_asked.wait()
            run = await stream.stop()
            assert await reading is run is await stream.stop()
            assert (run.outcome, run.steps) == (RunOutcome.CANCELLED, ())
            assert len(asyncio.all_tasks()) == 1

        asyncio.run(stop())

    def test_while_a_claim_is_asked(self) -> None:
        ran: list[int] = []
        tools = [tool_of(lambda: ran.append(1), needs_approval=True)]

        async def stop() -> None:
            is_asked = asyncio.Event()

            async def claim(_: str) -> bool:
                is_asked.set()
                await asyncio.sleep(PATIENCE)
                return True

            waiting = await arun_agent(one_call().aask, QUESTION, tools=tools).final()
            decisions = {str(one.call.id): True for one in waiting.waiting}
            stream = arun_agent(one_call().aask, QUESTION, tools=tools, run=waiting, decisions=decisions, claim=claim)
            reading = asyncio.create_task(stream.final())
            await is_asked.wait()
            run = await stream.stop()
            assert await reading is run
            assert (run.outcome, only(run).ran, ran) == (RunOutcome.CANCELLED, "no", [])
            assert len(asyncio.all_tasks()) == 1

        asyncio.run(stop())

    def test_in_a_tool_that_yields_without_ever_waiting(self) -> None:
        yielded: list[int] = []

        async def tool() -> AsyncIterator[int]:
            while len(yielded) < 100_000:  # or the test would never end
                yielded.append(len(yielded))
                yield yielded[-1]

        async def stop() -> Run[Any]:
            async with arun_agent(one_call().aask, QUESTION, tools=[tool_of(tool)]) as stream:
                async for run in stream:
                    if any(getattr(one, "progress", None) == 5 for one in run.results):
                        break
            return stream.run

        assert only(asyncio.run(stop())).ran == "unknown"
        assert len(yielded) < 20

    def test_closes_what_the_client_returned(self) -> None:
        closed: list[int] = []

        class Response:
            async def __aiter__(self) -> AsyncIterator[Event]:
                for event in answer("Hello"):
                    yield event

            async def close(self) -> None:
                closed.append(1)

        async def stop() -> None:
            async with arun_agent(lambda _: Response(), QUESTION) as stream:
                await anext(stream)

        asyncio.run(stop())
        assert closed == [1]

    @pytest.mark.parametrize("is_cancelled", [False, True])
    def test_anywhere_leaves_no_task_and_a_result_for_every_call(self, *, is_cancelled: bool) -> None:
        async def tool() -> AsyncIterator[int]:
            for at in range(3):
                await asyncio.sleep(0)
                yield at

        async def stop(after: int) -> bool:
            stream = arun_agent(one_call().aask, QUESTION, tools=[tool_of(tool)])
            reading = asyncio.create_task(stream.final())
            for _ in range(after):
                await asyncio.sleep(0)
            if is_cancelled:
                reading.cancel()
                await asyncio.wait([reading])
            else:
                run = await stream.stop()
                assert await reading is run
            await asyncio.sleep(0)
            assert len(asyncio.all_tasks()) == 1
            assert not any(isinstance(one, PendingResult) for one in stream.run.results)
            return stream.run.outcome is RunOutcome.COMPLETE

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ends = [asyncio.run(stop(after)) for after in range(1, 60)]
            gc.collect()
        assert not ends[0]
        assert ends[-1]

    def test_a_plain_one_by_an_interrupt_in_its_source(self) -> None:
        def ask(_: Request) -> Iterator[Event]:
            yield answer("Hello")[0]
            raise KeyboardInterrupt

        stream = run_agent(ask, QUESTION)
        with pytest.raises(KeyboardInterrupt):
            stream.final()
        assert (stream.run.outcome, stream.run.content) == (RunOutcome.CANCELLED, "Hello")
        assert list(stream) == []

    @pytest.mark.parametrize("waits", range(12))
    def test_a_plain_one_by_an_interrupt_in_a_tool_beside_others(self, waits: int) -> None:
        """Whatever else happens in the event loop in the moment in which it comes."""

        async def tool(name: str) -> AsyncIterator[str]:
            for _ in range(waits if name == "late" else 0):
                await asyncio.sleep(0)
            if name == "late":
                raise KeyboardInterrupt
            yield name

        model = Model(calls(*[("tool", {"name": name}) for name in ("a", "late", "b")]))
        stream = run_agent(model.ask, QUESTION, tools=[tool_of(tool)])
        with pytest.raises(KeyboardInterrupt):
            stream.final()
        assert stream.run.outcome is RunOutcome.CANCELLED
        assert [getattr(one, "ran", None) for one in stream.run.results][1] == "unknown"
        assert list(stream) == []

    @pytest.mark.long
    @pytest.mark.untraced
    def test_a_plain_one_by_an_interrupt_anywhere(self) -> None:
        def tool() -> Iterator[int]:
            yield from range(2)

        def interrupt() -> None:
            raise KeyboardInterrupt

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # of a loop whose closing is what was interrupted
            for lines in itertools.count(step=23):
                model = Model(calls(("tool", {}), ("tool", {})), answer("done"))
                stream = run_agent(model.ask, QUESTION, tools=[tool_of(tool)])
                try:
                    at_line(lines, interrupt, stream.final)
                except KeyboardInterrupt:
                    stream.stop()
                except Exception as error:
                    raise AssertionError(lines) from error
                else:
                    break
                assert stream.run.is_over
                assert all(isinstance(one, ToolResult) for step in stream.run.steps for one in step.results)
                assert list(stream) == []
            gc.collect()
        assert lines > 500

    @pytest.mark.parametrize("is_stopped", [True, False])
    def test_a_plain_one_where_an_event_loop_runs(self, *, is_stopped: bool) -> None:
        closed: list[int] = []

        def ask(_: Request) -> Iterator[Event]:
            try:
                yield from answer("Hello")
            finally:
                closed.append(1)

        stream = [run_agent(ask, QUESTION)]
        next(stream[0])

        async def leave() -> None:
            if is_stopped:
                stream[0].stop()
            stream.clear()
            gc.collect()

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            asyncio.run(leave())
        assert closed == [1]

    def test_a_plain_one_that_nobody_holds_any_more(self) -> None:
        closed: list[int] = []

        def ask(_: Request) -> Iterator[Event]:
            try:
                yield from answer("Hello")
            finally:
                closed.append(1)

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            next(run_agent(ask, QUESTION))
            gc.collect()
        assert closed == [1]


def test_a_plain_agent_where_an_event_loop_runs_names_the_other_function() -> None:
    async def run() -> None:
        run_agent(Model(answer("Hi")).ask, QUESTION).final()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeError, match="arun_agent"):
            asyncio.run(run())
        gc.collect()


def test_a_plain_agent_leaves_the_event_loop_of_its_thread_alone() -> None:
    loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        run_agent(one_call().ask, QUESTION, tools=[tool_of(lambda: 1)]).final()
        assert asyncio.get_event_loop_policy().get_event_loop() is loop
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def test_a_run_that_pauses_for_ever_wanted_more() -> None:
    assert run_later(Model(*[PAUSED] * 20), QUESTION).outcome is RunOutcome.LIMIT
