"""Refuses the compiled build in any interpreter but the main one, before the first extension is loaded.

Compiled modules keep their data once for the whole process.
A second interpreter that loads them takes them away from the first, and leaves them broken when it ends.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from importlib.machinery import PathFinder


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
