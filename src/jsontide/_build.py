"""Whether the core runs compiled or as plain Python; both behave the same."""

from __future__ import annotations

from typing import Final

COMPILED: Final[bool] = not __file__.endswith(".py")
"""Whether the core was compiled when this package was installed."""
