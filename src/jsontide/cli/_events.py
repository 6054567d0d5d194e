"""Chunks of JSON text or the pieces of a stream in; events, changes or some of the values out.

Those of a chunk come before the next one is read; of the text nothing is kept but what is still to be passed on.
What is wrong with the text, or how the stream ended if not well, becomes an exit code.
Rule: a value is passed on when it will not change any more; one that is replaced, such as a status, once for each.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import getitem
from typing import Any, cast

import typer

from jsontide import MISSING, JsonValue, ParserError, PathSyntaxError
from jsontide._path import Path
from jsontide._pattern import Pattern, parse_pattern
from jsontide._values import Missing
from jsontide.cli._exits import hint_at_answer, report_end, report_error
from jsontide.cli._input import Events, JsonText
from jsontide.cli._output import RecentText, walk
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


def write_events(
    source: JsonText | Events,
    schema: object,
    pattern: Pattern | None,
    write: Callable[[JsonFragmentUpdate | Change], None],
) -> None:
    """Write the events of a text, or the changes of a stream: at all paths, or at those that a pattern matches."""
    match = None if pattern is None else matches(pattern)
    if isinstance(source, JsonText):
        for update in _read(JsonFragmentAccumulator(values=False, floats="decimal"), source):
            if match is None or match(update.segments):
                write(update)
        return
    for moment in _follow(source, schema):
        for change in moment.changes:
            if match is None or match(change.path):
                write(change)


def write_values(
    source: JsonText | Events, schema: object, pattern: Pattern, write: Callable[[Path, JsonValue], None]
) -> None:
    """Write the values that a pattern matches, each with its path, as they complete."""
    if isinstance(source, JsonText):
        accumulator = JsonFragmentAccumulator(updates=False, values=False, floats="decimal")
        accumulator.on(pattern, lambda update: write(update.segments, cast("JsonValue", update.value)))
        deque(_read(accumulator, source), 0)
        return
    match = matches(pattern)
    for moment in _follow(source, schema):
        for change in moment.changes:
            for path, value in _completed(change):
                if match(path):
                    found: Any = moment.value
                    write(path, reduce(getitem, path, found) if isinstance(value, Missing) else value)


def _read(accumulator: JsonFragmentAccumulator, text: JsonText) -> Iterator[JsonFragmentUpdate]:
    """Yield the updates of a text up to its end; an error in it exits."""
    recent = RecentText()
    for chunk in recent.remember(text.chunks):
        yield from _check(accumulator.add_fragment(chunk), recent)
    yield from _check(accumulator.finish(), recent)


def _check(updates: Iterable[JsonFragmentUpdate], recent: RecentText) -> Iterator[JsonFragmentUpdate]:
    for update in updates:
        if isinstance(update.value, ParserError):
            raise report_error(update.value, recent)
        yield update


def _follow(stream: Events, schema: object) -> Iterator[Moment]:
    """Yield the moments of a stream; an end that is not good exits."""
    last = start_moment()
    for last in follow(stream.source, schema=schema):
        yield last
    hint_at_answer(last, schema)
    report_end(last)


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
