"""What all encoders have in common: the interface, frames of server-sent events, and what ends a stream."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Protocol, TypeVar

from jsontide.deltas import write_json
from jsontide.messages import Message
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

State = TypeVar("State")


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


class SseEncoder:
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
