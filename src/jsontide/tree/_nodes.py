"""The nodes of a document: what they are, made when they are asked for, and found by path.

The tape knows what nodes are made of; a node that did not change between two states is the same object.
The ids and keys of a container's values are put together when they are read, since a container may have many.
Interpreted: nodes are frozen dataclasses, and nothing here runs for each chunk.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, cast, overload
from weakref import WeakValueDictionary

from jsontide._path import Path, Segment
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.text import modes
from jsontide.tree.log import child_at, has_open_scalar, is_closed, logged_count, open_values
from jsontide.tree.tape import ArrayContainer, Container, ObjectContainer, Tape

if TYPE_CHECKING:
    from jsontide.tree._state import ParserState


class Children:
    """The values of a container as a state sees them: the first `count` that are logged, and the open scalar, if any.

    `ids` and `keys` (by id) belong to the tape, which only appends to them.
    """

    __slots__ = ("_count", "_ids", "_keys", "_open_id", "_open_key")

    def __init__(
        self, ids: list[int], count: int, keys: list[str | None], open_id: int | None, open_key: str | None
    ) -> None:
        self._ids = ids
        self._count = count
        self._keys = keys
        self._open_id = open_id  # the tape has not logged it yet
        self._open_key = open_key

    def __len__(self) -> int:
        return self._count + (self._open_id is not None)

    def ids(self) -> tuple[int, ...]:
        logged = self._ids[: self._count]
        return tuple(logged) if self._open_id is None else (*logged, self._open_id)

    def keys(self) -> tuple[str | None, ...]:
        logged = [self._keys[node_id] for node_id in self._ids[: self._count]]
        return tuple(logged) if self._open_id is None else (*logged, self._open_key)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class _AnyNode:
    """What all nodes have."""

    id: int
    parent_id: int | None
    closed: bool


class _ContainerNode(_AnyNode):
    """The base of array and object nodes, with fields that are set when they are first read."""

    __slots__ = ("_seen",)
    _seen: Children

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> tuple[object, ...]:
            """Return a field that is not set yet."""
            if name == "children":
                made = self._seen.ids()
            elif name == "keys":
                made = self._seen.keys()
            else:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            object.__setattr__(self, name, made)
            return made


@dataclass(frozen=True, slots=True)
class NullNode(_AnyNode):
    """`null`, or the beginning of it."""

    resolved_value: Missing | None
    type: Literal["null"] = "null"


@dataclass(frozen=True, slots=True)
class BooleanNode(_AnyNode):
    """`true` or `false`, or the beginning of one."""

    resolved_value: bool | Missing
    type: Literal["boolean"] = "boolean"


@dataclass(frozen=True, slots=True)
class NumberNode(_AnyNode):
    """A number; `buffer` is its lexeme so far."""

    resolved_value: float | Decimal | str | Missing
    buffer: str
    type: Literal["number"] = "number"


@dataclass(frozen=True, slots=True)
class StringNode(_AnyNode):
    """A string; `buffer` is its decoded text so far."""

    resolved_value: str
    buffer: str
    type: Literal["string"] = "string"


@dataclass(frozen=True, slots=True)
class ArrayNode(_ContainerNode):
    """An array; `children` are the ids of its items."""

    resolved_value: list[JsonValue]
    children: tuple[int, ...]
    type: Literal["array"] = "array"


@dataclass(frozen=True, slots=True)
class ObjectNode(_ContainerNode):
    """An object; `children` are the ids of its values, `keys` their keys, repeated ones included."""

    resolved_value: dict[str, JsonValue]
    keys: tuple[str, ...]
    children: tuple[int, ...]
    type: Literal["object"] = "object"


Node: TypeAlias = NullNode | BooleanNode | NumberNode | StringNode | ArrayNode | ObjectNode
"""A value of the document, open or closed."""

Kind = TypeVar("Kind", ArrayNode, ObjectNode)


def new_container_node(kind: type[Kind], seen: Children, **fields: object) -> Kind:
    """Return a container's node with all fields but `children` and `keys`, which are set when they are first read."""
    node = object.__new__(kind)
    object.__setattr__(node, "_seen", seen)
    for name, field in fields.items():
        object.__setattr__(node, name, field)
    return node


class Nodes(Sequence[Node]):
    """The nodes of a state by id, each made on demand."""

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
            return make_node(self._state, ids)
        return tuple(make_node(self._state, node_id) for node_id in ids)

    def __repr__(self) -> str:
        return f"<Nodes of {self._state!r}>"


def make_node(state: ParserState, node_id: int) -> Node:
    """Return a node that the state can see."""
    tape = state._tape
    if has_open_scalar(state) and node_id == state._node_count - 1:
        node = _make_open_scalar(state)
    else:
        owner = tape.owners[node_id]
        parent_id = owner.node_id if owner.depth else None
        entry = tape.entries[node_id]
        if isinstance(entry, Container):
            node = _make_container_node(state, entry, parent_id)
        else:
            node = _make_closed_scalar(node_id, parent_id, entry, tape.lexemes.get(node_id))
    return get_index(tape).intern(node)


