"""What programs hold while a run grows, and `stream_run`: a stream of several messages in, the growing run out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from jsontide._values import Chunk
from jsontide.messages import MessageConfig
from jsontide.messages.options import check_names
from jsontide.messages.progress import TextDelta
from jsontide.providers.registry import is_whole
from jsontide.runs.lanes import RunReader
from jsontide.runs.progress import RunEvent, RunProgress
from jsontide.runs.run import Run
from jsontide.streams import ReadingChoices
from jsontide.streams.sources import AsyncPuller, EventStage, LoopStage, Puller, adrive, check_async, check_plain, drive

if TYPE_CHECKING:
    from typing import Self, Unpack

Answer = TypeVar("Answer")


class RunChoices(ReadingChoices, total=False):
    """The options of `stream_run`, as keyword arguments: those of `MessageConfig`, for all messages."""

    response_schema: object
    """What the answers must be."""


class GrowingRun(ABC, Generic[Answer]):
    """What all streams of runs have."""

    _first: Run[Any] = Run()
    """The run before the stream."""

    @property
    @abstractmethod
    def run(self) -> Run[Answer]:
        """The run so far."""

    def _events(self) -> LoopStage[Run[Answer], RunEvent]:
        start, _ = RunProgress().advance(self._first)
        return EventStage({self._first.id: start}, _advance, lambda: self.run)


_Progress = dict[str | None, RunProgress]
"""By the id of the run."""


def _advance(progress: _Progress, run: Run[Any]) -> tuple[_Progress, list[RunEvent]]:
    after, events = progress.get(run.id, RunProgress()).advance(run)
    return {**progress, run.id: after}, events


class RunIterator(GrowingRun[Answer], Iterator[Run[Answer]]):
    """An iterator of runs; leaving it as a context manager stops it, and the partial run stays."""

    @abstractmethod
    def stop(self) -> Run[Answer]:
        """Stop, and return the run, which is cancelled unless it was over."""

    def events(self) -> Generator[RunEvent]:
        """Yield what is new each time the run changed, in order: steps, what is new in their messages, and results.

        `Finished` says how the run ended, and comes once. What a saved run had before is left out.
        """
        return drive(self, self._events())

    def text_deltas(self) -> Generator[str]:
        """Yield the new pieces of the text, of one message after the other."""
        return (event.text for event in self.events() if isinstance(event, TextDelta))

    def final(self) -> Run[Answer]:
        """Go on to the end, and return the finished run."""
        for _ in self:
            pass
        return self.run

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class AsyncRunIterator(GrowingRun[Answer], AsyncIterator[Run[Answer]]):
    """An asynchronous iterator of runs; leaving it as a context manager stops it, and the partial run stays."""

    @abstractmethod
    async def stop(self) -> Run[Answer]:
        """Stop, and return the run, which is cancelled unless it was over."""

    def events(self) -> AsyncGenerator[RunEvent]:
        """Do as `RunIterator.events` does."""
        return adrive(self, self._events())

    def text_deltas(self) -> AsyncGenerator[str]:
        """Do as `RunIterator.text_deltas` does."""
        return (event.text async for event in self.events() if isinstance(event, TextDelta))

    async def final(self) -> Run[Answer]:
        """Go on to the end, and return the finished run."""
        async for _ in self:
            pass
        return self.run

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


def stream_run(source: Iterable[object], **options: Unpack[RunChoices]) -> RunStream[Any]:
    """Yield the run each time an event changed it, of a stream that holds several messages.

    `source` is what a client streams, or raw bytes: the events of a WebSocket of Responses, what the Claude Agent SDK
    gives, the lines of `claude --output-format stream-json`, or streams of any provider one after the other. Tools ran
    elsewhere: their results are shown where the stream has them, and nothing is run.
    The options are those of `stream_message`. If several runs share a stream, each has its `stream_id` or `session_id`
    as its id.

    >>> lines = [{"message": {"content": one}, "done": True, "done_reason": "stop"} for one in ("Hi", "Ho")]
    >>> run = stream_run(lines).final()
    >>> run.outcome.name, [step.message.content for step in run.steps]
    ('COMPLETE', ['Hi', 'Ho'])
    """
    if isinstance(source, Chunk) or is_whole(source):
        source = (source,)
    check_plain(source, "source must be an iterable of events or chunks", "astream_run")
    return RunStream(source, _configure(options))


def astream_run(source: AsyncIterable[object], **options: Unpack[RunChoices]) -> AsyncRunStream[Any]:
    """Do as `stream_run` does, for an asynchronous stream."""
    check_async(source, "source must be an asynchronous iterable of events or chunks", "stream_run")
    return AsyncRunStream(source, _configure(options))


def _configure(options: RunChoices) -> MessageConfig:
    check_names(options, RunChoices)
    return MessageConfig(**cast("Any", options))


class _Reading(GrowingRun[Answer]):
    """What both forms of `stream_run` hold."""

    def __init__(self, config: MessageConfig) -> None:
        self._reader = RunReader(config)
        self._found: deque[Run[Any]] = deque()
        """What was read, and not yet asked for."""

    @property
    def runs(self) -> tuple[Run[Answer], ...]:
        """All runs of the stream so far, in the order in which they began."""
        return self._reader.runs

    @property
    def run(self) -> Run[Answer]:
        """The run so far; if there are several, the first."""
        return next(iter(self.runs), Run())

    def _stop(self) -> None:
        self._found.clear()
        self._reader.stop()

    def _take_error(self, error: BaseException, *, has_failed: bool) -> None:
        """Take in what the source raised; raise it again if it is a bug or an interrupt."""
        if not has_failed:
            self._stop()
            raise error
        self._found += self._reader.fail(error)


class RunStream(_Reading[Answer], RunIterator[Answer]):
    """The runs of a stream of several messages."""

    def __init__(self, source: Iterable[object], config: MessageConfig) -> None:
        super().__init__(config)
        self._puller = Puller(source)

    def __next__(self) -> Run[Answer]:
        while not self._found and not self._reader.is_over:
            try:
                self._found += self._reader.feed(next(self._puller.iterator))
            except StopIteration:
                self._found += self._reader.finish()
            except BaseException as error:  # noqa: BLE001 - it is raised again unless the stream failed
                self._take_error(error, has_failed=self._puller.has_failed(error))
            if self._reader.is_over:
                self._puller.leave()
        if self._found:
            return self._found.popleft()
        raise StopIteration

    def stop(self) -> Run[Answer]:
        """Stop pulling, close the source, and return the run, which is cancelled unless it was over."""
        self._stop()
        self._puller.close()
        return self.run


class AsyncRunStream(_Reading[Answer], AsyncRunIterator[Answer]):
    """The same for asynchronous streams."""

    def __init__(self, source: AsyncIterable[object], config: MessageConfig) -> None:
        super().__init__(config)
        self._puller = AsyncPuller(source)

    async def __anext__(self) -> Run[Answer]:
        while not self._found and not self._reader.is_over:
            try:
                self._found += self._reader.feed(await anext(self._puller.iterator))
            except StopAsyncIteration:
                self._found += self._reader.finish()
            except BaseException as error:  # noqa: BLE001 - it is raised again unless the stream failed
                self._take_error(error, has_failed=self._puller.has_failed(error))
            if self._reader.is_over:
                await self._puller.leave()
        if self._found:
            return self._found.popleft()
        raise StopAsyncIteration

    async def stop(self) -> Run[Answer]:
        """Stop pulling, close the source, and return the run, which is cancelled unless it was over."""
        self._stop()
        await self._puller.close()
        return self.run
