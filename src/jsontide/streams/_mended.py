"""A stage that reads strict JSON in, one that reads what language models write out.

Rule: all that goes wrong is said of the original text, and a value that broke off is never complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from jsontide._errors import JsonStreamError, hint_at_mending
from jsontide.mend.options import check_mending, check_on_repair
from jsontide.mend.state import MendReader, with_path
from jsontide.streams._loop import check_chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from jsontide._errors import ParserError
    from jsontide._values import Chunk
    from jsontide.mend import Mending, Repair
    from jsontide.mend.shape import Shape
from jsontide.streams._loop import Stage

_Found = TypeVar("_Found")
_Found_co = TypeVar("_Found_co", covariant=True)


class TextStage(Protocol[_Found_co]):
    """A stage whose errors can be placed elsewhere before it raises them."""

    place: Callable[[ParserError], ParserError] | None

    def add(self, chunk: Chunk, /) -> Iterable[_Found_co]: ...
    def finish(self) -> Iterable[_Found_co]: ...
    def find_end_error(self) -> ParserError | None:
        """Return what would be wrong if the text ended here; nothing is read after that."""


def mended(
    stage: TextStage[_Found],
    mend: Mending | None,
    on_repair: Callable[[Repair], object] | None,
    shape: Shape | None = None,
) -> Stage[Chunk, _Found]:
    """Return a stage that takes nothing but text, with a mender in front of it if something is to be mended."""
    check_on_repair(mend, on_repair)
    return _Strict(stage) if mend is None else _Mended(stage, MendReader(check_mending(mend), on_repair, shape))


def raise_error(error: ParserError | None, place: Callable[[ParserError], ParserError] | None) -> None:
    """Raise an error, if there is one, at its place in the original text."""
    if error is not None:
        raise JsonStreamError(error if place is None else place(error), "" if place else hint_at_mending(error))


class _Strict(Generic[_Found]):
    """Feeds a stage with text as it is."""

    def __init__(self, stage: TextStage[_Found]) -> None:
        self._stage = stage

    def add(self, chunk: Chunk) -> Iterable[_Found]:
        check_chunk(chunk)
        return self._stage.add(chunk)

    def finish(self) -> Iterable[_Found]:
        return self._stage.finish()


class _Mended(Generic[_Found]):
    """Feeds a stage with strict text."""

    def __init__(self, stage: TextStage[_Found], reader: MendReader) -> None:
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
        """Yield what the last text shows, then raise what is wrong with the text."""
        if text:
            yield from self._stage.add(text)
        if self._reader.error is not None:
            raise JsonStreamError(with_path(self._reader.error, self._stage.find_end_error()))