def _make_open_scalar(state: ParserState) -> Node:
    node_id = state._node_count - 1
    parent_id = state._top.node_id if state._top.depth else None  # the document has no id
    if state._mode == modes.STRING:
        text = _visible_text(state)
        return StringNode(node_id, parent_id, closed=False, resolved_value=text, buffer=text)
    if state._mode == modes.LITERAL:
        if state._held.startswith("n"):
            return NullNode(node_id, parent_id, closed=False, resolved_value=MISSING)
        return BooleanNode(node_id, parent_id, closed=False, resolved_value=MISSING)
    return NumberNode(node_id, parent_id, closed=False, resolved_value=MISSING, buffer=state.open_text)


def _visible_text(state: ParserState) -> str:
    """Return the text of the open string: the same object as in the root's value, if it is shown there."""
    if state._is_duplicate:
        return state.open_text
    if state._top.depth == 0:
        return cast("str", state.value)
    segment = state._count if state._member_key is None else state._member_key
    return cast("str", child_at(open_values(state, state._top)[-1], segment))


def _make_closed_scalar(node_id: int, parent_id: int | None, value: object, lexeme: str | None) -> Node:
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


def _make_container_node(state: ParserState, container: Container, parent_id: int | None) -> Node:
    closed = is_closed(state, container)
    value = container.value() if closed else open_values(state, container)[-1]
    seen = _children(state, container)
    fields = {"id": container.node_id, "parent_id": parent_id, "closed": closed, "resolved_value": value}
    if isinstance(container, ObjectContainer):
        return new_container_node(ObjectNode, seen, **fields, type="object")
    return new_container_node(ArrayNode, seen, **fields, type="array")


def _children(state: ParserState, container: Container) -> Children:
    """Return the values of a container that the state can see."""
    tape = state._tape
    ids = get_index(tape).children(container, tape)
    logged = logged_count(state)
    open_id = logged if container is state._top and logged < state._node_count else None
    return Children(ids, bisect_left(ids, logged), tape.keys, open_id, state._member_key)


def find_node(state: ParserState, path: Path) -> int | None:
    """Return the id of the value at a path; of a repeated key, the one that counts."""
    node_id = 0 if state.next_id else None
    for segment in path:
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


def is_open_at(state: ParserState, node_id: int) -> bool:
    """Return whether a node may still grow."""
    if node_id == logged_count(state):
        return True
    entry = state._tape.entries[node_id]
    return isinstance(entry, Container) and not is_closed(state, entry)


def _member(state: ParserState, container: ObjectContainer, key: Segment) -> int | None:
    if not isinstance(key, str):
        return None
    tape = state._tape
    end = logged_count(state)
    node_id = get_index(tape).members(container, tape).find(key, end, first=tape.keep_first)
    is_open = container is state._top and end < state._node_count and key == state._member_key
    return end if is_open and (node_id is None or not tape.keep_first) else node_id


def _item(state: ParserState, container: ArrayContainer, index: Segment) -> int | None:
    if not isinstance(index, int):
        return None
    tape = state._tape
    end = logged_count(state)
    ids = get_index(tape).children(container, tape)
    if index < len(ids) and ids[index] < end:
        return ids[index]
    is_open = container is state._top and end < state._node_count and index == state._count
    return end if is_open else None


Version: TypeAlias = tuple[int, bool, int, int]


class Members:
    """The values of an object by key."""

    __slots__ = ("_count", "_first", "_repeated")

    def __init__(self) -> None:
        self._count = 0  # how many of the object's values are indexed
        self._first: dict[str | None, int] = {}
        self._repeated: dict[str | None, list[int]] = {}  # all values of each key that has more than one

    def extend(self, ids: list[int], keys: list[str | None]) -> None:
        """Index the values logged since the last call; if that was interrupted, some are indexed already."""
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
    """An index of a tape's log, extended on demand: values by container, and the nodes that are in use."""

    def __init__(self) -> None:
        self._indexed = 0
        self._children: dict[int, list[int]] = {}
        self._members: dict[int, Members] = {}
        self.in_use: WeakValueDictionary[Version, Node] | None = None  # created with the first one

    def children(self, container: Container, tape: Tape) -> list[int]:
        """Return the ids of all values of a container; if the last call was interrupted, some are indexed already."""
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

    def intern(self, node: Node) -> Node:
        """Return the node in use that is the same version as this one, else this one."""
        if self.in_use is None:
            self.in_use = WeakValueDictionary()
        return self.in_use.setdefault(_version(node), node)


def take_nodes_in_use(state: ParserState, tape: Tape) -> None:
    """Let another tape take over the nodes in use that a state can see: those that are logged, and the open scalar."""
    index = state._tape.node_index
    if index is None or index.in_use is None:
        return
    in_use = get_index(tape).in_use = WeakValueDictionary()
    logged = logged_count(state)
    length = len(state.open_text) if has_open_scalar(state) else -1
    for version, node in index.in_use.items():
        node_id, is_closed, size, _ = version
        if node_id < logged or (node_id == logged and not is_closed and size <= length):
            in_use[version] = node


def get_index(tape: Tape) -> NodeIndex:
    """Return the index of a tape, which is made on demand."""
    if tape.node_index is None:
        tape.node_index = NodeIndex()
    return tape.node_index


def _version(node: Node) -> Version:
    """Identify a version of a node: it closes once, texts only grow, and values have an identity."""
    if isinstance(node, ArrayNode | ObjectNode):
        return node.id, node.closed, len(node._seen), id(node.resolved_value)
    if isinstance(node, StringNode | NumberNode):
        return node.id, node.closed, len(node.buffer), 0
    return node.id, node.closed, 0, 0
