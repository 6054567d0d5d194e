"""How far a resolution can have come: an enum, which stays interpreted."""

from enum import Enum


class Status(Enum):
    """How far a resolution has come."""

    PENDING = "pending"
    """Nothing may be shown yet."""
    PARTIAL = "partial"
    """Something is shown, and more will come."""
    FINAL = "final"
    """The document is complete, and the validator has accepted it."""
    MISMATCH = "mismatch"
    """Something does not fit the schema; what fits is still shown."""
