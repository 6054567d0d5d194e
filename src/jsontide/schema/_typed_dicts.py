"""The `TypedDict` of `typing` in, that of `typing_extensions` out, which pydantic accepts before Python 3.12 too."""

from __future__ import annotations

import sys
from types import UnionType
from typing import Annotated, Any, Final, NotRequired, Required, Union, cast, get_args, get_origin, get_type_hints

import typing_extensions

_TAKES_TYPED_DICTS: Final = sys.version_info >= (3, 12)
_COPIED: Final = ("__doc__", "__module__", "__qualname__", "__pydantic_config__")


def replace_typed_dicts(hint: Any) -> Any:  # noqa: ANN401
    """Return a type that pydantic accepts; what is inside classes stays as it is.

    Before Python 3.12 pydantic accepts only the `TypedDict` of `typing_extensions`.
    """
    return hint if _TAKES_TYPED_DICTS else _translate(hint, {})


def _translate(hint: Any, made: dict[type, Any]) -> Any:  # noqa: ANN401
    if isinstance(hint, type) and type(hint).__module__ == "typing" and typing_extensions.is_typeddict(hint):
        return made[hint] if hint in made else _new_typed_dict(hint, made)
    old = get_args(hint)
    new = tuple(_translate(each, made) for each in old)
    if all(each is before for each, before in zip(new, old, strict=True)):
        return hint
    origin: Any = Union if get_origin(hint) is UnionType else get_origin(hint)
    return origin[new if len(new) > 1 else new[0]]


def _new_typed_dict(old: Any, made: dict[type, Any]) -> Any:  # noqa: ANN401
    try:
        hints = get_type_hints(old, localns={old.__name__: old}, include_extras=True)
    except NameError:  # pydantic will raise an error that says what to do
        return old
    keys = {key: hint if key in old.__required_keys__ else _not_required(hint) for key, hint in hints.items()}
    new = made[old] = cast("Any", typing_extensions.TypedDict)(old.__name__, keys)
    for name in _COPIED:
        if hasattr(old, name):
            setattr(new, name, getattr(old, name))
    # Set last, because they may lead back to it.
    new.__annotations__ = {key: _translate(hint, made) for key, hint in keys.items()}
    return new


def _not_required(hint: Any) -> Any:  # noqa: ANN401
    """Mark a key of a class with `total=False` as not required, unless it is marked already."""
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return hint if get_origin(inner) in (Required, NotRequired) else NotRequired[hint]
