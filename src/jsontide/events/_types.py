"""The kinds of updates, and the exception that an accumulator raises if asked to."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from jsontide._errors import JsonStreamError, ParserError

if TYPE_CHECKING:
    from jsontide.events._emitter import JsonFragmentUpdate


class JsonFragmentKind(StrEnum):
    """What happened at a path; each is equal to its own name.

    >>> JsonFragmentKind.StartObject == "StartObject"
    True
    """

    StartObject = "StartObject"
    EndObject = "EndObject"
    StartArray = "StartArray"
    EndArray = "EndArray"
    Key = "Key"
    """A key is complete; the path is that of its object."""
    StartString = "StartString"
    PartialString = "PartialString"
    """More of a string: the characters that are new."""
    CompleteString = "CompleteString"
    CompleteNumber = "CompleteNumber"
    CompleteBoolean = "CompleteBoolean"
    CompleteNull = "CompleteNull"
    JsonComplete = "JsonComplete"
    """A document has ended."""
    Error = "Error"
    """The text is not valid JSON here; with `on_error="skip"`, also what was skipped."""


class JsonFragmentError(JsonStreamError):
    """The fragments are not valid JSON; `updates` holds what the last fragment contained before the error."""

    def __init__(self, error: ParserError, updates: Sequence[JsonFragmentUpdate]) -> None:
        super().__init__(error)
        self.args = (error, updates)
        self.updates = list(updates)
