"""A path pattern and a path in, whether the one matches the other out."""

from collections.abc import Iterator

import typer

from jsontide import PathSyntaxError
from jsontide._path import Path, Segment
from jsontide._pattern import AnyDepth, AnyItem, AnyKey, Item, Key, Pattern, Slice, Step, parse_pattern


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
