"""A question and tools in, the growing run out: ask the model, run what it calls, send the results, until it answers.

`ask` is the caller's function: it gets a `Request`, calls its own client, and returns what that streams; the agent
closes it at the end.

Rule: only what is complete and valid is run, once. A call is shown as running before it starts, so a run that was saved
at any time never starts a call again; what a person must decide waits in the run.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, suppress
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast
from uuid import uuid4

from jsontide._check import check_count, check_seconds
from jsontide._errors import JsontideError
from jsontide._values import MISSING, Chunk
from jsontide.messages import Message, MessageConfig, Tool, ToolResult
from jsontide.messages.options import check_names, is_asynchronous, to_plain
from jsontide.providers import StreamState, tool_definitions
from jsontide.providers.registry import is_whole
from jsontide.providers.requests import find_form
from jsontide.runs.conversation import Conversation, is_retried
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
    is_paused,
    show_message,
    start_run,
    stop_run,
)
from jsontide.runs.stream import AsyncRunIterator, GrowingRun, RunIterator
from jsontide.runs.types import (
    PendingResult,
    RunInput,
    RunOutcome,
    RunSink,
    StepEnded,
    StepStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    ToolWaits,
)
from jsontide.streams import AsyncMessageStream, MessageStream, ReadingChoices
from jsontide.streams.sources import check_async, check_plain
from jsontide.streams.tools import PreparedCall, arun_call, describe_error, end_call, find_functions, prepare_call
from jsontide.streams.transport import is_transport

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide.messages import ToolCall

MAX_STEPS: Final = 8
MAX_PAUSES: Final = 8
"""How many messages in a row a provider may leave unfinished on purpose."""
_LOST: Final = "the program ended while the tool ran: it is not known whether it finished"
_REFUSED: Final = "the call was not run: a person refused it"
_MOST_USED: Final = 100_000
_used: Final[OrderedDict[str, None]] = OrderedDict()
"""The decisions that were used in this process."""
_using: Final = Lock()


class UsedDecisionError(JsontideError):
    """Somebody went on from this saved run before: nothing was run."""


class Request:
    """What to ask the model next: the conversation, and the run so far."""

    __slots__ = ("before", "conversation", "response_schema", "run", "tools")

    def __init__(
        self,
        conversation: str | Sequence[object] | Conversation,
        run: Run[Any],
        tools: tuple[Tool[Any], ...] = (),
        response_schema: object = None,
    ) -> None:
        asked = Conversation("", [conversation]) if isinstance(conversation, str) else conversation
        self.conversation = (asked if isinstance(asked, Conversation) else Conversation()).add(run)
        """What was said so far, with the run.

        An answer that could not be used is followed by its `feedback()`, as the words of the user.
        """
        self.before: tuple[object, ...] = () if isinstance(asked, Conversation) else tuple(asked)
        """What stands before it: the items that the agent was given, as the provider takes them."""
        self.run = run
        self.tools = tools
        self.response_schema = response_schema
        """What the answer must be; nothing if it is the arguments of a reserved tool."""

    def to_request(self, provider: str) -> dict[str, Any]:
        """Return the arguments that the method of the provider's client takes, as `Conversation.to_request` does.

        The tools and what asks for a structured answer are among them.
        """
        written = self.conversation.to_request(provider, tools=self.tools, response_schema=self.response_schema)
        items = find_form(provider).ITEMS
        return {**written, items: [*self.before, *written[items]]}

    def messages(self, provider: str) -> list[Any]:
        """Return the conversation alone: messages, contents or input of the request.

        Where the system text is an argument of its own, it is not among them, and there must be none.
        """
        form = find_form(provider)
        if self.conversation.system and form.SYSTEM:
            message = f"{provider} takes the system text as {form.SYSTEM}: use request.to_request({provider!r})"
            raise ValueError(message)
        return [*self.before, *self.conversation.to_request(provider)[form.ITEMS]]

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
    """How many messages the model may send, by default 8; pauses of a provider and retries do not count."""
    stop_when: Callable[[Run[Any]], bool] | None
    """Asked before each further step; if it returns true, the run ends: with `LIMIT` if there are results to send."""
    limit: int | None
    """How many calls may run at the same time."""
    timeout: float | None
    """How many seconds a call may take; after that the model gets an error, and a plain function goes on unseen."""
    retries: int
    """How often an answer that does not fit its schema is asked for again, with its `feedback()`."""
    describe_error: Callable[[Exception], str]
    """What the model reads about an exception of a tool."""
    run: Run[Any] | None
    """A saved run to go on with."""
    decisions: Mapping[str, bool | str]
    """What a person decided about waiting calls of that run, by their ids: `True`, `False`, or why not."""
    claim: Callable[[str], object] | None
    """Gets a text that names the saved run and where it waits; returns whether nobody has gone on from there before.

    It may be asynchronous. Without it, that is remembered in this process. Several processes need one claim that they
    share, such as an insert into a table with a unique key.
    """
    record: RunSink | None
    """Gets all that happens in the run, such as a `RunRecorder`."""


Asked: TypeAlias = str | Sequence[object] | Conversation
Ask = Callable[[Request], object]
"""Calls the provider's client with a request, and returns its stream; may be asynchronous."""


