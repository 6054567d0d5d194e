"""The first bytes or events of a stream in, the stage that can read it out.

    {  [                      JSON, until more is known
    data: event: id: retry:   server-sent events, and so is a comment, which begins with a colon
    anything else             bad JSON if that is mended, else text

Rule: nothing is decided before the bytes say it, and none of them is lost meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from jsontide.adapters import start_stream
from jsontide.messages import Outcome
from jsontide.recordings._documents_stage import DocumentsStage
from jsontide.recordings._events_stage import start_events
from jsontide.recordings._json_stage import start_json
from jsontide.recordings._message_stage import MessageStage
from jsontide.recordings._piece import End
from jsontide.recordings._stage import Setup, Shared, Stage, end_outcome
from jsontide.recordings._text_stage import Decoded, TextStage

_BLANK: Final = b" \t\r\n\xef\xbb\xbf"  # white space, and a byte order mark
_FIELD: Final = re.compile(rb"(?:data|event|id|retry)[:\r\n]|:")
_FIELDS: Final = (b"data", b"event", b"id", b"retry")


class Undecided(Stage):
    """Nothing that says what the stream is."""

    __slots__ = ("_end", "_received", "_setup")

    def __init__(self, setup: Setup, received: tuple[bytes, ...] = (), end: End | None = None) -> None:
        self._setup: Final = setup
        self._received: Final = received
        self._end: Final = end

    def feed(self, data: bytes) -> Stage:
        received = (*self._received, data)
        stage = _decide(self._setup, b"".join(received).lstrip(_BLANK))
        if stage is None:
            return Undecided(self._setup, received)
        for piece in received:
            stage = stage.feed(piece)
        return stage

    def feed_event(self, event: Mapping[str, object]) -> Stage:
        if self._received:
            return super().feed_event(event)
        stage = _start_message(self._setup) if self._setup.as_kind == "message" else start_events(self._setup)
        return stage.feed_event(event)

    def finish(self, end: End, error: str | None) -> Stage:
        if self._setup.as_kind == "message":
            return _start_message(self._setup).finish(end, error)
        if not b"".join(self._received).strip(_BLANK):
            return Undecided(self._setup, self._received, end)
        stage: Stage = TextStage()  # it begins as a field does, and no field came
        for piece in self._received:
            stage = stage.feed(piece)
        return stage.finish(end, error)

    @property
    def outcome(self) -> Outcome:
        if self._end is None:
            return Outcome.STREAMING
        return Outcome.EMPTY if self._end == "over" else end_outcome(self._end, None, is_whole=False)


def start_stage(setup: Setup) -> Stage:
    """Return the stage before anything of a stream."""
    if setup.as_kind == "json":
        return start_json(setup)
    if setup.as_kind == "documents":
        return DocumentsStage(Shared(), Decoded(), setup.floats)
    return TextStage() if setup.as_kind == "text" else Undecided(setup)


def _start_message(setup: Setup) -> Stage:
    return MessageStage(start_stream(setup.config))


def _decide(setup: Setup, begun: bytes) -> Stage | None:
    """Return what reads a stream that begins like this, `None` if that is not clear yet."""
    if setup.as_kind == "message":
        return _start_message(setup)
    if begun[:1] in {b"{", b"["}:
        return start_json(setup)
    if _FIELD.match(begun):
        return start_events(setup)
    if any(field.startswith(begun) for field in _FIELDS):
        return None
    return TextStage() if setup.mend is None else start_json(setup)
