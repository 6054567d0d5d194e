"""A schema as a program passes it in, its node and its validator out; the same schema is read once.

Every schema becomes a JSON Schema first, types too.
The keywords that say what kind of value stands where make the nodes: `type`, `const`, `enum`, `properties`, `required`,
`additionalProperties`, `patternProperties`, `items`, `prefixItems`, `anyOf`, `oneOf`, `allOf`, `$ref`.
What only restricts values (`minLength`, `not`, `if` ...) is left to a check of the closed value.
Unknown keywords are annotations, as the specification says, and are ignored.

Policies are applied to copies of the nodes on the way to each place, so that a policy for `next.title` of a recursive
schema changes that place alone.

Rule: parts of a schema are queued, so that neither deep nor recursive schemas recurse.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any, Final, Generic, TypeAlias

from jsontide._pattern import AnyItem, AnyKey, Item, Key, Pattern, parse_pattern
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._json_schema import (
    ALSO,
    ATTRIBUTES,
    BEFORE,
    EXTRA,
    TYPES,
    AnySchema,
    Merger,
    Schema,
    allow_nulls,
    check_keywords,
    check_schema,
    compile_pattern,
    describe_members,
    drop_annotations,
    fail,
    follow_pointer,
    get_list,
    get_object,
    get_types,
    is_free_text,
    is_of_type,
    iterate_schemas,
    resolve_references,
)
from jsontide.schema._jsonschema_validator import JsonSchemaValidator
from jsontide.schema._mismatch import UnsupportedSchemaError
from jsontide.schema._validator import Check, Model, Validator, need_package
from jsontide.schema._variants import (
    ANY,
    ANY_VARIANT,
    KINDS,
    AnyVariant,
    ArrayVariant,
    EnumVariant,
    Extra,
    Kind,
    ObjectVariant,
    ScalarVariant,
    SchemaNode,
    Variant,
    get_kind,
)
from jsontide.schema.functions import FunctionArguments
from jsontide.schema.options import KEYWORD, POLICIES, Policies, Policy, check_source, find_policy

Checks: TypeAlias = "Callable[[Schema], tuple[Check | None, Check | None]]"
"""Returns the check for closed values of a schema, and the one that converts scalars of other kinds."""

_REF_LOOP: Final = "a $ref leads back to itself, with no value between"
_MAX_NODES: Final = 10_000
_VARIANT_COST: Final = 10
"""The number of keywords that take about as much memory as a variant."""
_SCALAR_TYPES: Final[dict[str, tuple[Kind, str]]] = {
    "string": ("string", "a string"),
    "integer": ("number", "an integer"),
    "number": ("number", "a number"),
    "boolean": ("boolean", "a boolean"),
    "null": ("null", "null"),
}
_STRUCTURAL_KEYWORDS: Final = frozenset(
    (
        *("properties", "required", "additionalProperties", "patternProperties", "items", "prefixItems", "minItems"),
        *("maxItems", "additionalItems"),
    )
)
_MAX_CACHED_SCHEMAS: Final = 256
_MAX_VALUES: Final = 100_000
_MAX_DEPTH: Final = 1_000
_MAX_POLICY_INDEX: Final = 10_000


@dataclass(frozen=True, eq=False, slots=True)
class CompiledSchema(Generic[Model]):
    """A schema, ready for use."""

    source: object
    policies: Policies | None
    node: SchemaNode
    validator: Validator[Model]


def compile_schema(source: Any, policies: Policies | None) -> CompiledSchema[Any]:
    """Read a schema: a JSON Schema, a pydantic `TypeAdapter`, or any type that one takes."""
    check_source(source)
    if isinstance(source, dict | bool):
        node, validator = _compile_json_schema(source)
    else:
        node, validator = _compile_type(_as_type(source))
    if policies:
        node = _apply_policies(node, policies)
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
        raise UnsupportedSchemaError(f"a JSON Schema must be JSON: {error}") from error


def _check_size(source: AnySchema) -> None:
    """Refuse a schema that would be too long as text: a few objects that share others can stand for many.

    A schema that is too deep, or contains itself, is found when it is written.
    """
    count = 0
    level: list[Any] = [source]
    for _ in range(_MAX_DEPTH):
        containers = [part for part in level if isinstance(part, dict | list)]
        count += sum(map(len, containers))
        if count > _MAX_VALUES:
            raise UnsupportedSchemaError(f"the schema has more than {_MAX_VALUES} values")
        level = [each for part in containers for each in (part.values() if isinstance(part, dict) else part)]
        if not level:
            return


def _as_type(source: Any) -> Any:
    need_package("pydantic", "a schema that is a type")
    return source.type if isinstance(source, FunctionArguments) else source


def _compile_type(source: Any) -> tuple[SchemaNode, Validator[Any]]:
    try:
        hash(source)
    except TypeError:  # as `Annotated` with a list in it
        return _compile_hashable.__wrapped__(source)
    return _compile_hashable(source)


@lru_cache(_MAX_CACHED_SCHEMAS)
def _compile_text(text: str) -> tuple[SchemaNode, Validator[Any]]:
    """Read a schema from text, because a program may change the one that it passed."""
    root = json.loads(text)
    dialect = root.get("$schema") if isinstance(root, dict) else None
    root = resolve_references(allow_nulls(root))
    validator = JsonSchemaValidator(root, dialect)
    node = _build_nodes(root, validator.find_checks, is_type=False)
    validator.prepare()
    return node, validator


@lru_cache(_MAX_CACHED_SCHEMAS)
def _compile_hashable(source: Any) -> tuple[SchemaNode, Validator[Any]]:
    types = _load_types()
    root, found, adapter = types.read_type(source)
    node = _build_nodes(root, partial(types.find_checks, found), is_type=True)
    return node, types.TypeValidator(adapter)


@cache
def _load_types() -> Any:
    """Import what needs pydantic, when the first type comes."""
    return import_module("jsontide.schema._pydantic_types")


def to_json_schema(source: Any) -> dict[str, Any]:
    """Return a schema of any form as JSON Schema, for a request to a provider.

    >>> to_json_schema({"type": "string"})
    {'type': 'string'}
    """
    check_source(source)
    try:
        if isinstance(source, dict):
            found: dict[str, Any] = json.loads(_dump(source))
        else:
            _, _, adapter = _load_types().read_type(_as_type(source))
            found = deepcopy(adapter.json_schema())
    except RecursionError as error:
        raise UnsupportedSchemaError("the schema is nested too deeply") from error
    for schema in iterate_schemas(found):
        schema.pop(KEYWORD, None)  # providers may refuse it
    return found


def _build_nodes(root: AnySchema, checks: Checks, *, is_type: bool) -> SchemaNode:
    """Return the node of a document; `is_type` is true if the schema was made from a type."""
    compiler = _Compiler(root, checks, is_type)
    node = compiler.get_node(root, "#")
    compiler.fill()
    return node


@dataclass(slots=True)
class _Compiler:
    """Results are kept by the identity of the parts of a schema, so `kept` keeps all parts alive."""

    root: AnySchema
    checks: Checks
    is_type: bool
    nodes: dict[int, SchemaNode] = field(default_factory=dict)
    variants: dict[int, tuple[Variant, ...]] = field(default_factory=dict)
    flats: dict[int, AnySchema] = field(default_factory=dict)
    todo: deque[tuple[SchemaNode, AnySchema, str]] = field(default_factory=deque)
    merger: Merger = field(default_factory=Merger)
    kept: list[AnySchema] = field(default_factory=list)

    def get_node(self, schema: AnySchema, where: str) -> SchemaNode:
        """Return the node of a schema; its variants are filled in later."""
        if schema is True or schema == {}:
            return ANY
        if schema is False:
            return SchemaNode()
        known = self.nodes.get(id(schema))
        if known is None:
            if len(self.nodes) >= _MAX_NODES:
                fail(f"the schema has more than {_MAX_NODES} places", where)
            self.kept.append(schema)
            known = self.nodes[id(schema)] = SchemaNode()
            self.todo.append((known, schema, where))
        return known

    def fill(self) -> None:
        while self.todo:
            node, schema, where = self.todo.popleft()
            variants = self.get_variants(schema, where, ())
            node.policy = self.read_policy(schema, where)
            node.default = self.read_annotation(schema, where, "default")
            node.fill(variants)
        for variants in self.variants.values():
            for variant in variants:
                if isinstance(variant, ObjectVariant):
                    variant.note_members()

    def get_variants(self, schema: AnySchema, where: str, path: tuple[int, ...]) -> tuple[Variant, ...]:
        """Return the variants of a schema, nested unions flattened; `path` has the schemas that led here."""
        if schema is True or schema == {}:
            return (ANY_VARIANT,)
        if isinstance(schema, bool):
            return ()
        if id(schema) in path:
            fail(_REF_LOOP, where)
        known = self.variants.get(id(schema))
        if known is None:
            self.kept.append(schema)
            known = tuple(self.read_variants(schema, where, (*path, id(schema))))
            self.variants[id(schema)] = known
        return known

    def read_variants(self, schema: Schema, where: str, path: tuple[int, ...]) -> Iterator[Variant]:
        if "$ref" in schema and drop_annotations(schema).keys() == {"$ref"}:
            check_keywords(schema, where)
            yield from self.get_variants(self.follow_ref(schema["$ref"], where), where, path)
            return
        flat = self.flatten(schema, where, path)
        if isinstance(flat, bool):
            return
        for keyword in ("anyOf", "oneOf"):
            if keyword in flat:
                yield from self.read_union(flat, keyword, where, path)
                return
        is_enum = "enum" in flat or "const" in flat
        for variant in self.read_enum(flat, where) if is_enum else self.read_simple(flat, where):
            self.merger.spend(_VARIANT_COST)
            variant.has_before_validator = BEFORE in flat
            variant.is_free_text = is_free_text(flat)
            yield variant

    def flatten(self, schema: Schema, where: str, path: tuple[int, ...]) -> AnySchema:
        """Return a schema without `$ref` and `allOf`, or `False`."""
        known = self.flats.get(id(schema))
        if known is None:
            self.kept.append(schema)
            known = self.flats[id(schema)] = self.merge_parts(schema, where, path)
        return known

    def merge_parts(self, schema: Schema, where: str, path: tuple[int, ...]) -> AnySchema:
        check_keywords(schema, where)
        parts: list[AnySchema] = [self.follow_ref(schema["$ref"], where)] if "$ref" in schema else []
        parts += get_list(schema, "allOf", where)
        if not parts:
            return schema
        inner: dict[int, Schema] = {}
        for part in parts:
            if part is True:
                continue
            if id(part) in path:
                fail(_REF_LOOP, where)
            flat = part if isinstance(part, bool) else self.flatten(part, where, (*path, id(part)))
            if isinstance(flat, bool):
                return flat
            inner[id(flat)] = flat
        result = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        if not result and len(inner) == 1:
            return next(iter(inner.values()))
        for each in inner.values():
            result = self.merger.merge(result, each)
        if ALSO in result:
            # What one schema cannot express is checked by the original one as a whole.
            result[ALSO] = [schema]
        return result

    def read_union(self, flat: Schema, keyword: str, where: str, path: tuple[int, ...]) -> Iterator[Variant]:
        branches = get_list(flat, keyword, where)
        base = drop_annotations({key: value for key, value in flat.items() if key != keyword})
        if keyword == "oneOf" and not self.is_type and not self.are_apart(branches, where, path):
            base[ALSO] = [*base.get(ALSO, ()), {"oneOf": branches}]
        found: list[Variant] = []
        seen: set[str] = set()
        for number, branch in enumerate(branches):
            at = f"{where}/{keyword}/{number}"
            text = json.dumps(branch, sort_keys=True)
            if text in seen:  # the same branch twice would never be decided
                continue
            seen.add(text)
            found += self.get_variants(self.join_branch(base, branch, self.find_tag(flat), at, path), at, path)
        yield from dict.fromkeys(found)

    def join_branch(
        self, base: Schema, branch: AnySchema, tag: str | None, where: str, path: tuple[int, ...]
    ) -> AnySchema:
        """Return one branch of a union, merged with the keywords beside the union."""
        if isinstance(branch, bool):
            return base if branch else False
        if not base and tag is None:
            return branch
        flat = self.flatten(branch, where, path)
        if isinstance(flat, bool):
            return flat
        both = self.merger.merge(base, flat)
        if tag is not None:
            both["required"] = [*both.get("required", ()), tag]
        return both

    def find_tag(self, flat: Schema) -> str | None:
        """Return the discriminator of a type's union; pydantic requires it even if it has a default."""
        discriminator = flat.get("discriminator")
        return discriminator.get("propertyName") if self.is_type and isinstance(discriminator, dict) else None

    def are_apart(self, branches: list[AnySchema], where: str, path: tuple[int, ...]) -> bool:
        """Return whether each branch takes other kinds of values."""
        kinds = [
            kind for branch in branches for variant in self.get_variants(branch, where, path) for kind in variant.kinds
        ]
        return len(kinds) == len(set(kinds))

    def read_enum(self, flat: Schema, where: str) -> Iterator[Variant]:
        members = [flat["const"]] if "const" in flat else get_list(flat, "enum", where)
        if "const" in flat and "enum" in flat:
            members = self.merger.merge({"enum": members}, {"enum": get_list(flat, "enum", where)})["enum"]
        if "type" in flat:
            names = get_types(flat, where)
            members = [member for member in members if any(is_of_type(member, name) for name in names)]
        texts = tuple(member for member in members if isinstance(member, str))
        if members:
            yield EnumVariant(
                kinds=frozenset(map(get_kind, members)),
                expected=describe_members(members),
                members=tuple(members),
                texts=texts,
                longest=max(map(len, texts), default=0),
                **self.find_check(flat),
            )

    def read_simple(self, flat: Schema, where: str) -> Iterator[Variant]:
        check = self.find_check(flat)
        if "type" not in flat and not any(key in flat for key in _STRUCTURAL_KEYWORDS):
            yield AnyVariant(kinds=frozenset(KINDS), expected="anything", **check)
            return
        names = get_types(flat, where) if "type" in flat else [name for name in TYPES if name != "integer"]
        for name in names:
            if name == "object":
                yield self.read_object(flat, where, check)
            elif name == "array":
                yield self.read_array(flat, where, check)
            elif name != "integer" or "number" not in names:
                kind, expected = _SCALAR_TYPES[name]
                yield ScalarVariant(kinds=frozenset({kind}), expected=expected, is_integer=name == "integer", **check)

    def find_check(self, flat: Schema) -> dict[str, Any]:
        check, converter = self.checks(flat)
        return {"check": check, "converter": converter}

    def read_object(self, flat: Schema, where: str, check: dict[str, Any]) -> ObjectVariant:
        properties = get_object(flat, "properties", where)
        patterns = get_object(flat, "patternProperties", where)
        others = flat.get("additionalProperties", True)
        extra: Extra = "forbid" if others is False else flat.get(EXTRA, "keep")
        title = flat.get("title")
        return ObjectVariant(
            kinds=frozenset({"object"}),
            expected=f"an object ({title})" if isinstance(title, str) else "an object",
            properties={key: self.get_node(each, f"{where}/properties/{key}") for key, each in properties.items()},
            patterns=tuple(
                (compile_pattern(key, where), self.get_node(each, f"{where}/patternProperties/{key}"))
                for key, each in patterns.items()
            ),
            extra=extra,
            extra_node=self.get_node(check_schema(others, where), f"{where}/additionalProperties")
            if extra == "keep"
            else None,
            required=tuple(dict.fromkeys(get_list(flat, "required", where))),
            attributes=flat.get(ATTRIBUTES, {}),
            **check,
        )

    def read_array(self, flat: Schema, where: str, check: dict[str, Any]) -> ArrayVariant:
        items, rest = get_list(flat, "prefixItems", where), flat.get("items", True)
        if isinstance(rest, list):  # how tuples were written before `prefixItems`
            items, rest = get_list(flat, "items", where), flat.get("additionalItems", True)
        return ArrayVariant(
            kinds=frozenset({"array"}),
            expected="an array",
            prefix=tuple(self.get_node(each, f"{where}/prefixItems/{at}") for at, each in enumerate(items)),
            rest=None if rest is False else self.get_node(check_schema(rest, where), f"{where}/items"),
            min_items=flat.get("minItems", 0),
            max_items=flat.get("maxItems"),
            **check,
        )

    def follow_ref(self, ref: object, where: str) -> AnySchema:
        if not isinstance(ref, str):
            fail(f"a $ref must be a string, not {ref!r}", where)
        if not ref.startswith("#"):
            fail(f"the $ref {ref!r} points outside of the schema; put its target into $defs", where)
        found = follow_pointer(self.root, ref)
        if found is MISSING:
            fail(f"the $ref {ref!r} points nowhere", where)
        return check_schema(found, where)

    def read_policy(self, schema: AnySchema, where: str) -> Policy:
        word = self.read_annotation(schema, where, KEYWORD)
        if word is MISSING:
            return "auto"
        if not isinstance(word, str) or word not in POLICIES:
            fail(f"{KEYWORD!r} must be one of {', '.join(map(repr, POLICIES))}, not {word!r}", where)
        return POLICIES[word]

    def read_annotation(self, schema: AnySchema, where: str, keyword: str) -> JsonValue | Missing:
        """Return an annotation of a schema, or of the schema that it refers to."""
        while isinstance(schema, dict):
            if keyword in schema:
                value: JsonValue = schema[keyword]
                return value
            parts = get_list(schema, "allOf", where)
            if "$ref" in schema:
                schema = self.follow_ref(schema["$ref"], where)
            elif len(parts) == 1:
                schema = parts[0]
            else:
                break
        return MISSING


