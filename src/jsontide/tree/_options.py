"""What a parser may be asked to do otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from jsontide._check import check_choices
from jsontide.text import Limits
from jsontide.text.limits import check_limits
from jsontide.text.numbers import FLOATS, Floats

DuplicateKeys: TypeAlias = Literal["last", "first", "error"]
Trailing: TypeAlias = Literal["error", "ignore"]

_CHOICES: Final = {
    "duplicate_keys": ("last", "first", "error"),
    "trailing": ("error", "ignore"),
    "floats": FLOATS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The choices of one parser, checked."""

    limits: Limits
    duplicate_keys: DuplicateKeys
    trailing: Trailing
    floats: Floats

    def __post_init__(self) -> None:
        check_limits(self.limits)
        check_choices(self, _CHOICES)
