"""A client's stream in, the growing message out, sync and async.

Rule: an exception of the source ends the message if the transport failed, and is raised if it is a bug.
Either way, the message so far stays.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypedDict, TypeVar, cast, overload

from jsontide._check import check_type
from jsontide._values import Chunk
from jsontide.messages import MessageConfig, start_message, stop_message
from jsontide.messages.options import check_names
from jsontide.messages.progress import Progress, TextDelta
from jsontide.providers.registry import is_whole
from jsontide.providers.stream_reader import StreamReader, StreamState
from jsontide.streams.sources import AsyncPuller, EventStage, Puller, adrive, check_async, check_plain, drive

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self, Unpack

    from jsontide._values import JsonValue
    from jsontide.mend import Mending
    from jsontide.messages import Message, MessageEvent, MessageState, Tool
    from jsontide.schema import Policies
    from jsontide.schema.options import TypeAdapterLike
    from jsontide.streams.sources import LoopStage
    from jsontide.text import Limits

Answer = TypeVar("Answer")


class DocumentChoices(TypedDict, total=False):
    """How JSON text is read, as keyword arguments; see `MessageConfig`."""

    trailing: Literal["error", "ignore"]
    limits: Limits
    policies: Policies | None
    mend: Mending | None


class ReadingChoices(DocumentChoices, total=False):
    """The options of `MessageConfig` beside the schema of the answer, as keyword arguments."""

    tools: Iterable[Tool[Any]]
    emulate_structured_output: bool
    output_name: str
    cumulative_arguments: bool
    done_is_end: bool
    choice: int
    max_parts: int


@overload
def stream_message(
    events: Iterable[object], *, state: StreamState | None = None, **options: Unpack[ReadingChoices]
) -> MessageStream[object]: ...
@overload
def stream_message(
    events: Iterable[object],
    *,
    response_schema: type[Answer] | TypeAdapterLike[Answer],
    **options: Unpack[ReadingChoices],
) -> MessageStream[Answer]: ...
@overload
def stream_message(
    events: Iterable[object], *, response_schema: Mapping[str, object], **options: Unpack[ReadingChoices]
) -> MessageStream[JsonValue]: ...
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
    if isinstance(events, Mapping) or hasattr(type(events), "model_fields"):  # an iterable of its own fields
        raise TypeError("events must be an iterable of events; this is a single one")
    check_plain(events, "events must be iterable", "astream_message")
    return MessageStream(events, _start(response_schema, state, options))


@overload
def astream_message(
    events: AsyncIterable[object], *, state: StreamState | None = None, **options: Unpack[ReadingChoices]
) -> AsyncMessageStream[object]: ...
@overload
def astream_message(
    events: AsyncIterable[object],
    *,
    response_schema: type[Answer] | TypeAdapterLike[Answer],
    **options: Unpack[ReadingChoices],
) -> AsyncMessageStream[Answer]: ...
@overload
def astream_message(
    events: AsyncIterable[object], *, response_schema: Mapping[str, object], **options: Unpack[ReadingChoices]
) -> AsyncMessageStream[JsonValue]: ...
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
    check_names(options, ReadingChoices)
    if state is None:
        return StreamState(start_message(MessageConfig(response_schema=response_schema, **options)))
    check_type("state", state, StreamState, "a StreamState")
    if response_schema is not None or options:
        raise TypeError("a saved state goes on with its own options: pass no others")
    return state


class _StreamBase(Generic[Answer]):
    """What both kinds of streams hold: a reader, and the message that stays when they are stopped.

    Two threads may share a stream: the one that reads writes to the reader alone, the one that stops to `_stopped`.
    """

    def __init__(self, start: StreamState, note: Callable[[object], object] | None = None) -> None:
        self._note: Final = note
        """Gets each item before it is read, and the exception of a stream that fails."""
        self._reader = StreamReader(start)
        self._next = cast("Callable[[], Message[Answer] | None]", self._reader.next_message)
        self._stopped: MessageState | None = None
        self._first = start.message

    @property
    def state(self) -> StreamState:
        """Where the stream stands, also after it was left, stopped or broken off; it can be saved and continued."""
        return self._reader.state if self._stopped is None else StreamState(self._stopped)

    @property
    def message(self) -> Message[Answer]:
        """The message so far."""
        return cast("Message[Answer]", self._message_state.message)

    @property
    def _message_state(self) -> MessageState:
        return self._reader.message_state if self._stopped is None else self._stopped

    def _end(self, error: BaseException, *, has_failed: bool) -> None:
        """Take in what the source raised; raise it again if it is a bug or an interrupt."""
        if not has_failed:
            self._reader.stop()
            raise error
        if self._note is not None:
            self._note(error)
        self._reader.fail(error)

    def _stop(self) -> None:
        self._stopped = stop_message(self._message_state)

    def _events(self) -> LoopStage[Message[Answer], MessageEvent]:
        start, _ = Progress("part").advance_all(self._first)
        stage: LoopStage[Any, Any] = EventStage(start, Progress.advance_all, lambda: self.message)
        return stage


class MessageStream(_StreamBase[Answer], Iterator["Message[Answer]"]):
    """An iterator of messages; leaving it as a context manager stops it, and the partial message stays."""

    def __init__(
        self, events: Iterable[object], start: StreamState, note: Callable[[object], object] | None = None
    ) -> None:
        super().__init__(start, note)
        self._puller = Puller(events)

    def __next__(self) -> Message[Answer]:
        reader, puller = self._reader, self._puller
        while self._stopped is None:
            if reader.needs_more:
                try:
                    item = next(puller.iterator)
                    if self._note is not None:
                        self._note(item)
                    reader.feed(item)
                except StopIteration:
                    reader.end()
                except BaseException as error:  # noqa: BLE001 - it is raised again unless the stream failed
                    self._end(error, has_failed=puller.has_failed(error))
                if self._stopped is not None:
                    puller.close()
            message = self._next()
            if self._stopped is None and message is not None:
                return message
            if reader.is_over and self._stopped is None:
                puller.leave()
                break
        raise StopIteration

    def events(self) -> Generator[MessageEvent]:
        """Yield what is new in each message, in order: text, arguments, calls, usage, and at last how it ended.

        What starts also ends, and only `CallFinished` has a call that may be run. If some of the stream was read
        before, the first events say at once what it brought.

        >>> from jsontide.messages import Finished, TextDelta
        >>> lines = [{"message": {"content": "Hi"}, "done": False}, {"message": {}, "done": True}]
        >>> for event in stream_message(lines).events():
        ...     match event:
        ...         case TextDelta(text=text):
        ...             print(text)
        ...         case Finished(outcome):
        ...             print(outcome.name)
        Hi
        COMPLETE
        """
        return drive(self, self._events())

    def text_deltas(self) -> Generator[str]:
        """Yield the new pieces of the text; they join to `content`."""
        return (event.text for event in self.events() if isinstance(event, TextDelta))

    def final(self) -> Message[Answer]:
        """Read to the end, and return the finished message."""
        for _ in self:
            pass
        return self.message

    def stop(self) -> Message[Answer]:
        """Stop pulling, close the source, and return the message, which is cancelled unless it was over."""
        self._stop()
        self._puller.close()
        return self.message

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


class AsyncMessageStream(_StreamBase[Answer], AsyncIterator["Message[Answer]"]):
    """The same for asynchronous streams; if the task that reads is cancelled, the partial message stays."""

    def __init__(
        self, events: AsyncIterable[object], start: StreamState, note: Callable[[object], object] | None = None
    ) -> None:
        super().__init__(start, note)
        self._puller = AsyncPuller(events)

    async def __anext__(self) -> Message[Answer]:
        reader, puller = self._reader, self._puller
        while self._stopped is None:
            if reader.needs_more:
                try:
                    item = await anext(puller.iterator)
                    if self._note is not None:
                        self._note(item)
                    reader.feed(item)
                except StopAsyncIteration:
                    reader.end()
                except BaseException as error:  # noqa: BLE001 - it is raised again unless the stream failed
                    self._end(error, has_failed=puller.has_failed(error))
                if self._stopped is not None:
                    await puller.close()
            message = self._next()
            if self._stopped is None and message is not None:
                return message
            if reader.is_over and self._stopped is None:
                await puller.leave()
                break
        raise StopAsyncIteration

    def events(self) -> AsyncGenerator[MessageEvent]:
        """Do as `MessageStream.events` does."""
        return adrive(self, self._events())

    def text_deltas(self) -> AsyncGenerator[str]:
        """Do as `MessageStream.text_deltas` does."""
        return (event.text async for event in self.events() if isinstance(event, TextDelta))

    async def final(self) -> Message[Answer]:
        """Read to the end, and return the finished message."""
        async for _ in self:
            pass
        return self.message

    async def stop(self) -> Message[Answer]:
        """Stop pulling, close the source, and return the message, which is cancelled unless it was over."""
        self._stop()
        await self._puller.close()
        return self.message

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.stop()
