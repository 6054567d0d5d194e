"""JSON Schemas that programs pass in: what `jsonschema` says of closed values, and of whole ones.

Without that package values are shown all the same; only the end needs it.
Each node is checked when it closes, by those keywords that no shape speaks of; so a document that is too deep for the
recursion of `jsonschema` has been checked all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._keywords import short
from jsontide.schema._merge import ALSO
from jsontide.schema._mismatch import MismatchReason, UnsupportedSchemaError
from jsontide.schema._validator import Problem, Validated, has_package, need_package, path_in

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator as Tool

    from jsontide.schema._keywords import AnySchema, Schema

_CHECKED: Final = frozenset(
    (
        *("minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("multipleOf", "uniqueItems", "contains", "minContains", "maxContains", "minProperties", "maxProperties"),
        *("propertyNames", "patternProperties", "dependentRequired", "dependentSchemas", "dependencies", "not", "if"),
        *("then", "else"),
    )
)
_WHOLE: Final = ("unevaluatedProperties", "unevaluatedItems")
"""They speak of what other keywords said, so that the whole schema is looked at."""

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
    """Has the last word on a document whose schema is a JSON Schema; the instance is the value itself."""

    def __init__(self, root: AnySchema) -> None:
        self._root = root
        self._tool: Tool | None = None

    def tool(self, schema: AnySchema | None = None) -> Tool:
        """Return what validates by the schema, or by a part of it."""
        if self._tool is None:
            self._tool = _tool_for(self._root)
        return self._tool if schema is None else self._tool.evolve(schema=schema)

    def validated(self, value: JsonValue, *, has_decimals: bool) -> Validated[JsonValue]:  # noqa: ARG002
        need_package("jsonschema", "the end of a document with a JSON Schema")
        try:
            problems = _problems(self.tool(), value)
        except RecursionError:
            return Validated(value, is_sure=False)
        return Validated(MISSING if problems else value, problems)

    def checks(self, flat: Schema) -> tuple[LocalCheck | None, None]:
        """Return what to ask about closed values of a schema, if there is anything."""
        local = {key: value for key, value in flat.items() if key in _CHECKED}
        also = [*flat.get(ALSO, ()), *([flat] if any(key in flat for key in _WHOLE) else [])]
        if also:
            local["allOf"] = also
        return (LocalCheck(self, local) if local and has_package("jsonschema") else None), None


@dataclass(slots=True)
class LocalCheck:
    """What a few keywords say about a closed value."""

    validator: JsonSchemaValidator
    schema: Schema

    def problems(self, value: JsonValue) -> tuple[Problem, ...]:
        try:
            return _problems(self.validator.tool(self.schema), value)
        except RecursionError:
            return ()

    def converted(self, value: JsonValue) -> JsonValue | Missing:  # noqa: ARG002
        """Refuse: JSON Schema converts nothing."""
        return MISSING


def _tool_for(root: AnySchema) -> Tool:
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415
    from jsonschema.validators import validator_for  # noqa: PLC0415

    kind: Any = validator_for(root, default=Draft202012Validator)
    try:
        kind.check_schema(root)
    except SchemaError as error:
        where = "/".join(["#", *map(str, error.absolute_path)])
        raise UnsupportedSchemaError(error.message, where) from error
    tool: Tool = kind(root)
    return tool


def _problems(tool: Tool, value: Any) -> tuple[Problem, ...]:  # noqa: ANN401
    return tuple(_problem(error, value) for error in tool.iter_errors(value))


def _problem(error: ValidationError, value: JsonValue) -> Problem:
    keyword = str(error.validator)
    path = path_in(value, tuple(error.absolute_path))
    reason = _REASONS.get(keyword, MismatchReason.INVALID)
    return Problem(path, reason, f"a value that keeps to {keyword!r}: {short(error.validator_value)}")
