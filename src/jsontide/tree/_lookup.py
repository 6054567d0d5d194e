"""A path in, the node there out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide._pattern import read_path
from jsontide.tree._nodes import node_of
from jsontide.tree._resolve import logged_count
from jsontide.tree._state import check_state
from jsontide.tree.containers import ArrayContainer, Container, ObjectContainer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsontide._path import Segment
    from jsontide.tree._node_kinds import Node
    from jsontide.tree._state import ParserState


def node_at(state: ParserState, path: str | Sequence[Segment]) -> Node | None:
    """Return the node at a path, `None` where there is none (yet).

    >>> from jsontide import create_parser_state, parse_chunk
    >>> state = parse_chunk(create_parser_state(), '{"days": [{"title": "Arr')
    >>> node_at(state, "days[0].title").buffer
    'Arr'
    """
    node_id = _find(state, path)
    return None if node_id is None else node_of(state, node_id)


def is_open(state: ParserState, path: str | Sequence[Segment]) -> bool:
    """Tell whether there is a value at a path that may still grow; see `node_at` for whether there is one at all.

    >>> from jsontide import create_parser_state, parse_chunk
    >>> state = parse_chunk(create_parser_state(), '{"title": "Kyoto", "days": [')
    >>> is_open(state, "title"), is_open(state, ("days",))
    (False, True)
    """
    node_id = _find(state, path)
    if node_id is None:
        return False
    if node_id == logged_count(state):
        return True
    entry = state._tape.entries[node_id]
    return isinstance(entry, Container) and not 0 < entry.closed_at <= state._step


def _find(state: ParserState, path: str | Sequence[Segment]) -> int | None:
    """Return the id of the value at a path; of a repeated key, the one that counts."""
    check_state(state)
    node_id = 0 if state.next_id else None
    for segment in read_path(path):
        if node_id is None or node_id == logged_count(state):
            return None
        container = state._tape.entries[node_id]
        if isinstance(container, ObjectContainer):
            node_id = _member(state, container, segment)
        elif isinstance(container, ArrayContainer):
            node_id = _item(state, container, segment)
        else:
            return None
    return node_id


def _member(state: ParserState, container: ObjectContainer, key: Segment) -> int | None:
    if not isinstance(key, str):
        return None
    tape = state._tape
    end = logged_count(state)
    node_id = tape.node_index.members(container, tape).find(key, end, first=tape.keep_first)
    is_open = container is state._top and end < state._node_count and key == state._member_key
    return end if is_open and (node_id is None or not tape.keep_first) else node_id


def _item(state: ParserState, container: ArrayContainer, index: Segment) -> int | None:
    if not isinstance(index, int):
        return None
    tape = state._tape
    end = logged_count(state)
    ids = tape.node_index.children(container, tape)
    if index < len(ids) and ids[index] < end:
        return ids[index]
    is_open = container is state._top and end < state._node_count and index == state._count
    return end if is_open else None
