"""Streams of chunks in, growing values out: the loops around the parser, sync and async."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from jsontide._errors import JsonStreamError
from jsontide._values import MISSING
from jsontide.adapters._chunks import Chunk, adrive, afirst, as_async_chunks, as_chunks, drive, first
from jsontide.tree import create_parser_state, finalize, parse_chunk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Coroutine, Generator, Iterable, Iterator

    from jsontide._values import JsonValue
    from jsontide.tree import ParserState


def values(chunks: Chunk | Iterable[Chunk], state: ParserState | None = None) -> Generator[JsonValue]:
    """Yield the growing value after each chunk that changed it, beginning from `state` if one is given.

    Raises `JsonStreamError` when the text is wrong, or not complete at its end, after yielding what it showed.

    >>> list(values(['{"city": "Kyo', 'to"', ', "days": 3}']))
    [{'city': 'Kyo'}, {'city': 'Kyoto'}, {'city': 'Kyoto', 'days': 3}]
    """
    return drive(as_chunks(chunks, "avalues"), _Growing(state))


def avalues(chunks: AsyncIterable[Chunk], state: ParserState | None = None) -> AsyncGenerator[JsonValue]:
    """Like `values`, but for an asynchronous stream of chunks."""
    return adrive(as_async_chunks(chunks, "values"), _Growing(state))


def loads(chunks: Chunk | Iterable[Chunk], state: ParserState | None = None) -> JsonValue:
    """Return the value of a whole text, given at once or in chunks; raise `JsonStreamError` if it is wrong.

    >>> loads(["[1, 2", "3]"]), loads(b"null")
    ([1, 23], None)
    """
    return cast("JsonValue", first(drive(as_chunks(chunks, "aloads"), _Whole(state))))


def aloads(chunks: AsyncIterable[Chunk], state: ParserState | None = None) -> Coroutine[object, None, JsonValue]:
    """Like `loads`, but for an asynchronous stream of chunks."""
    found = afirst(adrive(as_async_chunks(chunks, "loads"), _Whole(state)))
    return cast("Coroutine[object, None, JsonValue]", found)


class _Whole:
    """Shows nothing before the end, and then the value."""

    def __init__(self, state: ParserState | None) -> None:
        self._state = create_parser_state() if state is None else state

    def add(self, chunk: Chunk) -> tuple[JsonValue, ...]:
        self._state = parse_chunk(self._state, chunk)
        _raise_error(self._state)
        return ()

    def finish(self) -> tuple[JsonValue, ...]:
        self._state = finalize(self._state)
        _raise_error(self._state)
        return (cast("JsonValue", self._state.value),)


class _Growing:
    """Shows the value whenever it has changed."""

    def __init__(self, state: ParserState | None) -> None:
        self._state = create_parser_state() if state is None else state

    def add(self, chunk: Chunk) -> Iterator[JsonValue]:
        return self._advance(parse_chunk(self._state, chunk))

    def finish(self) -> Iterator[JsonValue]:
        return self._advance(finalize(self._state))

    def _advance(self, state: ParserState) -> Iterator[JsonValue]:
        before, self._state = self._state, state
        value = state.value
        if value is not MISSING and value is not before.value:
            yield value
        _raise_error(state)


def _raise_error(state: ParserState) -> None:
    if state.error is not None:
        raise JsonStreamError(state.error)
