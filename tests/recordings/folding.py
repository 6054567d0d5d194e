"""Changes in, the value that they give out: a small model, which copies all of the value at each step."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from jsontide import MISSING
from jsontide.frontends import AppendText, Change, SetValue
from jsontide.recordings import Moment


def fold(value: Any, changes: Iterable[Change]) -> Any:
    """Return a value after some changes."""
    value = deepcopy(value)
    for change in changes:
        if isinstance(change, SetValue):
            value = put(value, change.path, deepcopy(change.value))
        elif isinstance(change, AppendText):
            value = put(value, change.path, at(value, change.path) + change.text)
    return value


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for segment in path:
        value = value[segment]
    return value


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    container = at(value, path[:-1])
    if isinstance(container, list) and path[-1] == len(container):
        container.append(new)
    else:
        container[path[-1]] = new
    return value


def check_changes(moments: Iterable[Moment]) -> list[Moment]:
    """Check that the changes of each moment lead from the value before to its own; return the moments."""
    value: Any = MISSING
    kept = list(moments)
    for moment in kept:
        value = fold(value, moment.changes)
        assert value == moment.value
    return kept
