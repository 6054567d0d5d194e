"""A client's stream in, the growing message out, sync and async.

Rule: whatever the source raises becomes a transport error, and what came before it is kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from jsontide.adapters._chunks import Chunk
from jsontide.adapters._turn import Turn, fail, finish, take
from jsontide.messages import MessageConfig, start_message, stop_message

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self, TypedDict, Unpack

    from jsontide.messages import Message, MessageState, Tool

    class MessageChoices(TypedDict, total=False):
        """The options of `MessageConfig`."""

        response_schema: object
        tools: Iterable[Tool]
        emulate_structured_output: bool
        output_name: str
        cumulative_arguments: bool


def stream_message(events: Iterable[object], **options: Unpack[MessageChoices]) -> MessageStream:
    """Yield the message after each event that changed it; the last one is the finished one, with its outcome.

    `events` is what a client streams, or the raw bytes of its response; the options are those of `MessageConfig`.

    >>> events = [{"message": {"content": "Hi"}, "done": False}, {"message": {}, "done": True}]
    >>> [(message.content, message.outcome.name) for message in stream_message(events)]
    [('Hi', 'STREAMING'), ('Hi', 'STREAMING'), ('Hi', 'COMPLETE')]
    """
    if isinstance(events, Chunk):
        events = (events,)  # all of a response, and not its characters
    if isinstance(events, Mapping):
        message = "events must be an iterable of events; this is a single one"
        raise TypeError(message)
    if not isinstance(events, Iterable):
        message = f"events must be iterable, not {type(events).__name__}; asynchronous ones are for astream_message"
        raise TypeError(message)
    return MessageStream(events, _turn(options))


def astream_message(events: AsyncIterable[object], **options: Unpack[MessageChoices]) -> AsyncMessageStream:
    """Do as `stream_message` does, for an asynchronous stream."""
    if not isinstance(events, AsyncIterable):
        message = f"events must be asynchronously iterable, not {type(events).__name__}"
        raise TypeError(message)
    return AsyncMessageStream(events, _turn(options))


def _turn(options: MessageChoices) -> Turn:
    return Turn(start_message(MessageConfig(**options)))


class _Holder:
    """What both kinds of streams hold: the turn so far, and messages that nobody has taken yet."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._ready: deque[Message] = deque()
        self._is_stopped = False

    @property
    def state(self) -> MessageState:
        """Where the message stands, also after the stream was left, stopped or broken off."""
        return self._turn.state

    @property
    def message(self) -> Message:
        """The message so far."""
        return self._turn.state.message

    def _keep(self, step: tuple[Turn, list[Message]]) -> None:
        self._turn, messages = step
        self._ready += messages

    def _take(self, item: object) -> None:
        try:
            step = take(self._turn, item)
        except BaseException:  # of a validator or an event, or an interrupt: what the item says is lost
            self._cancel()
            raise
        self._keep(step)
        if self._is_stopped:  # meanwhile
            self._cancel()

    def _cancel(self) -> None:
        self._turn = replace(self._turn, state=stop_message(self._turn.state))
        self._ready.clear()


def _closers(source: object, events: object) -> list[Callable[[], object]]:
    """Return what closes an iterator, and what it came from.

    A generator that somebody waits for cannot be closed meanwhile; who waits closes it then.
    """
    found = []
    for one in (source,) if source is events else (source, events):
        close = getattr(one, "aclose", None) or getattr(one, "close", None)
        is_running = getattr(one, "ag_running", False) or getattr(one, "gi_running", False)
        if callable(close) and not is_running:
            found.append(close)
    return found


class MessageStream(_Holder, Iterator["Message"]):
    """An iterator of messages; leaving it as a context manager stops it, and the partial message stays."""

    def __init__(self, events: Iterable[object], turn: Turn) -> None:
        super().__init__(turn)
        self._events = events
        self._source = iter(events)

    def __next__(self) -> Message:
        while not self._ready:
            if self._turn.state.is_over:
                raise StopIteration
            self._pull()
        return self._ready.popleft()

    def stop(self) -> Message:
        """Stop pulling, close the source, and return the message, which is cancelled unless it was over."""
        self._cancel()
        self._is_stopped = True
        self._close()
        return self.message

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _close(self) -> None:
        for close in _closers(self._source, self._events):
            close()

    def _pull(self) -> None:
        try:
            item = next(self._source)
        except StopIteration:
            self._keep(finish(self._turn))
        except Exception as error:  # noqa: BLE001 - whatever a client raises
            self._keep(fail(self._turn, error))
        except BaseException:  # an interrupt from the keyboard
            self._cancel()
            raise
        else:
            self._take(item)
            if self._is_stopped:
                self._close()


class AsyncMessageStream(_Holder, AsyncIterator["Message"]):
    """The same for asynchronous streams; a task that is cancelled meanwhile leaves the partial message here."""

    def __init__(self, events: AsyncIterable[object], turn: Turn) -> None:
        super().__init__(turn)
        self._events = events
        self._source = aiter(events)

    async def __anext__(self) -> Message:
        while not self._ready:
            if self._turn.state.is_over:
                raise StopAsyncIteration
            await self._pull()
        return self._ready.popleft()

    async def stop(self) -> Message:
        """Stop pulling, close the source, and return the message, which is cancelled unless it was over."""
        self._cancel()
        self._is_stopped = True
        await self._close()
        return self.message

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.stop()

    async def _close(self) -> None:
        for close in _closers(self._source, self._events):
            closing = close()
            if isinstance(closing, Awaitable):
                await cast("Awaitable[object]", closing)

    async def _pull(self) -> None:
        try:
            item = await anext(self._source)
        except StopAsyncIteration:
            self._keep(finish(self._turn))
        except Exception as error:  # noqa: BLE001 - whatever a client raises
            self._keep(fail(self._turn, error))
        except BaseException:  # a task that is cancelled
            self._cancel()
            raise
        else:
            self._take(item)
            if self._is_stopped:
                await self._close()
