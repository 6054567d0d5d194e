"""A schema as a program passes it in, its node and its validator out; the same schema is read once.

Policies are applied to copies of the nodes on the way to each place, so that a policy for `next.title` of a recursive
schema changes that place alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any, Final, Generic, cast

from jsontide._pattern import AnyItem, AnyKey, Item, Key, Pattern, parse_pattern
from jsontide.schema._from_json_schema import build_nodes, finish_variant
from jsontide.schema._jsonschema import JsonSchemaValidator
from jsontide.schema._keywords import AnySchema, Schema
from jsontide.schema._mismatch import UnsupportedSchemaError
from jsontide.schema._references import iterate_schemas, resolve_references
from jsontide.schema._validator import Model, Validator, need_package
from jsontide.schema._variants import ArrayVariant, ObjectVariant, SchemaNode, Variant
from jsontide.schema.from_function import FunctionArguments
from jsontide.schema.options import KEYWORD, Policies, Policy, check_source, find_policy

_KEPT: Final = 256
_MAX_VALUES: Final = 100_000
_DEEP: Final = 1_000
_BESIDE: Final = ("default", "title", "description", "x-stream")
_WHOLE: Final = ("$defs", "definitions", "$id", "$schema")
_MAX_ITEMS: Final = 10_000
_NAMES: Final = ("properties", "patternProperties", "$defs", "definitions")


@dataclass(frozen=True, eq=False, slots=True)
class CompiledSchema(Generic[Model]):
    """A schema, ready for use."""

    source: object
    policies: Policies | None
    node: SchemaNode
    validator: Validator[Model]


def compile_schema(source: Any, policies: Policies | None) -> CompiledSchema[Any]:  # noqa: ANN401
    """Read a schema: a JSON Schema, a pydantic `TypeAdapter`, or any type that one takes."""
    check_source(source)
    if isinstance(source, dict | bool):
        node, validator = _compile_json_schema(source)
    else:
        need_package("pydantic", "a schema that is a type")
        node, validator = _compile_type(source.type if isinstance(source, FunctionArguments) else source)
    if policies:
        node = apply_policies(node, policies)
    return CompiledSchema(source, policies, node, validator)


def _compile_json_schema(source: AnySchema) -> tuple[SchemaNode, Validator[Any]]:
    try:
        return _compile_text(_dump(source))
    except RecursionError as error:
        raise UnsupportedSchemaError("the schema is nested too deeply") from error


def _dump(source: AnySchema) -> str:
    _check_size(source)
    try:
        return json.dumps(source)
    except (TypeError, ValueError) as error:
        problem = f"a JSON Schema must be JSON: {error}"
        raise UnsupportedSchemaError(problem) from error


def _check_size(source: AnySchema) -> None:
    """Refuse a schema that would be too long as text: a few objects that share others can stand for many.

    A schema that is too deep, or contains itself, is found when it is written.
    """
    count = 0
    level: list[Any] = [source]
    for _ in range(_DEEP):
        containers = [part for part in level if isinstance(part, dict | list)]
        count += sum(map(len, containers))
        if count > _MAX_VALUES:
            raise UnsupportedSchemaError(f"the schema has more than {_MAX_VALUES} values")
        level = [each for part in containers for each in (part.values() if isinstance(part, dict) else part)]
        if not level:
            return


def _compile_type(source: Any) -> tuple[SchemaNode, Validator[Any]]:  # noqa: ANN401
    try:
        hash(source)
    except TypeError:  # as `Annotated` with a list in it
        return _compile_hashable.__wrapped__(source)
    return _compile_hashable(source)


@lru_cache(_KEPT)
def _compile_text(text: str) -> tuple[SchemaNode, Validator[Any]]:
    """Read a schema from text, because a program may change the one that it passed."""
    root = json.loads(text)
    dialect = root.get("$schema") if isinstance(root, dict) else None
    root = resolve_references(allow_nulls(root))
    validator = JsonSchemaValidator(root, dialect)
    return build_nodes(root, validator.find_checks, is_type=False), validator


@lru_cache(_KEPT)
def _compile_hashable(source: Any) -> tuple[SchemaNode, Validator[Any]]:  # noqa: ANN401
    types = _load_types()
    root, found, adapter = types.read_type(source)
    node = build_nodes(root, partial(types.find_checks, found), is_type=True)
    return node, types.TypeValidator(adapter)


@cache
def _load_types() -> Any:  # noqa: ANN401
    """Import what needs pydantic, when the first type comes."""
    return import_module("jsontide.schema._from_type")


def allow_nulls(root: AnySchema) -> AnySchema:
    """Replace OpenAPI's `"nullable": true`, which JSON Schema does not have, by a union with null, in place."""
    for schema in iterate_schemas(root):
        if schema.get("nullable") is True:
            _allow_null(schema)
    return root


