"""What an accumulator may be asked to do otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from jsontide.text import Limits
from jsontide.text._choices import FLOATS, Floats, check_choices, check_limits

Strings: TypeAlias = Literal["both", "deltas", "whole"]

_CHOICES: Final = {"strings": ("both", "deltas", "whole"), "floats": FLOATS}
_SWITCHES: Final = ("updates", "keys", "values", "skips_errors")


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
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                message = f"{name} must be a bool, not {type(getattr(self, name)).__name__}"
                raise TypeError(message)
        self._check_documents()

    def _check_documents(self) -> None:
        documents = self.documents
        if documents is None:
            return
        if not isinstance(documents, int) or isinstance(documents, bool):
            message = f"documents must be an int or None, not {type(documents).__name__}"
            raise TypeError(message)
        if documents < 1:
            message = f"documents must be at least 1, not {documents}"
            raise ValueError(message)
