"""What callers pass as chunks in, a stream of chunks out, or `TypeError`; and the one way in which loops pull from it.

Rule: nothing is pulled from a stream to find out what it is.
A generator belongs to the loop that it was given to, and is closed when that loop ends, however it ends.
Anything else that can be closed, such as a file or a response, stays with whoever opened it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Mapping
from contextlib import aclosing, closing, nullcontext
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

Chunk: TypeAlias = str | bytes | bytearray | memoryview
"""A piece of text, cut anywhere."""

_Item = TypeVar("_Item")


def as_chunks(chunks: Chunk | Iterable[Chunk]) -> Iterable[Chunk]:
    """Take a single text for a stream of one chunk, and not for one of its characters."""
    if isinstance(chunks, Chunk):
        return (chunks,)
    if not isinstance(chunks, Iterable) or isinstance(chunks, Mapping):  # its keys are no text
        message = f"chunks must be a text or an iterable of str or bytes, not {type(chunks).__name__}"
        raise TypeError(message)
    return chunks


def as_async_chunks(chunks: AsyncIterable[Chunk]) -> AsyncIterable[Chunk]:
    if not isinstance(chunks, AsyncIterable):
        message = f"chunks must be an asynchronous iterable of str or bytes, not {type(chunks).__name__}"
        raise TypeError(message)
    return chunks


def pulling(source: Iterable[_Item]) -> AbstractContextManager[Iterator[_Item]]:
    """Return a context with the iterator to pull from; leaving it closes a generator."""
    iterator = iter(source)
    return closing(iterator) if isinstance(iterator, Generator) else nullcontext(iterator)


def apulling(source: AsyncIterable[_Item]) -> AbstractAsyncContextManager[AsyncIterator[_Item]]:
    """Do as `pulling` does, for an asynchronous source."""
    iterator = aiter(source)
    return aclosing(iterator) if isinstance(iterator, AsyncGenerator) else nullcontext(iterator)
