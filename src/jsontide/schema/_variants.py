"""What a schema is compiled to: a node for every place in a document, with the variants that a value there may have.

A node is a union of variants, most often of one.
A variant is of one kind, so that the first character of a value rules out all variants of other kinds.
Recursive schemas make nodes that lead back to themselves: nothing here may walk all of them.

At the end: a node and a scalar in, the value to show out, or why it fits no variant.
A string is checked as if its characters came one by one: each variant is ruled out at an *offset*, the length of the
shortest beginning that cannot become this variant; the kind of a value shows at its first character, offset 0.
The variant that is ruled out last explains the mismatch.
So a whole string gives the same result as its pieces, however they were cut.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias, cast

from jsontide._path import Segment
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._mismatch import MismatchReason, shorten
from jsontide.schema._regex import Regex
from jsontide.schema._validator import Check, Memory, Violation, is_same_number
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


@dataclass(eq=False, repr=False, kw_only=True)
class Variant:
    """One form that a value may have."""

    kinds: frozenset[Kind]
    expected: str
    check: Check | None = None
    """Checks closed values of this kind, if anything can be wrong with them."""
    converter: Check | None = None
    """Converts closed scalars of other kinds: pydantic takes `"12"` for 12."""
    gates: frozenset[str] = frozenset()
    """The members that an object waits for before it shows anything."""
    has_before_validator: bool = False
    """Whether a function of the program sees the value first, and may change it to anything."""
    is_free_text: bool = True
    """Whether half a string means something, as half a date or half an address does not."""

    def __deepcopy__(self, memo: dict[int, object]) -> Variant:
        return self

    def node_at(self, segment: Segment) -> SchemaNode | None:
        """Return the node of a child, `None` if no child is allowed there."""
        return ANY

    def is_met_by(self, value: Any) -> bool:
        """Return whether a closed container fits without further checks."""
        return self.check is None


@dataclass(eq=False, repr=False, kw_only=True)
class AnyVariant(Variant):
    """Anything at all."""


@dataclass(eq=False, repr=False, kw_only=True)
class ScalarVariant(Variant):
    """A string, number, boolean or null."""

    is_integer: bool = False


@dataclass(eq=False, repr=False, kw_only=True)
class EnumVariant(Variant):
    """One of a few values, never shown before it is closed."""

    members: tuple[JsonValue, ...]
    texts: tuple[str, ...]
    """The members that are strings."""
    longest: int

    def is_met_by(self, value: Any) -> bool:
        return self.check is None and self.has_member(value)

    def has_member(self, value: JsonValue) -> bool:
        return value in self.texts or any(is_same_json(member, value) for member in self.members)


@dataclass(eq=False, repr=False, kw_only=True)
class ArrayVariant(Variant):
    """An array: items by index, then all others."""

    prefix: tuple[SchemaNode, ...] = ()
    rest: SchemaNode | None = None
    """`None` if no more items are allowed."""
    min_items: Length = 0
    max_items: Length = None
    """`None` if any number is allowed."""

    def node_at(self, segment: Segment) -> SchemaNode | None:
        at = cast("int", segment)
        if self.max_items is not None and at >= self.max_items:
            return None
        return self.prefix[at] if at < len(self.prefix) else self.rest

    def is_met_by(self, value: Any) -> bool:
        return self.check is None and len(value) >= self.min_items


Extra: TypeAlias = Literal["keep", "ignore", "forbid"]


@dataclass(eq=False, repr=False, kw_only=True)
class ObjectVariant(Variant):
    """An object: members by key, then by pattern, then all others."""

    properties: dict[str, SchemaNode]
    patterns: tuple[tuple[Regex, SchemaNode], ...]
    extra: Extra
    extra_node: SchemaNode | None
    required: tuple[str, ...]
    attributes: dict[str, list[str]]
    """The keys of each attribute of a type; of several keys the first stands for all."""
    defaults: dict[str, JsonValue] = field(default_factory=dict)
    names: dict[str, list[str]] = field(init=False)
    """All keys of a member that has several, by the first."""

    def __post_init__(self) -> None:
        self.names = {keys[0]: keys for keys in self.attributes.values() if len(keys) > 1}

    def node_at(self, segment: Segment) -> SchemaNode | None:
        key = cast("str", segment)
        node = self.properties.get(key)
        if node is not None:
            return node
        for pattern, matched in self.patterns:
            if pattern.search(key):
                return matched
        return self.extra_node

    def is_met_by(self, value: Any) -> bool:
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

    def note_members(self) -> None:
        """Note the gates and defaults of its members, once those are filled in."""
        members = [(key, node) for key, node in self.properties.items() if self.first_key(key) == key]
        self.gates = frozenset(key for key, node in members if node.policy == "gate")
        self.defaults = {key: node.default for key, node in members if node.default is not MISSING}


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
        """The Python types whose scalars always fit."""
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

    def with_variants(self, variants: tuple[Variant, ...], policy: Policy) -> SchemaNode:
        """Return a node with the same default."""
        node = SchemaNode()
        node.policy = policy
        node.default = self.default
        node.fill(variants)
        return node


def _free_types(variant: Variant) -> list[type]:
    """Return the Python types whose scalars always fit a variant."""
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


_AT_THE_END: Final = 1 << 62
"""The offset of what shows only when a value closes."""


class ScalarMismatch:
    """Why a scalar fits no variant of a node, and after how many characters that was certain."""

    __slots__ = ("expected", "found", "offset", "reason", "was_shown")

    def __init__(
        self, offset: int, reason: MismatchReason, expected: str, found: str, *, was_shown: bool = False
    ) -> None:
        self.offset = offset
        self.reason = reason
        self.expected = expected
        self.found = found
        self.was_shown = was_shown  # the string grew in view, and stays


def check_scalar(node: SchemaNode, value: JsonValue, memory: Memory) -> tuple[JsonValue, ScalarMismatch | None]:
    """Return what to show of a closed scalar, and why it does not fit, if it does not."""
    if type(value) in node.free:
        return value, None
    kind = get_kind(value)
    problem: Violation | None = None
    for variant in node.by_kind[kind]:
        if _is_member(variant, value):
            problems = () if variant.check is None else variant.check.find_problems(value, memory)
            if not problems:
                return _convert_integer(variant, value), None
            problem = problems[0]
    if kind not in node.plain:
        for variant in node.variants:
            converted = MISSING if variant.converter is None else variant.converter.convert(value)
            if converted is not MISSING:
                return (converted if get_kind(converted) in variant.kinds else value), None
    return None, _explain_closed(node, kind, value, problem)


def check_open_scalar(node: SchemaNode, kind: Kind, text: str) -> ScalarMismatch | None:
    """Return why an open scalar can fit no variant, if that is certain; `text` is the beginning of a string."""
    offsets = [_find_offset(node, variant, kind, text) for variant in node.variants]
    if any(offset > len(text) for offset in offsets):
        return None
    if not any(offsets):
        return ScalarMismatch(0, MismatchReason.WRONG_TYPE, node.expected, f"a {kind}" if kind != "null" else kind)
    return _explain_prefix(node, offsets, text)


def open_variants(node: SchemaNode, text: str) -> list[Variant]:
    """Return the variants that an open string can still become."""
    return [variant for variant in node.variants if _find_offset(node, variant, "string", text) > len(text)]


def _is_member(variant: Variant, value: JsonValue) -> bool:
    if isinstance(variant, EnumVariant):
        return variant.has_member(value)
    if not isinstance(variant, ScalarVariant) or not variant.is_integer or isinstance(value, int):
        return True
    return is_integral(value) if variant.converter is None else variant.converter.convert(value) is not MISSING


def _convert_integer(variant: Variant, value: JsonValue) -> JsonValue:
    """Return an integer for 1.0 where the validator converts it; one of `int | float` leaves it as it is."""
    if (
        isinstance(value, float)
        and variant.converter is not None
        and isinstance(variant, ScalarVariant)
        and variant.is_integer
    ):
        converted = variant.converter.convert(value)
        return value if converted is MISSING else converted
    return value


def _explain_closed(node: SchemaNode, kind: Kind, value: JsonValue, problem: Violation | None) -> ScalarMismatch:
    """Say why a closed scalar does not fit the variant that was ruled out last."""
    text = value if isinstance(value, str) else ""
    offsets = [_find_offset(node, variant, kind, text) for variant in node.variants]
    latest = max(offsets, default=0)
    if latest == 0:
        return ScalarMismatch(0, MismatchReason.WRONG_TYPE, node.expected, shorten(value))
    if latest < _AT_THE_END:
        return _explain_prefix(node, offsets, text)
    last = [variant for variant, offset in zip(node.variants, offsets, strict=True) if offset == latest]
    if len(last) > 1:
        is_of_their_kind = any(kind in variant.kinds for variant in last)
        reason = MismatchReason.NO_BRANCH if is_of_their_kind else MismatchReason.WRONG_TYPE
        return ScalarMismatch(latest, reason, node.expected, shorten(value))
    variant = last[0]
    if kind not in variant.kinds or (problem is None and not isinstance(variant, EnumVariant)):
        return ScalarMismatch(latest, MismatchReason.WRONG_TYPE, variant.expected, shorten(value))
    if problem is None:
        return ScalarMismatch(latest, MismatchReason.NOT_A_MEMBER, variant.expected, shorten(value))
    is_undecided = problem.reason is MismatchReason.TOO_COMPLEX
    reason = problem.reason if is_undecided else MismatchReason.INVALID
    return ScalarMismatch(latest, reason, problem.expected, shorten(value), was_shown=node.lets_grow(last))


def _explain_prefix(node: SchemaNode, offsets: list[int], text: str) -> ScalarMismatch:
    """Say why a string cannot continue as it begins."""
    latest = max(offsets)
    last = [variant for variant, offset in zip(node.variants, offsets, strict=True) if offset == latest]
    found = f"a string that begins with {json.dumps(text[:latest], ensure_ascii=False)}"
    if len(last) > 1:
        return ScalarMismatch(latest, MismatchReason.NO_BRANCH, node.expected, found)
    return ScalarMismatch(latest, MismatchReason.NOT_A_MEMBER, last[0].expected, found)


def _find_offset(node: SchemaNode, variant: Variant, kind: Kind, text: str) -> int:
    """Return after how many characters a variant is ruled out."""
    if kind not in variant.kinds:
        return 0 if variant.converter is None or kind in node.plain else _AT_THE_END
    if not isinstance(variant, EnumVariant) or kind != "string" or variant.converter is not None:
        return _AT_THE_END
    left = variant.texts
    for offset in range(1, min(len(text), variant.longest + 1) + 1):
        begin = text[:offset]
        left = tuple(member for member in left if member.startswith(begin))
        if not left:
            return offset
    return _AT_THE_END
