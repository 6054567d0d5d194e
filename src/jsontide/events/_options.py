"""What an accumulator may be asked to do otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, TypedDict

from jsontide._check import check_choices, check_count, check_switches
from jsontide.text import Limits
from jsontide.text.numbers import FLOATS, Floats
from jsontide.text.options import check_limits

OnError: TypeAlias = Literal["event", "raise", "skip"]
Strings: TypeAlias = Literal["both", "deltas", "whole"]

ON_ERROR: Final = ("event", "raise", "skip")
_CHOICES: Final = {"strings": ("both", "deltas", "whole"), "floats": FLOATS}


class EventChoices(TypedDict, total=False):
    """The options as keyword arguments; `JsonFragmentAccumulator` tells what they mean."""

    documents: int | None
    updates: bool
    keys: bool
    strings: Strings
    values: bool
    floats: Floats
    limits: Limits
    max_errors: int


class AccumulatorChoices(EventChoices, total=False):
    """The same with what only an accumulator can do."""

    on_error: OnError


@dataclass(frozen=True, slots=True, kw_only=True)
class EventOptions:
    """The choices of one accumulator, checked."""

    documents: int | None = None
    updates: bool = True
    keys: bool = True
    strings: Strings = "both"
    values: bool = True
    floats: Floats = "float"
    limits: Limits = field(default_factory=Limits)
    max_errors: int = 1_000
    skips_errors: bool = False

    def __post_init__(self) -> None:
        check_limits(self.limits)
        check_choices(self, _CHOICES)
        check_switches(self, "updates", "keys", "values", "skips_errors")
        check_count("max_errors", self.max_errors)
        if self.documents is not None:
            check_count("documents", self.documents, "an int or None")
