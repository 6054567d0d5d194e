"""The nodes of the abstract syntax tree: one frozen type per kind of value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from decimal import Decimal

    from jsontide._values import JsonValue, Missing


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
class ArrayNode:
    """An array; `children` are the ids of its items."""

    id: int
    parent_id: int | None
    closed: bool
    resolved_value: list[JsonValue]
    children: tuple[int, ...]
    type: Literal["array"] = "array"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ObjectNode:
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