def run_agent(ask: Ask, conversation: Asked, **options: Unpack[AgentChoices]) -> AgentStream[Any]:
    """Yield the run each time it changed: ask the model, run the tools that it calls, ask again, until it answers.

    `ask` gets a `Request` and returns what its client streams, or a whole answer; `conversation` is the question, a
    `Conversation`, or a list of items as the provider takes them. Tools run at the same time, each plain function in a
    thread of its own.

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


def arun_agent(ask: Ask, conversation: Asked, **options: Unpack[AgentChoices]) -> AsyncAgentStream[Any]:
    """Do as `run_agent` does, with asynchronous streams; tools may be asynchronous too."""
    return AsyncAgentStream(_Agent(ask, conversation, options, is_async=True))


class _OpenMessage:
    """The message that is being read, and where the run stands: that is made when somebody asks."""

    def __init__(self, stream: AsyncMessageStream[Any] | MessageStream[Any], state: RunState[Any]) -> None:
        self.stream: Final = stream
        self.run: Run[Any] = state.run
        self._known = state
        """Where the run stood when a part of the message was new."""
        self.steady = -1
        """How many parts a message has that is shown as it is: it has no new call, and none whose id is another."""

    @property
    def state(self) -> RunState[Any]:
        known = self._known
        return RunState(self.run, known.config, self.stream.state, known.renamed, known.taken)

    def show(self, message: Message[Any]) -> Run[Any]:
        """Return the run with more of the message."""
        if len(message.parts) == self.steady:
            run = self.run = self.run.advance(message)
            return run
        known = self._known = show_message(self._known, self.stream.state)
        self.steady = -1 if known.renamed else len(message.parts)
        self.run = known.run
        return known.run


class _Agent:
    """The agent itself: what is asked and run, and where the run stands."""

    def __init__(self, ask: Ask, conversation: Asked, options: AgentChoices, *, is_async: bool) -> None:
        check_names(options, AgentChoices)
        own: dict[str, Any] = {**_DEFAULTS, **{name: value for name, value in options.items() if name in _DEFAULTS}}
        for name in ("ask", "stop_when", "claim"):
            function = ask if name == "ask" else own[name]
            if not callable(function) and (function is not None or name == "ask"):
                message = f"{name} must be callable, not {type(function).__name__}"
                raise TypeError(message)
        if is_asynchronous(own["stop_when"]):
            raise TypeError("stop_when must not be asynchronous")
        sink = own["record"]
        if sink is not None and not all(callable(getattr(sink, name, None)) for name in ("write", "finish")):
            message = f"record must be a RunSink, with write and finish, not {type(sink).__name__}"
            raise TypeError(message)
        if not isinstance(conversation, str | list | tuple | Conversation):
            message = (
                "conversation must be a str, a Conversation or a list of the provider's items, not "
                f"{type(conversation).__name__}"
            )
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
        self.response_schema: Final = None if config.emulate_structured_output else config.response_schema
        self.functions: Final = find_functions(self.tools, own["describe_error"])
        self.own: Final = own
        saved = own["run"]
        self._state: RunState[Any] = start_run(config, id=uuid4().hex) if saved is None else continue_run(saved, config)
        self._stopped: RunState[Any] | None = None
        self.reading: _OpenMessage | None = None
        """The message that is being read, if there is one; `_state` is older then."""
        self.decisions: Final = _check_decisions(self.run, own["decisions"])
        self.running: Final[set[asyncio.Task[Any]]] = set()
        self.events: Final[asyncio.Queue[ToolProgress | asyncio.Task[ToolFinished] | None]] = asyncio.Queue()

    @property
    def state(self) -> RunState[Any]:
        """Where the run stands.

        Two threads may share an agent: the one that reads writes to `_state` and `reading` alone, the one that stops to
        `_stopped`.
        """
        if self._stopped is not None:
            return self._stopped
        reading = self.reading
        return self._state if reading is None else reading.state

    @property
    def run(self) -> Run[Any]:
        reading = self.reading
        return self.state.run if reading is None or self._stopped is not None else reading.run

    def _write(self, event: object) -> None:
        """Record what happens, unless somebody has stopped the run."""
        if self.own["record"] is not None and self._stopped is None:
            self.own["record"].write(event)

    def _feed(self, event: RunInput) -> None:
        self._state = feed_run(self._state, event)
        self._write(event)

    def stop(self) -> None:
        """End the run here; calls that run may go on, and nothing waits for them."""
        self._stopped = stop_run(self.state)

    def wake(self) -> None:
        """Let whoever waits in the event loop see that the run is over."""
        for task in self.running:
            task.cancel()
        self.events.put_nowait(None)

    async def steps(self) -> AsyncGenerator[Run[Any]]:
        """Yield the run each time it changed, until it has ended.

        While a `MessageStream` is read, whoever gets a run reads it before going on.
        """
        try:
            await self._claim()
            self._write(self.run)
            self._take_refusals()
            while not self.run.is_over:
                if any(isinstance(one, PendingResult) for one in self.run.results):
                    async with aclosing(self._run_calls()) as runs:
                        async for run in runs:
                            yield run
                if not self.run.is_over and not self._goes_on():
                    self._state = finish_run(self._state)
                    yield self.run
                if not self.run.is_over:
                    async with aclosing(self._ask_and_read()) as runs:
                        async for run in runs:
                            yield run
        finally:
            self.stop()
            if self.own["record"] is not None:
                self.own["record"].finish(self.run)
            self.wake()
            await asyncio.gather(*self.running, return_exceptions=True)

    def _goes_on(self) -> bool:
        """Return whether the model is asked again."""
        run = self.run
        message = run.message
        if message is None:
            return True
        steps = run.steps
        paused = [is_paused(step.message) for step in steps]
        retries = sum(map(is_retried, steps))
        if paused[-1]:
            wants_more = sum(paused[-MAX_PAUSES - 1 :]) <= MAX_PAUSES
        elif message.outcome not in RUNNABLE or run.waiting:
            wants_more = False
        elif is_retried(steps[-1]):
            wants_more = retries <= self.own["retries"]
        else:
            wants_more = bool(run.results) and len(steps) - retries - sum(paused) < self.own["max_steps"]
        stop_when = self.own["stop_when"]
        return wants_more and not (stop_when is not None and stop_when(run))

    async def _ask_and_read(self) -> AsyncGenerator[Run[Any]]:
        """Ask for the next message and read it; what fails before its stream begins fails the run."""
        began = monotonic()
        try:
            asked = self.ask(Request(self.conversation, self.run, self.tools, self.response_schema))
            if isinstance(asked, Awaitable):
                asked = await self._wait_for(cast("Awaitable[object]", asked))
                if asked is MISSING:
                    return
        except Exception as error:
            self._state = fail_run(self._state, error)
            if not is_transport(error):
                raise
            yield self.run
            return
        started = StepStarted(monotonic() - began)
        state = feed_run(self._state, started)
        stream = self._open(asked, cast("StreamState", state.stream))
        if self.run.is_over:
            closing = stream.stop()
            if isinstance(closing, Awaitable):
                await closing
            return
        reading = self.reading = _OpenMessage(stream, state)
        self._write(started)
        if isinstance(stream, MessageStream):
            yield self.run
            return
        try:
            async for message in stream:
                yield reading.show(message)
        finally:
            await stream.stop()
        self.end_message(reading)

    async def _wait_for(self, awaitable: Awaitable[object]) -> object:
        """Return what the caller's function gives; `MISSING` if the run is stopped before."""
        task = asyncio.ensure_future(awaitable)
        self.running.add(task)
        await asyncio.wait([task])
        self.running.discard(task)
        if self.run.is_over and (task.cancelled() or task.exception() is not None):
            return MISSING
        return task.result()

    def _open(self, asked: object, start: StreamState) -> AsyncMessageStream[Any] | MessageStream[Any]:
        """Return what reads a message from what `ask` returned; a whole answer is a stream of one event."""
        is_one = isinstance(asked, Chunk) or is_whole(asked)
        note = None if self.own["record"] is None else self._write
        if not self.is_async:
            if not is_one:
                check_plain(asked, "ask must return a stream", "arun_agent")
            return MessageStream((asked,) if is_one else cast("Iterable[object]", asked), start, note)
        if is_one:
            return AsyncMessageStream(_yield_one(asked), start, note)
        check_async(asked, "ask must return an asynchronous stream", "run_agent")
        return AsyncMessageStream(cast("AsyncIterable[object]", asked), start, note)

    def end_message(self, reading: _OpenMessage) -> None:
        self._state = end_step(reading.state, reading.stream.message)
        self.reading = None
        self._write(StepEnded())

    async def _run_calls(self) -> AsyncGenerator[Run[Any]]:
        """Run the calls of the last message, as many at the same time as may be."""
        queue = deque(self._decide())
        yield self.run
        most = self.own["limit"] or len(self.run.results)
        while (queue or self.running) and not self.run.is_over:
            starting = [queue.popleft() for _ in range(min(len(queue), most - len(self.running)))]
            for prepared in starting:
                self._feed(ToolStarted(_id_of(prepared.call)))
            if starting:
                yield self.run  # whoever saves it knows what runs before it does
                if self.run.is_over:
                    return
            for prepared in starting:
                task = asyncio.create_task(self._run_call(prepared))
                self.running.add(task)
                task.add_done_callback(self.events.put_nowait)
            event = await self.events.get()
            if event is None or self.run.is_over:
                return
            if isinstance(event, asyncio.Task):
                self.running.discard(event)
            self._feed(event.result() if isinstance(event, asyncio.Task) else event)
            yield self.run

    def _decide(self) -> list[PreparedCall]:
        """Settle what cannot run, note what must wait, and return what can run."""
        runnable: list[PreparedCall] = []
        outcome = cast("Message[Any]", self.run.message).outcome
        for result in self.run.results:
            if not isinstance(result, PendingResult):
                continue
            call = result.call
            call_id = _id_of(call)
            is_decided = call_id in self.decisions
            prepared: PreparedCall | ToolResult
            if result.status == "running":
                prepared = ToolResult(call, error=_LOST, ran="unknown")
            elif outcome not in RUNNABLE:
                why = f"the call was not run because its message is {outcome.value}"
                prepared = ToolResult(call, error=why, ran="no")
            elif result.status == "waiting" and not is_decided:
                continue
            else:
                prepared = prepare_call(call, self.functions)
            if isinstance(prepared, ToolResult):
                self._feed(ToolFinished(call_id, prepared))
                continue
            must_wait, reason = (False, None) if is_decided else prepared.must_wait()
            if must_wait:
                self._feed(ToolWaits(call_id, reason))
            else:
                runnable.append(prepared)
        return runnable

    async def _run_call(self, prepared: PreparedCall) -> ToolFinished:
        call_id = _id_of(prepared.call)
        result = await arun_call(
            prepared,
            timeout=self.own["timeout"],
            describe_error=self.own["describe_error"],
            on_progress=lambda value: self.events.put_nowait(ToolProgress(call_id, _keep(value))),
            end=_end_call,
        )
        return ToolFinished(call_id, result)

    async def _claim(self) -> None:
        """Use the decisions about the saved run, once."""
        if not self.decisions:
            return
        run, claim = self.run, self.own["claim"] or _claim_here
        claimed = claim(f"{run.id}/{len(run.steps)}/{len(run.waiting)}")
        if isinstance(claimed, Awaitable):
            claimed = await self._wait_for(cast("Awaitable[object]", claimed))
        if self.run.is_over:
            return
        if not claimed:
            raise UsedDecisionError(
                "decisions about this run, as it was saved, were used before: nothing was run; load it anew"
            )

    def _take_refusals(self) -> None:
        """Settle what a person refused, where the saved run waits; what was approved may run."""
        run = self.run
        if run.is_over:  # it was stopped meanwhile
            return
        for call_id, decision in self.decisions.items():
            if decision is not True:
                why = f"{_REFUSED}: {decision}" if decision else _REFUSED
                call = run.results[find_call(run, call_id)].call
                self._feed(ToolFinished(call_id, ToolResult(call, error=why, ran="refused")))


