"""Keywords of a JSON Schema in, their values out, or an error that says what is wrong and where."""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn, TypeAlias

from jsontide._values import JsonValue
from jsontide.schema._fold.variants import get_kind, is_integral
from jsontide.schema._mismatch import UnsupportedSchemaError, shorten
from jsontide.schema._regex import Regex, get_regex

Schema: TypeAlias = dict[str, Any]
AnySchema: TypeAlias = Schema | bool

TYPES: Final = ("string", "integer", "number", "boolean", "null", "array", "object")
_UNSUPPORTED: Final = ("$dynamicRef", "$recursiveRef")
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
    for keyword in _UNSUPPORTED:
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


def describe_members(members: list[Any]) -> str:
    texts = [shorten(member) for member in members[:_FEW_MEMBERS]]
    if len(members) == 1:
        return texts[0]
    more = f", … ({len(members)} values)" if len(members) > _FEW_MEMBERS else ""
    return f"one of {', '.join(texts)}{more}"
