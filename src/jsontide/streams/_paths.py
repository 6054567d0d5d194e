"""Streams of chunks and a pattern in, what the pattern matches out while it arrives, sync and async.

`stream` gives strings as they grow, `items` each element of a container as it closes, `value` the first value.
Wrong arguments raise where they are passed; wrong text raises when all that was found before it has been taken.

Rule: the next chunk is pulled only when the caller asks for more than was found so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, cast

from jsontide._path import Segment
from jsontide._pattern import AnyItem, AnyKey, Pattern, Slice, parse_pattern
from jsontide._values import Chunk
from jsontide.events import JsonFragmentAccumulator
from jsontide.streams._mended import mended, raise_error
from jsontide.streams.sources import adrive, afirst, as_async_chunks, as_chunks, drive, first

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine, Generator, Iterable, Iterator

    from jsontide._errors import ParserError
    from jsontide._values import JsonValue, Missing
    from jsontide.events import JsonFragmentUpdate
    from jsontide.mend import Mending, Repair

_Pattern: TypeAlias = str | Sequence[Segment]
_Found = TypeVar("_Found")


def stream(
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

    >>> list(stream(['{"answer": "Take the ni', 'ght tr', 'ain", "stops": 3}'], "answer"))
    ['Take the ni', 'ght tr', 'ain']
    """
    return drive(as_chunks(chunks, "astream"), mended(_Finder(_delta_in, pattern, deltas=True), mend, on_repair))


def astream(
    chunks: AsyncIterable[Chunk],
    pattern: str | Sequence[Segment],
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> AsyncGenerator[str]:
    """Like `stream`, but for an asynchronous stream of chunks."""
    return adrive(as_async_chunks(chunks, "stream"), mended(_Finder(_delta_in, pattern, deltas=True), mend, on_repair))


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
    return drive(as_chunks(chunks, "aitems"), mended(_Finder(_entry_in, *_inside(pattern)), mend, on_repair))


def aitems(
    chunks: AsyncIterable[Chunk],
    pattern: str | Sequence[Segment],
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> AsyncGenerator[tuple[Segment, JsonValue]]:
    """Like `items`, but for an asynchronous stream of chunks."""
    return adrive(as_async_chunks(chunks, "items"), mended(_Finder(_entry_in, *_inside(pattern)), mend, on_repair))


def value(
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

    >>> value(['{"users": [{"name": "Ada"}', ', {"name": "Al'], "users[0]")
    {'name': 'Ada'}
    >>> value('{"users": []}', "users[0]")
    MISSING
    """
    return first(drive(as_chunks(chunks, "avalue"), mended(_Finder(_value_in, pattern), mend, on_repair)))


def avalue(
    chunks: AsyncIterable[Chunk],
    pattern: str | Sequence[Segment],
    *,
    mend: Mending | None = None,
    on_repair: Callable[[Repair], object] | None = None,
) -> Coroutine[object, None, JsonValue | Missing]:
    """Like `value`, but for an asynchronous stream of chunks."""
    return afirst(adrive(as_async_chunks(chunks, "value"), mended(_Finder(_value_in, pattern), mend, on_repair)))


class _Finder(Generic[_Found]):
    """The stage inside the loops: a chunk in, what the patterns match in it out."""

    place: Callable[[ParserError], ParserError] | None = None

    def __init__(
        self, pick: Callable[[JsonFragmentUpdate], _Found], *patterns: _Pattern | Pattern, deltas: bool = False
    ) -> None:
        self._found: list[_Found] = []
        self._accumulator = JsonFragmentAccumulator(updates=False)
        for pattern in patterns:
            self._accumulator.on(pattern, lambda update: self._found.append(pick(update)), deltas=deltas)

    def add(self, chunk: Chunk) -> Iterator[_Found]:
        """Yield what is found in a chunk, then raise what is wrong with it."""
        return self._take_found(self._accumulator.add_fragment(chunk))

    def finish(self) -> Iterator[_Found]:
        """Do the same at the end of the text."""
        return self._take_found(self._accumulator.finish())

    def find_end_error(self) -> ParserError | None:
        for update in self._accumulator.finish():
            return cast("ParserError", update.value)
        return None

    def _take_found(self, errors: list[JsonFragmentUpdate]) -> Iterator[_Found]:
        found, self._found = self._found, []
        yield from found
        for update in errors:
            raise_error(cast("ParserError", update.value), self.place)


def _inside(pattern: _Pattern) -> tuple[Pattern, ...]:
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
