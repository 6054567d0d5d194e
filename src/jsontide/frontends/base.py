"""What all encoders have in common: the interface, frames of server-sent events, and what is said of errors.

Rule: what a provider or an exception says stays on the server, unless the application's own `describe_error` says it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from types import MappingProxyType
from typing import Final, Protocol, Self, TypeAlias, TypeVar

from jsontide._errors import JsontideError
from jsontide._json_text import write_json
from jsontide.messages import ErrorDetail, ErrorKind, Message, MessageError, Outcome
from jsontide.messages.message import Message as NativeMessage
from jsontide.messages.types import UNTOLD
from jsontide.tree import ParserState

Growing = Message[object] | ParserState
"""What grows: a message, or the state of a parser, for JSON alone."""

SSE: Final = "text/event-stream"
SSE_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
)
"""Proxies must neither keep nor collect what is sent."""
KEEP_ALIVE: Final = b": keep-alive\n\n"
DONE: Final = b"data: [DONE]\n\n"
"""The last event of many protocols."""

DescribeError: TypeAlias = Callable[[ErrorDetail | Exception], str]
"""What a browser is told of an error in a message, and of an exception of a source."""

SERVER_FAILED: Final = "the server failed"
PROVIDER_FAILED: Final = "the provider failed"
LOST: Final = "the connection to the provider failed"

State = TypeVar("State")


def describe_error(error: ErrorDetail | Exception) -> str:
    """Return what a browser may know of an error: what is wrong with what the model wrote.

    Not what a provider, its proxy or an exception says: that may name hosts, accounts and keys.
    This is what encoders say unless they are given another `describe_error`.
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

    `begin` says what comes first, before anything of the message is known. Each `encode` says what is new since the
    last one, and what it says of a message that has ended is the end; joining late is `begin`, and `encode` of the
    message as it is then. `fail` ends a stream when no message says how it ended.
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
    def encode(self, state: State, growing: Growing) -> tuple[State, bytes]: ...
    def fail(self, state: State, reason: str) -> tuple[State, bytes]: ...


class BaseEncoder:
    """What all encoders here have: the rule by which they describe errors."""

    def __init__(self, describe_error: DescribeError) -> None:
        check_describe(describe_error)
        self.describe_error = describe_error
        """What a client is told of an error."""

    def with_describe_error(self, describe_error: DescribeError) -> Self:
        """Return the same encoder with another rule."""
        check_describe(describe_error)
        other = copy(self)
        other.describe_error = describe_error
        return other


class SseEncoder(BaseEncoder):
    """What encoders say of a response that is made of server-sent events."""

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
