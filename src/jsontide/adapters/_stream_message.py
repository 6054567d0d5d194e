"""A client's stream in, the growing message out, sync and async.

Rule: a message is made when it is asked for, however many events came in one read.
What came before an exception of the source is kept; it ends the message if the transport failed, and is raised if not.
"""

from __future__ import annotations

from collections import deque
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
)
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypedDict, cast

from jsontide.adapters._chunks import Chunk, check_async, check_plain
from jsontide.adapters._transport import is_transport
from jsontide.adapters._turn import Turn, fail, finish, take
from jsontide.adapters._whole import events_of
from jsontide.messages import MessageConfig, start_message, stop_message

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self, Unpack

    from jsontide.messages import Message, MessageState, Tool


class MessageChoices(TypedDict, total=False):
    """The options of `MessageConfig`, as keyword arguments."""

    response_schema: object
    tools: Iterable[Tool]
    emulate_structured_output: bool
    output_name: str
    cumulative_arguments: bool


def stream_message(events: Iterable[object], **options: Unpack[MessageChoices]) -> MessageStream:
    """Yield the message after each event that changed it; the last one is the finished one, with its outcome.

    `events` is what a client streams, or the raw bytes of its response; the options are those of `MessageConfig`.
    A whole completion, of a server or a client that does not stream, is taken for a stream of one event.

    >>> events = [{"message": {"content": "Hi"}, "done": False}, {"message": {}, "done": True}]
    >>> [(message.content, message.outcome.name) for message in stream_message(events)]
    [('Hi', 'STREAMING'), ('Hi', 'STREAMING'), ('Hi', 'COMPLETE')]
    """
    if isinstance(events, Chunk) or events_of(events):
        events = (events,)  # all of a response, and not its characters or fields
    if isinstance(events, Mapping):
        message = "events must be an iterable of events; this is a single one"
        raise TypeError(message)
    check_plain(events, "events must be iterable", "astream_message")
    return MessageStream(events, _turn(options))


def astream_message(events: AsyncIterable[object], **options: Unpack[MessageChoices]) -> AsyncMessageStream:
    """Do as `stream_message` does, for an asynchronous stream."""
    check_async(events, "events must be asynchronously iterable", "stream_message")
    return AsyncMessageStream(events, _turn(options))


def _turn(options: MessageChoices) -> Turn:
    return Turn(start_message(MessageConfig(**options)))


_Step: TypeAlias = Callable[[Turn], Iterator[Turn]]
"""What something that was pulled does to a turn; it is made as far as messages are asked for."""


class _Holder:
    """What both kinds of streams hold: the turn so far, the steps that are still to be made, what is to be closed.

    Only the one who reads writes the turn and the steps, and only the one who stops writes the state that stays then:
    they may be two threads.
    """

    def __init__(self, turn: Turn, source: object, events: object) -> None:
        self._turn = turn
        self._planned: deque[_Step] = deque()
        self._step: Iterator[Turn] | None = None
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

    def _next_message(self) -> Message | None:
        """Return the next message that the planned steps give, `None` if there is none without pulling more."""
        try:
            while not self.state.is_over:
                if self._step is None:
                    if not self._planned:
                        return None
                    self._step = self._planned.popleft()(self._turn)
                turn = next(self._step, None)
                if turn is None:
                    self._step = None
                    continue
                if self._stopped is not None:  # meanwhile
                    return None
                before, self._turn = self._turn, turn
                if turn.state is not before.state:
                    return turn.state.message
        except BaseException:  # of a validator or an event, or an interrupt: what the event says is lost
            self._cancel()
            raise
        return None

    def _failure(self, error: Exception) -> _Step:
        """Return the step for what the source raised; raise it again if it is a bug.

        A source that was closed while it was read may raise anything.
        """
        if self._stopped is None and not is_transport(error):
            raise error
        return partial(fail, error=error)

    def _stop(self) -> None:
        self._stopped = stop_message(self.state)

    def _cancel(self) -> None:
        self._turn = replace(self._turn, state=stop_message(self._turn.state))
        self._planned.clear()
        self._step = None

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
        while (message := self._next_message()) is None:
            if self.state.is_over:
                if isinstance(self._source, Generator) and self._stopped is None:
                    self._source.close()
                raise StopIteration
            self._pull()
        return message

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
            self._planned.append(self._pulled())
        except BaseException:  # a bug of the source, or an interrupt
            self._cancel()
            raise
        if self._stopped is not None:
            self._close()

    def _pulled(self) -> _Step:
        try:
            item = next(self._source)
        except StopIteration:
            return finish
        except Exception as error:  # noqa: BLE001 - it is raised again unless the transport failed
            return self._failure(error)
        return partial(take, item=item)


class AsyncMessageStream(_Holder, AsyncIterator["Message"]):
    """The same for asynchronous streams; a task that is cancelled meanwhile leaves the partial message here."""

    def __init__(self, events: AsyncIterable[object], turn: Turn) -> None:
        self._source = aiter(events)
        super().__init__(turn, self._source, events)

    async def __anext__(self) -> Message:
        while (message := self._next_message()) is None:
            if self.state.is_over:
                if isinstance(self._source, AsyncGenerator) and self._stopped is None:
                    await self._source.aclose()
                raise StopAsyncIteration
            await self._pull()
        return message

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
            self._planned.append(await self._pulled())
        except BaseException:  # as above, or a task that is cancelled
            self._cancel()
            raise
        if self._stopped is not None:
            await self._close()

    async def _pulled(self) -> _Step:
        try:
            item = await anext(self._source)
        except StopAsyncIteration:
            return finish
        except Exception as error:  # noqa: BLE001 - as above
            return self._failure(error)
        return partial(take, item=item)


async def _awaited(close: Callable[[], object]) -> None:
    closing = close()
    if isinstance(closing, Awaitable):
        await cast("Awaitable[object]", closing)
