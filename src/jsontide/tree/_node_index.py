"""What a tape knows of its nodes beyond the log, once somebody has asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide.tree._node_kinds import ArrayNode, ObjectNode

if TYPE_CHECKING:
    from jsontide.tree._containers import Container
    from jsontide.tree._node_kinds import Node


class NodeIndex:
    """What is known of the nodes of a tape beyond its log: children by parent, and the newest node made for each id."""

    def __init__(self) -> None:
        self.indexed = 0
        self.children: dict[int, list[int]] = {}
        self.newest: dict[int, tuple[int, Node]] = {}  # with the step of its state

    def extend(self, owners: list[Container]) -> None:
        """Take in what was logged since; if this was broken off before, some of it is there already."""
        for node_id in range(self.indexed, len(owners)):
            children = self.children.setdefault(owners[node_id].node_id, [])
            if not children or children[-1] < node_id:
                children.append(node_id)
        self.indexed = len(owners)

    def keep(self, step: int, node: Node) -> Node:
        """Return the newest node of this id where nothing changed, else the one given."""
        made_at, newest = self.newest.get(node.id, (0, None))
        if newest is not None and _is_unchanged(newest, node):
            return newest
        if step >= made_at:
            self.newest[node.id] = (step, node)
        return node


def _is_unchanged(old: Node, new: Node) -> bool:
    if old.closed != new.closed:
        return False
    if isinstance(old, ArrayNode | ObjectNode):
        return isinstance(new, ArrayNode | ObjectNode) and (
            old.resolved_value is new.resolved_value and len(old.children) == len(new.children)
        )
    return old == new
