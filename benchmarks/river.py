"""jsonriver without an event loop: its stream waits for a chunk, and a feed brings one.

In: chunks, one at a time. Out: the last value that the parser yielded.
Rule: a loop like asyncio's would cost more than the parser; here a feed resumes it at once.
"""

from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

from benchmarks.works import Feed


class Pause:
    def __await__(self) -> Generator[None, None, None]:
        yield


class Inbox:
    """An asynchronous stream of chunks that pauses whoever reads it while it is empty."""

    def __init__(self) -> None:
        self.chunk = ""

    def __aiter__(self) -> "Inbox":
        return self

    async def __anext__(self) -> str:
        while not self.chunk:
            await Pause()
        chunk, self.chunk = self.chunk, ""
        return chunk


def river_feed(parse: Callable[[Inbox], AsyncIterator[object]]) -> Feed:
    inbox = Inbox()
    values = parse(inbox)
    waiting: Any = values.__anext__()
    value: object = None

    def feed(chunk: str) -> object:
        nonlocal waiting, value
        inbox.chunk = chunk
        while True:
            try:
                waiting.send(None)
            except StopIteration as yielded:
                value = yielded.value
                waiting = values.__anext__()
            else:
                return value

    return feed
