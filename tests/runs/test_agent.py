"""The loop around a run: what is asked, what runs, when, and what a person must decide, sync and async."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jsontide import Tool
from jsontide.messages import ToolResult
from jsontide.runs import (
    PendingResult,
    Request,
    Run,
    RunOutcome,
    Step,
    UsedDecisionError,
    arun_agent,
    run_agent,
)

Event = dict[str, Any]
PAUSED: list[Event] = [
    {"type": "message_start", "message": {"id": "m", "model": "c", "content": [], "usage": {}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Searching"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "pause_turn"}, "usage": {}},
    {"type": "message_stop"},
]
"""What Anthropic sends where it wants to be asked again."""


def answer(text: str, reason: str = "stop") -> list[Event]:
    return [
        {"message": {"content": text}, "done": False},
        {"message": {"content": ""}, "done": True, "done_reason": reason},
    ]


def calls(*named: tuple[str, Event]) -> list[Event]:
    entries = [{"function": {"name": name, "arguments": arguments}} for name, arguments in named]
    return [{"message": {"content": "", "tool_calls": entries}, "done": True, "done_reason": "stop"}]


class Model:
    """Answers each request with the next of its streams, and keeps the requests."""

    def __init__(self, *streams: list[Event]) -> None:
        self.streams = list(streams)
        self.requests: list[list[Any]] = []

    def ask(self, request: Request) -> list[Event]:
        self.requests.append(request.messages("ollama"))
        return self.streams.pop(0)

    def aask(self, request: Request) -> AsyncIterator[Event]:
        events = self.ask(request)

        async def stream() -> AsyncIterator[Event]:
            for event in events:
                await asyncio.sleep(0)
                yield event

        return stream()


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


ADD = Tool.from_function(add)


def noting(ran: list[int]) -> Tool[Any]:
    """A tool that notes its argument."""

    def note(n: int) -> None:
        ran.append(n)

    return Tool.from_function(note)


QUESTION = "What is 1 + 2?"


Final = Callable[..., Run[Any]]


def run_later(model: Model, *args: Any, **options: Any) -> Run[Any]:
    async def final() -> Run[Any]:
        return await arun_agent(model.aask, *args, **options).final()

    return asyncio.run(final())


def run_now(model: Model, *args: Any, **options: Any) -> Run[Any]:
    return run_agent(model.ask, *args, **options).final()


def texts(step: Step) -> list[str]:
    """The results of a step that are there."""
    return [one.text for one in step.results if isinstance(one, ToolResult)]


both = pytest.mark.parametrize("final", [run_now, run_later], ids=["sync", "async"])


@both
class TestAnAgent:
    def test_asks_runs_and_asks_again_until_the_model_answers(self, final: Final) -> None:
        model = Model(calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})), answer("3 and 7"))
        run = final(model, QUESTION, tools=[ADD])
        assert (run.outcome, run.content) == (RunOutcome.COMPLETE, "3 and 7")
        assert [texts(step) for step in run.steps] == [["3", "7"], []]
        first, second = model.requests
        assert first == [{"role": "user", "content": QUESTION}]
        assert [item["role"] for item in second] == ["user", "assistant", "tool", "tool"]
        assert [item["content"] for item in second[2:]] == ["3", "7"]

    def test_continues_a_conversation_in_the_words_of_the_provider(self, final: Final) -> None:
        model = Model(answer("Hi"))
        before = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
        final(model, before)
        assert model.requests == [before]

    def test_sends_what_a_tool_raises_and_what_cannot_run_as_errors(self, final: Final) -> None:
        def fail(x: int) -> int:
            raise ValueError(f"no {x}")

        model = Model(calls(("fail", {"x": 1}), ("add", {"a": "one", "b": 2}), ("gone", {})), answer("sorry"))
        run = final(model, QUESTION, tools=[ADD, Tool.from_function(fail)])
        failed, invalid, unknown = run.steps[0].results
        assert isinstance(failed, ToolResult)
        assert (failed.error, failed.ran) == ("ValueError: no 1", "yes")
        assert isinstance(failed.exception, ValueError)
        for result in (invalid, unknown):
            assert isinstance(result, ToolResult)
            assert result.ran == "no"
        assert run.outcome is RunOutcome.COMPLETE

    def test_describes_exceptions_as_it_is_told(self, final: Final) -> None:
        def fail() -> int:
            raise ValueError("secret")

        run = final(
            Model(calls(("fail", {})), answer("")),
            QUESTION,
            tools=[Tool.from_function(fail)],
            describe_error=lambda _: "it failed",
        )
        assert [one.error for one in run.steps[0].results if isinstance(one, ToolResult)] == ["it failed"]

    def test_ends_where_there_were_enough_steps(self, final: Final) -> None:
        model = Model(*[calls(("add", {"a": 1, "b": 2}))] * 3)
        run = final(model, QUESTION, tools=[ADD], max_steps=2)
        assert (run.outcome, len(run.steps)) == (RunOutcome.LIMIT, 2)
        assert all(isinstance(one, ToolResult) for step in run.steps for one in step.results)

    def test_ends_when_the_program_says_so(self, final: Final) -> None:
        model = Model(*[calls(("add", {"a": 1, "b": 2}))] * 3)
        run = final(model, QUESTION, tools=[ADD], stop_when=lambda run: len(run.steps) == 1)
        assert (run.outcome, len(run.steps)) == (RunOutcome.LIMIT, 1)

    def test_asks_again_for_an_answer_that_does_not_fit_its_schema(self, final: Final) -> None:
        schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
        model = Model(answer('{"n": "x"}'), answer('{"m": 1}'), answer('{"n": 1}'))
        run = final(model, QUESTION, response_schema=schema, retries=2)
        assert (run.outcome, run.answer, len(run.steps)) == (RunOutcome.COMPLETE, {"n": 1}, 3)
        assert [item["role"] for item in model.requests[-1]] == ["user", "assistant", "user", "assistant", "user"]
        assert "n" in model.requests[1][-1]["content"]

    def test_asks_no_more_often_than_it_may(self, final: Final) -> None:
        model = Model(*[answer('{"n": "x"}')] * 3)
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
        run = final(model, QUESTION, response_schema=schema, retries=1)
        assert (run.outcome, len(run.steps)) == (RunOutcome.INVALID, 2)

    def test_goes_on_where_a_provider_pauses_without_counting_it(self, final: Final) -> None:
        ended = [*PAUSED[:3], {**PAUSED[3], "delta": {"stop_reason": "end_turn"}}, PAUSED[4]]
        run = final(Model(PAUSED, PAUSED, ended), QUESTION, max_steps=1)
        assert (run.outcome, len(run.steps)) == (RunOutcome.COMPLETE, 3)

    def test_counts_neither_pauses_nor_retries_among_its_steps(self, final: Final) -> None:
        schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
        use = {"type": "tool_use", "id": "t", "name": "add", "input": {"a": 1, "b": 2}}
        asked = [PAUSED[0], {"type": "content_block_start", "index": 0, "content_block": use}, *PAUSED[2:]]
        asked[-2] = {**asked[-2], "delta": {"stop_reason": "tool_use"}}
        for wasted in (PAUSED, answer('{"n": "x"}')):
            model = Model(wasted, asked, answer('{"n": 3}'))
            run = final(model, QUESTION, tools=[ADD], response_schema=schema, retries=1, max_steps=2)
            assert (run.outcome, run.answer) == (RunOutcome.COMPLETE, {"n": 3})

    def test_does_not_go_on_for_ever_where_a_provider_pauses(self, final: Final) -> None:
        run = final(Model(*[PAUSED] * 20), QUESTION)
        assert run.is_over
        assert len(run.steps) == 9

    def test_ends_with_a_message_that_broke_off_and_runs_nothing_of_it(self, final: Final) -> None:
        ran: list[int] = []
        broken = calls(("note", {"n": 1}))
        broken[-1]["done_reason"] = "length"
        run = final(Model(broken), QUESTION, tools=[noting(ran)])
        assert run.outcome is RunOutcome.TRUNCATED
        assert ran == []
        assert [one.ran for one in run.results if isinstance(one, ToolResult)] == ["no"]

    def test_shows_what_a_tool_yields(self, final: Final) -> None:
        def count(n: int) -> Iterator[int]:
            yield from range(n)

        run = final(Model(calls(("count", {"n": 3})), answer("2")), QUESTION, tools=[Tool.from_function(count)])
        assert texts(run.steps[0]) == ["2"]

    def test_shows_the_run_that_a_tool_is(self, final: Final) -> None:
        def research(topic: str) -> Iterator[Run[Any]]:
            yield from run_agent(Model(answer(f"All about {topic}.")).ask, topic)

        model = Model(calls(("research", {"topic": "tea"})), answer("done"))
        run = final(model, QUESTION, tools=[Tool.from_function(research)])
        (result,) = run.steps[0].results
        assert isinstance(result, ToolResult)
        assert result.text == "All about tea."
        assert isinstance(result.nested, Run)
        assert result.nested.content == "All about tea."
        assert Run.from_json(run.to_json()).to_json() == run.to_json()


@both
class TestWhatAPersonMustDecide:
    def waiting(self, final: Final, ran: list[int]) -> tuple[Run[Any], list[Tool[Any]]]:
        def pay(amount: int) -> str:
            ran.append(amount)
            return f"paid {amount}"

        tools = [ADD, Tool.from_function(pay, needs_approval=lambda call: call.arguments_model["amount"] > 10)]
        model = Model(calls(("pay", {"amount": 5}), ("pay", {"amount": 50}), ("add", {"a": 1, "b": 2})))
        return final(model, QUESTION, tools=tools), tools

    def test_waits_while_everything_else_runs(self, final: Final) -> None:
        ran: list[int] = []
        run, _ = self.waiting(final, ran)
        assert run.outcome is RunOutcome.WAITING
        assert ran == [5]
        small, large, added = run.results
        assert isinstance(large, PendingResult)
        assert run.waiting == (large,)
        assert [one.text for one in (small, added) if isinstance(one, ToolResult)] == ["paid 5", "3"]

    @pytest.mark.parametrize("decision", [True, False, "too expensive"])
    def test_runs_once_when_it_is_approved_in_the_run_that_was_saved(self, final: Final, decision: Any) -> None:
        ran: list[int] = []
        run, tools = self.waiting(final, ran)
        saved = Run.from_json(run.to_json())
        decisions = {saved.waiting[0].call.id: decision}
        model = Model(answer("done"))
        resumed = final(model, QUESTION, tools=tools, run=saved, decisions=decisions)
        assert resumed.outcome is RunOutcome.COMPLETE
        assert ran == ([5, 50] if decision is True else [5])
        told = model.requests[0][3]["content"]
        assert told == "paid 50" if decision is True else str(decision or "refused") in told
        with pytest.raises(UsedDecisionError):
            final(Model(answer("again")), QUESTION, tools=tools, run=saved, decisions=decisions)
        assert ran == ([5, 50] if decision is True else [5])

    def test_waits_on_where_nobody_decided(self, final: Final) -> None:
        ran: list[int] = []
        run, tools = self.waiting(final, ran)
        again = final(Model(), QUESTION, tools=tools, run=run)
        assert again.outcome is RunOutcome.WAITING
        assert ran == [5]

    def test_waits_on_where_its_tool_asks_nobody_any_more(self, final: Final) -> None:
        ran: list[int] = []
        run, _ = self.waiting(final, ran)

        def pay(amount: int) -> None:
            ran.append(amount)

        tools = [Tool.from_function(pay)]
        assert final(Model(), QUESTION, tools=tools, run=run).outcome is RunOutcome.WAITING
        assert ran == [5]

    def test_does_not_run_what_was_approved_where_its_tool_is_gone_or_another(self, final: Final) -> None:
        def pay(amount: str) -> str:
            ran.append(0)
            return amount

        ran: list[int] = []
        for tools, why in (([], "no tool called 'pay'"), ([Tool.from_function(pay)], "not valid")):
            run, _ = self.waiting(final, ran)
            ran.clear()
            decisions = {str(run.waiting[0].call.id): True}
            end = final(Model(answer("done")), QUESTION, tools=tools, run=run, decisions=decisions)
            result = end.steps[0].results[1]
            assert isinstance(result, ToolResult)
            assert (result.ran, why in str(result.error), ran) == ("no", True, [])

    def test_refuses_decisions_about_anything_else(self, final: Final) -> None:
        run, tools = self.waiting(final, [])
        for decisions, error in (
            ({"call_9": True}, ValueError),
            ({str(run.results[0].call.id): True}, ValueError),
            ({str(run.waiting[0].call.id): 1}, TypeError),
            ([str(run.waiting[0].call.id)], TypeError),
        ):
            with pytest.raises(error, match="decisions"):
                final(Model(), QUESTION, tools=tools, run=run, decisions=decisions)

    def test_asks_a_claim_that_processes_share(self, final: Final) -> None:
        ran: list[int] = []
        run, tools = self.waiting(final, ran)
        used: set[str] = set()

        async def claim(name: str) -> bool:
            is_new = name not in used
            used.add(name)
            return is_new

        decisions = {str(run.waiting[0].call.id): True}
        final(Model(answer("x")), QUESTION, tools=tools, run=run, decisions=decisions, claim=claim)
        with pytest.raises(UsedDecisionError):
            final(Model(answer("x")), QUESTION, tools=tools, run=run, decisions=decisions, claim=claim)
        assert ran == [5, 50]


class TestCallsAtTheSameTime:
    @pytest.mark.parametrize(("limit", "most"), [(None, 4), (2, 2), (1, 1)])
    def test_are_as_many_as_may_be(self, limit: int | None, most: int) -> None:
        running = highest = 0

        async def work(n: int) -> int:
            nonlocal running, highest
            running += 1
            highest = max(highest, running)
            for _ in range(5):
                await asyncio.sleep(0)
            running -= 1
            return n

        model = Model(calls(*[("work", {"n": n}) for n in range(4)]), answer("done"))
        run = run_later(model, QUESTION, tools=[Tool.from_function(work)], limit=limit)
        assert [one.text for one in run.steps[0].results if isinstance(one, ToolResult)] == ["0", "1", "2", "3"]
        assert highest == most

    def test_show_what_they_yield_as_it_comes(self) -> None:
        async def count(n: int) -> AsyncIterator[int]:
            for at in range(n):
                yield at

        model = Model(calls(("count", {"n": 3})), answer("2"))

        async def progress() -> list[object]:
            stream = arun_agent(model.aask, QUESTION, tools=[Tool.from_function(count)])
            return [one.progress async for run in stream for one in run.results if isinstance(one, PendingResult)]

        assert [one for one in asyncio.run(progress()) if isinstance(one, int)] == [0, 1, 2]

    def test_are_shown_as_running_before_they_start(self) -> None:
        started: list[int] = []
        model = Model(calls(("note", {"n": 1})), answer("done"))
        seen = [
            (status, list(started))
            for run in run_agent(model.ask, QUESTION, tools=[noting(started)])
            for status in [one.status for one in run.results if isinstance(one, PendingResult)]
        ]
        assert ("running", []) in seen

    def test_end_after_their_time_and_nobody_knows_whether_they_ran(self) -> None:
        async def sleep(seconds: float) -> str:
            await asyncio.sleep(seconds)
            return "awake"

        model = Model(calls(("sleep", {"seconds": 3600.0}), ("sleep", {"seconds": 0.0})), answer("done"))
        run = run_later(model, QUESTION, tools=[Tool.from_function(sleep)], timeout=0.05)
        late, awake = run.steps[0].results
        assert isinstance(late, ToolResult)
        assert isinstance(awake, ToolResult)
        assert (late.ran, awake.text) == ("unknown", "awake")


class TestStopping:
    def test_in_the_middle_of_a_tool_keeps_what_there_is(self) -> None:
        is_running, may_end = threading.Event(), threading.Event()

        def wait(n: int) -> int:
            is_running.set()
            may_end.wait(60)
            return n

        async def run() -> Run[Any]:
            model = Model(calls(("wait", {"n": 1}), ("add", {"a": 1, "b": 2})), answer("never"))
            stream = arun_agent(model.aask, QUESTION, tools=[ADD, Tool.from_function(wait)])

            has_added = asyncio.Event()

            async def consume() -> None:
                async for run in stream:
                    if any(isinstance(one, ToolResult) for one in run.results):
                        has_added.set()

            reading = asyncio.create_task(consume())
            await asyncio.to_thread(is_running.wait, 60)
            await has_added.wait()
            stopped = await stream.stop()
            may_end.set()
            await reading
            assert stream.run is stopped
            return stopped

        run_ = asyncio.run(run())
        assert run_.outcome is RunOutcome.CANCELLED
        waited, added = run_.results
        assert isinstance(waited, ToolResult)
        assert isinstance(added, ToolResult)
        assert (waited.ran, added.text) == ("unknown", "3")

    def test_in_the_middle_of_a_message_closes_the_source(self) -> None:
        closed: list[bool] = []

        def ask(_: Request) -> Iterator[Event]:
            try:
                yield from answer("Hello")
                yield {}
            finally:
                closed.append(True)

        with run_agent(ask, QUESTION) as stream:
            next(stream)
        assert closed == [True]
        assert stream.run.outcome is RunOutcome.CANCELLED
        assert stream.run.content == "Hello"

    def test_a_task_that_is_cancelled_leaves_nothing_running(self) -> None:
        cancelled: list[bool] = []
        is_running = asyncio.Event()

        async def sleep() -> None:
            is_running.set()
            try:
                await asyncio.sleep(3600)
            finally:
                cancelled.append(True)

        async def run() -> RunOutcome:
            stream = arun_agent(Model(calls(("sleep", {}))).aask, QUESTION, tools=[Tool.from_function(sleep)])
            reading = asyncio.create_task(stream.final())
            await is_running.wait()
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            assert len(asyncio.all_tasks()) == 1
            return stream.run.outcome

        assert asyncio.run(run()) is RunOutcome.CANCELLED
        assert cancelled == [True]


@both
class TestWhatFails:
    def test_a_connection_ends_the_run(self, final: Final) -> None:
        class Broken(Model):
            def ask(self, _: Request) -> list[Event]:
                raise ConnectionError("refused")

        run = final(Broken(), QUESTION)
        assert (run.outcome, run.error) == (RunOutcome.FAILED, "ConnectionError: refused")

    def test_a_bug_of_the_program_is_raised(self, final: Final) -> None:
        class Buggy(Model):
            def ask(self, _: Request) -> list[Event]:
                raise KeyError("bug")

        with pytest.raises(KeyError):
            final(Buggy(), QUESTION)

    @pytest.mark.parametrize(
        ("options", "error", "words"),
        [
            ({"max_steps": 0}, ValueError, "max_steps"),
            ({"max_steps": "8"}, TypeError, "max_steps"),
            ({"limit": 0}, ValueError, "limit"),
            ({"timeout": -1}, ValueError, "timeout"),
            ({"retries": -1}, ValueError, "retries"),
            ({"stop_when": True}, TypeError, "stop_when"),
            ({"claim": {}}, TypeError, "claim"),
            ({"run": {}}, TypeError, "run"),
            ({"tools": [add]}, TypeError, "from_function"),
            ({"tools": [Tool("add")]}, ValueError, "no function"),
            ({"response_format": dict}, TypeError, "response_schema"),
        ],
    )
    def test_wrong_options_are_refused_before_anything_is_asked(
        self, final: Final, options: dict[str, Any], error: type[Exception], words: str
    ) -> None:
        model = Model()
        with pytest.raises(error, match=words):
            final(model, QUESTION, **options)
        assert model.requests == []

    def test_a_conversation_must_be_one(self, final: Final) -> None:
        for wrong in (None, b"Hi", 7, {"role": "user"}):
            with pytest.raises(TypeError, match="conversation"):
                final(Model(), wrong)


def test_a_stream_of_the_wrong_kind_names_the_other_function() -> None:
    model = Model(answer("Hi"), answer("Hi"))
    with pytest.raises(TypeError, match="arun_agent"):
        run_agent(model.aask, QUESTION).final()
    with pytest.raises(TypeError, match="run_agent"):
        asyncio.run(arun_agent(model.ask, QUESTION).final())


def test_a_function_that_asks_may_be_asynchronous() -> None:
    model = Model(answer("Hi"))

    async def ask(request: Request) -> AsyncIterator[Event]:
        return model.aask(request)

    assert asyncio.run(arun_agent(ask, QUESTION).final()).content == "Hi"


def test_a_run_that_waits_goes_on_in_another_process(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(
        """