class _Stream(GrowingRun[Answer]):
    """What both kinds of agents show."""

    def __init__(self, agent: _Agent) -> None:
        self._agent = agent
        self._first = agent.run

    @property
    def run(self) -> Run[Answer]:
        """The run so far."""
        return self._agent.run

    @property
    def state(self) -> RunState[Answer]:
        """Where the run stands; it can be saved at any time."""
        return self._agent.state


class AsyncAgentStream(_Stream[Answer], AsyncRunIterator[Answer]):
    """The run of an agent while it grows; leaving it as a context manager stops it, and the partial run stays."""

    def __init__(self, agent: _Agent) -> None:
        super().__init__(agent)
        self._steps = agent.steps()

    async def __anext__(self) -> Run[Answer]:
        return await anext(self._steps)

    async def stop(self) -> Run[Answer]:
        """Stop asking and running, and return the run, which is cancelled unless it was over."""
        agent = self._agent
        agent.stop()
        agent.wake()
        reading = agent.reading
        if reading is not None and isinstance(reading.stream, AsyncMessageStream):
            await reading.stream.stop()
        if not getattr(self._steps, "ag_running", False):  # or whoever waits for it sees the end
            await self._steps.aclose()
        return self.run


class AgentStream(_Stream[Answer], RunIterator[Answer]):
    """The run of an agent while it grows; leaving it as a context manager stops it, and the partial run stays.

    Tools run while the next run is waited for: each plain function in a thread, and what is asynchronous in an event
    loop of the stream's own. Another thread may stop it.
    """

    def __init__(self, agent: _Agent) -> None:
        super().__init__(agent)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._runs = self._pull()

    def _pull(self) -> Generator[Run[Answer]]:
        agent = self._agent
        runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        try:
            _check_no_loop()
            steps = agent.steps()
            loop = self._loop = runner.get_loop()  # its own `run` would keep Ctrl-C from what blocks in the loop
            while (run := loop.run_until_complete(_next(steps))) is not None:
                reading = agent.reading
                if reading is not None and isinstance(reading.stream, MessageStream):
                    with reading.stream as stream:
                        for message in stream:
                            if len(message.parts) != reading.steady:
                                yield reading.show(message)
                                continue
                            reading.run = reading.run.advance(message)  # as `show` does, without a call for each event
                            yield reading.run
                    agent.end_message(reading)
                else:
                    yield run
        except BaseException:  # such as an interrupt before its steps began
            agent.stop()
            raise
        finally:
            _close(runner)

    def __iter__(self) -> Iterator[Run[Answer]]:
        return self._runs  # a loop over it passes one function less for each run

    def __next__(self) -> Run[Answer]:
        return next(self._runs)

    def stop(self) -> Run[Answer]:
        """Stop asking and running, and return the run, which is cancelled unless it was over."""
        agent = self._agent
        agent.stop()
        if getattr(self._runs, "gi_running", False):  # in another thread, which sees the end
            if self._loop is not None:
                with suppress(RuntimeError):  # it has ended meanwhile
                    self._loop.call_soon_threadsafe(agent.wake)
            reading = agent.reading
            if reading is not None and isinstance(reading.stream, MessageStream):
                reading.stream.stop()
        else:
            self._runs.close()
        return self.run


