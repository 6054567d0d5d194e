"""What people pass as the source of a turn in, something to read out, and all of it closed at the end.

Rule: one task opens, reads and closes a source, however it ends, so that a source may use what belongs to its task,
such as a timeout.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeAlias, cast

from jsontide.adapters import AsyncMessageStream
from jsontide.encoders import Growing
from jsontide.messages import Message
from jsontide.tree import ParserState

Items: TypeAlias = AsyncIterable[Message[Any]] | AsyncIterable[ParserState]
Source: TypeAlias = Items | Awaitable[Items] | Callable[[], Items | Awaitable[Items]]
"""Where a turn comes from: an asynchronous iterable of messages or states of a parser, or what gives one."""


def check_source(source: object) -> None:
    """Refuse what is certainly no source; what a function returns is known when it is called."""
    if not isinstance(source, AsyncIterable | Awaitable) and not callable(source):
        raise TypeError(_describe("source", source))


def _describe(name: str, found: object) -> str:
    expected = f"{name} must be an asynchronous iterable of messages or parser states"
    hint = "; a plain one would block the server: use astream_message or astates" if isinstance(found, Iterable) else ""
    return f"{expected}, not {type(found).__name__}{hint}"


@asynccontextmanager
async def opened(source: Source) -> AsyncGenerator[AsyncIterator[Growing]]:
    """Open a source to read from; all of it is closed at the end."""
    found: object = source
    if not isinstance(found, AsyncIterable | Awaitable):
        found = cast("Callable[[], object]", found)()
    if isinstance(found, Awaitable):
        found = await found
    if not isinstance(found, AsyncIterable):
        raise TypeError(_describe("what the source gives", found))
    async with AsyncExitStack() as last_first:
        last_first.push_async_callback(_close, found)
        items = aiter(found)
        if items is not found:
            last_first.push_async_callback(_close, items)
        yield items


async def discard(source: Source) -> None:
    """Close a source that nobody will read."""
    if isinstance(source, Coroutine):
        source.close()
    else:
        await _close(source)


async def _close(found: object) -> None:
    if isinstance(found, AsyncMessageStream):
        await found.stop()
        return
    close = getattr(found, "aclose", None)
    if close is not None:
        await close()


def check_growing(found: object) -> None:
    """Refuse what a source gave if it is neither a message nor a state."""
    if not isinstance(found, Message | ParserState):
        message = f"a source must give messages or parser states, not {type(found).__name__}"
        raise TypeError(message)
