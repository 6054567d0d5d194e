"""What the compiled build needs of Python: its main interpreter, and a decorator that instructs the compiler.

Compiled modules keep their data once for the whole process: a second interpreter that loads them takes them away from
the first, and leaves them broken when it ends. So importing this module refuses any interpreter but the main one,
before the first extension is loaded.

This module itself stays interpreted: the compiler knows its names, and jsontide runs without the compiler.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

__all__ = ["is_main", "mypyc_attr"]

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(**_: object) -> Callable[[type], type]:
        """Return a decorator that leaves a class as it is."""
        return lambda cls: cls


def is_compiled() -> bool:
    """Return whether there are extensions to load, without loading one."""
    found = PathFinder.find_spec("jsontide._path", sys.modules["jsontide"].__path__)
    return found is not None and not str(found.origin).endswith(".py")


def is_main() -> bool:
    """Return whether this is the main interpreter; `True` where Python cannot say."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # from Python 3.13 on, and before
        with suppress(ImportError):
            interpreters = import_module(name)
            return bool(interpreters.get_current() == interpreters.get_main())
    return True


if is_compiled() and not is_main():
    message = "compiled, jsontide runs in the main interpreter only; installed with JSONTIDE_PURE=1, it runs in all"
    raise ImportError(message)
