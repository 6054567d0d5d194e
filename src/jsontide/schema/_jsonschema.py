"""A JSON Schema and a value in, what `jsonschema` says about it out: when a value closes, and about the whole document.

Without that package values are still shown; only the end of a document needs it.
Each value is checked when it closes, by the keywords that nodes do not cover, and the results are remembered; so a
document that is too deep for the recursion of `jsonschema` is still checked, level by level.
What cannot be checked like that is a mismatch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._keywords import ALSO, AnySchema, Schema, fail
from jsontide.schema._mismatch import MismatchReason, UnsupportedSchemaError, shorten
from jsontide.schema._references import iterate_schemas
from jsontide.schema._regex import TooComplexError, get_regex
from jsontide.schema._validator import Memory, Problem, Validation, find_path, has_package, need_package

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator as Tool

_CHECKED: Final = frozenset(
    (
        *("minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("multipleOf", "uniqueItems", "contains", "minContains", "maxContains", "minProperties", "maxProperties"),
        *("propertyNames", "patternProperties", "dependentRequired", "dependentSchemas", "dependencies", "not", "if"),
        *("then", "else"),
    )
)
_WHOLE: Final = ("unevaluatedProperties", "unevaluatedItems")
"""They depend on other keywords, so the whole schema is checked."""

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

    def validate(self, value: JsonValue, memory: Memory, *, has_decimals: bool) -> Validation[JsonValue]:  # noqa: ARG002
        need_package("jsonschema", "the end of a document with a JSON Schema")
        try:
            problems = self.find_problems(value, memory)
        except RecursionError:
            return Validation(value, is_sure=False)
        return Validation(MISSING if problems else value, problems)

    def find_problems(self, value: Any, memory: Memory, schema: Schema | None = None) -> tuple[Problem, ...]:  # noqa: ANN401
        """Return what is wrong with a value, by the schema or by a part of it."""
        from jsontide.schema._dialect import using_memory  # noqa: PLC0415

        if self._tool is None:
            self._tool = _build_tool(self._root, self._dialect)
        tool = self._tool if schema is None else self._tool.evolve(schema=schema)
        try:
            with using_memory(memory):
                return _to_problems(tool.iter_errors(value), value)
        except TooComplexError as error:
            return (Problem((), MismatchReason.TOO_COMPLEX, error.expected),)
        except ValueError:  # an integer may have more digits than Python converts to text
            return (Problem((), MismatchReason.TOO_COMPLEX, "numbers with fewer digits"),)
        except BaseException as error:
            # `jsonschema` keeps schemas in `rpds`, which panics where a comparison meets the limit of recursion.
            if type(error).__name__ != "PanicException":
                raise
            raise RecursionError from error

    def find_checks(self, flat: Schema) -> tuple[LocalCheck | None, None]:
        """Return what checks closed values of a schema, if anything has to."""
        local = {key: value for key, value in flat.items() if key in _CHECKED}
        also = [*flat.get(ALSO, ()), *([flat] if any(key in flat for key in _WHOLE) else [])]
        if also:
            local["allOf"] = also
        return (LocalCheck(self, local) if local and self._is_there else None), None


@dataclass(slots=True)
class LocalCheck:
    """Checks a closed value by a few keywords."""

    validator: JsonSchemaValidator
    schema: Schema

    def find_problems(self, value: JsonValue, memory: Memory) -> tuple[Problem, ...]:
        try:
            return self.validator.find_problems(value, memory, self.schema)
        except RecursionError:
            return (Problem((), MismatchReason.TOO_COMPLEX, "a value that is nested less deeply"),)

    def convert(self, value: JsonValue) -> JsonValue | Missing:  # noqa: ARG002
        """Return `MISSING`: JSON Schema converts nothing."""
        return MISSING


def _to_problems(errors: Iterable[ValidationError], value: JsonValue) -> tuple[Problem, ...]:
    """Leave out remembered errors of a `$ref` where another error has the same path."""
    found = [(_to_problem(error, value), error.validator == "$ref") for error in errors]
    named = {problem.path for problem, is_ref in found if not is_ref}
    return tuple(problem for problem, is_ref in found if not is_ref or problem.path not in named)


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
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415
    from jsonschema.validators import validator_for  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415

    from jsontide.schema._dialect import harden  # noqa: PLC0415

    known = {"$schema": dialect} if isinstance(dialect, str) else {}
    standard: Any = validator_for(known, default=Draft202012Validator)
    try:
        standard.check_schema(root)
    except SchemaError as error:
        where = "/".join(["#", *map(str, error.absolute_path)])
        raise UnsupportedSchemaError(error.message, where) from error
    _check_patterns(root)
    # By default `jsonschema` opens what a reference names; an empty registry has nothing to open.
    tool: Tool = harden(standard)(root, registry=Registry())
    return tool


def _to_problem(error: ValidationError, value: JsonValue) -> Problem:
    keyword = str(error.validator)
    path = find_path(value, tuple(error.absolute_path))
    reason = _REASONS.get(keyword, MismatchReason.INVALID)
    expected = f"a value that keeps to {keyword!r}: {shorten(error.validator_value)}"
    return Problem(path, reason, expected)
