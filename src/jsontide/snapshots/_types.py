"""The exception that a chunker raises."""

from __future__ import annotations

from typing import Final

from jsontide._errors import JsontideError
from jsontide._path import Path, path_text

_MAX_SHOWN_LENGTH: Final = 60  # characters of a text in a message


class SnapshotConflict(JsontideError, ValueError):  # noqa: N818 - a conflict is no mistake of the program
    """A snapshot contradicts text that is already written; the call has changed nothing.

    >>> print(SnapshotConflict(("name",), '"Mat', '"Bob"'))
    root.name is written as "Mat and cannot become "Bob"
    """

    def __init__(self, path: Path, written: str, wanted: str) -> None:
        super().__init__(path, written, wanted)
        self.path: Path = path
        """Path of the contradiction in the snapshot."""
        self.written: str = written
        """The text that is written there; empty if its container is already closed without it."""
        self.wanted: str = wanted
        """What the snapshot has there; empty if it is gone."""

    def __str__(self) -> str:
        place = path_text(self.path)
        if not self.written:
            return f"{place} cannot be added to what is already closed: {_shorten(self.wanted)}"
        if not self.wanted:
            return f"{place} is written as {_shorten(self.written)} and is gone from the snapshot"
        return f"{place} is written as {_shorten(self.written)} and cannot become {_shorten(self.wanted)}"


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN_LENGTH else f"{text[:_MAX_SHOWN_LENGTH]}..."
