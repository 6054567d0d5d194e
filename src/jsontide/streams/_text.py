"""Streams of chunks in, growing values, the parser's states, or what a pattern matches out, sync and async.

`values` gives the document as it grows, `loads` its end and `states` every step of the parser.
`stream` gives strings as they grow, `items` each element of a container as it closes, `value` the first value.
With a mender in front of them, all of them read what language models write for JSON.

Rule: the next chunk is pulled only when the caller asks for more than was found so far.
Wrong arguments raise where they are passed; wrong text raises when all that was found before it has been taken.
Errors point into the original text, also of one that was mended, and a value that broke off is never complete.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import aclosing, closing
from typing import TYPE_CHECKING, Final, Generic, TypeAlias, TypeVar, cast

from jsontide._errors import JsonStreamError, hint_at_mending
from jsontide._path import Segment
from jsontide._pattern import AnyItem, AnyKey, Pattern, Slice, parse_pattern
from jsontide._sniff import StreamForm, sniff
from jsontide._values import MISSING, Chunk
from jsontide.events import JsonFragmentAccumulator
from jsontide.mend.options import check_mending, check_on_repair
from jsontide.mend.state import MendReader, with_path
from jsontide.streams.sources import adrive, as_async_chunks, as_chunks, drive
from jsontide.tree import ParserState, create_parser_state, finalize, parse_chunk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine, Generator, Iterable, Iterator

    from jsontide._errors import ParserError
    from jsontide._values import JsonValue, Missing
    from jsontide.events import JsonFragmentUpdate
    from jsontide.mend import Mending, Repair
    from jsontide.mend.shape import Shape
    from jsontide.streams.sources import LoopStage

PathOrPattern: TypeAlias = str | Sequence[Segment]
_Found = TypeVar("_Found")
_FOR_EVENTS: Final = "stream_message and stream_model read the events of a provider"


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
    return drive(as_chunks(chunks, "avalues"), _parsed(_GrowingValue, state, mend, on_repair))


def avalues(
    chunks: AsyncIterable[Chunk],
    state: ParserState | None = None,
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> AsyncGenerator[JsonValue]:
    """Like `values`, but for an asynchronous stream of chunks."""
    return adrive(as_async_chunks(chunks, "values"), _parsed(_GrowingValue, state, mend, on_repair))


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
    return cast("JsonValue", _first(drive(as_chunks(chunks, "aloads"), _parsed(_WholeValue, state, mend, on_repair))))


def aloads(
    chunks: AsyncIterable[Chunk],
    state: ParserState | None = None,
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> Coroutine[object, None, JsonValue]:
    """Like `loads`, but for an asynchronous stream of chunks."""
    found = _afirst(adrive(as_async_chunks(chunks, "loads"), _parsed(_WholeValue, state, mend, on_repair)))
    return cast("Coroutine[object, None, JsonValue]", found)


def states(
    chunks: Chunk | Iterable[Chunk],
    state: ParserState | None = None,
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> Generator[ParserState]:
    """Yield the parser's state after each chunk, and after the end of the text, beginning from `state` if one is given.

    `jsontide.frontends` reads changes from them.
    With `mend`, the states are those of the mended text, one for each chunk that brought some of it.
    Raises `JsonStreamError` when the text is wrong, or not complete at its end, after yielding the state that says so;
    with `mend` the exception alone says what cannot be mended, and that a value broke off.

    >>> [(state.value, state.is_complete) for state in states(["[1, 2", "3]"])]
    [([1], False), ([1, 23], True), ([1, 23], True)]
    """
    return drive(as_chunks(chunks, "astates"), _parsed(_EveryState, state, mend, on_repair))


def astates(
    chunks: AsyncIterable[Chunk],
    state: ParserState | None = None,
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> AsyncGenerator[ParserState]:
    """Like `states`, but for an asynchronous stream of chunks."""
    return adrive(as_async_chunks(chunks, "states"), _parsed(_EveryState, state, mend, on_repair))


def text_deltas(
    chunks: Chunk | Iterable[Chunk],
    pattern: str | Sequence[Segment],
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> Generator[str]:
    """Yield the decoded text of the strings that a pattern matches, piece by piece as they grow.

    With `mend`, bad JSON is mended as `jsontide.mend` says, and `on_repair` is called with each repair as it happens.
    No piece is empty, and there is one for each chunk that has more of the string.
    Raises `JsonStreamError` when the text is wrong, or not complete at its end, after yielding what came before.

    >>> list(text_deltas(['{"answer": "Take the ni', 'ght tr', 'ain", "stops": 3}'], "answer"))
    ['Take the ni', 'ght tr', 'ain']
    """
    return drive(as_chunks(chunks, "atext_deltas"), mended(Finder(_delta_in, pattern, deltas=True), mend, on_repair))


def atext_deltas(
    chunks: AsyncIterable[Chunk],
    pattern: str | Sequence[Segment],
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> AsyncGenerator[str]:
    """Like `text_deltas`, but for an asynchronous stream of chunks."""
    return adrive(
        as_async_chunks(chunks, "text_deltas"), mended(Finder(_delta_in, pattern, deltas=True), mend, on_repair)
    )


def items(
    chunks: Chunk | Iterable[Chunk],
    pattern: str | Sequence[Segment],
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> Generator[tuple[Segment, JsonValue]]:
    """Yield what is in the arrays and objects that a pattern matches, each with its index or key, as it closes.

    Each value is whole, and the container around it is never built: it may have as much in it as `Limits` allow.
    A key that is written twice comes twice.
    A pattern that ends in `[*]`, a slice or `*` names the items themselves: `users[*]` is as good as `users`.
    With `mend`, bad JSON is mended as `jsontide.mend` says, and `on_repair` is called with each repair as it happens.
    Raises `JsonStreamError` when the text is wrong, or not complete at its end, after yielding what came before.

    >>> for index, user in items(['{"users": [{"name": "Ada"}, {"na', 'me": "Alan"}]}'], "users"):
    ...     print(index, user)
    0 {'name': 'Ada'}
    1 {'name': 'Alan'}
    """
    return drive(as_chunks(chunks, "aitems"), mended(Finder(_entry_in, *inside(pattern)), mend, on_repair))


def aitems(
    chunks: AsyncIterable[Chunk],
    pattern: str | Sequence[Segment],
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> AsyncGenerator[tuple[Segment, JsonValue]]:
    """Like `items`, but for an asynchronous stream of chunks."""
    return adrive(as_async_chunks(chunks, "items"), mended(Finder(_entry_in, *inside(pattern)), mend, on_repair))


def first_value(
    chunks: Chunk | Iterable[Chunk],
    pattern: str | Sequence[Segment],
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> JsonValue | Missing:
    """Return the first value that is complete where a pattern matches, and pull no chunk after that.

    `MISSING` if the text ends without one.
    With `mend`, bad JSON is mended as `jsontide.mend` says, and `on_repair` is called with each repair as it happens.
    Raises `JsonStreamError` when the text before the value is wrong, or not complete at its end.

    >>> first_value(['{"users": [{"name": "Ada"}', ', {"name": "Al'], "users[0]")
    {'name': 'Ada'}
    >>> first_value('{"users": []}', "users[0]")
    MISSING
    """
    return _first(drive(as_chunks(chunks, "afirst_value"), mended(Finder(_value_in, pattern), mend, on_repair)))


def afirst_value(
    chunks: AsyncIterable[Chunk],
    pattern: str | Sequence[Segment],
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> Coroutine[object, None, JsonValue | Missing]:
    """Like `first_value`, but for an asynchronous stream of chunks."""
    return _afirst(adrive(as_async_chunks(chunks, "first_value"), mended(Finder(_value_in, pattern), mend, on_repair)))


def _first(found: Generator[_Found]) -> _Found | Missing:
    """Return the first of what a loop finds, and end the loop."""
    with closing(found):
        return next(found, MISSING)


async def _afirst(found: AsyncGenerator[_Found]) -> _Found | Missing:
    """Like `_first`, but for an asynchronous loop."""
    async with aclosing(found):
        return await anext(found, MISSING)


def _parsed(
    kind: Callable[[ParserState], ParsingStage[_Found]],
    state: ParserState | None,
    mend: Mending | None,
    on_repair: Callable[[Repair], object] | None,
) -> LoopStage[Chunk, _Found]:
    if mend is not None and isinstance(state, ParserState) and state.index:
        raise ValueError("a state that has read text cannot go on with mend: its text may need repairs too")
    return mended(kind(create_parser_state() if state is None else state), mend, on_repair)


def mended(
    stage: TextLoopStage[_Found],
    mend: Mending | None,
    on_repair: Callable[[Repair], object] | None,
    shape: Shape | None = None,
) -> LoopStage[Chunk, _Found]:
    """Return a stage for text as it is, or one with a mender in front of it if something is to be mended."""
    check_on_repair(mend, on_repair)
    return stage if mend is None else _Mended(stage, MendReader(check_mending(mend), on_repair, shape))


class TextLoopStage(ABC, Generic[_Found]):
    """The stage of a loop that reads JSON text."""

    is_over: bool = False
    """Text after a document may be wrong, so all of it is read."""
    place: Callable[[ParserError], ParserError] | None = None
    """What finds the place of an error in the original of a text that was mended."""

    @abstractmethod
    def add(self, chunk: Chunk, /) -> Iterable[_Found]: ...

    @abstractmethod
    def finish(self) -> Iterable[_Found]: ...

    @abstractmethod
    def find_end_error(self) -> ParserError | None:
        """Return what would be wrong if the text ended here; nothing is read after that."""

    def _raise(self, error: ParserError, chunk: Chunk = "") -> None:
        if self.place is not None:
            raise JsonStreamError(self.place(error))
        are_events = not error.path and error.line == error.column == 1 and sniff_chunks([chunk]) == "events"
        raise JsonStreamError(error, _FOR_EVENTS if are_events else hint_at_mending(error))


class ParsingStage(TextLoopStage[_Found]):
    """Feeds a parser; an error is raised after the new state was shown."""

    def __init__(self, state: ParserState) -> None:
        self._state = state

    def add(self, chunk: Chunk) -> Iterable[_Found]:
        check_chunk(chunk)
        return self._advance(parse_chunk(self._state, chunk), chunk)

    def finish(self) -> Iterable[_Found]:
        return self._advance(finalize(self._state))

    def find_end_error(self) -> ParserError | None:
        return finalize(self._state).error

    def _advance(self, state: ParserState, chunk: Chunk = "") -> Iterable[_Found]:
        before, self._state = self._state, state
        shown, error = self._show(before), state.error
        return shown if error is None else self._show_last(shown, error, chunk)

    def _show_last(self, shown: Iterable[_Found], error: ParserError, chunk: Chunk) -> Iterator[_Found]:
        yield from shown
        self._raise(error, chunk)

    @abstractmethod
    def _show(self, before: ParserState, /) -> Iterable[_Found]:
        """Return what to yield of the new state, given the one before it."""


class _WholeValue(ParsingStage["JsonValue"]):
    """Shows the value at the end."""

    def finish(self) -> Iterator[JsonValue]:
        yield from super().finish()
        yield cast("JsonValue", self._state.value)

    def _show(self, _: ParserState, /) -> tuple[JsonValue, ...]:
        return ()


class _GrowingValue(ParsingStage["JsonValue"]):
    """Shows the value whenever it has changed."""

    def _show(self, before: ParserState, /) -> tuple[JsonValue, ...]:
        value = self._state.value
        return () if value is MISSING or value is before.value else (value,)


class _EveryState(ParsingStage[ParserState]):
    """Shows every state."""

    def _show(self, _: ParserState, /) -> tuple[ParserState, ...]:
        return (self._state,)


class Finder(TextLoopStage[_Found]):
    """Shows what patterns match."""

    def __init__(
        self, pick: Callable[[JsonFragmentUpdate], _Found], *patterns: PathOrPattern | Pattern, deltas: bool = False
    ) -> None:
        self._found: list[_Found] = []
        self._accumulator = JsonFragmentAccumulator(updates=False)
        for pattern in patterns:
            self._accumulator.on(pattern, lambda update: self._found.append(pick(update)), deltas=deltas)

    def add(self, chunk: Chunk) -> Iterator[_Found]:
        check_chunk(chunk)
        return self._take_found(self._accumulator.add_fragment(chunk), chunk)

    def finish(self) -> Iterator[_Found]:
        return self._take_found(self._accumulator.finish())

    def find_end_error(self) -> ParserError | None:
        for update in self._accumulator.finish():
            return cast("ParserError", update.value)
        return None

    def _take_found(self, errors: list[JsonFragmentUpdate], chunk: Chunk = "") -> Iterator[_Found]:
        found, self._found = self._found, []
        yield from found
        for update in errors:
            self._raise(cast("ParserError", update.value), chunk)


def inside(pattern: PathOrPattern) -> tuple[Pattern, ...]:
    """Return the patterns of all elements and of all members of what a pattern matches, unless it names them itself."""
    steps = parse_pattern(pattern)
    if steps and isinstance(steps[-1], AnyItem | AnyKey | Slice):
        return (steps,)
    return (*steps, AnyItem()), (*steps, AnyKey())


def _delta_in(update: JsonFragmentUpdate) -> str:
    return cast("str", update.text)


def _entry_in(update: JsonFragmentUpdate) -> tuple[Segment, JsonValue]:
    return update.segments[-1], _value_in(update)


def _value_in(update: JsonFragmentUpdate) -> JsonValue:
    return cast("JsonValue", update.value)


class _Mended(Generic[_Found]):
    """Feeds a stage with the strict text that a mender makes of the original."""

    is_over: bool = False

    def __init__(self, stage: TextLoopStage[_Found], reader: MendReader) -> None:
        self._stage = stage
        self._reader = reader
        stage.place = reader.place

    def add(self, chunk: Chunk) -> Iterable[_Found]:
        check_chunk(chunk)
        text = self._reader.feed(chunk)
        if self._reader.is_over:
            return self._end(text)
        return self._stage.add(text) if text else ()

    def finish(self) -> Iterator[_Found]:
        text = self._reader.finish()
        yield from self._end(text)
        yield from self._stage.finish()

    def _end(self, text: str) -> Iterator[_Found]:
        """Yield what the last text shows, then raise the error of the text."""
        if text:
            yield from self._stage.add(text)
        if self._reader.error is not None:
            raise JsonStreamError(with_path(self._reader.error, self._stage.find_end_error()))


def check_chunk(chunk: object) -> None:
    """Refuse a chunk that is not text, and name the loops that read events."""
    if type(chunk) is not str and not isinstance(chunk, Chunk):  # a union takes long to ask
        message = f"a chunk must be str, bytes, bytearray or memoryview, not {type(chunk).__name__}; {_FOR_EVENTS}"
        raise TypeError(message)


def sniff_chunks(chunks: Iterable[Chunk]) -> StreamForm | None:
    """Return the form of a stream that begins with these chunks, `None` while it may be one of several."""
    return sniff(
        b"".join(chunk.encode("utf-8", "replace") if isinstance(chunk, str) else bytes(chunk) for chunk in chunks)
    )
