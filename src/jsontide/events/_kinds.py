"""What an update can tell."""

from __future__ import annotations

from enum import StrEnum


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
    """The text is wrong here; with `on_error="skip"`, also what was skipped."""
