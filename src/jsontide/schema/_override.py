"""A node and policies by path in, a node with those policies out; the first one stays as it is.

The way to each place is made anew, so that a policy for `next.title` of a recursive schema changes that place alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from jsontide._pattern import AnyItem, AnyKey, Item, Key, Pattern, parse_pattern
from jsontide.schema._from_json_schema import finish_form
from jsontide.schema._nodes import ArrayVariant, ObjectVariant, SchemaNode, Variant
from jsontide.schema._policy import policy_of

if TYPE_CHECKING:
    from jsontide.schema._policy import Policies, Policy

_MOST_ITEMS: Final = 10_000


def overridden(node: SchemaNode, policies: Policies) -> SchemaNode:
    """Return a node whose places have other policies; a place that the schema does not have is an error."""
    if not isinstance(policies, Mapping):
        message = f"policies must be a mapping from patterns to policies, not {type(policies).__name__}"
        raise TypeError(message)
    for pattern, annotation in policies.items():
        made = _with_policy(node, parse_pattern(pattern), policy_of(annotation))
        if made is None:
            message = f"a policy for {pattern!r}, but the schema has no such place"
            raise ValueError(message)
        node = made
    return node


def _with_policy(node: SchemaNode | None, steps: Pattern, policy: Policy) -> SchemaNode | None:
    """Return a copy with a policy further inside, `None` if there is no such place."""
    if node is None:
        return None
    if not steps:
        return node.with_policy(policy)
    variants = [_with_inner(variant, steps, policy) for variant in node.variants]
    if not any(variants):
        return None
    return node.with_forms(
        tuple(variant or old for variant, old in zip(variants, node.variants, strict=True)), node.policy
    )


def _with_inner(variant: Variant, steps: Pattern, policy: Policy) -> Variant | None:
    match variant, steps[0]:
        case ObjectVariant(), Key(name=name):
            made = _with_policy(variant.node_at(name), steps[1:], policy)
            return None if made is None else _with_members(variant, {name: made}, variant.extra_shape)
        case ObjectVariant(), AnyKey():
            inner = {key: _with_policy(node, steps[1:], policy) for key, node in variant.properties.items()}
            members = {key: node for key, node in inner.items() if node is not None}
            others = _with_policy(variant.extra_shape, steps[1:], policy)
            return _with_members(variant, members, others or variant.extra_shape) if members or others else None
        case ArrayVariant(), Item(index=index) if index < _MOST_ITEMS:
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
    finish_form(made)
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
