"""What callers pass as chunks in, a stream of chunks out, or `TypeError`.

Rule: nothing is pulled from a stream to find out what it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping
from typing import cast


def as_chunks(chunks: str | bytes | Iterable[str | bytes]) -> Iterable[str | bytes]:
    """Take a single text for a stream of one chunk, and not for one of its characters."""
    if isinstance(chunks, str | bytes | bytearray | memoryview):
        return (cast("str | bytes", chunks),)
    if isinstance(chunks, Mapping) or not isinstance(chunks, Iterable):  # its keys are no chunks
        message = f"chunks must be a text or an iterable of str or bytes, not {type(chunks).__name__}"
        raise TypeError(message)
    return chunks


def as_async_chunks(chunks: AsyncIterable[str | bytes]) -> AsyncIterable[str | bytes]:
    if not isinstance(chunks, AsyncIterable):
        message = f"chunks must be an asynchronous iterable of str or bytes, not {type(chunks).__name__}"
        raise TypeError(message)
    return chunks
