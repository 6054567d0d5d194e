"""What a parser may be asked to do otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from jsontide.text import Limits

DuplicateKeys: TypeAlias = Literal["last", "first", "error"]
Trailing: TypeAlias = Literal["error", "ignore"]
Floats: TypeAlias = Literal["float", "decimal", "lexeme"]

_CHOICES: Final = {
    "duplicate_keys": ("last", "first", "error"),
    "trailing": ("error", "ignore"),
    "floats": ("float", "decimal", "lexeme"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The choices of one parser, checked."""

    limits: Limits
    duplicate_keys: DuplicateKeys
    trailing: Trailing
    floats: Floats

    def __post_init__(self) -> None:
        if not isinstance(self.limits, Limits):
            message = f"limits must be Limits, not {type(self.limits).__name__}"
            raise TypeError(message)
        for name, choices in _CHOICES.items():
            choice = getattr(self, name)
            if choice not in choices:
                accepted = ", ".join(map(repr, choices))
                message = f"{name} must be one of {accepted}, not {choice!r}"
                raise ValueError(message)
