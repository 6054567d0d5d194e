"""Streams of chunks in, growing values or the parser's states out: the loops around the parser, sync and async."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from jsontide._values import MISSING, Chunk
from jsontide.streams._mended import mended, raise_error
from jsontide.streams.sources import adrive, afirst, as_async_chunks, as_chunks, drive, first
from jsontide.tree import ParserState, create_parser_state, finalize, parse_chunk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine, Generator, Iterable, Iterator

    from jsontide._errors import ParserError
    from jsontide._values import JsonValue
    from jsontide.mend import Mending, Repair
    from jsontide.streams._mended import TextStage
    from jsontide.streams.sources import LoopStage

_Found = TypeVar("_Found")


def values(
    chunks: Chunk | Iterable[Chunk],
    state: ParserState | None = None,
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> Generator[JsonValue]:
    """Yield the growing value after each chunk that changed it, beginning from `state` if one is given.

    With `mend`, bad JSON is mended as `jsontide.mend` says, and `on_repair` is called with each repair as it happens.
    Raises `JsonStreamError` when the text is wrong, or not complete at its end, after yielding what it showed.

    >>> list(values(['{"city": "Kyo', 'to"', ', "days": 3}']))
    [{'city': 'Kyo'}, {'city': 'Kyoto'}, {'city': 'Kyoto', 'days': 3}]
    >>> from jsontide.mend import MODELS
    >>> list(values(["Sure: {city: 'Kyo", "to'}"], mend=MODELS, on_repair=lambda repair: print(repair.kind.value)))
    prose
    unquoted key
    quotes
    quotes
    [{'city': 'Kyo'}, {'city': 'Kyoto'}]
    """
    return drive(as_chunks(chunks, "avalues"), _stage(_Growing, state, mend, on_repair))


def avalues(
    chunks: AsyncIterable[Chunk],
    state: ParserState | None = None,
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> AsyncGenerator[JsonValue]:
    """Like `values`, but for an asynchronous stream of chunks."""
    return adrive(as_async_chunks(chunks, "values"), _stage(_Growing, state, mend, on_repair))


def loads(
    chunks: Chunk | Iterable[Chunk],
    state: ParserState | None = None,
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> JsonValue:
    """Return the value of a whole text, given at once or in chunks; raise `JsonStreamError` if it is wrong.

    With `mend`, bad JSON is mended as `jsontide.mend` says, and `on_repair` is called with each repair.

    >>> loads(["[1, 2", "3]"]), loads(b"null")
    ([1, 23], None)
    """
    return cast("JsonValue", first(drive(as_chunks(chunks, "aloads"), _stage(_Whole, state, mend, on_repair))))


def aloads(
    chunks: AsyncIterable[Chunk],
    state: ParserState | None = None,
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> Coroutine[object, None, JsonValue]:
    """Like `loads`, but for an asynchronous stream of chunks."""
    found = afirst(adrive(as_async_chunks(chunks, "loads"), _stage(_Whole, state, mend, on_repair)))
    return cast("Coroutine[object, None, JsonValue]", found)


def states(
    chunks: Chunk | Iterable[Chunk],
    state: ParserState | None = None,
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> Generator[ParserState]:
    """Yield the parser's state after each chunk, and after the end of the text, beginning from `state` if one is given.

    This is what `jsontide.frontends` and `jsontide.frontends` read changes from.
    With `mend`, the states are those of the mended text, one for each chunk that brought some of it.
    Raises `JsonStreamError` when the text is wrong, or not complete at its end, after yielding the state that says so;
    with `mend` the exception alone says what cannot be mended, and that a value broke off.

    >>> [(state.value, state.is_complete) for state in states(["[1, 2", "3]"])]
    [([1], False), ([1, 23], True), ([1, 23], True)]
    """
    return drive(as_chunks(chunks, "astates"), _stage(_States, state, mend, on_repair))


def astates(
    chunks: AsyncIterable[Chunk],
    state: ParserState | None = None,
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> AsyncGenerator[ParserState]:
    """Like `states`, but for an asynchronous stream of chunks."""
    return adrive(as_async_chunks(chunks, "states"), _stage(_States, state, mend, on_repair))


def _stage(
    kind: Callable[[ParserState], TextStage[_Found]],
    state: ParserState | None,
    mend: Mending | None,
    on_repair: Callable[[Repair], object] | None,
) -> LoopStage[Chunk, _Found]:
    if mend is not None and isinstance(state, ParserState) and state.index:
        message = "a state that has read text cannot go on with mend: its text may need repairs too"
        raise ValueError(message)
    return mended(kind(create_parser_state() if state is None else state), mend, on_repair)


class _Parsing:
    """Holds the newest state of a parser."""

    place: Callable[[ParserError], ParserError] | None = None

    def __init__(self, state: ParserState) -> None:
        self._state = state

    def find_end_error(self) -> ParserError | None:
        return finalize(self._state).error


class _Whole(_Parsing):
    """Shows nothing before the end, and then the value."""

    def add(self, chunk: Chunk) -> tuple[JsonValue, ...]:
        self._state = parse_chunk(self._state, chunk)
        raise_error(self._state.error, self.place)
        return ()

    def finish(self) -> tuple[JsonValue, ...]:
        self._state = finalize(self._state)
        raise_error(self._state.error, self.place)
        return (cast("JsonValue", self._state.value),)


class _Growing(_Parsing):
    """Shows the value whenever it has changed."""

    def add(self, chunk: Chunk) -> Iterator[JsonValue]:
        return self._advance(parse_chunk(self._state, chunk))

    def finish(self) -> Iterator[JsonValue]:
        return self._advance(finalize(self._state))

    def _advance(self, state: ParserState) -> Iterator[JsonValue]:
        before, self._state = self._state, state
        value = state.value
        if value is not MISSING and value is not before.value:
            yield value
        raise_error(state.error, self.place)


class _States(_Parsing):
    """Shows every state."""

    def add(self, chunk: Chunk) -> Iterator[ParserState]:
        return self._advance(parse_chunk(self._state, chunk))

    def finish(self) -> Iterator[ParserState]:
        return self._advance(finalize(self._state))

    def _advance(self, state: ParserState) -> Iterator[ParserState]:
        self._state = state
        yield state
        raise_error(state.error, self.place)
