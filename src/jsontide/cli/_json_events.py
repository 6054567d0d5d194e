"""Chunks of JSON text in, its events or some of its values out, those of a chunk before the next one is read.

The text may have one document or many.
Out of each function: what is wrong with the text, if something is.

Rule: of the text nothing is kept but what is still to be passed on.
"""

from collections.abc import Callable, Iterable, Iterator

from jsontide import JsonValue, ParserError
from jsontide._path import Path
from jsontide._pattern import Pattern
from jsontide.cli._matching import matches
from jsontide.events import JsonFragmentAccumulator, JsonFragmentUpdate


def read_events(
    chunks: Iterable[bytes], pattern: Pattern | None, tell: Callable[[JsonFragmentUpdate], None]
) -> ParserError | None:
    """Tell the events of all paths, or of those that a pattern matches."""
    accumulator = JsonFragmentAccumulator(values=False, floats="decimal")
    for update in _read(accumulator, chunks):
        if isinstance(update.value, ParserError):
            return update.value
        if pattern is None or matches(pattern, update.segments):
            tell(update)
    return None


def read_values(
    chunks: Iterable[bytes], pattern: Pattern, tell: Callable[[Path, JsonValue], None]
) -> ParserError | None:
    """Tell the values that a pattern matches, each with its path, as they complete."""
    accumulator = JsonFragmentAccumulator(updates=False, values=False, floats="decimal")

    def tell_value(update: JsonFragmentUpdate) -> None:
        if not isinstance(update.value, ParserError):
            tell(update.segments, update.value)

    accumulator.on(pattern, tell_value)
    for update in _read(accumulator, chunks):
        if isinstance(update.value, ParserError):
            return update.value
    return None


def _read(accumulator: JsonFragmentAccumulator, chunks: Iterable[bytes]) -> Iterator[JsonFragmentUpdate]:
    for chunk in chunks:
        yield from accumulator.add_fragment(chunk)
    yield from accumulator.finish()
