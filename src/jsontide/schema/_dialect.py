"""A dialect of `jsonschema` in, the same dialect out with keywords that are safe for any text.

`jsonschema` walks schema and document.
The keywords here replace those that raise for some numbers, that take quadratic time (equal items, messages that write
out a value at each container), and that try the same thing many times (patterns, and a `$ref` in several branches).
The result of a `$ref` for a value is remembered while `using_memory` lasts; so recursive unions, in which the paths to
a value double with each container, check each value once for each definition.

Rule: what would take too long raises `TooComplexError`; an error that is only yielded would be inverted by `not`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from functools import cache
from operator import ge, le
from typing import Any, Final, TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from jsontide._values import JsonValue
from jsontide.schema._regex import TooComplexError, get_regex
from jsontide.schema._validator import Memory, is_multiple, to_decimal
from jsontide.schema._variants import is_integral, is_same_json

Keyword: TypeAlias = "Callable[[Any, Any, Any, Any], Any]"
"""Takes a validator, the value of the keyword, the document's value and the schema; yields what is wrong."""

_MAX_UNEVALUATED: Final = 5_000
_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_UNEVALUATED: Final = ("unevaluatedItems", "unevaluatedProperties")


_MEMORY: ContextVar[Memory] = ContextVar("_MEMORY")


@contextmanager
def using_memory(memory: Memory) -> Iterator[None]:
    """Let keywords use the memory of a document, and add to it."""
    token = _MEMORY.set(memory)
    try:
        yield
    finally:
        _MEMORY.reset(token)


@cache
def harden(dialect: Any) -> Any:  # noqa: ANN401
    """Return a validator class of `jsonschema` with keywords that are safe for any text."""
    found = dialect.VALIDATORS
    # In some dialects a keyword of the same name means something else.
    standard = {Draft202012Validator.VALIDATORS[name]: keyword for name, keyword in _KEYWORDS.items()}
    keywords = {name: standard[keyword] for name, keyword in found.items() if keyword in standard}
    keywords |= {name: _compare_exactly(found[name]) for name in _BOUNDS if name in found}
    keywords |= {name: _limit_size(found[name], name) for name in _UNEVALUATED if name in found}
    keywords["$ref"] = _remember(found["$ref"])
    types = dialect.TYPE_CHECKER
    if types.is_type(1.0, "integer"):
        types = types.redefine("integer", lambda _, value: _is_number(value) and is_integral(value))
    made: Any = extend
    return made(dialect, validators=keywords, type_checker=types)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _remember(keyword: Keyword) -> Keyword:
    """Keep what a `$ref` said of a value: each is a pointer from the root, so equal ones mean the same schema."""

    def check(validator: Any, ref: str, value: object, schema: object) -> Iterator[ValidationError]:  # noqa: ANN401
        memory = _MEMORY.get()
        place = ref, id(value)
        found = memory.findings(value).get(place)
        if found is None:
            errors = iter(keyword(validator, ref, value, schema))
            first = next(errors, None)
            memory.findings(value)[place] = value, None if first is None else tuple(first.path)
            if first is not None:
                yield first
                yield from errors
        elif found[1] is not None:
            yield ValidationError("as found before", path=found[1])

    return check


def _compare_exactly(keyword: Keyword) -> Keyword:
    def compare(validator: Any, bound: Any, value: Any, schema: object) -> Any:  # noqa: ANN401
        return keyword(validator, to_decimal(bound), to_decimal(value), schema) if _is_number(value) else ()

    return compare


def _limit_size(keyword: Keyword, name: str) -> Keyword:
    def check(validator: Any, said: object, value: object, schema: dict[str, Any]) -> Any:  # noqa: ANN401
        if isinstance(value, list | dict) and len(value) > _MAX_UNEVALUATED:
            raise TooComplexError(f"at most {_MAX_UNEVALUATED} values where the schema says {name!r}")
        if said is False:  # it evaluates nothing itself, but `jsonschema` would try
            schema = {key: schema[key] for key in schema if key != name}
        return keyword(validator, said, value, schema)

    return check


