"""A message and tools in, one result for each call out, in their order.

Rule: only a complete and valid call is run. Any other becomes an error result that says why, for the model to read;
so does an exception of a tool, which is logged and kept on the result.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from jsontide._check import check_count, check_type
from jsontide._values import MISSING
from jsontide.messages import CompleteCall, Message, Tool, ToolResult
from jsontide.messages.document import write_json
from jsontide.messages.options import Ran, check_tools
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
    message: Message[Any],
    tools: Iterable[Tool[Any]],
    *,
    describe_error: Callable[[Exception], str] = describe_error,
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
    check_type("message", message, Message, "a Message")
    by_name = find_functions(tools, describe_error)
    for call in message.tool_calls:
        tool = by_name.get(call.name or "")
        if tool is not None and is_async(tool):
            problem = f"the tool {tool.name!r} is asynchronous; arun_tools takes it"
            raise TypeError(problem)
    return [_run(call, by_name, describe_error) for call in message.tool_calls]


async def arun_tools(
    message: Message[Any],
    tools: Iterable[Tool[Any]],
    *,
    limit: int | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - of each call, and it becomes a result
    describe_error: Callable[[Exception], str] = describe_error,
) -> list[ToolResult]:
    """Do as `run_tools` does, with calls at the same time: `limit` at most, each for `timeout` seconds at most.

    Functions that are not asynchronous run in threads. When the task is cancelled, so are all calls.
    """
    check_type("message", message, Message, "a Message")
    by_name = find_functions(tools, describe_error)
    if limit is not None:
        check_count("limit", limit)
    room = asyncio.Semaphore(limit or max(len(message.tool_calls), 1))

    async def run(call: ToolCall) -> ToolResult:
        async with room:
            return await arun_call(call, by_name, timeout=timeout, describe_error=describe_error)

    tasks = [asyncio.ensure_future(run(call)) for call in message.tool_calls]
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
        problem = f"describe_error must be callable, not {type(describe).__name__}"
        raise TypeError(problem)
    by_name: dict[str, Tool[Any]] = {}
    for tool in check_tools(tools):
        if tool.function is None:
            problem = f"the tool {tool.name!r} has no function to call"
            raise ValueError(problem)
        by_name[tool.name] = tool
    return by_name


def is_async(tool: Tool[Any]) -> bool:
    function = tool.function
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _run(call: ToolCall, tools: Mapping[str, Tool[Any]], describe: Callable[[Exception], str]) -> ToolResult:
    prepared = prepare_call(call, tools)
    if isinstance(prepared, ToolResult):
        return prepared
    try:
        output = prepared()
        if isinstance(output, Generator):
            output = next(reversed(tuple(output)), None)
    except Exception as error:  # noqa: BLE001 - the model reads whatever a tool raises
        return fail_call(call, error, describe(error))
    return end_call(call, output)


async def arun_call(  # noqa: PLR0913 - all but two have defaults
    call: ToolCall,
    tools: Mapping[str, Tool[Any]],
    *,
    timeout: float | None = None,  # noqa: ASYNC109 - it becomes a result
    describe_error: Callable[[Exception], str] = describe_error,
    is_approved: bool = False,
    on_progress: Callable[[object], None] | None = None,
    end: Callable[[ToolCall, object], ToolResult] | None = None,
) -> ToolResult:
    """Return the result of one call, however it ends; `on_progress` gets each value that the tool yields.

    `end` makes the result of an output.
    """
    prepared = prepare_call(call, tools, is_approved=is_approved)
    if isinstance(prepared, ToolResult):
        return prepared
    patience = asyncio.timeout(timeout)
    try:
        async with patience:
            output = prepared() if is_async(tools[call.name or ""]) else await asyncio.to_thread(_call, prepared)
            if isinstance(output, Awaitable):
                output = await cast("Awaitable[object]", output)
            if isinstance(output, AsyncGenerator | Generator):
                output = await _exhaust(output, on_progress)
    except Exception as error:  # noqa: BLE001 - the model reads whatever a tool raises
        if isinstance(error, TimeoutError) and patience.expired():
            return fail_call(call, error, f"the tool did not finish within {timeout} seconds", ran="unknown")
        return fail_call(call, error, describe_error(error))
    return (end or end_call)(call, output)


async def _exhaust(
    yielded: AsyncGenerator[object] | Generator[object], on_progress: Callable[[object], None] | None
) -> object:
    """Return the last value of a tool that yields; each of them is progress."""
    last: object = None
    try:
        while True:
            if isinstance(yielded, Generator):
                value = await asyncio.to_thread(next, yielded, MISSING)
            else:
                value = await anext(yielded, MISSING)
            if value is MISSING:
                return last
            last = value
            if on_progress is not None:
                on_progress(value)
    finally:
        if isinstance(yielded, AsyncGenerator):
            await yielded.aclose()
        elif not getattr(yielded, "gi_running", False):  # its thread goes on if the call was cancelled
            yielded.close()


def _call(prepared: Callable[[], object]) -> object:
    try:
        return prepared()
    except StopIteration as error:  # it cannot be raised out of a thread into a task, which would wait for ever
        message = "the tool raised StopIteration"
        raise RuntimeError(message) from error


def end_call(call: ToolCall, output: object) -> ToolResult:
    """Return the result of a call that ended; one that is no JSON is an error."""
    result = ToolResult(call, output)
    if result.error is not None:
        _LOG.error("the tool %r failed: %s", call.name, result.error)
    return result


def fail_call(call: ToolCall, error: Exception, text: str, ran: Ran = "yes") -> ToolResult:
    _LOG.error("the tool %r failed", call.name, exc_info=error)
    return ToolResult(call, error=text, exception=error, ran=ran)


def must_wait(tool: Tool[Any], call: CompleteCall[Any]) -> bool:
    """Return whether a person must approve a call."""
    needs_approval = tool.needs_approval
    return needs_approval if isinstance(needs_approval, bool) else bool(needs_approval(call))


def prepare_call(
    call: ToolCall, tools: Mapping[str, Tool[Any]], *, is_approved: bool = False
) -> Callable[[], object] | ToolResult:
    """Return what calls the tool, or the result that says why nothing does."""
    if not isinstance(call, CompleteCall):
        why = f": {call.error.message}" if call.error else ""
        return ToolResult(call, error=f"the call was not run because it is {call.status.value}{why}", ran="no")
    tool = tools.get(call.name or "")
    if tool is None:
        return ToolResult(call, error=f"the call was not run: there is no tool called {call.name!r}", ran="no")
    if must_wait(tool, call) and not is_approved:
        return ToolResult(call, error="the call was not run: a person must approve it first", ran="no")
    arguments, problem = _arguments(tool, call)
    if problem:
        why = f"the call was not run because its arguments are not valid: {problem}"
        return ToolResult(call, error=why, ran="no")
    return lambda: tool.call(arguments)


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
