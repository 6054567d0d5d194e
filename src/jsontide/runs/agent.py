"""A question and tools in, the growing run out: ask the model, run what it calls, send the results, until it answers.

`ask` is the caller's function: it gets a `Request`, calls its own client, and returns what that streams.

Rule: only what is complete and valid is run, once. A call is shown as running before it starts, so a run that was saved
at any time never starts a call again; what a person must decide waits in the run.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import TYPE_CHECKING, Any, Final, Generic, cast
from uuid import uuid4

from jsontide._check import check_count, check_seconds
from jsontide._errors import JsontideError
from jsontide._values import MISSING
from jsontide.messages import CompleteCall, Message, MessageConfig, Outcome, Tool, ToolResult
from jsontide.messages.options import check_names
from jsontide.providers import StreamState, to_request, tool_definitions
from jsontide.providers.requests import find_form
from jsontide.runs.run import (
    RUNNABLE,
    Answer,
    Run,
    RunState,
    continue_run,
    end_step,
    fail_run,
    feed_run,
    find_call,
    finish_run,
    show_message,
    start_run,
    stop_run,
)
from jsontide.runs.types import (
    PendingResult,
    Step,
    StepStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    ToolWaits,
)
from jsontide.streams import AsyncMessageStream, ReadingChoices
from jsontide.streams.sources import check_async, check_plain
from jsontide.streams.tools import arun_call, describe_error, end_call, find_functions, must_wait, prepare_call
from jsontide.streams.transport import is_transport

if TYPE_CHECKING:
    from typing import Self, Unpack

    from jsontide.messages import ToolCall

MAX_STEPS: Final = 8
MAX_PAUSES: Final = 8
"""How many messages in a row a provider may leave unfinished on purpose."""
_PAUSE: Final = "pause"
_LOST: Final = "the program ended while the tool ran: it is not known whether it finished"
_REFUSED: Final = "the call was not run: a person refused it"
_MOST_USED: Final = 100_000
_used: Final[OrderedDict[str, None]] = OrderedDict()
"""The decisions that were used in this process."""


class UsedDecisionError(JsontideError):
    """A decision about a call was used before: nothing was run."""


class Request:
    """What to ask the model next: the conversation, and the run so far."""

    __slots__ = ("conversation", "run", "tools")

    def __init__(self, conversation: str | Sequence[object], run: Run[Any], tools: tuple[Tool[Any], ...] = ()) -> None:
        self.conversation = conversation
        """The question, or the items before the run, as the provider takes them."""
        self.run = run
        self.tools = tools

    def messages(self, provider: str) -> list[Any]:
        """Return the whole conversation in a provider's form: messages, contents or input of the request.

        An answer that could not be used is followed by its `feedback()`, as the words of the user.
        """
        form = find_form(provider)
        asked = self.conversation
        items: list[Any] = form.write_user(asked) if isinstance(asked, str) else list(asked)
        for step in self.run.steps:
            if step.message.outcome is not Outcome.EMPTY:
                items += to_request(step.message, provider)
            results = [result for result in step.results if isinstance(result, ToolResult)]
            items += to_request(results, provider)
            feedback = "" if results or is_paused(step.message) else step.message.feedback()
            if feedback:
                items += form.write_user(feedback)
        return items

    def tool_definitions(self, provider: str, *, strict: bool | None = None) -> list[Any]:
        """Return the tools in a provider's form."""
        return tool_definitions(self.tools, provider, strict=strict)

    def __repr__(self) -> str:
        return f"<Request {self.run!r}>"


