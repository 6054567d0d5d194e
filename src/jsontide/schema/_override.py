"""A shape and policies by path in, a shape with those policies out; the first one stays as it is.

The way to each place is made anew, so that a policy for `next.title` of a recursive schema changes that place alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from jsontide._pattern import AnyItem, AnyKey, Item, Key, Pattern, parse_pattern
from jsontide.schema._from_json_schema import finish_form
from jsontide.schema._policy import policy_of
from jsontide.schema._shapes import ArrayForm, Form, ObjectForm, Shape

if TYPE_CHECKING:
    from jsontide.schema._policy import Policy

_MOST_ITEMS: Final = 10_000


def overridden(shape: Shape, policies: Mapping[str, object]) -> Shape:
    """Return a shape whose places have other policies; a place that the schema does not have is an error."""
    if not isinstance(policies, Mapping):
        message = f"policies must be a mapping from patterns to policies, not {type(policies).__name__}"
        raise TypeError(message)
    for pattern, annotation in policies.items():
        made = _with_policy(shape, parse_pattern(pattern), policy_of(annotation))
        if made is None:
            message = f"a policy for {pattern!r}, but the schema has no such place"
            raise ValueError(message)
        shape = made
    return shape


def _with_policy(shape: Shape | None, steps: Pattern, policy: Policy) -> Shape | None:
    """Return a copy with a policy further inside, `None` if there is no such place."""
    if shape is None:
        return None
    if not steps:
        return shape.with_policy(policy)
    forms = [_with_inner(form, steps, policy) for form in shape.forms]
    if not any(forms):
        return None
    return shape.with_forms(tuple(form or old for form, old in zip(forms, shape.forms, strict=True)), shape.policy)


def _with_inner(form: Form, steps: Pattern, policy: Policy) -> Form | None:
    match form, steps[0]:
        case ObjectForm(), Key(name=name):
            made = _with_policy(form.shape_at(name), steps[1:], policy)
            return None if made is None else _with_members(form, {name: made}, form.extra_shape)
        case ObjectForm(), AnyKey():
            inner = {key: _with_policy(shape, steps[1:], policy) for key, shape in form.properties.items()}
            members = {key: shape for key, shape in inner.items() if shape is not None}
            others = _with_policy(form.extra_shape, steps[1:], policy)
            return _with_members(form, members, others or form.extra_shape) if members or others else None
        case ArrayForm(), Item(index=index) if index < _MOST_ITEMS:
            return _with_item(form, index, steps[1:], policy)
        case ArrayForm(), AnyItem():
            items = [_with_policy(shape, steps[1:], policy) for shape in form.prefix]
            rest = _with_policy(form.rest, steps[1:], policy)
            prefix = tuple(made or shape for made, shape in zip(items, form.prefix, strict=True))
            return form.with_items(prefix, rest or form.rest) if rest or any(items) else None
        case _:
            return None


def _with_members(form: ObjectForm, members: dict[str, Shape], others: Shape | None) -> ObjectForm:
    made = form.with_members({**form.properties, **members}, others)
    finish_form(made)
    return made


def _with_item(form: ArrayForm, index: int, steps: Pattern, policy: Policy) -> ArrayForm | None:
    prefix = list(form.prefix)
    if form.rest is not None:
        prefix += [form.rest] * (index + 1 - len(prefix))
    made = _with_policy(prefix[index], steps, policy) if index < len(prefix) else None
    if made is None:
        return None
    prefix[index] = made
    return form.with_items(tuple(prefix), form.rest)
