"""Whether the core runs compiled or as plain Python; it behaves the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

try:
    # Where the core is compiled this is there; nowhere else does it matter what it does.
    from mypy_extensions import mypyc_attr
except ImportError:
    if TYPE_CHECKING:
        from collections.abc import Callable

    _Class = TypeVar("_Class")

    def mypyc_attr(*_: str, **__: object) -> Callable[[_Class], _Class]:
        """Leave a class as it is."""
        return lambda cls: cls


__all__ = ["COMPILED", "mypyc_attr"]

COMPILED: Final[bool] = not __file__.endswith(".py")
"""Whether the core was compiled when this package was installed."""