def _sized(kind: type[Sized], fits: Callable[[Any, Any], bool]) -> Keyword:
    def check(_: object, bound: object, value: Any, __: object) -> Iterator[ValidationError]:  # noqa: ANN401
        if isinstance(value, kind) and not fits(len(value), bound):
            yield ValidationError("another length")

    return check


def _fits(validator: Any, value: object, schema: object) -> bool:  # noqa: ANN401
    return next(validator.descend(value, schema), None) is None


def _any_of(validator: object, branches: list[object], value: object, _: object) -> Iterator[ValidationError]:
    if not any(_fits(validator, value, branch) for branch in branches):
        yield ValidationError("no branch")


def _one_of(validator: object, branches: list[object], value: object, _: object) -> Iterator[ValidationError]:
    if sum(_fits(validator, value, branch) for branch in branches) != 1:
        yield ValidationError("not one branch")


def _not(validator: object, schema: object, value: object, _: object) -> Iterator[ValidationError]:
    if _fits(validator, value, schema):
        yield ValidationError("what it must not be")


def _type(validator: Any, types: str | list[str], value: object, _: object) -> Iterator[ValidationError]:  # noqa: ANN401
    names = [types] if isinstance(types, str) else types
    if not any(validator.is_type(value, name) for name in names):
        yield ValidationError("another type")


def _multiple_of(_: object, unit: Any, value: Any, __: object) -> Iterator[ValidationError]:  # noqa: ANN401
    if _is_number(value) and not is_multiple(value, unit):
        yield ValidationError("not a multiple")


def _const(_: object, member: Any, value: Any, __: object) -> Iterator[ValidationError]:  # noqa: ANN401
    if not is_same_json(member, value):
        yield ValidationError("not the value")


def _enum(_: object, members: Any, value: Any, __: object) -> Iterator[ValidationError]:  # noqa: ANN401
    if not any(is_same_json(member, value) for member in members):
        yield ValidationError("not a member")


def _unique_items(_: object, is_wanted: object, value: object, __: object) -> Iterator[ValidationError]:
    if is_wanted and isinstance(value, list) and _has_equal(value):
        yield ValidationError("equal items")


def _has_equal(items: list[JsonValue]) -> bool:
    memory = _MEMORY.get()
    return len({memory.class_of(item) for item in items}) < len(items)


def _pattern(_: object, pattern: str, value: object, __: object) -> Iterator[ValidationError]:
    if isinstance(value, str) and not get_regex(pattern).search(value):
        yield ValidationError("no match")


def _pattern_properties(
    validator: Any,  # noqa: ANN401
    patterns: dict[str, object],
    value: object,
    _: object,
) -> Iterator[ValidationError]:
    if not isinstance(value, dict):
        return
    for pattern, schema in patterns.items():
        for key, member in value.items():
            if get_regex(pattern).search(key):
                yield from validator.descend(member, schema, path=key, schema_path=pattern)


def _additional_properties(
    validator: Any,  # noqa: ANN401
    others: object,
    value: object,
    schema: dict[str, Any],
) -> Iterator[ValidationError]:
    if not isinstance(value, dict):
        return
    known, patterns = schema.get("properties", {}), [get_regex(each) for each in schema.get("patternProperties", {})]
    extra = [key for key in value if key not in known and not any(pattern.search(key) for pattern in patterns)]
    if isinstance(others, dict):
        for key in extra:
            yield from validator.descend(value[key], others, path=key)
    elif not others and extra:
        yield ValidationError("unknown keys")


_KEYWORDS: Final[dict[str, Keyword]] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "multipleOf": _multiple_of,
    "uniqueItems": _unique_items,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "minLength": _sized(str, ge),
    "maxLength": _sized(str, le),
    "minItems": _sized(list, ge),
    "maxItems": _sized(list, le),
    "minProperties": _sized(dict, ge),
    "maxProperties": _sized(dict, le),
}