def _allow_null(schema: Schema) -> None:
    beside: Schema = {key: schema.pop(key) for key in list(schema) if key in _BESIDE}
    del schema["nullable"]
    branches = [dict(schema), {"type": "null"}]
    beside |= {key: schema[key] for key in list(schema) if key in _WHOLE}
    schema.clear()
    schema.update(beside)
    schema["anyOf"] = branches


def apply_policies(node: SchemaNode, policies: Policies) -> SchemaNode:
    """Return a node with other policies; a pattern that matches nothing in the schema is an error."""
    if not isinstance(policies, Mapping):
        message = f"policies must be a mapping from patterns to policies, not {type(policies).__name__}"
        raise TypeError(message)
    for pattern, annotation in policies.items():
        made = _with_policy(node, parse_pattern(pattern), find_policy(annotation))
        if made is None:
            message = f"a policy for {pattern!r}, but the schema has no such place"
            raise ValueError(message)
        node = made
    return node


def _with_policy(node: SchemaNode | None, steps: Pattern, policy: Policy) -> SchemaNode | None:
    """Return a copy of a node with a policy further inside, `None` if there is no such place."""
    if node is None:
        return None
    if not steps:
        return node.with_policy(policy)
    variants = [_with_inner(variant, steps, policy) for variant in node.variants]
    if not any(variants):
        return None
    return node.with_variants(
        tuple(variant or old for variant, old in zip(variants, node.variants, strict=True)), node.policy
    )


def _with_inner(variant: Variant, steps: Pattern, policy: Policy) -> Variant | None:
    match variant, steps[0]:
        case ObjectVariant(), Key(name=name):
            made = _with_policy(variant.node_at(name), steps[1:], policy)
            return None if made is None else _with_members(variant, {name: made}, variant.extra_node)
        case ObjectVariant(), AnyKey():
            inner = {key: _with_policy(node, steps[1:], policy) for key, node in variant.properties.items()}
            members = {key: node for key, node in inner.items() if node is not None}
            others = _with_policy(variant.extra_node, steps[1:], policy)
            return _with_members(variant, members, others or variant.extra_node) if members or others else None
        case ArrayVariant(), Item(index=index) if index < _MAX_ITEMS:
            return _with_item(variant, index, steps[1:], policy)
        case ArrayVariant(), AnyItem():
            items = [_with_policy(node, steps[1:], policy) for node in variant.prefix]
            rest = _with_policy(variant.rest, steps[1:], policy)
            prefix = tuple(made or node for made, node in zip(items, variant.prefix, strict=True))
            return variant.with_items(prefix, rest or variant.rest) if rest or any(items) else None
        case _:
            return None


def _with_members(variant: ObjectVariant, members: dict[str, SchemaNode], others: SchemaNode | None) -> ObjectVariant:
    made = variant.with_members({**variant.properties, **members}, others)
    finish_variant(made)
    return made


def _with_item(variant: ArrayVariant, index: int, steps: Pattern, policy: Policy) -> ArrayVariant | None:
    prefix = list(variant.prefix)
    if variant.rest is not None:
        prefix += [variant.rest] * (index + 1 - len(prefix))
    made = _with_policy(prefix[index], steps, policy) if index < len(prefix) else None
    if made is None:
        return None
    prefix[index] = made
    return variant.with_items(tuple(prefix), variant.rest)


def to_json_schema(source: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever is taken as a schema
    """Return the JSON Schema of a schema, whatever it is given as, for a request to a provider.

    >>> to_json_schema({"type": "string"})
    {'type': 'string'}
    """
    check_source(source)
    try:
        if isinstance(source, dict):
            found: dict[str, Any] = json.loads(_dump(source))
        else:
            need_package("pydantic", "a schema that is a type")
            found = _load_types().write_json_schema(source.type if isinstance(source, FunctionArguments) else source)
        return cast("dict[str, Any]", _without_policies(found))
    except RecursionError as error:
        raise UnsupportedSchemaError("the schema is nested too deeply") from error


def _without_policies(schema: object, *, are_names: bool = False) -> object:
    """Leave out our own keyword, which providers may refuse; a property may have its name."""
    if isinstance(schema, dict):
        return {
            key: _without_policies(value, are_names=not are_names and key in _NAMES)
            for key, value in schema.items()
            if are_names or key != KEYWORD
        }
    return [_without_policies(item) for item in schema] if isinstance(schema, list) else schema
