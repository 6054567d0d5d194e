"""What arrives of a stream, with its time: bytes as they were received, or an event as a client decoded it.

Rule: a piece is checked where it is made, so that nothing behind it has to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeAlias

from jsontide._errors import JsontideError

Data: TypeAlias = bytes | Mapping[str, object]
"""Bytes as they were received, or one decoded event."""
End: TypeAlias = Literal["over", "lost", "stopped"]
"""How a stream ended: by itself, because the connection failed, or because the reader stopped."""
ENDS: tuple[End, ...] = ("over", "lost", "stopped")


class RecordingError(JsontideError, ValueError):
    """A recording cannot be read; the message names the line."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a stream, as it was received."""

    at: float
    """Seconds since the start."""
    data: Data
    """Bytes, or one decoded event."""

    def __post_init__(self) -> None:
        check_time(self.at)
        if not isinstance(self.data, bytes | Mapping):
            message = f"a piece must be bytes or an event as a dict, not {type(self.data).__name__}"
            raise TypeError(message)


def check_time(at: object) -> None:
    """Refuse anything but seconds since a start."""
    if not isinstance(at, int | float) or isinstance(at, bool):
        message = f"at must be a number, not {type(at).__name__}"
        raise TypeError(message)
    if not isfinite(at) or at < 0:
        message = f"at must be a number of seconds since the start, not {at}"
        raise ValueError(message)
