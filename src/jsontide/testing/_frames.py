"""A stream of server-sent events in, the data of each event out, for the checkers of protocols.

Rule: what any client would accept may be more; here passes what every client reads the same way: UTF-8, lines that
end with a line feed, one line of data per event, and an empty line after each, the last one too.
"""

from __future__ import annotations

from typing import Final

from jsontide._errors import JsontideError

_FIELDS: Final = ("id", "event", "retry")


class ProtocolError(JsontideError, AssertionError):
    """A stream does not follow its protocol; a failed assertion for test runners."""

    def __init__(self, reason: str, event: int | None = None) -> None:
        super().__init__(reason, event)
        self.reason = reason
        self.event = event
        """Which event, counted from 0; `None` if it is the stream as a whole."""

    def __str__(self) -> str:
        return self.reason if self.event is None else f"event {self.event}: {self.reason}"


def sse_events(stream: bytes | str) -> list[str]:
    """Return the data of each event in a stream, or raise `ProtocolError`; comments are left out."""
    text = stream if isinstance(stream, str) else _decode(stream)
    if "\r" in text:
        raise ProtocolError("a carriage return: lines end with a line feed alone")
    if text and not text.endswith("\n\n"):
        raise ProtocolError("the stream stops inside an event")
    events: list[str] = []
    for block in text.split("\n\n")[:-1]:
        events += _data_of(block, len(events))
    return events


def _decode(stream: bytes) -> str:
    try:
        return stream.decode()
    except UnicodeDecodeError as error:
        raise ProtocolError(f"not UTF-8: {error.reason} at byte {error.start}") from None


def _data_of(block: str, number: int) -> list[str]:
    """Return the line of data between two empty lines, or nothing if there are only comments."""
    data: list[str] = []
    for line in block.split("\n"):
        name, colon, value = line.partition(":")
        if name == "data" and colon:
            data.append(value.removeprefix(" "))
        elif line and name not in ("", *_FIELDS):
            raise ProtocolError(f"not a field of a server-sent event: {line[:40]!r}", number)
    if len(data) > 1:
        raise ProtocolError("more than one line of data", number)
    return data
