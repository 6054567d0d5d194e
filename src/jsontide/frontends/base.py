"""What all encoders share: the interface, server-sent events, how a stream ends, and how errors are described.

A protocol is a module with a subclass of `BaseEncoder`: how a stream begins, what is new in a message, a run or JSON
alone, and how a stream fails. `Progress` gives the new events of a message, and `runs` is the frame around the messages
of a run; `message_value` and `run_value` give the changes of both as one JSON value.

Rule: the words of a provider or an exception stay on the server, unless the application's `describe_error` sends them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from types import MappingProxyType
from typing import Any, Final, Generic, Protocol, Self, TypeAlias, TypeVar, cast, runtime_checkable

from jsontide._check import check_type
from jsontide._errors import JsontideError
from jsontide._values import write_json
from jsontide.messages import ErrorDetail, ErrorKind, Message, MessageError, ToolResult
from jsontide.messages.message import Message as NativeMessage
from jsontide.messages.progress import describe_end
from jsontide.messages.types import NO_FINISH_REASON
from jsontide.runs.run import Run
from jsontide.runs.types import RunOutcome
from jsontide.tree import ParserState

Streamed = Message[object] | Run[object] | ParserState
"""What an encoder takes: a message, a run, or the state of a parser, for JSON alone."""
NativeStreamed: TypeAlias = NativeMessage | ParserState
"""The same in the types of modules that need no generics."""

SSE_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
)
"""They stop proxies from caching and buffering the stream."""
DONE: Final = b"data: [DONE]\n\n"
"""The last event of many protocols."""

DescribeError: TypeAlias = Callable[[ErrorDetail | Exception], str]
"""Describes an error in a message, or an exception of a source, for a browser."""

SERVER_FAILED: Final = "the server failed"
PROVIDER_FAILED: Final = "the provider failed"
LOST: Final = "the connection to the provider failed"
TOOL_FAILED: Final = "the tool failed"
AT_LIMIT: Final = "the run reached its limit of steps"

State = TypeVar("State")


class _HasEnd(Protocol):
    @property
    def is_over(self) -> bool: ...


_Sent = TypeVar("_Sent", bound=_HasEnd)


class ToolFailedError(JsontideError):
    """A tool ran and failed; `result` has what the model reads, and the exception where it is known."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__(result)
        self.result = result

    def __str__(self) -> str:
        return self.result.text


def describe_error(error: ErrorDetail | Exception) -> str:
    """Describe an error for a browser: only faults of the model's output are named.

    The words of a provider, its proxy, a tool or an exception may name hosts, accounts and keys, and are not repeated.
    Encoders use this rule unless they get another `describe_error`.
    """
    if isinstance(error, MessageError):
        return describe_end(error.message, describe_error) or SERVER_FAILED
    if isinstance(error, ToolFailedError):
        return TOOL_FAILED
    if isinstance(error, Exception):
        return str(error) if isinstance(error, JsontideError) else SERVER_FAILED
    if error.kind is not ErrorKind.TRANSPORT or error.message == NO_FINISH_REASON:
        return error.message
    return LOST if isinstance(error.cause, BaseException) else PROVIDER_FAILED


def describe_end_of_run(run: Run[Any], describe: DescribeError) -> str | None:
    """Return why a run ended badly, for people; `None` if it ended well, waits for a person, or has not ended."""
    outcome = run.outcome
    if outcome in {RunOutcome.COMPLETE, RunOutcome.WAITING, RunOutcome.STREAMING}:
        return None
    if outcome is RunOutcome.FAILED:
        return describe(ErrorDetail(ErrorKind.TRANSPORT, "stream", run.error or SERVER_FAILED))
    if outcome is RunOutcome.LIMIT:
        return AT_LIMIT
    why = None if run.message is None else describe_end(cast("NativeMessage", run.message), describe)
    return why or f"the run is {outcome.value}"


def describe_failure(result: ToolResult, describe: DescribeError) -> str:
    """Return why a call has no output: what a tool that ran says of it stays on the server, as that of a provider."""
    return describe(ToolFailedError(result)) if result.ran == "yes" else result.text


