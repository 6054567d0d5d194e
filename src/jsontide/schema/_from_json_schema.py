"""A JSON Schema in, its node out; every schema comes this way, types too.

The keywords that say what kind of value stands where are read: `type`, `const`, `enum`, `properties`,
`required`, `additionalProperties`, `patternProperties`, `items`, `prefixItems`, `anyOf`, `oneOf`, `allOf`, `$ref`.
What only restricts values (`minLength`, `not`, `if` ...) is left to a check of the closed value.
Unknown keywords are annotations, as the specification says, and are ignored.

Rule: parts of a schema are queued, so that neither deep nor recursive schemas recurse.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._keywords import (
    ALSO,
    TYPES,
    AnySchema,
    Merger,
    Schema,
    as_schema,
    check_keywords,
    compile_pattern,
    describe_members,
    drop_annotations,
    fail,
    get_list,
    get_object,
    get_types,
    is_free_text,
    is_of_type,
)
from jsontide.schema._references import follow_pointer
from jsontide.schema._validator import Check
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
from jsontide.schema.options import KEYWORD, POLICIES, Policy

Checks: TypeAlias = "Callable[[Schema], tuple[Check | None, Check | None]]"
"""Returns what checks closed values of a schema, and what converts scalars of other kinds."""

CHECK: Final = "x-jsontide-check"
EXTRA: Final = "x-jsontide-extra"
ATTRIBUTES: Final = "x-jsontide-attributes"
BEFORE: Final = "x-jsontide-before"
"""What a type says beyond JSON Schema: the number of a validator, `extra="ignore"`, the names of attributes, and that
a function comes before its validator; `WHOLE` of `_keywords` is another."""

_LOOP: Final = "a $ref leads back to itself, with no value between"
_MAX_NODES: Final = 10_000
_VARIANT_COST: Final = 10
"""A variant takes about as much memory as so many keywords."""
_SCALARS: Final[dict[str, tuple[Kind, str]]] = {
    "string": ("string", "a string"),
    "integer": ("number", "an integer"),
    "number": ("number", "a number"),
    "boolean": ("boolean", "a boolean"),
    "null": ("null", "null"),
}
_STRUCTURE: Final = frozenset(
    (
        *("properties", "required", "additionalProperties", "patternProperties", "items", "prefixItems", "minItems"),
        *("maxItems", "additionalItems"),
    )
)


def build_nodes(root: AnySchema, checks: Checks, *, is_type: bool) -> SchemaNode:
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
                finish_variant(variant)

    def get_variants(self, schema: AnySchema, where: str, path: tuple[int, ...]) -> tuple[Variant, ...]:
        """Return the variants of a schema, nested unions flattened; `path` has the schemas that led here."""
        if schema is True or schema == {}:
            return (ANY_VARIANT,)
        if isinstance(schema, bool):
            return ()
        if id(schema) in path:
            fail(_LOOP, where)
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
                fail(_LOOP, where)
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
        if "type" not in flat and not any(key in flat for key in _STRUCTURE):
            yield AnyVariant(kinds=frozenset(KINDS), expected="anything", **check)
            return
        names = get_types(flat, where) if "type" in flat else [name for name in TYPES if name != "integer"]
        for name in names:
            if name == "object":
                yield self.read_object(flat, where, check)
            elif name == "array":
                yield self.read_array(flat, where, check)
            elif name != "integer" or "number" not in names:
                kind, expected = _SCALARS[name]
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
            extra_node=self.get_node(_check_schema(others, where), f"{where}/additionalProperties")
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
            rest=None if rest is False else self.get_node(_check_schema(rest, where), f"{where}/items"),
            min_items=flat.get("minItems", 0),
            max_items=flat.get("maxItems"),
            **check,
        )

    def follow_ref(self, ref: object, where: str) -> AnySchema:
        """Return the schema that a `$ref` points to."""
        if not isinstance(ref, str):
            fail(f"a $ref must be a string, not {ref!r}", where)
        if not ref.startswith("#"):
            fail(f"the $ref {ref!r} points outside of the schema; put its target into $defs", where)
        found = follow_pointer(self.root, ref)
        if found is MISSING:
            fail(f"the $ref {ref!r} points nowhere", where)
        return _check_schema(found, where)

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


def _check_schema(schema: object, where: str) -> AnySchema:
    return schema if isinstance(schema, bool) else as_schema(schema, where)


def finish_variant(variant: Variant) -> None:
    """Set what an object has to know about its members, once those are filled in."""
    if isinstance(variant, ObjectVariant):
        members = [(key, node) for key, node in variant.properties.items() if variant.first_key(key) == key]
        variant.gates = frozenset(key for key, node in members if node.policy == "gate")
        variant.defaults = {key: node.default for key, node in members if node.default is not MISSING}
