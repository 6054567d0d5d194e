"""What a tape knows of its nodes beyond the log, once somebody has asked.

Each part is brought up to the end of the log when it is asked for, so that asking again costs what came since.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakValueDictionary

from jsontide.tree._node_kinds import ArrayNode, NumberNode, ObjectNode, StringNode
from jsontide.tree._resolve import has_open_scalar

if TYPE_CHECKING:
    from jsontide.tree._node_kinds import Node
    from jsontide.tree._state import ParserState
    from jsontide.tree._tape import Tape
    from jsontide.tree.containers import Container


Version: TypeAlias = tuple[int, bool, int, int]


class Members:
    """The values of an object by key."""

    __slots__ = ("_count", "_first", "_repeated")

    def __init__(self) -> None:
        self._count = 0  # of the object's values, those that are taken in
        self._first: dict[str | None, int] = {}
        self._repeated: dict[str | None, list[int]] = {}  # all values of those keys that have more than one

    def extend(self, ids: list[int], keys: list[str | None]) -> None:
        """Take in what was logged since; if this was broken off before, some of it is there already."""
        for node_id in ids[self._count :]:
            first = self._first.setdefault(keys[node_id], node_id)
            if first != node_id:
                repeated = self._repeated.setdefault(keys[node_id], [first])
                if repeated[-1] < node_id:
                    repeated.append(node_id)
            self._count += 1

    def find(self, key: str, end: int, *, first: bool) -> int | None:
        """Return the first or the last value of a key among the nodes before `end`."""
        node_id = self._first.get(key)
        if node_id is None or node_id >= end:
            return None
        repeated = self._repeated.get(key)
        return node_id if first or repeated is None else repeated[bisect_left(repeated, end) - 1]


class NodeIndex:
    """What is known of the nodes of a tape beyond its log: values by container, and the nodes that somebody has."""

    def __init__(self) -> None:
        self._indexed = 0
        self._children: dict[int, list[int]] = {}
        self._members: dict[int, Members] = {}
        self.held: WeakValueDictionary[Version, Node] | None = None  # made with the first one

    def children(self, container: Container, tape: Tape) -> list[int]:
        """Return the ids of all values of a container; if this was broken off before, some are there already."""
        owners = tape.owners
        for node_id in range(self._indexed, len(owners)):
            ids = self._children.setdefault(owners[node_id].node_id, [])
            if not ids or ids[-1] < node_id:
                ids.append(node_id)
        self._indexed = len(owners)
        return self._children.setdefault(container.node_id, [])

    def members(self, container: Container, tape: Tape) -> Members:
        """Return all values of an object by key."""
        members = self._members.setdefault(container.node_id, Members())
        members.extend(self.children(container, tape), tape.keys)
        return members

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
        length = len(state.open_text) if is_open else -1
        for version, node in other.held.items():
            node_id, is_closed, size, _ = version
            if node_id < logged or (node_id == logged and not is_closed and size <= length):
                self.held[version] = node


def _version(node: Node) -> Version:
    """Tell apart all that a node can become: it closes once, texts only grow, and values have an identity."""
    if isinstance(node, ArrayNode | ObjectNode):
        return node.id, node.closed, len(node._seen), id(node.resolved_value)
    if isinstance(node, StringNode | NumberNode):
        return node.id, node.closed, len(node.buffer), 0
    return node.id, node.closed, 0, 0
