"""What all encoders have in common: the interface, frames of server-sent events, and the words for errors.

A protocol is a module with a subclass of `BaseEncoder`: what comes first, what is new in a message or in JSON alone,
and how a stream fails. `steps` gives the new steps of a message, `message_value` its changes as one JSON value.

Rule: what a provider or an exception says stays on the server, unless the application's own `describe_error` sends it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from types import MappingProxyType
from typing import Any, Final, Generic, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

from jsontide._errors import JsontideError
from jsontide._json_text import write_json
from jsontide.messages import ErrorDetail, ErrorKind, Message, MessageError, Outcome
from jsontide.messages.message import Message as NativeMessage
from jsontide.messages.types import UNTOLD
from jsontide.tree import ParserState

Streamed = Message[object] | ParserState
"""What an encoder encodes: a message, or the state of a parser, for JSON alone."""
NativeStreamed: TypeAlias = NativeMessage | ParserState
"""The same in the types of modules that need no generics."""

SSE: Final = "text/event-stream"
SSE_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
)
"""Proxies must neither keep nor collect what is sent."""
KEEP_ALIVE: Final = b": keep-alive\n\n"
DONE: Final = b"data: [DONE]\n\n"
"""The last event of many protocols."""

DescribeError: TypeAlias = Callable[[ErrorDetail | Exception], str]
"""Gives the words that a browser gets for an error in a message, or for an exception of a source."""

SERVER_FAILED: Final = "the server failed"
PROVIDER_FAILED: Final = "the provider failed"
LOST: Final = "the connection to the provider failed"

State = TypeVar("State")


class _HasEnd(Protocol):
    @property
    def is_over(self) -> bool: ...


_Sent = TypeVar("_Sent", bound=_HasEnd)


def describe_error(error: ErrorDetail | Exception) -> str:
    """Return what a browser may know of an error: what is wrong with the model's output.

    Not the words of a provider, its proxy or an exception: they may name hosts, accounts and keys.
    Encoders use this rule unless they are given another `describe_error`.
    """
    if isinstance(error, MessageError):
        return describe_end(error.message, describe_error) or SERVER_FAILED
    if isinstance(error, Exception):
        return str(error) if isinstance(error, JsontideError) else SERVER_FAILED
    if error.kind is not ErrorKind.TRANSPORT or error.message == UNTOLD:
        return error.message
    return LOST if isinstance(error.cause, BaseException) else PROVIDER_FAILED


def describe_end(message: NativeMessage, describe: DescribeError) -> str | None:
    """Return why a message did not end well, for people; `None` if it did."""
    outcome = message.outcome
    if outcome in {Outcome.COMPLETE, Outcome.STREAMING}:
        return None
    return describe(message.errors[0]) if message.errors else f"the message is {outcome.value}"


def check_describe(describe: object) -> None:
    """Refuse what cannot describe an error."""
    if not callable(describe):
        message = f"describe_error must be callable, not {type(describe).__name__}"
        raise TypeError(message)


class Encoder(Protocol[State]):
    """Turns a growing message into the bytes of a front end's protocol: a pure step, from a state to the next one.

    `begin` returns what comes first, before anything of the message is known. Each `encode` returns what is new since
    the last one, and for a message that has ended, the end; to join late, call `begin`, then `encode` with the message
    as it is by then. `fail` ends a stream when no message says how it ended.

    An encoder whose protocol carries the name of a turn also has an attribute `run_id`, which may be `None`, and a
    method `with_run_id(run_id)` that returns the same encoder for a turn of this name; `jsontide.web` calls it.
    """

    @property
    def media_type(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def keep_alive(self) -> bytes:
        """What can be sent at any time between events and means nothing."""
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
    """The frame of all encoders here: they stop after the end, and describe errors by one rule."""

    def __init__(self, describe_error: DescribeError) -> None:
        check_describe(describe_error)
        self.describe_error = describe_error
        """Gives the words that a client gets for an error."""

    def with_describe_error(self, describe_error: DescribeError) -> Self:
        """Return the same encoder with another rule."""
        check_describe(describe_error)
        other = copy(self)
        other.describe_error = describe_error
        return other

    def encode(self, state: _Sent, growing: Streamed) -> tuple[_Sent, bytes]:
        """Return the state after a message or a parser's state, and what is new in it."""
        if state.is_over:
            return state, b""
        if isinstance(growing, ParserState):
            return self._encode_json(state, growing)
        if not isinstance(growing, NativeMessage):
            message = f"encode() takes a Message or a ParserState, not {type(growing).__name__}"
            raise TypeError(message)
        return self._encode_message(state, growing)

    def fail(self, state: _Sent, reason: str) -> tuple[_Sent, bytes]:
        """Return the state after a failure outside the message, and the end."""
        return (state, b"") if state.is_over else self._fail(state, reason)

    def _encode_message(self, state: _Sent, message: NativeMessage) -> tuple[_Sent, bytes]:
        raise NotImplementedError

    def _encode_json(self, state: _Sent, json: ParserState) -> tuple[_Sent, bytes]:
        raise NotImplementedError

    def _fail(self, state: _Sent, reason: str) -> tuple[_Sent, bytes]:
        raise NotImplementedError


class SseEncoder(BaseEncoder[_Sent]):
    """An encoder that writes server-sent events."""

    @property
    def media_type(self) -> str:
        return SSE

    @property
    def headers(self) -> Mapping[str, str]:
        return SSE_HEADERS

    @property
    def keep_alive(self) -> bytes:
        return KEEP_ALIVE


def sse(event: object) -> bytes:
    """Return a value as one server-sent event: one line of JSON."""
    return f"data: {write_json(event)}\n\n".encode()
