"""Chunks of JSON text or the pieces of a stream in; events, changes or some of the values out.

Those of a chunk come before the next one is read; of the text nothing is kept but what is still to be passed on.
Out of each function: what is wrong with the text, if something is, or the last moment of the stream.
Rule: a value is passed on when it will not change any more; one that is replaced, such as a status, once for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import typer

from jsontide import MISSING, JsonValue, ParserError, PathSyntaxError
from jsontide._path import Path, Segment
from jsontide._pattern import AnyDepth, AnyItem, AnyKey, Item, Key, Pattern, Slice, Step, parse_pattern
from jsontide._values import Missing
from jsontide.cli._input import Events
from jsontide.cli._output import find, walk
from jsontide.events import JsonFragmentAccumulator, JsonFragmentUpdate
from jsontide.frontends import Change, Finish, SetValue
from jsontide.recordings import Moment, follow, start_moment


def read_pattern(text: str, hint: str) -> Pattern:
    """Return the steps of a pattern; `hint` is where on the command line it stands."""
    try:
        return parse_pattern(text)
    except PathSyntaxError as error:
        raise typer.BadParameter(str(error), param_hint=hint) from error


def matches(pattern: Pattern, path: Path) -> bool:
    """Return whether a pattern matches a whole path."""
    reached = _skip(pattern, {0})
    for segment in path:
        reached = _skip(pattern, set(_advance(pattern, reached, segment)))
    return len(pattern) in reached


def _advance(pattern: Pattern, reached: set[int], segment: Segment) -> Iterator[int]:
    """Yield how many steps of a pattern may be behind after one more segment."""
    for at in reached:
        if at == len(pattern):
            continue
        if isinstance(pattern[at], AnyDepth):
            yield at
        elif _fits(pattern[at], segment):
            yield at + 1


def _skip(pattern: Pattern, reached: set[int]) -> set[int]:
    """Add what is reached where any depth is none."""
    for at, step in enumerate(pattern):
        if at in reached and isinstance(step, AnyDepth):
            reached.add(at + 1)
    return reached


def _fits(step: Step, segment: Segment) -> bool:
    match step:
        case Key(name):
            return segment == name
        case Item(index):
            return segment == index
        case AnyKey():
            return isinstance(segment, str)
        case AnyItem():
            return isinstance(segment, int)
        case Slice(start, stop, stride):
            ends = segment + 1 if stop is None and isinstance(segment, int) else stop or 0
            return isinstance(segment, int) and segment in range(start, ends, stride)
        case AnyDepth():
            return True


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


def follow_changes(stream: Events, schema: object, pattern: Pattern | None, tell: Callable[[Change], None]) -> Moment:
    """Tell the changes at all paths, or at those that a pattern matches."""
    last = start_moment()
    for moment in follow(stream.source, schema=schema):
        for change in moment.changes:
            if pattern is None or matches(pattern, change.path):
                tell(change)
        last = moment
    return last


def follow_values(stream: Events, schema: object, pattern: Pattern, tell: Callable[[Path, JsonValue], None]) -> Moment:
    """Tell the values that a pattern matches, each with its path, as they complete."""
    last = start_moment()
    for moment in follow(stream.source, schema=schema):
        for change in moment.changes:
            for path, value in _completed(change):
                if matches(pattern, path):
                    tell(path, _find(moment, path) if isinstance(value, Missing) else value)
        last = moment
    return last


def _completed(change: Change) -> Iterator[tuple[Path, JsonValue | Missing]]:
    """Yield what a change completes; the value is `MISSING` where it is to be looked up."""
    if isinstance(change, SetValue):
        start = len(change.path)
        for path, value in walk(change.path, change.value):
            if change.open is None or path[start:] != change.open[: len(path) - start]:
                yield path, value
    elif isinstance(change, Finish):
        for level in range(change.levels):
            yield change.path[: len(change.path) - level], MISSING


def _find(moment: Moment, path: Path) -> JsonValue:
    assert not isinstance(moment.value, Missing)  # noqa: S101 - something in it is complete
    return find(moment.value, path)
