"""The text of several JSON documents, one after the other, in; the list of them out, the last one while it grows.

Rule: a document begins where the one before has ended; they need no white space between them.
"""

from __future__ import annotations

import re
from typing import Final

from jsontide._errors import ParserError, Reason
from jsontide._path import Path
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.deltas import Change, Finish, SetValue, open_path, read_changes
from jsontide.deltas.changes import move_change
from jsontide.messages import Outcome
from jsontide.recordings._piece import End
from jsontide.recordings._stage import Kind, Shared, Stage, end_outcome
from jsontide.recordings._text_stage import Decoded
from jsontide.text.numbers import Floats
from jsontide.tree import ParserState, create_parser_state, finalize, parse_chunk

_BLANK: Final = " \t\r\n\ufeff"
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")


class DocumentsStage(Stage):
    """Documents so far."""

    __slots__ = ("_closed", "_decoded", "_end", "_floats", "_open", "_values")

    kind: Kind = "documents"

    def __init__(
        self,
        values: Shared[JsonValue],
        decoded: Decoded,
        floats: Floats = "float",
        growing: ParserState | None = None,
        closed: ParserState | None = None,
        end: End | None = None,
    ) -> None:
        self._values: Final = values
        """The documents that are whole."""
        self._decoded: Final = decoded
        self._floats: Final = floats
        self._open: Final = growing
        """The one that grows, or is wrong; `None` between two of them."""
        self._closed: Final = closed
        """The end of the one that grew before the last piece, if it has one."""
        self._end: Final = end

    def feed(self, data: bytes) -> Stage:
        return self._read(self._decoded.feed(data))

    def _read(self, decoded: Decoded, end: End | None = None) -> DocumentsStage:
        reading = _Reading(self._open, self._floats)
        if self.error is None:
            for line in _LINE.findall(decoded.text):
                reading.read(line)
            if end == "over":
                reading.finish()
        values = self._values.append(*reading.whole)
        return DocumentsStage(values, decoded, self._floats, reading.state, reading.closed, end)

    def finish(self, end: End, error: str | None) -> Stage:
        return self._read(self._decoded.feed(b"", is_last=True), end)

    def changes_since(self, before: Stage) -> list[Change]:
        if not isinstance(before, DocumentsStage) or before._is_empty:
            return self._set_all()
        at = len(before._values)
        changes: list[Change] = []
        after = self._open if self._closed is None else self._closed
        if before._shown and after is not None:
            changes += [move_change(change, (at, *change.path)) for change in read_changes(before._open, after)]
            at += 1
        changes += [SetValue((at + place,), value) for place, value in enumerate(self._values.read(at))]
        if at <= len(self._values):
            changes += [SetValue((len(self._values),), value, self._open_path) for value in self._shown]
        if self._end is not None and before._end is None:
            changes.append(Finish(()))
        return changes

    def _set_all(self) -> list[Change]:
        if self._is_empty:
            return []
        shown, inside = self._shown, self._open_path
        place: Path | None = (len(self._values), *inside) if shown and inside is not None else ()
        return [SetValue((), self._values.read() + shown, place if self._end is None else None)]

    @property
    def _is_empty(self) -> bool:
        return not len(self._values) and not self._shown

    @property
    def _shown(self) -> list[JsonValue]:
        """What is shown of the one that grows."""
        value = MISSING if self._open is None else self._open.value
        return [] if value is MISSING else [value]

    @property
    def _open_path(self) -> Path | None:
        """Where in that one it grows."""
        return None if self._open is None else open_path(self._open)

    @property
    def value(self) -> JsonValue | Missing:
        return MISSING if self._is_empty else self._values.read() + self._shown

    @property
    def state(self) -> ParserState | None:
        return self._open

    @property
    def error(self) -> ParserError | None:
        return None if self._open is None else self._open.error

    @property
    def is_complete(self) -> bool:
        return self._end == "over" and self.error is None

    @property
    def outcome(self) -> Outcome:
        return Outcome.STREAMING if self._end is None else end_outcome(self._end, self.error, is_whole=self.is_complete)


class _Reading:
    """What one piece gives."""

    def __init__(self, state: ParserState | None, floats: Floats) -> None:
        self.state = state
        self._floats: Final = floats
        self.closed: ParserState | None = None
        self.whole: list[JsonValue] = []
        self._grew_before = state is not None

    def read(self, line: str) -> None:
        """Read a line; a document may end in it, and others follow."""
        while line:
            if self.state is None:
                line = line.lstrip(_BLANK)
                if not line:
                    return
                self.state = create_parser_state(floats=self._floats)
            elif self.state.error is not None:
                return
            index = self.state.index
            self.state = parse_chunk(self.state, line)
            error = self.state.error
            if error is not None and error.reason is Reason.TRAILING_TEXT:
                line = line[error.index - index :]
                self._close()
            else:
                line = ""
                if self.state.is_complete:
                    self._close()

    def finish(self) -> None:
        if self.state is not None and self.state.error is None:
            self.state = finalize(self.state)
            if self.state.is_complete:
                self._close()

    def _close(self) -> None:
        state = self.state
        if state is not None and state.value is not MISSING:
            self.whole.append(state.value)
        if self._grew_before:
            self.closed, self._grew_before = state, False
        self.state = None
