"""What callers pass as a source in, its items out, one pulled when it is asked for; or `TypeError`.

The plain loops take plain iterables and their twins, whose names begin with an `a`, asynchronous ones.
Rule: nothing is pulled from a source to find out what it is.
A generator belongs to the loop that it was given to, and is closed when that loop ends, however it ends.
Anything else that can be closed, such as a file or a response, is closed only if somebody stops the loop.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar, cast

from jsontide._values import Chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PLAIN: Final = (
    ("iter_bytes", "pass its iter_bytes()"),
    ("__enter__", "enter it first: with ... as source"),
    ("aiter_bytes", "its aiter_bytes() is asynchronous"),
    ("__aenter__", "enter it first: async with ... as source"),
)
"""Methods of what clients return, and what to do with it: a response, or what opens a stream."""
_ASYNC: Final = (
    ("aiter_bytes", "pass its aiter_bytes()"),
    ("__aenter__", "enter it first: async with ... as source"),
    ("iter_bytes", "its iter_bytes() is not asynchronous"),
    ("__enter__", "enter it first: with ... as source"),
)
_Item = TypeVar("_Item")
_Iterator = TypeVar("_Iterator")
_Input_contra = TypeVar("_Input_contra", contravariant=True)
_Output_co = TypeVar("_Output_co", covariant=True)
_Progress = TypeVar("_Progress")
_Growing = TypeVar("_Growing")
_Event = TypeVar("_Event")


class _BasePuller(Generic[_Iterator]):
    """An iterator, and what to close when the loop is stopped: the iterator, and the source that it came from."""

    def __init__(self, given: object, iterator: _Iterator) -> None:
        self.iterator: Final = iterator
        self._is_closed = False
        self._to_close: list[object] = [iterator] if iterator is given else [iterator, given]

    def has_failed(self, error: BaseException) -> bool:
        """Return whether an exception of the iterator ends the stream; any other is a bug or an interrupt.

        A source that was closed while it was read may raise anything.
        """
        if self._is_closed or not isinstance(error, Exception):
            return isinstance(error, Exception)
        from jsontide.streams.transport import is_transport  # noqa: PLC0415 - it knows clients, which few loops need

        return is_transport(error)

    def _closers(self, *names: str) -> list[Callable[[], object]]:
        """Return what closes all that can be closed now, each once, by the first of the names that it has.

        A generator that is being waited for cannot be closed meanwhile; whoever waits closes it then.
        """
        self._is_closed = True
        running: list[object] = []
        found: list[object] = []
        for one in self._to_close:
            is_running = getattr(one, "ag_running", False) or getattr(one, "gi_running", False)
            (running if is_running else found).append(one)
        self._to_close = running
        closers = (next(filter(callable, (getattr(one, name, None) for name in names)), None) for one in found)
        return [close for close in closers if close is not None]


class Puller(_BasePuller["Iterator[_Item]"]):
    """Pulls from an iterable; leaving it as a context manager closes a generator."""

    def __init__(self, items: Iterable[_Item]) -> None:
        super().__init__(items, iter(items))

    def __enter__(self) -> Iterator[_Item]:
        return self.iterator

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Close a generator; anything else stays open."""
        if isinstance(self.iterator, Generator):
            self.iterator.close()

    def close(self) -> None:
        """Close whatever can be closed, the iterator first."""
        with ExitStack() as last_first:
            for close in reversed(self._closers("close")):
                last_first.callback(close)


class AsyncPuller(_BasePuller["AsyncIterator[_Item]"]):
    """Does what `Puller` does for an asynchronous iterable."""

    def __init__(self, items: AsyncIterable[_Item]) -> None:
        super().__init__(items, aiter(items))

    async def __aenter__(self) -> AsyncIterator[_Item]:
        return self.iterator

    async def __aexit__(self, *_: object) -> None:
        await self.leave()

    async def leave(self) -> None:
        """Close a generator; anything else stays open."""
        if isinstance(self.iterator, AsyncGenerator):
            await self.iterator.aclose()

    async def close(self) -> None:
        """Close whatever can be closed, the iterator first."""
        async with AsyncExitStack() as last_first:
            for close in reversed(self._closers("aclose", "close")):
                last_first.push_async_callback(_await, close)


