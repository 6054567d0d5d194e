"""A core schema of pydantic and a JSON value in, whether pydantic would take too long for it out.

pydantic tries every branch of a union that has no discriminator, and inside each of them every branch of the unions
there; in a recursive type that multiplies with each level of the document, and it cannot be interrupted.
How often it would validate a value is a sum over the paths to that value, and one pass over the document counts it.
Types that cannot multiply, as nearly all, are found when the schema is read, and documents for them are not measured.

Rule: never count less than pydantic does, so that what is let through ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import prod
from typing import Any, Final, TypeAlias

from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._regex import Regex, get_regex

CoreSchema: TypeAlias = dict[str, Any]
Child: TypeAlias = tuple[JsonValue, CoreSchema]
"""A value in a container, and a schema that validates it."""

MAX_STEPS: Final = 200_000
"""For a whole document: about a second if all of it is wrong, much less if it is right."""
FEW_STEPS: Final = 10_000
"""For a part of a document, of which there may be many."""
STEPS_EACH: Final = 200
_STEPS_OF_RE: Final = 20
"""How many steps of Python's `re` take the time of one of pydantic's."""
_FEW_BRANCHES: Final = 100

_NOT_SCHEMAS: Final = frozenset({"metadata", "config", "serialization", "cls", "default", "expected", "members"})
_SCALARS: Final = frozenset(
    (
        *("none", "str", "int", "float", "bool", "bytes", "date", "time", "datetime", "timedelta", "decimal", "url"),
        *("multi-host-url", "uuid", "enum", "literal", "complex", "any", "is-instance", "is-subclass", "callable"),
    )
)
_OBJECTS: Final = frozenset({"model-fields", "dataclass-args", "typed-dict"})
_ARGUMENTS: Final = {"arguments": "arguments_schema", "named-tuple": "fields"}
_INNER: Final = ("schema", "lax_schema", "json_schema", "arguments_schema")
"""The keys of inner schemas that validate the same value."""


class Effort:
    """Estimates how much work a value is for the validator of a core schema."""

    def __init__(self, schema: CoreSchema, definitions: list[CoreSchema], config: Any = None) -> None:  # noqa: ANN401
        self._schema = schema
        self._definitions = {each["ref"]: each for each in definitions}
        parts = list(_parts([schema, *definitions]))
        for part in parts:
            if part.get("type") == "definitions":
                self._definitions |= {each["ref"]: each for each in part["definitions"]}
        self._patterns = _find_patterns(parts, config)
        branches = prod(max(_count_containers(part), 1) for part in parts)
        is_recursive = any(part.get("type") == "definition-ref" for part in parts)
        self.multiplies: Final = branches > _FEW_BRANCHES or (branches > 1 and is_recursive)

    def is_too_much(self, value: JsonValue, most: int = MAX_STEPS) -> bool:
        """Return whether a value takes more than `most` steps, and `STEPS_EACH` for each value in it."""
        if not self.multiplies and not self._patterns:
            return False
        left = most
        seen: dict[int, JsonValue] = {}
        todo: list[tuple[JsonValue, list[tuple[CoreSchema, int]]]] = [(value, [(self._schema, 1)])]
        while todo and left >= 0:
            each, schemas = todo.pop()
            if isinstance(each, list | dict) and id(each) not in seen:
                seen[id(each)] = each
                left += STEPS_EACH * len(each)
            below: dict[tuple[int, int], tuple[JsonValue, CoreSchema, int]] = {}
            while schemas and left >= 0:
                schema, times = schemas.pop()
                left -= times
                if id(schema) in self._patterns and isinstance(each, str):
                    left -= times * self._patterns[id(schema)].steps(len(each)) // _STEPS_OF_RE
                schemas += [(same, times) for same in self._expand(schema, each)]
                for child, meets in _children(schema, each):
                    place = id(child), id(meets)
                    below[place] = child, meets, below.get(place, (child, meets, 0))[2] + times
            todo += _group_by_value(below)
        return left < 0

    def _expand(self, schema: CoreSchema, value: JsonValue) -> Iterator[CoreSchema]:
        """Yield the inner schemas that validate the same value."""
        kind = schema["type"]
        if kind == "definition-ref":
            yield self._definitions[schema["schema_ref"]]
        elif kind == "union":
            yield from (choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"])
        elif kind == "tagged-union":
            tag = _find_tag(schema["discriminator"], value)
            if isinstance(tag, str | int) and tag in schema["choices"]:
                yield schema["choices"][tag]
        elif kind == "chain":
            yield from schema["steps"]
        elif kind != "json":
            yield from (schema[key] for key in _INNER if isinstance(schema.get(key), dict))


def _group_by_value(
    below: dict[tuple[int, int], tuple[JsonValue, CoreSchema, int]],
) -> list[tuple[JsonValue, list[tuple[CoreSchema, int]]]]:
    """Return the values in a container, each with the schemas that validate it."""
    found: dict[int, tuple[JsonValue, list[tuple[CoreSchema, int]]]] = {}
    for child, meets, times in below.values():
        found.setdefault(id(child), (child, []))[1].append((meets, times))
    return list(found.values())


def _parts(schemas: list[Any]) -> Iterator[CoreSchema]:
    """Yield all parts of schemas."""
    todo = list(schemas)
    seen: set[int] = set()
    while todo:
        part = todo.pop()
        if isinstance(part, dict) and id(part) not in seen:
            seen.add(id(part))
            yield part
            is_schema = isinstance(part.get("type"), str)
            todo += [value for key, value in part.items() if not (is_schema and key in _NOT_SCHEMAS)]
        elif isinstance(part, list | tuple):
            todo += part


def _find_patterns(parts: list[CoreSchema], config: Any) -> dict[int, Regex]:  # noqa: ANN401
    """Return the patterns that pydantic runs with Python's `re` and that may take long, by their schemas.

    Its own engine, the default, takes linear time.
    """
    settings = [config, *(part.get("config") for part in parts)]
    is_python = any(isinstance(each, dict) and each.get("regex_engine") == "python-re" for each in settings)
    found: dict[int, Regex] = {}
    for part in parts:
        pattern = part.get("pattern") if part.get("type") == "str" else None
        if isinstance(pattern, re.Pattern):
            found[id(part)] = get_regex(pattern.pattern)
        elif isinstance(pattern, str) and (is_python or part.get("regex_engine") == "python-re"):
            found[id(part)] = get_regex(pattern)
    return {place: regex for place, regex in found.items() if not regex.is_linear}


def _count_containers(part: CoreSchema) -> int:
    """Return how many branches of a union accept a container."""
    if part.get("type") != "union":
        return 0
    choices = [choice[0] if isinstance(choice, tuple) else choice for choice in part["choices"]]
    return sum(choice["type"] not in _SCALARS for choice in choices)


def _find_tag(discriminator: Any, value: JsonValue) -> object:  # noqa: ANN401
    """Return the value of the discriminator of a tagged union."""
    if callable(discriminator):
        found: object = discriminator(value)
        return found
    for path in alias_paths(discriminator):
        found = _at(value, path)
        if found is not MISSING:
            return found
    return None


def _children(schema: CoreSchema, value: JsonValue) -> Iterator[Child]:
    """Yield the children of a value that a schema validates."""
    kind = schema["type"]
    if kind in _ARGUMENTS:
        yield from _arguments(schema[_ARGUMENTS[kind]], value)
    elif isinstance(value, dict):
        if kind in _OBJECTS:
            yield from _members(schema, value)
        if kind == "dict" and "values_schema" in schema:
            yield from ((child, schema["values_schema"]) for child in value.values())
    elif isinstance(value, list):
        items = schema.get("items_schema")
        if isinstance(items, dict):
            yield from ((child, items) for child in value)
        elif isinstance(items, list):
            yield from _items(items, schema.get("variadic_item_index"), value)
    elif kind == "json" and isinstance(value, str) and "schema" in schema:
        inner = _read(value)
        if inner is not MISSING:
            yield inner, schema["schema"]


def _members(schema: CoreSchema, value: dict[str, JsonValue]) -> Iterator[Child]:
    fields = schema["fields"]
    named = fields.items() if isinstance(fields, dict) else ((field["name"], field) for field in fields)
    known = set()
    for name, field in named:
        paths = alias_paths(field.get("validation_alias", name))
        for path in paths if [name] in paths else [*paths, [name]]:
            child = _at(value, path)
            known.add(path[0])
            if child is not MISSING:
                yield child, field["schema"]
    if "extras_schema" in schema:
        yield from ((value[key], schema["extras_schema"]) for key in value if key not in known)


def _arguments(arguments: list[CoreSchema], value: JsonValue) -> Iterator[Child]:
    """Yield the fields of a named tuple, by index or by name."""
    for at, argument in enumerate(arguments):
        child = _at(value, [at if isinstance(value, list) else argument["name"]])
        if child is not MISSING:
            yield child, argument["schema"]


def _items(items: list[CoreSchema], variadic: int | None, value: list[JsonValue]) -> Iterator[Child]:
    """Yield the items of a tuple, in which one schema may validate several."""
    more = max(len(value) - len(items), 0)
    for at, child in enumerate(value):
        if variadic is not None and variadic <= at <= variadic + more:
            yield child, items[variadic]
        else:
            place = at if variadic is None or at < variadic else at - more
            if place < len(items):
                yield child, items[place]


def alias_paths(alias: Any) -> list[list[Any]]:  # noqa: ANN401
    """Return the paths at which pydantic looks for a field with this alias."""
    if isinstance(alias, str):
        return [[alias]]
    paths: list[list[Any]] = alias if isinstance(alias[0], list) else [alias]
    return paths


def _at(value: Any, path: list[Any]) -> JsonValue | Missing:  # noqa: ANN401
    for step in path:
        is_item = isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value)
        if not is_item and not (isinstance(value, dict) and step in value):
            return MISSING
        value = value[step]
    found: JsonValue = value
    return found


def _read(text: str) -> JsonValue | Missing:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return MISSING
    return value
