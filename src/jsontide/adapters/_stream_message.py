"""A client's stream in, the growing message out, sync and async.

Rule: whatever the source raises becomes a transport error, and what came before it is kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack
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
    """What both kinds of streams hold: the turn so far, messages that nobody has taken yet, what is to be closed.

    Who reads writes the turn and the messages, and who stops the state that stays then: they may be two threads.
    """

    def __init__(self, turn: Turn, source: object, events: object) -> None:
        self._turn = turn
        self._ready: deque[Message] = deque()
        self._stopped: MessageState | None = None
        self._open = [source] if source is events else [source, events]

    @property
    def state(self) -> MessageState:
        """Where the message stands, also after the stream was left, stopped or broken off."""
        return self._turn.state if self._stopped is None else self._stopped

    @property
    def message(self) -> Message:
        """The message so far."""
        return self.state.message

    def _follow(self, turns: Iterator[Turn]) -> None:
        for turn in turns:
            if self._stopped is not None:  # meanwhile
                return
            before, self._turn = self._turn, turn
            if turn.state is not before.state:
                self._ready.append(turn.state.message)

    def _stop(self) -> None:
        self._stopped = stop_message(self.state)

    def _cancel(self) -> None:
        self._turn = replace(self._turn, state=stop_message(self._turn.state))
        self._ready.clear()

    def _closers(self, *names: str) -> list[Callable[[], object]]:
        """Return what closes an iterator and what it came from, each once, by the first of the names that it has.

        A generator that somebody waits for cannot be closed meanwhile; who waits closes it then.
        """
        running: list[object] = []
        found: list[object] = []
        for one in self._open:
            is_running = getattr(one, "ag_running", False) or getattr(one, "gi_running", False)
            (running if is_running else found).append(one)
        self._open = running
        closers = (next(filter(callable, (getattr(one, name, None) for name in names)), None) for one in found)
        return [close for close in closers if close is not None]


class MessageStream(_Holder, Iterator["Message"]):
    """An iterator of messages; leaving it as a context manager stops it, and the partial message stays."""

    def __init__(self, events: Iterable[object], turn: Turn) -> None:
        self._source = iter(events)
        super().__init__(turn, self._source, events)

    def __next__(self) -> Message:
        while not self._ready and not self.state.is_over:
            self._pull()
        if not self._ready or self._stopped is not None:
            raise StopIteration
        return self._ready.popleft()

    def stop(self) -> Message:
        """Stop pulling, close the source, and return the message, which is cancelled unless it was over."""
        self._stop()
        self._close()
        return self.message

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _close(self) -> None:
        with ExitStack() as last_first:
            for close in reversed(self._closers("close")):
                last_first.callback(close)

    def _pull(self) -> None:
        try:
            self._follow(self._pulled())
        except BaseException:  # of a validator or an event, or an interrupt: what the item says is lost
            self._cancel()
            raise
        if self._stopped is not None:
            self._close()

    def _pulled(self) -> Iterator[Turn]:
        try:
            item = next(self._source)
        except StopIteration:
            return finish(self._turn)
        except Exception as error:  # noqa: BLE001 - whatever a client raises
            return fail(self._turn, error)
        return take(self._turn, item)


class AsyncMessageStream(_Holder, AsyncIterator["Message"]):
    """The same for asynchronous streams; a task that is cancelled meanwhile leaves the partial message here."""

    def __init__(self, events: AsyncIterable[object], turn: Turn) -> None:
        self._source = aiter(events)
        super().__init__(turn, self._source, events)

    async def __anext__(self) -> Message:
        while not self._ready and not self.state.is_over:
            await self._pull()
        if not self._ready or self._stopped is not None:
            raise StopAsyncIteration
        return self._ready.popleft()

    async def stop(self) -> Message:
        """Stop pulling, close the source, and return the message, which is cancelled unless it was over."""
        self._stop()
        await self._close()
        return self.message

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.stop()

    async def _close(self) -> None:
        async with AsyncExitStack() as last_first:
            for close in reversed(self._closers("aclose", "close")):
                last_first.push_async_callback(_awaited, close)

    async def _pull(self) -> None:
        try:
            self._follow(await self._pulled())
        except BaseException:  # as above, or a task that is cancelled
            self._cancel()
            raise
        if self._stopped is not None:
            await self._close()

    async def _pulled(self) -> Iterator[Turn]:
        try:
            item = await anext(self._source)
        except StopAsyncIteration:
            return finish(self._turn)
        except Exception as error:  # noqa: BLE001 - whatever a client raises
            return fail(self._turn, error)
        return take(self._turn, item)


async def _awaited(close: Callable[[], object]) -> None:
    closing = close()
    if isinstance(closing, Awaitable):
        await cast("Awaitable[object]", closing)