def _apply_policies(node: SchemaNode, policies: Policies) -> SchemaNode:
    """Return a node with other policies; a pattern that matches nothing in the schema is an error."""
    if not isinstance(policies, Mapping):
        raise TypeError(f"policies must be a mapping from patterns to policies, not {type(policies).__name__}")
    for pattern, annotation in policies.items():
        made = _with_policy(node, parse_pattern(pattern), find_policy(annotation))
        if made is None:
            raise ValueError(f"policies: {pattern!r} matches nothing in the schema")
        node = made
    return node


def _with_policy(node: SchemaNode | None, steps: Pattern, policy: Policy) -> SchemaNode | None:
    """Return a copy of a node with a policy further inside, `None` if there is no such place."""
    if node is None:
        return None
    if not steps:
        return node.with_variants(node.variants, policy)
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
        case ArrayVariant(), Item(index=index) if index < _MAX_POLICY_INDEX:
            return _with_item(variant, index, steps[1:], policy)
        case ArrayVariant(), AnyItem():
            items = [_with_policy(node, steps[1:], policy) for node in variant.prefix]
            rest = _with_policy(variant.rest, steps[1:], policy)
            prefix = tuple(made or node for made, node in zip(items, variant.prefix, strict=True))
            return replace(variant, prefix=prefix, rest=rest or variant.rest) if rest or any(items) else None
        case _:
            return None


def _with_members(variant: ObjectVariant, members: dict[str, SchemaNode], others: SchemaNode | None) -> ObjectVariant:
    made = replace(variant, properties={**variant.properties, **members}, extra_node=others)
    made.note_members()
    return made


def _with_item(variant: ArrayVariant, index: int, steps: Pattern, policy: Policy) -> ArrayVariant | None:
    prefix = list(variant.prefix)
    if variant.rest is not None:
        prefix += [variant.rest] * (index + 1 - len(prefix))
    made = _with_policy(prefix[index], steps, policy) if index < len(prefix) else None
    if made is None:
        return None
    prefix[index] = made
    return replace(variant, prefix=tuple(prefix))
