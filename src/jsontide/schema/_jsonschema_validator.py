"""A JSON Schema and a value in, what `jsonschema` says about it out: when a value closes, and about the whole document.

Without that package values are still shown; only the end of a document needs it, and it is imported when it is needed.
Each value is checked when it closes, by the keywords that nodes do not cover, and the results are remembered; so a
document that is too deep for the recursion of `jsonschema` is still checked, level by level.
What cannot be checked like that is a mismatch.

`jsonschema` walks schema and document.
Its dialect gets other keywords for those that raise for some numbers, that take quadratic time (equal items, messages
that write out a value at each container), and that try the same thing many times (patterns, and a `$ref` in several
branches).
The result of a `$ref` for a value is remembered with its document; so recursive unions, in which the paths to a value
double with each container, check each value once for each definition.

Rule: what would take too long raises `TooComplexError`; an error that is only yielded would be inverted by `not`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from operator import ge, le
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from jsontide._path import Path
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._json_schema import ALSO, AnySchema, Schema, fail, follow_pointer, iterate_schemas
from jsontide.schema._mismatch import MismatchReason, UnsupportedSchemaError, shorten
from jsontide.schema._regex import TooComplexError, get_regex
from jsontide.schema._validator import (
    Memory,
    Validation,
    Violation,
    find_path,
    has_package,
    is_multiple,
    need_package,
    to_decimal,
)
from jsontide.schema._variants import is_integral, is_same_json

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator as Tool

Errors: TypeAlias = "Iterator[ValidationError]"
Keyword: TypeAlias = Callable[[Any, Any, Any, Any], Any]
"""Takes a validator, the value of the keyword, the document's value and the schema; yields errors."""

