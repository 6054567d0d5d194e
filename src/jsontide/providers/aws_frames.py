"""The bytes of an AWS event stream (`application/vnd.amazon.eventstream`) in, its events out.

A frame, with numbers in network order:

    total length       4 bytes
    length of headers  4 bytes
    CRC-32 of both     4 bytes
    headers            each a name, a type and a value
    payload            JSON
    CRC-32 of all      4 bytes

An event is a dict of one member, as boto3 gives it: its type and its payload; so is an exception.
Rule: nothing raises on a stream. A frame whose checksums are wrong is the end: nothing that follows is read.
"""

from __future__ import annotations

from typing import Any, Final
from zlib import crc32

from jsontide._textbuffer import GrowingText
from jsontide.messages.record import Value
from jsontide.providers.event_json import load_json

_PRELUDE: Final = 12
_CHECKSUM: Final = 4
_LEAST: Final = 16
_BYTES: Final = "latin-1"
"""A character for each byte, so that they grow as texts do."""
_WIDTHS: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""How many bytes the values of headers have; those of the other types say it."""
_WITH_LENGTH: Final = (6, 7)
_DAMAGED: Final = "a frame of the stream is damaged: {}"


class FrameRest(Value):
    """The frame that waits for its end."""

    __slots__ = ("data", "error", "max_bytes", "needed")

    def __init__(
        self, max_bytes: int, data: GrowingText | None = None, needed: int = _PRELUDE, error: str | None = None
    ) -> None:
        self.max_bytes: Final = max_bytes
        """The most that a frame may have."""
        self.data: Final = data
        self.needed: Final = needed
        """How many bytes there must be before there is something to read."""
        self.error: Final = error
        """Why nothing more is read, if it is not."""

    def _fields(self) -> tuple[object, ...]:
        return self.max_bytes, self.data, self.needed, self.error


def feed_frames(rest: FrameRest, chunk: bytes) -> tuple[FrameRest, list[dict[str, Any]]]:
    """Return what waits after more bytes, and the events that they completed."""
    found: list[dict[str, Any]] = []
    if rest.error is not None or not chunk:
        return rest, found
    piece = chunk.decode(_BYTES)
    text = GrowingText(piece) if rest.data is None else rest.data.append(piece)
    if text.length < rest.needed:
        return FrameRest(rest.max_bytes, text, rest.needed), found
    data = text.read().encode(_BYTES)
    at = 0
    while True:
        left = len(data) - at
        if left < _PRELUDE:
            needed = _PRELUDE
            break
        needed = _number(data, at, 4)
        error = _check_prelude(data, at, needed, rest.max_bytes)
        if error is None and left >= needed:
            error = _read_frame(data[at : at + needed], found)
        if error is not None:
            return FrameRest(rest.max_bytes, None, 0, error), found
        if left < needed:
            break
        at += needed
    waiting = data[at:]
    return FrameRest(rest.max_bytes, GrowingText(waiting.decode(_BYTES)) if waiting else None, needed), found


def _number(data: bytes, at: int, width: int) -> int:
    return int.from_bytes(data[at : at + width], "big")


def _check_prelude(data: bytes, at: int, total: int, most: int) -> str | None:
    if crc32(data[at : at + 8]) != _number(data, at + 8, 4):
        return _DAMAGED.format("the checksum of its lengths is wrong")
    if total < _LEAST or _number(data, at + 4, 4) > total - _LEAST:
        return _DAMAGED.format("its lengths are wrong")
    return f"a frame is longer than {most} bytes" if total > most else None


def _read_frame(frame: bytes, found: list[dict[str, Any]]) -> str | None:
    """Add the event of a frame, or return why there is none."""
    end = len(frame) - _CHECKSUM
    if crc32(frame[:end]) != _number(frame, end, _CHECKSUM):
        return _DAMAGED.format("its checksum is wrong")
    begin = _PRELUDE + _number(frame, 4, 4)
    headers = _read_headers(frame, begin)
    if headers is None:
        return _DAMAGED.format("its headers are wrong")
    kind = headers.get(":message-type", "event")
    if kind == "error":
        found.append({"error": {"code": headers.get(":error-code"), "message": headers.get(":error-message")}})
        return None
    name = headers.get(":exception-type" if kind == "exception" else ":event-type")
    try:
        payload = frame[begin:end].decode()
    except UnicodeDecodeError:
        return _DAMAGED.format("its payload is not UTF-8")
    value = load_json(payload.strip()) if payload.strip() else {}
    if name is None or not isinstance(value, dict):
        return _DAMAGED.format("its payload is not an event")
    found.append({name: value})
    return None


def _read_headers(frame: bytes, end: int) -> dict[str, str] | None:
    """Return the headers that are texts, `None` if they are not headers."""
    headers: dict[str, str] = {}
    at = _PRELUDE
    while at < end:
        begin = at + 1
        at = begin + frame[begin - 1]
        name = frame[begin:at]
        if at >= end:
            return None
        kind = frame[at]
        at += 1
        if kind in _WITH_LENGTH:
            width = _number(frame, at, 2)
            at += 2
        else:
            width = _WIDTHS.get(kind, -1)
        if width < 0 or at + width > end:
            return None
        if kind == 7:
            headers[name.decode("utf-8", "replace")] = frame[at : at + width].decode("utf-8", "replace")
        at += width
    return headers
