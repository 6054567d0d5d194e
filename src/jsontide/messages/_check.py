"""Fields that programs set: one of a wrong type is refused, with its name, what was expected and what came."""

from __future__ import annotations

from typing import TypeVar

Item = TypeVar("Item")


def wrong_type(name: str, expected: str, value: object) -> TypeError:
    return TypeError(f"{name} must be {expected}, not {type(value).__name__}")


def check_texts(one: object, *names: str) -> None:
    """Refuse fields that are neither text nor `None`."""
    for name in names:
        value = getattr(one, name)
        if value is not None and not isinstance(value, str):
            raise wrong_type(name, "a str or None", value)


def is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_tuple_of(kind: type[object], items: object) -> bool:
    if type(items) is not tuple:
        return False
    for item in items:
        if type(item) is not kind:
            return False
    return True


def tuple_of(kind: type[Item], name: str, items: object) -> tuple[Item, ...]:
    """Return items as a tuple; a list may be changed by its owner later on."""
    if not isinstance(items, tuple | list):
        raise wrong_type(name, f"a tuple of {kind.__name__}", items)
    for item in items:
        if not isinstance(item, kind):
            message = f"{name} must hold {kind.__name__} only, not {type(item).__name__}"
            raise TypeError(message)
    return tuple(items)
