"""Whether the core runs compiled or as plain Python; it behaves the same."""

from __future__ import annotations

from typing import Final

from jsontide.text import _scanner

COMPILED: Final[bool] = not _scanner.__file__.endswith(".py")
"""Whether the core was compiled when this package was installed."""
