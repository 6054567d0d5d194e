"""An older state in, the values it shows out, though the tape has been written since.

Only containers that were open then are rebuilt: closed ones are values already.
The value of the newest state is made by `views`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from jsontide._values import MISSING
from jsontide.text import modes

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._path import Segment
    from jsontide.tree._state import ParserState
    from jsontide.tree.containers import Container


def has_open_scalar(state: ParserState) -> bool:
    """Return whether the newest node is an open scalar."""
    return state._mode < modes.VALUE and state._mode != modes.KEY_TEXT


def logged_count(state: ParserState) -> int:
    """Return how many nodes of the log the state can see: all but an open scalar."""
    return state._node_count - has_open_scalar(state)


def open_containers(state: ParserState) -> list[Container]:
    """Return the open containers, outermost first."""
    containers: list[Container] = []
    container = state._top
    while container.parent is not None:
        containers.append(container)
        container = container.parent
    containers.reverse()
    return containers


def resolve_past(state: ParserState, wanted: Container | None) -> object:
    """Return the value of the root in this state, or of one open container.

    Built from the innermost container outwards: each contains the one before.
    """
    child: object = MISSING
    if state._mode == modes.STRING and not state._is_duplicate:
        child = state.open_text
    container = state._top
    count: i64 = state._count
    key = state._member_key
    while container.parent is not None:
        child = container.show_past(count, key, child)
        if container is wanted:
            return child
        if container.is_duplicate:
            child = MISSING
        count = container.place
        key = container.key
        container = container.parent
    document = cast("list[object]", container.show_past(count, None, child))
    return document[0] if document else MISSING


def open_values(state: ParserState, last: Container) -> list[object]:
    """Return the values of the open containers down to `last`: the same objects as in the root's value."""
    value: object = state.value
    values: list[object] = []
    for container in open_containers(state):
        if container.is_duplicate:
            value = resolve_past(state, container)
        elif container.depth > 1:
            value = child_at(value, container.place if container.key is None else container.key)
        values.append(value)
        if container is last:
            break
    return values


def child_at(value: object, segment: Segment) -> object:
    """Return the value at a key or index of a container."""
    if isinstance(value, dict):
        return value[cast("str", segment)]
    return cast("list[object]", value)[cast("int", segment)]
