"""What a schema shows of a state, as programs get it.

Never compiled: a compiled class with type parameters does not clear weak references to it when it is freed, and
following one then crashes.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Generic, TypeVar

from jsontide._values import JsonValue, Missing
from jsontide.schema._mismatch import SchemaMismatch
from jsontide.tree import ParserState

if TYPE_CHECKING:
    from jsontide.schema._resolve import Report

Model_co = TypeVar("Model_co", covariant=True)


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


class Resolution(Generic[Model_co]):
    """What a schema shows of a parser state; made by `from_json_ast`, and passed to it again for the next state.

    Its values are plain Python containers that other resolutions of the stream share: read them, do not change them.
    """

    __slots__ = ("_report", "_state", "_step", "value")

    def __init__(self, report: Report[Model_co], state: ParserState, step: int, value: JsonValue | Missing) -> None:
        self._report = report
        self._state = state
        self._step = step
        self.value = value
        """What may be shown now, `MISSING` while nothing may."""

    @property
    def status(self) -> Status:
        """How far the resolution has come."""
        return self._report.status

    @property
    def model(self) -> Model_co | Missing:
        """What the validator made of the complete document: an instance of the type, or the value for a JSON Schema.

        `MISSING` unless the status is `FINAL`.
        """
        return self._report.model

    @property
    def errors(self) -> tuple[SchemaMismatch, ...]:
        """What does not fit, in the order in which it was found."""
        report = self._report
        return (*report.fold.stack.errors[: report.error_count], *report.open_errors)

    def __repr__(self) -> str:
        return f"<Resolution {self.status.name} of {self._state!r}>"

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self._report.reduce(self._state)
