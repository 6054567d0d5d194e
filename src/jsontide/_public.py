"""Names that a package offers: loaded when first used, and labelled with the place where users find them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import BuiltinFunctionType, FunctionType
from typing import Final

_TOP: Final = "jsontide"


def publish(package: str, names: Iterable[str], namespace: Mapping[str, object]) -> None:
    """Set `__module__` of public classes and functions to `package`, or to the top level if they are offered there.

    Tracebacks, `repr`, `help` and pickles name that place, and not a private module.
    """
    top = vars(sys.modules[_TOP])
    for name in names:
        found = namespace.get(name)
        # Functions of compiled modules are builtin ones.
        if isinstance(found, type | FunctionType | BuiltinFunctionType):
            is_at_top = name in top.get("__all__", ()) and top.get(name, found) is found
            found.__module__ = _TOP if is_at_top else package


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package whose names are in the modules that `homes` gives."""

    def load(name: str) -> object:
        home = homes.get(name)
        if home is None:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[package])
        module = import_module(home)
        publish(package, [each for each in homes if homes[each] == home], vars(module))
        found: object = getattr(module, name)
        setattr(sys.modules[package], name, found)
        return found

    return load


def homes_of(homes: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the module of each name, from the names of each module."""
    return {name: module for module, names in homes.items() for name in names}
