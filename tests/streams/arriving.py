"""Sources for loops: items that arrive one after the other, and generators that count pulls and know their end."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any


async def arriving(items: Iterable[Any]) -> AsyncIterator[Any]:
    for item in items:
        await asyncio.sleep(0)
        yield item


class Source:
    """Generators of both kinds; closing an asynchronous one takes a while."""

    def __init__(self, chunks: Iterable[Any]) -> None:
        self.chunks = chunks
        self.pulled = 0
        self.is_closed = False

    def __iter__(self) -> Iterator[Any]:
        try:
            for chunk in self.chunks:
                self.pulled += 1
                yield chunk
        finally:
            self.is_closed = True

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            for chunk in self.chunks:
                self.pulled += 1
                await asyncio.sleep(0)
                yield chunk
        finally:
            await asyncio.sleep(0)
            self.is_closed = True
