"""What can be wrong: a value that does not fit its schema, and a schema that cannot be used.

`SchemaMismatch` is a value: what does not fit, and where; it is reported as soon as no further text can make it fit.
`SchemaError` and `UnsupportedSchemaError` are exceptions; `_errors` draws the tree of all exceptions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Final

from jsontide._errors import JsontideError
from jsontide._path import Path, path_text

_MAX_SHORT_LENGTH: Final = 40


class MismatchReason(Enum):
    """Why a value does not fit its schema."""

    WRONG_TYPE = "wrong type"
    """Another kind of JSON value was expected."""
    NOT_A_MEMBER = "not a member"
    """The value is not in a `const` or `enum`, or does not begin like any value there."""
    NO_BRANCH = "no branch"
    """Every branch of a union is ruled out."""
    MISSING_KEY = "missing key"
    """An object closed without a member that is required."""
    UNKNOWN_KEY = "unknown key"
    """A member that the schema forbids."""
    WRONG_LENGTH = "wrong length"
    """An array has too many or too few items."""
    INVALID = "invalid"
    """The validator refuses the value: a constraint, or a rule of the program's own."""
    TOO_COMPLEX = "too complex"
    """The validator would take too long to decide, so it was not asked."""


@dataclass(frozen=True, slots=True)
class SchemaMismatch:
    """What does not fit the schema, and where in the text."""

    path: Path
    """Where the value is, or should be."""
    reason: MismatchReason
    """For programs."""
    expected: str
    """For people, in the words of JSON: "an integer", "one of 'low', 'high'"."""
    found: str
    """The value there, shortened."""
    index: int
    """Code points before the value; if it is missing, before the object around it."""
    line: int
    """Counted from 1; lines end at U+000A."""
    column: int
    """Counted from 1, in code points."""

    @property
    def message(self) -> str:
        """One line for people; it may change."""
        where = f"line {self.line}, column {self.column}"
        return f"{path_text(self.path)}: expected {self.expected}, found {self.found} ({where})"


class SchemaError(JsontideError, ValueError):
    """A document does not fit its schema; `errors` lists every mismatch."""

    def __init__(self, errors: tuple[SchemaMismatch, ...]) -> None:
        super().__init__(errors)
        self.errors = errors

    def __str__(self) -> str:
        count = len(self.errors)
        head = "1 value does not fit" if count == 1 else f"{count} values do not fit"
        return "\n".join([f"{head} the schema", *(f"  {error.message}" for error in self.errors)])


class UnsupportedSchemaError(JsontideError, ValueError):
    """A schema is wrong, or not supported; `where` points into it."""

    def __init__(self, problem: str, where: str = "#") -> None:
        super().__init__(problem, where)
        self.problem = problem
        self.where = where

    def __str__(self) -> str:
        return f"{self.problem} (at {self.where})"


def shorten(value: object) -> str:
    """Write a value for people, on one short line."""
    text = ""
    for piece in _pieces(value):
        text += piece
        if len(text) > _MAX_SHORT_LENGTH:
            return f"{text[: _MAX_SHORT_LENGTH - 1]}…"
    return text


def name_container(value: object) -> str:
    return "an object" if isinstance(value, dict) else "an array"


def _pieces(value: object) -> Iterable[str]:
    """Write a value piece by piece, so that a long one need not be written whole."""
    if isinstance(value, str):
        return (json.dumps(value[: _MAX_SHORT_LENGTH + 1], ensure_ascii=False),)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return (str(Decimal(value)),)  # also where Python's `int` has too many digits for its own `str`
    return json.JSONEncoder(ensure_ascii=False, default=repr).iterencode(value)
