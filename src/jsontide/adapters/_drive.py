"""Streams of chunks in, growing values out: the loops around the parser, sync and async."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from jsontide._errors import JsonStreamError
from jsontide._values import MISSING
from jsontide.adapters._chunks import Chunk, apulling, as_async_chunks, as_chunks, pulling
from jsontide.tree import create_parser_state, finalize, parse_chunk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable

    from jsontide._values import JsonValue
    from jsontide.tree import ParserState


def values(chunks: Chunk | Iterable[Chunk], state: ParserState | None = None) -> Generator[JsonValue]:
    """Yield the growing value after each chunk that changed it, beginning from `state` if one is given.

    Raises `JsonStreamError` when the text is wrong, or not complete at its end, after yielding what it showed.

    >>> list(values(['{"city": "Kyo', 'to"', ', "days": 3}']))
    [{'city': 'Kyo'}, {'city': 'Kyoto'}, {'city': 'Kyoto', 'days': 3}]
    """
    state = create_parser_state() if state is None else state
    with pulling(as_chunks(chunks)) as source:
        for chunk in source:
            before, state = state, parse_chunk(state, chunk)
            yield from _growth(before, state)
            _raise_error(state)
    before, state = state, finalize(state)
    yield from _growth(before, state)
    _raise_error(state)


async def avalues(chunks: AsyncIterable[Chunk], state: ParserState | None = None) -> AsyncGenerator[JsonValue]:
    """Do as `values` does, for an asynchronous stream of chunks."""
    state = create_parser_state() if state is None else state
    async with apulling(as_async_chunks(chunks)) as source:
        async for chunk in source:
            before, state = state, parse_chunk(state, chunk)
            for value in _growth(before, state):
                yield value
            _raise_error(state)
    before, state = state, finalize(state)
    for value in _growth(before, state):
        yield value
    _raise_error(state)


def loads(chunks: Chunk | Iterable[Chunk], state: ParserState | None = None) -> JsonValue:
    """Return the value of a whole text, given at once or in chunks; raise `JsonStreamError` if it is wrong.

    >>> loads(["[1, 2", "3]"]), loads(b"null")
    ([1, 23], None)
    """
    state = create_parser_state() if state is None else state
    with pulling(as_chunks(chunks)) as source:
        for chunk in source:
            state = parse_chunk(state, chunk)
            _raise_error(state)
    state = finalize(state)
    _raise_error(state)
    return cast("JsonValue", state.value)


def _growth(before: ParserState, state: ParserState) -> tuple[JsonValue, ...]:
    """Return the value if it changed; for a single `yield from`."""
    value = state.value
    return () if value is MISSING or value is before.value else (value,)


def _raise_error(state: ParserState) -> None:
    if state.error is not None:
        raise JsonStreamError(state.error)
