"""A state in, the values it shows out.

Only the open path is looked at: closed containers are values already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide._values import MISSING
from jsontide.text import _modes as modes

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._values import JsonValue, Missing
    from jsontide.tree._containers import Container
    from jsontide.tree._state import ParserState


def open_text(state: ParserState) -> str:
    """Return what is certain of the open string or number."""
    pieces = state._pieces
    if pieces is None:
        return ""
    if len(pieces) == state._piece_count:
        return "".join(pieces)
    return "".join(pieces[: state._piece_count])


def open_containers(state: ParserState) -> list[Container]:
    """Return the open containers, outermost first."""
    containers: list[Container] = []
    container = state._top
    while container is not None:
        containers.append(container)
        container = container.parent
    containers.reverse()
    return containers


def resolve(state: ParserState) -> JsonValue | Missing:
    """Return the value of the root as it is visible."""
    if state._top is not None:
        return resolve_container(state, None)
    if state._mode == modes.STRING:
        return open_text(state)
    if state._mode == modes.DONE:
        return state._tape.root
    return MISSING


def resolve_container(state: ParserState, wanted: Container | None) -> JsonValue | Missing:
    """Return the value of an open container, or of the root.

    From the innermost container outwards: each view holds the one before.
    """
    child: JsonValue | Missing = MISSING
    if state._mode == modes.STRING and not state._hidden:
        child = open_text(state)
    container = state._top
    count: i64 = state._count
    key = state._member_key
    while container is not None:
        child = container.view(count, key, child, state._step)
        if container is wanted or container.parent is None:
            break
        if container.hidden:
            child = MISSING
        count = container.place
        key = container.key
        container = container.parent
    return child
