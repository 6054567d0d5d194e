"""What a tape knows of its nodes beyond the log, once somebody has asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakValueDictionary

from jsontide.tree._node_kinds import ArrayNode, NumberNode, ObjectNode, StringNode
from jsontide.tree._resolve import has_open_scalar, open_text

if TYPE_CHECKING:
    from jsontide.tree._containers import Container
    from jsontide.tree._node_kinds import Node
    from jsontide.tree._state import ParserState


Version: TypeAlias = tuple[int, bool, int, int]


class NodeIndex:
    """What is known of the nodes of a tape beyond its log: children by parent, and the nodes that somebody has."""

    def __init__(self) -> None:
        self.indexed = 0
        self.children: dict[int, list[int]] = {}
        self.held: WeakValueDictionary[Version, Node] | None = None  # made with the first one

    def extend(self, owners: list[Container]) -> None:
        """Take in what was logged since; if this was broken off before, some of it is there already."""
        for node_id in range(self.indexed, len(owners)):
            children = self.children.setdefault(owners[node_id].node_id, [])
            if not children or children[-1] < node_id:
                children.append(node_id)
        self.indexed = len(owners)

    def keep(self, node: Node) -> Node:
        """Return the node that somebody has of this very version, else the one given."""
        if self.held is None:
            self.held = WeakValueDictionary()
        return self.held.setdefault(_version(node), node)

    def keep_as_seen_by(self, state: ParserState, other: NodeIndex) -> None:
        """Take from another index what the state can have seen of nodes: those that are logged, and the open scalar."""
        if other.held is None:
            return
        self.held = WeakValueDictionary()
        is_open = has_open_scalar(state)
        logged = state._node_count - is_open
        length = len(open_text(state)) if is_open else -1
        for version, node in other.held.items():
            node_id, is_closed, size, _ = version
            if node_id < logged or (node_id == logged and not is_closed and size <= length):
                self.held[version] = node


def _version(node: Node) -> Version:
    """Tell apart all that a node can become: it closes once, texts only grow, and values have an identity."""
    if isinstance(node, ArrayNode | ObjectNode):
        return node.id, node.closed, len(node.children), id(node.resolved_value)
    if isinstance(node, StringNode | NumberNode):
        return node.id, node.closed, len(node.buffer), 0
    return node.id, node.closed, 0, 0
