"""A client's stream in, the growing message out, sync and async.

Rule: what came before an exception of the source is kept; it ends the message if the transport failed, and is raised
if not.
"""

from __future__ import annotations

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
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypedDict, TypeVar, cast, overload

from jsontide._values import Chunk
from jsontide.messages import MessageConfig, start_message, stop_message
from jsontide.providers.registry import is_whole
from jsontide.providers.stream_reader import StreamReader, StreamState
from jsontide.streams._loop import check_async, check_plain
from jsontide.streams.transport import is_transport

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self, Unpack

    from jsontide._values import JsonValue
    from jsontide.mend import Mending
    from jsontide.messages import Message, MessageState, Tool
    from jsontide.schema import Policies
    from jsontide.schema.options import TypeAdapterLike
    from jsontide.text import Limits

Answer = TypeVar("Answer")
_ANSWER_OPTION: Final = "response_schema, which takes the type or the JSON Schema of the answer,"
_MEANT: Final = {
    **dict.fromkeys(
        ("response_format", "response_model", "output_format", "output_type", "text_format", "schema", "format"),
        _ANSWER_OPTION,
    ),
    "functions": "tools",
    "tool": "tools",
    "mending": "mend",
}
"""What other libraries and clients call an option."""


class ReadingChoices(TypedDict, total=False):
    """The options of `MessageConfig` beside the schema of the answer, as keyword arguments."""

    tools: Iterable[Tool[Any]]
    emulate_structured_output: bool
    output_name: str
    cumulative_arguments: bool
    done_is_end: bool
    choice: int
    trailing: Literal["error", "ignore"]
    limits: Limits
    max_parts: int
    policies: Policies | None
    mend: Mending | None


@overload
def stream_message(
    events: Iterable[object], *, state: StreamState | None = None, **options: Unpack[ReadingChoices]
) -> MessageStream[object]: ...
@overload
def stream_message(
    events: Iterable[object], *, response_schema: type[Answer], **options: Unpack[ReadingChoices]
) -> MessageStream[Answer]: ...
@overload
def stream_message(
    events: Iterable[object], *, response_schema: Mapping[str, object], **options: Unpack[ReadingChoices]
) -> MessageStream[JsonValue]: ...
@overload
def stream_message(
    events: Iterable[object], *, response_schema: TypeAdapterLike[Answer], **options: Unpack[ReadingChoices]
) -> MessageStream[Answer]: ...
@overload
def stream_message(
    events: Iterable[object], *, response_schema: object, **options: Unpack[ReadingChoices]
) -> MessageStream[object]: ...
def stream_message(
    events: Iterable[object],
    *,
    response_schema: object = None,
    state: StreamState | None = None,
    **options: Unpack[ReadingChoices],
) -> MessageStream[Any]:
    """Yield the message after each event that changed it; the last one is the finished one, with its outcome.

    `events` is what a client streams, or the raw bytes of its response; the options are those of `MessageConfig`.
    A whole completion, of a server or a client that does not stream, is taken for a stream of one event.
    `state` is the saved `state` of a stream that was left, which goes on where it stood, with the same options.

    >>> events = [{"message": {"content": "Hi"}, "done": False}, {"message": {}, "done": True}]
    >>> [(message.content, message.outcome.name) for message in stream_message(events)]
    [('Hi', 'STREAMING'), ('Hi', 'STREAMING'), ('Hi', 'COMPLETE')]
    """
    if isinstance(events, Chunk) or is_whole(events):
        events = (events,)  # all of a response, and not its characters or fields
    if isinstance(events, Mapping):
        message = "events must be an iterable of events; this is a single one"
        raise TypeError(message)
    check_plain(events, "events must be iterable", "astream_message")
    return MessageStream(events, _start(response_schema, state, options))


@overload
def astream_message(
    events: AsyncIterable[object], *, state: StreamState | None = None, **options: Unpack[ReadingChoices]
) -> AsyncMessageStream[object]: ...
@overload
def astream_message(
    events: AsyncIterable[object], *, response_schema: type[Answer], **options: Unpack[ReadingChoices]
) -> AsyncMessageStream[Answer]: ...
@overload
def astream_message(
    events: AsyncIterable[object], *, response_schema: Mapping[str, object], **options: Unpack[ReadingChoices]
) -> AsyncMessageStream[JsonValue]: ...
@overload
def astream_message(
    events: AsyncIterable[object], *, response_schema: TypeAdapterLike[Answer], **options: Unpack[ReadingChoices]
) -> AsyncMessageStream[Answer]: ...
@overload
def astream_message(
    events: AsyncIterable[object], *, response_schema: object, **options: Unpack[ReadingChoices]
) -> AsyncMessageStream[object]: ...
def astream_message(
    events: AsyncIterable[object],
    *,
    response_schema: object = None,
    state: StreamState | None = None,
    **options: Unpack[ReadingChoices],
) -> AsyncMessageStream[Any]:
    """Do as `stream_message` does, for an asynchronous stream."""
    check_async(events, "events must be asynchronously iterable", "stream_message")
    return AsyncMessageStream(events, _start(response_schema, state, options))


def _start(response_schema: object, state: StreamState | None, options: ReadingChoices) -> StreamState:
    _check_names(options)
    if state is None:
        return StreamState(start_message(MessageConfig(response_schema=response_schema, **options)))
    if not isinstance(state, StreamState):
        message = f"state must be a StreamState, not {type(state).__name__}"
        raise TypeError(message)
    if response_schema is not None or options:
        message = "a saved state goes on with its own options: pass no others"
        raise TypeError(message)
    return state


