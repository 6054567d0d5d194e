"""A type with `typing.TypedDict` in it in, the same type out as pydantic takes it.

Before Python 3.12 pydantic only takes the one of `typing_extensions`, which a program need not have heard of.
Rule: a type that has none in it is returned as it is, and nothing that was passed in is changed.
"""

from __future__ import annotations

import sys
from types import UnionType
from typing import Annotated, Any, Final, NotRequired, Required, Union, cast, get_args, get_origin, get_type_hints

import typing_extensions

_IS_TAKEN: Final = sys.version_info >= (3, 12)
_COPIED: Final = ("__doc__", "__module__", "__qualname__", "__pydantic_config__")


def with_new_typed_dicts(variant: Any) -> Any:  # noqa: ANN401
    """Return a type that pydantic takes; what is inside of classes stays as it is."""
    return variant if _IS_TAKEN else _translated(variant, {})


def _translated(variant: Any, made: dict[type, Any]) -> Any:  # noqa: ANN401
    if isinstance(variant, type) and type(variant).__module__ == "typing" and typing_extensions.is_typeddict(variant):
        return made[variant] if variant in made else _new_typed_dict(variant, made)
    old = get_args(variant)
    new = tuple(_translated(each, made) for each in old)
    if all(each is before for each, before in zip(new, old, strict=True)):
        return variant
    origin: Any = Union if get_origin(variant) is UnionType else get_origin(variant)
    return origin[new if len(new) > 1 else new[0]]


def _new_typed_dict(old: Any, made: dict[type, Any]) -> Any:  # noqa: ANN401
    try:
        hints = get_type_hints(old, localns={old.__name__: old}, include_extras=True)
    except NameError:  # pydantic will say what is to be done
        return old
    keys = {key: hint if key in old.__required_keys__ else _not_required(hint) for key, hint in hints.items()}
    new = made[old] = cast("Any", typing_extensions.TypedDict)(old.__name__, keys)
    for name in _COPIED:
        if hasattr(old, name):
            setattr(new, name, getattr(old, name))
    # Only now, because they may lead back to it.
    new.__annotations__ = {key: _translated(hint, made) for key, hint in keys.items()}
    return new


def _not_required(hint: Any) -> Any:  # noqa: ANN401
    """Say so of a key that a class with `total=False` has, unless it says something itself."""
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return hint if get_origin(inner) in (Required, NotRequired) else NotRequired[hint]