async def _await(close: Callable[[], object]) -> None:
    closing = close()
    if isinstance(closing, Awaitable):
        await cast("Awaitable[object]", closing)


class LoopStage(Protocol[_Input_contra, _Output_co]):
    """What a loop does with each input, and with the end: outputs first, then it raises errors."""

    @property
    def is_over(self) -> bool:
        """Whether nothing that may still come matters, so that no more is pulled."""

    def add(self, item: _Input_contra, /) -> Iterable[_Output_co]: ...
    def finish(self) -> Iterable[_Output_co]: ...


class EventStage(Generic[_Progress, _Growing, _Event]):
    """Says what is new in each value of a stream, and in the last one."""

    is_over: bool = False

    def __init__(
        self,
        start: _Progress,
        advance: Callable[[_Progress, _Growing], tuple[_Progress, list[_Event]]],
        last: Callable[[], _Growing],
    ) -> None:
        self._progress = start
        self._advance = advance
        self._last = last

    def add(self, growing: _Growing) -> list[_Event]:
        self._progress, events = self._advance(self._progress, growing)
        return events

    def finish(self) -> list[_Event]:
        return self.add(self._last())


def drive(source: Iterable[_Input_contra], stage: LoopStage[_Input_contra, _Output_co]) -> Generator[_Output_co]:
    """Yield what a stage makes of a source."""
    with Puller(source) as items:
        for item in items:
            yield from stage.add(item)
            if stage.is_over:
                break
    yield from stage.finish()


async def adrive(
    source: AsyncIterable[_Input_contra], stage: LoopStage[_Input_contra, _Output_co]
) -> AsyncGenerator[_Output_co]:
    """Like `drive`, but for an asynchronous source."""
    async with AsyncPuller(source) as items:
        async for item in items:
            for output in stage.add(item):
                yield output
            if stage.is_over:
                break
    for output in stage.finish():
        yield output


def as_chunks(chunks: Chunk | Iterable[Chunk], twin: str) -> Iterable[Chunk]:
    """Take a single text for a stream of one chunk, and not for one of its characters."""
    if isinstance(chunks, Chunk):
        return (chunks,)
    check_plain(chunks, "chunks must be a text or an iterable of str or bytes", twin)
    return chunks


def as_items(source: object, twin: str) -> Iterable[object]:
    """Take a single text for a stream of one chunk; any other iterable may have chunks or events."""
    if isinstance(source, Chunk):
        return (source,)
    check_plain(source, "chunks must be a text, or an iterable of str, bytes or events", twin)
    return cast("Iterable[object]", source)


def as_async_chunks(chunks: AsyncIterable[Chunk], twin: str) -> AsyncIterable[Chunk]:
    check_async(chunks, "chunks must be an asynchronous iterable of str or bytes", twin)
    return chunks


def check_plain(source: object, expected: str, twin: str) -> None:
    """Refuse what has no items to pull, and name what to do with it."""
    if not isinstance(source, Iterable) or isinstance(source, Chunk | Mapping):
        hint = _hint_at(source, _PLAIN) or f"{twin} takes asynchronous ones"
        raise TypeError(f"{expected}, not {type(source).__name__}; {hint}")


def check_async(source: object, expected: str, twin: str) -> None:
    """Refuse what cannot be pulled from asynchronously, and name what to do with it."""
    if not isinstance(source, AsyncIterable):
        hint = _hint_at(source, _ASYNC) or f"{twin} takes plain ones"
        raise TypeError(f"{expected}, not {type(source).__name__}; {hint}")


def _hint_at(source: object, methods: Sequence[tuple[str, str]]) -> str:
    """Return what to do with a source that must be awaited, entered or asked for its bytes first."""
    if isinstance(source, Awaitable):
        return "await it first"
    if type(source).__module__.startswith("aiohttp.") and hasattr(source, "content"):
        return "pass its content to the loop for asynchronous sources"
    for name, hint in methods:
        if callable(getattr(source, name, None)):
            return hint
    return ""