class AgentChoices(ReadingChoices, total=False):
    """The options of an agent, as keyword arguments; `tools` and the others of `MessageConfig` are among them."""

    response_schema: object
    """What the answer must be."""
    max_steps: int
    """How many messages the model may send, 8 unless it is set; pauses of a provider and retries do not count."""
    stop_when: Callable[[Run[Any]], bool] | None
    """Asked before each further step; if it returns true, the run ends with `LIMIT`."""
    limit: int | None
    """How many calls may run at the same time."""
    timeout: float | None
    """How many seconds a call may take; after that the model gets an error."""
    retries: int
    """How often an answer that does not fit its schema is asked for again, with its `feedback()`."""
    describe_error: Callable[[Exception], str]
    """What the model reads about an exception of a tool."""
    run: Run[Any] | None
    """A saved run to go on with."""
    decisions: Mapping[str, bool | str]
    """What a person decided about calls of that run, by their ids: `True`, `False`, or why not."""
    claim: Callable[[str], object] | None
    """Gets a text that names a decision; returns whether this is its first use, also as an awaitable.

    Without it each decision is used once in this process. Several processes need one claim that they share, such as an
    insert into a table with a unique key.
    """


Ask = Callable[[Request], object]
"""Calls the provider's client with a request, and returns its stream; may be asynchronous."""


def run_agent(ask: Ask, conversation: str | Sequence[object], **options: Unpack[AgentChoices]) -> AgentStream[Any]:
    """Yield the run each time it changed: ask the model, run the tools that it calls, ask again, until it answers.

    `ask` gets a `Request` and returns what its client streams, or the bytes of the response; `conversation` is the
    question, or a list of items as the provider takes them. Tools run in threads, at the same time.

    >>> def add(a: int, b: int) -> int:
    ...     return a + b
    >>> def ask(request):  # a client of your provider, asked with request.messages("ollama")
    ...     if request.run.steps:
    ...         return [{"message": {"content": "It is 3."}, "done": True, "done_reason": "stop"}]
    ...     call = {"function": {"name": "add", "arguments": {"a": 1, "b": 2}}}
    ...     return [{"message": {"content": "", "tool_calls": [call]}, "done": True, "done_reason": "stop"}]
    >>> from jsontide import Tool
    >>> run = run_agent(ask, "What is 1 + 2?", tools=[Tool.from_function(add)]).final()
    >>> run.content, [result.text for result in run.steps[0].results]
    ('It is 3.', ['3'])
    """
    return AgentStream(_Agent(ask, conversation, options, is_async=False))


def arun_agent(
    ask: Ask, conversation: str | Sequence[object], **options: Unpack[AgentChoices]
) -> AsyncAgentStream[Any]:
    """Do as `run_agent` does, with asynchronous streams; tools may be asynchronous too."""
    return AsyncAgentStream(_Agent(ask, conversation, options, is_async=True))


