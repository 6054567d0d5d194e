"""Keywords of a JSON Schema in, their values out, or an error that says what is wrong and where.

Two schemas that both apply are merged to one that means the same, as far as one can; what it cannot express is kept
under `ALSO`, and checked by the validator when a value closes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeAlias

from jsontide._values import JsonValue
from jsontide.schema._mismatch import UnsupportedSchemaError, shorten
from jsontide.schema._regex import Regex, get_regex
from jsontide.schema._variants import get_kind, is_integral, is_same_json

Schema: TypeAlias = dict[str, Any]
AnySchema: TypeAlias = Schema | bool

TYPES: Final = ("string", "integer", "number", "boolean", "null", "array", "object")
UNSUPPORTED: Final = ("$dynamicRef", "$recursiveRef")
WHOLE: Final = "x-jsontide-whole"
"""What a type says of a string that is no free text and has no format: a `Decimal`, for example."""
_FREE_TEXT: Final = frozenset(
    (
        *("text", "textarea", "plain", "plaintext", "plain-text", "string", "multiline", "multi-line", "prose", "code"),
        *("markdown", "md", "mdx", "commonmark", "html", "xml", "latex", "richtext", "rich-text"),
    )
)
"""Formats, as front ends and people name them, of which half a value is half a text."""
_LISTS_OF_SCHEMAS: Final = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_FEW_MEMBERS: Final = 8


def fail(problem: str, where: str) -> NoReturn:
    raise UnsupportedSchemaError(problem, where)


def as_schema(schema: object, where: str) -> Schema:
    if not isinstance(schema, dict):
        fail(f"a schema must be an object or a boolean, not {shorten(schema)}", where)
    return schema


def check_keywords(schema: Schema, where: str) -> None:
    """Refuse keywords that are not supported, and lengths that are not numbers."""
    for keyword in UNSUPPORTED:
        if keyword in schema:
            fail(f"{keyword!r} is not supported", where)
    for keyword in ("minItems", "maxItems"):
        value = schema.get(keyword, 0)
        if not isinstance(value, int | float) or isinstance(value, bool):
            fail(f"{keyword!r} must be a number, not {shorten(value)}", where)


def get_list(schema: Schema, keyword: str, where: str) -> list[Any]:
    found = schema.get(keyword, [])
    if not isinstance(found, list):
        fail(f"{keyword!r} must be an array, not {shorten(found)}", where)
    for each in found:
        if keyword == "required" and not isinstance(each, str):
            fail(f"{keyword!r} must have keys, not {shorten(each)}", where)
        if keyword in _LISTS_OF_SCHEMAS and not isinstance(each, bool):
            as_schema(each, f"{where}/{keyword}")
    return found


def get_object(schema: Schema, keyword: str, where: str) -> dict[str, AnySchema]:
    found = schema.get(keyword, {})
    if not isinstance(found, dict):
        fail(f"{keyword!r} must be an object, not {shorten(found)}", where)
    for key, each in found.items():
        if not isinstance(each, bool):
            as_schema(each, f"{where}/{keyword}/{key}")
    return found


def get_types(schema: Schema, where: str) -> list[str]:
    found = schema["type"]
    names: list[str] = found if isinstance(found, list) else [found]
    for name in names:
        if name not in TYPES:
            fail(f"'type' must be one of {', '.join(TYPES)}, not {shorten(name)}", where)
    return names


def compile_pattern(text: str, where: str) -> Regex:
    try:
        regex = get_regex(text)
    except re.error as error:
        fail(f"the pattern {text!r} is not valid: {error}", where)
    if not regex.is_safe:
        fail(f"the pattern {text!r} may take exponential time on a key", where)
    return regex


def is_of_type(value: JsonValue, name: str) -> bool:
    if name == "integer":
        return get_kind(value) == "number" and is_integral(value)
    return get_kind(value) == name


def is_free_text(schema: Schema) -> bool:
    """Return whether half a string of a schema means something: not if it has a format or an encoding."""
    media_type = schema.get("contentMediaType", "text/")
    return (
        str(schema.get("format", "text")).lower() in _FREE_TEXT
        and str(media_type).startswith("text/")
        and "contentEncoding" not in schema
        and WHOLE not in schema
    )


def describe_members(members: list[Any]) -> str:
    texts = [shorten(member) for member in members[:_FEW_MEMBERS]]
    if len(members) == 1:
        return texts[0]
    more = f", … ({len(members)} values)" if len(members) > _FEW_MEMBERS else ""
    return f"one of {', '.join(texts)}{more}"


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
