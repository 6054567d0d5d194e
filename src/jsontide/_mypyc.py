"""Decorators that instruct the compiler; in pure Python they do nothing.

This module itself stays interpreted: the compiler knows its names, and jsontide runs without the compiler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["mypyc_attr"]

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(**_: object) -> Callable[[type], type]:
        """Return a decorator that leaves a class as it is."""
        return lambda cls: cls
