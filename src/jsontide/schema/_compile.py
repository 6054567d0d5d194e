"""Whatever a program says its schema is in, a node and a validator out; the same schema is read once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Generic

from jsontide.schema._from_json_schema import shape_of_json_schema
from jsontide.schema._jsonschema import JsonSchemaValidator
from jsontide.schema._keywords import AnySchema, Schema, as_schema
from jsontide.schema._mismatch import UnsupportedSchemaError
from jsontide.schema._override import overridden
from jsontide.schema._validator import Model, Validator, need_package
from jsontide.schema.source import check_source

if TYPE_CHECKING:
    from jsontide.schema._nodes import SchemaNode
    from jsontide.schema._policy import Policies

_KEPT: Final = 256
_MOST_VALUES: Final = 100_000
_DEEP: Final = 1_000
_BESIDE: Final = ("default", "title", "description", "x-stream")
_WHOLE: Final = ("$defs", "definitions", "$id", "$schema")
_DATA: Final = ("enum", "const", "default", "examples", "example")


@dataclass(frozen=True, eq=False, slots=True)
class Compiled(Generic[Model]):
    """A schema, ready for use."""

    source: object
    policies: Policies | None
    node: SchemaNode
    validator: Validator[Model]


def compiled(source: Any, policies: Policies | None) -> Compiled[Any]:  # noqa: ANN401
    """Read a schema: a JSON Schema, a pydantic `TypeAdapter`, or any type that one takes."""
    check_source(source)
    if isinstance(source, dict | bool):
        node, validator = _read_json_schema(source)
    else:
        need_package("pydantic", "a schema that is a type")
        node, validator = _read_type(source)
    if policies:
        node = overridden(node, policies)
    return Compiled(source, policies, node, validator)


def _read_json_schema(source: AnySchema) -> tuple[SchemaNode, Validator[Any]]:
    try:
        return _from_json_schema(_as_text(source))
    except RecursionError as error:
        raise UnsupportedSchemaError("the schema is nested too deep") from error


def _as_text(source: AnySchema) -> str:
    _check_size(source)
    try:
        return json.dumps(source)
    except (TypeError, ValueError) as error:
        problem = f"a JSON Schema must be JSON: {error}"
        raise UnsupportedSchemaError(problem) from error


def _check_size(source: AnySchema) -> None:
    """Refuse a schema that would be too long as text: a few objects that share others can say very much.

    What is too deep, or contains itself, is found when it is written.
    """
    count = 0
    container: list[Any] = [source]
    for _ in range(_DEEP):
        containers = [part for part in container if isinstance(part, dict | list)]
        count += sum(map(len, containers))
        if count > _MOST_VALUES:
            raise UnsupportedSchemaError(f"the schema has more than {_MOST_VALUES} values")
        container = [each for part in containers for each in (part.values() if isinstance(part, dict) else part)]
        if not container:
            return


def _read_type(source: Any) -> tuple[SchemaNode, Validator[Any]]:  # noqa: ANN401
    try:
        hash(source)
    except TypeError:  # as `Annotated` with a list in it
        return _from_type.__wrapped__(source)
    return _from_type(source)


@lru_cache(_KEPT)
def _from_json_schema(text: str) -> tuple[SchemaNode, Validator[Any]]:
    """Take the schema as text: a program may change its own."""
    root = with_null(json.loads(text))
    validator = JsonSchemaValidator(root)
    return shape_of_json_schema(root, validator.checks, is_type=False), validator


@lru_cache(_KEPT)
def _from_type(source: Any) -> tuple[SchemaNode, Validator[Any]]:  # noqa: ANN401
    types = _types()
    root, found, adapter = types.schema_of_type(source)
    node = shape_of_json_schema(root, partial(types.checks_of_type, found), is_type=True)
    return node, types.TypeValidator(adapter)


@cache
def _types() -> Any:  # noqa: ANN401
    """Return the part that needs pydantic, when the first type comes."""
    return import_module("jsontide.schema._from_type")


def with_null(root: AnySchema) -> AnySchema:
    """Say `"nullable": true` of OpenAPI in the words of JSON Schema, which does not know it; in place."""
    todo: list[Any] = [root]
    while todo:
        part = todo.pop()
        if isinstance(part, list):
            todo += part
        elif isinstance(part, dict):
            if part.get("nullable") is True:
                _allow_null(part)
            todo += [value for key, value in part.items() if key not in _DATA]
    return root if isinstance(root, bool) else as_schema(root, "#")


def _allow_null(schema: Schema) -> None:
    beside: Schema = {key: schema.pop(key) for key in list(schema) if key in _BESIDE}
    del schema["nullable"]
    branches = [dict(schema), {"type": "null"}]
    beside |= {key: schema[key] for key in list(schema) if key in _WHOLE}
    schema.clear()
    schema.update(beside)
    schema["anyOf"] = branches
