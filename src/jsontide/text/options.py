"""How much a text may ask for, so that hostile input ends in an error and not in an empty machine."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from jsontide._check import check_count

MOST: Final = 2**62 - 1
"""What every higher count is taken for: there is nothing of which there are so many, and a machine integer holds it.

It is the highest that compiled code compares without making an object of it, which may fail.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that a text may ask for; what exceeds it is an error with its own reason.

    The defaults keep the nodes of one document within 600 MB: a node takes at most 600 bytes.
    The characters of its strings come on top.

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


def check_limits(limits: object) -> None:
    """Refuse anything but `Limits`."""
    if not isinstance(limits, Limits):
        message = f"limits must be Limits, not {type(limits).__name__}"
        raise TypeError(message)