def end_of_json(state: ParserState) -> dict[str, object] | None:
    """Return how a document ended, with the reason and path of an error; `None` before its end."""
    error = state.error
    if error is not None:
        word = "truncated" if error.reason.name == "UNEXPECTED_END" else "invalid"
        return {"end": word, "reason": error.message, "path": list(error.path)}
    return {"end": "complete"} if state.is_complete else None


def check_describe(describe: object) -> None:
    """Refuse anything that cannot be called."""
    if not callable(describe):
        message = f"describe_error must be callable, not {type(describe).__name__}"
        raise TypeError(message)


def check_continued(run: object) -> Run[Any] | None:
    """Return the run that a client has already, if there is one."""
    return None if run is None else check_type("continues", run, Run, "a Run or None")


class Encoder(Protocol[State]):
    """Turns a growing message or run into bytes of a front end's protocol: a pure step, from a state to the next one.

    `begin` returns the first bytes, before anything of the message is known. Each `encode` returns what is new since
    the last one, and the end of a message that has ended; to join late, call `begin`, then `encode` with the current
    message. `fail` ends a stream when no message says how it ended.

    An encoder whose protocol carries the name of a turn also has an attribute `run_id`, which may be `None`, and a
    method `with_run_id(run_id)` that returns the same encoder for a turn of this name; `jsontide.web` calls it.
    """

    @property
    def media_type(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def keep_alive(self) -> bytes:
        """Bytes without a meaning, which may be sent between any two events."""
        ...

    def begin(self) -> tuple[State, bytes]: ...
    def encode(self, state: State, growing: Streamed) -> tuple[State, bytes]: ...
    def fail(self, state: State, reason: str) -> tuple[State, bytes]: ...


@runtime_checkable
class NamesRun(Protocol):
    """An encoder whose protocol carries the name of a turn; see `Encoder`."""

    run_id: str | None

    def with_run_id(self, run_id: str) -> Encoder[Any]: ...


class BaseEncoder(Generic[_Sent]):
    """The frame of all encoders here: server-sent events, nothing after the end, one rule to describe errors."""

    media_type: str = "text/event-stream"
    headers: Mapping[str, str] = SSE_HEADERS
    keep_alive: bytes = b": keep-alive\n\n"

    def __init__(self, describe_error: DescribeError) -> None:
        check_describe(describe_error)
        self.describe_error = describe_error
        """Describes an error for the client."""

    def with_describe_error(self, describe_error: DescribeError) -> Self:
        """Return the same encoder with another rule."""
        check_describe(describe_error)
        other = copy(self)
        other.describe_error = describe_error
        return other

    def encode(self, state: _Sent, growing: Streamed) -> tuple[_Sent, bytes]:
        """Return the state after a message, a run or a parser's state, and its new bytes."""
        if state.is_over:
            return state, b""
        if isinstance(growing, ParserState):
            return self._encode_json(state, growing)
        if isinstance(growing, Run):
            return self._encode_run(state, growing)
        if not isinstance(growing, NativeMessage):
            message = f"encode() takes a Message, a Run or a ParserState, not {type(growing).__name__}"
            raise TypeError(message)
        return self._encode_message(state, growing)

    def fail(self, state: _Sent, reason: str) -> tuple[_Sent, bytes]:
        """Return the state after a failure outside the message, and the end of the stream."""
        return (state, b"") if state.is_over else self._fail(state, reason)

    def _encode_message(self, state: _Sent, message: NativeMessage) -> tuple[_Sent, bytes]:
        raise NotImplementedError

    def _encode_run(self, state: _Sent, run: Run[Any]) -> tuple[_Sent, bytes]:
        raise NotImplementedError

    def _encode_json(self, state: _Sent, json: ParserState) -> tuple[_Sent, bytes]:
        raise NotImplementedError

    def _fail(self, state: _Sent, reason: str) -> tuple[_Sent, bytes]:
        raise NotImplementedError


def sse(*events: object) -> bytes:
    """Return values as server-sent events, each one line of JSON."""
    return "".join([f"data: {write_json(event)}\n\n" for event in events]).encode()
