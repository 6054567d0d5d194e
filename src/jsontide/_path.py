"""Where something stands in a document: keys and indices from the root down.

A path has no prefix and no syntax: `("users", 2, "email")`, and `()` for the root.
"""

from __future__ import annotations

from typing import TypeAlias

Segment: TypeAlias = str | int
"""A key of an object or an index of an array."""

Path: TypeAlias = tuple[Segment, ...]
"""Keys and indices from the root down."""
