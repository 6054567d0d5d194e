"""What an accumulator may be asked to do otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from jsontide.text import Limits
from jsontide.text._choices import FLOATS, Floats, check_choices, check_limits, check_switches
from jsontide.text._limits import check_count

Strings: TypeAlias = Literal["both", "deltas", "whole"]

_CHOICES: Final = {"strings": ("both", "deltas", "whole"), "floats": FLOATS}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventOptions:
    """The choices of one accumulator, checked."""

    limits: Limits
    floats: Floats
    documents: int | None
    updates: bool
    keys: bool
    strings: Strings
    values: bool
    skips_errors: bool

    def __post_init__(self) -> None:
        check_limits(self.limits)
        check_choices(self, _CHOICES)
        check_switches(self, "updates", "keys", "values", "skips_errors")
        if self.documents is not None:
            check_count("documents", self.documents, "an int or None")
