"""What checks found out about the values of one document, so that nothing is checked twice.

Values are known by their `id`, and kept alive, so that no other value can get the same one.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeAlias

from jsontide._path import Path
from jsontide._values import JsonValue
from jsontide.schema._numbers import to_decimal

Found: TypeAlias = "tuple[object, Path | None]"
"""A value, and the path to the first thing that is wrong with it, `None` if nothing is."""
Findings: TypeAlias = "dict[tuple[object, int], Found]"
"""Results by schema and value."""


class Memory:
    """Results for the containers of a document, and for the scalar that was checked last."""

    __slots__ = ("_classes", "_containers", "_numbers", "_scalar", "_scalars")

    def __init__(self) -> None:
        self._containers: Findings = {}
        self._scalar: object = self
        self._scalars: Findings = {}
        self._classes: dict[object, int] = {}
        self._numbers: dict[int, tuple[object, int]] = {}

    def findings(self, value: object) -> Findings:
        """Return the results for a value, to read and to add to."""
        if isinstance(value, list | dict):
            return self._containers
        if value is not self._scalar:
            self._scalar = value
            self._scalars = {}
        return self._scalars

    def class_of(self, value: JsonValue) -> int:
        """Return a number that only equal JSON values share: 1 equals 1.0, and `true` does not equal 1."""
        todo: list[JsonValue] = [value]
        while todo:
            each = todo[-1]
            unknown = [child for child in _children(each) if id(child) not in self._numbers]
            if unknown and isinstance(each, list | dict):
                todo += unknown
                continue
            todo.pop()
            if isinstance(each, list | dict):
                self._numbers[id(each)] = each, self._number(self._key(each))
        return self._number_of(value)

    def _number_of(self, value: JsonValue) -> int:
        if isinstance(value, list | dict):
            return self._numbers[id(value)][1]
        return self._number(_scalar_key(value))

    def _key(self, value: list[JsonValue] | dict[str, JsonValue]) -> object:
        if isinstance(value, list):
            return tuple(map(self._number_of, value))
        return frozenset((key, self._number_of(member)) for key, member in value.items())

    def _number(self, key: object) -> int:
        return self._classes.setdefault(key, len(self._classes))


def _children(value: JsonValue) -> list[Any]:
    """Return the containers in a container."""
    if not isinstance(value, list | dict):
        return []
    children = value.values() if isinstance(value, dict) else value
    return [child for child in children if isinstance(child, list | dict)]


def _scalar_key(value: JsonValue) -> object:
    if isinstance(value, bool) or value is None:
        return repr(value), None
    if isinstance(value, float):
        return to_decimal(value)
    return value if isinstance(value, int | Decimal) else (value, str)
