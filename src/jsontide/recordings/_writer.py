"""Pieces as they arrive in, the lines of a recording file out, each flushed, with the time at which it came.

Rule: a line is in the file when `write` returns, so a recorder that is killed loses nothing but the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Protocol

from jsontide.recordings._file import end_line, header_line, piece_line
from jsontide.recordings._piece import ENDS, Data, End, Piece


class BinaryFile(Protocol):
    """What a recording is written to."""

    def write(self, data: bytes, /) -> object:
        """Write all of the data."""

    def flush(self) -> object:
        """Pass on what was written."""


class RecordingWriter:
    """Writes a recording while it happens.

    `about` is the header of the file; of a URL in it, user, query and fragment are left out.
    The stream starts now, or at the time `began` of the clock, such as that of the request.

    >>> import io
    >>> file = io.BytesIO()
    >>> writer = RecordingWriter(file, {"started": "2026-11-17T14:00:00Z"}, clock=iter([5.0, 5.25, 6.0]).__next__)
    >>> writer.write(b'{"city": "Kyo')
    >>> writer.finish()
    >>> print(file.getvalue().decode(), end="")
    {"jsontide": "recording", "version": 1, "started": "2026-11-17T14:00:00Z"}
    {"at": 0.25, "text": "{\\"city\\": \\"Kyo"}
    {"at": 1.0, "end": "over"}
    """

    def __init__(
        self,
        file: BinaryFile,
        about: Mapping[str, object] | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        began: float | None = None,
    ) -> None:
        self._file = file
        self._clock = clock
        self._began = clock() if began is None else began
        self._last = 0.0
        self._is_over = False
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        self._add(header_line({"started": now, **(about or {})}))

    def write(self, data: bytes) -> None:
        """Write a piece as it was received."""
        if not isinstance(data, bytes | bytearray | memoryview):
            message = f"a piece must be bytes, not {type(data).__name__}"
            raise TypeError(message)
        if data:
            self._write_piece(bytes(data))

    def write_event(self, event: Mapping[str, object]) -> None:
        """Write an event that a client decoded."""
        if not isinstance(event, Mapping):
            message = f"an event must be a dict, not {type(event).__name__}"
            raise TypeError(message)
        self._write_piece(event)

    def finish(self, end: End = "over", error: str | None = None) -> None:
        """Write how the stream ended; nothing can be written after that."""
        if end not in ENDS:
            message = f"end must be one of {', '.join(map(repr, ENDS))}, not {end!r}"
            raise ValueError(message)
        self._add(end_line(self._now(), end, error))
        self._is_over = True

    def _write_piece(self, data: Data) -> None:
        self._add(piece_line(Piece(self._now(), data)))

    def _now(self) -> float:
        """Return the seconds since the start; a clock that is set back stands still here."""
        self._last = max(self._last, self._clock() - self._began)
        return self._last

    def _add(self, line: bytes) -> None:
        if self._is_over:
            message = "the recording is finished"
            raise ValueError(message)
        self._file.write(line)
        self._file.flush()