import sys, pathlib
from jsontide import Tool
from jsontide.runs import Run, run_agent

ran = pathlib.Path("ran")
def pay(amount: int) -> str:
    with ran.open("a") as file:
        file.write(f"{amount} ")
    return "paid"

def ask(request):
    if request.run.steps:
        return [{"message": {"content": "done"}, "done": True, "done_reason": "stop"}]
    call = {"function": {"name": "pay", "arguments": {"amount": 7}}}
    return [{"message": {"content": "", "tool_calls": [call]}, "done": True, "done_reason": "stop"}]

saved = pathlib.Path("run.json")
options = {"tools": [Tool.from_function(pay, needs_approval=True)]}
if saved.exists():
    run = Run.from_json(saved.read_text())
    options |= {"run": run, "decisions": {run.waiting[0].call.id: True}}
run = run_agent(ask, "Pay.", **options).final()
saved.write_text(run.to_json())
print(run.outcome.name)
""",
        "utf-8",
    )
    said = [
        subprocess.run([sys.executable, program], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert said == ["WAITING\n", "COMPLETE\n"]
    assert (tmp_path / "ran").read_text("utf-8") == "7 "


def test_a_call_that_ran_when_the_program_ended_is_not_started_again() -> None:
    ran: list[int] = []
    tool = noting(ran)
    model = Model(calls(("note", {"n": 1})), answer("done"))
    saved = next(
        run.to_json()
        for run in run_agent(model.ask, QUESTION, tools=[tool])
        if any(getattr(one, "status", "") == "running" for one in run.results)
    )
    ran.clear()
    run = run_agent(model.ask, QUESTION, tools=[tool], run=Run.from_json(saved)).final()
    assert run.outcome is RunOutcome.COMPLETE
    assert [one.ran for one in run.steps[0].results if isinstance(one, ToolResult)] == ["unknown"]
    assert ran == []
    assert "not known" in json.dumps(model.requests[-1])
