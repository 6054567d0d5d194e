"""The nodes of the abstract syntax tree: one frozen type per kind of value.

A container may have many values, and most who ask for its node want to know something else: their ids and keys are put
together when somebody reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    from decimal import Decimal

    from jsontide._values import JsonValue, Missing


class Children:
    """The values of a container as a state saw them: the first of its closed ones, and an open scalar if there is one.

    The ids, and the keys by id, are those of the tape, which only appends to them.
    """

    __slots__ = ("_count", "_ids", "_keys", "_open_id", "_open_key")

    def __init__(self, ids: list[int], count: int, keys: list[str | None]) -> None:
        self._ids = ids
        self._count = count
        self._keys = keys
        self._open_id: int | None = None
        self._open_key: str | None = None

    def add_open(self, node_id: int, key: str | None) -> None:
        """Take in the open scalar, which the tape has not logged yet."""
        self._open_id = node_id
        self._open_key = key

    def __len__(self) -> int:
        return self._count + (self._open_id is not None)

    def ids(self) -> tuple[int, ...]:
        logged = self._ids[: self._count]
        return tuple(logged) if self._open_id is None else (*logged, self._open_id)

    def keys(self) -> tuple[str | None, ...]:
        logged = [self._keys[node_id] for node_id in self._ids[: self._count]]
        return tuple(logged) if self._open_id is None else (*logged, self._open_key)


class _Container:
    """What array and object nodes have in common: fields that are set when somebody reads them."""

    __slots__ = ("_seen",)
    _seen: Children

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> tuple[object, ...]:
            """Return a field that was not set yet: only such get here."""
            if name == "children":
                made = self._seen.ids()
            elif name == "keys":
                made = self._seen.keys()
            else:
                message = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(message)
            object.__setattr__(self, name, made)
            return made


@dataclass(frozen=True, slots=True, weakref_slot=True)
class NullNode:
    """`null`, or the beginning of it."""

    id: int
    parent_id: int | None
    closed: bool
    resolved_value: Missing | None
    type: Literal["null"] = "null"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class BooleanNode:
    """`true` or `false`, or the beginning of one."""

    id: int
    parent_id: int | None
    closed: bool
    resolved_value: bool | Missing
    type: Literal["boolean"] = "boolean"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class NumberNode:
    """A number; `buffer` is its lexeme so far."""

    id: int
    parent_id: int | None
    closed: bool
    resolved_value: float | Decimal | str | Missing
    buffer: str
    type: Literal["number"] = "number"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class StringNode:
    """A string; `buffer` is its decoded text so far."""

    id: int
    parent_id: int | None
    closed: bool
    resolved_value: str
    buffer: str
    type: Literal["string"] = "string"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ArrayNode(_Container):
    """An array; `children` are the ids of its items."""

    id: int
    parent_id: int | None
    closed: bool
    resolved_value: list[JsonValue]
    children: tuple[int, ...]
    type: Literal["array"] = "array"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ObjectNode(_Container):
    """An object; `children` are the ids of its values, `keys` their keys, repeated ones included."""

    id: int
    parent_id: int | None
    closed: bool
    resolved_value: dict[str, JsonValue]
    keys: tuple[str, ...]
    children: tuple[int, ...]
    type: Literal["object"] = "object"


Node: TypeAlias = NullNode | BooleanNode | NumberNode | StringNode | ArrayNode | ObjectNode
"""A value of the document, open or closed."""

Kind = TypeVar("Kind", ArrayNode, ObjectNode)


def container_node(kind: type[Kind], seen: Children, **fields: object) -> Kind:
    """Return a node with all other fields set, whose ids and keys are put together when somebody reads them."""
    node = object.__new__(kind)
    object.__setattr__(node, "_seen", seen)
    for name, field in fields.items():
        object.__setattr__(node, name, field)
    return node
