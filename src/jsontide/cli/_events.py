"""Chunks of JSON text or the pieces of a stream in; events, changes or some of the values out.

Those of a chunk come before the next one is read; of the text nothing is kept but what is still to be passed on.
Out of each function: what is wrong with the text, if something is, or the last moment of the stream.
Rule: a value is passed on when it will not change any more; one that is replaced, such as a status, once for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import typer

from jsontide import MISSING, JsonValue, ParserError, PathSyntaxError
from jsontide._path import Path
from jsontide._pattern import Pattern, parse_pattern
from jsontide._values import Missing
from jsontide.cli._input import Events
from jsontide.cli._output import find, walk
from jsontide.events import JsonFragmentAccumulator, JsonFragmentUpdate
from jsontide.events.patterns import PatternSet
from jsontide.frontends import Change, Finish, SetValue
from jsontide.recordings import Moment, follow, start_moment


def read_pattern(text: str, hint: str) -> Pattern:
    """Return the steps of a pattern; `hint` is where on the command line it stands."""
    try:
        return parse_pattern(text)
    except PathSyntaxError as error:
        raise typer.BadParameter(str(error), param_hint=hint) from error


def matches(pattern: Pattern) -> Callable[[Path], bool]:
    """Return what says whether a pattern matches a whole path."""
    patterns = PatternSet()
    patterns.add(0, pattern, deltas=False)
    start = patterns.start()

    def match(path: Path) -> bool:
        state = start
        for segment in path:
            if state is not None:
                state = state.member(segment) if isinstance(segment, str) else state.item(segment)
        return state is not None and bool(state.wanted)

    return match


def read_events(
    chunks: Iterable[bytes], pattern: Pattern | None, tell: Callable[[JsonFragmentUpdate], None]
) -> ParserError | None:
    """Tell the events of all paths, or of those that a pattern matches."""
    accumulator = JsonFragmentAccumulator(values=False, floats="decimal")
    match = None if pattern is None else matches(pattern)
    for update in _read(accumulator, chunks):
        if isinstance(update.value, ParserError):
            return update.value
        if match is None or match(update.segments):
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
    match = None if pattern is None else matches(pattern)
    for moment in follow(stream.source, schema=schema):
        for change in moment.changes:
            if match is None or match(change.path):
                tell(change)
        last = moment
    return last


def follow_values(stream: Events, schema: object, pattern: Pattern, tell: Callable[[Path, JsonValue], None]) -> Moment:
    """Tell the values that a pattern matches, each with its path, as they complete."""
    last = start_moment()
    match = matches(pattern)
    for moment in follow(stream.source, schema=schema):
        for change in moment.changes:
            for path, value in _completed(change):
                if match(path):
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
