"""What a schema is compiled to: a node for every place in a document, with the variants that a value there may have.

A node is a union of variants, most often of one.
A variant is of one kind, so that the first character of a value rules out all variants of other kinds.
Recursive schemas make nodes that lead back to themselves: nothing here may walk all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias, cast

from jsontide._path import Segment
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._regex import Regex
from jsontide.schema._validator import Check, is_same_number
from jsontide.schema.options import Policy

Kind: TypeAlias = Literal["string", "number", "boolean", "null", "array", "object"]
KINDS: Final[tuple[Kind, ...]] = ("string", "number", "boolean", "null", "array", "object")
SCALARS: Final[frozenset[Kind]] = frozenset({"string", "number", "boolean", "null"})

_KIND_OF: Final[dict[type, Kind]] = {
    str: "string",
    int: "number",
    float: "number",
    Decimal: "number",
    bool: "boolean",
    type(None): "null",
    list: "array",
    dict: "object",
}

Length: TypeAlias = Any
"""An `int`, or a float such as 2.0, which JSON Schema allows too."""


class Variant:
    """One form that a value may have."""

    __slots__ = ("check", "converter", "expected", "gates", "has_before_validator", "is_free_text", "kinds")

    def __init__(
        self,
        *,
        kinds: frozenset[Kind],
        expected: str,
        check: Check | None = None,
        converter: Check | None = None,
    ) -> None:
        self.kinds = kinds
        self.expected = expected
        self.check = check
        """Checks closed values of this kind, if anything can be wrong with them."""
        self.converter = converter
        """Converts closed scalars of other kinds: pydantic takes `"12"` for 12."""
        self.gates: frozenset[str] = frozenset()
        """The members that an object waits for before it shows anything."""
        self.has_before_validator = False
        """Whether a function of the program sees the value first, and may change it to anything."""
        self.is_free_text = True
        """Whether half a string means something, as half a date or half an address does not."""

    def __deepcopy__(self, memo: dict[int, object]) -> Variant:
        return self

    def node_at(self, segment: Segment) -> SchemaNode | None:  # noqa: ARG002
        """Return the node of a child, `None` if no child is allowed there."""
        return ANY

    def is_met_by(self, value: Any) -> bool:  # noqa: ANN401, ARG002
        """Return whether a closed container fits without further checks."""
        return self.check is None


class ScalarVariant(Variant):
    """A string, number, boolean or null."""

    __slots__ = ("is_integer",)

    def __init__(
        self,
        *,
        kinds: frozenset[Kind],
        expected: str,
        is_integer: bool = False,
        check: Check | None = None,
        converter: Check | None = None,
    ) -> None:
        super().__init__(kinds=kinds, expected=expected, check=check, converter=converter)
        self.is_integer = is_integer


class EnumVariant(Variant):
    """One of a few values, never shown before it is closed."""

    __slots__ = ("longest", "members", "texts")

    def __init__(  # noqa: PLR0913
        self,
        *,
        kinds: frozenset[Kind],
        expected: str,
        members: tuple[JsonValue, ...],
        texts: tuple[str, ...],
        longest: int,
        check: Check | None = None,
        converter: Check | None = None,
    ) -> None:
        super().__init__(kinds=kinds, expected=expected, check=check, converter=converter)
        self.members = members
        self.texts = texts
        """The members that are strings."""
        self.longest = longest

    def is_met_by(self, value: Any) -> bool:  # noqa: ANN401
        return self.check is None and any(is_same_json(member, value) for member in self.members)


class ArrayVariant(Variant):
    """An array: items by index, then all others."""

    __slots__ = ("max_items", "min_items", "prefix", "rest")

    def __init__(  # noqa: PLR0913
        self,
        *,
        kinds: frozenset[Kind],
        expected: str,
        prefix: tuple[SchemaNode, ...] = (),
        rest: SchemaNode | None = None,
        min_items: Length = 0,
        max_items: Length = None,
        check: Check | None = None,
        converter: Check | None = None,
    ) -> None:
        super().__init__(kinds=kinds, expected=expected, check=check, converter=converter)
        self.prefix = prefix
        self.rest = rest
        """`None` if no more items are allowed."""
        self.min_items = min_items
        self.max_items = max_items
        """`None` if any number is allowed."""

    def node_at(self, segment: Segment) -> SchemaNode | None:
        at = cast("int", segment)
        if self.max_items is not None and at >= self.max_items:
            return None
        return self.prefix[at] if at < len(self.prefix) else self.rest

    def is_met_by(self, value: Any) -> bool:  # noqa: ANN401
        return self.check is None and len(value) >= self.min_items

    def with_items(self, prefix: tuple[SchemaNode, ...], rest: SchemaNode | None) -> ArrayVariant:
        """Return the same variant of other items."""
        made = ArrayVariant(
            kinds=self.kinds,
            expected=self.expected,
            prefix=prefix,
            rest=rest,
            min_items=self.min_items,
            max_items=self.max_items,
            check=self.check,
            converter=self.converter,
        )
        made.has_before_validator = self.has_before_validator
        return made


Extra: TypeAlias = Literal["keep", "ignore", "forbid"]


class ObjectVariant(Variant):
    """An object: members by key, then by pattern, then all others."""

    __slots__ = ("attributes", "defaults", "extra", "extra_node", "names", "patterns", "properties", "required")

    def __init__(  # noqa: PLR0913
        self,
        *,
        kinds: frozenset[Kind],
        expected: str,
        properties: dict[str, SchemaNode],
        patterns: tuple[tuple[Regex, SchemaNode], ...],
        extra: Extra,
        extra_node: SchemaNode | None,
        required: tuple[str, ...],
        attributes: dict[str, list[str]],
        check: Check | None = None,
        converter: Check | None = None,
    ) -> None:
        super().__init__(kinds=kinds, expected=expected, check=check, converter=converter)
        self.properties = properties
        self.patterns = patterns
        self.extra: Extra = extra
        self.extra_node = extra_node
        self.required = required
        self.defaults: dict[str, JsonValue] = {}
        self.attributes = attributes
        """The keys of each attribute of a type; of several keys the first stands for all."""
        self.names: dict[str, list[str]] = {keys[0]: keys for keys in attributes.values() if len(keys) > 1}
        """All keys of a member that has several, by the first."""

    def node_at(self, segment: Segment) -> SchemaNode | None:
        key = cast("str", segment)
        node = self.properties.get(key)
        if node is not None:
            return node
        for pattern, matched in self.patterns:
            if pattern.search(key):
                return matched
        return self.extra_node

    def is_met_by(self, value: Any) -> bool:  # noqa: ANN401
        if self.check is not None:
            return False
        members: dict[str, object] = value
        for key in self.required:  # noqa: SIM110 - a loop is faster here
            if key not in members:
                return False
        return True

    def first_key(self, key: str) -> str:
        """Return the key that stands for all keys of a member."""
        for first, keys in self.names.items():
            if key in keys:
                return first
        return key

    def expected_at(self, key: str) -> str:
        """Say what a member should be."""
        node = self.node_at(key)
        return "a value" if node is None else node.expected

    def with_members(self, properties: dict[str, SchemaNode], extra_node: SchemaNode | None) -> ObjectVariant:
        """Return the same variant of other members."""
        made = ObjectVariant(
            kinds=self.kinds,
            expected=self.expected,
            properties=properties,
            patterns=self.patterns,
            extra=self.extra,
            extra_node=extra_node,
            required=self.required,
            attributes=self.attributes,
            check=self.check,
            converter=self.converter,
        )
        made.has_before_validator = self.has_before_validator
        return made


class AnyVariant(Variant):
    """Anything at all."""

    __slots__ = ()


class SchemaNode:
    """What may stand at one place, and when it is shown."""

    __slots__ = (
        "arrays",
        "by_kind",
        "default",
        "expected",
        "free",
        "grows",
        "has_before_validator",
        "is_guessed",
        "longest",
        "objects",
        "plain",
        "policy",
        "takes",
        "variants",
    )

    def __init__(self) -> None:
        self.policy: Policy = "auto"
        self.default: JsonValue | Missing = MISSING
        self.fill(())

    def fill(self, variants: tuple[Variant, ...]) -> None:
        """Set the variants, after the node was made, because nodes may lead back to themselves."""
        self.variants = variants
        self.by_kind: dict[Kind, tuple[Variant, ...]] = {
            kind: tuple(variant for variant in variants if kind in variant.kinds) for kind in KINDS
        }
        self.arrays = self.by_kind["array"]
        self.objects = self.by_kind["object"]
        self.plain: frozenset[Kind] = frozenset(
            kind for variant in variants if not isinstance(variant, EnumVariant) for kind in variant.kinds
        )
        """The kinds of all variants but enums."""
        self.free: frozenset[type] = frozenset(each for variant in variants for each in _free_types(variant))
        """The Python types of scalars that fit whatever their value is."""
        self.expected = " or ".join(dict.fromkeys(variant.expected for variant in variants)) or "nothing"
        self.longest = max((variant.longest for variant in variants if isinstance(variant, EnumVariant)), default=-1)
        """How long a string can be that is still a member of some enum, -1 if there is no enum."""
        has_converter = any(variant.converter is not None for variant in variants)
        self.takes: frozenset[Kind] = self.plain | SCALARS if has_converter else self.plain
        """The kinds of scalars that may fit, if there is no enum."""
        self.has_before_validator = any(variant.has_before_validator for variant in variants)
        """Whether a function of the program may make any value fit."""
        self.is_guessed = any(variant.has_before_validator and variant.converter is None for variant in variants)
        """Whether only the end can say what such a function makes of a scalar."""
        self.grows = self.longest < 0 and self.lets_grow(self.by_kind["string"])
        """Whether a string is shown from its first character on."""

    def lets_grow(self, variants: Sequence[Variant]) -> bool:
        """Return whether an open string that can become these variants may be shown."""
        if len(variants) != 1:
            return False
        sole = variants[0]
        if isinstance(sole, EnumVariant) or "string" not in sole.kinds:
            return False
        return self.policy == "grow" or (self.policy == "auto" and sole.is_free_text)

    def with_policy(self, policy: Policy) -> SchemaNode:
        """Return the same node with another policy."""
        return self.with_variants(self.variants, policy)

    def with_variants(self, variants: tuple[Variant, ...], policy: Policy) -> SchemaNode:
        """Return a node with the same default."""
        node = SchemaNode()
        node.policy = policy
        node.default = self.default
        node.fill(variants)
        return node


def _free_types(variant: Variant) -> list[type]:
    """Return the types of scalars that fit a variant whatever their value is."""
    if variant.check is not None or isinstance(variant, EnumVariant):
        return []
    kinds = variant.kinds
    if isinstance(variant, ScalarVariant) and variant.is_integer:
        return [int]
    return [each for each, kind in _KIND_OF.items() if kind in kinds and kind in SCALARS]


ANY_VARIANT: Final = AnyVariant(kinds=frozenset(KINDS), expected="anything")
ANY: Final = SchemaNode()
ANY.fill((ANY_VARIANT,))


def get_kind(value: object) -> Kind:
    """Return the kind of a JSON value."""
    return _KIND_OF[type(value)]


def is_integral(value: JsonValue) -> bool:
    """Return whether a number is an integer for JSON Schema, as 1.0 is."""
    if isinstance(value, float):
        return value.is_integer()
    return not isinstance(value, Decimal) or value == value.to_integral_value()


def is_same_json(left: JsonValue, right: JsonValue) -> bool:
    """Compare as JSON does: 1 is 1.0, and `true` is not 1."""
    todo: list[tuple[JsonValue, JsonValue]] = [(left, right)]
    while todo:
        one, other = todo.pop()
        kind = get_kind(one)
        if kind != get_kind(other):
            return False
        if isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            todo += zip(one, other, strict=True)
        elif isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            todo += [(value, other[key]) for key, value in one.items()]
        elif not (is_same_number(one, other) if kind == "number" else one == other):
            return False
    return True
