"""Bytes that are neither JSON nor events in, their text out.

Rule: no text is wrong; what is not UTF-8 becomes U+FFFD.
"""

from __future__ import annotations

from codecs import utf_8_decode
from typing import Final

from jsontide._textbuffer import GrowingText
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.deltas import AppendText, Change, Finish, SetValue
from jsontide.messages import Outcome
from jsontide.recordings._piece import End
from jsontide.recordings._stage import Kind, Stage, end_outcome


class Decoded:
    """Text of which the bytes may be cut anywhere."""

    __slots__ = ("pending", "text")

    def __init__(self, text: str = "", pending: bytes = b"") -> None:
        self.text: Final = text
        """What the last bytes gave."""
        self.pending: Final = pending
        """The beginning of a character."""

    def feed(self, data: bytes, *, is_last: bool = False) -> Decoded:
        """Return the text of more bytes."""
        data = self.pending + data
        text, used = utf_8_decode(data, "replace", is_last)
        return Decoded(text, data[used:])


class TextStage(Stage):
    """A text so far."""

    __slots__ = ("_decoded", "_end", "_text")

    kind: Kind = "text"

    def __init__(self, text: GrowingText | None = None, decoded: Decoded | None = None, end: End | None = None) -> None:
        self._text: Final = GrowingText("") if text is None else text
        self._decoded: Final = Decoded() if decoded is None else decoded
        self._end: Final = end

    def feed(self, data: bytes) -> Stage:
        decoded = self._decoded.feed(data)
        return TextStage(self._text.append(decoded.text), decoded)

    def finish(self, end: End, error: str | None) -> Stage:
        decoded = self._decoded.feed(b"", is_last=True)
        return TextStage(self._text.append(decoded.text), decoded, end)

    def changes_since(self, before: Stage) -> list[Change]:
        changes: list[Change] = []
        if not isinstance(before, TextStage) or (self._text.length and not before._text.length):
            if self._text.length:
                changes.append(SetValue((), self._text.read(), () if self._end is None else None))
        else:
            if self._text.length > before._text.length:
                changes.append(AppendText((), self._text.tail(self._text.length - before._text.length)))
            if self._text.length and self._end is not None and before._end is None:
                changes.append(Finish(()))
        return changes

    @property
    def value(self) -> JsonValue | Missing:
        return self._text.read() if self._text.length else MISSING

    @property
    def is_complete(self) -> bool:
        return self._end == "over"

    @property
    def outcome(self) -> Outcome:
        if self._end is None:
            return Outcome.STREAMING
        return end_outcome(self._end, None, is_whole=self._end == "over")
