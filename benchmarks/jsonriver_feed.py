"""jsonriver without an event loop: its stream waits for a chunk, and a feed brings one.

In: chunks, one at a time. Out: the last value that the parser yielded.
Rule: a loop like asyncio's would cost more than the parser; here a feed resumes it at once.
"""

from collections.abc import AsyncIterator, Callable, Generator
from types import coroutine
from typing import Any

from benchmarks.kinds import Feed


@coroutine
def pause() -> Generator[None, None, None]:
    yield


def start_jsonriver(parse: Callable[[AsyncIterator[str]], AsyncIterator[object]]) -> Feed:
    inbox: list[str] = []

    async def chunks() -> AsyncIterator[str]:
        while True:
            while not inbox:
                await pause()
            yield inbox.pop()

    values = parse(chunks())
    waiting: Any = values.__anext__()
    value: object = None

    def feed(chunk: str) -> object:
        nonlocal waiting, value
        inbox.append(chunk)
        while True:
            try:
                waiting.send(None)
            except StopIteration as yielded:
                value = yielded.value
                waiting = values.__anext__()
            else:
                return value

    return feed
