"""What callers pass as chunks in, a stream of chunks out, or `TypeError`.

Rule: nothing is pulled from a stream to find out what it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping
from typing import TypeAlias

Chunk: TypeAlias = str | bytes | bytearray | memoryview
"""A piece of text, cut anywhere."""


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