_CHECKED_KEYWORDS: Final = frozenset(
    (
        *("minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("multipleOf", "uniqueItems", "contains", "minContains", "maxContains", "minProperties", "maxProperties"),
        *("propertyNames", "patternProperties", "dependentRequired", "dependentSchemas", "dependencies", "not", "if"),
        *("then", "else"),
    )
)
_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")
"""They depend on other keywords, so the whole schema is checked."""
_MAX_UNEVALUATED: Final = 5_000
_BOUNDS_OF_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")

_MEMORY: ContextVar[Memory] = ContextVar("_MEMORY")
"""What keywords remember of the document that is being checked."""

_REASONS: Final = {
    "type": MismatchReason.WRONG_TYPE,
    "required": MismatchReason.MISSING_KEY,
    "additionalProperties": MismatchReason.UNKNOWN_KEY,
    "const": MismatchReason.NOT_A_MEMBER,
    "enum": MismatchReason.NOT_A_MEMBER,
    "anyOf": MismatchReason.NO_BRANCH,
    "oneOf": MismatchReason.NO_BRANCH,
    "minItems": MismatchReason.WRONG_LENGTH,
    "maxItems": MismatchReason.WRONG_LENGTH,
}


class JsonSchemaValidator:
    """Validates documents by a JSON Schema; the instance is the value itself."""

    def __init__(self, root: AnySchema, dialect: object = None) -> None:
        """Take a schema whose references are pointers from its root, and the `$schema` that it had."""
        self._root = root
        self._dialect = dialect
        self._is_there = has_package("jsonschema")
        self._tool: Tool | None = None

    def prepare(self) -> None:
        """Refuse a schema that is wrong; one that is too deep for the recursion of `jsonschema` only checks less."""
        if self._is_there and self._root not in ({}, True):
            with suppress(RecursionError):
                self._tool = _build_tool(self._root, self._dialect)

    def validate(self, value: JsonValue, memory: Memory, *, has_decimals: bool) -> Validation[JsonValue]:
        need_package("jsonschema", "the end of a document with a JSON Schema")
        try:
            problems = self.find_problems(value, memory)
        except RecursionError:
            return Validation(value, is_sure=False)
        return Validation(MISSING if problems else value, problems)

    def find_problems(self, value: Any, memory: Memory, schema: Schema | None = None) -> tuple[Violation, ...]:
        """Return the problems of a value, by the schema or by a part of it."""
        if self._tool is None:
            self._tool = _build_tool(self._root, self._dialect)
        tool = self._tool if schema is None else self._tool.evolve(schema=schema)
        token = _MEMORY.set(memory)
        try:
            return _to_problems(tool.iter_errors(value), value)
        except TooComplexError as error:
            return (Violation((), MismatchReason.TOO_COMPLEX, error.expected),)
        except ValueError:  # an integer may have more digits than Python converts to text
            return (Violation((), MismatchReason.TOO_COMPLEX, "numbers with fewer digits"),)
        except BaseException as error:
            # `jsonschema` keeps schemas in `rpds`, which panics where a comparison meets the limit of recursion.
            if type(error).__name__ != "PanicException":
                raise
            raise RecursionError from error
        finally:
            _MEMORY.reset(token)

    def find_checks(self, flat: Schema) -> tuple[LocalCheck | None, None]:
        """Return what checks closed values of a schema, if anything has to."""
        local = {key: value for key, value in flat.items() if key in _CHECKED_KEYWORDS}
        also = [*flat.get(ALSO, ()), *([flat] if any(key in flat for key in _UNEVALUATED) else [])]
        if also:
            local["allOf"] = also
        return (LocalCheck(self, local) if local and self._is_there else None), None


@dataclass(slots=True)
class LocalCheck:
    """Checks a closed value by a few keywords."""

    validator: JsonSchemaValidator
    schema: Schema

    def find_problems(self, value: JsonValue, memory: Memory) -> tuple[Violation, ...]:
        try:
            return self.validator.find_problems(value, memory, self.schema)
        except RecursionError:
            return (Violation((), MismatchReason.TOO_COMPLEX, "a value that is nested less deeply"),)

    def convert(self, value: JsonValue) -> JsonValue | Missing:
        """Return `MISSING`: JSON Schema converts nothing."""
        return MISSING


def _to_problems(errors: Iterable[ValidationError], value: JsonValue) -> tuple[Violation, ...]:
    """Leave out remembered errors of a `$ref` where another error has the same path."""
    found = [(_to_problem(error, value), error.validator == "$ref") for error in errors]
    named = {problem.path for problem, is_ref in found if not is_ref}
    return tuple(problem for problem, is_ref in found if not is_ref or problem.path not in named)


def _to_problem(error: ValidationError, value: JsonValue) -> Violation:
    keyword = str(error.validator)
    path = find_path(value, tuple(error.absolute_path))
    reason = _REASONS.get(keyword, MismatchReason.INVALID)
    expected = f"a value that keeps to {keyword!r}: {shorten(error.validator_value)}"
    return Violation(path, reason, expected)


def _check_keywords(root: AnySchema, standard: Any) -> None:
    """Refuse a schema that its dialect does not allow, also where only a `$ref` leads to a part; each is read once."""
    from jsonschema.exceptions import SchemaError

    refs = {"#", *(part["$ref"] for part in iterate_schemas(root) if "$ref" in part)}
    parts = {ref: follow_pointer(root, ref) for ref in refs}
    ids = {id(part) for part in parts.values() if isinstance(part, dict)}
    for ref, part in parts.items():
        try:
            standard.check_schema(_without(part, ids))
        except SchemaError as error:
            raise UnsupportedSchemaError(error.message, "/".join([ref, *map(str, error.absolute_path)])) from error


def _without(value: Any, parts: set[int]) -> Any:
    """Return a copy of a container with empty schemas in place of the parts, which are given by their `id`."""
    if isinstance(value, dict):
        return {key: {} if id(each) in parts else _without(each, parts) for key, each in value.items()}
    if isinstance(value, list):
        return [{} if id(each) in parts else _without(each, parts) for each in value]
    return value


def _check_patterns(root: AnySchema) -> None:
    """Refuse patterns that `jsonschema` would run with `re` for `unevaluatedProperties`, if that may take too long."""
    parts = list(iterate_schemas(root))
    if not any("unevaluatedProperties" in part for part in parts):
        return
    for part in parts:
        patterns = part.get("patternProperties")
        for pattern in patterns if isinstance(patterns, dict) else ():
            if not get_regex(pattern).is_linear:
                fail(f"the pattern {pattern!r} may take too long beside 'unevaluatedProperties'", "#")


def _build_tool(root: AnySchema, dialect: object) -> Tool:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
    from referencing import Registry

    known = {"$schema": dialect} if isinstance(dialect, str) else {}
    standard: Any = validator_for(known, default=Draft202012Validator)
    _check_keywords(root, standard)
    _check_patterns(root)
    # By default `jsonschema` opens what a reference names; an empty registry has nothing to open.
    tool: Tool = _harden(standard)(root, registry=Registry())
    return tool


@cache
def _harden(dialect: Any) -> Any:
    """Return a validator class of `jsonschema` with keywords that are safe for any text."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    found = dialect.VALIDATORS
    # In some dialects a keyword of the same name means something else.
    standard = {Draft202012Validator.VALIDATORS[name]: keyword for name, keyword in _KEYWORDS.items()}
    keywords = {name: standard[keyword] for name, keyword in found.items() if keyword in standard}
    keywords |= {name: _compare_exactly(found[name]) for name in _BOUNDS_OF_NUMBERS if name in found}
    keywords |= {name: _limit_size(found[name], name) for name in _UNEVALUATED if name in found}
    keywords["$ref"] = _remember(found["$ref"])
    types = dialect.TYPE_CHECKER
    if types.is_type(1.0, "integer"):
        types = types.redefine("integer", lambda _, value: _is_number(value) and is_integral(value))
    made: Any = extend
    return made(dialect, validators=keywords, type_checker=types)


def _error(path: Path = ()) -> ValidationError:
    """Return an error; `jsonschema` adds the keyword and its value, which say more than a message of ours."""
    from jsonschema.exceptions import ValidationError

    return ValidationError("", path=path)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _remember(keyword: Keyword) -> Keyword:
    """Remember the result of a `$ref` for a value; each is a pointer from the root, so equal ones mean one schema."""

    def check(validator: Any, ref: str, value: object, schema: object) -> Errors:
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
            yield _error(found[1])

    return check


def _compare_exactly(keyword: Keyword) -> Keyword:
    def compare(validator: Any, bound: Any, value: Any, schema: object) -> Any:
        return keyword(validator, to_decimal(bound), to_decimal(value), schema) if _is_number(value) else ()

    return compare


def _limit_size(keyword: Keyword, name: str) -> Keyword:
    def check(validator: Any, inner: object, value: object, schema: dict[str, Any]) -> Any:
        if isinstance(value, list | dict) and len(value) > _MAX_UNEVALUATED:
            raise TooComplexError(f"at most {_MAX_UNEVALUATED} values where the schema says {name!r}")
        if inner is False:  # it evaluates nothing itself, but `jsonschema` would try
            schema = {key: schema[key] for key in schema if key != name}
        return keyword(validator, inner, value, schema)

    return check


def _fits(validator: Any, value: object, schema: object) -> bool:
    return next(validator.descend(value, schema), None) is None


def _is_of_type(validator: Any, types: str | list[str], value: object) -> bool:
    return any(validator.is_type(value, name) for name in ([types] if isinstance(types, str) else types))


def _has_equal_items(value: object) -> bool:
    return isinstance(value, list) and len(set(map(_MEMORY.get().class_of, value))) < len(value)


def _pattern_properties(validator: Any, patterns: dict[str, object], value: object, _: object) -> Errors:
    if not isinstance(value, dict):
        return
    for pattern, schema in patterns.items():
        for key, member in value.items():
            if get_regex(pattern).search(key):
                yield from validator.descend(member, schema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, others: object, value: object, schema: dict[str, Any]) -> Errors:
    if not isinstance(value, dict):
        return
    known, patterns = schema.get("properties", {}), [get_regex(each) for each in schema.get("patternProperties", {})]
    extra = [key for key in value if key not in known and not any(pattern.search(key) for pattern in patterns)]
    if isinstance(others, dict):
        for key in extra:
            yield from validator.descend(value[key], others, path=key)
    elif not others and extra:
        yield _error()


def _rule(holds: Callable[[Any, Any, Any], bool]) -> Keyword:
    """Return a keyword from whether it holds, given a validator, the value of the keyword and that of the document."""

    def check(validator: object, argument: object, value: object, _: object) -> Errors:
        if not holds(validator, argument, value):
            yield _error()

    return check


def _sized(kind: type[Sized], fits: Callable[[Any, Any], bool]) -> Keyword:
    return _rule(lambda _, bound, value: not isinstance(value, kind) or fits(len(value), bound))


_KEYWORDS: Final[dict[str, Keyword]] = {
    "type": _rule(_is_of_type),
    "const": _rule(lambda _, member, value: is_same_json(member, value)),
    "enum": _rule(lambda _, members, value: any(is_same_json(member, value) for member in members)),
    "anyOf": _rule(lambda validator, branches, value: any(_fits(validator, value, branch) for branch in branches)),
    "oneOf": _rule(lambda validator, branches, value: sum(_fits(validator, value, each) for each in branches) == 1),
    "not": _rule(lambda validator, schema, value: not _fits(validator, value, schema)),
    "multipleOf": _rule(lambda _, unit, value: not _is_number(value) or is_multiple(value, unit)),
    "uniqueItems": _rule(lambda _, is_wanted, value: not is_wanted or not _has_equal_items(value)),
    "pattern": _rule(lambda _, pattern, value: not isinstance(value, str) or get_regex(pattern).search(value)),
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "minLength": _sized(str, ge),
    "maxLength": _sized(str, le),
    "minItems": _sized(list, ge),
    "maxItems": _sized(list, le),
    "minProperties": _sized(dict, ge),
    "maxProperties": _sized(dict, le),
}
