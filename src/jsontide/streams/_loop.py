"""What callers pass as a source in, something to pull from out, or `TypeError`; and the one way in which loops pull.

The plain loops take plain iterables and their twins, whose names begin with an `a`, asynchronous ones.
Rule: nothing is pulled from a source to find out what it is.
A generator belongs to the loop that it was given to, and is closed when that loop ends, however it ends.
Anything else that can be closed, such as a file or a response, stays with whoever opened it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Generator, Iterable, Mapping, Sequence
from contextlib import aclosing, closing, nullcontext
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, cast

from jsontide._values import MISSING, Chunk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

    from jsontide._values import Missing

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
_Input_contra = TypeVar("_Input_contra", contravariant=True)
_Output_co = TypeVar("_Output_co", covariant=True)


class Stage(Protocol[_Input_contra, _Output_co]):
    """What a loop does with each input, and with the end: outputs first, then what is wrong raises."""

    def add(self, item: _Input_contra, /) -> Iterable[_Output_co]: ...
    def finish(self) -> Iterable[_Output_co]: ...


def drive(source: Iterable[_Input_contra], stage: Stage[_Input_contra, _Output_co]) -> Generator[_Output_co]:
    """Yield what a stage makes of a source."""
    with _pulling(source) as items:
        for item in items:
            yield from stage.add(item)
    yield from stage.finish()


async def adrive(
    source: AsyncIterable[_Input_contra], stage: Stage[_Input_contra, _Output_co]
) -> AsyncGenerator[_Output_co]:
    """Like `drive`, but for an asynchronous source."""
    async with _apulling(source) as items:
        async for item in items:
            for output in stage.add(item):
                yield output
    for output in stage.finish():
        yield output


def first(found: Generator[_Item]) -> _Item | Missing:
    """Return the first of what a loop finds, and end the loop."""
    with closing(found):
        return next(found, MISSING)


async def afirst(found: AsyncGenerator[_Item]) -> _Item | Missing:
    """Like `first`, but for an asynchronous loop."""
    async with aclosing(found):
        return await anext(found, MISSING)


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
    """Refuse what has no items to pull, saying what to do with it."""
    if not isinstance(source, Iterable) or isinstance(source, Chunk | Mapping):
        hint = _hint_at(source, _PLAIN) or f"{twin} takes asynchronous ones"
        message = f"{expected}, not {type(source).__name__}; {hint}"
        raise TypeError(message)


def check_async(source: object, expected: str, twin: str) -> None:
    """Refuse what cannot be pulled from asynchronously, saying what to do with it."""
    if not isinstance(source, AsyncIterable):
        hint = _hint_at(source, _ASYNC) or f"{twin} takes plain ones"
        message = f"{expected}, not {type(source).__name__}; {hint}"
        raise TypeError(message)


def check_chunk(chunk: object) -> None:
    """Refuse what is no text, naming the loops that read events."""
    if not isinstance(chunk, Chunk):
        message = (
            f"a chunk must be str, bytes, bytearray or memoryview, not {type(chunk).__name__}; stream_message and "
            "stream_model read the events of a provider"
        )
        raise TypeError(message)


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


def _pulling(source: Iterable[_Item]) -> AbstractContextManager[Iterator[_Item]]:
    """Return a context with the iterator to pull from; leaving it closes a generator."""
    iterator = iter(source)
    return closing(iterator) if isinstance(iterator, Generator) else nullcontext(iterator)


def _apulling(source: AsyncIterable[_Item]) -> AbstractAsyncContextManager[AsyncIterator[_Item]]:
    iterator = aiter(source)
    return aclosing(iterator) if isinstance(iterator, AsyncGenerator) else nullcontext(iterator)
