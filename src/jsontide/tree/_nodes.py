"""The nodes of a document, made when somebody asks for them.

The tape knows what they are made of; a node that did not change between two states is the same object.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast, overload

from jsontide._values import MISSING
from jsontide.text import modes
from jsontide.tree._node_kinds import (
    ArrayNode,
    BooleanNode,
    Children,
    Node,
    NullNode,
    NumberNode,
    ObjectNode,
    StringNode,
    container_node,
)
from jsontide.tree._resolve import has_open_scalar, logged_count, open_values, value_at
from jsontide.tree.containers import Container, ObjectContainer

if TYPE_CHECKING:
    from decimal import Decimal

    from jsontide.tree._state import ParserState


class Nodes(Sequence[Node]):
    """The nodes of a state by id, each made when it is asked for."""

    __slots__ = ("_state",)

    def __init__(self, state: ParserState) -> None:
        self._state = state

    def __len__(self) -> int:
        return self._state.next_id

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Node, ...]: ...
    def __getitem__(self, index: int | slice) -> Node | tuple[Node, ...]:
        ids = range(len(self))[index]
        if isinstance(ids, int):
            return node_of(self._state, ids)
        return tuple(node_of(self._state, node_id) for node_id in ids)

    def __repr__(self) -> str:
        return f"<Nodes of {self._state!r}>"


def id_of(container: Container) -> int | None:
    """Return the id of a container; the document has none."""
    return container.node_id if container.depth else None


def node_of(state: ParserState, node_id: int) -> Node:
    """Return a node that the state can see."""
    tape = state._tape
    if has_open_scalar(state) and node_id == state._node_count - 1:
        node = _open_scalar(state)
    else:
        owner = tape.owners[node_id]
        parent_id = id_of(owner)
        entry = tape.entries[node_id]
        if isinstance(entry, Container):
            node = _container_node(state, entry, parent_id)
        else:
            node = _closed_scalar(node_id, parent_id, entry, tape.lexemes.get(node_id))
    return tape.node_index.keep(node)


def _open_scalar(state: ParserState) -> Node:
    node_id = state._node_count - 1
    parent_id = id_of(state._top)
    if state._mode == modes.STRING:
        text = _visible_text(state)
        return StringNode(node_id, parent_id, closed=False, resolved_value=text, buffer=text)
    if state._mode == modes.LITERAL:
        if state._held.startswith("n"):
            return NullNode(node_id, parent_id, closed=False, resolved_value=MISSING)
        return BooleanNode(node_id, parent_id, closed=False, resolved_value=MISSING)
    return NumberNode(node_id, parent_id, closed=False, resolved_value=MISSING, buffer=state.open_text)


def _visible_text(state: ParserState) -> str:
    """Return the text of the open string: the very object that the root's value holds, if it does."""
    if state._is_duplicate:
        return state.open_text
    if state._top.depth == 0:
        return cast("str", state.value)
    segment = state._count if state._member_key is None else state._member_key
    return cast("str", value_at(open_values(state, state._top)[-1], segment))


def _closed_scalar(node_id: int, parent_id: int | None, value: object, lexeme: str | None) -> Node:
    if lexeme is not None:
        number = cast("float | Decimal | str", value)
        return NumberNode(node_id, parent_id, closed=True, resolved_value=number, buffer=lexeme)
    match value:
        case None:
            return NullNode(node_id, parent_id, closed=True, resolved_value=None)
        case bool():
            return BooleanNode(node_id, parent_id, closed=True, resolved_value=value)
        case str():
            return StringNode(node_id, parent_id, closed=True, resolved_value=value, buffer=value)
        case _:
            number = cast("float", value)
            return NumberNode(node_id, parent_id, closed=True, resolved_value=number, buffer=repr(value))


def _container_node(state: ParserState, container: Container, parent_id: int | None) -> Node:
    closed = 0 < container.closed_at <= state._step
    value = container.value() if closed else open_values(state, container)[-1]
    seen = _children(state, container)
    fields = {"id": container.node_id, "parent_id": parent_id, "closed": closed, "resolved_value": value}
    if isinstance(container, ObjectContainer):
        return container_node(ObjectNode, seen, **fields, type="object")
    return container_node(ArrayNode, seen, **fields, type="array")


def _children(state: ParserState, container: Container) -> Children:
    """Return the values of a container that the state can see."""
    tape = state._tape
    ids = tape.node_index.children(container, tape)
    children = Children(ids, bisect_left(ids, logged_count(state)), tape.keys)
    if container is state._top and has_open_scalar(state):
        children.add_open(state._node_count - 1, state._member_key)
    return children
