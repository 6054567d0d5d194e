"""A message and tools in, one result for each call out, in their order.

Rule: only a complete and valid call is run. Any other becomes an error result that says why, for the model to read;
so does an exception of a tool, which is logged and kept on the result.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from jsontide._check import check_count, check_type
from jsontide._values import MISSING
from jsontide.messages import CompleteCall, Message, Tool, ToolResult
from jsontide.messages.document import write_json
from jsontide.messages.options import Ran, check_tools, is_asynchronous
from jsontide.schema import Status, from_json_ast
from jsontide.tree import create_parser_state, finalize, parse_chunk

if TYPE_CHECKING:
    from jsontide.messages import ToolCall

_LOG: Final = logging.getLogger("jsontide.tools")


def describe_error(error: Exception) -> str:
    """Return what the model reads about an exception: its type and its text."""
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def run_tools(
    message: Message[Any], tools: Iterable[Tool[Any]], *, describe_error: Callable[[Exception], str] = describe_error
) -> list[ToolResult]:
    """Call the functions of tools with the complete and valid calls of a message; return one result for each call.

    What a function raises is logged by `jsontide.tools`, and kept as `exception` of the result. `describe_error` makes
    the text of it that the model reads, by default its type and its text.

    >>> def add(a: int, b: int) -> int:
    ...     return a + b
    >>> from jsontide.messages import CompleteCall, Message, Outcome
    >>> message = Message((CompleteCall("add", {"a": 1, "b": 2}, id="call_1"),), Outcome.COMPLETE)
    >>> [result.text for result in run_tools(message, [Tool.from_function(add)])]
    ['3']
    """
    prepared = _prepare(message, tools, describe_error)
    for one in prepared:
        if isinstance(one, PreparedCall) and one.is_async:
            raise TypeError(f"the tool {one.tool.name!r} is asynchronous; arun_tools takes it")
    return [_run(one, describe_error) if isinstance(one, PreparedCall) else one for one in prepared]


async def arun_tools(
    message: Message[Any],
    tools: Iterable[Tool[Any]],
    *,
    limit: int | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - of each call, and it becomes a result
    describe_error: Callable[[Exception], str] = describe_error,
) -> list[ToolResult]:
    """Do as `run_tools` does, with calls at the same time: `limit` at most, each for `timeout` seconds at most.

    A function that is not asynchronous gets a thread of its own. When the task is cancelled, so are all calls, but for
    such functions: nobody waits for them any more, and they go on.
    """
    prepared = _prepare(message, tools, describe_error)
    if limit is not None:
        check_count("limit", limit)
    room = asyncio.Semaphore(limit or max(len(prepared), 1))

    async def run(one: PreparedCall | ToolResult) -> ToolResult:
        if isinstance(one, ToolResult):
            return one
        async with room:
            return await arun_call(one, timeout=timeout, describe_error=describe_error)

    tasks = [asyncio.ensure_future(run(one)) for one in prepared]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:  # cancelled, or what is not an exception of a tool
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def find_functions(tools: Iterable[Tool[Any]], describe: object) -> dict[str, Tool[Any]]:
    """Return the tools by name; raise before anything runs if they are not fit to be run."""
    if not callable(describe):
        raise TypeError(f"describe_error must be callable, not {type(describe).__name__}")
    if is_asynchronous(describe):
        raise TypeError("describe_error must not be asynchronous")
    by_name: dict[str, Tool[Any]] = {}
    for tool in check_tools(tools):
        if tool.function is None:
            raise ValueError(f"the tool {tool.name!r} has no function to call")
        by_name[tool.name] = tool
    return by_name


class PreparedCall:
    """A complete call with the tool that it calls, and the arguments that the tool takes."""

    __slots__ = ("_arguments", "call", "tool")

    def __init__(self, call: CompleteCall[Any], tool: Tool[Any], arguments: object) -> None:
        self.call: Final = call
        self.tool: Final = tool
        self._arguments: Final = arguments

    @property
    def is_async(self) -> bool:
        """Whether the function must be called where an event loop runs."""
        return is_asynchronous(self.tool.function)

    def run(self) -> object:
        return self.tool.call(self._arguments)

    def must_wait(self) -> tuple[bool, str | None]:
        """Return whether a person must approve the call, and why if it is not the tool that says so.

        Whatever goes wrong with the question, the answer is yes.
        """
        needs_approval = self.tool.needs_approval
        if isinstance(needs_approval, bool):
            return needs_approval, None
        try:
            found = needs_approval(self.call)
        except Exception as error:  # noqa: BLE001 - it decides whether something runs
            _LOG.exception("needs_approval of the tool %r failed", self.tool.name)
            return True, f"needs_approval raised {type(error).__name__}"
        if isinstance(found, bool):
            return found, None
        return True, f"needs_approval returned {type(found).__name__}, not a bool"


def prepare_call(call: ToolCall, tools: Mapping[str, Tool[Any]]) -> PreparedCall | ToolResult:
    """Return what can be run, or the result that says why nothing is."""
    if not isinstance(call, CompleteCall):
        why = f": {call.error.message}" if call.error else ""
        return ToolResult(call, error=f"the call was not run because it is {call.status.value}{why}", ran="no")
    tool = tools.get(call.name or "")
    if tool is None:
        return ToolResult(call, error=f"the call was not run: there is no tool called {call.name!r}", ran="no")
    arguments, problem = _arguments(tool, call)
    if problem:
        why = f"the call was not run because its arguments are not valid: {problem}"
        return ToolResult(call, error=why, ran="no")
    return PreparedCall(call, tool, arguments)


def _prepare(message: Message[Any], tools: Iterable[Tool[Any]], describe: object) -> list[PreparedCall | ToolResult]:
    """Return what can be run of a message, and results for the rest; what is wrong is raised before anything runs."""
    check_type("message", message, Message, "a Message")
    by_name = find_functions(tools, describe)
    return [_refuse_waiting(prepare_call(call, by_name)) for call in message.tool_calls]


def _refuse_waiting(prepared: PreparedCall | ToolResult) -> PreparedCall | ToolResult:
    if isinstance(prepared, ToolResult) or not prepared.must_wait()[0]:
        return prepared
    return ToolResult(prepared.call, error="the call was not run: a person must approve it first", ran="no")


def _run(prepared: PreparedCall, describe: Callable[[Exception], str]) -> ToolResult:
    try:
        output = prepared.run()
        if isinstance(output, Generator):
            output = next(reversed(tuple(output)), None)
        return end_call(prepared.call, output)
    except Exception as error:  # noqa: BLE001 - the model reads whatever a tool raises
        return _fail(prepared.call, error, _describe(error, describe))


async def arun_call(
    prepared: PreparedCall,
    *,
    timeout: float | None = None,  # noqa: ASYNC109 - it becomes a result
    describe_error: Callable[[Exception], str] = describe_error,
    on_progress: Callable[[object], None] | None = None,
    end: Callable[[ToolCall, object], ToolResult] | None = None,
) -> ToolResult:
    """Return the result of one call, however it ends; `on_progress` gets each value that the tool yields.

    `end` makes the result of an output. A function that is not asynchronous gets a thread of its own, in which it goes
    on when nobody waits for it any more.
    """
    call = prepared.call
    patience = asyncio.timeout(timeout)
    thread = ThreadPoolExecutor(1, f"tool {call.name}")
    try:
        async with patience:
            output = prepared.run() if prepared.is_async else await _run_in(thread, prepared.run)
            if isinstance(output, Awaitable):
                output = await cast("Awaitable[object]", output)
            if isinstance(output, AsyncGenerator | Generator):
                output = await _exhaust(output, on_progress, thread)
            return (end or end_call)(call, output)
    except Exception as error:  # noqa: BLE001 - the model reads whatever a tool raises
        if isinstance(error, TimeoutError) and patience.expired():
            return _fail(call, error, f"the tool did not finish within {timeout} seconds", ran="unknown")
        return _fail(call, error, _describe(error, describe_error))
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return _fail(call, error, "the tool was cancelled", ran="unknown")
    finally:
        thread.shutdown(wait=False)


async def _exhaust(
    yielded: AsyncGenerator[object] | Generator[object],
    on_progress: Callable[[object], None] | None,
    thread: ThreadPoolExecutor,
) -> object:
    """Return the last value of a tool that yields; each of them is progress."""
    last: object = None
    try:
        while True:
            if isinstance(yielded, Generator):
                value = await _run_in(thread, partial(next, yielded, MISSING))
            else:
                value = await anext(yielded, MISSING)
            if value is MISSING:
                return last
            last = value
            if on_progress is not None:
                on_progress(value)
                await asyncio.sleep(0)  # whoever reads or stops has a turn, also if the tool never waits
    finally:
        if isinstance(yielded, AsyncGenerator):
            await yielded.aclose()
        else:
            thread.submit(yielded.close)  # after what runs there now


async def _run_in(thread: ThreadPoolExecutor, function: Callable[[], object]) -> object:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(thread, copy_context().run, _call, function)


def _call(function: Callable[[], object]) -> object:
    try:
        return function()
    except StopIteration as error:  # it cannot be raised out of a thread into a task, which would wait for ever
        raise RuntimeError("the tool raised StopIteration") from error


def end_call(call: ToolCall, output: object) -> ToolResult:
    """Return the result of a call that ended; one that is no JSON is an error."""
    result = ToolResult(call, output)
    if result.error is not None:
        _LOG.error("the tool %r failed: %s", call.name, result.error)
    return result


def _describe(error: Exception, describe: Callable[[Exception], str]) -> str:
    """Return what the model reads about an exception; without a text, the call would seem to have gone well."""
    return check_type("what describe_error returns", describe(error), str, "a str")


def _fail(call: ToolCall, error: BaseException, text: str, ran: Ran = "yes") -> ToolResult:
    _LOG.error("the tool %r failed", call.name, exc_info=error)
    return ToolResult(call, error=text, exception=error if isinstance(error, Exception) else None, ran=ran)


def _arguments(tool: Tool[Any], call: CompleteCall[Any]) -> tuple[object, str]:
    """Return the arguments as the tool's type, or what is wrong.

    Whatever the message was read with: it may have been another tool of that name, or none.
    """
    if tool.schema is None:
        return call.arguments_model, ""
    state = finalize(parse_chunk(create_parser_state(), write_json(call.arguments_value)))
    found = from_json_ast(tool.schema, state)
    if found.status is Status.FINAL:
        return found.model, ""
    return MISSING, "; ".join(error.message for error in found.errors) or "they are not JSON"