def _check_names(options: Mapping[str, object]) -> None:
    """Refuse options of other names, with the name that was meant."""
    for name in options:
        if name not in ReadingChoices.__annotations__:
            meant = _MEANT.get(name)
            hint = f"{meant} is meant" if meant else f"there are {', '.join(sorted(ReadingChoices.__annotations__))}"
            message = f"there is no option {name!r}; {hint}"
            raise TypeError(message)


class _Holder(Generic[Answer]):
    """What both kinds of streams hold: the turn so far, and what is to be closed.

    Only the one who reads writes the turn, and only the one who stops writes the state that stays then: they may be
    two threads.
    """

    def __init__(self, start: StreamState, source: object, events: object) -> None:
        self._turn = StreamReader(start)
        self._stopped: MessageState | None = None
        self._open = [source] if source is events else [source, events]

    @property
    def state(self) -> StreamState:
        """Where the stream stands, also after it was left, stopped or broken off; it can be saved and continued."""
        return self._turn.state if self._stopped is None else StreamState(self._stopped)

    @property
    def message(self) -> Message[Answer]:
        """The message so far."""
        return cast("Message[Answer]", self._message_state.message)

    @property
    def _message_state(self) -> MessageState:
        return self._turn.message_state if self._stopped is None else self._stopped

    def _next_message(self) -> Message[Answer] | None:
        """Return the next message that what was received gives, `None` if there is none without pulling more."""
        try:
            message: Any = self._turn.next_message()
        except (StopIteration, StopAsyncIteration) as error:  # it must not look like the end of the stream
            self._turn.stop()
            raise RuntimeError("a validator raised " + type(error).__name__) from error
        except BaseException:  # of a validator or an event, or an interrupt: what the event says is lost
            self._turn.stop()
            raise
        return None if self._stopped is not None else message

    def _fail(self, error: Exception) -> None:
        """Take in what the source raised; raise it again if it is a bug.

        A source that was closed while it was read may raise anything.
        """
        if self._stopped is None and not is_transport(error):
            self._turn.stop()
            raise error
        self._turn.fail(error)

    def _stop(self) -> None:
        self._stopped = stop_message(self._message_state)

    def _closers(self, *names: str) -> list[Callable[[], object]]:
        """Return what closes an iterator and what it came from, each once, by the first of the names that it has.

        A generator that is being waited for cannot be closed meanwhile; whoever waits closes it then.
        """
        running: list[object] = []
        found: list[object] = []
        for one in self._open:
            is_running = getattr(one, "ag_running", False) or getattr(one, "gi_running", False)
            (running if is_running else found).append(one)
        self._open = running
        closers = (next(filter(callable, (getattr(one, name, None) for name in names)), None) for one in found)
        return [close for close in closers if close is not None]


class MessageStream(_Holder[Answer], Iterator["Message[Answer]"]):
    """An iterator of messages; leaving it as a context manager stops it, and the partial message stays."""

    def __init__(self, events: Iterable[object], start: StreamState) -> None:
        self._source = iter(events)
        super().__init__(start, self._source, events)

    def __next__(self) -> Message[Answer]:
        turn = self._turn
        while self._stopped is None:
            if turn.needs_more:
                try:
                    turn.feed(next(self._source))
                except StopIteration:
                    turn.end()
                except Exception as error:  # noqa: BLE001 - it is raised again unless the transport failed
                    self._fail(error)
                except BaseException:  # an interrupt
                    turn.stop()
                    raise
                if self._stopped is not None:
                    self._close()
            message = self._next_message()
            if message is not None:
                return message
            if turn.is_over and self._stopped is None:
                if isinstance(self._source, Generator):
                    self._source.close()
                break
        raise StopIteration

    def final(self) -> Message[Answer]:
        """Read to the end, and return the finished message."""
        for _ in self:
            pass
        return self.message

    def stop(self) -> Message[Answer]:
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


class AsyncMessageStream(_Holder[Answer], AsyncIterator["Message[Answer]"]):
    """The same for asynchronous streams; a task that is cancelled meanwhile leaves the partial message here."""

    def __init__(self, events: AsyncIterable[object], start: StreamState) -> None:
        self._source = aiter(events)
        super().__init__(start, self._source, events)

    async def __anext__(self) -> Message[Answer]:
        turn = self._turn
        while self._stopped is None:
            if turn.needs_more:
                try:
                    turn.feed(await anext(self._source))
                except StopAsyncIteration:
                    turn.end()
                except Exception as error:  # noqa: BLE001 - as above
                    self._fail(error)
                except BaseException:  # as above, or a task that is cancelled
                    turn.stop()
                    raise
                if self._stopped is not None:
                    await self._close()
            message = self._next_message()
            if message is not None:
                return message
            if turn.is_over and self._stopped is None:
                if isinstance(self._source, AsyncGenerator):
                    await self._source.aclose()
                break
        raise StopAsyncIteration

    async def final(self) -> Message[Answer]:
        """Read to the end, and return the finished message."""
        async for _ in self:
            pass
        return self.message

    async def stop(self) -> Message[Answer]:
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
                last_first.push_async_callback(_await, close)


async def _await(close: Callable[[], object]) -> None:
    closing = close()
    if isinstance(closing, Awaitable):
        await cast("Awaitable[object]", closing)