class _Agent:
    """The agent itself: what is asked and run, and where the run stands."""

    def __init__(
        self, ask: Ask, conversation: str | Sequence[object], options: AgentChoices, *, is_async: bool
    ) -> None:
        check_names(options, AgentChoices)
        own: dict[str, Any] = {**_DEFAULTS, **{name: value for name, value in options.items() if name in _DEFAULTS}}
        for name in ("ask", "stop_when", "claim"):
            function = ask if name == "ask" else own[name]
            if not callable(function) and (function is not None or name == "ask"):
                message = f"{name} must be callable, not {type(function).__name__}"
                raise TypeError(message)
        if not isinstance(conversation, str | list | tuple):
            message = f"conversation must be a str or a list of the provider's items, not {type(conversation).__name__}"
            raise TypeError(message)
        check_count("max_steps", own["max_steps"])
        check_count("retries", own["retries"], least=0)
        if own["limit"] is not None:
            check_count("limit", own["limit"])
        if own["timeout"] is not None:
            check_seconds("timeout", own["timeout"])
        reading: dict[str, Any] = {name: value for name, value in options.items() if name not in _DEFAULTS}
        config = MessageConfig(**reading)
        self.is_async: Final = is_async
        self.ask: Final = ask
        self.conversation: Final = conversation
        self.tools: Final = cast("tuple[Tool[Any], ...]", config.tools)
        self.functions: Final = find_functions(self.tools, own["describe_error"])
        self.own: Final = own
        saved = own["run"]
        self.state: RunState[Any] = start_run(config, id=uuid4().hex) if saved is None else continue_run(saved, config)
        self.decisions: Final = _check_decisions(self.state.run, own["decisions"])
        self.stream: AsyncMessageStream[Any] | None = None
        """The message that is being read."""
        self.running: Final[dict[str, asyncio.Task[None]]] = {}
        self.events: Final[asyncio.Queue[ToolProgress | ToolFinished | None]] = asyncio.Queue()

    @property
    def run(self) -> Run[Any]:
        return self.state.run

    def stop(self) -> None:
        """End the run here; calls that run may go on, and nothing waits for them."""
        self.state = stop_run(self.state)
        for task in self.running.values():
            task.cancel()
        self.events.put_nowait(None)

    async def steps(self) -> AsyncGenerator[Run[Any]]:
        """Yield the run each time it changed, until it has ended."""
        try:
            await self._take_decisions()
            while not self.run.is_over:
                if any(isinstance(one, PendingResult) for one in self.run.results):
                    async for run in self._run_calls():
                        yield run
                if not self.run.is_over and not self._goes_on():
                    self.state = finish_run(self.state)
                    yield self.run
                if not self.run.is_over:
                    async for run in self._read_message():
                        yield run
        finally:
            await self._clean_up()

    async def _clean_up(self) -> None:
        tasks = tuple(self.running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.stream is not None:
            await self.stream.stop()
        self.state = stop_run(self.state)

    def _goes_on(self) -> bool:
        """Return whether the model is asked again."""
        run = self.run
        message = run.message
        if message is None:
            return True
        steps = run.steps
        messages = [step.message for step in steps]
        if is_paused(message):
            return sum(map(is_paused, messages[-MAX_PAUSES - 1 :])) <= MAX_PAUSES
        if message.outcome not in RUNNABLE or run.waiting:
            return False
        retries = sum(_is_retried(step) for step in steps)
        if not run.results:
            return message.outcome is Outcome.INVALID and bool(message.feedback()) and retries <= self.own["retries"]
        counted = len(steps) - retries - sum(map(is_paused, messages))
        stop_when = self.own["stop_when"]
        return counted < self.own["max_steps"] and not (stop_when is not None and stop_when(run))

    async def _read_message(self) -> AsyncGenerator[Run[Any]]:
        """Ask for the next message and read it; what fails before its stream begins fails the run."""
        request = Request(self.conversation, self.run, self.tools)
        try:
            asked = self.ask(request)
            if isinstance(asked, Awaitable):
                asked = await cast("Awaitable[object]", asked)
        except Exception as error:
            self.state = fail_run(self.state, error)
            if not is_transport(error):
                raise
            yield self.run
            return
        state = feed_run(self.state, StepStarted())
        stream: AsyncMessageStream[Any] = AsyncMessageStream(self._source(asked), cast("StreamState", state.stream))
        self.stream = stream
        self.state = state
        async for _ in stream:
            if self.run.is_over:
                return
            self.state = show_message(self.state, stream.state)
            yield self.run
        self.stream = None
        if not self.run.is_over:
            self.state = end_step(self.state, stream.message)

    def _source(self, asked: object) -> AsyncIterator[object]:
        if self.is_async:
            check_async(asked, "ask must return an asynchronous stream", "run_agent")
            return aiter(cast("AsyncIterator[object]", asked))
        check_plain(asked, "ask must return a stream", "arun_agent")
        return _as_async(cast("Iterable[object]", asked))

    async def _run_calls(self) -> AsyncGenerator[Run[Any]]:
        """Run the calls of the last message, as many at the same time as may be."""
        queue = deque(self._decide())
        yield self.run
        most = self.own["limit"] or len(self.run.results)
        while (queue or self.running) and not self.run.is_over:
            starting = [queue.popleft() for _ in range(min(len(queue), most - len(self.running)))]
            for call in starting:
                self.state = feed_run(self.state, ToolStarted(_id_of(call)))
            if starting:
                yield self.run  # whoever saves it knows what runs before it does
                if self.run.is_over:
                    return
            for call in starting:
                self.running[_id_of(call)] = asyncio.create_task(self._run_call(call))
            event = await self.events.get()
            if event is None or self.run.is_over:
                return
            if isinstance(event, ToolFinished):
                del self.running[event.call_id]
            self.state = feed_run(self.state, event)
            yield self.run

    def _decide(self) -> list[CompleteCall[Any]]:
        """Settle what cannot run, note what must wait, and return what can run."""
        runnable: list[CompleteCall[Any]] = []
        for result in self.run.results:
            if not isinstance(result, PendingResult):
                continue
            call = result.call
            call_id = _id_of(call)
            if result.status == "waiting" and call_id not in self.decisions:
                continue
            message = cast("Message[Any]", self.run.message)
            if result.status == "running":
                settled: ToolResult | None = ToolResult(call, error=_LOST, ran="unknown")
            elif message.outcome not in RUNNABLE:
                why = f"the call was not run because its message is {message.outcome.value}"
                settled = ToolResult(call, error=why, ran="no")
            else:
                prepared = prepare_call(call, self.functions, is_approved=True)
                settled = prepared if isinstance(prepared, ToolResult) else None
            if settled is not None:
                self.state = feed_run(self.state, ToolFinished(call_id, settled))
            elif call_id not in self.decisions and must_wait(self.functions[call.name or ""], _complete(call)):
                self.state = feed_run(self.state, ToolWaits(call_id))
            else:
                runnable.append(_complete(call))
        return runnable

    async def _run_call(self, call: CompleteCall[Any]) -> None:
        call_id = _id_of(call)
        result = await arun_call(
            call,
            self.functions,
            timeout=self.own["timeout"],
            describe_error=self.own["describe_error"],
            is_approved=True,
            on_progress=lambda value: self.events.put_nowait(ToolProgress(call_id, value)),
            end=_end_call,
        )
        self.events.put_nowait(ToolFinished(call_id, result))

    async def _take_decisions(self) -> None:
        """Use the decisions about a saved run: what was refused is settled, what was approved may run."""
        run, claim = self.run, self.own["claim"] or _claim_here
        for call_id, decision in self.decisions.items():
            claimed = claim(f"{run.id}/{call_id}")
            if not (await claimed if isinstance(claimed, Awaitable) else claimed):
                message = f"the decision about the call {call_id!r} was used before: nothing was run"
                raise UsedDecisionError(message)
            call = run.results[find_call(run, call_id)].call
            if decision is not True:
                why = f"{_REFUSED}: {decision}" if decision else _REFUSED
                self.state = feed_run(self.state, ToolFinished(call_id, ToolResult(call, error=why, ran="no")))


class _Stream(Generic[Answer]):
    """What both kinds of streams of runs show."""

    def __init__(self, agent: _Agent) -> None:
        self._agent = agent

    @property
    def run(self) -> Run[Answer]:
        """The run so far."""
        return self._agent.run

    @property
    def state(self) -> RunState[Answer]:
        """Where the run stands; it can be saved at any time."""
        return self._agent.state


class AsyncAgentStream(_Stream[Answer], AsyncIterator[Run[Answer]]):
    """An asynchronous iterator of runs; leaving it as a context manager stops it, and the partial run stays."""

    def __init__(self, agent: _Agent) -> None:
        super().__init__(agent)
        self._steps = agent.steps()

    async def __anext__(self) -> Run[Answer]:
        return await anext(self._steps)

    async def final(self) -> Run[Answer]:
        """Go on to the end, and return the finished run."""
        async for _ in self:
            pass
        return self.run

    async def stop(self) -> Run[Answer]:
        """Stop asking and running, and return the run, which is cancelled unless it was over."""
        agent = self._agent
        agent.stop()
        if agent.stream is not None:
            await agent.stream.stop()
        if not getattr(self._steps, "ag_running", False):  # or whoever waits for it sees the end
            await self._steps.aclose()
        return self.run

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


class AgentStream(_Stream[Answer], Iterator[Run[Answer]]):
    """An iterator of runs; leaving it as a context manager stops it, and the partial run stays.

    Tools run in threads, and asynchronous ones in an event loop of its own, while the next run is waited for.
    """

    def __init__(self, agent: _Agent) -> None:
        super().__init__(agent)
        self._stream = AsyncAgentStream[Answer](agent)
        self._runner: asyncio.Runner | None = None
        self._runs = self._pull()

    def _pull(self) -> Generator[Run[Answer]]:
        with asyncio.Runner() as self._runner:
            while True:
                try:
                    run = self._runner.run(self._stream.__anext__())
                except StopAsyncIteration:
                    break
                yield run
        self._runner = None

    def __next__(self) -> Run[Answer]:
        return next(self._runs)

    def final(self) -> Run[Answer]:
        """Go on to the end, and return the finished run."""
        for _ in self:
            pass
        return self.run

    def stop(self) -> Run[Answer]:
        """Stop asking and running, and return the run, which is cancelled unless it was over."""
        if self._runner is not None:
            self._runner.run(self._stream.stop())
        self._agent.stop()
        self._runs.close()
        return self.run

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def is_paused(message: Message[Any]) -> bool:
    """Return whether the provider wants to be asked again with the message as it is."""
    return message.finish_reason == _PAUSE


def _is_retried(step: Step) -> bool:
    return not step.results and step.message.outcome is Outcome.INVALID


def _end_call(call: ToolCall, output: object) -> ToolResult:
    """Return the result of a call; of a tool that is a run, the model gets the answer or the text."""
    if not isinstance(output, Run):
        return end_call(call, output)
    if output.outcome.value != Outcome.COMPLETE.value:
        why = f": {output.error}" if output.error else ""
        return ToolResult(call, error=f"the run is {output.outcome.value}{why}", nested=output)
    answer = output.content if output.answer is MISSING else output.answer
    return ToolResult(call, answer, nested=output)


def _check_decisions(run: Run[Any], decisions: object) -> dict[str, bool | str]:
    if not isinstance(decisions, Mapping):
        message = (
            f"decisions must be a mapping from ids of calls to True, False or a reason, not {type(decisions).__name__}"
        )
        raise TypeError(message)
    waiting = {result.call.id for result in run.waiting}
    for call_id, decision in decisions.items():
        if call_id not in waiting:
            message = f"decisions: no call {call_id!r} of the run waits for one"
            raise ValueError(message)
        if not isinstance(decision, bool | str):
            message = f"decisions: each must be True, False or a reason, not {type(decision).__name__}"
            raise TypeError(message)
    return dict(decisions)


def _claim_here(name: str) -> bool:
    """Return whether a decision is used for the first time in this process."""
    if name in _used:
        return False
    _used[name] = None
    while len(_used) > _MOST_USED:
        _used.popitem(last=False)
    return True


async def _as_async(items: Iterable[object]) -> AsyncGenerator[object]:
    """Yield what is pulled from a source that blocks: nothing else runs in this loop while a message is read."""
    iterator = iter(items)
    try:
        for item in iterator:
            yield item
    finally:
        for one in (iterator, items):
            if callable(close := getattr(one, "close", None)):
                close()


def _id_of(call: ToolCall) -> str:
    return cast("str", call.id)  # every call of a run has one


def _complete(call: ToolCall) -> CompleteCall[Any]:
    return cast("CompleteCall[Any]", call)


_DEFAULTS: Final[dict[str, Any]] = {
    "max_steps": MAX_STEPS,
    "stop_when": None,
    "limit": None,
    "timeout": None,
    "retries": 0,
    "describe_error": describe_error,
    "run": None,
    "decisions": {},
    "claim": None,
}
"""The options of the agent itself, with their defaults; all others are those of messages."""
