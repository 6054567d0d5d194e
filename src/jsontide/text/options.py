"""Limits on what a text may use, so that hostile input ends in an error instead of exhausting the machine."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from jsontide._check import check_count

MAX_LIMIT: Final = 2**62 - 1
"""Higher limits are reduced to this: nothing is ever that large, and it fits a machine integer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that a text may use; exceeding each limit is an error with its own reason.

    With the defaults, the nodes of one document take at most 600 MB (600 bytes each), plus the text of its strings.

    >>> Limits(max_depth=3).max_depth
    3
    """

    max_depth: int = 512
    """Open containers inside each other."""
    max_chars: int = 100_000_000
    """Characters of the whole text."""
    max_string: int = 10_000_000
    """Characters between the quotes of one string or key, as written."""
    max_number: int = 4_300
    """Characters of one number; the default is what Python's own `int` accepts."""
    max_nodes: int = 1_000_000
    """Values that are kept of the document, containers included."""

    def __post_init__(self) -> None:
        for field in fields(self):
            check_count(field.name, getattr(self, field.name))
