"""Two JSON Schemas that both apply in, one schema out that means the same, as far as one can.

What one schema cannot express is kept under `ALSO`, and checked by the validator when a value closes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from jsontide.schema._fold.variants import is_same_json
from jsontide.schema._keywords import AnySchema, Schema, fail

ALSO: Final = "x-jsontide-also"
_MAX_WRITTEN: Final = 500_000

_ANNOTATIONS: Final = frozenset(
    (
        *("$schema", "$id", "$comment", "$defs", "$anchor", "$vocabulary", "definitions", "title", "description"),
        *("default", "examples", "example", "deprecated", "readOnly", "writeOnly", "discriminator", "x-stream"),
        *("format", "contentMediaType", "contentEncoding"),
    )
)


def drop_annotations(schema: Schema) -> Schema:
    """Return the keywords of a schema that are not annotations."""
    return {key: value for key, value in schema.items() if key not in _ANNOTATIONS}


@dataclass(slots=True)
class Merger:
    """Merges schemas; the same parts always make the same object, because recursive schemas come back to it."""

    parts: dict[int, list[Schema]] = field(default_factory=dict)
    """The parts of each merged schema, by its id."""
    known: dict[frozenset[int], Schema] = field(default_factory=dict)
    """Merged schemas by the ids of their parts."""
    written: int = 0

    def merge(self, one: Schema, other: Schema) -> Schema:
        """Return a schema for what both allow, with the annotations of the first."""
        self.spend(len(one) + len(other))
        result = dict(one)
        is_whole = True
        for key, value in other.items():
            if key not in result:
                result[key] = value
            elif key in ("properties", "patternProperties"):
                result[key] = self.merge_members(result[key], value)
            elif key == "items":
                result[key] = self.merge_both(result[key], value)
            elif key in _MERGERS:
                result[key] = _MERGERS[key](result[key], value)
            elif key not in _ANNOTATIONS and result[key] != value:
                is_whole = False
        closed = [schema for schema in (one, other) if schema.get("additionalProperties", True) is not True]
        if not is_whole or closed:
            result[ALSO] = join_also(result.get(ALSO, []), closed if is_whole else [one, other])
        return result

    def spend(self, count: int) -> None:
        """Count written keywords, and fail before they fill the memory."""
        self.written += count
        if self.written > _MAX_WRITTEN:
            fail(f"with 'allOf', 'anyOf' and 'oneOf' flattened, the schema has more than {_MAX_WRITTEN} keywords", "#")

    def merge_members(self, one: Schema, other: Schema) -> Schema:
        self.spend(len(one) + len(other))
        return {**one, **other, **{key: self.merge_both(one[key], other[key]) for key in one if key in other}}

    def merge_both(self, one: AnySchema, other: AnySchema) -> AnySchema:
        if isinstance(one, bool) or isinstance(other, bool):
            return other if one is True else one if other is True else False
        parts = {id(part): part for schema in (one, other) for part in self.parts.get(id(schema), [schema])}
        if len(parts) == 1:
            return one
        self.spend(len(parts))
        made = self.known.setdefault(frozenset(parts), {"allOf": list(parts.values())})
        self.parts[id(made)] = made["allOf"]
        return made


def join_also(one: list[Schema], other: list[Schema]) -> list[Schema]:
    """Return all schemas that the validator has to check, each once."""
    return list({id(schema): schema for schema in (*one, *other)}.values())


def _all_keys(one: list[str], other: list[str]) -> list[str]:
    return list(dict.fromkeys([*one, *other]))


def _common_types(one: str | list[str], other: str | list[str]) -> list[str]:
    ones, others = (name if isinstance(name, list) else [name] for name in (one, other))
    found = [name for name in ones if name in others]
    if "integer" not in found and "integer" in (*ones, *others) and "number" in (*ones, *others):
        found.append("integer")
    return found


def _common_members(one: list[Any], other: list[Any]) -> list[Any]:
    return [member for member in one if any(is_same_json(member, each) for each in other)]


_MERGERS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "required": _all_keys,
    "type": _common_types,
    "enum": _common_members,
    "minItems": max,
    "maxItems": min,
    ALSO: join_also,
}
