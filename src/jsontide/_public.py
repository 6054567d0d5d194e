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


def lazily(package: str, *modules: str) -> Callable[[str], object]:
    """Return the `__getattr__` of a package that finds the rest of its `__all__` in modules.

    They are loaded one after the other until the name is found, so the heaviest comes last.
    """

    def load(name: str) -> object:
        space = vars(sys.modules[package])
        names: list[str] = space.get("__all__", [])
        for module in map(import_module, modules if name in names else ()):
            publish(package, names, vars(module))
            if hasattr(module, name):
                space[name] = getattr(module, name)
                return space[name]
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])

    return load
