"""Names that a package offers and loads when somebody asks for them, so that importing it stays light."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package: `homes` tells in which module each name is."""

    def load(name: str) -> object:
        home = homes.get(name)
        if home is None:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[package])
        found: object = getattr(import_module(home), name)
        setattr(sys.modules[package], name, found)
        return found

    return load


def homes_of(homes: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the module of each name, from the names of each module."""
    return {name: module for module, names in homes.items() for name in names}
