"""A path in, the node there out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide.tree._containers import Container, ObjectContainer
from jsontide.tree._nodes import child_ids, key_of, node_of
from jsontide.tree._state import check_state

if TYPE_CHECKING:
    from jsontide._path import Path, Segment
    from jsontide.tree._node_kinds import Node
    from jsontide.tree._state import ParserState


def node_at(state: ParserState, path: Path) -> Node | None:
    """Return the node at a path, `None` where there is none (yet).

    >>> from jsontide import create_parser_state, parse_chunk
    >>> state = parse_chunk(create_parser_state(), '{"days": [{"title": "Arr')
    >>> node_at(state, ("days", 0, "title")).buffer
    'Arr'
    """
    check_state(state)
    _check_path(path)
    node_id = 0 if state.next_id else None
    for segment in path:
        if node_id is None:
            return None
        node_id = _child(state, node_id, segment)
    return None if node_id is None else node_of(state, node_id)


def is_open(state: ParserState, path: Path) -> bool:
    """Tell whether there is a value at a path that may still grow; see `node_at` for whether there is one at all.

    >>> from jsontide import create_parser_state, parse_chunk
    >>> state = parse_chunk(create_parser_state(), '{"title": "Kyoto", "days": [')
    >>> is_open(state, ("title",)), is_open(state, ("days",))
    (False, True)
    """
    node = node_at(state, path)
    return node is not None and not node.closed


def _child(state: ParserState, node_id: int, segment: Segment) -> int | None:
    """Return the id of the value at a key or index of a container; of a repeated key, the one that counts."""
    tape = state._tape
    container = tape.entries[node_id] if node_id < len(tape.entries) else None
    if not isinstance(container, Container):
        return None
    ids = child_ids(state, container)
    if isinstance(container, ObjectContainer):
        matches = (child for child in ids if key_of(state, child) == segment)
        if tape.keep_first:
            return next(matches, None)
        return max(matches, default=None)
    if isinstance(segment, int) and not isinstance(segment, bool) and 0 <= segment < len(ids):
        return ids[segment]
    return None


def _check_path(path: Path) -> None:
    if not isinstance(path, tuple):
        message = f"a path must be a tuple of keys and indices, not {type(path).__name__}"
        raise TypeError(message)
    for segment in path:
        if not isinstance(segment, str | int):
            message = f"a path must have keys and indices, not {type(segment).__name__}"
            raise TypeError(message)