def _close(runner: asyncio.Runner) -> None:
    """Close an event loop: in a thread of its own where another one runs, as where a stream is collected in it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        _end_loop(runner)
        return
    closing = Thread(target=_end_loop, args=[runner])
    closing.start()
    closing.join()


def _end_loop(runner: asyncio.Runner) -> None:
    """Close an event loop, also one that was told to stop as an interrupt came: it stops when it runs next."""
    try:
        with suppress(RuntimeError):
            runner.get_loop().run_until_complete(asyncio.sleep(0))
    finally:
        runner.close()


def _end_call(call: ToolCall, output: object) -> ToolResult:
    """Return the result of a call; of a tool that is a run, the model gets the answer or the text."""
    nested = None
    if isinstance(output, Run):
        nested = output
        if output.outcome is not RunOutcome.COMPLETE:
            why = f": {output.error}" if output.error else ""
            return ToolResult(call, error=f"the run is {output.outcome.value}{why}", nested=nested)
        output = output.content if output.answer is MISSING else output.answer
    result = end_call(call, output)
    if result.error is not None or result.parts:
        return result
    return ToolResult(call, _keep(output), nested=nested)


def _keep(value: object) -> object:
    """Return a value that its owner cannot change later: plain JSON, if it has that form."""
    if isinstance(value, Run):
        return value
    try:
        return to_plain(value)
    except Exception:  # noqa: BLE001 - what is no JSON may raise anything
        return value


def _check_decisions(run: Run[Any], decisions: object) -> dict[str, bool | str]:
    if not isinstance(decisions, Mapping):
        message = (
            f"decisions must be a mapping from ids of calls to True, False or a reason, not {type(decisions).__name__}"
        )
        raise TypeError(message)
    if decisions and run.id is None:
        raise ValueError("decisions need a run with an id, so that they are used once")
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
    with _using:
        if name in _used:
            return False
        _used[name] = None
        while len(_used) > _MOST_USED:
            _used.popitem(last=False)
    return True


async def _next(runs: AsyncIterator[Run[Any]]) -> Run[Any] | None:
    return await anext(runs, None)


async def _yield_one(item: object) -> AsyncGenerator[object]:
    yield item


def _check_no_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("run_agent cannot be used where an event loop runs: use arun_agent")


def _id_of(call: ToolCall) -> str:
    return cast("str", call.id)  # every call of a run has one


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
    "record": None,
}
"""The options of the agent itself, with their defaults; all others are those of messages."""
